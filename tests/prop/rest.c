/* rest.c - see rest.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rest.h"

#include "history_wait.h"
#include "oracle.h"
#include "tape.h"

enum { ROUNDS_MAX = 300, QUIET = 5 };

void rest_gangs(const struct core *core)
{
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        law(!oracle_grouped(core, task) || !oracle_groups_broken(core, task),
            "P2: what goes or comes of a gang leaves all of its groups with their minimum");
    }
}

bool rest_pass(struct world *world, pool_id pool)
{
    struct input in = {.type = INPUT_PASS};
    in.pass.pool = pool;
    in.pass.work_max = UINT64_MAX;
    law(world_step(world, in) == VERDICT_OK, "a pass is never refused");
    rest_gangs(world->core);
    return world->facts.count > 0;
}

static bool instance_answers(struct world *world, const struct instance *instance)
{
    if (instance->state != INSTANCE_STARTING && instance->state != INSTANCE_STOPPING) {
        return false;
    }
    const struct report report = {
        .type = instance->state == INSTANCE_STARTING ? REPORT_STARTED : REPORT_ENDED,
        .key = {instance->task, instance->index, instance->attempt},
        .incarnation = instance->incarnation,
        .at_ms = world->now_ms,
        .exit_code = instance->state == INSTANCE_STARTING ? 0 : 143,
    };
    struct input in = {.type = INPUT_REPORT};
    in.report.node = instance->node;
    in.report.reports = &report;
    in.report.count = 1;
    (void)world_step(world, in);
    return true;
}

bool rest_answer(struct world *world, bool all)
{
    bool any = false;
    task_id next = {0};
    tape_does(world, "answer", all, world->dice.state);
    for (const struct task *task = query_task_next(world->core, next); task != NULL;
         task = query_task_next(world->core, next)) {
        next = task->id;
        const uint32_t count = task->instance_count;
        for (uint32_t i = 0; i < count && query_task(world->core, next) != NULL; i++) {
            if (all || dice_once_in(&world->dice, 2)) {
                any |= instance_answers(world, query_instance(world->core, next, i));
            }
        }
    }
    tape_done(world);
    return any;
}

/* Does an instance get or lose a place? Holders may come and go for ever, as the idle budget can pay. */
static bool rest_moved(const struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        const enum fact_type type = facts->at[i].type;
        if (type == FACT_ALLOCATED || type == FACT_CLAIMED || type == FACT_EVICTED ||
            type == FACT_CLAIM_DROPPED) {
            return true;
        }
    }
    return false;
}

void rest_reach(struct world *world, pool_id pool)
{
    tape_does(world, "rest", pool.v, 0);
    uint32_t quiet = 0;
    for (uint32_t round = 0; quiet < QUIET; round++) {
        const struct pool *row = query_pool(world->core, pool);
        if (round == ROUNDS_MAX && row->turn_ms > 0) {
            break; /* turns go on for ever while tasks wait that never end */
        }
        law(round < ROUNDS_MAX, "P6: taking back comes to an end");
        world->now_ms += 1000;
        const bool decided = rest_pass(world, pool);
        const bool moved = rest_moved(&world->facts);
        const bool answered = rest_answer(world, true);
        const int64_t wake_ms = row->wake_ms;
        if (!decided && !answered && wake_ms != 0) {
            waits_check(world, pool);
            world->now_ms = wake_ms - 1000 > world->now_ms ? wake_ms - 1000 : world->now_ms;
        }
        quiet = moved || answered ? 0 : quiet + 1;
    }
    tape_done(world);
}
