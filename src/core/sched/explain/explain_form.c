/* explain_form.c - gangs with topology or groups: which of them can never run (P9), and why one of them waits.
 *
 * The search for the places of one leaf is exact: if the search finds none, there are none. The search for places of several
 * different leaves is not exact. So a gang is refused, or told that it does not fit, only because of one leaf.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_form.h"

#include "base/arena.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/blob.h"
#include "core/model/form.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/vector.h"
#include "core/sched/explain/explain.h"
#include "core/sched/keep/first_bound.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/view.h"
#include "core/sched/place/arrange.h"
#include "core/sched/place/empty_nodes.h"
#include "core/sched/place/form_open.h"
#include "core/sched/place/nodeset.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/place_form.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/topology.h"

#include <string.h>

/* ---- gangs that can never run ---- */

/* Does the pool's topology have all levels that the form names? */
static bool levels_known(const struct pool *pool, const struct form *form, struct reason *ret)
{
    must(form->group_count <= TASK_GROUPS_MAX + 1);
    for (uint32_t i = 0; i < 2 * form->group_count; i++) {
        const struct form_group *group = &form->groups[i / 2];
        const char *name = i % 2 == 0 ? group->required : group->preferred;
        uint32_t level;
        if (name[0] != '\0' && !topology_level(pool, name, &level)) {
            *ret = (struct reason){.code = REASON_UNKNOWN_LEVEL, .pool = pool->id, .smallest = -1};
            (void)str_copy(ret->text, sizeof ret->text, name);
            return false;
        }
    }
    return true;
}

/* The smallest group around a leaf that requires a level; group_count: no group around it does. */
static uint32_t requiring(const struct form *form, uint32_t leaf)
{
    uint32_t group = leaf;
    while (form->groups[group].required[0] == '\0') {
        if (group == 0) {
            return form->group_count;
        }
        must(form->groups[group].parent < group); /* a parent stands before its groups */
        group = form->groups[group].parent;
    }
    return group;
}

/* Writes "rack=7" into the reason; the level alone where there is no such domain. */
static void domain_text(const struct core *core, const char *level, domain_id domain,
                        struct reason *ret)
{
    must(level[0] != '\0');
    const struct domain *row = topology_domain(core, domain);
    (void)str_copy(ret->text, sizeof ret->text, level);
    if (row == NULL) {
        return;
    }
    const size_t len = strlen(ret->text);
    const char *value = blob_bytes(row->value).p;
    if (len + 1 < sizeof ret->text) {
        ret->text[len] = '=';
        for (size_t i = 0; len + 1 + i < sizeof ret->text - 1 && value[i] != '\0'; i++) {
            ret->text[len + 1 + i] = value[i];
        }
    }
}

/* Could the minimum of one leaf run together, within the levels that are required of it, if nothing else ran? */
static bool leaf_possible(const struct core *core, const struct pool *pool, const struct form *form,
                          uint32_t leaf, struct reason *ret)
{
    const struct form_group *own = &form->groups[leaf];
    must(leaf < form->group_count);
    must(own->below == 0);
    const uint32_t group = requiring(form, leaf);
    const bool anywhere = group == form->group_count;
    if (!explain_possible(core, pool, &own->request, anywhere ? own->min : 1, ret)) {
        return false;
    }
    if (anywhere) {
        return true;
    }
    struct arena arena;
    arena_init(&arena);
    uint32_t *indices = arena_new(&arena, uint32_t, own->min);
    for (uint32_t i = 0; i < own->min; i++) {
        indices[i] = own->first + i;
    }
    struct nodeset *empty_nodes =
        empty_nodes_new(core, pool, form, NULL, EMPTY_NODES_JOINED, &arena);
    const bool possible = arrange(empty_nodes, indices, own->min) == ARRANGE_DONE;
    if (!possible) {
        domain_id closest;
        const uint32_t have = arrange_closest(empty_nodes, group, indices, own->min, &closest);
        *ret = (struct reason){.code = REASON_DOMAIN_TOO_SMALL,
                               .pool = pool->id,
                               .have = have,
                               .need = own->min,
                               .smallest = have > 0 ? (int64_t)have : -1};
        domain_text(core, form->groups[group].required, closest, ret);
    }
    arena_done(&arena);
    return possible;
}

/* Is each leaf possible alone, or at least as many groups as the minimums of the groups above ask for? */
static bool groups_possible(const struct core *core, const struct pool *pool,
                            const struct form *form, struct reason *ret, uint32_t *ret_group)
{
    uint32_t possible[TASK_GROUPS_MAX + 1] = {0}; /* by group: groups below that can run */
    must(form->group_count > 0);
    must(form->group_count <= TASK_GROUPS_MAX + 1);
    struct reason first = *ret;
    bool own = true;
    for (uint32_t i = form->group_count; i > 0; i--) {
        const struct form_group *group = &form->groups[i - 1];
        own = group->below > 0 ? possible[i - 1] >= group->min
                               : leaf_possible(core, pool, form, i - 1, &first);
        *ret_group = group->below == 0 && !own ? i - 1 : *ret_group;
        possible[group->parent] += own && i > 1;
    }
    *ret = own ? *ret : first;
    return own;
}

/* Can one instance of every group ever run in the pool, each alone? False: `*ret_group` is a group whose instance cannot, and the
 * reason says why. For a pool without nodes. */
static bool leaves_possible(const struct core *core, const struct pool *pool,
                            const struct form *form, struct reason *ret, uint32_t *ret_group)
{
    for (uint32_t i = 0; i < form->group_count; i++) {
        if (form->groups[i].below == 0 &&
            !explain_possible(core, pool, &form->groups[i].request, 1, ret)) {
            *ret_group = i;
            return false;
        }
    }
    return true;
}

bool explain_form_possible(const struct core *core, const struct pool *pool,
                           const struct form *form, struct reason *ret, uint32_t *ret_group)
{
    *ret_group = 0;
    if (!levels_known(pool, form, ret)) {
        return false;
    }
    if (pool->node_count == 0) {
        return pool_slots_most(pool) > 0 || leaves_possible(core, pool, form, ret, ret_group);
    }
    return groups_possible(core, pool, form, ret, ret_group);
}

/* ---- why a gang waits ---- */

/* An asker for places, bounded by what the task's accounts may still take. */
static struct asker *asker_new(struct trial *trial, const struct task *task)
{
    struct asker *asker = arena_new(trial->arena, struct asker, 1);
    *asker = (struct asker){.task = task,
                            .request = &query_task_shape(trial->core, task->shape)->request,
                            .end_ms = INT64_MAX};
    asker->bounded = tally_left(&trial->tally, task, VIEW_NOW, &asker->left);
    return asker;
}

/* Do these instances find places now? The trial is as it was afterwards. */
static enum arrange_result look_place(struct trial *trial, const struct task *task,
                                      const uint32_t *indices, uint32_t count)
{
    must(count > 0);
    const size_t mark = trial_mark(trial);
    const struct node **places = arena_new(trial->arena, const struct node *, count);
    const enum arrange_result result =
        place_form(trial, asker_new(trial, task), indices, count, places);
    trial_rollback(trial, mark);
    return result;
}

/* Is the quota or the right that these instances need kept for another task? Of the first choice the caller knows the answer. */
static bool choice_held(struct trial *trial, const struct task *task, const uint32_t *indices,
                        uint32_t count)
{
    const struct okey key = key_account_queue(task);
    struct vector amounts;
    bool any;
    form_chunk_amounts(trial->core, task, indices, count, SLOTS_LEAST, &amounts);
    return first_bound_ahead(trial, task, &amounts, &any) != NULL ||
           rights_held(trial, task, &key, &amounts) != NULL;
}

/* Does some choice of the task's next instances find its places? */
static bool look_starts(struct trial *trial, const struct task *task)
{
    uint32_t *indices = arena_new(trial->arena, uint32_t, task->instance_count);
    const struct node **at = place_form_known(trial, task);
    uint32_t count = form_chunk(trial->core, task, at, 0, indices);
    for (uint32_t choice = 0; count > 0;
         count = form_chunk(trial->core, task, at, ++choice, indices)) {
        must(count <= task->instance_count);
        if (form_open(trial, task, indices, count) &&
            (choice == 0 || !choice_held(trial, task, indices, count)) &&
            look_place(trial, task, indices, count) == ARRANGE_DONE) {
            return true;
        }
    }
    return false;
}

/* Would the gang start if no places were kept? */
static bool look_kept(const struct trial *like, const struct task *task)
{
    struct trial bare;
    trial_init(&bare, like->core, like->pool, like->arena);
    const bool starts = look_starts(&bare, task);
    trial_done(&bare);
    return starts;
}

/* Finds the first leaf whose instances alone find no places. The leaf's instances are in `indices` from `*ret_from` on. Returns
 * their number; 0: each leaf alone finds places. */
static uint32_t leaf_stuck(struct trial *trial, const struct task *task, const struct form *form,
                           const uint32_t *indices, uint32_t count, uint32_t *ret_from)
{
    uint32_t from = 0;
    while (from < count) {
        const struct form_group *leaf = form_leaf(form, indices[from]);
        uint32_t to = from;
        while (to < count && form_leaf(form, indices[to]) == leaf) {
            to++;
        }
        must(to > from);
        if (look_place(trial, task, &indices[from], to - from) != ARRANGE_DONE) {
            *ret_from = from;
            return to - from;
        }
        from = to;
    }
    *ret_from = 0;
    return 0;
}

/* Why these instances of one leaf find no places: an unknown level, a leaf that can never run, or no domain with enough room. No
 * reason where no level is required. */
static void reason_topology(struct trial *trial, const struct task *task, const uint32_t *indices,
                            uint32_t count, struct reason *ret)
{
    const struct core *core = trial->core;
    const struct pool *pool = query_pool(core, trial->pool);
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    must(count > 0);
    const uint32_t leaf = (uint32_t)(form_leaf(form, indices[0]) - form->groups);
    const uint32_t group = requiring(form, leaf);
    if (!levels_known(pool, form, ret) || !leaf_possible(core, pool, form, leaf, ret) ||
        group == form->group_count) {
        return;
    }
    domain_id closest;
    ret->code = REASON_TOPOLOGY;
    ret->need = count;
    ret->have = place_form_closest(trial, asker_new(trial, task), group, indices, count, &closest);
    domain_text(core, form->groups[group].required, closest, ret);
}

void explain_form(struct trial *trial, const struct task *task, const struct task *holder,
                  struct form_look *ret)
{
    const struct core *core = trial->core;
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    uint32_t *indices = arena_new(trial->arena, uint32_t, task->instance_count);
    const uint32_t count = form_chunk(core, task, place_form_known(trial, task), 0, indices);
    must(count > 0);
    *ret = (struct form_look){.starts = look_starts(trial, task)};
    ret->reason = (struct reason){.pool = task->pool, .smallest = -1};
    uint32_t from = 0;
    const uint32_t stuck = ret->starts ? 0 : leaf_stuck(trial, task, form, indices, count, &from);
    ret->request = form_leaf(form, indices[from])->request;
    ret->group = stuck > 0 ? (uint32_t)(form_leaf(form, indices[from]) - form->groups) : 0;
    ret->count = stuck > 0 ? stuck : 1;
    if (ret->starts) {
        ret->reason.code = REASON_NEXT;
    } else if (holder != NULL && look_kept(trial, task)) {
        ret->reason.code = REASON_RESERVED;
        ret->reason.task = holder->id;
    } else if (stuck > 0) {
        reason_topology(trial, task, &indices[from], stuck, &ret->reason);
    } else {
        ret->reason.code = REASON_NOT_FOUND;
        ret->reason.need = count;
    }
}

void explain_form_group(const struct trial *trial, const struct task *task, uint32_t group,
                        struct reason *ret)
{
    if (group > 0) {
        struct task_spec spec;
        query_task_spec(trial->core, task->id, trial->arena, &spec);
        must(str_copy(ret->group, sizeof ret->group, spec.groups[group - 1].name));
    }
}
