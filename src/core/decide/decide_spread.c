/* decide_spread.c - wide tasks: a task that requests more slots than any one node has becomes a gang. The
 * gang has one-slot instances, so that its nodes may take uneven parts. In a pool with `uneven` off the gang
 * has equal instances that take a whole idle node each, of a size that is chosen here. Nodes that the provider of
 * the pool can still bring up count like nodes that have joined.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/fit.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/spec.h"
#include "core/state/elastic.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* May the task be divided? Only a request for nothing but slots can, so that the parts are equal and add up
 * to the whole. */
static bool may_spread(const struct task_spec *spec, const struct request *request)
{
    return spec->instances == 1 && !spec->gang && request->slots_milli > SLOT_MILLI &&
           request->share_devices == 0 && request->slots_milli % SLOT_MILLI == 0 &&
           request->slots_milli / SLOT_MILLI <= TASK_INSTANCES_MAX && request->cpu_milli < 0 &&
           request->memory_bytes < 0 && request->device_mask == 0 && request->named_count == 0;
}

/* The most instances of the request that a node which is still to come holds. 0: no node comes. */
static uint32_t most_on_coming(const struct pool *pool, const struct request *request, uint32_t max)
{
    struct node flavor;
    struct space empty;
    if (elastic_nodes_to_come(pool) == 0) {
        return 0;
    }
    elastic_flavor(pool, &flavor);
    space_now(&flavor, &empty);
    return fit_count(&empty, request, max);
}

/* The most one-slot instances that any one node of the pool could ever hold. Looks at the largest nodes
 * first, until no further node can hold more. */
static uint32_t most_on_one(const struct core *core, const struct pool *row,
                            const struct request *one, uint32_t max)
{
    const pool_id pool = row->id;
    uint32_t most = most_on_coming(row, one, max);
    struct okey key = {{pool.v, 0, 0, 0}};
    while (most < max && oindex_next(&core->orders[ORDER_NODE_SIZE], key, &key) &&
           key.at[0] == pool.v && ~key.at[1] / SLOT_MILLI > most) {
        struct space_room room;
        struct space empty;
        const struct node *node = query_node(core, (node_id){(uint32_t)key.at[2]});
        must(node != NULL);
        must(node->pool.v == pool.v);
        space_whole(node, &room, &empty);
        const uint32_t holds = fit_count(&empty, one, max);
        most = holds > most ? holds : most;
    }
    return most;
}

/* Could the node hold the part: with `idle` now, else if nothing ran there? */
static bool holds_part(const struct node *node, const struct request *part, bool idle)
{
    struct space_room room;
    struct space place;
    if (node->slots_milli != part->slots_milli || (idle && !fit_usable(node))) {
        return false;
    }
    if (idle) {
        space_now(node, &place);
    } else {
        space_whole(node, &room, &place);
    }
    return fit_count(&place, part, 1) == 1;
}

/* The number of nodes, at most `max`, that have exactly the slots of the part and hold it. */
static uint32_t nodes_of_size(const struct core *core, const struct pool *row,
                              const struct request *part, bool idle, uint32_t max)
{
    const pool_id pool = row->id;
    const bool comes = !idle && part->slots_milli == (int64_t)pool_node_slots(row) * SLOT_MILLI &&
                       most_on_coming(row, part, 1) == 1;
    const uint32_t coming = comes ? elastic_nodes_to_come(row) : 0;
    uint32_t count = coming < max ? coming : max;
    node_id after = {0};
    const struct node *node;
    while (count < max && (node = query_pool_node_next(core, pool, after)) != NULL) {
        after = node->id;
        must(node->pool.v == pool.v);
        count += holds_part(node, part, idle);
    }
    return count;
}

/* A division looks at most at this number of waiting tasks. The size of the parts is a choice that any number
 * leaves right; with more tasks in the queue it is only a worse guess of the nodes that will be idle. */
enum { SPREAD_LOOK_MAX = 256 };

static bool of_size(const struct request *request, int64_t slots_milli)
{
    return request->wide == WIDE_NODES && request->slots_milli == slots_milli;
}

/* The number of nodes of this size for which parts of other tasks wait already: tasks of the queue, and tasks
 * of the same submission. */
static uint32_t parts_waiting(const struct step *step, pool_id pool, int64_t slots_milli)
{
    const struct core *core = step->core;
    const struct facts *facts = step->out;
    uint32_t count = 0;
    uint32_t looked = 0;
    task_id id = query_queue_next(core, pool, (task_id){0});
    for (; id.v != 0 && looked < SPREAD_LOOK_MAX; looked++) {
        const struct task *task = query_task(core, id);
        must(task != NULL);
        const struct request *request = &query_task_shape(core, task->shape)->request;
        count += of_size(request, slots_milli) ? task->waiting_count : 0;
        id = query_queue_next(core, pool, id);
    }
    for (size_t i = facts->count; i > 0 && looked < SPREAD_LOOK_MAX; i--, looked++) {
        const struct fact *fact = &facts->at[i - 1];
        if (fact->type == FACT_TASK_SUBMITTED && fact->task_submitted.pool.v == pool.v &&
            of_size(fact->task_submitted.request, slots_milli)) {
            count += fact->task_submitted.spec->instances;
        }
    }
    return count;
}

/* The slots of each part when `slots` is divided into the fewest equal parts that each fill a node, of nodes
 * that are idle now and for which no other task waits, or else of any nodes. 0: the pool has no such nodes. */
static uint32_t equal_part(const struct step *step, const struct pool *pool,
                           const struct request *request, uint32_t slots, uint32_t most)
{
    const struct core *core = step->core;
    must(most < slots);
    struct request part = *request;
    for (uint32_t idle = 2; idle-- > 0;) {
        for (uint32_t each = most; each > 0; each--) {
            part.slots_milli = (int64_t)each * SLOT_MILLI;
            if (slots % each != 0) {
                continue;
            }
            const uint32_t wanted =
                slots / each + (idle == 1 ? parts_waiting(step, pool->id, part.slots_milli) : 0);
            if (nodes_of_size(core, pool, &part, idle == 1, wanted) == wanted) {
                return each;
            }
        }
    }
    return 0;
}

const struct task_spec *decide_spread(struct step *step, const struct pool *pool,
                                      const struct task_spec *spec, struct request *request)
{
    if (!may_spread(spec, request)) {
        return spec;
    }
    const uint32_t count = (uint32_t)(request->slots_milli / SLOT_MILLI);
    struct request one = *request;
    one.slots_milli = SLOT_MILLI;
    const uint32_t most = most_on_one(step->core, pool, &one, count);
    if (most == 0 || most >= count) {
        return spec;
    }
    const uint32_t each = pool->uneven_off ? equal_part(step, pool, request, count, most) : 1;
    if (each == 0) {
        return spec;
    }
    must(count % each == 0); /* the parts add up to the task */
    struct task_spec *gang = arena_dup(step->out->arena, spec, sizeof *spec);
    gang->slots_milli = (int64_t)each * SLOT_MILLI;
    gang->instances = count / each;
    gang->gang = true;
    request->slots_milli = gang->slots_milli;
    request->wide = pool->uneven_off ? WIDE_NODES : WIDE_PARTS;
    return gang;
}

static int by_size(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* The largest amount up to `below` that at most `parts` nodes of one size add up to. */
static int64_t whole_below(int64_t size, int64_t parts, int64_t below)
{
    const int64_t wanted = below / size;
    return (wanted < parts ? wanted : parts) * size;
}

/* The largest number of slots below the request that equal parts, each filling a node, add up to. -1: none. */
static int64_t largest_equal(struct step *step, const struct pool *pool,
                             const struct request *request)
{
    const int64_t coming = (int64_t)pool_node_slots(pool) * SLOT_MILLI;
    int64_t *sizes = arena_new(step->out->arena, int64_t, pool->node_count);
    uint32_t count = 0;
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(step->core, pool->id, after)) != NULL) {
        after = node->id;
        struct request part = *request;
        struct space_room room;
        struct space empty;
        part.slots_milli = node->slots_milli;
        space_whole(node, &room, &empty);
        if (node->slots_milli > 0 && fit_count(&empty, &part, 1) == 1) {
            must(count < pool->node_count);
            sizes[count++] = node->slots_milli;
        }
    }
    if (count > 0) {
        sort_items(sizes, count, sizeof sizes[0], by_size);
    }
    const int64_t below = request->slots_milli - SLOT_MILLI;
    int64_t parts = coming > 0 ? elastic_nodes_to_come(pool) : 0;
    int64_t best = parts > 0 ? whole_below(coming, parts, below) : -1;
    for (uint32_t i = 0; i < count; i++) {
        const bool first = i == 0 || sizes[i] != sizes[i - 1];
        parts = !first ? parts + 1 : sizes[i] == coming ? elastic_nodes_to_come(pool) + 1 : 1;
        const int64_t whole = whole_below(sizes[i], parts, below);
        best = whole > best ? whole : best;
    }
    return best;
}

void decide_spread_refused(struct step *step, const struct pool *pool, const struct task_spec *spec,
                           const struct request *request)
{
    struct reason *reason = &step->out->refusal;
    must(reason->code != REASON_NONE);
    const bool short_of_nodes = reason->code == REASON_GANG_TOO_LARGE;
    if ((short_of_nodes || reason->code == REASON_DOMAIN_TOO_SMALL) &&
        request->wide == WIDE_PARTS) {
        reason->code = short_of_nodes ? REASON_TOO_LARGE : reason->code;
        reason->resource = (resource_id){RESOURCE_SLOTS};
        reason->wanted = (int64_t)reason->need * SLOT_MILLI;
        reason->available = (int64_t)reason->have * SLOT_MILLI;
        reason->smallest = reason->available > 0 ? reason->available : -1;
    } else if ((reason->code == REASON_TOO_LARGE || reason->code == REASON_COMBINATION) &&
               reason->resource.v == RESOURCE_SLOTS && pool->uneven_off &&
               may_spread(spec, request)) {
        const int64_t equal = largest_equal(step, pool, request);
        reason->smallest = equal > reason->smallest ? equal : reason->smallest;
    }
}
