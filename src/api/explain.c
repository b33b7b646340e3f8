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

/* The waiting tasks of one pool, or of all pools. */
struct queue_walk {
    const struct core *core;
    pool_id only; /* 0: all pools, in order of id */
    task_id at;
    uint32_t position; /* of `at` in the queue of its pool */
};

/* Goes to the next waiting task; 0: there is none. */
static task_id walk_next(struct queue_walk *walk)
{
    const struct core *core = walk->core;
    const struct task *task = walk->at.v != 0 ? query_task(core, walk->at) : NULL;
    if (walk->at.v != 0 && task == NULL) {
        return (task_id){0}; /* the task of the cursor is gone */
    }
    pool_id pool = task != NULL ? task->pool : walk->only;
    task_id next = pool.v != 0 ? query_queue_next(core, pool, walk->at) : (task_id){0};
    walk->position++;
    while (next.v == 0 && walk->only.v == 0) {
        const struct pool *other = query_pool_next(core, pool);
        if (other == NULL) {
            break;
        }
        pool = other->id;
        next = query_queue_next(core, pool, (task_id){0});
        walk->position = 1;
    }
    walk->at = next;
    return next;
}

void explain_queue(struct call *call)
{
    const char *name = http_request_query(call->request, "pool");
    struct page page;
    const char *question = name == NULL ? "queues" : arena_fmt(call_arena(call), "queue %s", name);
    if (!page_read(call, question, &page)) {
        return;
    }
    const struct core *core = call_core(call);
    const struct pool *pool = name == NULL ? NULL : named_pool(call, "pool", name);
    if (name != NULL && pool == NULL) {
        return;
    }
    struct json_out j;
    call_json(call, &j);
    page_begin(&j);
    size_t shown = 0;
    uint64_t next = 0;
    struct task_writer writer;
    task_json_writer_init(&writer, core, call_arena(call));
    struct queue_walk walk = {
        .core = core, .only = pool == NULL ? (pool_id){0} : pool->id, .at = {page.after}};
    /* The cursor names a task. The present position of that task in the queue is counted once. */
    if (page.after != 0) {
        walk.position = query_queue_position(core, walk.at, UINT32_MAX);
    }
    task_id id = walk_next(&walk);
    while (id.v != 0 && shown < page.limit) {
        task_json_short(&writer, &j, query_task(core, id), walk.position);
        next = id.v;
        shown++;
        id = walk_next(&walk);
    }
    page_end(&j, &page, id.v != 0 ? next : 0);
    call_answer_json(call, 200);
}
