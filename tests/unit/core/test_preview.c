/* test_preview.c - what a change would do: the preview says what the change then does, and changes nothing itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

#include "base/mem.h"
#include "core/preview.h"

#include <stdlib.h>

static int setup(void **state)
{
    struct org *org = xcalloc(1, sizeof *org);
    org_init(org);
    *state = org;
    return 0;
}

static int teardown(void **state)
{
    struct org *org = *state;
    org_done(org);
    free(org);
    return 0;
}

/* Tries the inputs. The state and the number of its facts stay what they were. */
static enum verdict try_all(struct org *org, struct input *inputs, uint32_t count,
                            struct preview **ret)
{
    struct arena arena;
    struct facts facts;
    size_t len;
    size_t len_after;
    const uint64_t seq = query_seq(org->rig.core);
    char *before = rig_bytes(org->rig.core, &len);
    arena_init(&arena);
    fact_list_init(&facts, &arena);
    for (uint32_t i = 0; i < count; i++) {
        inputs[i].actor = "test";
        inputs[i].cause = "";
        inputs[i].now_ms = org->rig.now_ms;
    }
    const struct preview_ask ask = {.inputs = inputs, .count = count};
    enum verdict verdict = preview_run(org->rig.core, &ask, &facts, ret);
    char *after = rig_bytes(org->rig.core, &len_after);
    assert_int_equal(len, len_after);
    assert_memory_equal(before, after, len);
    assert_int_equal(query_seq(org->rig.core), seq);
    free(before);
    free(after);
    arena_done(&arena);
    return verdict;
}

static struct preview *try_one(struct org *org, struct input in)
{
    struct preview *preview = NULL;
    assert_int_equal(try_all(org, &in, 1, &preview), VERDICT_OK);
    return preview;
}

static struct task_spec spec_of(unsigned slots)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = slots * SLOT_MILLI;
    return spec;
}

static struct input submit_of(const struct task_spec *specs, uint32_t count)
{
    struct input in = {.type = INPUT_TASK_SUBMIT};
    in.submit.specs = specs;
    in.submit.count = count;
    return in;
}

static task_id running(struct org *org, struct task_spec spec)
{
    task_id id = rig_submit(&org->rig, spec);
    rig_pass(&org->rig);
    rig_report(&org->rig, id, 0, REPORT_STARTED, 0);
    assert_int_equal(rig_state(&org->rig, id), TASK_RUNNING);
    return id;
}

/* ---- submissions ---- */

static void a_task_with_room_would_start_where_it_then_starts(void **state)
{
    struct org *org = *state;
    (void)rig_node(&org->rig, "n1", 2, 0, 1);
    const node_id large = rig_node(&org->rig, "n2", 4, 0, 2);
    const struct task_spec spec = spec_of(3);
    struct preview *preview = try_one(org, submit_of(&spec, 1));
    assert_true(preview->changes);
    assert_false(preview->cut);
    assert_int_equal(preview->submitted_count, 1);
    assert_int_equal(preview->start_count, 1);
    assert_int_equal(preview->starts[0].task.v, preview->submitted.v);
    assert_true(preview->starts[0].now);
    assert_int_equal(preview->starts[0].place_count, 1);
    assert_int_equal(preview->starts[0].places[0].node.v, large.v);
    assert_int_equal(preview->wait_count, 0);
    task_id id = rig_submit(&org->rig, spec);
    rig_pass(&org->rig);
    assert_int_equal(id.v, preview->submitted.v);
    assert_int_equal(query_instance(org->rig.core, id, 0)->node.v, large.v);
    preview_free(preview);
}

static void a_task_without_room_would_wait_for_the_first_end(void **state)
{
    struct org *org = *state;
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    struct task_spec longer = spec_of(2);
    longer.time_limit_ms = 7200000;
    struct task_spec shorter = spec_of(2);
    shorter.time_limit_ms = 3600000;
    (void)running(org, longer);
    const task_id first = running(org, shorter);
    const struct task_spec spec = spec_of(2);
    struct preview *preview = try_one(org, submit_of(&spec, 1));
    assert_int_equal(preview->start_count, 0);
    assert_int_equal(preview->wait_total, 1);
    assert_int_equal(preview->waits[0].why.reason.code, REASON_NO_ROOM);
    assert_int_equal(preview->waits[0].first.v, first.v);
    assert_int_equal(preview->waits[0].first_others, 0);
    assert_int_equal(preview->waits[0].first_ms, org->rig.now_ms + 3600000);
    preview_free(preview);
    /* Two must end before a task of four slots starts. */
    const struct task_spec wide = spec_of(4);
    preview = try_one(org, submit_of(&wide, 1));
    assert_int_equal(preview->waits[0].first_others, 1);
    preview_free(preview);
    /* The task that waits already comes first: the end of one task is not enough. */
    (void)rig_submit(&org->rig, spec_of(2));
    rig_pass(&org->rig);
    preview = try_one(org, submit_of(&spec, 1));
    assert_int_equal(preview->waits[0].first_others, 1);
    preview_free(preview);
    /* Then also a task must end that does not run yet. */
    const task_id between = rig_submit(&org->rig, spec_of(4));
    rig_pass(&org->rig);
    preview = try_one(org, submit_of(&wide, 1));
    assert_int_equal(preview->waits[0].first.v, between.v);
    assert_int_equal(preview->waits[0].first_others, 3);
    preview_free(preview);
}

static void a_batch_starts_in_part(void **state)
{
    struct org *org = *state;
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    struct task_spec specs[20];
    for (int i = 0; i < 20; i++) {
        specs[i] = spec_of(1);
    }
    struct preview *preview = try_one(org, submit_of(specs, 20));
    assert_int_equal(preview->start_count, 4);
    assert_int_equal(preview->wait_total, 16);
    assert_int_equal(preview->wait_count, PREVIEW_WAITS_MAX);
    preview_free(preview);
}

/* A gang that evicts is promised its places, and is counted once. */
static void a_gang_that_evicts_is_counted_once(void **state)
{
    struct org *org = *state;
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    struct task_spec spec = spec_of(4);
    spec.preemptible = true;
    (void)running(org, spec);
    org->rig.now_ms += 1000;
    struct task_spec gang = spec_of(2);
    gang.gang = true;
    gang.instances = 2;
    gang.priority = PRIORITY_DEFAULT + 1;
    struct preview *preview = try_one(org, submit_of(&gang, 1));
    assert_int_equal(preview->stop_count, 1);
    assert_int_equal(preview->start_count, 1);
    assert_int_equal(preview->starts[0].instances, 2);
    assert_int_equal(preview->starts[0].places[0].instances, 2);
    assert_false(preview->starts[0].now);
    preview_free(preview);
}

static void what_is_refused_is_refused(void **state)
{
    struct org *org = *state;
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    const struct task_spec spec = spec_of(5);
    struct task_spec gang = spec;
    gang.gang = true;
    gang.instances = 2;
    struct input in = submit_of(&gang, 1);
    struct preview *preview = NULL;
    assert_int_equal(try_all(org, &in, 1, &preview), VERDICT_REFUSED);
    assert_null(preview);
}

/* What starts without the change is no part of the preview. */
static void a_pass_that_is_due_is_not_the_changes_doing(void **state)
{
    struct org *org = *state;
    const node_id node = rig_node(&org->rig, "n1", 4, 0, 1);
    (void)rig_submit(&org->rig, spec_of(4)); /* no pass has run */
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = true};
    struct preview *preview = try_one(
        org, (struct input){.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &edit}});
    assert_int_equal(preview->start_count, 0);
    assert_int_equal(preview->wait_count, 0);
    preview_free(preview);
}

/* ---- changes of tasks ---- */

static void a_kill_says_what_is_lost_and_what_starts_then(void **state)
{
    struct org *org = *state;
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    const task_id held = running(org, spec_of(4));
    const task_id waits = rig_submit(&org->rig, spec_of(4));
    rig_pass(&org->rig);
    org->rig.now_ms += 60000;
    struct preview *preview =
        try_one(org, (struct input){.type = INPUT_TASK_KILL, .task = {.task = held}});
    assert_int_equal(preview->stop_count, 1);
    assert_int_equal(preview->stops[0].task.v, held.v);
    assert_int_equal(preview->stops[0].cause, END_KILLED);
    assert_int_equal(preview->stops[0].lost_ms, 60000);
    assert_int_equal(preview->stops[0].slots_lost, 60000 * 4 * SLOT_MILLI);
    assert_int_equal(preview->start_count, 1);
    assert_int_equal(preview->starts[0].task.v, waits.v);
    assert_false(preview->starts[0].now);
    preview_free(preview);
    /* A task that does not run ends at once, and its end starts nothing. */
    preview = try_one(org, (struct input){.type = INPUT_TASK_KILL, .task = {.task = waits}});
    assert_int_equal(preview->stop_count, 0);
    assert_int_equal(preview->end_count, 1);
    assert_int_equal(preview->ends[0].state, TASK_KILLED);
    assert_int_equal(preview->start_count, 0);
    preview_free(preview);
    /* Both, and one that is not there. */
    struct input both[] = {{.type = INPUT_TASK_KILL, .task = {.task = held}},
                           {.type = INPUT_TASK_KILL, .task = {.task = waits}},
                           {.type = INPUT_TASK_KILL, .task = {.task = {99}}}};
    assert_int_equal(try_all(org, both, 3, &preview), VERDICT_OK);
    assert_int_equal(preview->stop_count + preview->end_count, 2);
    assert_int_equal(preview->refused, 1);
    assert_int_equal(preview->start_count, 0);
    preview_free(preview);
    assert_int_equal(try_all(org, &both[2], 1, &preview), VERDICT_NOT_FOUND);
}

static struct preview *try_priority(struct org *org, task_id task, uint32_t priority)
{
    const struct task_spec spec = {.priority = priority};
    const struct task_edit edit = {.fields = TASK_EDIT_priority, .spec = &spec};
    return try_one(org,
                   (struct input){.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &edit}});
}

static void an_edit_that_evicts_names_both_tasks(void **state)
{
    struct org *org = *state;
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    struct task_spec spec = spec_of(4);
    spec.preemptible = true;
    const task_id held = running(org, spec);
    const task_id waits = rig_submit(&org->rig, spec);
    rig_pass(&org->rig);
    org->rig.now_ms += 1000; /* a task is not evicted in the moment of its start */
    struct preview *preview = try_priority(org, waits, PRIORITY_DEFAULT + 1);
    assert_true(preview->changes);
    assert_int_equal(preview->stop_count, 1);
    assert_int_equal(preview->stops[0].task.v, held.v);
    assert_int_equal(preview->stops[0].cause, END_PREEMPTED);
    assert_int_equal(preview->start_count, 1);
    assert_int_equal(preview->starts[0].task.v, waits.v);
    assert_int_equal(preview->starts[0].instances, 1);
    assert_false(preview->starts[0].now);
    assert_int_equal(preview->wait_count, 0);
    preview_free(preview);
    /* The present value changes nothing, another value without effect does. */
    preview = try_priority(org, waits, PRIORITY_DEFAULT);
    assert_false(preview->changes);
    preview_free(preview);
    preview = try_priority(org, waits, PRIORITY_DEFAULT - 1);
    assert_true(preview->changes);
    assert_int_equal(preview->stop_count, 0);
    assert_int_equal(preview->wait_count, 1);
    preview_free(preview);
}

/* ---- changes of nodes, pools and quotas ---- */

static struct preview *try_drain(struct org *org, node_id node, bool drain)
{
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = drain};
    return try_one(org,
                   (struct input){.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &edit}});
}

static void a_drained_node_makes_tasks_wait_for_another_reason(void **state)
{
    struct org *org = *state;
    const node_id node = rig_node(&org->rig, "n1", 4, 0, 1);
    (void)running(org, spec_of(4));
    const task_id waits = rig_submit(&org->rig, spec_of(4));
    rig_pass(&org->rig);
    struct preview *preview = try_drain(org, node, true);
    assert_true(preview->changes);
    assert_int_equal(preview->stop_count, 0);
    assert_int_equal(preview->wait_count, 1);
    assert_int_equal(preview->waits[0].task.v, waits.v);
    assert_int_equal(preview->waits[0].why.reason.code, REASON_NODES_AWAY);
    preview_free(preview);
    preview = try_drain(org, node, false);
    assert_false(preview->changes);
    preview_free(preview);
}

static void a_limit_makes_tasks_wait_for_it(void **state)
{
    struct org *org = *state;
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    (void)running(org, spec_of(4));
    const task_id waits = rig_submit(&org->rig, spec_of(4));
    rig_pass(&org->rig);
    struct quota_amount amount = {
        .resource = "slots", .guaranteed = QUOTA_UNSET, .limit = 4 * SLOT_MILLI, .weight = 1000};
    const struct quota_spec spec = {.amounts = &amount,
                                    .amount_count = 1,
                                    .rules = {.rank = QUOTA_RANK_DEFAULT,
                                              .preempt_min_runtime_ms = QUOTA_INHERIT,
                                              .reclaim_min_runtime_ms = QUOTA_INHERIT}};
    const struct input in = {.type = INPUT_QUOTA_SET,
                             .quota = {ACCOUNT_DEFAULT_PROJECT, org_pool_id, &spec}};
    struct preview *preview = try_one(org, in);
    assert_true(preview->changes);
    assert_int_equal(preview->wait_count, 1);
    assert_int_equal(preview->waits[0].task.v, waits.v);
    assert_int_equal(preview->waits[0].why.reason.code, REASON_OVER_LIMIT);
    preview_free(preview);
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    preview = try_one(org, in); /* set already */
    assert_false(preview->changes);
    preview_free(preview);
}

static void a_pool_that_is_resumed_starts_its_tasks(void **state)
{
    struct org *org = *state;
    struct pool_spec spec;
    struct arena arena;
    arena_init(&arena);
    (void)rig_node(&org->rig, "n1", 4, 0, 1);
    query_pool_spec(org->rig.core, org_pool_id, &arena, &spec);
    const struct input in = {.type = INPUT_POOL_EDIT, .pool = {.pool = org_pool_id, .spec = &spec}};
    struct preview *preview = try_one(org, in);
    assert_false(preview->changes);
    preview_free(preview);
    spec.paused = true;
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    const task_id waits = rig_submit(&org->rig, spec_of(4));
    rig_pass(&org->rig);
    spec.paused = false;
    preview = try_one(org, in);
    assert_true(preview->changes);
    assert_int_equal(preview->start_count, 1);
    assert_int_equal(preview->starts[0].task.v, waits.v);
    assert_true(preview->starts[0].now);
    preview_free(preview);
    arena_done(&arena);
}

/* ---- machines ---- */

static void grows(struct pool_spec *spec)
{
    spec->provider = POOL_LOCAL;
    spec->nodes_max = 0;
    spec->node_slots = 2;
    spec->node_idle_ms = 60 * 1000;
}

static struct input pool_max(struct org *org, struct arena *arena, uint32_t max)
{
    struct pool_spec *spec = arena_new(arena, struct pool_spec, 1);
    query_pool_spec(org->rig.core, org_pool_id, arena, spec);
    spec->nodes_max = max;
    return (struct input){.type = INPUT_POOL_EDIT, .pool = {.pool = org_pool_id, .spec = spec}};
}

static void machines_that_would_come_and_go_are_named(void **state)
{
    struct org *org = *state;
    struct arena arena;
    arena_init(&arena);
    (void)org_submit(org, (struct org_task){.slots = 2, .instances = 3});
    org_pool(org, grows);
    org_settle(org);
    struct preview *preview = try_one(org, pool_max(org, &arena, 2));
    assert_int_equal(preview->launch_total, 2);
    assert_int_equal(preview->launch_count, 1);
    assert_int_equal(preview->launches[0].nodes, 2);
    assert_int_equal(preview->machine_end_total, 0);
    preview_free(preview);
    struct input in = pool_max(org, &arena, 2);
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    (void)org_pass(org);
    const node_id node = rig_node(&org->rig, "default-1", 2, 0, 101);
    org_settle(org);
    preview =
        try_one(org, pool_max(org, &arena, 0)); /* one node works, one machine is on its way */
    assert_int_equal(preview->machine_end_total, 2);
    assert_int_equal(preview->machine_ends[0].node.v, 0);
    assert_false(preview->machine_ends[0].later);
    assert_true(preview->machine_ends[1].later); /* the node that works goes when it has no work */
    assert_int_equal(preview->stop_total, 0);
    preview_free(preview);
    in = (struct input){.type = INPUT_TASK_KILL, .task = {.task = {1}}};
    preview = try_one(org, in); /* the node stays until it has had no work for a minute */
    assert_int_equal(preview->machine_end_total, 0);
    preview_free(preview);
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    org_settle(org);
    preview = try_one(org, pool_max(org, &arena, 0));
    assert_int_equal(preview->machine_end_total, 2);
    assert_int_equal(preview->machine_ends[1].node.v, node.v);
    preview_free(preview);
    arena_done(&arena);
}

/* One node leaves at once, and the other when its turn comes: both machines are named from the beginning. */
static void every_machine_of_a_replacement_is_named(void **state)
{
    struct org *org = *state;
    struct arena arena;
    arena_init(&arena);
    (void)org_submit(org, (struct org_task){.slots = 2, .instances = 2});
    org_pool(org, grows);
    assert_int_equal(rig_do(&org->rig, pool_max(org, &arena, 2)), VERDICT_OK);
    org_settle(org);
    (void)rig_node(&org->rig, "default-1", 2, 0, 101);
    (void)rig_node(&org->rig, "default-2", 2, 0, 102);
    org_settle(org);
    const struct input in = {.type = INPUT_POOL_REPLACE,
                             .replace = {.pool = org_pool_id, .at_once = 1}};
    struct preview *preview = try_one(org, in);
    assert_int_equal(preview->machine_end_total, 2);
    assert_true(preview->machine_ends[0].replaced);
    assert_true(preview->machine_ends[1].replaced);
    preview_free(preview);
    arena_done(&arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_task_with_room_would_start_where_it_then_starts),
        TEST(a_task_without_room_would_wait_for_the_first_end),
        TEST(a_batch_starts_in_part),
        TEST(a_gang_that_evicts_is_counted_once),
        TEST(what_is_refused_is_refused),
        TEST(a_pass_that_is_due_is_not_the_changes_doing),
        TEST(a_kill_says_what_is_lost_and_what_starts_then),
        TEST(an_edit_that_evicts_names_both_tasks),
        TEST(a_drained_node_makes_tasks_wait_for_another_reason),
        TEST(a_limit_makes_tasks_wait_for_it),
        TEST(a_pool_that_is_resumed_starts_its_tasks),
        TEST(machines_that_would_come_and_go_are_named),
        TEST(every_machine_of_a_replacement_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
