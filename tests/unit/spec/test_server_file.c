/* test_server_file.c - the server file, pools and edits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/edit.h"
#include "spec/pool_spec.h"
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

static struct server_file reads(const char *text)
{
    struct server_file file;
    enum err r = server_file_read(str_of(text), "weir.yaml", &arena, &file, &problems, &e);
    if (r != ERR_OK) {
        print_error("%s\n", e.text);
    }
    assert_int_equal(r, ERR_OK);
    assert_int_equal(problems.total, 0);
    return file;
}

static void refuses(const char *text, const char *message)
{
    struct server_file file;
    assert_int_equal(server_file_read(str_of(text), "weir.yaml", &arena, &file, &problems, &e),
                     ERR_INVALID);
    assert_string_equal(e.text, message);
}

static const struct doc *document(const char *text)
{
    struct doc *doc = NULL;
    assert_int_equal(doc_yaml_parse(&arena, str_of(text), &doc, &e), ERR_OK);
    return doc;
}

static void a_whole_file_is_read(void **state)
{
    (void)state;
    struct server_file file =
        reads("listen: '[::1]:9090'\n"
              "data: /srv/weir\n"
              "defaults: {gpu_pool: v100, cpu_pool: cpu}\n"
              "lost_after: 2m\n"
              "retention: {tasks: 30d, facts: 5000}\n"
              "pools:\n"
              "  - name: v100\n"
              "    title: the big ones\n"
              "    description: eight cards each\n"
              "    accepts: [experiment, command]\n"
              "    aux_tasks: 7\n"
              "    scheduler: {policy: priority, placement: pack, patience: 5s}\n"
              "    provider: {type: static}\n"
              "  - name: cpu\n"
              "    provider: {type: local}\n");
    assert_string_equal(file.listen_address, "::1");
    assert_int_equal(file.listen_port, 9090);
    assert_true(file.listen_loopback);
    assert_string_equal(file.data_dir, "/srv/weir");
    assert_string_equal(file.gpu_pool, "v100");
    assert_string_equal(file.cpu_pool, "cpu");
    assert_true(file.lost_after_ms == 120000);
    assert_true(file.history_keep_ms == (int64_t)30 * 86400000);
    assert_true(file.facts_keep == 5000);
    assert_int_equal(file.pool_count, 2);
    assert_string_equal(file.pools[0].title, "the big ones");
    assert_string_equal(file.pools[0].description, "eight cards each");
    assert_int_equal(file.pools[0].accepts, 1 << TASK_EXPERIMENT | 1 << TASK_COMMAND);
    assert_int_equal(file.pools[0].aux_tasks, 7);
    assert_true(file.pools[0].patience_ms == 5000);
    assert_string_equal(file.pools[1].name, "cpu");
    assert_true(file.pools[1].patience_ms == PATIENCE_AUTO);
    assert_int_equal(file.pools[1].accepts, 0);
}

static void an_empty_map_is_all_defaults(void **state)
{
    (void)state;
    struct server_file file = reads("{}");
    assert_string_equal(file.listen_address, "127.0.0.1");
    assert_int_equal(file.listen_port, 8080);
    assert_true(file.listen_loopback);
    assert_string_equal(file.data_dir, "/var/lib/weir");
    assert_string_equal(file.gpu_pool, "default");
    assert_int_equal(file.pool_count, 0);
    assert_true(file.lost_after_ms == 300000);
    assert_true(file.facts_keep == 1000000);
}

static void all_problems_are_told_at_once(void **state)
{
    (void)state;
    refuses("listen: nowhere\n"
            "defaults: {gpu_pool: nix}\n"
            "lost_afterr: 5m\n"
            "pools:\n"
            "  - name: a\n"
            "    scheduler: {policy: lottery, placement: loose}\n"
            "    provider: {type: slurmm, partition: gpu}\n"
            "  - name: a\n"
            "  - title: no name\n"
            "  - name: 'b c'\n"
            "tls: {cert: x, node_life: 1s}\n",
            "weir.yaml:1:9: listen: an address and a port are wanted, like 127.0.0.1:8080 or "
            "[::1]:8080, not 'nowhere'");
    static const struct {
        unsigned line;
        const char *text;
    } wanted[] = {
        {1, "listen: an address and a port are wanted, like 127.0.0.1:8080 or [::1]:8080, not "
            "'nowhere'"},
        {3, "lost_afterr: unknown field; did you mean 'lost_after'?"},
        {6, "pools[0].scheduler.policy: fair-share, priority, fifo or round-robin is wanted, not "
            "'lottery'"},
        {6, "pools[0].scheduler.placement: pack, spread or tight is wanted, not 'loose'"},
        {7, "pools[0].provider.type: 'slurmm' does not exist yet; the types are static, local, "
            "exec, slurm or ec2"},
        {8, "pools[1].name: pool 'a' is declared twice"},
        {9, "pools[2].name: it is missing"},
        {10, "pools[3].name: the name of a pool is made of letters, digits, '-', '_' and '.' and "
             "starts with a letter or digit, not 'b c'"},
        {11, "tls.node_life: a node's certificate is valid for 4s to 365d"},
        {2, "defaults.gpu_pool: no pool 'nix' is declared under pools"},
    };
    size_t count = sizeof wanted / sizeof wanted[0];
    assert_int_equal(problems.total, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(problems.at[i].line, wanted[i].line);
        assert_string_equal(problem_text(&problems.at[i], &arena), wanted[i].text);
    }
}

static void more_problems_than_fit_are_counted(void **state)
{
    (void)state;
    char text[4096] = "";
    size_t used = 0;
    for (int i = 0; i < PROBLEMS_MAX + 10; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "unknown%d: 1\n", i);
    }
    refuses(text, "weir.yaml:1:1: unknown0: unknown field");
    assert_int_equal(problems.count, PROBLEMS_MAX);
    assert_int_equal(problems.total, PROBLEMS_MAX + 10);
}

static void a_syntax_error_is_the_only_problem(void **state)
{
    (void)state;
    struct server_file file;
    assert_int_equal(server_file_read(str_of("a: [\n"), "weir.yaml", &arena, &file, &problems, &e),
                     ERR_INVALID);
    assert_int_equal(problems.total, 1);
    assert_memory_equal(e.text, "weir.yaml:2:1: ", 15);
    refuses("lost_after: 1ms\n", "weir.yaml:1:13: lost_after: at least 1s is wanted");
    refuses("- a\n", "weir.yaml:1:1: a map of fields is wanted, not a list");
}

static void listen_addresses_are_split(void **state)
{
    (void)state;
    const char *address = NULL;
    uint16_t port = 1;
    assert_int_equal(server_file_listen_parse(str_of("0.0.0.0:0"), &arena, &address, &port, &e),
                     ERR_OK);
    assert_string_equal(address, "0.0.0.0");
    assert_int_equal(port, 0);
    assert_false(server_file_listen_is_loopback(address));
    assert_true(server_file_listen_is_loopback("127.1.2.3"));
    assert_true(server_file_listen_is_loopback("localhost"));
    const char *bad[] = {"",       "x",     ":80",   "a:",   "a:65536",
                         "::1:80", "[::1]", "[a]:1", "[]:1", "a:-1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(server_file_listen_parse(str_of(bad[i]), &arena, &address, &port, &e),
                         ERR_INVALID);
    }
}

static void a_pool_is_created_and_changed(void **state)
{
    (void)state;
    struct pool_spec spec;
    assert_int_equal(
        pool_spec_read(document("{\"name\":\"gpu\",\"paused\":true}"), &arena, &spec, &e), ERR_OK);
    assert_string_equal(spec.name, "gpu");
    assert_true(spec.paused);
    assert_int_equal(spec.aux_tasks, NODE_AUX_TASKS_DEFAULT);
    const struct doc *patch = document("{\"paused\":false,\"patience\":\"10s\",\"title\":\"t\"}");
    assert_int_equal(pool_spec_patch(patch, &arena, &spec, &e), ERR_OK);
    assert_false(spec.paused);
    assert_true(spec.patience_ms == 10000);
    assert_string_equal(spec.title, "t");
    assert_int_equal(pool_spec_patch(document("{\"name\":\"other\"}"), &arena, &spec, &e),
                     ERR_INVALID);
    assert_string_equal(e.text, "name: a pool cannot be renamed");
    assert_string_equal(spec.name, "gpu"); /* a failed patch changes nothing */
    assert_int_equal(pool_spec_read(document("{\"title\":\"x\"}"), &arena, &spec, &e), ERR_INVALID);
    assert_string_equal(e.path, "name");
    assert_int_equal(pool_spec_patch(document("{\"accepts\":[\"jobs\"]}"), &arena, &spec, &e),
                     ERR_INVALID);
    assert_string_equal(e.path, "accepts[0]");
}

static void an_edit_says_which_fields_it_sets(void **state)
{
    (void)state;
    struct task_edit edit;
    const struct doc *doc =
        document("{\"priority\":7,\"time_limit\":\"1m\",\"max_retries\":2,\"grace\":5,"
                 "\"name\":\"n\",\"tags\":[\"a\"],\"pool\":\"p\"}");
    assert_int_equal(edit_task_read(doc, &arena, &edit, &e), ERR_OK);
    assert_int_equal(edit.fields, TASK_EDIT_priority | TASK_EDIT_time_limit |
                                      TASK_EDIT_max_retries | TASK_EDIT_grace | TASK_EDIT_name |
                                      TASK_EDIT_tags | TASK_EDIT_pools);
    assert_int_equal(edit.spec->priority, 7);
    assert_true(edit.spec->time_limit_ms == 60000);
    assert_int_equal(edit.spec->max_retries, 2);
    assert_true(edit.spec->grace_ms == 5000);
    assert_string_equal(edit.spec->name, "n");
    assert_string_equal(edit.spec->tags[0], "a");
    assert_string_equal(edit.spec->pools[0], "p");
    assert_int_equal(edit_task_read(document("{\"priority\":3}"), &arena, &edit, &e), ERR_OK);
    assert_int_equal(edit.fields, TASK_EDIT_priority);
    assert_int_equal(edit_task_read(document("{}"), &arena, &edit, &e), ERR_INVALID);
    assert_int_equal(edit_task_read(document("{\"command\":[\"x\"]}"), &arena, &edit, &e),
                     ERR_INVALID);
    assert_string_equal(
        e.text, "command: this field cannot change; use `weir task retry` or submit a new task");
    doc = document("{\"project\":\"q\",\"resources\":{\"gpu\":2,\"foo\":5}}");
    assert_int_equal(edit_task_read(doc, &arena, &edit, &e), ERR_OK);
    assert_int_equal(edit.fields, TASK_EDIT_project | TASK_EDIT_resources);
    assert_string_equal(edit.spec->project, "q");
    assert_int_equal(edit.spec->slots_milli, 2000);
    assert_true(edit.spec->needs_gpu);
    assert_string_equal(edit.spec->resources[0].name, "foo");
    doc = document("{\"node_labels\":{\"zone\":\"a\"},\"topology\":{\"required\":\"rack\"}}");
    assert_int_equal(edit_task_read(doc, &arena, &edit, &e), ERR_OK);
    assert_int_equal(edit.fields, TASK_EDIT_node_labels | TASK_EDIT_topology);
    assert_string_equal(edit.spec->node_labels[0].value, "a");
    assert_string_equal(edit.spec->topology.required, "rack");
    doc = document("{\"node_labels\":{},\"topology\":{}}");
    assert_int_equal(edit_task_read(doc, &arena, &edit, &e), ERR_OK);
    assert_int_equal(edit.fields, TASK_EDIT_node_labels | TASK_EDIT_topology);
    assert_int_equal(edit.spec->node_label_count, 0);
    assert_null(edit.spec->topology.required);
    assert_int_equal(
        edit_task_read(document("{\"resources\":{\"resource_pool\":\"p\"}}"), &arena, &edit, &e),
        ERR_INVALID);
}

static void labels_are_merged_into_those_a_node_has(void **state)
{
    (void)state;
    struct node_edit edit;
    struct node_edit merged;
    const struct doc *doc = document(
        "{\"draining\":true,\"labels\":{\"a\":\"2\",\"gone\":null,\"new\":\"x\",\"never\":null}}");
    assert_int_equal(edit_node_read(doc, &arena, &edit, &e), ERR_OK);
    assert_int_equal(edit.fields, NODE_EDIT_DRAIN | NODE_EDIT_LABELS);
    assert_true(edit.drain);
    const struct label have[] = {{"a", "1"}, {"gone", "y"}, {"kept", "z"}};
    assert_int_equal(edit_labels_merge(have, 3, &edit, &arena, &merged, &e), ERR_OK);
    assert_int_equal(merged.label_count, 3);
    assert_string_equal(merged.labels[0].value, "2");
    assert_string_equal(merged.labels[1].key, "kept");
    assert_string_equal(merged.labels[2].key, "new");
    assert_true(merged.drain);
    struct label many[NODE_LABELS_MAX];
    for (int i = 0; i < NODE_LABELS_MAX; i++) {
        many[i] = (struct label){arena_fmt(&arena, "l%d", i), ""};
    }
    assert_int_equal(edit_labels_merge(many, NODE_LABELS_MAX, &edit, &arena, &merged, &e),
                     ERR_LIMIT);
    assert_int_equal(
        edit_node_read(document("{\"labels\":{\"bad key\":\"x\"}}"), &arena, &edit, &e),
        ERR_INVALID);
    assert_string_equal(e.path, "labels.bad key");
    assert_int_equal(edit_node_read(document("{\"drain\":true}"), &arena, &edit, &e), ERR_INVALID);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_file_is_read),
        TEST(an_empty_map_is_all_defaults),
        TEST(all_problems_are_told_at_once),
        TEST(more_problems_than_fit_are_counted),
        TEST(a_syntax_error_is_the_only_problem),
        TEST(listen_addresses_are_split),
        TEST(a_pool_is_created_and_changed),
        TEST(an_edit_says_which_fields_it_sets),
        TEST(labels_are_merged_into_those_a_node_has),
    };
    return cmocka_run_group_tests_name("server_file", tests, NULL, NULL);
}
