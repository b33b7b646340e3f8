/* capacity.c - the index of free amounts and the memory of misses.
 *
 * Surprising: full nodes and nodes that may take no work are not in the index, so a search never meets them.
 * Each pool counts how often something became free. A miss is remembered with the pool's count at that
 * moment. When the count has grown, the miss no longer holds; nothing is erased.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/capacity.h"

#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "core/model/fit.h"
#include "core/model/limits.h"
#include "core/model/resource.h"
#include "core/state/state.h"

#include <string.h>

/* Ids of shapes grow for ever, so a miss is kept in an array under the last bits of the shape's id. Two
 * shapes with the same last bits overwrite each other, which costs a search. */
enum { MISSES_MAX = 4096, EMPTY_TAKES_MAX = 256 };

struct miss {
    uint32_t shape;
    uint32_t from; /* this many instances together, or more, do not fit */
    uint64_t freed;
};

/* No node takes one instance of the shape, except nodes that were logged since. */
struct no_node {
    uint32_t shape;
    uint64_t at; /* position in the log */
};

/* The empty nodes of the pool hold `count` instances of the shape. */
struct empty_takes {
    uint32_t shape;
    uint32_t count;
    bool all;       /* the empty nodes hold not one more */
    uint64_t sized; /* the pool's count in `sized` when this was noted */
};

/* A vector (vec.h) with one count for each pool. Each count begins at 1. */
struct counts {
    uint64_t *at;
    size_t count;
    size_t room;
};

/* Something became free on a node; node 0: on any node of the pool. */
struct freed {
    pool_id pool;
    node_id node;
};

struct capacity {
    struct oindex order;
    /* a pool's count grows whenever something may fit that did not fit before */
    struct counts freed;
    struct miss *misses;      /* MISSES_MAX entries; NULL: no miss was noted yet */
    VEC(struct miss) learned; /* misses of the pass that was decided last */
    pool_id learned_pool;     /* the pool whose pass found `learned` */
    /* `learned` takes effect once the state has this many facts */
    uint64_t learned_seq;
    struct no_node *no_node; /* MISSES_MAX entries; NULL: nothing was noted yet */
    /* the newest log entries: position p is at p % FREED_LOG_MAX */
    struct freed log[FREED_LOG_MAX];
    uint64_t log_end;
    void *parts[CAPACITY_PART_COUNT]; /* NULL: not used yet */
    const struct capacity_part_ops *part_ops[CAPACITY_PART_COUNT];
    /* a pool's count grows whenever an empty node may hold more or less than before */
    struct counts sized;
    struct empty_takes empty_takes[EMPTY_TAKES_MAX]; /* by the last bits of the shape's id */
};

struct capacity *capacity_new(void)
{
    struct capacity *capacity = xcalloc(1, sizeof *capacity);
    oindex_init(&capacity->order);
    return capacity;
}

void capacity_free(struct capacity *capacity)
{
    if (capacity == NULL) {
        return;
    }
    oindex_done(&capacity->order);
    vec_done(&capacity->freed);
    vec_done(&capacity->learned);
    vec_done(&capacity->sized);
    free(capacity->misses);
    free(capacity->no_node);
    for (unsigned part = 0; part < CAPACITY_PART_COUNT; part++) {
        if (capacity->parts[part] != NULL) {
            capacity->part_ops[part]->free(capacity->parts[part]);
        }
    }
    free(capacity);
}

struct capacity *capacity_copy(const struct capacity *capacity)
{
    struct capacity *copy = xcalloc(1, sizeof *copy);
    oindex_copy(&copy->order, &capacity->order);
    return copy;
}

void *capacity_part(struct capacity *capacity, enum capacity_part part,
                    const struct capacity_part_ops *ops)
{
    must((unsigned)part < CAPACITY_PART_COUNT);
    must(capacity->part_ops[part] == NULL || capacity->part_ops[part] == ops);
    if (capacity->parts[part] == NULL) {
        capacity->part_ops[part] = ops;
        capacity->parts[part] = ops->make();
    }
    return capacity->parts[part];
}

const struct oindex *capacity_order(const struct capacity *capacity)
{
    return &capacity->order;
}

/* One entry of the index for a node. An entry with `free` of 0 or less is left out of the index. */
struct capacity_line {
    uint16_t resource;
    int64_t free;
};
enum { LINES_MAX = NODE_RESOURCES_MAX + 4 };

static uint32_t lines_of(const struct node *node, struct capacity_line *lines)
{
    if (node == NULL || !fit_usable(node)) {
        return 0;
    }
    uint32_t count = 0;
    lines[count++] = (struct capacity_line){RESOURCE_SLOTS, node->slots_free};
    lines[count++] = (struct capacity_line){RESOURCE_CPU, node->cpu_free};
    lines[count++] = (struct capacity_line){RESOURCE_MEMORY, node->memory_free};
    for (uint32_t i = 0; i < node->named_count; i++) {
        lines[count++] = (struct capacity_line){node->named[i].resource.v, node->named_free[i]};
    }
    lines[count++] =
        (struct capacity_line){RESOURCE_AUX, (int64_t)node->aux_max - (int64_t)node->aux_used};
    must(count <= LINES_MAX);
    return count;
}

static struct okey line_key(const struct node *node, struct capacity_line line)
{
    return (struct okey){
        {CAPACITY_KEY(node->pool, line.resource), (uint64_t)line.free, node->id.v, 0}};
}

static void line_change(struct oindex *order, const struct node *node, struct capacity_line line,
                        bool add)
{
    if (line.free <= 0) {
        return;
    }
    const struct okey key = line_key(node, line);
    must(add ? oindex_insert(order, key) : oindex_remove(order, key));
}

static bool totals_equal(const struct node *a, const struct node *b)
{
    return a->slots_milli == b->slots_milli && a->cpu_milli == b->cpu_milli &&
           a->memory_bytes == b->memory_bytes && a->gpu_memory_bytes == b->gpu_memory_bytes &&
           a->device_count == b->device_count && a->named_count == b->named_count &&
           memcmp(a->named, b->named, a->named_count * sizeof a->named[0]) == 0;
}

static bool devices_grew(const struct node *before, const struct node *after)
{
    for (uint32_t i = 0; i < after->device_count; i++) {
        if (after->device_free[i] > before->device_free[i]) {
            return true;
        }
    }
    return false;
}

/* May something fit on the node that did not fit before? Changed totals count, because the cpu and memory of
 * a slot depend on the totals. */
static bool node_freed(const struct node *before, const struct node *after)
{
    if (!fit_usable(after)) {
        return false;
    }
    if (before == NULL || !fit_usable(before) || before->pool.v != after->pool.v ||
        !totals_equal(before, after)) {
        return true;
    }
    struct capacity_line old[LINES_MAX];
    struct capacity_line new[LINES_MAX];
    const uint32_t count = lines_of(before, old);
    must(lines_of(after, new) == count);
    for (uint32_t i = 0; i < count; i++) {
        if (new[i].free > old[i].free) {
            return true;
        }
    }
    return devices_grew(before, after);
}

static void count_up(struct counts *counts, pool_id pool)
{
    while (counts->count <= pool.v) {
        vec_push(counts, 1);
    }
    counts->at[pool.v]++;
}

static uint64_t count_of(const struct counts *counts, pool_id pool)
{
    return pool.v < counts->count ? counts->at[pool.v] : 1;
}

void capacity_freed(struct capacity *capacity, pool_id pool)
{
    count_up(&capacity->freed, pool);
    capacity_log_add(capacity, pool, (node_id){0});
}

/* Updates the index. Where both rows have the same resources, only the entries that differ are changed. */
static void lines_update(struct oindex *order, const struct node *before, const struct node *after)
{
    struct capacity_line old[LINES_MAX];
    struct capacity_line new[LINES_MAX];
    const uint32_t old_count = lines_of(before, old);
    const uint32_t new_count = lines_of(after, new);
    const bool same = old_count == new_count && old_count > 0 && before->pool.v == after->pool.v &&
                      totals_equal(before, after);
    for (uint32_t i = 0; i < old_count; i++) {
        if (!same || old[i].free != new[i].free) {
            line_change(order, before, old[i], false);
        }
    }
    for (uint32_t i = 0; i < new_count; i++) {
        if (!same || old[i].free != new[i].free) {
            line_change(order, after, new[i], true);
        }
    }
}

/* May the empty node hold more or less than before? */
static bool node_resized(const struct node *before, const struct node *after)
{
    return before == NULL || before->pool.v != after->pool.v ||
           fit_usable(before) != fit_usable(after) || before->aux_max != after->aux_max ||
           !totals_equal(before, after);
}

void capacity_ends_changed(struct capacity *capacity, node_id node)
{
    for (unsigned part = 0; part < CAPACITY_PART_COUNT; part++) {
        if (capacity->parts[part] != NULL && capacity->part_ops[part]->ends) {
            capacity->part_ops[part]->note(capacity->parts[part], node);
        }
    }
}

void capacity_changed(struct capacity *capacity, const struct node *before,
                      const struct node *after)
{
    must(after != NULL);
    const struct node *old = before != NULL && before->id.v != 0 ? before : NULL;
    lines_update(&capacity->order, old, after);
    if (node_resized(old, after)) {
        count_up(&capacity->sized, after->pool);
        count_up(&capacity->sized, old == NULL ? after->pool : old->pool);
    }
    for (unsigned part = 0; part < CAPACITY_PART_COUNT; part++) {
        if (capacity->parts[part] != NULL) {
            capacity->part_ops[part]->note(capacity->parts[part], after->id);
        }
    }
    if (node_freed(old, after)) {
        count_up(&capacity->freed, after->pool);
        capacity_log_add(capacity, after->pool, after->id);
    }
}

/* ---- what empty nodes hold ---- */

void capacity_resized(struct capacity *capacity, pool_id pool)
{
    count_up(&capacity->sized, pool);
}

void capacity_empty_note(struct capacity *capacity, const struct shape *shape, uint32_t count,
                         bool all)
{
    if (capacity != NULL) {
        capacity->empty_takes[shape->id.v % EMPTY_TAKES_MAX] =
            (struct empty_takes){shape->id.v, count, all, count_of(&capacity->sized, shape->pool)};
    }
}

bool capacity_empty_takes(const struct capacity *capacity, const struct shape *shape,
                          uint32_t count, bool *ret)
{
    const struct empty_takes *known =
        capacity == NULL ? NULL : &capacity->empty_takes[shape->id.v % EMPTY_TAKES_MAX];
    if (known == NULL || known->shape != shape->id.v ||
        known->sized != count_of(&capacity->sized, shape->pool)) {
        return false;
    }
    *ret = count <= known->count;
    return *ret || known->all;
}

/* ---- what fits on no node ---- */

uint64_t capacity_log_end(const struct capacity *capacity)
{
    return capacity->log_end;
}

void capacity_log_add(struct capacity *capacity, pool_id pool, node_id node)
{
    capacity->log[capacity->log_end++ % FREED_LOG_MAX] = (struct freed){pool, node};
}

node_id capacity_log_next(const struct capacity *capacity, pool_id pool, uint64_t *at)
{
    must(capacity->log_end - *at <= FREED_LOG_MAX);
    while (*at < capacity->log_end) {
        const struct freed *freed = &capacity->log[(*at)++ % FREED_LOG_MAX];
        if (freed->pool.v == pool.v) {
            return freed->node;
        }
    }
    return (node_id){0};
}

void capacity_no_node_note(struct capacity *capacity, const struct shape *shape, uint64_t at)
{
    if (capacity->no_node == NULL) {
        capacity->no_node = xcalloc(MISSES_MAX, sizeof *capacity->no_node);
    }
    capacity->no_node[shape->id.v % MISSES_MAX] = (struct no_node){shape->id.v, at};
}

bool capacity_no_node(const struct capacity *capacity, const struct shape *shape, uint64_t *ret_at)
{
    if (capacity->no_node == NULL) {
        return false;
    }
    const struct no_node *no_node = &capacity->no_node[shape->id.v % MISSES_MAX];
    if (no_node->shape != shape->id.v || capacity->log_end - no_node->at > FREED_LOG_MAX) {
        return false;
    }
    for (uint64_t at = no_node->at; at < capacity->log_end; at++) {
        const struct freed *freed = &capacity->log[at % FREED_LOG_MAX];
        if (freed->pool.v == shape->pool.v && freed->node.v == 0) {
            return false;
        }
    }
    *ret_at = no_node->at;
    return true;
}

/* ---- what a pass learned ---- */

void capacity_learn(struct capacity *capacity, pool_id pool, uint64_t seq)
{
    capacity->learned_pool = pool;
    capacity->learned_seq = seq;
    vec_clear(&capacity->learned);
}

void capacity_learn_miss(struct capacity *capacity, shape_id shape, uint32_t from)
{
    must(from > 0);
    vec_push(&capacity->learned, ((struct miss){.shape = shape.v, .from = from}));
}

void capacity_settled(struct core *core, pool_id pool)
{
    struct capacity *capacity = core->capacity;
    if (capacity == NULL || capacity->learned_pool.v != pool.v ||
        capacity->learned_seq != core->seq) {
        return;
    }
    if (capacity->misses == NULL) {
        capacity->misses = xcalloc(MISSES_MAX, sizeof *capacity->misses);
    }
    for (size_t i = 0; i < capacity->learned.count; i++) {
        struct miss miss = capacity->learned.at[i];
        miss.freed = count_of(&capacity->freed, pool);
        capacity->misses[miss.shape % MISSES_MAX] = miss;
    }
}

bool capacity_missed(const struct capacity *capacity, const struct shape *shape, uint32_t count)
{
    if (capacity == NULL || capacity->misses == NULL) {
        return false;
    }
    const struct miss *miss = &capacity->misses[shape->id.v % MISSES_MAX];
    return miss->shape == shape->id.v && count >= miss->from &&
           miss->freed == count_of(&capacity->freed, shape->pool);
}
