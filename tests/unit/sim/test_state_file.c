/* test_state_file.c - exported states: what is taken over, and what no server wrote.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/state_file.h"

#include "sim/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { RUNS_MS = 60000 };

static struct scenario scenario;

static int setup(void **state)
{
    (void)state;
    scenario_init(&scenario);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scenario_done(&scenario);
    return 0;
}

/* A state with these lists and nothing else. */
static enum err read_lists(const char *pools, const char *nodes, const char *tasks, struct error *e)
{
    const char *text =
        arena_fmt(&scenario.arena,
                  "{\"version\":1,\"time\":\"2026-11-15T14:05:00.000Z\",\"pools\":[%s],"
                  "\"departments\":[],\"projects\":[],\"quotas\":[],\"nodes\":[%s],"
                  "\"tasks\":[%s]}",
                  pools, nodes, tasks);
    return state_file_read(str_of(text), "s.json", RUNS_MS, &scenario, e);
}

static void reads(const char *pools, const char *nodes, const char *tasks)
{
    struct error e = {0};
    if (read_lists(pools, nodes, tasks, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
}

static void refuses(const char *pools, const char *nodes, const char *tasks, const char *message)
{
    struct error e = {0};
    assert_int_not_equal(read_lists(pools, nodes, tasks, &e), ERR_OK);
    if (strstr(e.text, message) == NULL) {
        fail_msg("'%s' does not say '%s'", e.text, message);
    }
}

#define TASK(id, more)                                                                             \
    "{\"id\":" id ",\"name\":\"a\",\"state\":\"pending\",\"command\":[\"true\"]" more "}"

static void settings_of_a_pool_are_as_they_were(void **state)
{
    (void)state;
    reads(
        "{\"name\":\"default\",\"patience_ms\":5000,\"topology\":[\"zone\",\"rack\"],"
        "\"scheduler\":{\"stale_grace_ms\":null,\"user_slots\":4,\"order\":\"short-first\","
        "\"preemption_delay_ms\":7,\"history\":{\"half_life_ms\":9,\"window_ms\":0,\"factor\":1.5}}"
        "},"
        "{\"name\":\"b\",\"scheduler\":{\"stale_grace_ms\":8,\"user_slots\":null,\"history\":null}"
        "}",
        "", "");
    assert_int_equal(scenario.pools.count, 2);
    const struct pool_spec *first = &scenario.pools.at[0];
    assert_int_equal(first->patience_ms, 5000);
    assert_int_equal(first->topology_count, 2);
    assert_string_equal(first->topology[1], "rack");
    assert_int_equal(first->stale_grace_ms, STALE_GRACE_NEVER);
    assert_int_equal(first->user_slots_max, 4000);
    assert_int_equal(first->order, QUEUE_SHORT_FIRST);
    assert_int_equal(first->preemption_delay_ms, 7);
    assert_int_equal(first->history_half_life_ms, 9);
    assert_int_equal(first->history_factor, 1500);
    assert_int_equal(scenario.pools.at[1].stale_grace_ms, 8);
    assert_int_equal(scenario.pools.at[1].user_slots_max, 0);
}

static void gangs_keep_their_minimum_and_their_groups(void **state)
{
    (void)state;
    reads(
        "", "",
        TASK("1",
             ",\"gang\":true,\"instances\":4,\"min_instances\":2,"
             "\"topology\":{\"required\":\"zone\"},\"groups\":null") "," TASK("2",
                                                                              ",\"gang\":"
                                                                              "true,"
                                                                              "\"instances\""
                                                                              ":3,\"min_"
                                                                              "instances\":"
                                                                              "3,\"groups\":"
                                                                              "["
                                                                              "{\"name\":"
                                                                              "\"x\","
                                                                              "\"instances\""
                                                                              ":1,"
                                                                              "\"resources\""
                                                                              ":{\"gpu\":1}}"
                                                                              ","
                                                                              "{\"name\":"
                                                                              "\"y\","
                                                                              "\"instances\""
                                                                              ":2,"
                                                                              "\"resources\""
                                                                              ":{\"gpu\":2}}"
                                                                              "]") "," TASK("3",
                                                                                            ",\"gan"
                                                                                            "g\":"
                                                                                            "false,"
                                                                                            "\"inst"
                                                                                            "ances"
                                                                                            "\":3,"
                                                                                            "\"min_"
                                                                                            "instan"
                                                                                            "ces\":"
                                                                                            "1"));
    assert_int_equal(scenario.jobs.count, 3);
    const struct task_spec *first = &scenario.jobs.at[0].kind->spec;
    assert_int_equal(first->min_instances, 2);
    assert_string_equal(first->topology.required, "zone");
    assert_int_equal(scenario.jobs.at[1].kind->spec.group_count, 2);
    assert_int_equal(scenario.jobs.at[1].kind->spec.instances, 3);
    assert_false(scenario.jobs.at[2].kind->spec.gang);
    assert_int_equal(scenario.jobs.at[2].kind->spec.instances, 3);
}

static void a_task_waits_for_those_that_are_there(void **state)
{
    (void)state;
    reads("", "",
          TASK("1", "") "," TASK("1", "") "," TASK(
              "1",
              "") ","
                  "{\"id\":2,\"name\":\"b\",\"state\":\"completed\",\"command\":[\"true\"]}," TASK(
                      "3", ",\"depends_on\":[1,2,9]"));
    const struct job_kind *last = scenario.jobs.at[3].kind;
    assert_int_equal(last->after_count, 1);
    assert_string_equal(last->after[0], "#1 a");
    assert_int_equal(last->spec.depends_any, 0);
}

static void how_a_dependency_may_end_is_kept(void **state)
{
    (void)state;
    reads("", "", TASK("1", "") "," TASK("2", "") "," TASK("3", ",\"depends_on\":[1,\"2:any\"]"));
    const struct job_kind *last = scenario.jobs.at[2].kind;
    assert_int_equal(last->after_count, 2);
    assert_string_equal(last->after[1], "#2 a");
    assert_int_equal(last->spec.depends_any, 2);
}

static void a_task_is_read_from_its_spec(void **state)
{
    (void)state;
    reads("", "",
          TASK("1", ",\"priority\":1,\"spec\":{\"command\":[\"x\"],\"priority\":77,"
                    "\"stale_grace\":\"never\",\"preemption_delay\":\"90s\"}"));
    const struct task_spec *spec = &scenario.jobs.at[0].kind->spec;
    assert_int_equal(spec->priority, 77);
    assert_int_equal(spec->stale_grace_ms, STALE_GRACE_NEVER);
    assert_int_equal(spec->preemption_delay_ms, 90000);
}

static void numbers_have_their_bounds(void **state)
{
    (void)state;
    refuses("", "", TASK("1", ",\"time_limit_ms\":9223372036854775807"),
            "tasks[0]: time_limit: a duration is at most 100 years");
    refuses("", "", TASK("1", ",\"grace_ms\":-1"), "tasks[0]: grace: ");
    refuses("", "", TASK("1", ",\"counts\":{\"waiting\":9223372036854775807,\"active\":1}"),
            "waiting is no number");
    refuses("{\"name\":\"p\",\"patience_ms\":-5}", "", "", "pools[0]: patience: ");
    refuses("{\"name\":\"p\",\"scheduler\":{\"stale_grace_ms\":-7}}", "", "",
            "pools[0]: scheduler.stale_grace: ");
    refuses("", "{\"name\":\"n\",\"resources\":{\"slots\":{\"total\":100000000}}}", "",
            "nodes[0]: slots: at most");
    refuses("", "{\"name\":\"\",\"resources\":{}}", "", "nodes[0]: ");
    scenario.nodes_max = 1;
    refuses("", "{\"name\":\"n\",\"resources\":{}},{\"name\":\"m\",\"resources\":{}}", "",
            "nodes[1]: more than 1 nodes");
    scenario.jobs_max = 0;
    refuses("", "", TASK("1", ""), "tasks[0]: more than 0 tasks");
}

struct refusals {
    char names[4][16];
    enum reason_code codes[4];
    uint32_t count;
};

static void refusal_note(void *ctx, const struct engine *engine, const struct refusal *refusal)
{
    struct refusals *seen = ctx;
    (void)engine;
    assert_true(seen->count < 4);
    (void)snprintf(seen->names[seen->count], sizeof seen->names[0], "%s", refusal->job->name);
    seen->codes[seen->count++] = refusal->reason.code;
}

static struct engine *played(const struct engine_options *options)
{
    struct error e = {0};
    scenario_sort(&scenario);
    struct engine *engine = engine_new(&scenario, options);
    if (engine_run(engine, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
    return engine;
}

/* The one it waits for is refused: nothing offers what it asks for. */
static void waiting_for_a_refused_task_is_refused(void **state)
{
    (void)state;
    reads("", "", TASK("1", ",\"resources\":{\"foo\":1}") "," TASK("2", ",\"depends_on\":[1]"));
    struct refusals seen = {0};
    const struct engine_options options = {
        .check = true,
        .watchers = {{.ctx = &seen, .refused = refusal_note}},
        .watcher_count = 1,
    };
    struct engine *engine = played(&options);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.names[0], "#1 a");
    assert_int_equal(seen.codes[0], REASON_UNKNOWN_RESOURCE);
    assert_string_equal(seen.names[1], "#2 a");
    assert_int_equal(seen.codes[1], REASON_UNKNOWN_TASK);
    engine_free(engine);
}

/* ---- what runs stays where it is ---- */

#define NODE(name)                                                                                 \
    "{\"name\":\"" name "\",\"pool\":\"default\",\"state\":\"up\",\"labels\":{},"                  \
    "\"devices\":[{},{}],\"resources\":{\"slots\":{\"total\":2},\"cpu\":{\"total\":8},"            \
    "\"memory\":{\"total\":1024}}}"
#define RUNS(id, node, device, started, more)                                                      \
    "{\"id\":" id ",\"name\":\"a\",\"state\":\"running\",\"command\":[\"true\"],"                  \
    "\"resources\":{\"gpu\":1},\"submitted_at\":\"2026-11-15T14:00:00.000Z\",\"attempts\":["       \
    "{\"index\":0,\"state\":\"running\",\"node\":\"" node "\",\"devices\":[" device "],"           \
    "\"started_at\":\"2026-11-15T14:" started "Z\"" more "}]}"

/* Where attempts were, in the order of their beginning. */
struct starts {
    char nodes[8][8];
    uint64_t devices[8];
    int64_t at_ms[8];
    int64_t saved_ms;
    uint32_t count;
};

static void start_note(void *ctx, const struct engine *engine, const struct fact *fact)
{
    struct starts *seen = ctx;
    if (fact->type == FACT_ATTEMPT_CHECKPOINT) {
        seen->saved_ms = engine_now_ms(engine);
    }
    if (fact->type == FACT_ALLOCATED) {
        assert_in_range(seen->count, 0, 7);
        const char *node = query_node_name(engine_core(engine), fact->allocated.node);
        (void)snprintf(seen->nodes[seen->count], sizeof seen->nodes[0], "%s", node);
        seen->devices[seen->count] = fact->allocated.devices;
        seen->at_ms[seen->count++] = engine_now_ms(engine);
    }
}

static struct engine_options starts_watched(struct starts *seen)
{
    return (struct engine_options){
        .check = true,
        .watchers = {{.ctx = seen, .fact = start_note}},
        .watcher_count = 1,
    };
}

/* The export is of 14:05, and every run lasts RUNS_MS. */
static void what_runs_keeps_its_place_and_its_time(void **state)
{
    (void)state;
    struct starts seen = {0};
    const struct engine_options options = starts_watched(&seen);
    reads("", NODE("n1") "," NODE("n2"),
          RUNS("1", "n2", "1", "04:20.000",
               ",\"checkpoint_at\":\"2026-11-15T14:04:50.000Z\"") "," RUNS("2", "n1", "0",
                                                                           "00:10.000",
                                                                           "") "," TASK("3", ""));
    struct engine *engine = played(&options);
    assert_int_equal(seen.count, 3);
    assert_string_equal(seen.nodes[0], "n1"); /* task 2 began first */
    assert_int_equal(seen.devices[0], 1);
    assert_int_equal(seen.at_ms[0], -290000);
    assert_string_equal(seen.nodes[1], "n2");
    assert_int_equal(seen.devices[1], 2);
    assert_int_equal(seen.at_ms[1], -40000);
    assert_int_equal(seen.saved_ms, -10000);
    const struct job_record *first = engine_records_at(engine, (task_id){1});
    assert_int_equal(first->submitted_ms, -300000);
    assert_int_equal(first->started_ms, -40000);
    assert_int_equal(first->ended_ms, RUNS_MS - 40000);
    const struct job_record *second = engine_records_at(engine, (task_id){2});
    assert_int_equal(second->ended_ms, 1000); /* longer than was said: it ends at once */
    engine_free(engine);
}

/* A node that is not there any more, and two on one device: they wait like others. */
static void what_cannot_be_where_it_was_starts_anew(void **state)
{
    (void)state;
    struct starts seen = {0};
    const struct engine_options options = starts_watched(&seen);
    reads("", NODE("n1"),
          RUNS("1", "gone", "0", "04:20.000", "") "," RUNS(
              "2", "n1", "0", "04:20.000", "") "," RUNS("3", "n1", "0", "04:20.000", ""));
    struct engine *engine = played(&options);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.at_ms[0], -40000);
    assert_int_equal(seen.at_ms[1], 0);
    assert_int_equal(engine_records_at(engine, (task_id){2})->ended_ms, RUNS_MS - 40000);
    assert_int_equal(engine_records_at(engine, (task_id){1})->ended_ms, RUNS_MS);
    assert_int_equal(engine_records_at(engine, (task_id){3})->ended_ms, RUNS_MS - 40000 + RUNS_MS);
    engine_free(engine);
}

#define WITH_SCENARIO(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENARIO(settings_of_a_pool_are_as_they_were),
        WITH_SCENARIO(gangs_keep_their_minimum_and_their_groups),
        WITH_SCENARIO(a_task_waits_for_those_that_are_there),
        WITH_SCENARIO(how_a_dependency_may_end_is_kept),
        WITH_SCENARIO(a_task_is_read_from_its_spec),
        WITH_SCENARIO(numbers_have_their_bounds),
        WITH_SCENARIO(waiting_for_a_refused_task_is_refused),
        WITH_SCENARIO(what_runs_keeps_its_place_and_its_time),
        WITH_SCENARIO(what_cannot_be_where_it_was_starts_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
