/* trial.c - the entries of a trial, the way back to a mark, and the facts of the entries.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/trial.h"

#include "base/must.h"
#include "core/model/instance.h"
#include "core/model/resource.h"
#include "core/sched/order/share_tree.h"
#include "core/sched/order/shares.h"
#include "core/sched/order/view.h"
#include "core/state/ports.h"
#include "core/state/query.h"

enum { DECISIONS_FIRST = 8 };

static void begin(struct trial *trial, const struct core *core, pool_id pool, struct shares *shares,
                  struct arena *arena)
{
    *trial = (struct trial){.core = core, .pool = pool, .arena = arena};
    overlay_init(&trial->overlay, core, pool, arena);
    tally_init(&trial->tally, core, pool, shares, arena);
}

void trial_init(struct trial *trial, const struct core *core, pool_id pool, struct arena *arena)
{
    begin(trial, core, pool, shares_compute(core, pool, arena), arena);
}

void trial_init_kept(struct trial *trial, const struct core *core, pool_id pool,
                     struct arena *arena)
{
    struct share_tree *tree = share_tree_open(core, pool);
    begin(trial, core, pool,
          tree != NULL ? share_tree_shares(tree) : shares_compute(core, pool, arena), arena);
}

void trial_done(struct trial *trial)
{
    overlay_done(&trial->overlay);
    tally_done(&trial->tally);
}

static struct decision *decision_add(struct trial *trial, enum decision_kind kind)
{
    if (trial->count == trial->room) {
        const size_t room = trial->room == 0 ? DECISIONS_FIRST : trial->room * 2;
        struct decision *grown = arena_new(trial->arena, struct decision, room);
        for (size_t i = 0; i < trial->count; i++) {
            grown[i] = trial->decisions[i];
        }
        trial->decisions = grown;
        trial->room = room;
    }
    must(trial->count < trial->room);
    struct decision *decision = &trial->decisions[trial->count++];
    *decision = (struct decision){.kind = kind};
    return decision;
}

static void amounts_fill(const struct core *core, struct decision *decision)
{
    const struct request *request = query_task_request(core, decision->task, decision->index);
    const struct grant *grant = &decision->grant;
    query_dim_grant(core, request, grant->slots_milli, grant->cpu_milli, grant->memory_bytes,
                    &decision->amounts);
}

void trial_place(struct trial *trial, const struct asker *asker, const struct node *node,
                 uint32_t index)
{
    must(node->pool.v == trial->pool.v);
    const bool claim = asker->view == VIEW_LATER;
    struct decision *decision = decision_add(trial, claim ? DECISION_CLAIM : DECISION_START);
    decision->task = asker->task;
    decision->index = index;
    decision->node = node;
    decision->grant = overlay_take(&trial->overlay, node, asker, index)->grant;
    amounts_fill(trial->core, decision);
    if (!claim) {
        tally_move(&trial->tally, decision->task, VIEW_NOW, &decision->amounts, 1);
    }
    tally_move(&trial->tally, decision->task, VIEW_LATER, &decision->amounts, 1);
}

/* Counts as free, once all leaving instances have left, what the entry's instance holds or what its claim promises. */
static void later_give(struct trial *trial, struct decision *decision)
{
    const struct request *request =
        query_task_request(trial->core, decision->task, decision->index);
    amounts_fill(trial->core, decision);
    overlay_leave(&trial->overlay, decision->node, request, &decision->grant, decision->reuse);
    tally_move(&trial->tally, decision->task, VIEW_LATER, &decision->amounts, -1);
}

void trial_evict(struct trial *trial, const struct instance *instance, const struct eviction *why,
                 bool reuse)
{
    must(instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING);
    struct decision *decision = decision_add(trial, DECISION_EVICT);
    decision->task = query_task(trial->core, instance->task);
    decision->index = instance->index;
    decision->node = query_node(trial->core, instance->node);
    decision->grant = instance_grant(instance);
    decision->why = why;
    decision->reuse = reuse;
    later_give(trial, decision);
}

void trial_unclaim(struct trial *trial, const struct task *task, uint32_t index, bool moved)
{
    const struct claim *claim = query_instance_claim(trial->core, task->id, index);
    must(claim != NULL);
    struct decision *decision = decision_add(trial, DECISION_UNCLAIM);
    decision->task = task;
    decision->index = index;
    decision->moved = moved;
    decision->node = query_node(trial->core, claim->node);
    decision->grant = claim_grant(claim);
    later_give(trial, decision);
}

/* ---- taking back ---- */

size_t trial_mark(const struct trial *trial)
{
    return trial->count;
}

static void decision_undo(struct trial *trial, const struct decision *decision)
{
    must(decision->node != NULL);
    const struct request *request =
        query_task_request(trial->core, decision->task, decision->index);
    switch (decision->kind) {
    case DECISION_START:
        tally_move(&trial->tally, decision->task, VIEW_NOW, &decision->amounts, -1);
        tally_move(&trial->tally, decision->task, VIEW_LATER, &decision->amounts, -1);
        overlay_undo(&trial->overlay, decision->node);
        return;
    case DECISION_CLAIM:
        tally_move(&trial->tally, decision->task, VIEW_LATER, &decision->amounts, -1);
        overlay_undo(&trial->overlay, decision->node);
        return;
    case DECISION_EVICT:
    case DECISION_UNCLAIM:
        tally_move(&trial->tally, decision->task, VIEW_LATER, &decision->amounts, 1);
        overlay_stay(&trial->overlay, decision->node, request, &decision->grant, decision->reuse);
        return;
    }
}

void trial_rollback(struct trial *trial, size_t mark)
{
    must(mark <= trial->count);
    while (trial->count > mark) {
        decision_undo(trial, &trial->decisions[--trial->count]);
    }
}

/* ---- facts ---- */

static void place_fact(const struct trial *trial, const struct decision *decision,
                       struct fact *fact)
{
    const struct instance *instance =
        query_instance(trial->core, decision->task->id, decision->index);
    must(instance != NULL);
    fact->allocated.key =
        (struct attempt_key){decision->task->id, decision->index, instance->attempt + 1};
    fact->allocated.node = decision->node->id;
    fact->allocated.incarnation = decision->node->incarnation;
    fact->allocated.devices = decision->grant.devices;
    fact->allocated.slots_milli = decision->grant.slots_milli;
    fact->allocated.cpu_milli = decision->grant.cpu_milli;
    fact->allocated.memory_bytes = decision->grant.memory_bytes;
}

static void evict_fact(const struct trial *trial, const struct decision *decision,
                       const struct input *in, struct fact *fact)
{
    const struct instance *instance =
        query_instance(trial->core, decision->task->id, decision->index);
    must(instance != NULL);
    must(decision->why != NULL);
    fact->evicted.key =
        (struct attempt_key){decision->task->id, decision->index, instance->attempt};
    fact->evicted.deadline_ms = in->now_ms + decision->task->grace_ms;
    fact->evicted.why = *decision->why;
}

/* Gives the start of instance 0 of a gang a port. `given` has the ports of the trial's earlier
 * starts, and gets this one. */
static void port_fact(const struct trial *trial, const struct decision *decision,
                      struct ports_given *given, struct fact *fact)
{
    const struct task *task = decision->task;
    if (!ports_holder(task, decision->index)) {
        return;
    }
    if (given->at == NULL) {
        *given = ports_given_make(trial->arena, trial->count);
    }
    fact->allocated.master_port = ports_pick(trial->core, decision->node->id, task->id, given);
    ports_given_add(given, decision->node->id, fact->allocated.master_port);
}

uint32_t trial_facts(const struct trial *trial, const struct input *in, struct facts *out)
{
    uint32_t starts = 0;
    struct ports_given given = {0};
    for (size_t i = 0; i < trial->count; i++) {
        const struct decision *decision = &trial->decisions[i];
        struct fact *fact;
        switch (decision->kind) {
        case DECISION_START:
            fact = fact_list_add(out, in, FACT_ALLOCATED);
            place_fact(trial, decision, fact);
            port_fact(trial, decision, &given, fact);
            starts++;
            break;
        case DECISION_CLAIM:
            place_fact(trial, decision, fact_list_add(out, in, FACT_CLAIMED));
            break;
        case DECISION_EVICT:
            evict_fact(trial, decision, in, fact_list_add(out, in, FACT_EVICTED));
            break;
        case DECISION_UNCLAIM:
            if (!decision->moved) {
                fact = fact_list_add(out, in, FACT_CLAIM_DROPPED);
                fact->claim_dropped.task = decision->task->id;
                fact->claim_dropped.index = decision->index;
            }
            break;
        }
    }
    return starts;
}
