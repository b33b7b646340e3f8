/* test_scenario_file.c - scenario files and the errors they get.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_file.h"

#include "sim/scenario_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

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

static void reads(const char *text, const uint64_t *seed)
{
    struct error e = {0};
    if (scenario_file_read(str_of(text), "s.yaml", seed, &scenario, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
    scenario_sort(&scenario);
}

static void refuses(const char *text, const char *message)
{
    struct error e = {0};
    assert_int_equal(scenario_file_read(str_of(text), "s.yaml", NULL, &scenario, &e), ERR_INVALID);
    if (strstr(e.text, message) == NULL) {
        fail_msg("'%s' does not say '%s'", e.text, message);
    }
}

static void nodes_are_counted_and_sized(void **state)
{
    (void)state;
    reads("nodes:\n"
          "  - {name: g, count: 2, gpus: 4, cpu: 32, memory: 128Gi, resources: {foo: 2.5}}\n"
          "  - {name: c, cpu: 8.5}\n"
          "  - {name: s, slots: 3, later: true}\n",
          NULL);
    assert_int_equal(scenario.nodes.count, 4);
    assert_string_equal(scenario.nodes.at[1].spec.name, "g2");
    assert_int_equal(scenario.nodes.at[1].spec.slots_milli, 4000);
    assert_int_equal(scenario.nodes.at[1].spec.device_count, 4);
    assert_int_equal(scenario.nodes.at[1].spec.memory_bytes, 128LL << 30);
    assert_int_equal(scenario.nodes.at[1].spec.resources[0].milli, 2500);
    assert_string_equal(scenario.nodes.at[2].spec.name, "c");
    assert_int_equal(scenario.nodes.at[2].spec.slots_milli, 8000);
    assert_int_equal(scenario.nodes.at[3].spec.slots_milli, 3000);
    assert_true(scenario.nodes.at[3].later);
}

static void tasks_come_in_order_of_time(void **state)
{
    (void)state;
    reads("tasks:\n"
          "  - {name: b, at: 1m, runs: 10m, resources: {gpu: 2}, exit: 3, stops_in: 5s}\n"
          "  - {name: a, runs: forever, count: 2, every: 1m, after: [x, y]}\n",
          NULL);
    assert_int_equal(scenario.jobs.count, 3);
    assert_string_equal(scenario.jobs.at[0].name, "a1");
    assert_string_equal(scenario.jobs.at[1].name, "b"); /* as in the file where times are equal */
    assert_string_equal(scenario.jobs.at[2].name, "a2");
    assert_true(scenario.jobs.at[0].runs_ms == RUNS_FOR_EVER);
    assert_int_equal(scenario.jobs.at[0].kind->after_count, 2);
    assert_true(scenario.names_needed);
    assert_int_equal(scenario.jobs.at[1].kind->exit_code, 3);
    assert_int_equal(scenario.jobs.at[1].kind->spec.slots_milli, 2000);
}

static const char stream[] = "seed: 7\n"
                             "streams: [{every: 1m, until: 10h, runs: {from: 1m, to: 2m}}]\n";

static void a_stream_is_drawn_from_the_seed(void **state)
{
    (void)state;
    const uint64_t other = 8;
    reads(stream, NULL);
    assert_int_equal(scenario.seed, 7);
    const size_t count = scenario.jobs.count;
    assert_in_range(count, 500, 700);
    const int64_t first_ms = scenario.jobs.at[0].at_ms;
    for (size_t i = 0; i < count; i++) {
        assert_in_range(scenario.jobs.at[i].runs_ms, 60000, 120000);
        assert_true(scenario.jobs.at[i].at_ms < 10 * 3600000);
    }
    scenario_done(&scenario);
    scenario_init(&scenario);
    reads(stream, NULL);
    assert_int_equal(scenario.jobs.count, count);
    assert_int_equal(scenario.jobs.at[0].at_ms, first_ms);
    scenario_done(&scenario);
    scenario_init(&scenario);
    reads(stream, &other);
    assert_int_equal(scenario.seed, 8);
    assert_int_not_equal(scenario.jobs.at[0].at_ms, first_ms);
}

static void accounts_and_quotas_are_as_in_the_server_file(void **state)
{
    (void)state;
    reads("departments: [{name: research}]\n"
          "projects: [{name: vision, department: research}]\n"
          "quotas: [{project: vision, pool: default, resources: {gpu: 8}}]\n"
          "pools: [{name: default, patience: 2m}]\n"
          "events: [{at: 5m, drain: n1}, {at: 1m, crash: n2, for: 1h}]\n",
          NULL);
    assert_int_equal(scenario.accounts.count, 2);
    assert_string_equal(scenario.accounts.at[1].parent, "research");
    assert_int_equal(scenario.quotas.at[0]->amounts[0].guaranteed, 8000);
    assert_int_equal(scenario.pools.at[0].patience_ms, 120000);
    assert_int_equal(scenario.actions.at[0].type, ACTION_CRASH);
    assert_int_equal(scenario.actions.at[0].for_ms, 3600000);
    assert_string_equal(scenario.actions.at[1].target, "n1");
}

/* The end of the scenario is theirs, too, wherever it stands. */
static void streams_go_on_to_the_end(void **state)
{
    (void)state;
    refuses("streams: [{every: 1m, runs: 5m}]", "'until' (its own or the scenario's) or 'count'");
    refuses("until: soon\nstreams: [{every: 1m, runs: 5m}]", "s.yaml:1:8: until:");
    reads("streams: [{every: 1m, runs: 5m}]\nuntil: 2h\n", NULL);
    assert_in_range(scenario.jobs.count, 60, 240);
    assert_true(scenario.jobs.at[scenario.jobs.count - 1].at_ms < 7200000);
}

static void problems_name_their_place(void **state)
{
    (void)state;
    refuses("nodes: [{name: n, gpu: 8}]", "s.yaml:1:19: nodes[0].gpu: unknown field; did you mean "
                                          "'gpus'?");
    refuses("nodes: [{gpus: 8}]", "nodes[0].name: it is missing");
    refuses("nodes: [{name: n, gpus: 8, slots: 4}]", "a node with GPUs has as many slots");
    refuses("tasks: [{name: a}]", "tasks[0].runs: it is missing");
    refuses("tasks: [{runs: 5x}]", "tasks[0].runs:");
    refuses("tasks:\n  - {runs: 5m, priority: 200}", "s.yaml:2:26: tasks[0].priority:");
    refuses("tasks: [{runs: {mean: 5m, to: 3m}}]", "give either mean, or from and to");
    refuses("streams: [{runs: 5m}]", "a stream wants 'every'");
    refuses("events: [{at: 5m}]", "an event has a time 'at' and one act");
    refuses("events: [{drain: n1}]", "an event has a time 'at' and one act");
    refuses("pools: [{patience: 5m}]", "pools[0]: name: it is missing");
    refuses("trace: {format: philly}", "'file' is missing");
    refuses("trace: {file: t.csv, arrivals: 0.51781}", "with at most 4 decimal places");
    refuses("- 5", "a map of fields is wanted");
    refuses("faults: {crash_every: 1d}\ntasks: [{runs: forever}]", "until: it is missing");
    refuses("seed: -1", "seed:");
    refuses("{", "s.yaml");
}

/* Read without a problem, but its parts do not go together. */
static void breaks(const char *text, const char *message)
{
    struct error e = {0};
    scenario_done(&scenario);
    scenario_init(&scenario);
    scenario.file = "s.yaml";
    reads(text, NULL);
    assert_int_equal(scenario_check(&scenario, &e), ERR_INVALID);
    if (strcmp(e.text, message) != 0) {
        fail_msg("'%s' is not '%s'", e.text, message);
    }
}

static void parts_that_do_not_go_together_name_their_place(void **state)
{
    (void)state;
    breaks("nodes:\n  - {name: n, count: 2}\n  - {gpus: 1, name: n2}\n",
           "s.yaml:3:21: two nodes are named 'n2'; each has a name of its own");
    breaks("projects: [{name: a, department: x}]",
           "s.yaml:1:34: there is no department 'x'; there are: default");
    breaks("departments: [{name: a, parent: b}, {name: b, parent: a}]",
           "s.yaml:1:33: department 'a' would lie below itself: a cycle");
    breaks("departments: [{name: d, parent: a}, {name: a, parent: a}]",
           "s.yaml:1:55: department 'a' would lie below itself: a cycle");
    breaks("projects: [{name: a}]\nquotas: [{project: b, pool: default, resources: {gpu: 1}}]",
           "s.yaml:2:20: quotas[0].project: there is no project 'b'; there are: default, a");
    breaks("departments: [{name: d}]\nquotas: [{department: b, pool: default}]",
           "s.yaml:2:23: quotas[0].department: there is no department 'b'; there are: default, d");
    breaks("pools: [{name: p}]\nquotas: [{project: default, pool: q}]",
           "s.yaml:2:35: quotas[0].pool: there is no pool 'q'; there are: default, p");
    breaks("tasks:\n  - {name: a, runs: 1m}\n  - {name: b, runs: 1m, after: [a, c]}",
           "s.yaml:3:36: task 'b' comes after 'c', and no task of that name is submitted before "
           "it");
    breaks("tasks: [{name: a, runs: 1m, after: b}, {name: b, runs: 1m}]",
           "s.yaml:1:36: task 'a' comes after 'b', and no task of that name is submitted before "
           "it");
}

static void what_goes_together_is_taken(void **state)
{
    struct error e = {0};
    (void)state;
    reads("departments: [{name: a, parent: b}, {name: b}]\n"
          "projects: [{name: p, department: a}, {name: q, department: default}]\n"
          "quotas: [{project: of-a-task, pool: default}, {department: b, pool: default}]\n"
          "tasks: [{name: x, at: 5m, runs: 1m, after: y}, {name: y, runs: 1m, project: of-a-task}]",
          NULL);
    assert_int_equal(scenario_check(&scenario, &e), ERR_OK);
}

static void tasks_have_users(void **state)
{
    (void)state;
    reads("tasks: [{runs: 1m, user: ann}]", NULL);
    assert_string_equal(scenario.jobs.at[0].kind->spec.user, "ann");
    refuses("tasks: [{runs: 1m, user: a b}]", "s.yaml:1:26: tasks[0].user: the name of a user");
}

static void events_change_quotas_pools_and_accounts(void **state)
{
    (void)state;
    reads("events:\n"
          "  - {at: 2h, pool: {name: default, scheduler: {preemption: off}}}\n"
          "  - {at: 1h, quota: {project: a, pool: default, resources: {gpu: 4}}}\n"
          "  - {at: 3h, project: {name: b, department: d}}\n",
          NULL);
    assert_int_equal(scenario.actions.count, 3);
    assert_int_equal(scenario.actions.at[0].type, ACTION_QUOTA);
    assert_int_equal(scenario.actions.at[0].at_ms, 3600000);
    assert_non_null(scenario.actions.at[0].body);
    assert_int_equal(scenario.actions.at[1].type, ACTION_POOL);
    assert_int_equal(scenario.actions.at[2].type, ACTION_PROJECT);
    assert_false(scenario.names_needed);
}

static void bodies_of_events_are_refused_with_their_place(void **state)
{
    (void)state;
    refuses("events:\n"
            "  - at: 1h\n"
            "    quota: {project: a, pool: default, resources: {gpu: {limit: -1}}}\n",
            "s.yaml:3:65");
    refuses("events:\n"
            "  - at: 1h\n"
            "    quota: {pool: default, resources: {gpu: 1}}\n",
            "it is missing; a quota belongs to a project or to a department");
    refuses("events: [{at: 1h, quota: 4}]", "a map as in the server file is wanted");
    refuses("events: [{at: 1h, pool: {name: p, scheduler: {policy: fast}}}]", "s.yaml:1:55");
    refuses("events: [{at: 1h, project: {title: x}}]", "name");
    refuses("events: [{at: 1h, department: {name: d, parrent: e}}]", "parrent");
    refuses("events: [{at: 1h, project: {name: x}, drain: n1}]", "one act");
    refuses("events: [{quota: {project: a, pool: default}}]", "has a time 'at'");
}

static void what_a_file_makes_grow_has_an_end(void **state)
{
    (void)state;
    refuses("tasks: [{count: 10000000, every: 36500d, runs: 1s}]",
            "s.yaml:1:9: tasks[0]: the last ones would come after more than a hundred years");
    refuses("streams: [{count: 1000, every: 36500d, runs: 1s}]", "more than a hundred years");
    scenario.nodes_max = 5;
    refuses("nodes: [{name: n, count: 3}, {name: m, count: 3}]",
            "s.yaml:1:30: nodes[1]: more than 5 nodes");
    scenario.jobs_max = 5;
    refuses("tasks: [{count: 6, runs: 1s}]", "more than 5 tasks");
}

static void a_label_is_a_text(void **state)
{
    (void)state;
    refuses("nodes: [{name: n, labels: {zone: {}}}]",
            "nodes[0].labels.zone: a text is wanted, not a map");
    refuses("nodes: [{name: n, labels: {gpu.model: ~}}]", "a text is wanted");
}

#define WITH_SCENARIO(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENARIO(nodes_are_counted_and_sized),
        WITH_SCENARIO(tasks_come_in_order_of_time),
        WITH_SCENARIO(a_stream_is_drawn_from_the_seed),
        WITH_SCENARIO(accounts_and_quotas_are_as_in_the_server_file),
        WITH_SCENARIO(streams_go_on_to_the_end),
        WITH_SCENARIO(problems_name_their_place),
        WITH_SCENARIO(parts_that_do_not_go_together_name_their_place),
        WITH_SCENARIO(what_goes_together_is_taken),
        WITH_SCENARIO(tasks_have_users),
        WITH_SCENARIO(events_change_quotas_pools_and_accounts),
        WITH_SCENARIO(bodies_of_events_are_refused_with_their_place),
        WITH_SCENARIO(what_a_file_makes_grow_has_an_end),
        WITH_SCENARIO(a_label_is_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
