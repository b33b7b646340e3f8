/* wait.c - GET /tasks/{id}/wait: the request is parked until the task has ended, or the time is
 * over. Nothing polls: the commit of the task's end wakes the request.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/history.h"
#include "base/mem.h"

enum { WAIT_S_DEFAULT = 30, WAIT_S_MAX = 600 };

struct waiter {
    struct watch watch; /* the first member, so that a watch can be cast to its waiter */
    struct call *call;
    struct loop_timer *timer;
};

static void waiter_free(struct waiter *waiter)
{
    watches_remove(&waiter->watch);
    loop_timer_free(waiter->timer);
    free(waiter);
}

static void waiter_told(struct watch *watch, enum watch_news news, struct str json)
{
    struct waiter *waiter = (struct waiter *)watch;
    struct call *call = waiter->call;
    if (news != WATCH_ENDED) {
        return;
    }
    call_resume(call);
    waiter_free(waiter);
    buf_clear(&call->out);
    buf_add(&call->out, json.p, json.len);
    call_answer_json(call, 200);
}

/* The time is over: answers with the task as it is now. The task's end may be on its way to the
 * disk. */
static void waiter_due(void *ctx)
{
    struct waiter *waiter = ctx;
    struct call *call = waiter->call;
    task_id id = waiter->watch.task;
    const struct core *core = call->api->o.host->core(call->api->o.host->ctx);
    call_resume(call);
    waiter_free(waiter);
    if (core == NULL || query_task(core, id) == NULL) {
        history_answer(call, id);
        return;
    }
    history_answer_live(call, id);
}

static void waiter_gone(struct call *call, void *ctx)
{
    (void)call;
    waiter_free(ctx);
}

void wait_task(struct call *call)
{
    task_id id;
    uint64_t timeout_s = WAIT_S_DEFAULT;
    if (!call_task_id(call, &id) || !call_query_u64(call, "timeout", WAIT_S_MAX, &timeout_s)) {
        return;
    }
    if (query_task(call_core(call), id) == NULL ||
        task_state_ended((enum task_state)query_task(call_core(call), id)->state)) {
        history_answer(call, id);
        return;
    }
    struct waiter *waiter = xcalloc(1, sizeof *waiter);
    waiter->watch = (struct watch){.task = id, .fn = waiter_told};
    waiter->call = call;
    waiter->timer = loop_timer_new(call->api->o.loop, waiter_due, waiter);
    watches_add(call->api->watches, &waiter->watch);
    loop_timer_set(waiter->timer, loop_now_ms(call->api->o.loop) + (int64_t)timeout_s * 1000);
    call_park(call, waiter_gone, waiter);
}
