/* test_explain_keep.c - why no places are kept for a blocked task yet, and when they will be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_keep.h"
#include "core/sched/keep/budget.h"
#include "reason_rig.h"

#define HOUR_MS ((int64_t)60 * 60 * 1000)
#define SLOT_HOUR (SLOT_MILLI * HOUR_MS)

bool seen[REASON_COUNT];

static struct explain_keep keeping(const struct org *org, task_id task)
{
    struct explain_keep keep;
    const struct explanation why = explain(org, task);
    explain_keep(org->rig.core, task, &why, &keep);
    return keep;
}

static void pool_fifo(struct pool_spec *spec)
{
    spec->policy = POLICY_FIFO;
    spec->patience_ms = PATIENCE_AUTO;
}

static void pool_patient(struct pool_spec *spec)
{
    spec->patience_ms = HOUR_MS;
}

static void pool_turns(struct pool_spec *spec)
{
    spec->patience_ms = PATIENCE_AUTO;
    spec->turn_ms = HOUR_MS;
}

/* A pool with one node of this many slots. */
static void begin(struct org *org, void (*pool)(struct pool_spec *), uint32_t slots_each)
{
    org_init(org);
    org_pool(org, pool);
    org_nodes(org, 1, slots_each);
}

/* A task that has run for ten hours is expected to run for ten more. Keeping the other 3 slots costs 30 slot-hours, and the idle budget of
 * 4 slots saves up 1.92 in a day, 0.08 in an hour. */
static void the_idle_budget_cannot_pay(void **state)
{
    (void)state;
    struct org org;
    begin(&org, pool_fifo, 4);
    const task_id runs = submit(&org, slots(1));
    starts(&org, runs);
    org.rig.now_ms = query_instance(org.rig.core, runs, 0)->started_ms + 10 * HOUR_MS;
    const task_id wide = rig_submit(&org.rig, slots(4));
    (void)org_pass(&org);
    const struct explain_keep keep = keeping(&org, wide);
    assert_int_equal(keep.code, KEEPING_BUDGET);
    assert_true(keep.level >= 192 * SLOT_HOUR / 100 - SLOT_HOUR / 100);
    assert_true(keep.level <= 192 * SLOT_HOUR / 100);
    assert_true(keep.cost >= 30 * SLOT_HOUR);
    assert_true(keep.cost < 31 * SLOT_HOUR);
    const int64_t missing_ms = (keep.cost - keep.level) / (4 * SLOT_MILLI * 2 / 100);
    assert_true(keep.until_ms >= org.rig.now_ms + missing_ms);
    assert_true(keep.until_ms <= org.rig.now_ms + missing_ms + 1000);
    org_done(&org);
}

/* A task that has just started is expected to run for a minute: the budget pays, and places are kept. */
static void a_holder_says_so(void **state)
{
    (void)state;
    struct org org;
    begin(&org, pool_fifo, 4);
    starts(&org, submit(&org, slots(1)));
    const task_id wide = submit(&org, slots(4));
    assert_int_equal(keeping(&org, wide).code, KEEPING_HOLDS);
    /* What is kept is the reason of a task behind the holder. */
    const task_id behind = submit(&org, slots(1));
    (void)waits(&org, behind, REASON_RESERVED);
    assert_int_equal(keeping(&org, behind).code, KEEPING_NONE);
    org_done(&org);
}

static void patience_comes_first(void **state)
{
    (void)state;
    struct org org;
    begin(&org, pool_patient, 4);
    starts(&org, submit(&org, slots(1)));
    const task_id wide = rig_submit(&org.rig, slots(4));
    (void)org_pass(&org);
    const struct explain_keep keep = keeping(&org, wide);
    assert_int_equal(keep.code, KEEPING_PATIENCE);
    assert_int_equal(keep.until_ms, query_task(org.rig.core, wide)->queued_ms + HOUR_MS);
    org_done(&org);
}

/* `owner` is guaranteed all slots and asks for them, so the share of `guest` is 0. */
static void a_share_of_nothing_earns_no_turn(void **state)
{
    (void)state;
    struct org org;
    begin(&org, pool_turns, 4);
    org_quota(&org, org_add(&org, ACCOUNT_PROJECT, "owner", "default"),
              (struct org_quota){.guaranteed = 4, .limit = ORG_UNLIMITED, .weight = 1});
    const account_id guest = org_add(&org, ACCOUNT_PROJECT, "guest", "default");
    starts(&org, org_submit(&org, (struct org_task){.project = "owner", .slots = 4}));
    const task_id task = org_submit(&org, (struct org_task){.project = "guest", .slots = 1});
    (void)org_pass(&org);
    (void)waits(&org, task, REASON_OVER_SHARE);
    const struct explain_keep keep = keeping(&org, task);
    assert_int_equal(keep.code, KEEPING_NO_SHARE);
    assert_int_equal(keep.account.v, guest.v);
    org_done(&org);
}

/* Two projects with a share of 4 of 8 slots each. The gang of 6 has a turn and runs for an hour: 2 slot-hours of credit are used. Its
 * project earns 4 in an hour, so the next turn comes after half an hour. */
static void credit_is_earned_back(void **state)
{
    (void)state;
    struct org org;
    begin(&org, pool_turns, 8);
    const account_id large = org_add(&org, ACCOUNT_PROJECT, "large", "default");
    (void)org_add(&org, ACCOUNT_PROJECT, "small", "default");
    const struct org_task gang = {.project = "large", .slots = 6};
    const task_id first = org_submit(&org, (struct org_task){.project = "small", .slots = 8});
    starts(&org, first);
    const task_id turn = org_submit(&org, gang);
    (void)org_submit(&org, (struct org_task){.project = "small", .slots = 1, .instances = 8});
    org_settle(&org);
    assert_int_equal(keeping(&org, turn).code, KEEPING_HOLDS);
    rig_report(&org.rig, first, 0, REPORT_ENDED, 0);
    starts(&org, turn);
    org.rig.now_ms += HOUR_MS;
    rig_report(&org.rig, turn, 0, REPORT_ENDED, 0);
    org_settle(&org);
    const task_id next = org_submit(&org, gang);
    org_settle(&org);
    const struct explain_keep keep = keeping(&org, next);
    assert_int_equal(keep.code, KEEPING_CREDIT);
    assert_int_equal(keep.account.v, large.v);
    assert_true(keep.until_ms > org.rig.now_ms + HOUR_MS / 2 - 60 * 1000);
    assert_true(keep.until_ms < org.rig.now_ms + HOUR_MS / 2 + 60 * 1000);
    org_done(&org);
}

/* A small task would fit the 3 free slots that are kept, so the idle budget pays: 3 slots less the 0.08 that it gets. */
static void budgets_stand_still_while_the_server_is_down(void **state)
{
    (void)state;
    struct org org;
    begin(&org, pool_fifo, 4);
    starts(&org, submit(&org, slots(1)));
    (void)submit(&org, slots(4));
    (void)submit(&org, slots(1));
    const struct pool *pool = query_pool(org.rig.core, org_pool_id);
    const int64_t last_ms = query_time_ms(org.rig.core);
    const int64_t level = budget_look_idle(pool, last_ms).level;
    assert_int_equal(budget_look_idle(pool, last_ms).pays, 3 * SLOT_MILLI);
    assert_true(budget_look_idle(pool, last_ms + HOUR_MS).level < level);
    org.rig.now_ms = last_ms + 10 * HOUR_MS;
    assert_int_equal(rig_do(&org.rig, (struct input){.type = INPUT_SERVER_START}), VERDICT_OK);
    pool = query_pool(org.rig.core, org_pool_id);
    assert_int_equal(budget_look_idle(pool, org.rig.now_ms).level, level);
    assert_int_equal(budget_look_idle(pool, org.rig.now_ms + 1).level,
                     level - 3 * SLOT_MILLI + 4 * SLOT_MILLI * 2 / 100);
    org_done(&org);
}

static void a_draining_node_with_room_is_named(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    const node_id idle = rig_node(&org.rig, "idle", 4, 0, 1);
    struct node_edit drain = {.fields = NODE_EDIT_DRAIN, .drain = true};
    struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = idle, .edit = &drain}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    (void)rig_node(&org.rig, "full", 4, 0, 2);
    starts(&org, submit(&org, slots(4)));
    const task_id task = submit(&org, slots(2));
    assert_int_equal(waits(&org, task, REASON_NO_ROOM).away.v, idle.v);
    const task_id large = submit(&org, slots(4));
    assert_int_equal(explain(&org, large).reason.away.v, idle.v);
    drain.drain = false;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    starts(&org, task);
    assert_int_equal(explain(&org, large).reason.away.v, 0);
    org_done(&org);
}

static void a_node_that_is_away_with_room_is_named(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) { /* silent or lost, with and without a draining node */
        struct org org;
        const bool drains = i >= 2;
        org_init(&org);
        const node_id gone = rig_node(&org.rig, "gone", 4, 0, 1);
        const node_id other = rig_node(&org.rig, "other", drains ? 4 : 1, 0, 2);
        struct node_edit drain = {.fields = NODE_EDIT_DRAIN, .drain = true};
        struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = other, .edit = &drain}};
        assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
        assert_int_equal(rig_on_node(&org.rig, INPUT_NODE_SILENT, gone), VERDICT_OK);
        if (i % 2 == 1) {
            assert_int_equal(rig_on_node(&org.rig, INPUT_NODE_LOST, gone), VERDICT_OK);
        }
        (void)rig_node(&org.rig, "full", 4, 0, 3);
        starts(&org, submit(&org, slots(4)));
        const task_id task = submit(&org, slots(2));
        /* A command brings a draining node back, so that node is named first. */
        assert_int_equal(waits(&org, task, REASON_NO_ROOM).away.v, drains ? other.v : gone.v);
        assert_int_equal(explain(&org, task).resume.v, drains ? other.v : 0);
        org_done(&org);
    }
}

/* A pool lets each user have two slots. Of three tasks of one project the first starts next, and the second waits for the cap of its user.
 * The slot that this user may still have is kept for the second, so the third task, of the same user, waits for the second. The first
 * two are equal but for their users. */
static void a_slot_below_the_cap_is_kept_for_the_users_earlier_task(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, pool_impatient);
    org_pool(&org, pool_user_two);
    org_nodes(&org, 1, 8);
    struct task_spec small = slots(1);
    struct task_spec wide = slots(2);
    small.user = "ann";
    const task_id runs = submit(&org, small);
    starts(&org, runs);
    wide.user = "bob";
    const task_id starts_next = rig_submit(&org.rig, wide);
    wide.user = "ann";
    const task_id waits_for_cap = rig_submit(&org.rig, wide);
    const task_id last = rig_submit(&org.rig, small);
    assert_int_equal(waits(&org, last, REASON_RESERVED).task.v, waits_for_cap.v);
    org_settle(&org);
    assert_true(org_runs(&org, starts_next));
    assert_int_equal(waits(&org, last, REASON_RESERVED).task.v, waits_for_cap.v);
    rig_report(&org.rig, runs, 0, REPORT_ENDED, 0);
    starts(&org, waits_for_cap);
    assert_int_equal(waits(&org, last, REASON_USER_CAP).task.v, 0);
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_idle_budget_cannot_pay),
        cmocka_unit_test(a_holder_says_so),
        cmocka_unit_test(patience_comes_first),
        cmocka_unit_test(a_share_of_nothing_earns_no_turn),
        cmocka_unit_test(credit_is_earned_back),
        cmocka_unit_test(budgets_stand_still_while_the_server_is_down),
        cmocka_unit_test(a_draining_node_with_room_is_named),
        cmocka_unit_test(a_node_that_is_away_with_room_is_named),
        cmocka_unit_test(a_slot_below_the_cap_is_kept_for_the_users_earlier_task),
    };
    return cmocka_run_group_tests_name("explain_keep", tests, NULL, NULL);
}
