/* history_life.c - pools that are closed, deleted and restored. The dice are not those of the world.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_life.h"

#include "core/model/object.h"
#include "core/state/life.h"

#include <inttypes.h>
#include <stdio.h>

enum { LIFE_ONCE_IN = 6, NODES_MAX_ROLL = 3 };

/* Pools of the other inputs, and one with a provider, to which no task is submitted: the oracles of other laws know no nodes that are
 * still to come. */
static const char *const names[] = {"blue", "green", "cloud", "default"};
enum { NAMES = sizeof names / sizeof names[0], NAME_BYTES = 32 };

/* Makes the pool with a provider, or changes its bounds. */
static void cloud_set(struct world *world, const struct pool *pool)
{
    struct pool_spec spec;
    object_init(&pool_object, &spec);
    spec.name = "cloud";
    spec.provider = POOL_LOCAL;
    spec.node_slots = 1 + dice_roll(&world->lives, 2);
    spec.nodes_max = dice_roll(&world->lives, NODES_MAX_ROLL + 1);
    spec.nodes_min = dice_roll(&world->lives, spec.nodes_max + 1);
    spec.node_idle_ms = dice_roll(&world->lives, 3) * 5000;
    spec.spare_nodes = dice_roll(&world->lives, 4) == 0 ? 1 : 0;
    struct input in = {.type = pool == NULL ? INPUT_POOL_CREATE : INPUT_POOL_EDIT};
    in.pool.spec = &spec;
    in.pool.pool = pool == NULL ? (pool_id){0} : pool->id;
    (void)world_step(world, in);
}

/* The agent of the pool's newest launch joins. */
static void cloud_joins(struct world *world, const struct pool *pool)
{
    char name[NAME_BYTES];
    uint64_t newest = 0;
    for (const struct launch *at = query_launch_next(world->core, (launch_id){0}); at != NULL;
         at = query_launch_next(world->core, at->id)) {
        newest = at->pool.v == pool->id.v && at->node.v == 0 ? at->id.v : newest;
    }
    (void)snprintf(name, sizeof name, "cloud-%" PRIu64, newest);
    struct node_spec spec = {.name = name,
                             .pool = "cloud",
                             .slots_milli = SLOT_MILLI,
                             .boot_id = "",
                             .address = "",
                             .version = ""};
    spec.supervisor[0] = ++world->supervisors;
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    if (newest != 0) {
        (void)world_step(world, in);
    }
}

/* Something happens in the pool with a provider: other bounds, a pass, a node, a lost node. */
static void cloud_roll(struct world *world)
{
    const struct pool *pool = query_pool_named(world->core, "cloud");
    const uint32_t roll = dice_roll(&world->lives, 6);
    if (pool == NULL || roll == 0) {
        cloud_set(world, pool);
        return;
    }
    const struct node *node = query_pool_node_next(world->core, pool->id, (node_id){0});
    struct input in = {.type = INPUT_PASS};
    if (roll < 3) {
        cloud_joins(world, pool);
        return;
    }
    if (roll == 3 && node != NULL) {
        in.type = INPUT_NODE_SILENT;
        in.node.node = node->id;
        (void)world_step(world, in);
        in.type = INPUT_NODE_LOST;
    } else {
        in.pass.pool = pool->id;
        in.pass.work_max = 1000;
    }
    (void)world_step(world, in);
}

void life_roll(struct world *world)
{
    if (!dice_once_in(&world->lives, LIFE_ONCE_IN)) {
        return;
    }
    arena_clear(&world->arena);
    cloud_roll(world);
    const struct pool *pool = query_pool_named(world->core, names[dice_roll(&world->lives, NAMES)]);
    const uint32_t roll = dice_roll(&world->lives, 12);
    struct input in = {.type = INPUT_TICK};
    if (pool == NULL || roll == 0) {
        world->now_ms += pool == NULL ? 0 : POOL_RESTORE_MS / (1 + dice_roll(&world->lives, 3));
        (void)world_step(world, in);
        return;
    }
    in.type = roll < 3 ? INPUT_POOL_CLOSE : roll < 6 ? INPUT_POOL_DELETE : INPUT_POOL_RESTORE;
    in.pool.pool = pool->id;
    in.pool.force = !dice_once_in(&world->lives, 3);
    in.pool.kill = dice_once_in(&world->lives, 3);
    in.pool.now = dice_once_in(&world->lives, 6);
    (void)world_step(world, in);
}

static void pool_check(const struct world *world, const struct pool *pool)
{
    struct pool_standing now;
    life_standing(pool, &now);
    const bool open = pool->life.phase == PHASE_OPEN;
    law(open || now.health == HEALTH_UNAVAILABLE, "a pool that is not open is unavailable");
    law(now.nodes > 0 || now.health != HEALTH_DEGRADED, "a pool without nodes is not degraded");
    law(now.lost == 0 || now.health != HEALTH_RUNNING, "a pool that lost nodes says so");
    law(pool->life.phase != PHASE_DELETE || pool->pending_count == 0,
        "no task waits in the queue of a deleted pool");
    law(pool->life.phase != PHASE_DELETE || pool->life.goes || pool->launch_count > 0,
        "a deleted pool goes when its machines are gone");
    for (size_t i = 0; !open && i < world->facts.count; i++) {
        const struct fact *fact = &world->facts.at[i];
        if (fact->type == FACT_ALLOCATED) {
            const struct task *task = query_task(world->core, fact->allocated.key.task);
            law(task == NULL || task->pool.v != pool->id.v,
                "a pool that is not open starts no task");
        } else if (fact->type == FACT_LAUNCH_ASKED) {
            law(fact->launch.pool.v != pool->id.v, "a pool that is not open asks for no node");
        }
    }
}

void life_check(struct world *world)
{
    for (const struct pool *pool = query_pool_next(world->core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(world->core, pool->id)) {
        pool_check(world, pool);
    }
    for (const struct task *task = query_task_next(world->core, (task_id){0}); task != NULL;
         task = query_task_next(world->core, task->id)) {
        const bool there = pool_has_tasks(query_pool(world->core, task->pool));
        law(there || task->active_count > 0 || task->state == TASK_UNAVAILABLE ||
                task->state == TASK_PAUSED || task->state == TASK_STAGED ||
                task_state_ended(task->state),
            "the tasks of a deleted pool are unavailable");
        law(!there || task->state != TASK_UNAVAILABLE, "a task with a pool is available");
    }
}
