/* oracle.c - judges by brute force. Free amounts are summed anew from all instances. Instances
 * are placed one by one on a scratch copy of a node. P5 is in oracle_idle.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "core/state/elastic.h"

#include "core/model/label.h"
#include "law.h"

/* Subtracts everything that instances hold on the node. */
static void free_now(const struct core *core, const struct node *node, struct free_node *ret)
{
    free_empty(node, node->devices_out, ret);
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        for (uint32_t i = 0; i < task->instance_count; i++) {
            const struct instance *instance = query_instance(core, task->id, i);
            const struct request *request = query_task_request(core, task, i);
            const bool holds =
                instance->state != INSTANCE_WAITING && instance->state != INSTANCE_ENDED;
            if (holds && instance->node.v == node->id.v) {
                free_take(ret, request, instance->slots_milli, instance->cpu_milli,
                          instance->memory_bytes, instance->devices);
            }
        }
    }
}

static int64_t part_of(int64_t asked, int64_t total, const struct node *node, int64_t slots)
{
    if (asked >= 0) {
        return asked;
    }
    return node->slots_milli == 0 ? 0 : total * SLOT_MILLI / node->slots_milli * slots / SLOT_MILLI;
}

/* Chooses devices for equal parts of several devices. Devices that serve the most requests of
 * this kind come first, which leaves the most for further instances. */
static uint64_t shares_find(const struct free_node *free, const struct request *request,
                            int64_t each)
{
    uint64_t chosen = 0;
    for (uint32_t n = 0; n < request->share_devices; n++) {
        int best = -1;
        for (int i = 0; i < (int)free->node->device_count; i++) {
            const bool allowed = request->device_mask == 0 || (request->device_mask >> i & 1) != 0;
            if (allowed && (chosen >> i & 1) == 0 && free->device[i] >= each &&
                (best < 0 || free->device[i] / each > free->device[best] / each)) {
                best = i;
            }
        }
        if (best < 0) {
            return UINT64_MAX;
        }
        chosen |= (uint64_t)1 << best;
    }
    return chosen;
}

/* Finds devices for one instance by trying; UINT64_MAX: there are none. */
static uint64_t devices_find(const struct free_node *free, const struct request *request,
                             int64_t slots)
{
    if (request->share_devices > 0) {
        return shares_find(free, request, slots / request->share_devices);
    }
    const bool share = request->slots_milli < SLOT_MILLI;
    uint64_t chosen = 0;
    int64_t left = request->slots_milli;
    int best = -1;
    for (int i = 0; i < (int)free->node->device_count; i++) {
        const bool allowed = request->device_mask == 0 || (request->device_mask >> i & 1) != 0;
        if (!allowed) {
            continue;
        }
        if (share && free->device[i] >= left &&
            (best < 0 || free->device[i] < free->device[best])) {
            best = i;
        } else if (!share && free->device[i] == SLOT_MILLI && left > 0) {
            chosen |= (uint64_t)1 << i;
            left -= SLOT_MILLI;
        }
    }
    if (share) {
        return best < 0 ? UINT64_MAX : (uint64_t)1 << best;
    }
    return left > 0 ? UINT64_MAX : chosen;
}

static bool kept_away(const struct node *node, const struct request *request)
{
    bool away = false;
    for (uint32_t i = 0; i < request->avoid_count; i++) {
        away |= request->avoid[i].v == node->id.v;
    }
    /* a part of a wide task that must have a whole node of just its size */
    away |= request->wide == WIDE_NODES && node->slots_milli != request->slots_milli;
    return away || !label_marks_cover(node->labels, request);
}

int64_t oracle_slots(const struct node *node, const struct request *request)
{
    if (request->share_devices == 0 || request->slots_milli > 0) {
        return request->slots_milli;
    }
    int64_t each = 1;
    while (each < SLOT_MILLI &&
           node->gpu_memory_bytes * each < request->gpu_memory_bytes * SLOT_MILLI) {
        each++;
    }
    return request->share_devices * each;
}

/* Places one instance if it fits. */
static bool free_place(struct free_node *free, const struct request *request)
{
    const struct node *node = free->node;
    if (request->gpu_memory_bytes > node->gpu_memory_bytes) {
        return false;
    }
    const int64_t slots = oracle_slots(node, request);
    const int64_t cpu = part_of(request->cpu_milli, node->cpu_milli, node, slots);
    const int64_t memory = part_of(request->memory_bytes, node->memory_bytes, node, slots);
    uint64_t devices = 0;
    if (kept_away(node, request)) {
        return false;
    }
    if ((request->needs_gpu && node->device_count == 0) ||
        (node->device_count < 64 && request->device_mask >> node->device_count != 0)) {
        return false;
    }
    if ((slots > 0 && free->slots < slots) || (cpu > 0 && free->cpu < cpu) ||
        (memory > 0 && free->memory < memory) || (slots == 0 && free->aux < 1)) {
        return false;
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        if (free_named(free, request->named[i].resource) < request->named[i].milli) {
            return false;
        }
    }
    if (slots > 0 && node->device_count > 0) {
        devices = devices_find(free, request, slots);
        if (devices == UINT64_MAX) {
            return false;
        }
    }
    free_take(free, request, slots, cpu, memory, devices);
    return true;
}

static uint32_t free_count(struct free_node *free, const struct request *request, uint32_t max)
{
    uint32_t count = 0;
    while (count < max && free_place(free, request)) {
        count++;
    }
    return count;
}

/* Checks that the node has everything that its instances hold, this attempt included. */
static void not_over(const struct core *core, const struct instance *instance,
                     const struct free_node *free)
{
    const struct task *task = query_task(core, instance->task);
    const struct request *request = query_task_request(core, task, instance->index);
    law(instance->slots_milli == 0 || free->slots >= 0, "P1: slots");
    law(instance->cpu_milli == 0 || free->cpu >= 0, "P1: cpu");
    law(instance->memory_bytes == 0 || free->memory >= 0, "P1: memory");
    law(instance->slots_milli > 0 || free->aux >= 0, "P1: zero-slot tasks");
    for (uint32_t i = 0; i < request->named_count; i++) {
        law(free_named(free, request->named[i].resource) >= 0, "P1: named resources");
    }
    for (uint32_t i = 0; i < free->node->device_count; i++) {
        law(free->device[i] >= 0, "P1: devices");
    }
}

void oracle_not_over(const struct core *core, struct attempt_key key)
{
    const struct instance *instance = query_instance(core, key.task, key.index);
    struct free_node free;
    free_now(core, query_node(core, instance->node), &free);
    not_over(core, instance, &free);
}

void oracle_not_over_listed(const struct core *core, struct attempt_key key)
{
    const struct instance *instance = query_instance(core, key.task, key.index);
    struct attempt_key cursor = {0};
    struct free_node free;
    const struct node *node = query_node(core, instance->node);
    free_empty(node, node->devices_out, &free);
    for (const struct instance *one = query_node_instance_next(core, instance->node, &cursor);
         one != NULL; one = query_node_instance_next(core, instance->node, &cursor)) {
        free_take(&free, query_task_request(core, query_task(core, one->task), one->index),
                  one->slots_milli, one->cpu_milli, one->memory_bytes, one->devices);
    }
    not_over(core, instance, &free);
}

void oracle_gangs_whole(const struct core *core, const struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        if (facts->at[i].type != FACT_ALLOCATED) {
            continue;
        }
        const struct task *task = query_task(core, facts->at[i].allocated.key.task);
        uint32_t together = 0;
        for (size_t j = 0; task->gang && j < facts->count; j++) {
            together += facts->at[j].type == FACT_ALLOCATED &&
                        facts->at[j].allocated.key.task.v == task->id.v;
        }
        law(!task->gang || together + task->ended_count >= task->min_count ||
                task->active_count > together,
            "P2: a gang starts whole");
        law(!task->gang || task->active_count + task->ended_count >= task->min_count,
            "P2: a gang runs with its minimum");
        if (oracle_grouped(core, task)) {
            oracle_groups_whole(core, task);
        }
    }
}

void oracle_gangs_in_time(const struct core *core, int64_t now_ms)
{
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        const uint32_t stay = task->active_count - task->stopping_count;
        const bool broken = oracle_grouped(core, task) ? oracle_groups_broken(core, task)
                                                       : stay + task->ended_count < task->min_count;
        if (!task->gang || stay == 0 || !broken) {
            continue;
        }
        const bool may =
            task->stale_grace_ms != STALE_GRACE_POOL || task->min_count < task->instance_count;
        const int64_t grace_ms = task->stale_grace_ms != STALE_GRACE_POOL
                                     ? task->stale_grace_ms
                                     : query_pool(core, task->pool)->stale_grace_ms;
        law(may, "P2: a gang that needs all of its instances runs whole");
        law(grace_ms == STALE_GRACE_NEVER || now_ms < task->stale_ms + grace_ms,
            "P2: a gang that breaks is whole again or gone after its grace time");
    }
}

uint32_t oracle_fits(const struct ledger *ledger, const struct node *node,
                     const struct request *request, uint32_t count)
{
    const struct free_node *left = ledger_left(ledger, node);
    if (request->slots_milli > 0 && request->slots_milli > left->slots) {
        return 0; /* the most frequent case, which needs no copy */
    }
    struct free_node free = *left;
    return free_count(&free, request, count);
}

uint32_t oracle_holds(const struct node *node, const struct request *request, uint32_t count)
{
    struct free_node empty;
    free_empty(node, 0, &empty);
    return free_count(&empty, request, count);
}

bool oracle_possible(const struct core *core, pool_id pool, const struct request *request,
                     uint32_t count)
{
    uint32_t found = 0;
    bool any = false;
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        if (node->pool.v == pool.v) {
            any = true;
            found += oracle_holds(node, request, count - found);
        }
        if (found >= count) {
            return true;
        }
    }
    const struct pool *row = query_pool(core, pool);
    if (elastic_pool(row) && row->nodes_max > 0) {
        const uint32_t more =
            row->nodes_max > row->launch_live ? row->nodes_max - row->launch_live : 0;
        struct node flavor;
        elastic_flavor(row, &flavor);
        return found + (uint64_t)oracle_holds(&flavor, request, count) *
                           (more + row->launch_starting) >=
               count;
    }
    return !any;
}
