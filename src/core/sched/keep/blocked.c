/* blocked.c - see blocked.h.
 *
 * Surprising: where short tasks go first a new holder's places are chosen at the end of a pass, only to name the moment of its
 * start; from the next pass on it stands ahead of all others of its project and priority. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/blocked.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/must.h"
#include "core/model/oindex.h"
#include "core/sched/keep/reserve.h"
#include "core/sched/keep/rights.h"
#include "core/sched/place/overlay.h"
#include "core/state/key.h"
#include "core/state/query.h"

enum { HEADS_LOOK_MAX = 64 }; /* tasks that are asked whether they have waited longest */

void blocked_init(struct blocked *waiting, const struct core *core, const struct pool *pool,
                  struct trial *trial)
{
    *waiting = (struct blocked){
        .core = core,
        .pool = pool,
        .trial = trial,
        .now_ms = trial->overlay.now_ms,
        .by_length = pool_by_length(pool),
        .timed = true,
    };
    waiting->old = query_task(core, pool->blocked_task);
    if (waiting->old == NULL && pool->reserved_count > 0) {
        waiting->old = query_task(core, pool->reserved[0].task);
    }
    waiting->last = waiting->old != NULL ? waiting->old->account : (account_id){0};
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

static bool is_holder(const struct blocked *waiting, const struct task *task)
{
    for (uint32_t i = 0; i < waiting->count; i++) {
        if (waiting->holders[i] == task) {
            return true;
        }
    }
    return false;
}

static bool possible(const struct blocked *waiting, const struct task *task)
{
    return reserve_form_open(waiting->trial, task);
}

static bool may_hold(const struct blocked *waiting)
{
    return !waiting->closed &&
           (waiting->count == 0 || (waiting->timed && waiting->count < RESERVATIONS_MAX));
}

static void holder_add(struct blocked *waiting, const struct task *task, int64_t until_ms)
{
    must(waiting->count < RESERVATIONS_MAX);
    (void)overlay_holder(&waiting->trial->overlay, task);
    waiting->holders[waiting->count] = task;
    waiting->until_ms[waiting->count++] = until_ms;
    waiting->timed = waiting->timed && until_ms > 0;
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

void blocked_keep(struct blocked *waiting)
{
    while (waiting->kept < waiting->count) {
        const uint32_t i = waiting->kept++;
        if (task_promised(waiting->holders[i])) {
            continue; /* it has its places when others have left them */
        }
        const struct holder holder = reserve_holder(waiting->core, waiting->holders[i],
                                                    waiting->until_ms[i], waiting->now_ms);
        (void)reserve_form_task(waiting->trial, &holder);
    }
}

/* How long it may be overtaken, if it became the first blocked now. */
static int64_t overtaken_max_ms(const struct blocked *waiting, const struct task *task)
{
    return i64_add(waiting->pool->patience_ms, task_overtaken_ms(task));
}

/* The first blocked has been overtaken long enough. */
static void holder_new(struct blocked *waiting, const struct task *task)
{
    blocked_keep(waiting);
    struct holder holder = reserve_holder(waiting->core, task, 0, waiting->now_ms);
    holder.learned = waiting->by_length;
    holder.timed_only = waiting->count > 0;
    const int64_t until_ms = reserve_form_task(waiting->trial, &holder);
    waiting->head = NULL;
    if (waiting->count > 0 && until_ms == 0) {
        waiting->closed = true; /* it has to wait until others have started, and is asked again */
        waiting->head = overtaken_max_ms(waiting, task) > 0 ? task : NULL;
        waiting->moved = true;
        return;
    }
    holder_add(waiting, task, until_ms);
    waiting->kept = waiting->count;
    waiting->closed = until_ms == 0;
}

void blocked_begin(struct blocked *waiting, blocked_barred_fn barred, void *ctx)
{
    waiting->between = rights_between(waiting->core, waiting->pool);
    for (uint32_t i = 0; waiting->between && i < waiting->pool->reserved_count; i++) {
        const struct reservation *old = &waiting->pool->reserved[i];
        const struct task *task = query_task(waiting->core, old->task);
        if (!leaves_queue(waiting->trial, task) && !barred(ctx, task) && possible(waiting, task)) {
            holder_add(waiting, task, old->until_ms);
        }
    }
}

/* ---- the first blocked ---- */

/* May this blocked task be the first at its turn? Between projects only the one that was it before: else the project whose turn
 * comes first, with small ones always ready, would leave none to the others. */
static bool head_allowed(const struct blocked *waiting, const struct task *task)
{
    return !waiting->by_length && (!waiting->between || waiting->old == task);
}

/* How many accounts are between that of the last head and that of the task, going round. */
static uint32_t distance(const struct blocked *waiting, const struct task *task)
{
    return task->account.v - waiting->last.v - 1;
}

/* Of the first blocked of each project the next is that of the project whose turn it is after the last head's, in the order of their
 * ids: so each has its turn, however many wait in the others. */
static void next_note(struct blocked *waiting, const struct task *task, bool *seen)
{
    const bool nearer =
        waiting->next == NULL ||
        (waiting->between && distance(waiting, task) < distance(waiting, waiting->next));
    if (!*seen && nearer && possible(waiting, task)) {
        waiting->next = task;
    }
    *seen |= nearer && waiting->next == task;
}

static void head_set(struct blocked *waiting, const struct task *task, bool progress)
{
    waiting->head = task;
    waiting->moved = progress || task->id.v != waiting->pool->blocked_task.v;
    waiting->grew |= progress;
}

static bool overtaken_enough(const struct blocked *waiting)
{
    return waiting->moved ? overtaken_max_ms(waiting, waiting->head) == 0
                          : pool_patience_ms(waiting->pool) <= waiting->now_ms;
}

/* The first blocked task that the nodes at hand could run is it. One that they could not (its nodes are
 * away) waits for no one here, and would keep places in vain. */
bool blocked_note(struct blocked *waiting, const struct task *task, bool progress, bool *seen)
{
    if (waiting->between && is_holder(waiting, task)) {
        return true;
    }
    /* One that was found blocked before it, and is ahead of it, takes its place. */
    const bool holder =
        task->reserved && !progress && (waiting->by_length || waiting->head == NULL);
    if (holder && !waiting->closed && waiting->count < RESERVATIONS_MAX) {
        const bool holds = possible(waiting, task);
        if (holds) {
            holder_add(waiting, task, until_known(waiting->pool, task->id));
        }
        return holds;
    }
    const bool allowed = head_allowed(waiting, task) && may_hold(waiting);
    if (!allowed && waiting->head == NULL && (waiting->between || may_hold(waiting))) {
        next_note(waiting, task, seen);
    }
    if (!allowed || waiting->head != NULL || !possible(waiting, task)) {
        return false;
    }
    head_set(waiting, task, progress);
    if (overtaken_enough(waiting)) {
        holder_new(waiting, task);
    }
    return waiting->count > 0 && waiting->holders[waiting->count - 1] == task;
}

void blocked_elect(struct blocked *waiting, blocked_barred_fn barred, void *ctx)
{
    struct okey key = {{waiting->pool->id.v, 0, 0, 0}};
    if (!waiting->by_length || !may_hold(waiting)) {
        return;
    }
    const struct oindex *order = &waiting->core->orders[ORDER_QUEUE];
    for (uint32_t i = 0; i < HEADS_LOOK_MAX && waiting->head == NULL; i++) {
        if (!oindex_next(order, key, &key) || key.at[0] != waiting->pool->id.v) {
            break;
        }
        const struct task *task = query_task(waiting->core, (task_id){key.at[3]});
        const uint32_t placed = task->reserved ? 0 : placed_count(waiting->trial, task);
        const bool promised = task->gang && task->claimed_count > 0;
        if (!task->reserved && !promised && placed + task->claimed_count < task->waiting_count &&
            !barred(ctx, task) && possible(waiting, task)) {
            head_set(waiting, task, placed > 0);
        }
    }
    if (waiting->head == NULL && waiting->next != NULL && !waiting->next->reserved) {
        head_set(waiting, waiting->next, false);
    }
    if (waiting->head != NULL && overtaken_enough(waiting)) {
        holder_new(waiting, waiting->head);
        waiting->impatient = !waiting->closed || waiting->count == 1;
    }
}

void blocked_unbar(struct blocked *waiting, blocked_barred_fn barred, void *ctx)
{
    const uint32_t count = waiting->count;
    if (!waiting->between) {
        return; /* they were met at their turns */
    }
    waiting->count = 0;
    waiting->timed = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct task *task = waiting->holders[i];
        if (leaves_queue(waiting->trial, task) || !barred(ctx, task)) {
            holder_add(waiting, task, waiting->until_ms[i]);
        }
    }
    waiting->kept = waiting->kept < waiting->count ? waiting->kept : waiting->count;
}

bool blocked_barred(const struct blocked *waiting, blocked_barred_fn barred, void *ctx)
{
    bool any = waiting->head != NULL && barred(ctx, waiting->head);
    for (uint32_t i = 0; i < waiting->count && !any; i++) {
        any = barred(ctx, waiting->holders[i]);
    }
    return any;
}

/* ---- facts ---- */

/* Holders whose turn has not come stay what they are. */
static void unmet_add(struct blocked *waiting)
{
    for (uint32_t i = 0; i < waiting->pool->reserved_count; i++) {
        const struct reservation *old = &waiting->pool->reserved[i];
        const struct task *task = query_task(waiting->core, old->task);
        if (waiting->count < RESERVATIONS_MAX && !leaves_queue(waiting->trial, task) &&
            !is_holder(waiting, task)) {
            holder_add(waiting, task, old->until_ms);
        }
    }
}

/* Was it passed by, and will be again? Others can take from it only while those behind it hold what its project has a right to, unless
 * that right is less than it asks for. */
static bool passed_by(const struct blocked *waiting, const struct task *task)
{
    struct overlay *overlay = &waiting->trial->overlay;
    const struct reserved_task *holder = &overlay->holders[overlay_holder(overlay, task)];
    return holder->passed_own > 0 ||
           (holder->passed_else > 0 && !rights_enough(&waiting->trial->tally, task));
}

/* Between projects: who got one of its instances has had its turn, and who is passed by does not make the others wait for that: the
 * next one is first now. */
static void holders_release(struct blocked *waiting)
{
    const uint32_t count = waiting->count;
    waiting->count = 0;
    waiting->timed = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct task *task = waiting->holders[i];
        const bool next = waiting->next != NULL && waiting->next->account.v != task->account.v;
        const bool over =
            waiting->between && task->reserved &&
            (placed_count(waiting->trial, task) > 0 || (next && passed_by(waiting, task)));
        if (!over) {
            holder_add(waiting, task, waiting->until_ms[i]);
        }
    }
}

static void head_fact(struct blocked *waiting, const struct input *in, struct facts *out)
{
    /* Of a holder whose start nobody knows the pool says that it is blocked, too. */
    const struct task *head = waiting->head;
    if (head == NULL && waiting->count > 0 && !waiting->timed) {
        head = waiting->holders[waiting->count - 1];
        head = leaves_queue(waiting->trial, head) ? NULL : head;
    }
    const task_id id = head == NULL ? (task_id){0} : head->id;
    if (id.v != waiting->pool->blocked_task.v || (waiting->head != NULL && waiting->moved)) {
        struct fact *fact = fact_list_add(out, in, FACT_HEAD_BLOCKED);
        fact->head.pool = waiting->pool->id;
        fact->head.task = id;
    }
}

static void reserved_fact(struct blocked *waiting, const struct input *in, struct facts *out)
{
    const struct pool *pool = waiting->pool;
    struct reservation *list = arena_new(out->arena, struct reservation, RESERVATIONS_MAX);
    uint32_t count = 0;
    bool changed = false;
    for (uint32_t i = 0; i < waiting->count; i++) {
        if (!leaves_queue(waiting->trial, waiting->holders[i])) {
            list[count] = (struct reservation){waiting->holders[i]->id, waiting->until_ms[i]};
            changed |= list[count].task.v != pool->reserved[count].task.v;
            count++;
        }
    }
    if (changed || count != pool->reserved_count) {
        struct fact *fact = fact_list_add(out, in, FACT_RESERVED);
        fact->reserved.pool = pool->id;
        fact->reserved.at = list;
        fact->reserved.count = count;
        /* Who holds none any more, or now, says who may be the first blocked: look again. */
        waiting->impatient = true;
    }
}

/* A pass that stopped before it met a blocked task knows of no new one and leaves the old one. */
void blocked_facts(struct blocked *waiting, bool stopped, const struct input *in, struct facts *out)
{
    const struct task *blocked = query_task(waiting->core, waiting->pool->blocked_task);
    if (stopped && waiting->head == NULL && waiting->count == 0 &&
        (blocked == NULL || !leaves_queue(waiting->trial, blocked))) {
        return;
    }
    if (stopped) {
        unmet_add(waiting);
    }
    holders_release(waiting);
    /* Beside other holders nobody is made to wait for a next pass that may refuse him as this one would. */
    const bool takes_next = waiting->count == 0 || waiting->pool->patience_ms > 0;
    if (!waiting->by_length && waiting->head == NULL && waiting->next != NULL &&
        may_hold(waiting) && takes_next) {
        head_set(waiting, waiting->next, false);
        /* Its turn is over: the next pass keeps places, or sees whom of the holders it is ahead of. */
        waiting->impatient = waiting->pool->patience_ms == 0 || waiting->count > 0;
    }
    if (waiting->head != NULL && leaves_queue(waiting->trial, waiting->head)) {
        waiting->head = NULL;
    }
    head_fact(waiting, in, out);
    reserved_fact(waiting, in, out);
}
