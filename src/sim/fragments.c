/* fragments.c - see fragments.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/fragments.h"

#include "base/map.h"

enum { COMMON_PERCENT = 95 };

struct shape_count {
    struct fragment_shape shape;
    size_t order; /* order of first appearance, which breaks ties */
};

static struct fragment_shape shape_of(const struct task_spec *spec)
{
    struct fragment_shape shape = {
        .slots_milli = spec->slots_milli,
        .cpu_milli = spec->cpu_milli > 0 ? spec->cpu_milli : 0,
        .memory_bytes = spec->memory_bytes > 0 ? spec->memory_bytes : 0,
    };
    if (shape.slots_milli == ASK_NOTHING) {
        const bool nothing = spec->cpu_milli == ASK_NOTHING && spec->memory_bytes == ASK_NOTHING &&
                             spec->resource_count == 0;
        const int64_t devices = __builtin_popcountll(spec->device_mask);
        shape.slots_milli =
            devices > 0 ? devices * SLOT_MILLI : (nothing || spec->needs_gpu ? SLOT_MILLI : 0);
    }
    return shape;
}

static int commoner(const void *a, const void *b)
{
    const struct shape_count *first = a;
    const struct shape_count *second = b;
    if (first->shape.weight != second->shape.weight) {
        return first->shape.weight > second->shape.weight ? -1 : 1;
    }
    return first->order < second->order ? -1 : 1;
}

static bool is_of(const struct task_spec *spec, const char *pool)
{
    const char *own = spec->pool_count > 0 ? spec->pools[0] : POOL_DEFAULT_NAME;
    return pool == NULL || strcmp(own, pool) == 0;
}

void fragments_init(struct fragments *fragments, const struct scenario *scenario, const char *pool,
                    enum fragments_by by)
{
    VEC(struct shape_count) counts = {0};
    struct map *known = map_new();
    uint64_t total = 0;
    for (size_t i = 0; i < scenario->jobs.count; i++) {
        const struct task_spec *spec = &scenario->jobs.at[i].kind->spec;
        const struct fragment_shape shape = shape_of(spec);
        const uint64_t slots = (uint64_t)shape.slots_milli * spec->instances;
        const uint64_t weight = by == FRAGMENTS_BY_JOBS ? 1 : slots;
        if (slots == 0 || !is_of(spec, pool)) {
            continue;
        }
        uintptr_t at = (uintptr_t)map_get(known, &shape, sizeof shape);
        if (at == 0) {
            vec_push(&counts, ((struct shape_count){shape, counts.count}));
            at = counts.count;
            (void)map_put(known, &shape, sizeof shape, (void *)at);
        }
        counts.at[at - 1].shape.weight += weight;
        total += weight;
    }
    *fragments = (struct fragments){0};
    if (counts.count > 0) {
        qsort(counts.at, counts.count, sizeof *counts.at, commoner);
    }
    for (size_t i = 0; i < counts.count && fragments->count < FRAGMENT_SHAPES_MAX &&
                       fragments->weight * 100 < total * COMMON_PERCENT;
         i++) {
        fragments->shapes[fragments->count++] = counts.at[i].shape;
        fragments->weight += counts.at[i].shape.weight;
    }
    map_free(known);
    vec_done(&counts);
}

/* The number of devices with at least `each` free, and the free amount of all other devices. */
struct fitting {
    int64_t each;
    int64_t count;
    int64_t rest;
};

static struct fitting fitting_of(const struct node *node, int64_t each)
{
    struct fitting fitting = {.each = each};
    for (uint32_t i = 0; i < node->device_count; i++) {
        const bool fits = node->device_free[i] >= each;
        fitting.count += fits;
        fitting.rest += fits ? 0 : node->device_free[i];
    }
    return fitting;
}

/* Returns the idle thousandths of a node that this shape cannot use. `fitting` is kept from
 * shape to shape, because most shapes ask for whole devices. */
static int64_t useless(const struct node *node, const struct fragment_shape *shape,
                       struct fitting *fitting)
{
    const int64_t idle = node->slots_free;
    if (node->cpu_free < shape->cpu_milli || node->memory_free < shape->memory_bytes) {
        return idle;
    }
    if (node->device_count == 0) {
        return idle >= shape->slots_milli ? 0 : idle;
    }
    const int64_t each = shape->slots_milli < SLOT_MILLI ? shape->slots_milli : SLOT_MILLI;
    const int64_t wanted = (shape->slots_milli + SLOT_MILLI - 1) / SLOT_MILLI;
    if (fitting->each != each) {
        *fitting = fitting_of(node, each);
    }
    return fitting->count >= wanted ? fitting->rest : idle;
}

int64_t fragments_of_node(const struct fragments *fragments, const struct node *node)
{
    if (node->slots_free <= 0 || fragments->weight == 0) {
        return 0;
    }
    __int128 sum = 0;
    struct fitting fitting = {.each = -1};
    for (uint32_t i = 0; i < fragments->count; i++) {
        const struct fragment_shape *shape = &fragments->shapes[i];
        sum += (__int128)useless(node, shape, &fitting) * (int64_t)shape->weight;
    }
    return (int64_t)(sum / (int64_t)fragments->weight);
}

int64_t fragments_of_pool(const struct fragments *fragments, const struct core *core, pool_id pool)
{
    int64_t sum = 0;
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        const bool own = pool.v == 0 || node->pool.v == pool.v;
        if (own && node_takes_work(node)) {
            sum += fragments_of_node(fragments, node);
        }
    }
    return sum;
}
