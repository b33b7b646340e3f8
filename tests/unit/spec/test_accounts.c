/* test_accounts.c - departments, projects and quotas: bodies of the API and the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/account_spec.h"
#include "spec/quota_spec.h"
#include "spec/server_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct arena arena;
static struct problems problems;
static struct error e;

static const struct doc *document(const char *text)
{
    struct doc *doc = NULL;
    assert_int_equal(doc_yaml_parse(&arena, str_of(text), &doc, &e), ERR_OK);
    return doc;
}

static void refuses(const char *text, unsigned line, const char *message)
{
    struct server_file file;
    assert_int_equal(server_file_read(str_of(text), "weir.yaml", &arena, &file, &problems, &e),
                     ERR_INVALID);
    assert_int_equal(problems.total, 1);
    assert_int_equal(problems.at[0].line, line);
    assert_true(problems.at[0].column > 0);
    assert_string_equal(problem_text(&problems.at[0], &arena), message);
}

static void a_project_is_made_and_changed(void **state)
{
    (void)state;
    struct account_spec spec;
    assert_int_equal(account_spec_read(document("{\"name\":\"vision\",\"department\":\"ml\"}"),
                                       ACCOUNT_PROJECT, &arena, &spec, &e),
                     ERR_OK);
    assert_string_equal(spec.parent, "ml");
    assert_string_equal(spec.title, "");
    assert_int_equal(
        account_spec_patch(document("{\"title\":\"t\",\"name\":\"vision\"}"), &arena, &spec, &e),
        ERR_OK);
    assert_string_equal(spec.title, "t");
    assert_int_equal(account_spec_patch(document("{\"name\":\"other\"}"), &arena, &spec, &e),
                     ERR_INVALID);
    assert_string_equal(e.text, "name: a project cannot be renamed");
    assert_int_equal(
        account_spec_read(document("{\"parent\":\"x\"}"), ACCOUNT_PROJECT, &arena, &spec, &e),
        ERR_INVALID);
}

static void the_rule_of_a_project_for_tasks_that_do_nothing(void **state)
{
    (void)state;
    static const char *const bad[][3] = {
        {"{name: a, idle_warn: 5m}", "idle_warn",
         "must be 0 with the idle_action inherit; say none, pause or end"},
        {"{name: a, idle_after: 5m}", "idle_after",
         "must be 0 with the idle_action inherit; say pause or end"},
        {"{name: a, idle_after: 5m, idle_action: none}", "idle_after",
         "must be 0 with the idle_action none, which pauses and ends no task"},
        {"{name: a, idle_action: end}", "idle_after",
         "must be above 0 with the idle_action pause or end"},
        {"{name: a, idle_warn: 1h, idle_after: 1h, idle_action: end}", "idle_warn",
         "must be below idle_after"},
    };
    struct account_spec spec;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(account_spec_read(document(arena_fmt(&arena, "--- %s", bad[i][0])),
                                           ACCOUNT_PROJECT, &arena, &spec, &e),
                         ERR_INVALID);
        assert_string_equal(e.path, bad[i][1]);
        assert_string_equal(e.text, arena_fmt(&arena, "%s: %s", bad[i][1], bad[i][2]));
    }
    assert_int_equal(
        account_spec_read(
            document("--- {name: a, idle_warn: 30m, idle_after: 1h, idle_action: end}"),
            ACCOUNT_PROJECT, &arena, &spec, &e),
        ERR_OK);
    assert_true(spec.idle_warn_ms == 1800000);
    assert_true(spec.idle_after_ms == 3600000);
    assert_int_equal(spec.idle_action, ACCOUNT_IDLE_END);
    assert_int_equal(account_spec_patch(document("--- {idle_action: none}"), &arena, &spec, &e),
                     ERR_INVALID);
    assert_int_equal(spec.idle_action, ACCOUNT_IDLE_END);
    struct server_file file;
    assert_int_equal(server_file_read(str_of("departments: [{name: ml, idle_action: none}]\n"
                                             "projects:\n"
                                             "  - {name: nlp, department: ml, idle_after: 2h, "
                                             "idle_action: pause}\n"),
                                      "weir.yaml", &arena, &file, &problems, &e),
                     ERR_OK);
    assert_int_equal(file.departments[0].idle_action, ACCOUNT_IDLE_NONE);
    assert_true(file.projects[0].idle_after_ms == 7200000);
    assert_int_equal(file.projects[0].idle_action, ACCOUNT_IDLE_PAUSE);
    refuses("projects:\n  - name: nlp\n    idle_action: end\n    idle_after: 0\n", 4,
            "projects[0].idle_after: must be above 0 with the idle_action pause or end");
}

static struct quota_body quota(const char *text)
{
    struct quota_body body;
    quota_spec_body_init(&body);
    if (quota_spec_body_read(document(text), &arena, &body, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
    return body;
}

static void a_quota_has_amounts_by_resource(void **state)
{
    (void)state;
    struct quota_body body = quota("{\"project\":\"p\",\"pool\":\"v100\",\"resources\":{"
                                   "\"gpu\":{\"guaranteed\":5,\"limit\":\"20\",\"weight\":2.5},"
                                   "\"memory\":\"64Gi\",\"foo\":\"unlimited\"},\"rank\":7,"
                                   "\"reclaim_min_runtime\":\"5m\"}");
    assert_int_equal(body.kind, ACCOUNT_PROJECT);
    assert_string_equal(body.account, "p");
    assert_string_equal(body.pool, "v100");
    assert_int_equal(body.spec.amount_count, 3);
    assert_string_equal(body.amounts[0].resource, "slots");
    assert_true(body.amounts[0].guaranteed == 5000);
    assert_true(body.amounts[0].limit == 20000);
    assert_int_equal(body.amounts[0].weight, 2500);
    assert_true(body.amounts[1].guaranteed == (int64_t)64 << 30);
    assert_true(body.amounts[2].guaranteed == QUOTA_UNLIMITED);
    assert_int_equal(body.spec.rules.rank, 7);
    assert_true(body.spec.rules.preempt_min_runtime_ms == QUOTA_INHERIT);
    assert_true(body.spec.rules.reclaim_min_runtime_ms == 300000);
}

static void a_change_leaves_the_rest_as_it_was(void **state)
{
    (void)state;
    struct quota_amount present[] = {{"slots", 5000, 20000, 2000}, {"cpu", 1000, -1, 1000}};
    struct quota_spec spec = {present, 2, {50, QUOTA_INHERIT, 1000, 0}};
    struct quota_body body;
    quota_spec_body_from(&body, &spec);
    const struct doc *change =
        document("{\"department\":\"d\",\"pool\":\"p\",\"resources\":{\"slots\":{\"guaranteed\":"
                 "\"default\"},\"bar\":1},\"reclaim_min_runtime\":\"inherit\"}");
    assert_int_equal(quota_spec_body_read(change, &arena, &body, &e), ERR_OK);
    assert_int_equal(body.kind, ACCOUNT_DEPARTMENT);
    assert_int_equal(body.spec.amount_count, 3);
    assert_true(body.amounts[0].guaranteed == QUOTA_UNSET);
    assert_true(body.amounts[0].limit == 20000);
    assert_true(body.amounts[1].guaranteed == 1000);
    assert_int_equal(body.spec.rules.rank, 50);
    assert_true(body.spec.rules.reclaim_min_runtime_ms == QUOTA_INHERIT);
}

static void malformed_quotas_name_the_place(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{pool: p}", "project"},
        {"{project: a}", "pool"},
        {"{project: a, department: b, pool: p}", "department"},
        {"{project: a, pool: p, resources: {gpu: -1}}", "resources.gpu"},
        {"{project: a, pool: p, resources: {gpu: {limit: x}}}", "resources.gpu.limit"},
        {"{project: a, pool: p, resources: {gpu: {weight: 1001}}}", "resources.gpu.weight"},
        {"{project: a, pool: p, resources: {gpu: {max: 1}}}", "resources.gpu.max"},
        {"{project: a, pool: p, resources: {gpu: [1]}}", "resources.gpu"},
        {"{project: a, pool: p, resources: {gpu: 1, slots: 1}}", "resources"},
        {"{project: a, pool: p, rank: -1}", "rank"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct quota_body body;
        quota_spec_body_init(&body);
        const char *text = arena_fmt(&arena, "--- %s", bad[i][0]); /* YAML, not JSON */
        assert_int_equal(quota_spec_body_read(document(text), &arena, &body, &e), ERR_INVALID);
        assert_string_equal(e.path, bad[i][1]);
        assert_int_equal(body.spec.amount_count, 0);
    }
}

static void the_file_declares_accounts_and_quotas(void **state)
{
    (void)state;
    struct server_file file;
    enum err r = server_file_read(
        str_of("pools: [{name: v100}]\n"
               "departments: [{name: lab, parent: ml}, {name: ml}]\n"
               "projects: [{name: vision, department: lab}, {name: other}]\n"
               "quotas:\n"
               "  - {project: vision, pool: v100, resources: {gpu: 4}}\n"
               "  - {department: default, pool: default, resources: {cpu: {limit: 8}}}\n"),
        "weir.yaml", &arena, &file, &problems, &e);
    assert_int_equal(r, ERR_OK);
    assert_int_equal(file.department_count, 2);
    assert_int_equal(file.project_count, 2);
    assert_int_equal(file.quota_count, 2);
    assert_true(file.quotas[0].spec.amounts == file.quotas[0].amounts);
    assert_true(file.quotas[0].amounts[0].guaranteed == 4000);
}

static void what_the_file_does_not_declare_is_refused_with_its_line(void **state)
{
    (void)state;
    refuses("projects:\n  - {name: a, department: b}\n", 2,
            "projects[0].department: no department 'b' is declared under departments");
    refuses("projects: [{name: a}]\nquotas:\n  - {project: b, pool: default}\n", 3,
            "quotas[0].project: no project 'b' is declared under projects");
    refuses("quotas:\n  - {project: default, pool: p}\n", 2,
            "quotas[0].pool: no pool 'p' is declared under pools");
    refuses("quotas:\n  - {department: x, pool: default}\n", 2,
            "quotas[0].department: no department 'x' is declared under departments");
    refuses("quotas:\n  - {project: default, pool: default}\n"
            "  - {project: default, pool: default}\n",
            3, "quotas[1].pool: a second quota of 'default' in this pool");
    refuses("projects: [{name: a}, {name: a}]\n", 1,
            "projects[1].name: project 'a' is declared twice");
}

static void a_cycle_in_the_file_is_refused(void **state)
{
    (void)state;
    struct server_file file;
    assert_int_equal(
        server_file_read(str_of("departments:\n  - {name: a, parent: b}\n  - {name: b, parent: a}\n"
                                "  - {name: c, parent: a}\n"),
                         "weir.yaml", &arena, &file, &problems, &e),
        ERR_INVALID);
    assert_int_equal(problems.total, 2);
    assert_string_equal(problem_text(&problems.at[1], &arena),
                        "departments[1].parent: department 'b' would lie below itself");
    refuses("departments:\n  - {name: a, parent: a}\n", 2,
            "departments[0].parent: department 'a' would lie below itself");
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_project_is_made_and_changed),
        cmocka_unit_test(the_rule_of_a_project_for_tasks_that_do_nothing),
        cmocka_unit_test(a_quota_has_amounts_by_resource),
        cmocka_unit_test(a_change_leaves_the_rest_as_it_was),
        cmocka_unit_test(malformed_quotas_name_the_place),
        cmocka_unit_test(the_file_declares_accounts_and_quotas),
        cmocka_unit_test(what_the_file_does_not_declare_is_refused_with_its_line),
        cmocka_unit_test(a_cycle_in_the_file_is_refused),
    };
    return cmocka_run_group_tests_name("accounts", tests, setup, teardown);
}
