/* hold.c - chooses the holders of a pool.
 *
 * Surprising: a new holder's places are chosen at the end of a pass, to estimate what keeping them costs. They are kept from the next
 * pass on: whatever fits now has been placed, so keeping costs nothing before something becomes free.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/hold.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/must.h"
#include "core/model/bucket.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/sched/keep/budget.h"
#include "core/sched/keep/credit.h"
#include "core/sched/keep/reserve.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/queue.h"
#include "core/sched/place/overlay.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* How many of the oldest tasks oldest_note() looks at. How many times the part of task_overtaken_ms() a task waits before it may hold in
 * a pool with `order: short-first`: between a shorter mean (more) and a shorter longest wait (less), chosen on two months of Philly. */
enum { OLDEST_LOOK_MAX = 64, OVERTAKEN_TIMES = 5 };

/* How long a pool waits at least until it estimates a cost again that the idle budget could not pay. An estimate grows while the budget
 * fills, so without a least time the two could meet in ever smaller steps. */
#define ESTIMATE_AGAIN_MS ((int64_t)10 * 1000)

/* Where starts are proven, one holder is enough for most tasks: they start soon after it. Each further holder costs other tasks more than
 * it gains, so it must start in a quarter of the time, or have waited for three days. Chosen on October of Philly: after one day the mean
 * is 40 % longer. */
enum { FURTHER_SOONER = 4 };
#define FURTHER_AFTER_MS ((int64_t)3 * 24 * 60 * 60 * 1000)

void hold_init(struct hold *hold, const struct core *core, const struct pool *pool,
               struct trial *trial)
{
    *hold = (struct hold){
        .core = core,
        .pool = pool,
        .trial = trial,
        .now_ms = trial->overlay.now_ms,
        .by_length = pool_by_length(pool),
        .most = budget_most(pool),
        .level = budget_level(pool, trial->overlay.now_ms),
    };
    if (pool->reserved_count > 0) {
        hold->last = query_task(core, pool->reserved[pool->reserved_count - 1].task)->account;
    }
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

/* Is the start of this holder proven by time limits? Learned lengths prove nothing. */
static bool is_proven(const struct hold *hold, const struct holder_row *row)
{
    return row->until_ms != 0 && !hold->by_length;
}

const struct task *hold_free(const struct hold *hold)
{
    for (uint32_t i = 0; i < hold->count; i++) {
        if (is_proven(hold, &hold->at[i])) {
            return hold->at[i].task;
        }
    }
    return NULL;
}

static bool is_holder(const struct hold *hold, const struct task *task)
{
    for (uint32_t i = 0; i < hold->count; i++) {
        if (hold->at[i].task == task) {
            return true;
        }
    }
    return false;
}

static bool possible(const struct hold *hold, const struct task *task)
{
    return reserve_form_open(hold->trial, task);
}

/* Where turns change between projects, each project has one holder. */
static bool project_holds(const struct hold *hold, const struct task *task)
{
    for (uint32_t i = 0; hold->between && i < hold->count; i++) {
        if (hold->at[i].task->account.v == task->account.v) {
            return true;
        }
    }
    return false;
}

/* Has the holder lost the right to hold? Its account's share may have become smaller, or larger. */
static bool right_lost(const struct hold *hold, const struct holder_row *row)
{
    return !row->turn && credit_beyond(hold->trial, row->task) != 0;
}

/* Where the order of turns is fixed, a holder ahead in the order chooses its places first. Elsewhere the older holder does. */
static bool chooses_before(const struct hold *hold, const struct task *a, const struct task *b)
{
    const struct okey key_a = key_account_queue(a);
    return !hold->between && !hold->by_length && rights_ahead(hold->pool, b, &key_a);
}

static void holder_add(struct hold *hold, struct holder_row row)
{
    must(hold->count < RESERVATIONS_MAX);
    uint32_t at = hold->count++;
    for (; at > 0 && chooses_before(hold, row.task, hold->at[at - 1].task); at--) {
        hold->at[at] = hold->at[at - 1];
    }
    hold->at[at] = row;
}

void hold_begin(struct hold *hold, hold_barred_fn barred, void *ctx)
{
    const struct pool *pool = hold->pool;
    hold->between = rights_between(hold->core, pool);
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        const struct reservation *old = &pool->reserved[i];
        const struct holder_row row = {query_task_in(hold->core, pool->id, old->task),
                                       old->until_ms, old->turn};
        if (!leaves_queue(hold->trial, row.task) && !barred(ctx, row.task) &&
            possible(hold, row.task) && !right_lost(hold, &row) && !project_holds(hold, row.task)) {
            holder_add(hold, row);
        }
    }
    for (uint32_t i = 0; i < hold->count; i++) {
        (void)overlay_holder(&hold->trial->overlay, hold->at[i].task);
    }
}

void hold_keep(struct hold *hold)
{
    while (hold->kept < hold->count) {
        const struct holder_row *row = &hold->at[hold->kept++];
        if (task_promised(row->task)) {
            continue; /* this holder has claims: its places are promised */
        }
        const struct holder holder =
            reserve_holder(hold->core, row->task, row->until_ms, hold->now_ms);
        (void)reserve_form_task(hold->trial, &holder);
    }
}

/* ---- becoming a holder ---- */

static void wake_at(struct hold *hold, int64_t at_ms)
{
    if (at_ms > hold->now_ms && (hold->wake_ms == 0 || at_ms < hold->wake_ms) &&
        at_ms <= TIME_MS_MAX) {
        hold->wake_ms = at_ms;
    }
}

int64_t hold_patient_until_ms(const struct hold *hold, const struct task *task)
{
    const int64_t patience_ms =
        hold->pool->patience_ms == PATIENCE_AUTO ? 0 : hold->pool->patience_ms;
    return i64_add(i64_add(task->queued_ms, patience_ms),
                   hold->by_length ? OVERTAKEN_TIMES * task_overtaken_ms(task) : 0);
}

/* Does an equal task hold? Where the order of turns is fixed, equal tasks cannot overtake each other. */
static bool shape_holds(const struct hold *hold, const struct task *task)
{
    for (uint32_t i = 0; !hold->between && i < hold->count; i++) {
        if (hold->at[i].task->shape.v == task->shape.v) {
            return true;
        }
    }
    return false;
}

/* Beside a holder whose start is proven: may this task hold, whose own start is proven, too? It may if it starts much sooner, or has
 * waited for long. */
static bool is_further(const struct hold *hold, const struct task *task, int64_t until_ms)
{
    int64_t first_ms = 0;
    for (uint32_t i = 0; i < hold->count && first_ms == 0; i++) {
        first_ms = is_proven(hold, &hold->at[i]) ? hold->at[i].until_ms : 0;
    }
    must(first_ms != 0);
    return (until_ms - hold->now_ms) * FURTHER_SOONER <= first_ms - hold->now_ms ||
           hold->now_ms - task->queued_ms >= FURTHER_AFTER_MS;
}

/* Makes the task a holder if nodes are left for it, and if the idle budget covers the estimated cost, beside what the other
 * holders need. The first proven start costs nothing. False: the task waits, and tasks behind it must not go before. */
static bool holder_try(struct hold *hold, const struct task *task, bool turn)
{
    struct holder holder = reserve_holder(hold->core, task, 0, hold->now_ms);
    holder.learned = hold->by_length;
    hold_keep(hold);
    const uint32_t at = overlay_holder(&hold->trial->overlay, task);
    const int64_t until_ms = reserve_form_task(hold->trial, &holder);
    const struct holder_row row = {task, until_ms, turn};
    const bool free = is_proven(hold, &row) && hold_free(hold) == NULL;
    if (is_proven(hold, &row) ? !free && !is_further(hold, task, until_ms)
                              : shape_holds(hold, task)) {
        overlay_unkeep(&hold->trial->overlay, task);
        return false;
    }
    const int64_t cost = free ? 0 : budget_drain(hold->trial, at);
    if (!budget_keeps(hold->trial, at)) {
        overlay_unkeep(&hold->trial->overlay, task);
        return false; /* the nodes are kept for other holders, which start first */
    }
    const int64_t need = bucket_times(cost, (int64_t)1 << task->releases);
    if (free || (hold->level > 0 && hold->left >= need)) {
        hold->left = bucket_plus(hold->left, -cost);
        holder_add(hold, row);
        hold->kept = hold->count;
        hold->last = task->account;
        return true;
    }
    overlay_unkeep(&hold->trial->overlay, task);
    const int64_t wanted = bucket_plus(need, bucket_plus(hold->level, -hold->left));
    hold->most = wanted > hold->most ? wanted : hold->most;
    const int64_t paid_ms = budget_fills_ms(hold->pool, hold->level, wanted, hold->now_ms);
    const int64_t again_ms = hold->now_ms + ESTIMATE_AGAIN_MS;
    wake_at(hold, paid_ms > again_ms ? paid_ms : again_ms);
    return false;
}

/* What the holders leave of the idle budget. */
static void left_count(struct hold *hold)
{
    if (hold->left_known) {
        return;
    }
    hold->left_known = true;
    hold->left = hold->level;
    hold_keep(hold);
    for (uint32_t i = 0; i < hold->count; i++) {
        const uint32_t at = overlay_holder(&hold->trial->overlay, hold->at[i].task);
        const bool free = hold->at[i].task == hold_free(hold);
        hold->left = bucket_plus(hold->left, free ? 0 : -budget_drain(hold->trial, at));
    }
}

/* Lets this task become a holder, unless a task before it could not. */
static void holder_next(struct hold *hold, const struct task *task)
{
    bool turn = false;
    const int64_t from_ms = hold_patient_until_ms(hold, task);
    if (from_ms > hold->now_ms) {
        wake_at(hold, from_ms);
        return;
    }
    /* A holder that was dropped in this pass still has its place in the overlay's list. */
    if (hold->closed || hold->trial->overlay.holder_count == RESERVATIONS_MAX ||
        project_holds(hold, task) || !credit_allows(hold, task, &turn)) {
        return;
    }
    left_count(hold);
    hold->closed = !holder_try(hold, task, turn);
}

/* ---- blocked tasks ---- */

static void blocked_add(struct hold *hold, const struct task *task)
{
    must(hold->blocked_count < HOLD_BLOCKED_MAX);
    hold->blocked_account[hold->blocked_count] = task->account.v;
    hold->blocked[hold->blocked_count++] = task;
}

bool hold_note(struct hold *hold, const struct task *task, bool *seen)
{
    if (is_holder(hold, task)) {
        *seen = true;
        return true;
    }
    const bool first = !hold->between || !*seen;
    if (!first || hold->blocked_count == HOLD_BLOCKED_MAX || !possible(hold, task)) {
        return false;
    }
    *seen = true;
    if (hold->between || hold->by_length || hold_patient_until_ms(hold, task) > hold->now_ms) {
        blocked_add(hold, task);
        return false;
    }
    holder_next(hold, task); /* where the order is fixed, the task holds from its turn on */
    return is_holder(hold, task);
}

/* The next task that may become a holder. Projects take turns in the order of their ids, beginning behind the project of the newest
 * holder. So each project gets its turn, however many tasks wait in the others. */
static const struct task *blocked_next(struct hold *hold)
{
    uint32_t best = UINT32_MAX;
    uint32_t least = UINT32_MAX; /* account ids between the two projects; ids wrap around */
    for (uint32_t i = 0; i < hold->blocked_count; i++) {
        const uint32_t between = hold->between ? hold->blocked_account[i] - hold->last.v - 1 : 0;
        if (hold->blocked[i] != NULL && (best == UINT32_MAX || between < least)) {
            best = i;
            least = between;
        }
    }
    if (best == UINT32_MAX) {
        return NULL;
    }
    const struct task *task = hold->blocked[best];
    hold->blocked[best] = NULL;
    return task;
}

/* In a pool with `order: short-first` the task that has waited longest comes first. */
static void oldest_note(struct hold *hold, hold_barred_fn barred, void *ctx)
{
    struct okey key = {{hold->pool->id.v, 0, 0, 0}};
    const struct oindex *order = &hold->core->orders[ORDER_QUEUE];
    hold->blocked_count = 0;
    for (uint32_t i = 0; i < OLDEST_LOOK_MAX && hold->blocked_count == 0; i++) {
        if (!oindex_next(order, key, &key) || key.at[0] != hold->pool->id.v) {
            break;
        }
        const struct task *task = query_task_in(hold->core, hold->pool->id, (task_id){key.at[3]});
        const uint32_t placed = placed_count(hold->trial, task);
        const bool promised = task->gang && task->claimed_count > 0;
        if (!is_holder(hold, task) && !promised &&
            placed + task->claimed_count < task->waiting_count && !barred(ctx, task) &&
            possible(hold, task)) {
            blocked_add(hold, task);
        }
    }
}

/* ---- choosing ---- */

/* Holders that leave the queue, or that something other than room holds back, keep no places any more. */
static void holders_drop(struct hold *hold, bool stopped, hold_barred_fn barred, void *ctx)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < hold->count; i++) {
        const struct task *task = hold->at[i].task;
        if (!leaves_queue(hold->trial, task) && (stopped || !barred(ctx, task))) {
            hold->at[count++] = hold->at[i];
        } else {
            overlay_unkeep(&hold->trial->overlay, task);
        }
    }
    hold->count = count;
    hold->kept = hold->kept < count ? hold->kept : count;
}

/* The idle budget is spent: every holder loses its kept places, except the holder whose places cost the budget nothing (hold_free()). */
static void holders_release(struct hold *hold, const struct input *in, struct facts *out)
{
    const struct task *free = hold_free(hold);
    uint32_t count = 0;
    for (uint32_t i = 0; i < hold->count; i++) {
        if (hold->at[i].task == free) {
            hold->at[count++] = hold->at[i];
            continue;
        }
        overlay_unkeep(&hold->trial->overlay, hold->at[i].task);
        struct fact *fact = fact_list_add(out, in, FACT_RELEASED);
        fact->released_holder.pool = hold->pool->id;
        fact->released_holder.task = hold->at[i].task->id;
    }
    hold->count = count;
}

/* Lets blocked tasks become holders, one after the other. */
static void holders_admit(struct hold *hold, hold_barred_fn barred, void *ctx)
{
    if (hold->by_length) {
        oldest_note(hold, barred, ctx);
    }
    for (const struct task *task = blocked_next(hold); task != NULL && !hold->closed;
         task = blocked_next(hold)) {
        if (!leaves_queue(hold->trial, task) && !barred(ctx, task)) {
            holder_next(hold, task);
        }
    }
}

/* ---- facts ---- */

static void reserved_fact(struct hold *hold, const struct input *in, struct facts *out)
{
    const struct pool *pool = hold->pool;
    struct reservation *list = arena_new(out->arena, struct reservation, RESERVATIONS_MAX);
    hold->changed = hold->count != pool->reserved_count;
    for (uint32_t i = 0; i < hold->count; i++) {
        list[i] =
            (struct reservation){hold->at[i].task->id, hold->at[i].until_ms, hold->at[i].turn};
        hold->changed |=
            list[i].task.v != pool->reserved[i].task.v || list[i].turn != pool->reserved[i].turn;
    }
    if (hold->changed) {
        struct fact *fact = fact_list_add(out, in, FACT_RESERVED);
        fact->reserved.pool = pool->id;
        fact->reserved.at = list;
        fact->reserved.count = hold->count;
    }
}

void hold_settle(struct hold *hold, bool stopped, hold_barred_fn barred, void *ctx,
                 const struct input *in, struct facts *out)
{
    holders_drop(hold, stopped, barred, ctx);
    if (!stopped) {
        /* Before a release: what the holders of this pass kept has to be paid up to now. */
        if (hold->level <= 0) {
            holders_release(hold, in, out);
        }
        holders_admit(hold, barred, ctx);
        credit_settle(hold, in, out);
    }
    wake_at(hold, budget_settle(hold, stopped, in, out));
    reserved_fact(hold, in, out);
}
