/* test_fallback.c - tasks that name several pools: when a further pool opens and why, that such a task starts exactly once,
 * and what its entries in several queues honour. After each step the rig checks all invariants and reads the state back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/fallback.h"
#include "core/sched/explain/explain.h"
#include "core/state/fallback.h"
#include "org_rig.h"

static const int64_t MINUTE_MS = 60 * 1000;
static const char *const spot_then_demand[] = {"spot", "demand"};
static const char *const three_pools[] = {"spot", "demand", "default"};

struct site {
    struct org org;
    pool_id spot;
    pool_id demand;
};

static void fixed(struct pool_spec *spec)
{
    (void)spec;
}

/* A provider that brings up to two nodes of one slot. */
static void elastic(struct pool_spec *spec)
{
    spec->provider = POOL_LOCAL;
    spec->nodes_max = 2;
    spec->node_slots = 1;
    spec->node_idle_ms = 10 * MINUTE_MS;
    spec->max_starting_ms = 10 * MINUTE_MS;
}

static pool_id pool_make(struct rig *rig, const char *name, void (*change)(struct pool_spec *))
{
    struct arena arena;
    struct pool_spec spec;
    arena_init(&arena);
    query_pool_spec(rig->core, (pool_id){1}, &arena, &spec);
    spec.name = name;
    change(&spec);
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    arena_done(&arena);
    return query_pool_named(rig->core, name)->id;
}

static void begin(struct site *site, void (*spot)(struct pool_spec *),
                  void (*demand)(struct pool_spec *))
{
    org_init(&site->org);
    site->spot = pool_make(&site->org.rig, "spot", spot);
    site->demand = pool_make(&site->org.rig, "demand", demand);
}

static void done(struct site *site)
{
    org_done(&site->org);
}

static node_id joins(struct site *site, const char *pool, const char *name, unsigned slots)
{
    static uint8_t supervisor = 1;
    struct node_spec spec = {.name = name,
                             .pool = pool,
                             .slots_milli = (int64_t)slots * SLOT_MILLI,
                             .boot_id = "b",
                             .address = "a",
                             .version = "v",
                             .trouble = "",
                             .unprevented = "",
                             .limits = ""};
    spec.supervisor[0] = supervisor++;
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(&site->org.rig, in), VERDICT_OK);
    return query_node_named(site->org.rig.core, name)->id;
}

static struct task_spec asks(unsigned slots)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = (int64_t)slots * SLOT_MILLI;
    spec.pools = spot_then_demand;
    spec.pool_count = 2;
    return spec;
}

/* One pass over the pool; returns how many pools it opened. */
static size_t pass(struct site *site, pool_id pool)
{
    struct input in = {.type = INPUT_PASS, .pass = {.pool = pool, .work_max = UINT64_MAX}};
    assert_int_equal(rig_do(&site->org.rig, in), VERDICT_OK);
    return rig_count(&site->org.rig, FACT_POOL_OPENED);
}

static void later(struct site *site, int64_t ms)
{
    site->org.rig.now_ms += ms;
    struct input in = {.type = INPUT_TICK};
    assert_int_equal(rig_do(&site->org.rig, in), VERDICT_OK);
}

/* Passes over all pools that are due, and agents, until nothing happens. */
static void settle(struct site *site)
{
    for (uint32_t round = 0; round < 8; round++) {
        rig_pass(&site->org.rig);
        (void)org_agents(&site->org);
    }
}

static uint32_t opened(const struct site *site, task_id task)
{
    return fallback_of(site->org.rig.core, query_task(site->org.rig.core, task))->opened;
}

static enum fallback_why why(const struct site *site, task_id task, uint32_t index)
{
    const struct fallback *list =
        fallback_of(site->org.rig.core, query_task(site->org.rig.core, task));
    return (enum fallback_why)list->why[index];
}

static bool runs_in(const struct site *site, task_id task, pool_id pool)
{
    const struct core *core = site->org.rig.core;
    return org_runs(&site->org, task) && query_task(core, task)->pool.v == pool.v &&
           query_node(core, query_instance(core, task, 0)->node)->pool.v == pool.v;
}

static uint32_t waiting_in(const struct site *site, pool_id pool)
{
    return query_pool(site->org.rig.core, pool)->pending_count;
}

/* ---- no capacity ---- */

static void a_full_pool_opens_the_next(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    const node_id node = joins(&site, "demand", "d1", 1);
    const task_id first = rig_submit(&site.org.rig, asks(1));
    const task_id second = rig_submit(&site.org.rig, asks(1));
    assert_int_equal(waiting_in(&site, site.demand), 0);
    settle(&site);
    assert_true(runs_in(&site, first, site.spot));
    assert_int_equal(opened(&site, first), 1); /* it had a place */
    assert_true(runs_in(&site, second, site.demand));
    assert_int_equal(why(&site, second, 1), FALLBACK_NO_CAPACITY);
    assert_int_equal(query_node(site.org.rig.core, node)->instance_count, 1);
    assert_int_equal(waiting_in(&site, site.spot), 0);
    done(&site);
}

static void both_pools_stay_open_and_the_first_place_is_taken_once(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    const task_id busy = rig_submit(&site.org.rig, asks(1));
    const task_id busy_too = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    const task_id task = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    assert_int_equal(opened(&site, task), 2);
    assert_int_equal(waiting_in(&site, site.spot), 1);
    assert_int_equal(waiting_in(&site, site.demand), 1);
    rig_report(&site.org.rig, busy, 0, REPORT_ENDED, 0); /* both places become free at once */
    rig_report(&site.org.rig, busy_too, 0, REPORT_ENDED, 0);
    settle(&site);
    assert_true(org_runs(&site.org, task));
    assert_int_equal(query_instance(site.org.rig.core, task, 0)->attempt, 1);
    assert_int_equal(waiting_in(&site, site.spot) + waiting_in(&site, site.demand), 0);
    done(&site);
}

static void an_elder_task_keeps_its_place_in_each_queue(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    const task_id busy = rig_submit(&site.org.rig, asks(1));
    const task_id demand = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    const task_id elder = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    struct task_spec own = asks(1);
    own.pools = &spot_then_demand[0];
    own.pool_count = 1;
    const task_id younger = rig_submit(&site.org.rig, own);
    settle(&site);
    rig_report(&site.org.rig, busy, 0, REPORT_ENDED, 0);
    settle(&site);
    assert_true(runs_in(&site, elder, site.spot));
    assert_false(org_runs(&site.org, younger));
    assert_true(runs_in(&site, demand, site.demand));
    done(&site);
}

static void nodes_on_their_way_are_waited_for(void **state)
{
    (void)state;
    struct site site;
    begin(&site, elastic, fixed);
    (void)joins(&site, "demand", "d1", 4);
    struct task_spec spec = asks(1);
    const task_id first = rig_submit(&site.org.rig, spec);
    const task_id second = rig_submit(&site.org.rig, spec);
    const task_id third = rig_submit(&site.org.rig, spec);
    settle(&site); /* two launches: the pool is at its maximum */
    assert_int_equal(opened(&site, first), 1);
    assert_int_equal(opened(&site, second), 1);
    assert_true(runs_in(&site, third, site.demand));
    (void)joins(&site, "spot", "spot-1", 1);
    (void)joins(&site, "spot", "spot-2", 1);
    settle(&site);
    assert_true(runs_in(&site, first, site.spot));
    assert_true(runs_in(&site, second, site.spot));
    done(&site);
}

static void says(struct site *site, uint64_t launch, enum provider_says what)
{
    const struct provider_answer answer = {.launch = {launch},
                                           .says = what,
                                           .name = "",
                                           .node = "",
                                           .words = "InsufficientInstanceCapacity"};
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &answer, .count = 1}};
    assert_int_equal(rig_do(&site->org.rig, in), VERDICT_OK);
}

static void a_provider_that_refuses_opens_the_next_pool(void **state)
{
    (void)state;
    struct site site;
    begin(&site, elastic, elastic);
    const task_id task = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    assert_int_equal(query_pool(site.org.rig.core, site.spot)->launch_starting, 1);
    assert_int_equal(query_pool(site.org.rig.core, site.demand)->launch_starting, 0);
    says(&site, 1, PROVIDER_FAILED);
    settle(&site);
    assert_int_equal(opened(&site, task), 2);
    assert_int_equal(query_pool(site.org.rig.core, site.demand)->launch_starting, 1);
    (void)joins(&site, "demand", "demand-2", 1);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    later(&site, 10 * 1000); /* the back-off is over */
    settle(&site);
    assert_int_equal(query_pool(site.org.rig.core, site.spot)->launch_starting, 0);
    done(&site);
}

static void what_a_pool_can_never_run_starts_in_the_next(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 4);
    const task_id task = rig_submit(&site.org.rig, asks(3));
    assert_int_equal(why(&site, task, 1), FALLBACK_IMPOSSIBLE);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    assert_int_equal(rig_try_submit(&site.org.rig, asks(5)), VERDICT_REFUSED);
    assert_int_equal(site.org.rig.facts.refusal.code, REASON_TOO_LARGE);
    assert_int_equal(site.org.rig.facts.refusal.pool.v, site.spot.v);
    done(&site);
}

/* ---- time and losses ---- */

static void time_opens_the_next_pool(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    (void)rig_submit(&site.org.rig, asks(1));
    settle(&site);
    struct task_spec spec = asks(1);
    spec.fallback_after_ms = 5 * MINUTE_MS;
    const int64_t from_ms = site.org.rig.now_ms;
    const task_id task = rig_submit(&site.org.rig, spec);
    settle(&site);
    assert_int_equal(opened(&site, task), 1); /* no capacity is no condition of this task */
    const struct core *core = site.org.rig.core;
    assert_int_equal(fallback_of(core, query_task(core, task))->deadline_ms,
                     from_ms + 5 * MINUTE_MS);
    later(&site, 5 * MINUTE_MS - 1);
    assert_int_equal(opened(&site, task), 1);
    later(&site, 1);
    assert_int_equal(why(&site, task, 1), FALLBACK_AFTER);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    done(&site);
}

static void time_counts_from_when_the_task_may_run(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    const task_id before = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    struct task_spec other = asks(1);
    other.pool_count = 1;
    struct task_spec spec = asks(1);
    const uint64_t depends[] = {before.v};
    spec.fallback_after_ms = 5 * MINUTE_MS;
    spec.depends_on = depends;
    spec.depends_count = 1;
    const task_id task = rig_submit(&site.org.rig, spec);
    other.priority = 90;
    const task_id first = rig_submit(&site.org.rig, other);
    later(&site, 30 * MINUTE_MS);
    rig_report(&site.org.rig, before, 0, REPORT_ENDED, 0);
    settle(&site);
    assert_true(runs_in(&site, first, site.spot));
    later(&site, 4 * MINUTE_MS);
    assert_int_equal(opened(&site, task), 1);
    later(&site, MINUTE_MS);
    assert_int_equal(opened(&site, task), 2);
    done(&site);
}

static void a_lost_node_opens_the_next_pool(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    const node_id node = joins(&site, "spot", "s1", 1);
    (void)joins(&site, "spot", "s2", 1);
    (void)joins(&site, "demand", "d1", 1);
    struct task_spec spec = asks(1);
    spec.fallback_on = FALLBACK_ON_LOST;
    const task_id task = rig_submit(&site.org.rig, spec);
    const task_id other = rig_submit(&site.org.rig, spec);
    settle(&site);
    assert_int_equal(query_instance(site.org.rig.core, task, 0)->node.v, node.v);
    assert_int_equal(rig_on_node(&site.org.rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_on_node(&site.org.rig, INPUT_NODE_LOST, node), VERDICT_OK);
    assert_int_equal(rig_count(&site.org.rig, FACT_POOL_OPENED), 1);
    assert_int_equal(why(&site, task, 1), FALLBACK_LOST);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    assert_int_equal(query_instance(site.org.rig.core, task, 0)->attempt, 2);
    assert_int_equal(opened(&site, other), 1);
    done(&site);
}

/* ---- launches that nobody needs ---- */

static void launches_that_nobody_needs_end(void **state)
{
    (void)state;
    struct site site;
    begin(&site, elastic, elastic);
    struct task_spec spec = asks(1);
    spec.fallback_after_ms = 5 * MINUTE_MS;
    const task_id task = rig_submit(&site.org.rig, spec);
    settle(&site);
    assert_int_equal(query_pool(site.org.rig.core, site.spot)->launch_starting, 1);
    later(&site, 5 * MINUTE_MS); /* now `demand` is asked for the node */
    settle(&site);
    assert_int_equal(query_pool(site.org.rig.core, site.spot)->launch_starting, 0);
    assert_int_equal(query_launch(site.org.rig.core, (launch_id){1})->state, LAUNCH_ENDING);
    assert_int_equal(query_pool(site.org.rig.core, site.demand)->launch_starting, 1);
    (void)joins(&site, "spot", "s9", 1); /* a node by hand comes first */
    settle(&site);
    assert_true(runs_in(&site, task, site.spot));
    assert_int_equal(query_pool(site.org.rig.core, site.demand)->launch_starting, 0);
    done(&site);
}

/* ---- bounds of every pool ---- */

static void the_quota_of_the_opened_pool_holds(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 4);
    struct quota_amount amount = {
        .resource = "slots", .guaranteed = 0, .limit = SLOT_MILLI, .weight = 1000};
    struct quota_spec quota = {.amounts = &amount,
                               .amount_count = 1,
                               .rules = {.rank = QUOTA_RANK_DEFAULT,
                                         .preempt_min_runtime_ms = QUOTA_INHERIT,
                                         .reclaim_min_runtime_ms = QUOTA_INHERIT}};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = ACCOUNT_DEFAULT_PROJECT;
    in.quota.pool = site.demand;
    in.quota.spec = &quota;
    assert_int_equal(rig_do(&site.org.rig, in), VERDICT_OK);
    task_id tasks[4];
    for (unsigned i = 0; i < 4; i++) {
        tasks[i] = rig_submit(&site.org.rig, asks(1));
    }
    settle(&site);
    assert_true(runs_in(&site, tasks[0], site.spot));
    assert_true(runs_in(&site, tasks[1], site.demand));
    assert_false(org_runs(&site.org, tasks[2]));
    struct explanation why_waits;
    explain_task_in(site.org.rig.core, tasks[2], site.demand, &why_waits);
    assert_int_equal(why_waits.reason.code, REASON_OVER_LIMIT);
    explain_task_in(site.org.rig.core, tasks[2], site.spot, &why_waits);
    assert_int_equal(why_waits.reason.code, REASON_NO_ROOM);
    done(&site);
}

static void a_gang_starts_whole_in_one_pool(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 3);
    (void)joins(&site, "demand", "d1", 2);
    struct task_spec spec = asks(1);
    spec.instances = 2;
    spec.gang = true;
    const task_id first = rig_submit(&site.org.rig, spec);
    const task_id second = rig_submit(&site.org.rig, spec);
    settle(&site); /* one slot of `spot` is free, and the gang does not spread over pools */
    assert_true(runs_in(&site, first, site.spot));
    assert_true(runs_in(&site, second, site.demand));
    const struct instance *instance = query_instance(site.org.rig.core, second, 1);
    assert_int_equal(query_node(site.org.rig.core, instance->node)->pool.v, site.demand.v);
    done(&site);
}

static void an_array_stays_in_the_pool_where_it_began(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 2);
    struct task_spec spec = asks(1);
    spec.instances = 3;
    const task_id task = rig_submit(&site.org.rig, spec);
    settle(&site);
    assert_int_equal(query_task(site.org.rig.core, task)->active_count, 1);
    assert_int_equal(waiting_in(&site, site.demand), 0);
    for (uint32_t i = 0; i < 3; i++) {
        rig_report(&site.org.rig, task, i, REPORT_ENDED, 0);
        settle(&site);
    }
    assert_int_equal(rig_state(&site.org.rig, task), TASK_COMPLETED);
    done(&site);
}

/* ---- edits, kills, pools that go ---- */

static enum verdict edit_pools(struct site *site, task_id task, const char *const *pools,
                               uint32_t count)
{
    struct task_spec spec = rig_spec();
    spec.pools = pools;
    spec.pool_count = count;
    const struct task_edit edit = {.fields = TASK_EDIT_pools, .spec = &spec};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &edit}};
    return rig_do(&site->org.rig, in);
}

static void an_edit_gives_a_task_other_pools(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    struct task_spec spec = asks(1);
    spec.pool_count = 1;
    const task_id busy = rig_submit(&site.org.rig, spec);
    const task_id task = rig_submit(&site.org.rig, spec);
    settle(&site);
    assert_false(org_runs(&site.org, task));
    assert_int_equal(edit_pools(&site, task, three_pools, 2), VERDICT_OK);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    /* The task runs in a pool of the new list: it stays there. */
    assert_int_equal(edit_pools(&site, task, three_pools, 3), VERDICT_OK);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    assert_int_equal(opened(&site, task), 2);
    assert_int_equal(edit_pools(&site, busy, &three_pools[1], 1), VERDICT_OK);
    settle(&site);
    assert_false(org_runs(&site.org, busy));
    assert_int_equal(edit_pools(&site, busy, (const char *const[]){"spot", "nowhere"}, 2),
                     VERDICT_REFUSED);
    assert_int_equal(site.org.rig.facts.refusal.code, REASON_UNKNOWN_POOL);
    assert_int_equal(edit_pools(&site, busy, (const char *const[]){"spot", "spot"}, 2),
                     VERDICT_REFUSED);
    assert_int_equal(site.org.rig.facts.refusal.code, REASON_POOL_TWICE);
    done(&site);
}

static void an_edit_of_the_conditions_moves_the_deadline(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    (void)rig_submit(&site.org.rig, asks(1));
    settle(&site);
    struct task_spec spec = asks(1);
    spec.fallback_after_ms = 60 * MINUTE_MS;
    const task_id task = rig_submit(&site.org.rig, spec);
    settle(&site);
    spec.fallback_after_ms = 2 * MINUTE_MS;
    const struct task_edit edit = {.fields = TASK_EDIT_fallback, .spec = &spec};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &edit}};
    assert_int_equal(rig_do(&site.org.rig, in), VERDICT_OK);
    later(&site, 2 * MINUTE_MS);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    done(&site);
}

static void a_killed_or_paused_task_leaves_every_queue(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    (void)rig_submit(&site.org.rig, asks(1));
    (void)rig_submit(&site.org.rig, asks(1));
    settle(&site);
    const task_id task = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    assert_int_equal(waiting_in(&site, site.demand), 1);
    assert_int_equal(rig_task(&site.org.rig, INPUT_TASK_PAUSE, task), VERDICT_OK);
    assert_int_equal(waiting_in(&site, site.spot) + waiting_in(&site, site.demand), 0);
    assert_int_equal(rig_task(&site.org.rig, INPUT_TASK_ACTIVATE, task), VERDICT_OK);
    assert_int_equal(waiting_in(&site, site.spot) + waiting_in(&site, site.demand), 2);
    org_kill(&site.org, task);
    assert_int_equal(waiting_in(&site, site.spot) + waiting_in(&site, site.demand), 0);
    done(&site);
}

static void a_deleted_pool_leaves_the_others(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    const node_id spot = joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    struct task_spec spec = asks(1);
    spec.stage = true;
    const task_id task = rig_submit(&site.org.rig, spec);
    assert_int_equal(rig_on_node(&site.org.rig, INPUT_NODE_REMOVE, spot), VERDICT_OK);
    struct input in = {.type = INPUT_POOL_DELETE, .pool = {.pool = site.spot, .force = true}};
    assert_int_equal(rig_do(&site.org.rig, in), VERDICT_OK);
    assert_int_equal(query_task(site.org.rig.core, task)->pool.v, site.demand.v);
    assert_int_equal(why(&site, task, 1), FALLBACK_POOL_GONE);
    assert_int_equal(rig_task(&site.org.rig, INPUT_TASK_START, task), VERDICT_OK);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    done(&site);
}

/* The task waits for a node on its way. Then a user closes the pool. */
static void a_closed_pool_has_no_capacity(void **state)
{
    (void)state;
    struct site site;
    begin(&site, elastic, fixed);
    (void)joins(&site, "demand", "d1", 1);
    const task_id task = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    assert_int_equal(opened(&site, task), 1);
    struct input in = {.type = INPUT_POOL_CLOSE, .pool = {.pool = site.spot}};
    assert_int_equal(rig_do(&site.org.rig, in), VERDICT_OK);
    settle(&site);
    assert_int_equal(why(&site, task, 1), FALLBACK_NO_CAPACITY);
    assert_int_equal(query_task(site.org.rig.core, task)->pool.v, site.demand.v);
    assert_int_equal(query_task(site.org.rig.core, task)->active_count, 1);
    done(&site);
}

/* The task waits in a pool that a user pauses: a paused pool has no capacity. */
static void a_paused_pool_opens_the_next(void **state)
{
    (void)state;
    struct site site;
    struct arena arena;
    struct pool_spec spec;
    begin(&site, elastic, fixed);
    (void)joins(&site, "demand", "d1", 1);
    arena_init(&arena);
    query_pool_spec(site.org.rig.core, site.spot, &arena, &spec);
    spec.paused = true;
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.pool = site.spot, .spec = &spec}};
    assert_int_equal(rig_do(&site.org.rig, in), VERDICT_OK);
    arena_done(&arena);
    const task_id task = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    assert_int_equal(why(&site, task, 1), FALLBACK_NO_CAPACITY);
    assert_true(runs_in(&site, task, site.demand));
    assert_int_equal(query_pool(site.org.rig.core, site.spot)->launch_count, 0);
    done(&site);
}

static void becomes_dedicated(struct site *site, pool_id id)
{
    struct arena arena;
    struct pool_spec spec;
    arena_init(&arena);
    query_pool_spec(site->org.rig.core, id, &arena, &spec);
    spec.access = ACCESS_DEDICATED; /* to nobody */
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.pool = id, .spec = &spec, .force = true}};
    assert_int_equal(rig_do(&site->org.rig, in), VERDICT_OK);
    arena_done(&arena);
}

/* Both pools are open for the task; then the second one, and later the first, no longer takes it. */
static void a_pool_that_refuses_the_task_leaves_its_list(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    const task_id task = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    assert_int_equal(opened(&site, task), 2);
    becomes_dedicated(&site, site.demand);
    (void)joins(&site, "demand", "d1", 1);
    settle(&site);
    assert_int_equal(query_task(site.org.rig.core, task)->active_count, 0);
    assert_int_equal(query_task(site.org.rig.core, task)->pool.v, site.spot.v);
    (void)joins(&site, "spot", "s1", 1);
    settle(&site);
    assert_true(runs_in(&site, task, site.spot));
    done(&site);
}

/* The home of the waiting task refuses it: the task goes on in its other pool. */
static void a_home_that_refuses_the_task_is_left(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    const task_id task = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    becomes_dedicated(&site, site.spot);
    (void)joins(&site, "demand", "d1", 1);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    done(&site);
}

/* The task runs in a pool that is deleted: it goes on in the other pool that it names. */
static void work_of_a_deleted_pool_goes_to_the_other_pool(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    const task_id task = rig_submit(&site.org.rig, asks(1));
    settle(&site);
    assert_true(runs_in(&site, task, site.spot));
    struct input in = {.type = INPUT_POOL_DELETE, .pool = {.pool = site.spot, .force = true}};
    assert_int_equal(rig_do(&site.org.rig, in), VERDICT_OK);
    (void)joins(&site, "demand", "d1", 1);
    settle(&site);
    assert_true(runs_in(&site, task, site.demand));
    done(&site);
}

static void passes_end_while_nothing_changes(void **state)
{
    (void)state;
    struct site site;
    begin(&site, fixed, fixed);
    (void)joins(&site, "spot", "s1", 1);
    (void)joins(&site, "demand", "d1", 1);
    struct task_spec spec = asks(1);
    spec.pools = three_pools;
    spec.pool_count = 3;
    for (unsigned i = 0; i < 20; i++) {
        (void)rig_submit(&site.org.rig, spec);
    }
    settle(&site);
    pool_id due;
    assert_false(query_pass_due(site.org.rig.core, site.org.rig.now_ms, &due));
    assert_int_equal(pass(&site, site.spot), 0);
    assert_int_equal(site.org.rig.facts.count, 0);
    assert_int_equal(pass(&site, site.demand), 0);
    assert_int_equal(site.org.rig.facts.count, 0);
    done(&site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_pool_opens_the_next),
        cmocka_unit_test(both_pools_stay_open_and_the_first_place_is_taken_once),
        cmocka_unit_test(an_elder_task_keeps_its_place_in_each_queue),
        cmocka_unit_test(nodes_on_their_way_are_waited_for),
        cmocka_unit_test(a_provider_that_refuses_opens_the_next_pool),
        cmocka_unit_test(what_a_pool_can_never_run_starts_in_the_next),
        cmocka_unit_test(time_opens_the_next_pool),
        cmocka_unit_test(time_counts_from_when_the_task_may_run),
        cmocka_unit_test(a_lost_node_opens_the_next_pool),
        cmocka_unit_test(launches_that_nobody_needs_end),
        cmocka_unit_test(the_quota_of_the_opened_pool_holds),
        cmocka_unit_test(a_gang_starts_whole_in_one_pool),
        cmocka_unit_test(an_array_stays_in_the_pool_where_it_began),
        cmocka_unit_test(an_edit_gives_a_task_other_pools),
        cmocka_unit_test(an_edit_of_the_conditions_moves_the_deadline),
        cmocka_unit_test(a_killed_or_paused_task_leaves_every_queue),
        cmocka_unit_test(a_deleted_pool_leaves_the_others),
        cmocka_unit_test(a_closed_pool_has_no_capacity),
        cmocka_unit_test(a_paused_pool_opens_the_next),
        cmocka_unit_test(a_pool_that_refuses_the_task_leaves_its_list),
        cmocka_unit_test(a_home_that_refuses_the_task_is_left),
        cmocka_unit_test(work_of_a_deleted_pool_goes_to_the_other_pool),
        cmocka_unit_test(passes_end_while_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
