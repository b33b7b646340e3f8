/* reasons_others.c - waits that end when other tasks leave: when, and with which change. For a
 * task that waits for time the test lets the time pass. A moment before the named time no task
 * is told to leave; at that time one is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reasons_others.h"

#include "core/model/label.h"
#include "core/model/object.h"
#include "reason_rig.h"

enum { MINUTE_MS = 60000 };

/* Makes two nodes. `owner` is guaranteed all of them, `guest` nothing. */
static void lending_init(struct org *org, unsigned slots, void (*change)(struct pool_spec *spec))
{
    org_init(org);
    org_pool(org, change);
    org_nodes(org, 2, slots);
    org_quota(
        org, org_add(org, ACCOUNT_PROJECT, "owner", "default"),
        (struct org_quota){.guaranteed = 2 * (int64_t)slots, .limit = ORG_UNLIMITED, .weight = 1});
    (void)org_add(org, ACCOUNT_PROJECT, "guest", "default");
}

static task_id run_new(struct org *org, struct org_task task)
{
    const task_id id = org_submit(org, task);
    starts(org, id);
    return id;
}

/* Checks that only time is missing until the named moment. Then a running task is told to leave,
 * and the waiting task starts. */
static void ends_in_time(struct org *org, task_id task, struct reason why, uint32_t victims)
{
    assert_true(why.until_ms > org->rig.now_ms);
    org_forget(org);
    org->rig.now_ms = why.until_ms - 1;
    (void)org_pass(org);
    assert_int_equal(org->evicted_count, 0);
    assert_int_equal(explain(org, task).reason.until_ms, why.until_ms);
    org->rig.now_ms = why.until_ms;
    while (org_pass(org)) {
        continue;
    }
    assert_int_equal(org->evicted_count, victims);
    (void)waits(org, task, REASON_VICTIMS_LEAVING);
    starts(org, task);
}

static int64_t started_ms(const struct org *org, task_id task)
{
    return query_instance(org->rig.core, task, 0)->started_ms;
}

void what_was_lent_comes_back(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, pool_delays);
    org_nodes(&org, 1, 4);
    const account_id owner = org_add(&org, ACCOUNT_PROJECT, "owner", "default");
    org_quota(&org, owner,
              (struct org_quota){.guaranteed = 4, .limit = ORG_UNLIMITED, .weight = 1});
    (void)org_add(&org, ACCOUNT_PROJECT, "guest", "default");
    starts(&org, org_submit(&org, (struct org_task){.project = "guest", .slots = 4}));
    const task_id task = org_submit(&org, (struct org_task){.project = "owner", .slots = 4});
    (void)org_pass(&org);
    const struct reason why = waits(&org, task, REASON_PREEMPTION_DELAY);
    assert_int_equal(why.until_ms, org.rig.now_ms + 60000);
    org.rig.now_ms = why.until_ms;
    (void)org_pass(&org);
    assert_int_equal(org.evicted_count, 1);
    (void)waits(&org, task, REASON_VICTIMS_LEAVING);
    starts(&org, task);
    org_done(&org);
}

static void pool_reclaim_hour(struct pool_spec *spec)
{
    spec->reclaim_min_runtime_ms = 60 * MINUTE_MS;
}

void the_oldest_borrower_gives_first(void **state)
{
    (void)state;
    struct org org;
    lending_init(&org, 2, pool_reclaim_hour);
    const task_id old = run_new(&org, (struct org_task){.project = "guest", .slots = 2});
    org.rig.now_ms += 10 * MINUTE_MS;
    (void)run_new(&org, (struct org_task){.project = "guest", .slots = 2});
    const task_id task = org_submit(&org, (struct org_task){.project = "owner", .slots = 2});
    (void)org_pass(&org);
    const struct reason why = waits(&org, task, REASON_MIN_RUNTIME);
    assert_int_equal(why.until_ms, started_ms(&org, old) + 60 * MINUTE_MS);
    assert_int_equal(why.wanted, 2 * SLOT_MILLI);
    ends_in_time(&org, task, why, 1);
    assert_int_equal(org.evicted[0].task.v, old.v);
    org_done(&org);
}

/* A gang that needs four of seven instances waits until the fourth victim has run for an hour. */
void a_gang_waits_for_as_many_as_it_needs(void **state)
{
    (void)state;
    struct org org;
    task_id guests[7];
    lending_init(&org, 4, pool_reclaim_hour);
    starts(&org, org_submit(&org, (struct org_task){.project = "owner", .slots = 1}));
    for (uint32_t i = 0; i < 7; i++) {
        org.rig.now_ms += (i + 1) * MINUTE_MS;
        guests[i] = run_new(&org, (struct org_task){.project = "guest", .slots = 1});
    }
    const task_id gang = org_submit(
        &org, (struct org_task){.project = "owner", .slots = 1, .instances = 4, .gang = true});
    (void)org_pass(&org);
    const struct reason why = waits(&org, gang, REASON_MIN_RUNTIME);
    assert_int_equal(why.until_ms, started_ms(&org, guests[3]) + 60 * MINUTE_MS);
    ends_in_time(&org, gang, why, 4);
    org_done(&org);
}

/* The protections end one after the other; the search may be asked two dozen times only. */
void the_moment_is_exact_among_thirty(void **state)
{
    (void)state;
    enum { GUESTS = 30 };
    static const uint32_t needs[] = {1, 2, 13, 24, 29, GUESTS};
    struct org org;
    task_id guests[GUESTS];
    lending_init(&org, GUESTS / 2, pool_reclaim_hour);
    for (uint32_t i = 0; i < GUESTS; i++) {
        org.rig.now_ms += 7000 + 13 * (int64_t)i * i;
        guests[i] = run_new(&org, (struct org_task){.project = "guest", .slots = 1});
    }
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        const task_id gang = org_submit(
            &org,
            (struct org_task){.project = "owner", .slots = 1, .instances = needs[i], .gang = true});
        (void)org_pass(&org);
        const struct reason why = waits(&org, gang, REASON_MIN_RUNTIME);
        assert_int_equal(why.until_ms, started_ms(&org, guests[needs[i] - 1]) + 60 * MINUTE_MS);
        org_kill(&org, gang);
    }
    org_done(&org);
}

/* Half of each node is held by the owner's own task, which cannot be moved. The guests on the other halves are protected for an
 * hour, but without them no node has both slots. */
void time_does_not_help_where_too_little_would_leave(void **state)
{
    (void)state;
    struct org org;
    lending_init(&org, 2, pool_reclaim_hour);
    for (uint32_t i = 0; i < 2; i++) {
        (void)run_new(&org, (struct org_task){.project = "owner", .slots = 1, .fixed = true});
        (void)run_new(&org, (struct org_task){.project = "guest", .slots = 1});
    }
    const task_id task = org_submit(&org, (struct org_task){.project = "owner", .slots = 2});
    (void)org_pass(&org);
    const struct reason why = waits(&org, task, REASON_NO_ROOM);
    assert_int_equal(why.until_ms, 0);
    assert_int_equal(why.wanted, 2 * SLOT_MILLI);
    org_done(&org);
}

static void pool_preempt_hour(struct pool_spec *spec)
{
    spec->preempt_min_runtime_ms = 60 * MINUTE_MS;
}

static void pool_by_priority(struct pool_spec *spec)
{
    spec->policy = POLICY_PRIORITY;
}

/* Preemption spares tasks within their minimum runtime: tasks of the same project or, with
 * policy priority, of any project. */
void lower_priorities_have_their_runtime_too(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        struct org org;
        org_init(&org);
        org_pool(&org, pool_preempt_hour);
        org_nodes(&org, 1, 2);
        (void)org_add(&org, ACCOUNT_PROJECT, "p", "default");
        if (round == 1) {
            org_pool(&org, pool_by_priority);
        }
        const char *project = round == 0 ? "default" : "p";
        const task_id low =
            run_new(&org, (struct org_task){.project = project, .slots = 2, .priority = 10});
        const task_id high =
            org_submit(&org, (struct org_task){.project = "default", .slots = 1, .priority = 90});
        (void)org_pass(&org);
        const struct reason why = waits(&org, high, REASON_MIN_RUNTIME);
        assert_int_equal(why.until_ms, started_ms(&org, low) + 60 * MINUTE_MS);
        ends_in_time(&org, high, why, 1);
        org_done(&org);
    }
}

static void pool_moves_late(struct pool_spec *spec)
{
    spec->patience_ms = 600 * MINUTE_MS;
    spec->preemption_delay_ms = MINUTE_MS;
    spec->consolidation_max = 16;
    spec->placement = PLACEMENT_SPREAD;
}

/* Whether a lower priority is stopped or a task moves to another node: the preemption delay must
 * pass first. */
void the_delay_counts_for_every_way(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, pool_moves_late);
    org_nodes(&org, 2, 2);
    (void)run_new(&org, (struct org_task){.project = "default", .slots = 1});
    (void)run_new(&org, (struct org_task){.project = "default", .slots = 1});
    const task_id wide = org_submit(&org, (struct org_task){.project = "default", .slots = 2});
    (void)org_pass(&org);
    struct reason why = waits(&org, wide, REASON_PREEMPTION_DELAY);
    assert_int_equal(why.until_ms, org.rig.now_ms + MINUTE_MS);
    assert_int_equal(why.smallest, SLOT_MILLI);
    ends_in_time(&org, wide, why, 1);
    const task_id high =
        org_submit(&org, (struct org_task){.project = "default", .slots = 2, .priority = 90});
    (void)org_pass(&org);
    why = waits(&org, high, REASON_PREEMPTION_DELAY);
    assert_int_equal(why.until_ms, org.rig.now_ms + MINUTE_MS);
    ends_in_time(&org, high, why, 1);
    org_done(&org);
}

static void pool_delay_and_hour(struct pool_spec *spec)
{
    spec->patience_ms = 600 * MINUTE_MS;
    spec->preemption_delay_ms = MINUTE_MS;
    spec->reclaim_min_runtime_ms = 60 * MINUTE_MS;
}

void the_later_of_delay_and_runtime(void **state)
{
    (void)state;
    struct org org;
    lending_init(&org, 2, pool_delay_and_hour);
    const task_id guest =
        run_new(&org, (struct org_task){.project = "guest", .slots = 2, .instances = 2});
    const task_id first = org_submit(&org, (struct org_task){.project = "owner", .slots = 2});
    (void)org_pass(&org);
    const struct reason why = waits(&org, first, REASON_MIN_RUNTIME);
    assert_int_equal(why.until_ms, started_ms(&org, guest) + 60 * MINUTE_MS);
    ends_in_time(&org, first, why, 1);
    const task_id second = org_submit(&org, (struct org_task){.project = "owner", .slots = 2});
    (void)org_pass(&org);
    const struct reason late = waits(&org, second, REASON_PREEMPTION_DELAY);
    assert_int_equal(late.until_ms, org.rig.now_ms + MINUTE_MS);
    ends_in_time(&org, second, late, 1);
    org_done(&org);
}

/* The running tasks have a right to their places, or are not preemptible. Time changes nothing,
 * and no reason names a time. */
static void pool_plain(struct pool_spec *spec)
{
    spec->consolidation_max = 0;
}

void time_does_not_help_everybody(void **state)
{
    (void)state;
    struct org org;
    lending_init(&org, 2, pool_delay_and_hour);
    (void)run_new(&org, (struct org_task){.project = "owner", .slots = 2, .fixed = true});
    (void)run_new(&org, (struct org_task){.project = "owner", .slots = 2});
    const task_id own = org_submit(&org, (struct org_task){.project = "owner", .slots = 2});
    const task_id other = org_submit(&org, (struct org_task){.project = "guest", .slots = 1});
    (void)org_pass(&org);
    assert_int_equal(waits(&org, own, REASON_NO_ROOM).until_ms, 0);
    const struct reason why = waits(&org, other, REASON_OVER_SHARE);
    assert_int_equal(why.until_ms, 0);
    assert_int_equal(why.wanted, SLOT_MILLI);
    assert_int_equal(why.available, 0);
    org_done(&org);
}

void what_is_promised_to_another(void **state)
{
    (void)state;
    struct org org;
    lending_init(&org, 2, pool_plain);
    (void)run_new(&org, (struct org_task){.project = "guest", .slots = 1});
    const task_id gang = org_submit(
        &org, (struct org_task){.project = "owner", .slots = 2, .instances = 2, .gang = true});
    (void)org_pass(&org);
    (void)waits(&org, gang, REASON_VICTIMS_LEAVING);
    const task_id task = org_submit(&org, (struct org_task){.project = "guest", .slots = 1});
    (void)org_pass(&org);
    assert_int_equal(waits(&org, task, REASON_PROMISED).task.v, gang.v);
    starts(&org, gang);
    org_done(&org);
}

void a_priority_that_helps(void **state)
{
    (void)state;
    struct org org;
    lending_init(&org, 2, pool_plain);
    (void)run_new(&org, (struct org_task){.project = "owner", .slots = 1, .instances = 3});
    (void)run_new(&org, (struct org_task){.project = "owner", .slots = 1, .fixed = true});
    const task_id task = org_submit(&org, (struct org_task){.project = "owner", .slots = 1});
    const task_id gang = org_submit(
        &org, (struct org_task){.project = "owner", .slots = 1, .instances = 4, .gang = true});
    const task_id guest = org_submit(&org, (struct org_task){.project = "guest", .slots = 1});
    org_settle(&org);
    (void)waits(&org, task, REASON_NO_ROOM);
    const uint32_t priority = explain_time_priority(org.rig.core, task);
    assert_int_equal(priority, PRIORITY_DEFAULT + 1);
    /* One of the four keeps its place. */
    assert_int_equal(explain_time_priority(org.rig.core, gang), 0);
    assert_int_equal(explain_time_priority(org.rig.core, guest), 0);
    edit(&org, task,
         (struct task_edit){.fields = TASK_EDIT_priority,
                            .spec = &(struct task_spec){.priority = priority}});
    starts(&org, task);
    org_done(&org);
}

void a_place_ahead_of_the_holder(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, pool_impatient);
    org_nodes(&org, 1, 4);
    (void)submit(&org, slots(1));
    (void)submit(&org, slots(4));
    const task_id task = submit(&org, slots(1));
    const struct reason why = waits(&org, task, REASON_RESERVED);
    struct input ahead = {.type = INPUT_TASK_MOVE, .task = {.task = task}};
    ahead.task.move.other = why.task;
    assert_int_equal(rig_do(&org.rig, ahead), VERDICT_OK);
    starts(&org, task);
    org_done(&org);
}

/* The reason names the draining node that has room, not the first draining node. A gang needs
 * more than one node. */
void a_draining_node_that_helps(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    const node_id small = rig_node(&org.rig, "small", 1, 0, 1);
    const node_id full = rig_node(&org.rig, "full", 4, 0, 2);
    starts(&org, rig_submit(&org.rig, slots(4)));
    const node_id idle = rig_node(&org.rig, "idle", 4, 0, 3);
    const node_id nodes[] = {small, full, idle};
    struct node_edit drain = {.fields = NODE_EDIT_DRAIN, .drain = true};
    for (uint32_t i = 0; i < 3; i++) {
        struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = nodes[i], .edit = &drain}};
        assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    }
    struct task_spec pair = slots(4);
    pair.instances = 2;
    pair.gang = true;
    const task_id gang = submit(&org, pair);
    const task_id task = submit(&org, slots(2));
    (void)waits(&org, gang, REASON_NODES_AWAY);
    assert_int_equal(explain(&org, gang).resume.v, 0);
    (void)waits(&org, task, REASON_NODES_AWAY);
    assert_int_equal(explain(&org, task).resume.v, idle.v);
    drain.drain = false;
    struct input resume = {.type = INPUT_NODE_EDIT, .node = {.node = idle, .edit = &drain}};
    assert_int_equal(rig_do(&org.rig, resume), VERDICT_OK);
    starts(&org, task);
    org_done(&org);
}

/* ---- flavors ---- */

static void flavor_make(struct org *org, struct flavor_spec *spec)
{
    object_init(&flavor_object, spec);
    spec->name = "f";
    spec->slots = 2;
    struct input in = {.type = INPUT_FLAVOR_SET, .flavor = {.spec = spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

static void pool_of_flavor(struct pool_spec *spec)
{
    spec->provider = POOL_LOCAL;
    spec->nodes_max = 1;
    spec->flavor = "f";
}

void a_flavor_that_is_sold_out(void **state)
{
    (void)state;
    struct org org;
    struct flavor_spec flavor;
    org_init(&org);
    flavor_make(&org, &flavor);
    org_pool(&org, pool_of_flavor);
    const task_id task = submit(&org, slots(2));
    (void)org_pass(&org);
    const struct provider_answer no = {.launch = {1},
                                       .says = PROVIDER_FAILED,
                                       .name = "",
                                       .node = "",
                                       .words = "no capacity",
                                       .why = PROVIDER_WHY_NO_CAPACITY};
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &no, .count = 1}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    (void)org_pass(&org);
    const struct reason why = waits(&org, task, REASON_SOLD_OUT);
    assert_int_equal(why.need, 1);
    org.rig.now_ms = why.until_ms;
    (void)org_pass(&org);
    (void)rig_node(&org.rig, "default-2", 2, 0, 9);
    starts(&org, task);
    org_done(&org);
}

void flavors_that_cannot_be_had(void **state)
{
    (void)state;
    struct org org;
    struct flavor_spec flavor;
    struct pool_spec pool;
    org_init(&org);
    flavor_make(&org, &flavor);
    object_init(&pool_object, &pool);
    pool.name = "blue";
    pool_of_flavor(&pool);
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &pool}};
    pool.flavor = "none";
    (void)refuses(&org, in, REASON_UNKNOWN_FLAVOR);
    pool.flavor = "f";
    pool.provider = POOL_STATIC;
    (void)refuses(&org, in, REASON_FLAVOR_PROVIDER);
    pool.provider = POOL_LOCAL;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    const flavor_id id = query_flavor_named(org.rig.core, "f")->id;
    struct input end = {.type = INPUT_FLAVOR_DELETE, .flavor = {.flavor = id}};
    assert_int_equal(refuses(&org, end, REASON_FLAVOR_USED).need, 1);
    struct input ask = {.type = INPUT_LAUNCH_ASK, .launch = {.count = 1}};
    ask.launch.pool = query_pool_named(org.rig.core, "blue")->id;
    assert_int_equal(rig_do(&org.rig, ask), VERDICT_OK);
    flavor.slots = 3;
    struct input edit = {.type = INPUT_FLAVOR_SET, .flavor = {.flavor = id, .spec = &flavor}};
    assert_int_equal(refuses(&org, edit, REASON_FLAVOR_FIXED).need, 1);
    org_done(&org);
}

/* ---- networks ---- */

static struct network_spec network_make(struct org *org, const char *name, const char *range)
{
    struct network_spec spec;
    object_init(&network_object, &spec);
    spec.name = name;
    spec.range = range;
    struct input in = {.type = INPUT_NETWORK_SET, .network = {.spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    return spec;
}

static struct input submission_of(struct task_spec *spec, const char *network)
{
    *spec = rig_spec();
    spec->network = network;
    return (struct input){.type = INPUT_TASK_SUBMIT, .submit = {.specs = spec, .count = 1}};
}

static void node_labels(struct org *org, const struct label *labels, uint32_t count)
{
    const struct node_edit edit = {
        .fields = NODE_EDIT_LABELS, .labels = labels, .label_count = count};
    struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = {1}, .edit = &edit}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

void networks_that_tasks_cannot_have(void **state)
{
    (void)state;
    static const char *const guests[] = {"project/vision"};
    static const struct label able[] = {{LABEL_NETWORKS, LABEL_OWN_YES},
                                        {LABEL_OUTBOUND, LABEL_OWN_YES}};
    struct org org;
    struct task_spec spec;
    org_init(&org);
    org_nodes(&org, 1, 2);
    (void)refuses(&org, submission_of(&spec, "lab"), REASON_UNKNOWN_NETWORK);
    struct network_spec lab = network_make(&org, "lab", "10.77.0.0/24");
    const network_id id = query_network_named(org.rig.core, "lab")->id;
    struct input edit = {.type = INPUT_NETWORK_SET, .network = {.network = id, .spec = &lab}};
    lab.guests = guests;
    lab.guest_count = 1;
    (void)refuses(&org, edit, REASON_UNKNOWN_GUEST);
    (void)org_add(&org, ACCOUNT_PROJECT, "vision", "default");
    lab.outbound = true;
    assert_int_equal(rig_do(&org.rig, edit), VERDICT_OK);
    struct input ask = submission_of(&spec, "lab");
    (void)refuses(&org, ask, REASON_NETWORK_GUEST);
    spec.project = "vision";
    (void)refuses(&org, ask, REASON_NO_NETWORK);
    node_labels(&org, able, 1);
    (void)refuses(&org, ask, REASON_NO_OUTBOUND);
    node_labels(&org, able, 2);
    assert_int_equal(rig_do(&org.rig, ask), VERDICT_OK);
    struct input end = {.type = INPUT_NETWORK_DELETE, .network = {.network = id}};
    assert_int_equal(refuses(&org, end, REASON_NETWORK_OF_TASKS).need, 1);
    org_done(&org);
}

void networks_that_are_in_the_way(void **state)
{
    (void)state;
    struct org org;
    struct task_spec spec;
    struct pool_spec pool;
    org_init(&org);
    struct network_spec lab = network_make(&org, "lab", "10.77.0.0/24");
    struct network_spec wide = lab;
    wide.name = "wide";
    wide.range = "10.0.0.0/8";
    const struct input twice = {.type = INPUT_NETWORK_SET, .network = {.spec = &wide}};
    (void)refuses(&org, twice, REASON_NETWORK_RANGE);
    object_init(&pool_object, &pool);
    pool.name = "blue";
    pool.network = "lab";
    const struct input make = {.type = INPUT_POOL_CREATE, .pool = {.spec = &pool}};
    assert_int_equal(rig_do(&org.rig, make), VERDICT_OK);
    const network_id id = query_network_named(org.rig.core, "lab")->id;
    const struct input end = {.type = INPUT_NETWORK_DELETE, .network = {.network = id}};
    assert_int_equal(refuses(&org, end, REASON_NETWORK_OF_POOLS).need, 1);
    lab.outbound = true;
    struct input edit = {.type = INPUT_NETWORK_SET, .network = {.network = id, .spec = &lab}};
    (void)refuses(&org, edit, REASON_NETWORK_OF_POOLS);
    spec = rig_spec();
    struct input host = submission_of(&spec, "host");
    spec.pools = (const char *const[]){"blue"};
    spec.pool_count = 1;
    (void)refuses(&org, host, REASON_NETWORK_OF_POOL);
    org_done(&org);
}

void flavors_of_ec2_that_do_not_fit(void **state)
{
    (void)state;
    static const char *const zones[] = {"a"};
    static const char *const subnets[] = {"subnet-1"};
    struct org org;
    struct flavor_spec flavor;
    struct pool_spec pool;
    org_init(&org);
    object_init(&flavor_object, &flavor);
    flavor.name = "f";
    flavor.slots = 2;
    flavor.provider = POOL_EC2;
    flavor.zones = zones;
    flavor.zone_count = 1;
    struct input in = {.type = INPUT_FLAVOR_SET, .flavor = {.spec = &flavor}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    object_init(&pool_object, &pool);
    pool.name = "blue";
    pool_of_flavor(&pool);
    pool.provider = POOL_EC2;
    pool.ec2_region = "eu-west-1";
    in = (struct input){.type = INPUT_POOL_CREATE, .pool = {.spec = &pool}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    pool.name = "green";
    pool.ec2_region = "us-east-1";
    (void)refuses(&org, in, REASON_FLAVOR_REGION);
    pool.ec2_region = "eu-west-1";
    pool.ec2_subnets = subnets;
    pool.ec2_subnet_count = 1;
    (void)refuses(&org, in, REASON_FLAVOR_SUBNETS);
    static const char *const nowhere[] = {"z=1"};
    pool.ec2_subnet_count = 0;
    pool.zones = nowhere;
    pool.zone_count = 1;
    pool.nodes_fixed = 1;
    pool.nodes_min = 1;
    (void)refuses(&org, in, REASON_UNKNOWN_ZONE);
    struct input set = {.type = INPUT_DEFAULTS_SET, .defaults = {.pools = {"blue", "default"}}};
    assert_int_equal(rig_do(&org.rig, set), VERDICT_OK);
    struct input end = {.type = INPUT_POOL_CLOSE};
    end.pool.pool = query_pool_named(org.rig.core, "blue")->id;
    assert_int_equal(refuses(&org, end, REASON_DEFAULT_POOL).pool.v, end.pool.pool.v);
    org_done(&org);
}
