/* pieces_cut.c - cuts a gang into the pieces in which it leaves.
 *
 *   instances that stay   0 1 2 3 4 5     minimum 4, or groups {0 1 2} and {3 4 5} with a minimum of 2 each
 *   pieces                5 · 4 · 0–3                       5 · 2 · 0 1 3 4
 *
 * Pieces above a minimum leave in this order, whatever each loses. The loss of such a piece is raised to the loss of the piece
 * before, so that sorting by loss gives this order, too.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/model/form.h"
#include "core/model/form_grow.h"
#include "core/model/instance.h"
#include "core/model/limits.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/take/pieces.h"
#include "core/state/gang.h"
#include "core/state/query.h"
#include "core/state/state.h"

void pieces_cut_add(const struct piece_cache *cache, const struct instance *instance,
                    struct piece *piece)
{
    must(instance_stays(instance));
    const struct core *core = cache->core;
    const int64_t since_ms =
        instance->state == INSTANCE_RUNNING ? instance->started_ms : instance->allocated_ms;
    const int64_t from_ms = instance_unsaved_ms(instance);
    const int64_t held_ms = cache->now_ms > from_ms ? cache->now_ms - from_ms : 0;
    const int64_t held = instance->slots_milli > 0 ? instance->slots_milli : instance->cpu_milli;
    struct vector amounts;
    query_dim_grant(core, query_instance_request(core, instance), instance->slots_milli,
                    instance->cpu_milli, instance->memory_bytes, &amounts);
    vector_add(&piece->amounts, &amounts);
    piece->loss += (unsigned __int128)(held + 1) * (uint64_t)(held_ms + EVICTION_COST_MS);
    const int64_t age_ms = cache->now_ms - since_ms;
    piece->since_ms = since_ms > piece->since_ms ? since_ms : piece->since_ms;
    piece->age_ms = age_ms > piece->age_ms ? age_ms : piece->age_ms;
    piece->index = piece->index < instance->index ? instance->index : piece->index;
    piece->count++;
}

bool pieces_cut_has(const struct piece *piece, uint32_t index)
{
    for (uint32_t i = 0; piece->members != NULL && i < piece->count; i++) {
        if (piece->members[i] == index) {
            return true;
        }
    }
    return false;
}

bool pieces_cut_before(const struct piece *other, const struct piece *piece)
{
    return other->extra &&
           (piece->whole || (piece->place > other->place && other->index >= piece->from &&
                             other->index < piece->to));
}

/* A gang without minimums of groups. Each instance above the minimum is a piece, the highest first; the rest of the gang is one. */
static struct piece *plain_cut(const struct piece_cache *cache, const struct account_view *account,
                               const struct task *task, uint32_t *ret_count)
{
    must(task->gang);
    must(task->stopping_count <= task->active_count);
    const uint32_t grown = task_grown(task);
    const uint32_t extra = grown > task->min_count ? grown - task->min_count : 0;
    uint32_t left = task->active_count - task->stopping_count;
    const uint32_t least = extra < left ? left - extra : 0;
    const uint32_t count = left - least + (least > 0);
    struct piece *pieces = arena_new(cache->arena, struct piece, count);
    struct piece *next = pieces;
    unsigned __int128 loss = 0;
    for (uint32_t i = task->instance_count; i > 0 && left > 0; i--) {
        const struct instance *instance = query_instance(cache->core, task->id, i - 1);
        if (!instance_stays(instance)) {
            continue;
        }
        struct piece *piece = left > least ? next++ : &pieces[count - 1];
        piece->task = task;
        piece->account = account;
        piece->extra = left > least;
        piece->whole = !piece->extra;
        pieces_cut_add(cache, instance, piece);
        if (piece->extra) {
            loss = loss > piece->loss ? loss : piece->loss;
            piece->loss = loss;
        }
        left--;
    }
    must(left == 0);
    *ret_count = count;
    return pieces;
}

/* ---- gangs whose groups have minimums ---- */

/* A gang that is being cut. */
struct cut {
    const struct piece_cache *cache;
    const struct task *task;
    const struct form *form;
    struct form_have have;  /* by group: what gang_have() counts, less what was cut off */
    struct form_have stays; /* by group: instances that stay, less what was cut off */
    uint32_t
        ends[TASK_GROUPS_MAX + 1]; /* by leaf: its last instance that is not cut off, plus one */
};

/* Cuts off a piece: `take->at[leaf]` instances of each leaf, the highest first. */
static void piece_fill(struct cut *cut, const struct form_have *take, struct piece *piece)
{
    const struct form *form = cut->form;
    uint32_t count = 0;
    for (uint32_t i = 0; i < form->group_count; i++) {
        count += form->groups[i].below > 0 ? 0 : take->at[i];
    }
    uint32_t *members = arena_new(cut->cache->arena, uint32_t, count);
    piece->members = members;
    for (uint32_t i = form->group_count; i > 0; i--) {
        const uint32_t leaf = i - 1;
        uint32_t left = form->groups[leaf].below > 0 ? 0 : take->at[leaf];
        cut->have.at[leaf] -= left;
        cut->stays.at[leaf] -= left;
        while (left > 0) {
            must(cut->ends[leaf] > form->groups[leaf].first);
            const struct instance *instance =
                query_instance(cut->cache->core, cut->task->id, --cut->ends[leaf]);
            if (instance_stays(instance)) {
                members[--count] = instance->index;
                pieces_cut_add(cut->cache, instance, piece);
                left--;
            }
        }
    }
    must(count == 0);
}

/* Sets each_milli. All pieces above a minimum get the smallest value, so that an order for a need does not change their order. */
static void each_set(struct piece *pieces, uint32_t count)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        must(pieces[i].count > 0);
        pieces[i].each_milli = pieces[i].amounts.at[DIM_SLOTS] / pieces[i].count;
        least = pieces[i].extra && pieces[i].each_milli < least ? pieces[i].each_milli : least;
    }
    for (uint32_t i = 0; i < count; i++) {
        pieces[i].each_milli = pieces[i].extra ? least : pieces[i].each_milli;
    }
}

static struct piece *groups_cut(const struct piece_cache *cache, const struct account_view *account,
                                const struct task *task, uint32_t *ret_count)
{
    struct cut cut = {.cache = cache, .task = task};
    const uint32_t stays = task->active_count - task->stopping_count;
    struct piece *pieces = arena_new(cache->arena, struct piece, stays);
    uint32_t count = 0;
    uint32_t left = stays;
    unsigned __int128 loss = 0;
    cut.form = shape_form(query_task_shape(cache->core, task->shape));
    must(cut.form != NULL); /* only a form has groups with minimums */
    gang_have(cache->core, task, &cut.have, &cut.stays);
    for (uint32_t i = 0; i < cut.form->group_count; i++) {
        cut.ends[i] = cut.form->groups[i].first + cut.form->groups[i].count;
    }
    while (left > 0) {
        struct form_have take;
        uint32_t group = 0;
        const bool extra = form_grow_shrink(cut.form, &cut.have, &cut.stays, &take, &group);
        struct piece *piece = &pieces[count];
        *piece = (struct piece){
            .task = task, .account = account, .place = count++, .extra = extra, .whole = !extra};
        take = extra ? take : cut.stays;
        piece_fill(&cut, &take, piece);
        if (extra && piece->count > 1) {
            piece->from = cut.form->groups[group].first;
            piece->to = piece->from + cut.form->groups[group].count;
        }
        must(piece->count > 0);
        must(piece->count <= left);
        left -= piece->count;
        if (extra) {
            loss = loss > piece->loss ? loss : piece->loss;
            piece->loss = loss;
        }
    }
    each_set(pieces, count);
    *ret_count = count;
    return pieces;
}

struct piece *pieces_cut_gang(const struct piece_cache *cache, const struct account_view *account,
                              const struct task *task, uint32_t *ret_count)
{
    return task->by_groups ? groups_cut(cache, account, task, ret_count)
                           : plain_cut(cache, account, task, ret_count);
}
