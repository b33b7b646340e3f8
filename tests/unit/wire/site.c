/* site.c - a small state for tests of the encoders.
 * SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum verdict site_step(struct site *site, struct input in)
{
    site->now_ms += 1000;
    in.now_ms = site->now_ms;
    in.actor = in.actor != NULL ? in.actor : "user:root";
    in.cause = "";
    fact_list_init(&site->facts, &site->arena);
    enum verdict verdict = core_decide(site->core, &in, &site->facts);
    for (size_t i = 0; verdict == VERDICT_OK && i < site->facts.count; i++) {
        core_apply(site->core, &site->facts.at[i]);
        if (site->on_fact != NULL) {
            site->on_fact(&site->facts.at[i]);
        }
    }
    return verdict;
}

void site_init(struct site *site)
{
    static const struct named_amount named[] = {{"foo", 7000}};
    static const struct label labels[] = {{"zone", "a"}};
    static const struct node_spec node = {
        .name = "n1",
        .pool = "default",
        .labels = labels,
        .label_count = 1,
        .slots_milli = 2000,
        .cpu_milli = 4000,
        .memory_bytes = (int64_t)8 << 30,
        .resources = named,
        .resource_count = 1,
        .supervisor = {1},
        .boot_id = "b",
        .address = "10.0.0.1",
        .version = "0.1.0",
    };
    *site = (struct site){.core = core_new(), .now_ms = 1700000000000};
    arena_init(&site->arena);
    buf_init(&site->out, 1 << 20);
    json_out_init(&site->j, &site->out);
    struct input start = {.type = INPUT_SERVER_START, .server = {.server_uuid = {7}}};
    assert_int_equal(site_step(site, start), VERDICT_OK);
    struct input join = {.type = INPUT_NODE_JOIN, .actor = "node:n1", .node = {.spec = &node}};
    assert_int_equal(site_step(site, join), VERDICT_OK);
}

void site_done(struct site *site)
{
    core_free(site->core);
    arena_done(&site->arena);
    buf_done(&site->out);
}

task_id site_submit(struct site *site, int64_t foo_milli)
{
    static const char *const argv[] = {"true"};
    static const char *const env[] = {"SECRET=a=b"};
    const struct named_amount foo = {"foo", foo_milli};
    const struct task_spec spec = {
        .kind = TASK_COMMAND,
        .name = "job",
        .user = "root",
        .project = "default",
        .image = "",
        .workdir = "/w",
        .argv = argv,
        .argv_count = 1,
        .env = env,
        .env_count = 1,
        .slots_milli = foo_milli > 0 ? 0 : 1000,
        .cpu_milli = ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
        .resources = &foo,
        .resource_count = foo_milli > 0,
        .instances = 1,
        .preemptible = true,
        .repeatable = true,
        .priority = PRIORITY_DEFAULT,
        .grace_ms = GRACE_MS_DEFAULT,
        .stale_grace_ms = STALE_GRACE_POOL,
        .preemption_delay_ms = PREEMPTION_DELAY_POOL,
    };
    struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = &spec, .count = 1}};
    if (site_step(site, in) != VERDICT_OK) {
        return (task_id){0};
    }
    return query_task_last(site->core);
}

void site_pass(struct site *site)
{
    const struct pool *pool = query_pool_named(site->core, "default");
    assert_non_null(pool);
    struct input in = {.type = INPUT_PASS, .pass = {.pool = pool->id, .work_max = 1000000}};
    assert_int_equal(site_step(site, in), VERDICT_OK);
}

void site_report(struct site *site, task_id task, enum report_type type, int32_t exit_code)
{
    const struct report report = {
        .type = type,
        .key = {task, 0, 1},
        .incarnation = 1,
        .at_ms = site->now_ms,
        .exit_code = exit_code,
        .cpu_ms = type == REPORT_ENDED ? 1500 : 0,
        .memory_peak_bytes = type == REPORT_ENDED ? 4096 : 0,
    };
    const struct node *node = query_node_named(site->core, "n1");
    assert_non_null(node);
    struct input in = {.type = INPUT_REPORT,
                       .actor = "node:n1",
                       .report = {.node = node->id, .reports = &report, .count = 1}};
    assert_int_equal(site_step(site, in), VERDICT_OK);
}

const struct doc *site_written(struct site *site)
{
    struct doc *doc = NULL;
    struct error e = {0};
    assert_false(site->out.full);
    enum err r =
        doc_json_parse(&site->arena, (struct str){buf_text(&site->out), site->out.len}, &doc, &e);
    if (r != ERR_OK) {
        print_error("%s\n%s\n", e.text, buf_text(&site->out));
    }
    assert_int_equal(r, ERR_OK);
    buf_clear(&site->out);
    json_out_init(&site->j, &site->out);
    return doc;
}

/* Finds a value by a path such as "a.b[2].c". */
static const struct doc *at(const struct doc *doc, const char *path)
{
    struct str rest = str_of(path);
    while (rest.p != NULL && doc != NULL) {
        struct str index;
        struct str key = str_cut(str_cut(rest, '.', &rest), '[', &index);
        char name[64];
        assert_true(key.len < sizeof name);
        memcpy(name, key.p, key.len);
        name[key.len] = '\0';
        doc = key.len > 0 ? doc_get(doc, name) : doc;
        if (index.p != NULL && doc != NULL) {
            uint64_t number;
            struct str closer;
            assert_true(str_to_u64(str_cut(index, ']', &closer), &number));
            doc = doc->first;
            for (; number > 0 && doc != NULL; number--) {
                doc = doc->next;
            }
        }
    }
    if (doc == NULL) {
        print_error("nothing at %s\n", path);
    }
    assert_non_null(doc);
    return doc;
}

const char *text_at(const struct doc *doc, const char *path)
{
    const struct doc *found = at(doc, path);
    assert_int_equal(found->kind, DOC_STRING);
    return found->text.p;
}

const char *value_at(const struct doc *doc, const char *path)
{
    const struct doc *found = at(doc, path);
    switch (found->kind) {
    case DOC_NULL:
        return "null";
    case DOC_BOOL:
        return found->yes ? "true" : "false";
    case DOC_NUMBER:
        return found->text.p;
    case DOC_LIST:
        return found->count == 0 ? "[]" : "[…]";
    case DOC_MAP:
        return found->count == 0 ? "{}" : "{…}";
    case DOC_STRING:
        break;
    }
    assert_int_not_equal(found->kind, DOC_STRING);
    return "";
}
