/* decide_launch.c - nodes that providers are asked for, and what the providers say of them.
 *
 * Answers are idempotent: one that says nothing new, comes late, or is about a launch that is not in
 * the table makes no fact. A machine whose launch has ended is not ended again from here: whoever
 * compares the provider's list with the table (the rule that grows and shrinks pools) does that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/decide_leave.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/verdict.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/query.h"

#include <string.h>

static enum verdict unknown(struct step *step, const char *what)
{
    step_refuse(step, REASON_UNKNOWN_OBJECT, what);
    return VERDICT_NOT_FOUND;
}

enum verdict decide_launch_ask(struct step *step)
{
    const struct pool *pool = query_pool(step->core, step->in->launch.pool);
    const uint32_t count = step->in->launch.count;
    if (pool == NULL) {
        return unknown(step, "pool");
    }
    if (pool->life.phase != PHASE_OPEN) {
        return decide_life_refuse(step, pool);
    }
    if (step->core->launches.count + count > LAUNCHES_MAX) {
        return step_refuse_limit(step, "launches", LAUNCHES_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct fact *fact = step_fact(step, FACT_LAUNCH_ASKED);
        fact->launch.launch.v = step->core->launches.last + 1 + i;
        fact->launch.pool = pool->id;
        fact->launch.zone = "";
    }
    return VERDICT_OK;
}

/* May the node be the one that the launch brought up? In a pool with a provider each node has one launch. */
static bool joins(const struct core *core, const struct launch *launch, const struct node *node)
{
    return !elastic_pool(query_pool(core, launch->pool)) ||
           (launch->node.v == 0 && node->launch.v == 0 && node->pool.v == launch->pool.v &&
            node->state != NODE_REMOVED);
}

/* A fact about a launch that says what its row says; the caller changes what is new. */
static struct fact *changed(struct step *step, const struct launch *launch)
{
    /* The row may go with the next fact: texts are kept. */
    const char *name = arena_str(step->out->arena, query_launch_name(launch));
    const char *words = arena_str(step->out->arena, query_launch_words(launch));
    const struct launch row = *launch;
    struct fact *fact = step_fact(step, FACT_LAUNCH_CHANGED);
    fact->launch.launch = row.id;
    fact->launch.pool = row.pool;
    fact->launch.node = row.node;
    fact->launch.state = (enum launch_state)row.state;
    fact->launch.name = name;
    fact->launch.words = words;
    return fact;
}

void decide_launch_end(struct step *step, const struct launch *launch, const char *words)
{
    if (launch->state != LAUNCH_ENDING) {
        struct fact *fact = changed(step, launch);
        fact->launch.state = LAUNCH_ENDING;
        fact->launch.words = words[0] != '\0' ? words : fact->launch.words;
    }
}

enum verdict decide_launch_stop(struct step *step)
{
    const struct launch *launch = query_launch(step->core, step->in->launch.launch);
    if (launch == NULL) {
        return unknown(step, "launch");
    }
    const struct node *node = query_node(step->core, launch->node);
    if (step->in->launch.requeue && node != NULL && node->instance_count > 0) {
        decide_leave_tasks(step, node->id, BUSY_REQUEUE);
    } else {
        decide_launch_end(step, launch, step->in->launch.requeue ? "its time is nearly over" : "");
    }
    return VERDICT_OK;
}

bool decide_launch_over(const struct core *core, const struct pool *pool, const char *name)
{
    uint64_t number;
    return elastic_pool(pool) &&
           elastic_node_number(query_pool_name(core, pool->id), name, &number) &&
           number <= core->launches.last && query_launch(core, (launch_id){number}) == NULL;
}

void decide_launch_node(struct step *step, const struct pool *pool, node_id node, const char *name)
{
    uint64_t number;
    if (!elastic_pool(pool) ||
        !elastic_node_number(query_pool_name(step->core, pool->id), name, &number)) {
        return;
    }
    /* A node that only comes back has joined before: no copy of the state is needed to see that. */
    const struct launch *launch = query_launch(step->core, (launch_id){number});
    if (launch == NULL || launch->node.v != 0) {
        return;
    }
    const struct core *core = step_state(step);
    launch = query_launch(core, (launch_id){number});
    if (launch != NULL && launch->pool.v == pool->id.v &&
        joins(core, launch, query_node(core, node))) {
        /* A machine that is to end takes no work, and its node goes with it. */
        const bool ending = launch->state == LAUNCH_ENDING;
        const char *lacks = elastic_short(pool, query_node(core, node));
        struct fact *fact = changed(step, launch);
        fact->launch.state = ending || lacks != NULL ? LAUNCH_ENDING : LAUNCH_RUNNING;
        fact->launch.node = node;
        if (!ending && lacks != NULL) {
            fact->launch.words = lacks;
        }
    }
}

void decide_launch_shrink(struct step *step, const struct core *core, pool_id id)
{
    const struct pool *pool = query_pool(core, id);
    const struct launch *launch = elastic_shrink_first(core, pool);
    must(launch != NULL);
    decide_launch_end(step, launch,
                      pool->life.phase != PHASE_OPEN ? "its pool was closed or deleted"
                      : pool->launch_live > pool->nodes_max
                          ? "the pool has more nodes than its maximum"
                          : "the node has had no work for long enough");
}

void decide_launch_late(struct step *step, const struct core *core, launch_id id)
{
    const struct launch *launch = query_launch(core, id);
    must(launch != NULL);
    decide_launch_end(step, launch, "its agent has not joined in time");
}

/* A provider's text, cut where it is too long: between characters. */
static const char *text_fit(struct step *step, const char *text)
{
    size_t len = text != NULL ? strlen(text) : 0;
    if (len <= TEXT_LEN_MAX) {
        return text != NULL ? text : "";
    }
    len = TEXT_LEN_MAX;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) {
        len--;
    }
    return arena_strn(step->out->arena, text, len);
}

static void ended(struct step *step, const struct launch *launch,
                  const struct provider_answer *answer)
{
    const struct launch row = *launch;
    const struct core *core = step->scratch != NULL ? step->scratch : step->core;
    const struct node *node = query_node(core, row.node);
    const bool node_goes = node != NULL && node->launch.v == row.id.v;
    const bool unasked = node_goes && row.state != LAUNCH_ENDING && node->state != NODE_LOST &&
                         !node->troubled && !node->spare;
    if (node_goes) {
        settle_node(step, row.node);
    }
    struct fact *fact = step_fact(step, FACT_LAUNCH_ENDED);
    fact->launch.launch = row.id;
    fact->launch.pool = row.pool;
    fact->launch.failed = answer->says == PROVIDER_FAILED;
    fact->launch.words = text_fit(step, answer->words);
    fact->launch.why = answer->says == PROVIDER_FAILED ? answer->why : PROVIDER_WHY_OTHER;
    if (node_goes && query_node(core, row.node)->state != NODE_REMOVED) {
        fact = step_fact(step, FACT_NODE_STATE);
        fact->node_state.node = row.node;
        fact->node_state.state = NODE_REMOVED;
    }
    if (unasked) {
        decide_leave_spare(step, row.pool, "the machine of another node has gone");
    }
}

/* The machine is on its way or up. Makes no fact where the row says all of this already. */
static void alive(struct step *step, const struct core *core, const struct launch *launch,
                  const struct provider_answer *answer)
{
    const enum launch_state said =
        answer->says == PROVIDER_RUNNING ? LAUNCH_RUNNING : LAUNCH_REQUESTED;
    const bool ending = launch->state == LAUNCH_ENDING;
    /* A machine that is to end and is still there: the provider may say why. */
    const bool why = ending && said == LAUNCH_RUNNING && text_fit(step, answer->words)[0] != '\0';
    if (said < (enum launch_state)launch->state && !why) {
        return; /* late, or the machine is to end anyway */
    }
    const enum launch_state state = ending ? LAUNCH_ENDING : said;
    const bool up =
        !ending && said == LAUNCH_RUNNING && answer->node != NULL && answer->node[0] != '\0';
    const struct node *node = up ? query_node_named(core, answer->node) : NULL;
    if (node != NULL && !joins(core, launch, node)) {
        node = NULL;
    }
    const node_id joined = node != NULL ? node->id : launch->node;
    const char *name = text_fit(step, answer->name);
    /* The words of a launch that leaves say why its node leaves, so the provider's words do not
     * replace them. */
    const bool leaves = !ending && launch->leave != LEAVE_NOT;
    const char *words = leaves ? arena_str(step->out->arena, query_launch_words(launch))
                               : text_fit(step, answer->words);
    name = name[0] != '\0' ? name : query_launch_name(launch);
    if (state == (enum launch_state)launch->state && joined.v == launch->node.v &&
        strcmp(name, query_launch_name(launch)) == 0 &&
        strcmp(words, query_launch_words(launch)) == 0) {
        return;
    }
    name = arena_str(step->out->arena, name);
    struct fact *fact = changed(step, launch);
    fact->launch.state = state;
    fact->launch.node = joined;
    fact->launch.name = name;
    fact->launch.words = words;
}

enum verdict decide_launch_provider(struct step *step)
{
    for (uint32_t i = 0; i < step->in->provider.count; i++) {
        const struct provider_answer *answer = &step->in->provider.answers[i];
        const struct core *core = step_state(step); /* the answers before it count */
        const struct launch *launch = query_launch(core, answer->launch);
        if (launch == NULL) {
            continue;
        }
        switch (answer->says) {
        case PROVIDER_REQUESTED:
        case PROVIDER_RUNNING:
            alive(step, core, launch, answer);
            break;
        case PROVIDER_FAILED:
        case PROVIDER_GONE:
            ended(step, launch, answer);
            break;
        }
    }
    return VERDICT_OK;
}
