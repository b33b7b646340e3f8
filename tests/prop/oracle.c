/* oracle.c - brute force: free amounts are summed anew from all instances, instances are placed one
 * by one on a scratch copy of a node. SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "core/model/label.h"
#include "world.h"

#include <string.h>

struct free_node {
    const struct node *node;
    int64_t slots;
    int64_t cpu;
    int64_t memory;
    int64_t aux;
    int64_t named[RESOURCES_MAX];
    bool has[RESOURCES_MAX];
    int64_t device[NODE_DEVICES_MAX];
};

static void free_empty(const struct node *node, struct free_node *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->node = node;
    ret->slots = node->slots_milli;
    ret->cpu = node->cpu_milli;
    ret->memory = node->memory_bytes;
    ret->aux = node->aux_max;
    for (uint32_t i = 0; i < node->named_count; i++) {
        ret->named[node->named[i].resource.v] = node->named[i].milli;
        ret->has[node->named[i].resource.v] = true;
    }
    for (uint32_t i = 0; i < node->device_count; i++) {
        ret->device[i] = SLOT_MILLI;
    }
}

/* The same, as free_left() is called. */
static void free_alone(const struct core *core, const struct node *node, struct free_node *ret)
{
    (void)core;
    free_empty(node, ret);
}

static void free_take(struct free_node *free, const struct request *request, int64_t slots,
                      int64_t cpu, int64_t memory, uint64_t devices)
{
    free->slots -= slots;
    free->cpu -= cpu;
    free->memory -= memory;
    free->aux -= slots == 0;
    for (uint32_t i = 0; i < request->named_count; i++) {
        free->named[request->named[i].resource.v] -= request->named[i].milli;
    }
    for (uint32_t i = 0; i < NODE_DEVICES_MAX; i++) {
        if (devices >> i & 1) {
            free->device[i] -= slots / __builtin_popcountll(devices);
        }
    }
}

/* The node less everything that any instance holds on it. */
static void free_now(const struct core *core, const struct node *node, struct free_node *ret)
{
    free_empty(node, ret);
    for (const struct task *task = core_task_next(core, (task_id){0}); task != NULL;
         task = core_task_next(core, task->id)) {
        for (uint32_t i = 0; i < task->instance_count; i++) {
            const struct instance *instance = core_instance(core, task->id, i);
            const struct request *request = task_request(core, task, i);
            const bool holds =
                instance->state != INSTANCE_WAITING && instance->state != INSTANCE_ENDED;
            if (holds && instance->node.v == node->id.v) {
                free_take(ret, request, instance->slots_milli, instance->cpu_milli,
                          instance->memory_bytes, instance->devices);
            }
        }
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The node less everything that will be held on it: without those who are leaving, with those who are promised a place. */
static void free_later(const struct core *core, const struct node *node, struct free_node *ret)
{
    free_empty(node, ret);
    for (const struct task *task = core_task_next(core, (task_id){0}); task != NULL;
         task = core_task_next(core, task->id)) {
        for (uint32_t i = 0; i < task->instance_count; i++) {
            const struct instance *instance = core_instance(core, task->id, i);
            const struct request *request = task_request(core, task, i);
            const struct claim *claim = core_claim(core, task->id, i);
            if (claim != NULL && claim->node.v == node->id.v) {
                free_take(ret, request, claim->slots_milli, claim->cpu_milli, claim->memory_bytes,
                          claim->devices);
            }
            const bool stays =
                instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
            if (stays && instance->node.v == node->id.v) {
                free_take(ret, request, instance->slots_milli, instance->cpu_milli,
                          instance->memory_bytes, instance->devices);
            }
        }
    }
}

/* What is free now and not promised to anybody. */
static void free_left(const struct core *core, const struct node *node, struct free_node *ret)
{
    struct free_node later;
    free_now(core, node, ret);
    free_later(core, node, &later);
    ret->slots = least(ret->slots, later.slots);
    ret->cpu = least(ret->cpu, later.cpu);
    ret->memory = least(ret->memory, later.memory);
    ret->aux = least(ret->aux, later.aux);
    for (uint32_t i = 0; i < RESOURCES_MAX; i++) {
        ret->named[i] = least(ret->named[i], later.named[i]);
    }
    for (uint32_t i = 0; i < NODE_DEVICES_MAX; i++) {
        ret->device[i] = least(ret->device[i], later.device[i]);
    }
}

static int64_t part_of(int64_t asked, int64_t total, const struct node *node, int64_t slots)
{
    if (asked >= 0) {
        return asked;
    }
    return node->slots_milli == 0 ? 0 : total * SLOT_MILLI / node->slots_milli * slots / SLOT_MILLI;
}

/* Equal shares of several devices: those first that could serve most others, which leaves the most to them. */
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

/* Devices for one instance by trying; UINT64_MAX: none. */
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

/* Place one instance if it fits. */
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
        if (free->named[request->named[i].resource.v] < request->named[i].milli) {
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

void oracle_not_over(const struct core *core, struct attempt_key key)
{
    const struct instance *instance = core_instance(core, key.task, key.index);
    const struct request *request = task_request(core, core_task(core, key.task), key.index);
    struct free_node free;
    free_now(core, core_node(core, instance->node), &free);
    law(instance->slots_milli == 0 || free.slots >= 0, "P1: slots");
    law(instance->cpu_milli == 0 || free.cpu >= 0, "P1: cpu");
    law(instance->memory_bytes == 0 || free.memory >= 0, "P1: memory");
    law(instance->slots_milli > 0 || free.aux >= 0, "P1: zero-slot tasks");
    for (uint32_t i = 0; i < request->named_count; i++) {
        law(free.named[request->named[i].resource.v] >= 0, "P1: named resources");
    }
    for (uint32_t i = 0; i < free.node->device_count; i++) {
        law(free.device[i] >= 0, "P1: devices");
    }
}

void oracle_gangs_whole(const struct core *core, const struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        if (facts->at[i].type != FACT_ALLOCATED) {
            continue;
        }
        const struct task *task = core_task(core, facts->at[i].allocated.key.task);
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
    for (const struct task *task = core_task_next(core, (task_id){0}); task != NULL;
         task = core_task_next(core, task->id)) {
        const uint32_t stay = task->active_count - task->stopping_count;
        const bool broken = oracle_grouped(core, task) ? oracle_groups_broken(core, task)
                                                       : stay + task->ended_count < task->min_count;
        if (!task->gang || stay == 0 || !broken) {
            continue;
        }
        const bool may = task->own_stale_grace || task->min_count < task->instance_count;
        const int64_t grace_ms = task->own_stale_grace
                                     ? task->stale_grace_ms
                                     : core_pool(core, task->pool)->stale_grace_ms;
        law(may, "P2: a gang that needs all of its instances runs whole");
        law(grace_ms == STALE_GRACE_NEVER || now_ms < task->stale_ms + grace_ms,
            "P2: a gang that breaks is whole again or gone after its grace time");
    }
}

static bool usable(const struct node *node)
{
    return node->state == NODE_UP && !node->draining;
}

/* All that wait have been promised a place. */
static bool promised(const struct task *task)
{
    return task->claimed_count > 0 && (task->gang || task->claimed_count == task->waiting_count);
}

static bool may_run(const struct task *task)
{
    const bool live = task->state == TASK_PENDING || task->state == TASK_STARTING ||
                      task->state == TASK_RUNNING || task->state == TASK_STOPPING;
    const bool held = task->kill_asked || task->pause_asked || task->pool_next.v != 0;
    return live && task->waiting_count > 0 && task->depends_left == 0 && !held &&
           !(task->gang && task->stopping_count > 0) && !promised(task);
}

/* A gang that has not its minimum comes before one that has, and that before one with more. */
static int stage_of(const struct task *task)
{
    const uint32_t grown = task->active_count - task->stopping_count + task->ended_count;
    if (!task->gang || grown < task->min_count || task->lacks == LACKS_OF_ALL) {
        return 0;
    }
    return grown == task->min_count ? 1 : 2;
}

static bool ahead_of(const struct pool *pool, const struct task *a, const struct task *b)
{
    const bool plain = pool->policy == POLICY_FIFO;
    if (!plain && a->priority != b->priority) {
        return a->priority > b->priority;
    }
    if (!plain && stage_of(a) != stage_of(b)) {
        return stage_of(a) < stage_of(b);
    }
    return a->rank != b->rank ? a->rank < b->rank : a->id.v < b->id.v;
}

/* Could this node ever be one of the holder's? */
static bool holder_uses(const struct core *core, const struct node *node, const struct task *holder)
{
    struct free_node empty;
    free_empty(node, &empty);
    for (uint32_t i = 0; i < holder->instance_count; i++) {
        if (free_place(&empty, task_request(core, holder, i))) {
            return true;
        }
    }
    return false;
}

/* Instances that start together. */
static uint32_t chunk_of(const struct task *task)
{
    const uint32_t grown = task->active_count - task->stopping_count + task->ended_count;
    return task->gang && grown < task->min_count ? task->min_count - grown : 1;
}

uint32_t oracle_fits(const struct core *core, const struct node *node,
                     const struct request *request, uint32_t count, bool empty)
{
    struct free_node free;
    (empty ? free_alone : free_left)(core, node, &free);
    return free_count(&free, request, count);
}

/* Does the holder come before the task? Between accounts turns change: who was ahead of the holder and fits has started. Where short
 * ones go first, a holder is ahead of all others of its priority. */
static bool behind_of(const struct pool *pool, const struct task *holder, const struct task *task)
{
    const bool first = pool->order == QUEUE_SHORT_FIRST && pool->policy != POLICY_FIFO &&
                       holder->priority == task->priority;
    return holder != task &&
           (holder->account.v != task->account.v || first || ahead_of(pool, holder, task));
}

/* Might the node be kept for somebody who comes before the task? */
static bool perhaps_kept(const struct core *core, const struct pool *pool, const struct node *node,
                         const struct task *task)
{
    bool kept = false;
    for (uint32_t i = 0; i < pool->reserved_count && !kept; i++) {
        const struct task *holder = core_task(core, pool->reserved[i].task);
        if (holder == task && pool->order == QUEUE_SHORT_FIRST) {
            break; /* those behind it in the list come later */
        }
        kept = behind_of(pool, holder, task) && holder_uses(core, node, holder);
    }
    return kept;
}

bool oracle_usable(const struct node *node, const struct core *core, const struct task *task)
{
    return usable(node) &&
           (task == NULL || !perhaps_kept(core, core_pool(core, node->pool), node, task));
}

/* May one ahead of the task, in its own project, wait for what it would take of the project's quota: one that holds a reservation, or
 * one that has waited for long enough, where the bounds do not allow for both? */
static bool quota_kept(const struct core *core, const struct pool *pool, const struct task *task,
                       int64_t now_ms)
{
    const bool takes = pool->policy == POLICY_FAIR_SHARE && !pool->preemption_off;
    for (const struct task *other = core_task_next(core, (task_id){0}); other != NULL;
         other = core_task_next(core, other->id)) {
        const bool ahead = other->pool.v == task->pool.v && other->account.v == task->account.v &&
                           may_run(other) && behind_of(pool, other, task);
        const bool beside = other->pool.v == task->pool.v && other->account.v != task->account.v &&
                            oracle_related(core, other->account, task->account);
        const bool waited = may_run(other) && now_ms - other->queued_ms >= pool->patience_ms;
        const uint32_t count = chunk_of(other);
        if ((takes && other->reserved && (ahead || beside)) ||
            (waited && ahead && oracle_bounded_both(core, other, count, task, chunk_of(task))) ||
            (waited && beside && oracle_bounded_beside(core, other, count, task, chunk_of(task)))) {
            return true;
        }
    }
    return false;
}

static void task_must_not_fit(const struct core *core, const struct pool *pool,
                              const struct task *task, int64_t now_ms)
{
    const struct request *request = &core_shape(core, task->shape)->request;
    const uint32_t count = chunk_of(task);
    uint32_t found = 0;
    const bool grouped = oracle_grouped(core, task);
    if ((!grouped && oracle_bounded(core, task, NULL, count)) ||
        quota_kept(core, pool, task, now_ms)) {
        return;
    }
    if (core_shape(core, task->shape)->form != NULL) {
        oracle_form_idles(core, task, count);
        return;
    }
    for (const struct node *node = core_node_next(core, (node_id){0}); node != NULL;
         node = core_node_next(core, node->id)) {
        if (node->pool.v == pool->id.v && oracle_usable(node, core, task)) {
            struct free_node free;
            free_left(core, node, &free);
            const uint32_t fits = free_count(&free, request, count);
            found += oracle_bounded(core, task, node, count) ? 0 : fits;
        }
    }
    law(found < count, "P5: nothing that may run fits what is free");
}

void oracle_nothing_idles(const struct core *core, pool_id id, int64_t now_ms)
{
    const struct pool *pool = core_pool(core, id);
    if (pool == NULL || pool->paused) {
        return;
    }
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        const struct task *holder = core_task(core, pool->reserved[i].task);
        /* What the instances of a group ask for is not the request of its task. */
        const bool plain = core_shape(core, holder->shape)->form == NULL;
        law(!plain || !oracle_bounded(core, holder, NULL, chunk_of(holder)),
            "P7: nobody keeps places whom his accounts or his user's cap hold back anyway");
    }
    for (const struct task *task = core_task_next(core, (task_id){0}); task != NULL;
         task = core_task_next(core, task->id)) {
        if (task->pool.v == id.v && may_run(task)) {
            task_must_not_fit(core, pool, task, now_ms);
        }
    }
}

bool oracle_possible(const struct core *core, pool_id pool, const struct request *request,
                     uint32_t count)
{
    uint32_t found = 0;
    bool any = false;
    for (const struct node *node = core_node_next(core, (node_id){0}); node != NULL;
         node = core_node_next(core, node->id)) {
        if (node->pool.v == pool.v) {
            struct free_node empty;
            free_empty(node, &empty);
            any = true;
            found += free_count(&empty, request, count - found);
        }
    }
    return !any || found >= count;
}
