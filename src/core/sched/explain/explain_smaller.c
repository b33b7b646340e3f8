/* explain_smaller.c - the smallest change with which a waiting task would start now: a smaller amount of one resource.
 *
 * Keeps S8 of README.md: a named amount is exact. No amount is named if something else would hold the task back then.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/sched/explain/explain_internal.h"
#include "core/sched/explain/lower.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/user_cap.h"
#include "core/sched/order/view.h"
#include "core/sched/place/search.h"
#include "core/state/query.h"

/* Would one instance with this request stay within what the task's accounts may still take? Cpu and memory that come with slots
 * count as on this node. */
static bool stays_within(const struct explain_look *look, const struct node *node,
                         const struct request *request)
{
    struct asker asker = {.task = look->task, .request = request};
    asker.bounded = tally_left(&look->trial.tally, look->task, VIEW_NOW, &asker.left);
    return search_within(node, &asker, 1) == 1;
}

/* Could a reservation keep the task from starting with a smaller request? A task behind a holder could find the smaller place kept,
 * too. A holder that requests less is a holder no more, so another project's turn may come first. */
static bool order_binds(const struct explain_look *look)
{
    return look->behind || (look->task->reserved && rights_between(look->core, look->pool));
}

int64_t explain_smaller_now(const struct explain_look *look, const struct explain_node *near)
{
    struct request request = look->shape->request;
    const struct lack lack = {near->code, near->resource, near->wanted, near->available};
    struct lower what;
    int64_t best = -1;
    if (order_binds(look) || look->count > 1 || !lower_for(&request, &lack, &what)) {
        return best;
    }
    const struct node *node;
    struct okey key = {{look->pool->id.v, 0, 0, 0}};
    while (explain_node_next(look, &key, &node)) {
        struct space_room room;
        struct space place;
        overlay_place(&look->trial.overlay, node, &look->asker, &room, &place);
        if (!fit_usable(node)) {
            continue;
        }
        const int64_t amount =
            lower_largest(&place, &look->shape->request, what, near->wanted, best);
        must(amount >= best);
        lower_apply(&request, what, amount);
        if (amount > best && !stays_within(look, node, &request)) {
            return -1; /* a still smaller amount might do; finding it is not worth a search */
        }
        best = amount;
    }
    return best;
}

/* What the task's accounts and user may still take in dimension `dim`, in whole slots where the request has whole slots; 0: a smaller
 * amount does not help. */
static int64_t left_of_bound(const struct explain_look *look, const struct request *request,
                             uint32_t dim)
{
    struct vector left;
    must(dim < QUOTA_DIMS_MAX);
    (void)tally_left(&look->trial.tally, look->task, VIEW_NOW, &left);
    int64_t amount = left.at[dim];
    const int64_t capped = user_cap_left(&look->trial.tally.users, look->task->user, VIEW_NOW);
    if (dim == DIM_SLOTS && capped != VECTOR_UNLIMITED &&
        (amount == VECTOR_UNLIMITED || capped < amount)) {
        amount = capped;
    }
    if (dim == DIM_SLOTS && request->device_mask != 0) {
        return 0; /* a request for chosen devices has as many slots as devices */
    }
    if (dim == DIM_SLOTS && request->slots_milli >= SLOT_MILLI) {
        amount -= amount % SLOT_MILLI;
    }
    return amount;
}

int64_t explain_smaller_within(struct explain_look *look)
{
    const struct reason *reason = &look->ret->reason;
    const struct lack lack = {REASON_NO_ROOM, reason->resource, reason->wanted, reason->available};
    struct request request = look->shape->request;
    struct lower what;
    uint32_t dim;
    must(look->count > 0);
    if (look->shape->form != NULL || look->count > 1 || request.share_devices > 0 ||
        !lower_for(&request, &lack, &what) || !query_dim_of(look->core, reason->resource, &dim)) {
        return -1;
    }
    const int64_t amount = left_of_bound(look, &request, dim);
    if (amount <= 0 || amount >= reason->wanted) {
        return -1;
    }
    lower_apply(&request, what, amount);
    struct vector amounts;
    query_dim_request(look->core, &request, &amounts);
    struct asker asker = {.task = look->task, .request = &request, .end_ms = INT64_MAX};
    asker.bounded = tally_left(&look->trial.tally, look->task, VIEW_NOW, &asker.left);
    const bool starts =
        tally_gate(&look->trial.tally, look->task, VIEW_NOW, &amounts).gate == GATE_OPEN &&
        !tally_user_capped(&look->trial.tally, look->task, VIEW_NOW, &amounts) &&
        search_first(&look->trial.overlay, &asker, 1) != NULL;
    return starts ? amount : -1;
}
