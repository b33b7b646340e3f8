/* explain.c - GET /tasks/{id}/explain and GET /queue: why things wait, and in which order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/page.h"
#include "io/http_request.h"
#include "wire/explain_json.h"
#include "wire/task_json.h"

void explain_show(struct call *call)
{
    task_id id;
    if (!call_task_id(call, &id)) {
        return;
    }
    const struct core *core = call_core(call);
    if (query_task(core, id) == NULL) {
        enum task_state outcome = query_task_outcome(core, id);
        if (outcome == TASK_PENDING) {
            call_failf(call, ERR_NOT_FOUND, "", "no task %llu", (unsigned long long)id.v);
        } else {
            call_failf(call, ERR_CONFLICT, "", "task %llu does not wait: it is %s",
                       (unsigned long long)id.v, names_task_state(outcome));
        }
        return;
    }
    struct json_out j;
    call_json(call, &j);
    explain_json(&j, core, query_task(core, id), call_arena(call));
    call_answer_json(call, 200);
}

void explain_queue(struct call *call)
{
    const char *name = http_request_query(call->request, "pool");
    struct page page;
    name = name != NULL ? name : "default";
    if (!page_read(call, arena_fmt(call_arena(call), "queue %s", name), &page)) {
        return;
    }
    const struct core *core = call_core(call);
    const struct pool *pool = named_pool(call, "pool", name);
    if (pool == NULL) {
        return;
    }
    struct json_out j;
    call_json(call, &j);
    page_begin(&j);
    size_t shown = 0;
    uint64_t next = 0;
    struct task_writer writer;
    task_json_writer_init(&writer, core, call_arena(call));
    /* A cursor goes on after a task; where that one stands now is counted once. */
    uint32_t position = 0;
    if (page.after != 0) {
        position = query_queue_position(core, (task_id){page.after}, UINT32_MAX);
    }
    task_id id = query_queue_next(core, pool->id, (task_id){page.after});
    while (id.v != 0 && shown < page.limit) {
        task_json_short(&writer, &j, query_task(core, id), ++position);
        next = id.v;
        shown++;
        id = query_queue_next(core, pool->id, id);
    }
    page_end(&j, &page, id.v != 0 ? next : 0);
    call_answer_json(call, 200);
}
