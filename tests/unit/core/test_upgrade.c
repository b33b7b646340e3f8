/* test_upgrade.c - what was written before is read for ever (tests/unit/core/samples/).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES_MAX = 1 << 16 };

/* A stored sample, in the arena. */
static struct str sample(struct arena *arena, const char *name)
{
    char *bytes = arena_new(arena, char, BYTES_MAX);
    FILE *file = fopen(arena_fmt(arena, "%s/%s", getenv("WEIR_SAMPLES"), name), "rb");
    assert_non_null(file);
    size_t len = fread(bytes, 1, BYTES_MAX, file);
    assert_int_equal(fclose(file), 0);
    return (struct str){bytes, len};
}

static void a_start_of_version_1_used_its_directory(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact;
    struct error e;
    assert_int_equal(fact_decode(sample(&arena, "fact-attempt-started-v1"), &arena, &fact, &e),
                     ERR_OK);
    assert_int_equal(fact.type, FACT_ATTEMPT_STARTED);
    assert_int_equal(fact.version, 1);
    assert_true(fact.attempt_started.key.task.v > 0);
    assert_false(fact.attempt_started.workdir_missed);
    arena_done(&arena);
}

static void an_end_of_version_1_was_when_it_was_heard(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact;
    struct error e;
    assert_int_equal(fact_decode(sample(&arena, "fact-attempt-ended-v1"), &arena, &fact, &e),
                     ERR_OK);
    assert_int_equal(fact.type, FACT_ATTEMPT_ENDED);
    assert_int_equal(fact.version, 1);
    assert_int_equal(fact.time_ms, 7000);
    assert_int_equal(fact.attempt_ended.report.at_ms, 7000); /* 1234 is what stands in it */
    assert_int_equal(fact.attempt_ended.report.exit_code, 3);
    /* Version 2 has a time of its own, and no wait after a loss. */
    assert_int_equal(fact_decode(sample(&arena, "fact-attempt-ended-v2"), &arena, &fact, &e),
                     ERR_OK);
    assert_int_equal(fact.attempt_ended.report.at_ms, 1234);
    assert_int_equal(fact.attempt_ended.hold_until_ms, 0);
    arena_done(&arena);
}

static void objects_before_the_later_fields_have_none(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact;
    struct error e;
    assert_int_equal(fact_decode(sample(&arena, "fact-pool-set-v2"), &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 2);
    assert_int_equal(fact.pool_set.spec->user_slots_max, 4000);
    assert_false(fact.pool_set.spec->uneven_off);
    assert_int_equal(fact_decode(sample(&arena, "fact-task-submitted-v2"), &arena, &fact, &e),
                     ERR_OK);
    assert_int_equal(fact.version, 2);
    assert_int_equal(fact.task_submitted.account.v, 5);
    assert_int_equal(fact.task_submitted.request->named_count, 2);
    assert_int_equal(fact.task_submitted.request->avoid_count, 0);
    assert_int_equal(fact.task_submitted.spec->grace_ms, 2);
    assert_int_equal(fact.task_submitted.spec->avoid_count, 0);
    assert_int_equal(fact_decode(sample(&arena, "fact-task-edited-v1"), &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 1);
    assert_int_equal(fact.task_edited.request->slots_milli, 2000);
    assert_string_equal(fact.task_edited.edit.spec->project, "q");
    assert_int_equal(fact_decode(sample(&arena, "fact-task-edited-v2"), &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 2);
    assert_int_equal(fact.task_edited.edit.fields, TASK_EDIT_project | TASK_EDIT_avoid);
    assert_string_equal(fact.task_edited.edit.spec->avoid[1], "n7");
    assert_int_equal(fact.task_edited.request->avoid_count, 2);
    assert_int_equal(fact.task_edited.edit.spec->node_label_count, 0);
    arena_done(&arena);
}

/* Nodes, accounts and quotas without later fields; edits before the times of gangs could change. */
static void facts_before_objects_could_grow_are_read(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact;
    struct error e;
    assert_int_equal(fact_decode(sample(&arena, "fact-node-set-v1"), &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 1);
    assert_string_equal(fact.node_set.spec->name, "n1");
    assert_string_equal(fact.node_set.spec->version, "0.1.0");
    assert_string_equal(fact.node_set.spec->resources[0].name, "foo");
    assert_int_equal(fact_decode(sample(&arena, "fact-account-set-v1"), &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 1);
    assert_string_equal(fact.account_set.spec->title, "t");
    assert_string_equal(fact.account_set.spec->description, "d");
    assert_int_equal(fact_decode(sample(&arena, "fact-quota-set-v1"), &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 1);
    assert_int_equal(fact.quota_set.row->rules.rank, 200);
    assert_int_equal(fact.quota_set.row->rules.reclaim_min_runtime_ms, 60000);
    assert_int_equal(fact.quota_set.row->rules.ticket, 0);
    assert_int_equal(fact.quota_set.row->term_count, 2);
    assert_int_equal(fact_decode(sample(&arena, "fact-task-edited-v3"), &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 3);
    assert_int_equal(fact.task_edited.edit.fields, TASK_EDIT_priority | TASK_EDIT_name);
    assert_int_equal(fact.task_edited.edit.spec->priority, 60);
    assert_string_equal(fact.task_edited.edit.spec->name, "n");
    assert_int_equal(fact_decode(sample(&arena, "fact-task-edited-v4"), &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 4);
    assert_int_equal(fact.task_edited.edit.fields, TASK_EDIT_description);
    assert_string_equal(fact.task_edited.edit.spec->description, "d");
    arena_done(&arena);
}

/* Each version of an edit has the fields that it could have, and no others. */
static void an_edit_has_the_fields_of_its_version(void **state)
{
    (void)state;
    static const struct {
        uint32_t fields;
        char version; /* the first that has them */
    } edits[] = {{TASK_EDIT_name, 1},
                 {TASK_EDIT_topology, 3},
                 {TASK_EDIT_stale_grace, 4},
                 {TASK_EDIT_max_losses, 5}};
    const struct task_spec spec = {
        .name = "n", .topology = {"zone", "rack"}, .stale_grace_ms = 5, .max_losses = 2};
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        const struct fact fact = {
            .type = FACT_TASK_EDITED,
            .task_edited = {.task = {3}, .edit = {.fields = edits[i].fields, .spec = &spec}}};
        struct buf bytes;
        buf_init(&bytes, 4096);
        fact_encode(&fact, &bytes);
        for (char version = 1; version <= 5; version++) {
            struct arena arena;
            struct fact read;
            struct error e;
            arena_init(&arena);
            bytes.data[1] = version; /* behind the type */
            const enum err r = fact_decode((struct str){bytes.data, bytes.len}, &arena, &read, &e);
            assert_int_equal(r, version >= edits[i].version ? ERR_OK : ERR_CORRUPT);
            arena_done(&arena);
        }
        buf_done(&bytes);
    }
}

static struct core *state_of(struct arena *arena, const char *name)
{
    struct core *core = NULL;
    struct error e = {0};
    if (core_decode(sample(arena, name), &core, &e) != ERR_OK) {
        fail_msg("%s: %s", name, e.text);
    }
    core_check(core);
    return core;
}

/* Written as it is written now and read again, it is the same state; then it is freed. */
static void state_stays(struct core *core)
{
    struct core *again = NULL;
    struct error e = {0};
    size_t len;
    char *bytes = rig_bytes(core, &len);
    assert_int_equal(core_decode((struct str){bytes, len}, &again, &e), ERR_OK);
    assert_same_state(core, again);
    core_free(again);
    core_free(core);
    free(bytes);
}

static void state_is_read(const char *name)
{
    struct arena arena;
    arena_init(&arena);
    struct core *core = state_of(&arena, name);
    assert_non_null(query_account_named(core, ACCOUNT_PROJECT, "vision"));
    const struct task *task = query_task_next(core, (task_id){0});
    assert_non_null(task);
    struct task_spec spec;
    query_task_spec(core, task->id, &arena, &spec);
    assert_int_equal(spec.avoid_count, 0);
    assert_int_equal(task->stale_ms, 0);
    assert_null(query_task_eviction(core, task->id));
    state_stays(core);
    arena_done(&arena);
}

static void states_of_versions_2_to_7_are_read(void **state)
{
    (void)state;
    state_is_read("state-v2");
    state_is_read("state-v3");
    state_is_read("state-v4");
    state_is_read("state-v5");
    state_is_read("state-v6");
    state_is_read("state-v7");
}

/* Version 6 brought forms, version 7 what is typical. */
static void groups_of_older_states_are_kept(const char *name)
{
    struct arena arena;
    arena_init(&arena);
    struct core *core = state_of(&arena, name);
    struct task_spec spec;
    query_task_spec(core, query_task_last(core), &arena, &spec);
    assert_string_equal(spec.name, "grouped");
    assert_int_equal(spec.group_count, 2);
    assert_string_equal(spec.groups[0].name, "leader");
    assert_int_equal(spec.groups[0].asks->cpu_milli, 2000);
    assert_null(spec.groups[1].asks);
    core_free(core);
    arena_done(&arena);
}

static void states_of_versions_6_and_7_have_groups(void **state)
{
    (void)state;
    groups_of_older_states_are_kept("state-v6");
    groups_of_older_states_are_kept("state-v7");
}

/* Version 9 brought what instances have saved, and what evictions cost. */
static void in_a_state_of_version_8_nothing_is_saved(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct core *core = state_of(&arena, "state-v8-evicted");
    const task_id runs = {1};
    const task_id evicted = {2};
    assert_int_equal(query_task(core, runs)->state, TASK_RUNNING);
    assert_int_equal(query_instance(core, runs, 0)->checkpoint_ms, 0);
    assert_true(query_instance(core, runs, 0)->started_ms > 0);
    const struct eviction_note *note = query_task_eviction(core, evicted);
    assert_non_null(note);
    assert_int_equal(note->why.claimant.v, 3);
    assert_int_equal(note->slots_lost, 0);
    assert_int_equal(note->cpu_lost, 0);
    state_stays(core);
    arena_done(&arena);
}

/* Since when a task runs was not in it: it follows from what runs now. */
static void a_state_of_version_9_runs_since_its_attempts(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct core *core = state_of(&arena, "state-v9-running");
    assert_int_equal(query_task(core, (task_id){2})->state, TASK_RUNNING);
    assert_int_equal(query_task(core, (task_id){2})->running_ms, 61000);
    assert_int_equal(query_task(core, (task_id){2})->ran_ms, 0);
    assert_int_equal(query_task(core, (task_id){3})->state, TASK_PENDING);
    assert_int_equal(query_task(core, (task_id){3})->running_ms, 0);
    state_stays(core);
    arena_done(&arena);
}

/* Version 11 brought the pools for tasks that name none, launches, and what attempts used. */
static void a_state_of_version_10_is_read(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct core *core = state_of(&arena, "state-v10-ended");
    assert_string_equal(query_default_pool(core, POOL_DEFAULT_GPU), "default");
    assert_string_equal(query_default_pool(core, POOL_DEFAULT_CPU), "default");
    assert_int_equal(query_task(core, (task_id){1})->state, TASK_RUNNING);
    assert_int_equal(query_instance(core, (task_id){1}, 0)->state, INSTANCE_ENDED);
    assert_int_equal(query_task(core, (task_id){2})->state, TASK_PENDING);
    /* Nor is known what attempts used. */
    assert_int_equal(query_task(core, (task_id){1})->cpu_ms, 0);
    assert_int_equal(query_instance(core, (task_id){1}, 0)->cpu_ms, 0);
    assert_int_equal(query_instance(core, (task_id){1}, 0)->memory_peak_bytes, 0);
    assert_null(query_launch_next(core, (launch_id){0}));
    state_stays(core);
    arena_done(&arena);
}

static void where_an_attempt_runs_is_kept(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    node_id node = rig_node(&rig, "n1", 1, 0, 1);
    task_id task = rig_submit(&rig, rig_spec());
    rig_pass(&rig);
    struct report report = {.type = REPORT_STARTED,
                            .key = {task, 0, 1},
                            .incarnation = query_node(rig.core, node)->incarnation,
                            .workdir_missed = true};
    struct input in = {.type = INPUT_REPORT,
                       .report = {.node = node, .reports = &report, .count = 1}};
    assert_int_equal(rig_do(&rig, in), VERDICT_OK);
    assert_true(query_instance(rig.core, task, 0)->workdir_missed);
    struct core *again = NULL;
    size_t len;
    char *bytes = rig_bytes(rig.core, &len);
    assert_int_equal(core_decode((struct str){bytes, len}, &again, NULL), ERR_OK);
    assert_true(query_instance(again, task, 0)->workdir_missed);
    core_free(again);
    free(bytes);
    rig_done(&rig);
}

static void a_task_of_version_3_has_no_form(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact;
    struct error e;
    assert_int_equal(fact_decode(sample(&arena, "fact-task-submitted-v3"), &arena, &fact, &e),
                     ERR_OK);
    assert_int_equal(fact.version, 3);
    assert_null(fact.task_submitted.form);
    assert_string_equal(fact.task_submitted.spec->avoid[0], "n1");
    assert_int_equal(fact.task_submitted.spec->min_instances, 2);
    assert_int_equal(fact.task_submitted.spec->group_count, 0);
    assert_string_equal(fact.task_submitted.spec->topology.required, "");
    arena_done(&arena);
}

/* What each old state says of its tasks, as it was read when the version was new: a sum over all of them. */
struct told {
    const char *sample;
    int64_t tasks;
    int64_t ran_ms;
    int64_t running_ms;
    int64_t expect_ms;
    int64_t met;
    int64_t waiting;
};

static void every_old_state_says_what_it_said(void **state)
{
    (void)state;
    static const struct told told[] = {
        {"state-v1", 5, 0, 1700000137000, 300000, 0, 5},
        {"state-v2", 7, 0, 1000, 100000, 0, 7},
        {"state-v3", 7, 0, 1000, 100000, 0, 7},
        {"state-v4", 7, 0, 1000, 100000, 0, 7},
        {"state-v5", 5, 0, 1700000142000, 300000, 0, 5},
        {"state-v6", 6, 0, 0, 300000, 0, 7},
        {"state-v7", 6, 0, 0, 300000, 0, 7},
        {"state-v8-evicted", 3, 0, 3617000, 0, 0, 1},
        {"state-v9-running", 2, 0, 61000, 0, 0, 1},
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        struct core *core = state_of(&arena, told[i].sample);
        struct told sum = {.sample = told[i].sample};
        for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
             task = query_task_next(core, task->id)) {
            sum.tasks++;
            sum.ran_ms += task->ran_ms;
            sum.running_ms += task->running_ms;
            sum.expect_ms += task->expect_ms;
            sum.met += __builtin_popcountll(task->depends_met);
            sum.waiting += task->waiting_count;
        }
        assert_int_equal(sum.tasks, told[i].tasks);
        assert_int_equal(sum.ran_ms, told[i].ran_ms);
        assert_int_equal(sum.running_ms, told[i].running_ms);
        assert_int_equal(sum.expect_ms, told[i].expect_ms);
        assert_int_equal(sum.met, told[i].met);
        assert_int_equal(sum.waiting, told[i].waiting);
        core_free(core);
    }
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_before_objects_could_grow_are_read),
        cmocka_unit_test(an_edit_has_the_fields_of_its_version),
        cmocka_unit_test(every_old_state_says_what_it_said),
        cmocka_unit_test(a_task_of_version_3_has_no_form),
        cmocka_unit_test(a_start_of_version_1_used_its_directory),
        cmocka_unit_test(an_end_of_version_1_was_when_it_was_heard),
        cmocka_unit_test(objects_before_the_later_fields_have_none),
        cmocka_unit_test(states_of_versions_2_to_7_are_read),
        cmocka_unit_test(states_of_versions_6_and_7_have_groups),
        cmocka_unit_test(in_a_state_of_version_8_nothing_is_saved),
        cmocka_unit_test(a_state_of_version_9_runs_since_its_attempts),
        cmocka_unit_test(a_state_of_version_10_is_read),
        cmocka_unit_test(where_an_attempt_runs_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
