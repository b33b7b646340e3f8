/* test_objects.c - the API's objects out of a real state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain.h"
#include "core/state/ports.h"
#include "site.h"
#include "wire/error_json.h"
#include "wire/event_json.h"
#include "wire/explain_json.h"
#include "wire/start_order.h"
#include "wire/state_json.h"
#include "wire/task_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct site site;

static const struct doc *task_written(task_id id, unsigned parts)
{
    struct task_writer writer;
    task_json_writer_init(&writer, site.core, &site.arena);
    task_json(&writer, &site.j, query_task(site.core, id), parts);
    return site_written(&site);
}

/* The keys of the task object, in the order of docs/api/objects.md. */
static const char *const task_keys[] = {"id",
                                        "state",
                                        "kind",
                                        "name",
                                        "project",
                                        "image",
                                        "workdir",
                                        "tags",
                                        "repeatable",
                                        "stage",
                                        "priority",
                                        "max_retries",
                                        "time_limit_ms",
                                        "grace_ms",
                                        "avoid",
                                        "node_labels",
                                        "stale_grace_ms",
                                        "preemption_delay_ms",
                                        "description",
                                        "max_losses",
                                        "upload",
                                        "mounts",
                                        "annotation",
                                        "restart",
                                        "max_restarts",
                                        "restart_delay_ms",
                                        "network",
                                        "health",
                                        "health_every_ms",
                                        "health_timeout_ms",
                                        "health_failures",
                                        "health_grace_ms",
                                        "user",
                                        "pool",
                                        "pools",
                                        "fallback",
                                        "command",
                                        "env",
                                        "resources",
                                        "devices",
                                        "instances",
                                        "array_first",
                                        "gang",
                                        "min_instances",
                                        "topology",
                                        "groups",
                                        "preemptible",
                                        "depends_on",
                                        "spec",
                                        "submitted_at",
                                        "queued_at",
                                        "started_at",
                                        "ended_at",
                                        "running_since",
                                        "ran_ms",
                                        "cpu_ms",
                                        "memory_peak",
                                        "exit_code",
                                        "cause",
                                        "counts",
                                        "origin",
                                        "update",
                                        "evicted",
                                        "position",
                                        "reason",
                                        "attempts"};

static void a_task_has_exactly_the_documented_fields(void **state)
{
    (void)state;
    task_id id = site_submit(&site, 5000);
    const struct doc *doc = task_written(id, TASK_JSON_REASON | TASK_JSON_ATTEMPTS);
    size_t i = 0;
    for (const struct doc *field = doc->first; field != NULL; field = field->next) {
        assert_true(i < sizeof task_keys / sizeof task_keys[0]);
        assert_string_equal(field->key.p, task_keys[i++]);
    }
    assert_int_equal(i, sizeof task_keys / sizeof task_keys[0]);
    assert_string_equal(value_at(doc, "id"), "1");
    assert_string_equal(text_at(doc, "state"), "pending");
    assert_string_equal(text_at(doc, "pool"), "default");
    assert_string_equal(text_at(doc, "pools[0]"), "default");
    assert_string_equal(text_at(doc, "command[0]"), "true");
    assert_string_equal(text_at(doc, "env.SECRET"), "a=b");
    assert_null(doc_get(doc_get(doc, "resources"), "slots")); /* nobody asked for any */
    assert_string_equal(value_at(doc, "resources.foo"), "5");
    assert_string_equal(value_at(doc, "exit_code"), "null");
    assert_string_equal(text_at(doc, "submitted_at"), "2023-11-14T22:13:23.000Z");
    assert_string_equal(value_at(doc, "started_at"), "null");
    assert_string_equal(value_at(doc, "counts.waiting"), "1");
    assert_string_equal(value_at(doc, "position"), "1");
    assert_string_equal(text_at(doc, "reason.code"), "next");
    assert_string_equal(value_at(doc, "attempts"), "[]");
    doc = task_written(id, TASK_JSON_NO_ENV);
    assert_string_equal(value_at(doc, "reason"), "null");
    assert_string_equal(value_at(doc, "env"), "{}");
    assert_null(doc_get(doc_get(doc, "spec"), "env"));
    assert_string_equal(value_at(doc, "spec.resources.foo"), "5");
    assert_null(doc_get(doc, "attempts"));
}

static void a_waiting_task_says_what_it_waits_for(void **state)
{
    (void)state;
    (void)site_submit(&site, 5000);
    site_pass(&site);
    task_id id = site_submit(&site, 5000);
    site_pass(&site);
    const struct doc *doc = task_written(id, TASK_JSON_REASON);
    assert_string_equal(text_at(doc, "reason.code"), "no-room");
    assert_string_equal(text_at(doc, "reason.message"),
                        "waits for 5 foo; the nearest node n1 has 2 free");
    assert_string_equal(text_at(doc, "reason.resource"), "foo");
    assert_string_equal(value_at(doc, "reason.wanted"), "5");
    assert_string_equal(value_at(doc, "reason.available"), "2");
    assert_string_equal(value_at(doc, "reason.smallest"), "2");
    assert_string_equal(text_at(doc, "reason.node"), "n1");
    assert_string_equal(value_at(doc, "reason.task"), "null");
    explain_json(&site.j, site.core, query_task(site.core, id), query_time_ms(site.core),
                 &site.arena);
    doc = site_written(&site);
    assert_string_equal(value_at(doc, "task"), "2");
    assert_string_equal(value_at(doc, "position"), "1");
    assert_string_equal(value_at(doc, "nodes_total"), "1");
    assert_string_equal(text_at(doc, "nearest[0].node"), "n1");
    assert_string_equal(text_at(doc, "nearest[0].code"), "no-room");
    assert_string_equal(text_at(doc, "nearest[0].message"),
                        "2 foo free of the 5 foo that the task needs");
    assert_string_equal(value_at(doc, "blockers[0]"), "1");
    assert_string_equal(value_at(doc, "reason.away"), "null");
    assert_string_equal(text_at(doc, "keeping.code"), "holds");
    assert_string_equal(text_at(doc, "keeping.message"),
                        "places are kept for the task as they become free");
    assert_string_equal(text_at(doc, "suggestions[0]"),
                        "request 2 foo or less, and the task can start now");
    assert_string_equal(text_at(doc, "suggestions[1]"),
                        "weir task edit 2 --priority 51  # would stop task 1 of root, losing 0s");
}

static void queue_items_share_a_reason(void **state)
{
    (void)state;
    (void)site_submit(&site, 7000);
    site_pass(&site);
    struct task_writer writer;
    task_json_writer_init(&writer, site.core, &site.arena);
    writer.keep = &site.arena;
    json_out_array(&site.j);
    for (uint32_t i = 0; i < 20; i++) {
        task_id id = site_submit(&site, 7000);
        task_json_short(&writer, &site.j, query_task(site.core, id), i + 1);
    }
    json_out_end(&site.j);
    assert_int_equal(writer.kept_count, 1);
    const struct doc *doc = site_written(&site);
    assert_int_equal(doc->count, 20);
    assert_string_equal(value_at(doc, "[19].position"), "20");
    assert_string_equal(text_at(doc, "[19].reason.code"), "no-room");
    assert_string_equal(text_at(doc, "[19].user"), "root");
    assert_string_equal(value_at(doc, "[19].priority"), "50");
}

/* One walk for a page gives each the place it has when counted alone. */
static void places_of_a_page_are_those_counted_alone(void **state)
{
    (void)state;
    enum { COUNT = TASK_JSON_POSITION_MAX + 20 };
    struct task_writer writer;
    task_id last = {0};
    (void)site_submit(&site, 7000);
    site_pass(&site);
    for (uint32_t i = 0; i < COUNT; i++) {
        last = site_submit(&site, 7000);
    }
    task_json_writer_init(&writer, site.core, &site.arena);
    writer.keep = &site.arena;
    const uint64_t looked[] = {1, 2, 700, TASK_JSON_POSITION_MAX, last.v};
    for (size_t i = 0; i < sizeof looked / sizeof looked[0]; i++) {
        task_id id = {looked[i]};
        task_json(&writer, &site.j, query_task(site.core, id), TASK_JSON_REASON);
        const struct doc *doc = site_written(&site);
        uint32_t alone = query_queue_position(site.core, id, TASK_JSON_POSITION_MAX);
        assert_string_equal(value_at(doc, "position"),
                            alone == 0 ? "null" : arena_fmt(&site.arena, "%u", alone));
        json_out_init(&site.j, &site.out);
    }
    assert_non_null(writer.places);
}

static void a_place_beyond_what_is_counted_says_so(void **state)
{
    (void)state;
    task_id id = {0};
    (void)site_submit(&site, 7000);
    site_pass(&site);
    for (uint32_t i = 0; i < POSITION_MAX; i++) {
        id = site_submit(&site, 7000);
    }
    explain_json(&site.j, site.core, query_task(site.core, id), query_time_ms(site.core),
                 &site.arena);
    const struct doc *doc = site_written(&site);
    assert_string_equal(value_at(doc, "position"), "10000");
    assert_string_equal(value_at(doc, "further"), "false");
    json_out_init(&site.j, &site.out);
    id = site_submit(&site, 7000);
    explain_json(&site.j, site.core, query_task(site.core, id), query_time_ms(site.core),
                 &site.arena);
    doc = site_written(&site);
    assert_string_equal(value_at(doc, "position"), "10000");
    assert_string_equal(value_at(doc, "further"), "true");
}

static task_id ended;

/* A task is shown between its end and its leaving the tables: that is what history keeps. */
static void ended_look(const struct fact *fact)
{
    if (fact->type != FACT_TASK_ENDED) {
        return;
    }
    ended = fact->task_ended.task;
    const struct doc *doc = task_written(ended, TASK_JSON_ATTEMPTS);
    assert_string_equal(text_at(doc, "state"), "failed");
    assert_string_equal(value_at(doc, "exit_code"), "7");
    assert_string_equal(text_at(doc, "cause"), "exit");
    assert_string_equal(text_at(doc, "attempts[0].state"), "ended");
    assert_string_equal(value_at(doc, "attempts[0].exit_code"), "7");
    assert_string_equal(value_at(doc, "attempts[0].cpu_ms"), "1500");
    assert_string_equal(value_at(doc, "attempts[0].memory_peak"), "4096");
    assert_string_equal(value_at(doc, "cpu_ms"), "1500");
    assert_string_equal(value_at(doc, "memory_peak"), "4096");
}

static void a_run_task_shows_its_attempt(void **state)
{
    (void)state;
    task_id id = site_submit(&site, 0);
    site_pass(&site);
    const struct effect start = {
        .type = EFFECT_START, .node = {1}, .incarnation = 1, .key = {id, 0, 1}};
    struct agent_order order;
    assert_true(start_order_fill(site.core, &start, &site.arena, &order));
    assert_true(order.epoch == query_epoch(site.core));
    assert_int_equal(order.incarnation, 1);
    assert_string_equal(order.start.argv[0], "true");
    assert_string_equal(order.start.env[0], "SECRET=a=b");
    assert_string_equal(order.start.node, "n1");
    assert_string_equal(order.start.pool, "default");
    assert_true(order.start.slots_milli == 1000);
    assert_true(order.start.cpu_milli == 2000); /* the slot's part of the node */
    assert_int_equal(order.start.world_size, 1);
    assert_string_equal(order.start.master_addr, "");
    const struct effect stale = {.type = EFFECT_START, .key = {id, 0, 2}};
    assert_false(start_order_fill(site.core, &stale, &site.arena, &order));
    const struct effect gone = {.type = EFFECT_START, .key = {{99}, 0, 1}};
    assert_false(start_order_fill(site.core, &gone, &site.arena, &order));

    site_report(&site, id, REPORT_STARTED, 0);
    const struct doc *doc = task_written(id, TASK_JSON_REASON | TASK_JSON_ATTEMPTS);
    assert_string_equal(text_at(doc, "state"), "running");
    assert_string_equal(value_at(doc, "reason"), "null");
    assert_string_equal(value_at(doc, "position"), "null");
    assert_string_equal(value_at(doc, "exit_code"), "null");
    assert_string_equal(text_at(doc, "attempts[0].key"), "1.0:1");
    assert_string_equal(text_at(doc, "attempts[0].state"), "running");
    assert_string_equal(text_at(doc, "attempts[0].node"), "n1");
    assert_string_equal(value_at(doc, "attempts[0].exit_code"), "null");
    assert_string_equal(value_at(doc, "attempts[0].cpu_ms"), "null");
    assert_string_equal(value_at(doc, "attempts[0].memory_peak"), "null");
    assert_string_equal(value_at(doc, "cpu_ms"), "0");

    ended = (task_id){0};
    site.on_fact = ended_look;
    site_report(&site, id, REPORT_ENDED, 7);
    assert_true(ended.v == id.v);
}

static void a_gang_is_told_where_it_meets(void **state)
{
    (void)state;
    static const char *const argv[] = {"true"};
    const struct task_spec spec = {
        .name = "",
        .user = "root",
        .project = "default",
        .image = "",
        .workdir = "",
        .argv = argv,
        .argv_count = 1,
        .slots_milli = 1000,
        .cpu_milli = ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
        .instances = 2,
        .gang = true,
        .priority = PRIORITY_DEFAULT,
    };
    struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = &spec, .count = 1}};
    assert_int_equal(site_step(&site, in), VERDICT_OK);
    task_id id = query_task_last(site.core);
    site_pass(&site);
    for (uint32_t i = 0; i < 2; i++) {
        const struct effect start = {
            .type = EFFECT_START, .node = {1}, .incarnation = 1, .key = {id, i, 1}};
        struct agent_order order;
        assert_true(start_order_fill(site.core, &start, &site.arena, &order));
        assert_int_equal(order.start.rank, i);
        assert_int_equal(order.start.instance, i);
        assert_int_equal(order.start.world_size, 2);
        assert_string_equal(order.start.master_addr, "10.0.0.1");
        assert_int_equal(order.start.master_port, PORTS_MASTER_FIRST + id.v);
    }
}

static void pools_and_nodes_show_what_is_free(void **state)
{
    (void)state;
    (void)site_submit(&site, 0);
    (void)site_submit(&site, 5000);
    site_pass(&site);
    (void)site_submit(&site, 7000);
    const struct pool *pool = query_pool_named(site.core, "default");
    state_json_pool(&site.j, site.core, pool, true, &site.arena);
    const struct doc *doc = site_written(&site);
    assert_string_equal(text_at(doc, "name"), "default");
    assert_string_equal(value_at(doc, "paused"), "false");
    assert_string_equal(value_at(doc, "accepts"), "[]");
    assert_string_equal(value_at(doc, "patience_ms"), "null"); /* auto */
    assert_string_equal(value_at(doc, "nodes.total"), "1");
    assert_string_equal(value_at(doc, "nodes.up"), "1");
    assert_string_equal(value_at(doc, "nodes.draining"), "0");
    assert_string_equal(value_at(doc, "slots.total"), "2");
    assert_string_equal(value_at(doc, "slots.free"), "1");
    assert_string_equal(value_at(doc, "slots.used"), "1");
    assert_string_equal(value_at(doc, "tasks.pending"), "1");
    assert_string_equal(value_at(doc, "tasks.running"), "2");
    assert_string_equal(value_at(doc, "reserved_task"), "null");
    /* 2 slots: 2 % and 1 % of them in an hour, and what a day gives */
    assert_string_equal(value_at(doc, "budgets.idle.level"), "0.96");
    assert_string_equal(value_at(doc, "budgets.idle.most"), "0.96");
    assert_string_equal(value_at(doc, "budgets.idle.gets"), "0.04");
    assert_string_equal(value_at(doc, "budgets.idle.pays"), "0");
    assert_string_equal(value_at(doc, "budgets.loss.level"), "0.48");
    assert_string_equal(value_at(doc, "budgets.loss.gets"), "0.02");
    state_json_node(&site.j, site.core, query_node_named(site.core, "n1"), &site.arena);
    doc = site_written(&site);
    assert_string_equal(text_at(doc, "name"), "n1");
    assert_string_equal(text_at(doc, "state"), "up");
    assert_string_equal(text_at(doc, "labels.zone"), "a");
    assert_string_equal(value_at(doc, "resources.slots.total"), "2");
    assert_string_equal(value_at(doc, "resources.slots.free"), "1");
    assert_string_equal(value_at(doc, "resources.memory.total"), "8589934592");
    assert_string_equal(value_at(doc, "resources.foo.free"), "2");
    assert_string_equal(value_at(doc, "devices"), "[]");
    assert_string_equal(value_at(doc, "aux.used"), "1");
    assert_string_equal(value_at(doc, "incarnation"), "1");
    assert_string_equal(text_at(doc, "address"), "10.0.0.1");
    assert_string_equal(text_at(doc, "tasks[0]"), "1.0:1");
    assert_string_equal(text_at(doc, "tasks[1]"), "2.0:1");
}

static void refusals_name_field_and_smallest_change(void **state)
{
    (void)state;
    assert_true(site_submit(&site, 8000).v == 0);
    error_json_refusal(site.core, &site.facts, false, &site.arena, &site.out);
    const struct doc *doc = site_written(&site);
    assert_string_equal(text_at(doc, "error.code"), "never");
    assert_string_equal(text_at(doc, "error.path"), "resources.foo");
    assert_string_equal(text_at(doc, "error.message"),
                        "asks for 8 foo; the largest node of pool 'default' has 7; with 7 foo it "
                        "would be accepted");
    assert_string_equal(text_at(doc, "error.reason.code"), "too-large");
    assert_string_equal(value_at(doc, "error.reason.smallest"), "7");
    error_json_refusal(site.core, &site.facts, true, &site.arena, &site.out);
    assert_string_equal(text_at(site_written(&site), "error.path"), "[0].resources.foo");
    struct input kill = {.type = INPUT_TASK_KILL, .task = {.task = {99}}};
    assert_int_equal(site_step(&site, kill), VERDICT_NOT_FOUND);
    error_json_refusal(site.core, &site.facts, false, &site.arena, &site.out);
    doc = site_written(&site);
    assert_string_equal(text_at(doc, "error.code"), "not-found");
    assert_string_equal(text_at(doc, "error.message"), "there is no such task");
}

static void errors_are_one_object(void **state)
{
    (void)state;
    struct error e = {.code = ERR_INVALID, .path = "a.b", .text = "a.b: wrong \"x\""};
    error_json(&e, &site.out);
    assert_string_equal(buf_text(&site.out),
                        "{\"error\":{\"code\":\"invalid\",\"message\":\"a.b: wrong "
                        "\\\"x\\\"\",\"path\":\"a.b\"}}");
    buf_clear(&site.out);
    error_json_code("stale", "old epoch", &site.out);
    assert_string_equal(buf_text(&site.out),
                        "{\"error\":{\"code\":\"stale\",\"message\":\"old epoch\",\"path\":\"\"}}");
}

static const char *const life[] = {"task-submitted", "allocated", "attempt-started",
                                   "attempt-ended", "task-ended"};
static size_t life_at;

static void event_look(const struct fact *fact)
{
    event_json(&site.j, site.core, 40, fact);
    assert_null(strstr(buf_text(&site.out), "SECRET"));
    const struct doc *doc = site_written(&site);
    assert_string_equal(text_at(doc, "type"), fact_type_name(fact->type));
    assert_string_equal(value_at(doc, "seq"), "40");
    assert_non_null(doc_get(doc, "actor"));
    assert_non_null(doc_get(doc, "cause"));
    if (life_at < 5 && strcmp(text_at(doc, "type"), life[life_at]) == 0) {
        assert_string_equal(value_at(doc, "task"), "1");
        assert_string_equal(text_at(doc, "pool"), "default");
        life_at++;
    }
}

/* Every fact of a task's life, as an event. */
static void facts_are_events_without_secrets(void **state)
{
    (void)state;
    life_at = 0;
    site.on_fact = event_look;
    task_id id = site_submit(&site, 0);
    site_pass(&site);
    site_report(&site, id, REPORT_STARTED, 0);
    site_report(&site, id, REPORT_ENDED, 0);
    assert_int_equal(life_at, 5);
}

static void events_are_about_their_subject(void **state)
{
    (void)state;
    struct input edit = {
        .type = INPUT_NODE_EDIT,
        .node = {.node = {1},
                 .edit = &(struct node_edit){.fields = NODE_EDIT_DRAIN, .drain = true}}};
    assert_int_equal(site_step(&site, edit), VERDICT_OK);
    assert_true(site.facts.count > 0);
    struct event_json_subject subject = event_json_subject(site.core, &site.facts.at[0]);
    assert_int_equal(subject.node.v, 1);
    assert_int_equal(subject.pool.v, query_pool_named(site.core, "default")->id.v);
    assert_true(subject.task.v == 0);
    event_json(&site.j, site.core, 1, &site.facts.at[0]);
    assert_string_equal(text_at(site_written(&site), "node"), "n1");
}

/* The only fact of a step, as an event. */
static const struct doc *only_event(struct input in)
{
    assert_int_equal(site_step(&site, in), VERDICT_OK);
    assert_int_equal(site.facts.count, 1);
    event_json(&site.j, site.core, 1, &site.facts.at[0]);
    const struct doc *doc = site_written(&site);
    assert_string_equal(text_at(doc, "pool"), "default");
    assert_string_equal(value_at(doc, "launch"), "1");
    return doc;
}

static void launches_are_events_with_the_providers_words(void **state)
{
    (void)state;
    struct input ask = {.type = INPUT_LAUNCH_ASK, .launch = {.pool = {1}, .count = 1}};
    assert_string_equal(text_at(only_event(ask), "type"), "launch-asked");
    struct provider_answer said = {
        .launch = {1}, .says = PROVIDER_RUNNING, .name = "i-0abc", .node = "n1", .words = "hello"};
    const struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &said, .count = 1}};
    const struct doc *doc = only_event(in);
    assert_string_equal(text_at(doc, "type"), "launch-changed");
    assert_string_equal(text_at(doc, "state"), "running");
    assert_string_equal(text_at(doc, "machine"), "i-0abc");
    assert_string_equal(text_at(doc, "node"), "n1");
    assert_string_equal(text_at(doc, "message"), "hello");
    said.says = PROVIDER_FAILED;
    said.words = "no capacity";
    doc = only_event(in);
    assert_string_equal(text_at(doc, "type"), "launch-ended");
    assert_string_equal(value_at(doc, "failed"), "true");
    assert_string_equal(text_at(doc, "message"), "no capacity");
}

static void the_whole_state_is_one_document(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        (void)site_submit(&site, i % 2 == 0 ? 0 : 3000);
    }
    site_pass(&site);
    state_json(site.core, query_time_ms(site.core), &site.out);
    assert_null(strstr(buf_text(&site.out), "SECRET"));
    const struct doc *doc = site_written(&site);
    assert_string_equal(value_at(doc, "version"), "1");
    assert_string_equal(text_at(doc_get(doc, "defaults"), "gpu_pool"), "default");
    assert_int_equal(doc_get(doc, "pools")->count, 1);
    assert_int_equal(doc_get(doc, "nodes")->count, 1);
    assert_int_equal(doc_get(doc, "tasks")->count, 50);
}

static int setup(void **state)
{
    (void)state;
    site_init(&site);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    site_done(&site);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_task_has_exactly_the_documented_fields),
        TEST(a_waiting_task_says_what_it_waits_for),
        TEST(queue_items_share_a_reason),
        TEST(places_of_a_page_are_those_counted_alone),
        TEST(a_place_beyond_what_is_counted_says_so),
        TEST(a_run_task_shows_its_attempt),
        TEST(a_gang_is_told_where_it_meets),
        TEST(pools_and_nodes_show_what_is_free),
        TEST(refusals_name_field_and_smallest_change),
        TEST(errors_are_one_object),
        TEST(facts_are_events_without_secrets),
        TEST(events_are_about_their_subject),
        TEST(launches_are_events_with_the_providers_words),
        TEST(the_whole_state_is_one_document),
    };
    return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
