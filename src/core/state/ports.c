/* ports.c - see ports.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/state/ports.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/state/query.h"

enum {
    WORD_BITS = 64,
    HELD_WORDS = PORTS_MASTER_COUNT / WORD_BITS + 1,
    OLD_FIRST = 20000,
    OLD_COUNT = 10000,
    GIVEN_MIN = 16,
};

/* an odd number in whose bits 0 and 1 are well mixed */
static const uint64_t SPREAD = 0x9E3779B97F4A7C15;

struct ports_entry {
    node_id node;
    uint32_t port; /* 0: the entry is empty */
};

struct ports_given ports_given_make(struct arena *arena, size_t count)
{
    struct ports_given given = {.size = GIVEN_MIN};
    while (given.size < 2 * count) {
        given.size *= 2;
    }
    given.at = arena_new(arena, struct ports_entry, given.size);
    return given;
}

/* Returns the entry of this port of this node. Without one, returns the empty entry in which it
 * belongs. */
static struct ports_entry *given_find(const struct ports_given *given, node_id node, uint32_t port)
{
    const uint64_t mixed = ((uint64_t)node.v * PORTS_MASTER_COUNT + port) * SPREAD;
    size_t i = (size_t)(mixed >> WORD_BITS / 2) & (given->size - 1);
    while (given->at[i].port != 0 && (given->at[i].port != port || given->at[i].node.v != node.v)) {
        i = (i + 1) & (given->size - 1);
    }
    return &given->at[i];
}

void ports_given_add(struct ports_given *given, node_id node, uint32_t port)
{
    if (port != 0) {
        *given_find(given, node, port) = (struct ports_entry){node, port};
    }
}

bool ports_holder(const struct task *task, uint32_t index)
{
    return task->gang != 0 && task->instance_count > 1 && index == 0;
}

static bool in_range(uint32_t port)
{
    return port >= PORTS_MASTER_FIRST && port <= PORTS_MASTER_LAST;
}

static bool is_held(const uint64_t *held, uint32_t at)
{
    return (held[at / WORD_BITS] >> at % WORD_BITS & 1) != 0;
}

static void take(uint64_t *held, uint32_t port)
{
    if (in_range(port)) {
        const uint32_t at = port - PORTS_MASTER_FIRST;
        held[at / WORD_BITS] |= 1ULL << at % WORD_BITS;
    }
}

uint32_t ports_pick(const struct core *core, node_id node, task_id task,
                    const struct ports_given *given)
{
    uint64_t held[HELD_WORDS] = {0};
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node, &cursor)) != NULL) {
        take(held, instance->master_port);
    }
    for (uint32_t i = 0; i < PORTS_MASTER_COUNT; i++) {
        const uint32_t at = (uint32_t)((task.v + i) % PORTS_MASTER_COUNT);
        const uint32_t port = PORTS_MASTER_FIRST + at;
        if (!is_held(held, at) && (given == NULL || given_find(given, node, port)->port == 0)) {
            return port;
        }
    }
    return 0;
}

uint32_t ports_master(const struct core *core, const struct task *task)
{
    must(task->gang);
    const struct instance *first = query_instance(core, task->id, 0);
    must(first != NULL);
    return first->master_port != 0 ? first->master_port
                                   : OLD_FIRST + (uint32_t)(task->id.v % OLD_COUNT);
}

bool ports_sound(const struct core *core, node_id node)
{
    uint64_t held[HELD_WORDS] = {0};
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node, &cursor)) != NULL) {
        const uint32_t port = instance->master_port;
        if (port != 0 && (!in_range(port) || is_held(held, port - PORTS_MASTER_FIRST) ||
                          !ports_holder(query_task(core, instance->task), instance->index))) {
            return false;
        }
        take(held, port);
    }
    return true;
}
