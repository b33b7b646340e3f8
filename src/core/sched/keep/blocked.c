/* blocked.c - chooses the head of a pool and turns heads into holders.
 *
 * Surprising: in a pool with `order: short-first` the places of a new holder are chosen at the end of a pass, only to name the moment
 * of its start. From the next pass on the holder stands ahead of all tasks of its project and priority.
 * SPDX-License-Identifier: Apache-2.0 */
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

enum { HEADS_LOOK_MAX = 64 }; /* how many of the oldest tasks blocked_elect() looks at */

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

/* How many instances of the task this pass has started. */
static uint32_t placed_count(const struct trial *trial, const struct task *task)
{
    uint32_t count = 0;
    for (size_t i = 0; i < trial->count; i++) {
        count += trial->decisions[i].kind == DECISION_START && trial->decisions[i].task == task;
    }
    return count;
}

/* Does the task leave the queue by this pass? Either all its waiting instances start. Or the task is a gang of which instances are
 * evicted: such a gang does not wait for more instances until the evicted ones have left. */
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
            continue; /* this holder has claims: its places are promised */
        }
        const struct holder holder = reserve_holder(waiting->core, waiting->holders[i],
                                                    waiting->until_ms[i], waiting->now_ms);
        (void)reserve_form_task(waiting->trial, &holder);
    }
}

/* How long the task may be overtaken if it becomes the head now. */
static int64_t overtaken_max_ms(const struct blocked *waiting, const struct task *task)
{
    return i64_add(waiting->pool->patience_ms, task_overtaken_ms(task));
}

/* Makes the head a holder, because the head has been overtaken for long enough. Beside other holders the head must have a known
 * start. A head without a known start stays the head and is asked again in a later pass. */
static void holder_new(struct blocked *waiting, const struct task *task)
{
    blocked_keep(waiting);
    struct holder holder = reserve_holder(waiting->core, task, 0, waiting->now_ms);
    holder.learned = waiting->by_length;
    holder.timed_only = waiting->count > 0;
    const int64_t until_ms = reserve_form_task(waiting->trial, &holder);
    waiting->head = NULL;
    if (waiting->count > 0 && until_ms == 0) {
        waiting->closed = true;
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

/* ---- the head ---- */

/* May this blocked task become the head at its turn? Where turns change between projects, only the head of the pass before may. Else
 * a project whose turn always comes first would always have the head. */
static bool head_allowed(const struct blocked *waiting, const struct task *task)
{
    return !waiting->by_length && (!waiting->between || waiting->old == task);
}

/* How many account ids lie between the project of the last head and the project of the task. Ids wrap around. */
static uint32_t distance(const struct blocked *waiting, const struct task *task)
{
    return task->account.v - waiting->last.v - 1;
}

/* Notes the task that becomes the head after the current one. Projects take turns in the order of their ids, beginning behind the
 * project of the last head. So each project gets the head, however many tasks wait in the others. */
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

/* The first blocked task that the usable nodes could run becomes the head. A task that needs nodes which are away cannot use kept
 * places, so it does not become the head. */
bool blocked_note(struct blocked *waiting, const struct task *task, bool progress, bool *seen)
{
    if (waiting->between && is_holder(waiting, task)) {
        return true;
    }
    /* A holder stays a holder, unless a blocked task ahead of it became the head in this pass. */
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
        return; /* the order of turns is fixed: the bounds of each holder were checked at its turn */
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

/* Holders whose turn did not come in this pass stay holders. */
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

/* Did other tasks use the holder's places, and will they again? Tasks of the holder's own project may always use them. Tasks of other
 * projects may use them for ever only if the holder requests more than its project has a right to. */
static bool passed_by(const struct blocked *waiting, const struct task *task)
{
    struct overlay *overlay = &waiting->trial->overlay;
    const struct reserved_task *holder = &overlay->holders[overlay_holder(overlay, task)];
    return holder->passed_own > 0 ||
           (holder->passed_else > 0 && !rights_enough(&waiting->trial->tally, task));
}

/* Ends reservations where turns change between projects. A holder that got an instance has had its turn. A holder that other tasks
 * overtake does not make other projects wait: the next project gets the head. */
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
    /* A holder whose start is not known is also shown as the pool's blocked task. */
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
        /* A changed list of holders may change the head, so a further pass is needed. */
        waiting->impatient = true;
    }
}

/* A pass that stopped before it met a blocked task knows of no new head. Such a pass leaves the head as the state has it. */
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
    /* Beside other holders and without patience, the next pass could refuse a new head as this pass would. So none is set. */
    const bool takes_next = waiting->count == 0 || waiting->pool->patience_ms > 0;
    if (!waiting->by_length && waiting->head == NULL && waiting->next != NULL &&
        may_hold(waiting) && takes_next) {
        head_set(waiting, waiting->next, false);
        /* The turn of the new head is over. The next pass keeps places for the head, or finds which holders the head is ahead of. */
        waiting->impatient = waiting->pool->patience_ms == 0 || waiting->count > 0;
    }
    if (waiting->head != NULL && leaves_queue(waiting->trial, waiting->head)) {
        waiting->head = NULL;
    }
    head_fact(waiting, in, out);
    reserved_fact(waiting, in, out);
}
