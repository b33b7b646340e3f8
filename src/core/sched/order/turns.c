/* turns.c - one heap of accounts for each level of the tree. Only the policy `fair-share` uses the tree; under the other policies all
 * projects stand directly below the root.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/turns.h"

#include "base/heap.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/model/account.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/shares.h"
#include "core/state/key.h"

#include <string.h>

uint32_t turns_chunk(const struct task *task, uint32_t added)
{
    const uint32_t grown = task_grown(task) + added;
    return task->gang && !task->by_groups && grown < task->min_count ? task->min_count - grown : 1;
}

void turns_amounts(const struct core *core, const struct task *task, uint32_t count,
                   enum slots_bound bound, struct vector *ret)
{
    const struct request *request = &query_task_shape(core, task->shape)->request;
    query_dim_request(core, request, ret);
    ret->at[DIM_SLOTS] = query_dim_slots(core, task->pool, request, bound);
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX && count > 1; dim++) {
        int64_t product;
        const bool wraps = __builtin_mul_overflow(ret->at[dim], (int64_t)count, &product);
        ret->at[dim] = wraps || product > QUOTA_SUM_MAX ? QUOTA_SUM_MAX : product;
    }
}

const struct shape_note *turns_note(const struct core *core, struct shape_note *note,
                                    const struct task *task)
{
    if (!note->amounts_known) {
        const struct shape *shape = query_task_shape(core, task->shape);
        note->amounts_known = true;
        note->plain = shape->form == NULL && shape->gang_size == 1;
        turns_amounts(core, task, 1, SLOTS_MOST, &note->amounts);
    }
    return note;
}

/* ---- comparing ---- */

/* Does the account hold its share, or more, of a resource that the chunk requests? A resource with an unlimited guarantee does not count. */
static bool line_full(const struct turns *turns, const struct turns_line *line)
{
    const struct account_view *view = line->view;
    must(view != NULL); /* the root has no siblings and is never compared */
    for (uint32_t dim = 0; dim < turns->tally->shares->pool.dims; dim++) {
        const int64_t share = view->share.at[dim];
        const bool divided = line->chunk.at[dim] > 0 && share != VECTOR_UNLIMITED &&
                             view->guaranteed.at[dim] != VECTOR_UNLIMITED;
        if (divided && view->allocated.at[dim] >= share) {
            return true;
        }
    }
    return false;
}

/* The key of the comparison by fair share. The account and its chunk may have changed since the last call. Keys outlive the turns and
 * the pass, because most accounts do not change from pass to pass. An account that holds its share comes after an account that does
 * not. Without this rule a large first chunk of an account below its share would let the siblings go above their shares. The smaller
 * tasks behind that chunk would then take the same amounts back from the siblings in the same moment. */
static struct account_order_kept *line_key(const struct turns *turns, struct turns_line *line)
{
    const struct account_view *view = line->view;
    struct account_order_kept *kept = &turns->tally->shares->keys[view->index];
    line->kept = kept;
    const bool current = kept->known && kept->changes == view->changes;
    if (current && (line->key_stamp == kept->stamp ||
                    memcmp(&kept->chunk, &line->chunk, sizeof line->chunk) == 0)) {
        line->key_stamp = kept->stamp;
        return kept;
    }
    const struct account_pool *pool = &turns->tally->shares->pool;
    const struct account_side side = {.account = view, .chunk = &line->chunk};
    account_order_key(pool, &side, &kept->key);
    kept->known = true;
    kept->changes = view->changes;
    kept->stamp = kept->stamp == UINT32_MAX ? 1 : kept->stamp + 1;
    kept->chunk = line->chunk;
    kept->full = line_full(turns, line);
    kept->quick = (uint64_t)kept->full << 63 | account_order_quick(pool, view, &kept->key);
    line->key_stamp = kept->stamp;
    return kept;
}

/* The number by which entries of a heap are compared first. */
static uint64_t line_quick(const struct turns *turns, struct turns_line *line)
{
    return turns->policy == POLICY_FAIR_SHARE ? line_key(turns, line)->quick : 0;
}

static bool fair_before(const struct turns *turns, struct turns_line *a, struct turns_line *b)
{
    must(a->kept->full == b->kept->full); /* else `quick` decides */
    return account_order_keys(&turns->tally->shares->pool, a->view, &a->kept->key, b->view,
                              &b->kept->key) < 0;
}

static bool turn_before(const struct turns_line *a, const struct turns_line *b)
{
    if (a->turns != b->turns) {
        return a->turns < b->turns;
    }
    return a->used != b->used ? a->used < b->used : a->view->order < b->view->order;
}

static bool line_before(const struct turns *turns, struct turns_line *a, struct turns_line *b)
{
    must(a->parent == b->parent); /* both are in one heap */
    switch (turns->policy) {
    case POLICY_FAIR_SHARE:
        return fair_before(turns, a, b);
    case POLICY_ROUND_ROBIN:
        return turn_before(a, b);
    case POLICY_PRIORITY:
    case POLICY_FIFO:
        break;
    }
    return queue_ahead(&queue_lane(&a->queue)->key, &queue_lane(&b->queue)->key,
                       turns->policy == POLICY_FIFO);
}

static bool entry_before(const struct turns *turns, const struct turns_entry *a,
                         const struct turns_entry *b)
{
    return a->quick != b->quick ? a->quick < b->quick : line_before(turns, a->line, b->line);
}

static void sink(const struct turns *turns, struct turns_line *line, uint32_t from)
{
    must(from == 0 || from < line->count);
#define ENTRY_BEFORE(a, b) entry_before(turns, a, b)
    HEAP_SINK(line->heap, line->count, from, ENTRY_BEFORE);
}

/* ---- building ---- */

/* Finds anew which project below this line is next, and what that project's first task would take. */
static void line_refresh(const struct turns *turns, struct turns_line *line)
{
    line->key_stamp = 0;
    if (line->heap != NULL) {
        must(line->count > 0);
        line->best = line->heap[0].line->best;
        line->chunk = line->heap[0].line->chunk;
        return;
    }
    must(line->queue.count > 0);
    line->best = line;
    struct lane *lane = queue_lane(&line->queue);
    if (turns->policy == POLICY_FAIR_SHARE && lane->note->plain) {
        line->chunk = lane->note->amounts;
    } else if (turns->policy == POLICY_FAIR_SHARE) {
        const struct task *task = queue_first(&line->queue);
        const uint32_t added = lane->added;
        (void)turns_note(turns->core, lane->note, task);
        form_chunk_later_amounts(turns->core, task, added, turns_chunk(task, added), SLOTS_MOST,
                                 &line->chunk);
    }
}

static struct turns_line *line_make(struct turns *turns, const struct account_view *view,
                                    struct arena *arena)
{
    struct turns_line *line = arena_new(arena, struct turns_line, 1);
    must(turns->lines[view->index] == NULL);
    line->view = view;
    turns->lines[view->index] = line;
    turns->all[turns->all_count++] = line;
    return line;
}

/* Makes the line of a project that has waiting tasks, and links it and all lines above with their parents. */
static struct turns_line *line_link(struct turns *turns, const struct account_view *view,
                                    struct arena *arena)
{
    struct turns_line *line = line_make(turns, view, arena);
    for (struct turns_line *at = line; at != &turns->root && at->parent == NULL; at = at->parent) {
        const struct account_view *above =
            turns->policy == POLICY_FAIR_SHARE ? at->view->parent : NULL;
        if (above == NULL) {
            at->parent = &turns->root;
        } else {
            struct turns_line *there = turns->lines[above->index];
            at->parent = there != NULL ? there : line_make(turns, above, arena);
        }
        at->parent->count++;
    }
    return line;
}

static void queues_fill(struct turns *turns, pool_id pool, struct arena *arena)
{
    const struct core *core = turns->core;
    struct okey key = {{ACCOUNT_KEY(pool, (account_id){0}), 0, 0, 0}};
    struct oindex_walk walk;
    bool more = oindex_walk_from(&walk, &core->orders[ORDER_ACCOUNT_QUEUE], key, &key) &&
                key.at[0] >> 32 == pool.v;
    while (more) {
        const account_id account = {(uint32_t)key.at[0]};
        const struct account_view *view = shares_view(turns->tally->shares, account);
        must(view != NULL);
        struct turns_line *line = line_link(turns, view, arena);
        line->queue =
            (struct queue){.core = core, .arena = arena, .by_rank = turns->policy == POLICY_FIFO};
        line->used = view->allocated.at[DIM_SLOTS];
        more = queue_fill_walk(&line->queue, &turns->notes, &walk, &key);
        line_refresh(turns, line);
    }
}

static int age_order(const void *left, const void *right)
{
    const struct turns_line *a = ((const struct turns_entry *)left)->line;
    const struct turns_line *b = ((const struct turns_entry *)right)->line;
    return a->view->order < b->view->order ? -1 : a->view->order > b->view->order;
}

/* Puts each line into the heap of its parent, the oldest account first. Projects come by age already; departments may not. */
static void heaps_fill(struct turns *turns, struct arena *arena)
{
    for (uint32_t i = 0; i < turns->all_count; i++) {
        const struct turns_entry entry = {.line = turns->all[i]};
        struct turns_line *parent = entry.line->parent;
        must(parent != NULL);
        if (parent->heap == NULL) {
            parent->heap = arena_new(arena, struct turns_entry, parent->count);
            parent->count = 0; /* from here on the number of lines in the heap */
        }
        const bool by_age =
            parent->count == 0 || age_order(&parent->heap[parent->count - 1], &entry) < 0;
        parent->heap[parent->count++] = entry;
        parent->mixed |= !by_age;
    }
}

/* Orders the lines below a line. Each of them knows its chunk. */
static void heap_begin(const struct turns *turns, struct turns_line *line)
{
    if (line->mixed) {
        sort_items(line->heap, line->count, sizeof line->heap[0], age_order);
    }
    for (uint32_t i = 0; i < line->count; i++) {
        line->heap[i].quick = line_quick(turns, line->heap[i].line);
    }
    for (uint32_t i = line->count / 2; i > 0; i--) {
        sink(turns, line, i - 1);
    }
}

void turns_init(struct turns *turns, const struct core *core, const struct pool *pool,
                const struct tally *tally, struct arena *arena)
{
    const struct shares *shares = tally->shares;
    must(tally->core == core);
    *turns =
        (struct turns){.core = core, .tally = tally, .policy = pool->policy, .seen = tally->writes};
    turns->notes.arena = arena;
    if (shares->keys == NULL && shares->tree == NULL) {
        tally->shares->keys = arena_new(arena, struct account_order_kept, shares->count);
    }
    turns->lines = arena_new(arena, struct turns_line *, shares->count);
    turns->all = arena_new(arena, struct turns_line *, shares->count);
    queues_fill(turns, pool->id, arena);
    heaps_fill(turns, arena);
    for (uint32_t i = 0; i < turns->all_count; i++) {
        struct turns_line *line = turns->all[i];
        if (line->heap != NULL) {
            turns->all[i] = turns->all[turns->inner_count];
            turns->all[turns->inner_count++] = line;
        }
    }
    for (uint32_t depth = ACCOUNT_DEPTH_MAX; depth > 0; depth--) {
        for (uint32_t i = 0; i < turns->inner_count; i++) {
            struct turns_line *line = turns->all[i];
            if (line->view->depth == depth - 1) {
                heap_begin(turns, line);
                line_refresh(turns, line);
            }
        }
    }
    heap_begin(turns, &turns->root);
}

const struct first_bound *turns_bound(const struct turns *turns, uint32_t index)
{
    must(index < turns->tally->shares->count);
    return turns->lines[index] != NULL ? turns->lines[index]->bound : NULL;
}

bool turns_bounded(const struct turns *turns)
{
    bool bounded = turns->policy != POLICY_FAIR_SHARE; /* there the turns do not know departments */
    for (uint32_t i = 0; i < turns->inner_count && !bounded; i++) {
        bounded = turns->all[i]->view->bound;
    }
    return bounded;
}

/* ---- going on ---- */

struct turns_line *turns_first(const struct turns *turns)
{
    return turns->root.count == 0 ? NULL : turns->root.heap[0].line->best;
}

/* Finds the entry of a line that is not first, and sets its number anew. The entry stays where it is. */
static void entry_renew(const struct turns *turns, struct turns_line *line)
{
    struct turns_line *parent = line->parent;
    for (uint32_t i = 0; i < parent->count; i++) {
        if (parent->heap[i].line == line) {
            parent->heap[i].quick = line_quick(turns, line);
            return;
        }
    }
}

/* Computes the entries anew of all accounts that have changed since the last turn. Accounts without a turn change, too, when a claim
 * evicts their instances. */
static void entries_renew(struct turns *turns)
{
    const struct tally *tally = turns->tally;
    const uint64_t writes = tally->writes - turns->seen;
    if (writes > TALLY_WRITTEN_MAX) {
        for (uint32_t i = 0; i < tally->shares->count; i++) {
            struct turns_line *line = turns->lines[i];
            if (line != NULL &&
                tally->shares->keys[line->view->index].changes != line->view->changes) {
                entry_renew(turns, line);
            }
        }
    }
    for (; writes <= TALLY_WRITTEN_MAX && turns->seen < tally->writes; turns->seen++) {
        struct turns_line *line = turns->lines[tally->written[turns->seen % TALLY_WRITTEN_MAX]];
        if (line != NULL && tally->shares->keys[line->view->index].changes != line->view->changes) {
            entry_renew(turns, line);
        }
    }
    turns->seen = tally->writes;
}

void turns_update(struct turns *turns, struct turns_line *line)
{
    if (turns->policy == POLICY_FAIR_SHARE && turns->seen != turns->tally->writes) {
        entries_renew(turns);
    }
    for (; line != &turns->root; line = line->parent) {
        struct turns_line *parent = line->parent;
        must(parent->heap[0].line == line);
        if (line->heap != NULL ? line->count > 0 : line->queue.count > 0) {
            line_refresh(turns, line);
            parent->heap[0].quick = line_quick(turns, line);
        } else {
            parent->heap[0] = parent->heap[--parent->count];
        }
        sink(turns, parent, 0);
    }
}
