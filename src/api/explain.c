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
        if (outcome == TASK_PENDING && call->past != NULL) {
            call_failf(call, ERR_NOT_FOUND, "", "there was no task %llu at that time",
                       (unsigned long long)id.v);
        } else if (outcome == TASK_PENDING) {
            call_failf(call, ERR_NOT_FOUND, "", "no task %llu", (unsigned long long)id.v);
        } else {
            call_failf(call, ERR_CONFLICT, "", "task %llu %s ended: it %s %s",
                       (unsigned long long)id.v, call->past != NULL ? "had" : "has",
                       call->past != NULL ? "was" : "is", names_task_state(outcome));
        }
        return;
    }
    struct json_out j;
    call_json(call, &j);
    explain_json(&j, core, query_task(core, id), call_now_ms(call), call_arena(call));
    call_answer_json(call, 200);
}

/* The waiting tasks of one pool, or of all pools in order of id. */
struct queue_walk {
    const struct core *core;
    pool_id only; /* 0: all pools */
    pool_id pool; /* 0: before the first */
    /* Of the task that was shown last. The place stays usable after that task has left the queue, and
     * the position is counted on, so that a page costs what it shows. */
    struct queue_place place;
    uint64_t position;
};

/* Goes to the next waiting task; 0: there is none. */
static task_id walk_next(struct queue_walk *walk)
{
    const struct core *core = walk->core;
    task_id id = query_queue_behind(core, walk->pool, walk->place);
    while (id.v == 0 && walk->only.v == 0) {
        const struct pool *next = query_pool_next(core, walk->pool);
        if (next == NULL) {
            break;
        }
        walk->pool = next->id;
        walk->position = 0;
        id = query_queue_behind(core, walk->pool, (struct queue_place){{0}});
    }
    if (id.v != 0) {
        walk->place = query_queue_place(query_task_in(core, walk->pool, id));
        walk->position++;
    }
    return id;
}

static uint64_t queue_total(const struct core *core, const struct pool *only)
{
    uint64_t total = only != NULL ? only->pending_count : 0;
    for (const struct pool *pool = only != NULL ? NULL : query_pool_next(core, (pool_id){0});
         pool != NULL; pool = query_pool_next(core, pool->id)) {
        total += pool->pending_count;
    }
    return total;
}

/* The cursor is the walk behind the last task of a page. */
static struct queue_walk walk_read(const struct core *core, const struct page *page,
                                   const struct pool *only)
{
    return (struct queue_walk){
        .core = core,
        .only = only != NULL ? only->id : (pool_id){0},
        .pool = only != NULL ? only->id : (pool_id){(uint32_t)page->more[3]},
        .place = {{page->more[0], page->more[1], page->after}},
        .position = page->more[2],
    };
}

static void walk_note(const struct queue_walk *walk, struct page *page)
{
    page->more[0] = walk->place.at[0];
    page->more[1] = walk->place.at[1];
    page->more[2] = walk->position;
    page->more[3] = walk->pool.v;
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
    struct task_writer writer;
    call_json(call, &j);
    page_begin(&j);
    task_json_writer_init(&writer, core, call_arena(call));
    writer.keep = call_arena(call);
    struct queue_walk walk = walk_read(core, &page, pool);
    struct queue_walk next = walk;
    task_id id = walk_next(&next);
    for (size_t shown = 0; id.v != 0 && shown < page.limit; shown++) {
        walk = next;
        task_json_short(&writer, &j, query_task_in(core, walk.pool, id), (uint32_t)walk.position);
        id = walk_next(&next);
    }
    walk_note(&walk, &page);
    page.has_total = true;
    page.total = queue_total(core, pool);
    page_end(&j, &page, id.v != 0 ? walk.place.at[2] : 0);
    call_answer_json(call, 200);
}
