/* history.c - random inputs, valid and invalid ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include "history_account.h"
#include "history_launch.h"
#include "history_life.h"
#include "history_saved.h"
#include "history_wait.h"
#include "oracle.h"

#include <string.h>

enum { POOLS = 3, POOLS_LISTED_MAX = 3, NODES = 6, TASKS_LIVE = 40, DEPENDS = 2 };

static const char *const resource_names[] = {"foo", "bar", "baz"};
static const char *const pool_names[POOLS] = {"default", "blue", "green"};
static const char *const node_names[NODES + 2] = {"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"};

/* ---- picking ---- */

static const char *pick_pool_name(struct world *world)
{
    return pool_names[world->calm ? 0 : dice_roll(&world->dice, POOLS)];
}

static const struct pool *pick_pool(struct world *world)
{
    return query_pool_named(world->core, pick_pool_name(world));
}

static const struct node *pick_node(struct world *world)
{
    return query_node_named(world->core, node_names[dice_roll(&world->dice, NODES + 2)]);
}

static const struct task *pick_task(struct world *world)
{
    const task_id last = query_task_last(world->core);
    if (last.v == 0) {
        return NULL;
    }
    const uint64_t back = dice_roll(&world->dice, TASKS_LIVE);
    const struct task *task =
        query_task_prev(world->core, (task_id){last.v > back ? last.v - back + 1 : last.v + 1});
    return task;
}

/* Picks a random instance that holds something; NULL: none was found. */
static const struct instance *pick_active(struct world *world)
{
    const struct instance *found = NULL;
    uint32_t seen = 0;
    for (const struct task *task = query_task_next(world->core, (task_id){0}); task != NULL;
         task = query_task_next(world->core, task->id)) {
        for (uint32_t i = 0; i < task->instance_count && task->active_count > 0; i++) {
            const struct instance *instance = query_instance(world->core, task->id, i);
            const bool active =
                instance->state != INSTANCE_WAITING && instance->state != INSTANCE_ENDED;
            if (active && dice_once_in(&world->dice, ++seen)) {
                found = instance;
            }
        }
    }
    return found;
}

/* ---- pools ---- */

static void pool_spec_roll(struct world *world, const char *name, struct pool_spec *ret)
{
    static const int64_t patience_ms[] = {0, 1000, 5000, 60000, PATIENCE_AUTO, PATIENCE_AUTO};
    static const int64_t turns_ms[] = {0, 0, 2000, 60000};
    static const uint32_t budgets[] = {IDLE_FOR_WAITING, IDLE_FOR_WAITING, PERCENT_WHOLE, 1, 0};
    static const uint32_t aux[] = {100, 3, 1, 0};
    static const int64_t graces_ms[] = {0, 5000, STALE_GRACE_MS_DEFAULT, STALE_GRACE_NEVER};
    static const uint8_t policies[] = {POLICY_FAIR_SHARE, POLICY_FAIR_SHARE,  POLICY_FAIR_SHARE,
                                       POLICY_PRIORITY,   POLICY_ROUND_ROBIN, POLICY_FIFO};
    struct dice *dice = &world->dice;
    *ret = (struct pool_spec){
        .name = name,
        .title = "",
        .description = "",
        .patience_ms = patience_ms[dice_roll(dice, 6)],
        .paused = dice_once_in(dice, 10),
        .aux_tasks = aux[dice_once_in(dice, 3) ? dice_roll(dice, 4) : 0],
        .policy = policies[dice_roll(dice, sizeof policies)],
        .placement = dice_once_in(dice, 4)   ? PLACEMENT_SPREAD
                     : dice_once_in(dice, 2) ? PLACEMENT_TIGHT
                                             : PLACEMENT_PACK,
        .victims = dice_once_in(dice, 3) ? VICTIMS_YOUNGEST : VICTIMS_LEAST_LOSS,
        .preemption_off = dice_once_in(dice, 8),
        .consolidation_max = dice_once_in(dice, 3) ? 0 : 1 + dice_roll(dice, 16),
        .stale_grace_ms = graces_ms[dice_roll(dice, 4)],
        .preempt_min_runtime_ms = dice_once_in(dice, 6) ? 2000 : 0,
        .reclaim_min_runtime_ms = dice_once_in(dice, 6) ? 3000 : 0,
        .preemption_delay_ms = dice_once_in(dice, 6) ? 2000 : 0,
        .user_slots_max = dice_once_in(dice, 8) ? 4 * SLOT_MILLI : 0,
        .uneven_off = dice_once_in(dice, 4),
        .history_half_life_ms = dice_once_in(dice, 4) ? 1000 + dice_roll(dice, 100000) : 0,
        .history_window_ms = dice_once_in(dice, 6) ? 1000 + dice_roll(dice, 100000) : 0,
        .history_factor = dice_roll(dice, HISTORY_FACTOR_MAX + 1),
        .turn_ms = turns_ms[dice_roll(dice, 4)],
        .idle_for_waiting = budgets[dice_roll(dice, 5)],
        .loss_for_sharing = budgets[dice_roll(dice, 5)],
        .order = dice_once_in(dice, 3) ? QUEUE_SHORT_FIRST : QUEUE_SUBMISSION,
    };
}

/* Chooses the topology of a pool: none, by zone, or by zone and rack. */
static void topology_roll(struct world *world, struct pool_spec *spec)
{
    static const char *const levels[] = {"zone", "rack"};
    spec->topology = levels;
    spec->topology_count = dice_once_in(&world->dice, 4) ? dice_roll(&world->dice, 3) : 2;
}

static void pool_set(struct world *world)
{
    const char *name = pick_pool_name(world);
    const struct pool *pool = query_pool_named(world->core, name);
    struct pool_spec spec;
    pool_spec_roll(world, name, &spec);
    topology_roll(world, &spec);
    struct input in = {.type = pool == NULL ? INPUT_POOL_CREATE : INPUT_POOL_EDIT};
    in.pool.spec = &spec;
    in.pool.pool = pool == NULL ? (pool_id){0} : pool->id;
    (void)world_step(world, in);
}

static void pool_delete(struct world *world)
{
    const struct pool *pool = pick_pool(world);
    if (pool != NULL && dice_once_in(&world->dice, 4)) {
        struct input in = {.type = INPUT_POOL_DELETE};
        in.pool.pool = pool->id;
        in.pool.force = dice_once_in(&world->dice, 2);
        in.pool.now = true; /* history_life.c deletes pools that can be restored */
        (void)world_step(world, in);
    }
}

/* ---- nodes ---- */

static const struct label zone_label[] = {{"zone", "a"}};

static void node_join(struct world *world)
{
    struct dice *dice = &world->dice;
    const struct label labels[] = {{"zone", dice_once_in(dice, 2) ? "a" : "b"},
                                   {"rack", dice_once_in(dice, 2) ? "1" : "2"}};
    struct named_amount amounts[3];
    struct node_spec spec = {
        .name = node_names[dice_roll(dice, NODES + 2)],
        .pool = pick_pool_name(world),
        .labels = labels,
        .label_count = dice_once_in(dice, 4) ? dice_roll(dice, 3) : 2,
        .cpu_milli = (int64_t)dice_roll(dice, 17) * 1000 + (int64_t)dice_roll(dice, 3) * 333,
        .memory_bytes = dice_roll(dice, 1000),
        .resources = amounts,
        .boot_id = "boot",
        .address = "127.0.0.1",
        .version = "0",
    };
    if (dice_once_in(dice, 2)) {
        spec.device_count = 1 + dice_roll(dice, 4);
        spec.slots_milli = (int64_t)spec.device_count * SLOT_MILLI;
        spec.gpu_memory_bytes = dice_roll(dice, 3) * 40;
    } else {
        spec.slots_milli = (int64_t)dice_roll(dice, 9) * SLOT_MILLI;
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (dice_once_in(dice, 2)) {
            amounts[spec.resource_count++] =
                (struct named_amount){resource_names[i], 500 * (int64_t)(1 + dice_roll(dice, 24))};
        }
    }
    const struct node *node = query_node_named(world->core, spec.name);
    if (node != NULL && !dice_once_in(dice, 4)) {
        memcpy(spec.supervisor, node->supervisor, sizeof spec.supervisor);
        spec.pool = query_pool_name(world->core, node->pool);
    } else {
        spec.supervisor[0] = ++world->supervisors;
    }
    struct input in = {.type = INPUT_NODE_JOIN};
    in.node.spec = &spec;
    (void)world_step(world, in);
}

static void node_change(struct world *world)
{
    static const enum input_type types[] = {INPUT_NODE_SILENT, INPUT_NODE_LOST, INPUT_NODE_EDIT,
                                            INPUT_NODE_EDIT,   INPUT_NODE_EDIT, INPUT_NODE_REMOVE};
    const struct node *node = pick_node(world);
    if (node == NULL) {
        return;
    }
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN,
                                   .drain = dice_once_in(&world->dice, 2)};
    struct input in = {.type = types[dice_roll(&world->dice, 6)]};
    in.node.node = node->id;
    in.node.edit = &edit;
    (void)world_step(world, in);
}

/* ---- tasks ---- */

static void ask_roll(struct world *world, struct task_spec *spec, struct named_amount *amounts)
{
    struct dice *dice = &world->dice;
    spec->slots_milli = spec->cpu_milli = spec->memory_bytes = ASK_NOTHING;
    if (world->lending && !dice_once_in(dice, 4)) {
        spec->slots_milli = (int64_t)(1 + dice_roll(dice, 3)) * SLOT_MILLI;
        return;
    }
    switch (dice_roll(dice, 9)) {
    case 7:
        spec->gpu_memory_bytes = 1 + dice_roll(dice, 60);
        spec->gpu_devices = dice_once_in(dice, 3) ? 1 + dice_roll(dice, 3) : 0;
        spec->needs_gpu = true;
        break;
    case 8:
        spec->slots_milli = 50 * (int64_t)(1 + dice_roll(dice, 19));
        spec->gpu_devices = dice_once_in(dice, 2) ? 1 + dice_roll(dice, 3) : 0;
        spec->device_mask = spec->gpu_devices == 0 ? 1 + dice_roll(dice, 7) : 0;
        spec->needs_gpu = true;
        break;
    case 0:
        spec->slots_milli = (int64_t)dice_roll(dice, 7) * SLOT_MILLI;
        break;
    case 1:
        spec->slots_milli = 100 * (int64_t)(1 + dice_roll(dice, 9));
        spec->needs_gpu = true;
        break;
    case 2:
        spec->slots_milli = (int64_t)(1 + dice_roll(dice, 3)) * SLOT_MILLI;
        spec->needs_gpu = true;
        spec->gpu_memory_bytes = dice_once_in(dice, 3) ? 40 : 0;
        break;
    case 3:
        spec->device_mask = 1 + dice_roll(dice, 7);
        spec->slots_milli = __builtin_popcountll(spec->device_mask) * SLOT_MILLI;
        spec->needs_gpu = true;
        break;
    case 4:
        spec->cpu_milli = 500 * (int64_t)(1 + dice_roll(dice, 12));
        break;
    case 5:
        spec->memory_bytes = 1 + dice_roll(dice, 500);
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (dice_once_in(dice, 4)) {
            amounts[spec->resource_count++] =
                (struct named_amount){resource_names[i], 500 * (int64_t)(1 + dice_roll(dice, 12))};
        }
    }
    if (dice_once_in(dice, 6)) {
        spec->cpu_milli = 250 * (int64_t)(1 + dice_roll(dice, 12));
    }
}

/* Now and then avoids one or two nodes, perhaps the same node twice. */
static const char *const *avoid_roll(struct world *world, uint32_t *ret_count)
{
    const char **names = arena_new(&world->arena, const char *, 2);
    const uint32_t count = dice_once_in(&world->dice, 6) ? 1 + dice_roll(&world->dice, 2) : 0;
    *ret_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct node *node = pick_node(world);
        if (node != NULL) {
            names[(*ret_count)++] =
                arena_str(&world->arena, query_node_name(world->core, node->id));
        }
    }
    return names;
}

/* Makes a gang elastic: sets minimums of groups and of instances, and node labels. */
static void elastic_roll(struct world *world, struct task_spec *spec, struct group_spec *groups)
{
    struct dice *dice = &world->dice;
    spec->min_groups = dice_once_in(dice, 3) ? 1 + dice_roll(dice, 2) : 0;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        /* The groups below the only group that has groups. */
        const uint32_t below = spec->group_count - i - 1;
        const bool leaf = groups[i].instances > 0;
        groups[i].instances += leaf ? dice_roll(dice, 3) : 0;
        groups[i].min =
            dice_once_in(dice, 2) ? 1 + dice_roll(dice, leaf ? groups[i].instances : below) : 0;
        groups[i].asks = dice_once_in(dice, 6) ? NULL : groups[i].asks;
        groups[i].node_labels = zone_label;
        groups[i].node_label_count = leaf && dice_once_in(dice, 8);
    }
}

/* Sometimes divides a gang into groups with different requests: two groups, or two groups and
 * one of them within a third. */
static void groups_roll(struct world *world, struct task_spec *ret)
{
    enum { GROUPS = 4 };
    static const char *const names[GROUPS] = {"a", "b", "c", "d"};
    static const char *const levels[] = {"", "zone", "rack"};
    struct dice *dice = &world->dice;
    struct group_spec *groups = arena_new(&world->arena, struct group_spec, GROUPS);
    const bool nested = dice_once_in(dice, 3);
    ret->groups = groups;
    ret->group_count = nested ? GROUPS - 1 + (world->elastic ? dice_roll(dice, 2) : 0) : 2;
    ret->instances = 0;
    ret->min_instances = 0;
    ret->gang = true;
    for (uint32_t i = 0; i < ret->group_count; i++) {
        struct task_spec *asks = arena_new(&world->arena, struct task_spec, 1);
        struct named_amount *amounts = arena_new(&world->arena, struct named_amount, 3);
        asks->resources = amounts;
        ask_roll(world, asks, amounts);
        const bool above = nested && i == 1;
        groups[i] = (struct group_spec){.name = names[i],
                                        .parent = nested && i >= 2 ? 2 : 0,
                                        .instances = above ? 0 : 1 + dice_roll(dice, 2),
                                        .asks = above ? NULL : asks};
        groups[i].topology.required = dice_once_in(dice, 3) ? levels[dice_roll(dice, 3)] : "";
    }
    if (world->elastic) {
        elastic_roll(world, ret, groups);
    }
    for (uint32_t i = 0; i < ret->group_count; i++) {
        ret->instances += groups[i].instances;
    }
}

/* Gives a task up to three pools, and conditions under which the next one opens. */
static void pools_roll(struct world *world, struct task_spec *ret)
{
    struct dice *dice = &world->lists;
    const char **pools = arena_new(&world->arena, const char *, POOLS_LISTED_MAX);
    uint32_t count = 0;
    for (const struct pool *pool = query_pool_next(world->core, (pool_id){0});
         pool != NULL && count < POOLS_LISTED_MAX; pool = query_pool_next(world->core, pool->id)) {
        pools[count++] = query_pool_name(world->core, pool->id);
    }
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t other = dice_roll(dice, i);
        const char *name = pools[i - 1];
        pools[i - 1] = pools[other];
        pools[other] = name;
    }
    ret->pools = pools;
    ret->pool_count = count > 1 ? 1 + dice_roll(dice, count) : count;
    ret->fallback_after_ms = dice_once_in(dice, 3) ? 2000 * (1 + (int64_t)dice_roll(dice, 5)) : 0;
    ret->fallback_on = dice_once_in(dice, 2) ? dice_roll(dice, 4) : 0;
}

static void spec_roll(struct world *world, struct task_spec *ret)
{
    static const char *const argv[] = {"true"};
    static const int64_t limits[] = {0, 0, 1000, 10000, 60000};
    struct dice *dice = &world->dice;
    struct named_amount *amounts = arena_new(&world->arena, struct named_amount, 3);
    uint64_t *depends = arena_new(&world->arena, uint64_t, DEPENDS);
    const char **pools = arena_new(&world->arena, const char *, 1);
    pools[0] = pick_pool_name(world);
    *ret = (struct task_spec){
        .kind = TASK_COMMAND,
        .name = "t",
        .user = pick_user(world),
        .project = pick_project(world),
        .image = "",
        .workdir = "",
        .argv = argv,
        .argv_count = 1,
        .pools = pools,
        .pool_count = 1,
        .depends_on = depends,
        .resources = amounts,
        .instances = dice_once_in(dice, 3) ? 1 + dice_roll(dice, 5) : 1,
        .preemptible = !dice_once_in(dice, 4),
        .repeatable = !dice_once_in(dice, 8),
        .stage = dice_once_in(dice, 10),
        .priority = 40 + 10 * dice_roll(dice, 3),
        .max_retries = dice_roll(dice, 3),
        .time_limit_ms = limits[dice_roll(dice, 5)],
        .grace_ms = 1000,
        .stale_grace_ms = STALE_GRACE_POOL,
        .preemption_delay_ms = PREEMPTION_DELAY_POOL,
    };
    ret->gang = ret->instances > 1 && dice_once_in(dice, 2);
    ret->min_instances =
        ret->gang && dice_once_in(dice, 2) ? 1 + dice_roll(dice, ret->instances) : 0;
    ret->stale_grace_ms =
        dice_once_in(dice, 6) ? 3000 * (int64_t)dice_roll(dice, 3) : STALE_GRACE_POOL;
    ret->preemption_delay_ms =
        dice_once_in(dice, 8) ? 2000 * (int64_t)dice_roll(dice, 3) : PREEMPTION_DELAY_POOL;
    ask_roll(world, ret, amounts);
    ret->avoid = avoid_roll(world, &ret->avoid_count);
    ret->node_labels = zone_label;
    ret->node_label_count = dice_once_in(dice, 8);
    if ((ret->gang || ret->instances == 1) && dice_once_in(dice, 3)) {
        static const char *const levels[] = {"", "zone", "rack"};
        ret->topology.required = levels[dice_roll(dice, 3)];
        ret->topology.preferred = levels[dice_roll(dice, 3)];
    }
    if (dice_once_in(dice, world->elastic ? 3 : 8)) {
        groups_roll(world, ret);
    }
    if (world->listing && !dice_once_in(&world->lists, 4)) {
        pools_roll(world, ret);
    }
    const struct task *before = dice_once_in(dice, 6) ? pick_task(world) : NULL;
    if (before != NULL) {
        depends[ret->depends_count++] = before->id.v;
        ret->depends_any = dice_roll(dice, 2);
    }
}

int64_t *spec_amount(struct world *world, struct task_spec *spec, const struct reason *reason)
{
    if (strcmp(reason->text, "gpu_memory") == 0) {
        return &spec->gpu_memory_bytes;
    }
    switch (reason->resource.v) {
    case RESOURCE_SLOTS:
        return spec->slots_milli > 0 ? &spec->slots_milli : NULL;
    case RESOURCE_CPU:
        return spec->cpu_milli > 0 ? &spec->cpu_milli : NULL;
    case RESOURCE_MEMORY:
        return spec->memory_bytes > 0 ? &spec->memory_bytes : NULL;
    }
    const char *name = query_resource_name(world->core, reason->resource);
    struct named_amount *amounts =
        arena_dup(&world->arena, spec->resources, spec->resource_count * sizeof *amounts);
    spec->resources = amounts;
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        if (strcmp(amounts[i].name, name) == 0) {
            return &amounts[i].milli;
        }
    }
    return NULL;
}

/* P9: the task is accepted with the smallest change that the reason names, and refused with one
 * step more. */
static void refusal_check(struct world *world, struct task_spec spec, const struct reason *reason)
{
    struct input in = {.type = INPUT_TASK_SUBMIT};
    in.submit = (struct submission){.specs = &spec, .count = 1};
    struct reason again;
    if (spec.group_count > 0) {
        return; /* the change concerns a group */
    }
    if (reason->code == REASON_DOMAIN_TOO_SMALL && (reason->smallest < 1 || !spec.gang)) {
        return; /* no domain holds any instance, or the reason is about slots of a wide task */
    }
    if (reason->code == REASON_GANG_TOO_LARGE || reason->code == REASON_DOMAIN_TOO_SMALL) {
        law(reason->smallest >= 1, "P9: some of the gang would fit");
        law(reason->smallest < spec.instances, "P9: a smaller gang");
        spec.instances = (uint32_t)reason->smallest;
        spec.min_instances = 0;
        law(world_ask(world, in, &again) == VERDICT_OK, "P9: the smaller gang is accepted");
        return;
    }
    const bool about_amount =
        reason->code == REASON_TOO_LARGE || reason->code == REASON_COMBINATION;
    int64_t *amount = about_amount ? spec_amount(world, &spec, reason) : NULL;
    if (amount == NULL || reason->smallest <= 0) {
        return;
    }
    const int64_t asked = *amount;
    const int64_t step = amount == &spec.slots_milli && asked >= SLOT_MILLI ? SLOT_MILLI : 1;
    law(reason->smallest < asked, "P9: the change is a smaller amount");
    *amount = reason->smallest;
    const enum verdict verdict = world_ask(world, in, &again);
    /* One instance fits after the change. A whole gang may need more nodes, or nodes that it
     * avoids. */
    law(verdict == VERDICT_OK || again.code == REASON_GANG_TOO_LARGE ||
            again.code == REASON_DOMAIN_TOO_SMALL ||
            ((again.code == REASON_AVOIDED || again.code == REASON_OTHER_LABELS) && again.have > 0),
        "P9: the smallest change is accepted");
    *amount = reason->smallest + step;
    /* The reason is about the first of several pools: another pool may take more. */
    law(*amount == asked || spec.pool_count > 1 || world_ask(world, in, &again) != VERDICT_OK,
        "P9: the change is the smallest");
}

void history_submitted(struct world *world, const struct submission *submit, enum verdict verdict)
{
    if (verdict == VERDICT_REFUSED && submit->count == 1) {
        const struct reason reason = world->facts.refusal;
        law(reason.code != REASON_NONE, "P8: a refusal has a reason");
        refusal_check(world, submit->specs[0], &reason);
        return;
    }
    for (size_t i = 0; i < world->facts.count; i++) {
        const struct fact *fact = &world->facts.at[i];
        if (fact->type == FACT_TASK_SUBMITTED) {
            const struct task_spec *spec = fact->task_submitted.spec;
            const uint32_t least = spec->min_instances > 0 ? spec->min_instances : spec->instances;
            const uint32_t size = spec->gang ? least : 1;
            law(spec->group_count > 0 || oracle_possible(world->core, fact->task_submitted.pool,
                                                         fact->task_submitted.request, size),
                "P9: what can never run is refused");
            oracle_groups_possible(world->core, fact);
            oracle_form_possible(world->core, fact);
        }
    }
}

static void submit(struct world *world)
{
    struct task_spec specs[3];
    struct input in = {.type = INPUT_TASK_SUBMIT};
    in.submit.specs = specs;
    in.submit.count = dice_once_in(&world->dice, 8) ? 1 + dice_roll(&world->dice, 3) : 1;
    for (uint32_t i = 0; i < in.submit.count; i++) {
        spec_roll(world, &specs[i]);
    }
    in.submit.has_key = dice_once_in(&world->dice, 8);
    in.submit.key[0] = (uint8_t)dice_roll(&world->dice, 4);
    history_submitted(world, &in.submit, world_step(world, in));
}

static void task_change(struct world *world)
{
    static const enum input_type types[] = {
        INPUT_TASK_START, INPUT_TASK_PAUSE, INPUT_TASK_PAUSE, INPUT_TASK_ACTIVATE, INPUT_TASK_KILL,
        INPUT_TASK_EDIT,  INPUT_TASK_EDIT,  INPUT_TASK_EDIT,  INPUT_TASK_MOVE,     INPUT_TASK_MOVE};
    static const uint32_t fields[] = {TASK_EDIT_priority,
                                      TASK_EDIT_time_limit,
                                      TASK_EDIT_pools,
                                      TASK_EDIT_max_retries,
                                      TASK_EDIT_priority | TASK_EDIT_pools,
                                      TASK_EDIT_name,
                                      TASK_EDIT_resources,
                                      TASK_EDIT_project,
                                      TASK_EDIT_avoid,
                                      TASK_EDIT_avoid | TASK_EDIT_resources,
                                      TASK_EDIT_node_labels,
                                      TASK_EDIT_topology,
                                      TASK_EDIT_topology | TASK_EDIT_node_labels |
                                          TASK_EDIT_resources,
                                      TASK_EDIT_project | TASK_EDIT_resources | TASK_EDIT_pools};
    const struct task *task = pick_task(world);
    if (task == NULL) {
        return;
    }
    const struct task_spec asks = {
        .slots_milli = 1000 * (int64_t)dice_roll(&world->dice, 3),
        .cpu_milli = ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
    };
    uint32_t avoid_count;
    const char *const *avoid = avoid_roll(world, &avoid_count);
    const uint32_t mask = fields[dice_roll(&world->dice, sizeof fields / sizeof fields[0])];
    struct task_spec spec = asks;
    spec.priority = 40 + 10 * dice_roll(&world->dice, 3);
    spec.max_retries = dice_roll(&world->dice, 3);
    spec.time_limit_ms = 1000 * dice_roll(&world->dice, 20);
    spec.name = "edited";
    const char *const pools[] = {pool_names[dice_roll(&world->dice, POOLS)]};
    spec.pools = pools;
    spec.pool_count = 1;
    spec.project = pick_project(world);
    spec.avoid = avoid;
    spec.avoid_count = avoid_count;
    spec.node_labels = zone_label;
    spec.node_label_count = dice_roll(&world->dice, 2);
    spec.topology.required = dice_once_in(&world->dice, 2) ? "rack" : NULL;
    spec.topology.preferred = dice_once_in(&world->dice, 2) ? "zone" : NULL;
    struct task_edit edit = {.fields = mask, .spec = &spec};
    if (world->listing && dice_once_in(&world->lists, 2)) {
        pools_roll(world, &spec);
        edit.fields |= dice_once_in(&world->lists, 3) ? TASK_EDIT_fallback : 0;
    }
    struct input in = {.type = types[dice_roll(&world->dice, sizeof types / sizeof types[0])]};
    in.task.task = task->id;
    in.task.edit = &edit;
    const struct task *other = pick_task(world);
    in.task.move.other = other != NULL ? other->id : task->id;
    in.task.move.behind = dice_once_in(&world->dice, 2);
    (void)world_step(world, in);
}

/* ---- reports, time ---- */

static void report(struct world *world)
{
    static const enum report_type types[] = {REPORT_STARTED, REPORT_STARTED, REPORT_ENDED,
                                             REPORT_ENDED,   REPORT_ENDED,   REPORT_SPAWN_FAILED,
                                             REPORT_LOST,    REPORT_UNKNOWN};
    const struct instance *instance = pick_active(world);
    if (instance == NULL) {
        return;
    }
    struct report reports[2];
    reports[0] = (struct report){
        .type = types[dice_roll(&world->dice, 8)],
        .key = {instance->task, instance->index, instance->attempt},
        .incarnation = instance->incarnation,
        .at_ms = world->now_ms,
        .exit_code = dice_once_in(&world->dice, 3) ? 1 : 0,
    };
    if (dice_once_in(&world->dice, 10)) {
        reports[0].key.attempt -= dice_roll(&world->dice, 2);
        reports[0].incarnation -= dice_roll(&world->dice, 2);
        reports[0].key.index += dice_roll(&world->dice, 2);
    }
    reports[1] = reports[0];
    struct input in = {.type = INPUT_REPORT};
    in.report.node = instance->node;
    in.report.reports = reports;
    in.report.count = 1 + (uint32_t)dice_once_in(&world->dice, 5);
    (void)world_step(world, in);
}

static void tick(struct world *world)
{
    (void)world_step(world, (struct input){.type = INPUT_TICK});
    oracle_gangs_in_time(world->core, world->now_ms);
}

static void server_start(struct world *world)
{
    (void)world_step(world, (struct input){.type = INPUT_SERVER_START});
}

static void settle(struct world *world)
{
    const struct pool *pool = pick_pool(world);
    if (pool != NULL) {
        world_settle(world, pool->id);
        waits_check(world, pool->id);
    }
}

/* Runs one pass with a small budget, perhaps while another pass is incomplete. */
static void pass_once(struct world *world)
{
    const struct pool *pool = pick_pool(world);
    if (pool != NULL) {
        struct input in = {.type = INPUT_PASS};
        in.pass.pool = pool->id;
        in.pass.work_max = 1 + dice_roll(&world->dice, 10);
        (void)world_step(world, in);
    }
}

void history_begin(struct world *world)
{
    enum { NODES_FIRST = 4 };
    world->calm = dice_once_in(&world->dice, 2);
    server_start(world);
    world->lending = dice_once_in(&world->dice, 2);
    world->calm =
        world->calm && !world->living; /* a calm world has one pool, which is always open */
    if (!world->lending) {
        return;
    }
    for (uint32_t i = 0; i < NODES_FIRST; i++) {
        node_join(world);
    }
    organisation_make(world);
}

void history_step(struct world *world)
{
    static const struct {
        uint32_t weights[2]; /* how often the step is chosen, in a wild and in a calm world */
        void (*happen)(struct world *world);
    } things[] = {
        {{2, 1}, pool_set},       {{1, 0}, pool_delete}, {{5, 2}, node_join}, {{4, 1}, node_change},
        {{14, 30}, submit},       {{5, 3}, task_change}, {{16, 24}, report},  {{4, 2}, tick},
        {{1, 0}, server_start},   {{8, 20}, settle},     {{4, 8}, pass_once}, {{4, 2}, account_set},
        {{2, 1}, account_delete}, {{3, 3}, quota_set},
    };
    uint32_t total = 0;
    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        total += things[i].weights[world->calm];
    }
    uint32_t roll = dice_roll(&world->dice, total);
    size_t at = 0;
    while (roll >= things[at].weights[world->calm]) {
        roll -= things[at++].weights[world->calm];
    }
    world->now_ms += dice_once_in(&world->dice, 3) ? dice_roll(&world->dice, 4000) : 0;
    arena_clear(&world->arena);
    world->facts.count = 0; /* they lay in the arena */
    things[at].happen(world);
    saved_roll(world);
    launch_roll(world);
    if (world->living) {
        life_roll(world);
        life_check(world);
    }
}
