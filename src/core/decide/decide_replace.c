/* decide_replace.c - the nodes of a pool are replaced, some at a time.
 *
 *   replace ─▶ the next node leaves ─▶ the pool asks for another ─▶ both are done ─▶ the next node … ─▶ all are replaced
 *                                       └─ the provider fails ─▶ the replacement stops, with the provider's words
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/decide_leave.h"
#include "core/decide/step.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/table.h"
#include "core/model/verdict.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/query.h"

static void replacing(struct step *step, pool_id pool, const struct replacement *row,
                      const char *words)
{
    struct fact *fact = step_fact(step, FACT_POOL_REPLACING);
    fact->replacing.pool = pool;
    fact->replacing.row = *row;
    fact->replacing.words = words;
}

/* The next node behind `after` that is replaced; NULL: there is none. */
static const struct launch *next_of(const struct core *core, pool_id pool, launch_id after,
                                    launch_id upto)
{
    const struct launch *launch = query_launch_next(core, after);
    for (; launch != NULL && launch->id.v <= upto.v; launch = query_launch_next(core, launch->id)) {
        if (launch->pool.v == pool.v && launch->node.v != 0 && launch->state != LAUNCH_ENDING &&
            launch->leave == LEAVE_NOT && !launch->locked) {
            return launch;
        }
    }
    return NULL;
}

enum verdict decide_replace(struct step *step)
{
    const struct core *core = step->core;
    const struct pool *pool = query_pool(core, step->in->replace.pool);
    if (pool == NULL) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "pool")->pool = step->in->replace.pool;
        return VERDICT_NOT_FOUND;
    }
    if (!elastic_pool(pool)) {
        step_refuse(step, REASON_WRONG_STATE, "without a provider of its nodes")->pool = pool->id;
        return VERDICT_CONFLICT;
    }
    if (pool->life.phase != PHASE_OPEN) {
        return decide_life_refuse(step, pool);
    }
    if (step->in->replace.at_once > POOL_NODES_MAX) {
        return step_refuse_limit(step, "nodes at once", POOL_NODES_MAX);
    }
    struct replacement row = pool->replacement;
    if (step->in->replace.at_once == 0) {
        row.at_once = 0;
        if (pool->replacement.at_once > 0) {
            replacing(step, pool->id, &row, "a user stopped the replacement");
        }
        return VERDICT_OK;
    }
    row = (struct replacement){.at_once = step->in->replace.at_once,
                               .busy = step->in->replace.busy,
                               .upto = {core->launches.last},
                               .since_ms = step->in->now_ms};
    const struct launch *launch = next_of(core, pool->id, (launch_id){0}, row.upto);
    for (; launch != NULL; launch = next_of(core, pool->id, launch->id, row.upto)) {
        row.total++;
    }
    replacing(step, pool->id, &row, "");
    return VERDICT_OK;
}

void decide_replace_next(struct step *step, const struct core *core, pool_id id)
{
    const struct pool *pool = query_pool(core, id);
    must(pool != NULL);
    struct replacement row = pool->replacement;
    must(row.at_once > 0);
    if (pool->launch_failures > 0) {
        const char *said = query_pool_refusal(pool);
        row.at_once = 0;
        replacing(step, id, &row,
                  said[0] != '\0' ? arena_str(step->out->arena, said)
                                  : "the provider brought up no other node");
        return;
    }
    if (row.cursor.v >= row.upto.v) {
        row.at_once = 0;
        replacing(step, id, &row, "all nodes are replaced");
        return;
    }
    const struct launch *launch = next_of(core, id, row.cursor, row.upto);
    if (launch == NULL) {
        row.cursor = row.upto;
        replacing(step, id, &row, "");
        return;
    }
    const node_id node = launch->node;
    row.cursor = launch->id;
    row.begun++;
    replacing(step, id, &row, "");
    decide_leave_node(step, node,
                      &(struct leaving){.leave = LEAVE_REPLACED,
                                        .busy = (enum busy)row.busy,
                                        .words = "another node takes its place"});
}
