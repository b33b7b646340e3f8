/* heads.c - see heads.h.
 *
 * Surprising: where short tasks go first a new holder's places are chosen at the end of a pass, only to name the moment of its
 * start; from the next pass on it stands ahead of all others of its project and priority. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/heads.h"

#include "base/checked.h"
#include "core/core_internal.h"
#include "core/sched/rights.h"

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
    heads->last = heads->old != NULL ? heads->old->account : (account_id){0};
}

/* ---- holders ---- */

/* Instances of the task that this pass has started. */
static uint32_t placed_count(const struct trial *trial, const struct task *task)
{
    uint32_t count = 0;
    for (size_t i = 0; i < trial->count; i++) {
        count += trial->decisions[i].kind == DECISION_START && trial->decisions[i].task == task;
    }
    return count;
}

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

static bool possible(const struct heads *heads, const struct task *task)
{
    return reserve_task_open(heads->trial, task);
}

static bool may_hold(const struct heads *heads)
{
    return !heads->closed &&
           (heads->count == 0 || (heads->timed && heads->count < RESERVATIONS_MAX));
}

static void holder_add(struct heads *heads, const struct task *task, int64_t until_ms)
{
    must(heads->count < RESERVATIONS_MAX);
    (void)overlay_holder(&heads->trial->overlay, task);
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
        if (task_promised(heads->holders[i])) {
            continue; /* it has its places when others have left them */
        }
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

void heads_begin(struct heads *heads, heads_barred_fn barred, void *ctx)
{
    heads->between = rights_between(heads->core, heads->pool);
    for (uint32_t i = 0; heads->between && i < heads->pool->reserved_count; i++) {
        const struct reservation *old = &heads->pool->reserved[i];
        const struct task *task = core_task(heads->core, old->task);
        if (!leaves_queue(heads->trial, task) && !barred(ctx, task) && possible(heads, task)) {
            holder_add(heads, task, old->until_ms);
        }
    }
}

/* ---- the first blocked ---- */

/* May this blocked task be the first at its turn? Between projects only the one that was it before: else the project whose turn
 * comes first, with small ones always ready, would leave none to the others. */
static bool head_allowed(const struct heads *heads, const struct task *task)
{
    return !heads->by_length && (!heads->between || heads->old == task);
}

/* How many accounts are between that of the last head and that of the task, going round. */
static uint32_t distance(const struct heads *heads, const struct task *task)
{
    return task->account.v - heads->last.v - 1;
}

/* Of the first blocked of each project the next is that of the project whose turn it is after the last head's, in the order of their
 * ids: so each has its turn, however many wait in the others. */
static void next_note(struct heads *heads, const struct task *task, bool *seen)
{
    const bool nearer = heads->next == NULL ||
                        (heads->between && distance(heads, task) < distance(heads, heads->next));
    if (!*seen && nearer && possible(heads, task)) {
        heads->next = task;
    }
    *seen |= nearer && heads->next == task;
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
bool heads_note(struct heads *heads, const struct task *task, bool progress, bool *seen)
{
    if (heads->between && is_holder(heads, task)) {
        return true;
    }
    /* One that was found blocked before it, and is ahead of it, takes its place. */
    const bool holder = task->reserved && !progress && (heads->by_length || heads->head == NULL);
    if (holder && !heads->closed && heads->count < RESERVATIONS_MAX) {
        const bool holds = possible(heads, task);
        if (holds) {
            holder_add(heads, task, until_known(heads->pool, task->id));
        }
        return holds;
    }
    const bool allowed = head_allowed(heads, task) && may_hold(heads);
    if (!allowed && heads->head == NULL && (heads->between || may_hold(heads))) {
        next_note(heads, task, seen);
    }
    if (!allowed || heads->head != NULL || !possible(heads, task)) {
        return false;
    }
    head_set(heads, task, progress);
    if (overtaken_enough(heads)) {
        holder_new(heads, task);
    }
    return heads->count > 0 && heads->holders[heads->count - 1] == task;
}

void heads_elect(struct heads *heads, heads_barred_fn barred, void *ctx)
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

void heads_unbar(struct heads *heads, heads_barred_fn barred, void *ctx)
{
    const uint32_t count = heads->count;
    if (!heads->between) {
        return; /* they were met at their turns */
    }
    heads->count = 0;
    heads->timed = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct task *task = heads->holders[i];
        if (leaves_queue(heads->trial, task) || !barred(ctx, task)) {
            holder_add(heads, task, heads->until_ms[i]);
        }
    }
    heads->kept = heads->kept < heads->count ? heads->kept : heads->count;
}

bool heads_barred(const struct heads *heads, heads_barred_fn barred, void *ctx)
{
    bool any = heads->head != NULL && barred(ctx, heads->head);
    for (uint32_t i = 0; i < heads->count && !any; i++) {
        any = barred(ctx, heads->holders[i]);
    }
    return any;
}

/* ---- facts ---- */

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

/* Was it passed by, and will be again? Others can take from it only while those behind it hold what its project has a right to, unless
 * that right is less than it asks for. */
static bool passed_by(const struct heads *heads, const struct task *task)
{
    struct overlay *overlay = &heads->trial->overlay;
    const struct holding_task *holder = &overlay->holders[overlay_holder(overlay, task)];
    return holder->passed_own > 0 ||
           (holder->passed_else > 0 && !rights_enough(&heads->trial->tally, task));
}

/* Between projects: who got one of its instances has had its turn, and who is passed by does not make the others wait for that: the
 * next one is first now. */
static void holders_release(struct heads *heads)
{
    const uint32_t count = heads->count;
    heads->count = 0;
    heads->timed = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct task *task = heads->holders[i];
        const bool next = heads->next != NULL && heads->next->account.v != task->account.v;
        const bool over =
            heads->between && task->reserved &&
            (placed_count(heads->trial, task) > 0 || (next && passed_by(heads, task)));
        if (!over) {
            holder_add(heads, task, heads->until_ms[i]);
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
    holders_release(heads);
    /* Beside other holders nobody is made to wait for a next pass that may refuse him as this one would. */
    const bool takes_next = heads->count == 0 || heads->pool->patience_ms > 0;
    if (!heads->by_length && heads->head == NULL && heads->next != NULL && may_hold(heads) &&
        takes_next) {
        head_set(heads, heads->next, false);
        /* Its turn is over: the next pass keeps places, or sees whom of the holders it is ahead of. */
        heads->impatient = heads->pool->patience_ms == 0 || heads->count > 0;
    }
    if (heads->head != NULL && leaves_queue(heads->trial, heads->head)) {
        heads->head = NULL;
    }
    head_fact(heads, in, out);
    reserved_fact(heads, in, out);
}
