/* heads.c - see heads.h.
 *
 * Surprising: where short tasks go first a new holder's places are chosen at the end of a pass, only to name the moment of its
 * start; from the next pass on it stands ahead of all others of its project and priority. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/heads.h"

#include "base/checked.h"
#include "core/core_internal.h"

enum { HEADS_LOOK_MAX = 64 }; /* tasks that are asked whether they have waited longest */

void heads_init(struct heads *heads, const struct core *core, const struct pool *pool,
                struct trial *trial)
{
    *heads = (struct heads){
        .core = core,
        .pool = pool,
        .trial = trial,
        .now_ms = trial->overlay.now_ms,
        .by_length = pool_by_length(pool),
        .timed = true,
    };
    heads->old = core_task(core, pool->blocked_task);
    if (heads->old == NULL && pool->reserved_count > 0) {
        heads->old = core_task(core, pool->reserved[0].task);
    }
}

/* ---- holders ---- */

static bool possible(const struct heads *heads, const struct task *task)
{
    return reserve_task_possible(&heads->trial->overlay, task);
}

static bool may_hold(const struct heads *heads)
{
    return !heads->closed &&
           (heads->count == 0 || (heads->timed && heads->count < RESERVATIONS_MAX));
}

static void holder_add(struct heads *heads, const struct task *task, int64_t until_ms)
{
    must(heads->count < RESERVATIONS_MAX);
    heads->holders[heads->count] = task;
    heads->until_ms[heads->count++] = until_ms;
    heads->timed = heads->timed && until_ms > 0;
}

static int64_t until_known(const struct pool *pool, task_id task)
{
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        if (pool->reserved[i].task.v == task.v) {
            return pool->reserved[i].until_ms;
        }
    }
    return 0;
}

void heads_keep(struct heads *heads)
{
    while (heads->kept < heads->count) {
        const uint32_t i = heads->kept++;
        const struct holder holder =
            reserve_holder(heads->core, heads->holders[i], heads->until_ms[i], heads->now_ms);
        (void)reserve_task(heads->trial, &holder);
    }
}

/* How long it may be overtaken, if it became the first blocked now. */
static int64_t overtaken_max_ms(const struct heads *heads, const struct task *task)
{
    return i64_add(heads->pool->patience_ms, task_overtaken_ms(task));
}

/* The first blocked has been overtaken long enough. */
static void holder_new(struct heads *heads, const struct task *task)
{
    heads_keep(heads);
    struct holder holder = reserve_holder(heads->core, task, 0, heads->now_ms);
    holder.learned = heads->by_length;
    holder.timed_only = heads->count > 0;
    const int64_t until_ms = reserve_task(heads->trial, &holder);
    heads->head = NULL;
    if (heads->count > 0 && until_ms == 0) {
        heads->closed = true; /* it has to wait until others have started, and is asked again */
        heads->head = overtaken_max_ms(heads, task) > 0 ? task : NULL;
        heads->moved = true;
        return;
    }
    holder_add(heads, task, until_ms);
    heads->kept = heads->count;
    heads->closed = until_ms == 0;
}

/* ---- the first blocked ---- */

/* May this blocked task be the first, or is there an older one that comes before it? */
static bool head_allowed(const struct heads *heads, const struct task *task)
{
    const enum pool_policy policy = heads->pool->policy;
    return policy == POLICY_PRIORITY || policy == POLICY_FIFO || heads->old == NULL ||
           heads->old->account.v == task->account.v;
}

/* Is the first blocked one ahead of this holder in its order? Then it takes its place. Where turns change between projects, only
 * one of its own project is. */
static bool head_before(const struct heads *heads, const struct task *holder)
{
    const enum pool_policy policy = heads->pool->policy;
    return !heads->by_length && heads->head != NULL &&
           (policy == POLICY_PRIORITY || policy == POLICY_FIFO ||
            heads->head->account.v == holder->account.v);
}

static void head_set(struct heads *heads, const struct task *task, bool progress)
{
    heads->head = task;
    heads->moved = progress || task->id.v != heads->pool->blocked_task.v;
    heads->grew |= progress;
}

static bool overtaken_enough(const struct heads *heads)
{
    return heads->moved ? overtaken_max_ms(heads, heads->head) == 0
                        : pool_patience_ms(heads->pool) <= heads->now_ms;
}

/* The first blocked task that the nodes at hand could run is it. One that they could not (its nodes are
 * away) waits for no one here, and would keep places in vain. */
bool heads_note(struct heads *heads, const struct task *task, bool progress)
{
    const bool holder = task->reserved && !progress && !head_before(heads, task);
    if (holder && !heads->closed && heads->count < RESERVATIONS_MAX) {
        const bool holds = possible(heads, task);
        if (holds) {
            holder_add(heads, task, until_known(heads->pool, task->id));
        }
        return holds;
    }
    const bool allowed = !heads->by_length && head_allowed(heads, task);
    if (heads->head != NULL || !may_hold(heads) || (heads->next != NULL && !allowed) ||
        !possible(heads, task)) {
        return false;
    }
    if (!allowed) {
        heads->next = task;
        return false;
    }
    head_set(heads, task, progress);
    if (overtaken_enough(heads)) {
        holder_new(heads, task);
    }
    return heads->count > 0 && heads->holders[heads->count - 1] == task;
}

/* Instances of the task that this pass has started. */
static uint32_t placed_count(const struct trial *trial, const struct task *task)
{
    uint32_t count = 0;
    for (size_t i = 0; i < trial->count; i++) {
        count += trial->decisions[i].kind == DECISION_START && trial->decisions[i].task == task;
    }
    return count;
}

void heads_elect(struct heads *heads, heads_barred_fn barred, const void *ctx)
{
    struct okey key = {{heads->pool->id.v, 0, 0, 0}};
    if (!heads->by_length || !may_hold(heads)) {
        return;
    }
    const struct oindex *order = &heads->core->orders[ORDER_QUEUE];
    for (uint32_t i = 0; i < HEADS_LOOK_MAX && heads->head == NULL; i++) {
        if (!oindex_next(order, key, &key) || key.at[0] != heads->pool->id.v) {
            break;
        }
        const struct task *task = core_task(heads->core, (task_id){key.at[3]});
        const uint32_t placed = task->reserved ? 0 : placed_count(heads->trial, task);
        const bool promised = task->gang && task->claimed_count > 0;
        if (!task->reserved && !promised && placed + task->claimed_count < task->waiting_count &&
            !barred(ctx, task) && possible(heads, task)) {
            head_set(heads, task, placed > 0);
        }
    }
    if (heads->head == NULL && heads->next != NULL && !heads->next->reserved) {
        head_set(heads, heads->next, false);
    }
    if (heads->head != NULL && overtaken_enough(heads)) {
        holder_new(heads, heads->head);
        heads->impatient = !heads->closed || heads->count == 1;
    }
}

bool heads_barred(const struct heads *heads, heads_barred_fn barred, const void *ctx)
{
    bool any = heads->head != NULL && barred(ctx, heads->head);
    for (uint32_t i = 0; i < heads->count && !any; i++) {
        any = barred(ctx, heads->holders[i]);
    }
    return any;
}

/* ---- facts ---- */

/* All of it starts in this pass, also where it was promised; or it is a gang of which some are told to make room: that does not
 * wait for more until they have left. */
static bool leaves_queue(const struct trial *trial, const struct task *task)
{
    if (placed_count(trial, task) == task->waiting_count) {
        return true;
    }
    for (size_t i = 0; task->gang && i < trial->count; i++) {
        if (trial->decisions[i].kind == DECISION_EVICT && trial->decisions[i].task == task) {
            return true;
        }
    }
    return false;
}

static bool is_holder(const struct heads *heads, const struct task *task)
{
    for (uint32_t i = 0; i < heads->count; i++) {
        if (heads->holders[i] == task) {
            return true;
        }
    }
    return false;
}

/* Holders whose turn has not come stay what they are. */
static void unmet_add(struct heads *heads)
{
    for (uint32_t i = 0; i < heads->pool->reserved_count; i++) {
        const struct reservation *old = &heads->pool->reserved[i];
        const struct task *task = core_task(heads->core, old->task);
        if (heads->count < RESERVATIONS_MAX && !leaves_queue(heads->trial, task) &&
            !is_holder(heads, task)) {
            holder_add(heads, task, old->until_ms);
        }
    }
}

static void head_fact(struct heads *heads, const struct input *in, struct facts *out)
{
    /* Of a holder whose start nobody knows the pool says that it is blocked, too. */
    const struct task *head = heads->head;
    if (head == NULL && heads->count > 0 && !heads->timed) {
        head = heads->holders[heads->count - 1];
        head = leaves_queue(heads->trial, head) ? NULL : head;
    }
    const task_id id = head == NULL ? (task_id){0} : head->id;
    if (id.v != heads->pool->blocked_task.v || (heads->head != NULL && heads->moved)) {
        struct fact *fact = facts_add(out, in, FACT_HEAD_BLOCKED);
        fact->head.pool = heads->pool->id;
        fact->head.task = id;
    }
}

static void reserved_fact(struct heads *heads, const struct input *in, struct facts *out)
{
    const struct pool *pool = heads->pool;
    struct reservation *list = arena_new(out->arena, struct reservation, RESERVATIONS_MAX);
    uint32_t count = 0;
    bool changed = false;
    for (uint32_t i = 0; i < heads->count; i++) {
        if (!leaves_queue(heads->trial, heads->holders[i])) {
            list[count] = (struct reservation){heads->holders[i]->id, heads->until_ms[i]};
            changed |= list[count].task.v != pool->reserved[count].task.v;
            count++;
        }
    }
    if (changed || count != pool->reserved_count) {
        struct fact *fact = facts_add(out, in, FACT_RESERVED);
        fact->reserved.pool = pool->id;
        fact->reserved.at = list;
        fact->reserved.count = count;
        /* Who holds none any more, or now, says who may be the first blocked: look again. */
        heads->impatient = true;
    }
}

/* A pass that stopped before it met a blocked task knows of no new one and leaves the old one. */
void heads_facts(struct heads *heads, bool stopped, const struct input *in, struct facts *out)
{
    const struct task *blocked = core_task(heads->core, heads->pool->blocked_task);
    if (stopped && heads->head == NULL && heads->count == 0 &&
        (blocked == NULL || !leaves_queue(heads->trial, blocked))) {
        return;
    }
    if (stopped) {
        unmet_add(heads);
    }
    /* Beside other holders nobody is made to wait for a next pass that may refuse him as this one would. */
    const bool takes_next = heads->count == 0 || heads->pool->patience_ms > 0;
    if (!heads->by_length && heads->head == NULL && heads->next != NULL && may_hold(heads) &&
        takes_next) {
        head_set(heads, heads->next, false);
        heads->moved = true;
        /* Its turn is over: the next pass keeps places, or sees whom of the holders it is ahead of. */
        heads->impatient = heads->pool->patience_ms == 0 || heads->count > 0;
    }
    if (heads->head != NULL && leaves_queue(heads->trial, heads->head)) {
        heads->head = NULL;
    }
    head_fact(heads, in, out);
    reserved_fact(heads, in, out);
}
