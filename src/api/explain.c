/* explain.c - GET /tasks/{id}/explain and GET /queue: why tasks wait, and in which order.
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
    struct task_writer writer;
    call_json(call, &j);
    page_begin(&j);
    task_json_writer_init(&writer, core, call_arena(call));
    writer.keep = call_arena(call);
    /* The cursor is the place of the last task in the order, and its position. So the next page costs
     * what it shows, and follows also when that task has started meanwhile. */
    uint64_t position = page.more[2];
    struct queue_place place = {{page.more[0], page.more[1], page.after}};
    task_id id = query_queue_behind(core, pool->id, place);
    for (size_t shown = 0; id.v != 0 && shown < page.limit; shown++) {
        const struct task *task = query_task(core, id);
        task_json_short(&writer, &j, task, (uint32_t)++position);
        place = query_queue_place(task);
        id = query_queue_behind(core, pool->id, place);
    }
    page.more[0] = place.at[0];
    page.more[1] = place.at[1];
    page.more[2] = position;
    page.has_total = true;
    page.total = pool->pending_count;
    page_end(&j, &page, id.v != 0 ? place.at[2] : 0);
    call_answer_json(call, 200);
}
