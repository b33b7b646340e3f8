/* trace_wide.c - jobs of a trace that are larger than any node.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_internal.h"

#include "core/model/resource.h"

static int by_slots(const void *a, const void *b)
{
    const struct trace_size *first = a;
    const struct trace_size *second = b;
    return first->slots > second->slots ? -1 : first->slots < second->slots;
}

/* Is the node in the pool of tasks that name no pool and request slots? */
static bool in_pool(const struct scenario *scenario, const struct node_spec *node)
{
    const char *wanted = scenario->default_pools[POOL_DEFAULT_GPU];
    const bool named = node->pool != NULL && node->pool[0] != '\0';
    return strcmp(wanted == NULL ? "default" : wanted, named ? node->pool : "default") == 0;
}

struct trace_nodes trace_wide_nodes(struct scenario *scenario)
{
    struct trace_size *sizes =
        arena_new(&scenario->arena, struct trace_size, scenario->nodes.count + 1);
    size_t all = 0;
    for (size_t i = 0; i < scenario->nodes.count; i++) {
        const struct node_spec *node = &scenario->nodes.at[i].spec;
        if (in_pool(scenario, node)) {
            sizes[all++] = (struct trace_size){node->slots_milli / SLOT_MILLI, 1};
        }
    }
    qsort(sizes, all, sizeof *sizes, by_slots);
    size_t count = 0;
    for (size_t i = 0; i < all; i++) {
        if (count > 0 && sizes[count - 1].slots == sizes[i].slots) {
            sizes[count - 1].nodes++;
        } else {
            sizes[count++] = sizes[i];
        }
    }
    return (struct trace_nodes){sizes, count};
}

/* Returns how many parts the empty nodes hold together. */
static int64_t parts_held(const struct trace_nodes *nodes, int64_t part)
{
    int64_t held = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        held += nodes->sizes[i].slots / part * nodes->sizes[i].nodes;
    }
    return held;
}

void trace_wide_divide(const struct trace_nodes *nodes, struct task_spec *spec)
{
    const int64_t slots = spec->slots_milli / SLOT_MILLI;
    const int64_t most = nodes->count == 0 ? 0 : nodes->sizes[0].slots;
    if (most == 0 || slots <= most || spec->instances > 1) {
        return;
    }
    int64_t part = most;
    while (slots % part != 0) {
        part--;
    }
    const int64_t parts = slots / part;
    if (parts <= TASK_INSTANCES_MAX && parts <= parts_held(nodes, part)) {
        spec->slots_milli = part * SLOT_MILLI;
        spec->instances = (uint32_t)parts;
        spec->gang = true;
    }
}
