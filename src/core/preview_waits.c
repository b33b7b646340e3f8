/* preview_waits.c - which tasks wait because of a change, and why: the tasks that the change is about, or the head of the queue that
 * the change concerns, where a reason becomes another one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/preview_internal.h"

/* Nodes that all explanations together may look at. Each explanation looks at every node of its pool. */
enum { LOOK_NODES_MAX = 20000 };

/* Is another look at the nodes of the pool within the bound? The first look always is. */
static bool look_left(const struct preview *preview, pool_id id, uint32_t *looked)
{
    const struct pool *pool = query_pool(preview->before, id);
    const uint32_t nodes = pool == NULL ? 0 : pool->node_count;
    const bool left = *looked == 0 || *looked + nodes <= LOOK_NODES_MAX;
    *looked += left ? nodes + 1 : 0;
    return left;
}

static void wait_add(struct preview *preview, task_id task, const struct explanation *why)
{
    preview->wait_total++;
    if (preview->wait_count < PREVIEW_WAITS_MAX) {
        preview->waits[preview->wait_count++] = (struct preview_wait){.task = task, .why = *why};
    }
}

/* Adds a task that the inputs are about, unless it got places or has ended. */
static void subject_wait(struct preview *preview, task_id id, uint32_t *looked)
{
    const struct task *task = query_task(preview->after, id);
    if (task == NULL || task->active_count > 0 || task->claimed_count > 0) {
        return;
    }
    struct explanation why;
    if (preview->wait_count == PREVIEW_WAITS_MAX || !look_left(preview, task->pool, looked)) {
        preview->wait_total++;
        return;
    }
    explain_task(preview->after, id, &why);
    if (why.reason.code != REASON_NONE) {
        wait_add(preview, id, &why);
    }
}

/* Does the head of the pool's queue wait for another reason than before? */
static void queue_waits(struct preview *preview, pool_id pool, uint32_t *looked)
{
    task_id id = query_queue_next(preview->before, pool, (task_id){0});
    for (uint32_t i = 0; id.v != 0 && i < PREVIEW_QUEUE_MAX && look_left(preview, pool, looked);
         i++) {
        struct explanation was;
        struct explanation is;
        explain_task(preview->before, id, &was);
        explain_task(preview->after, id, &is);
        /* A task that is promised a place, or that the next pass starts, is among the starts. */
        if (is.reason.code != REASON_NONE && is.reason.code != was.reason.code &&
            is.reason.code != REASON_NEXT && is.reason.code != REASON_VICTIMS_LEAVING) {
            wait_add(preview, id, &is);
        }
        id = query_queue_next(preview->before, pool, id);
    }
    preview->cut |= id.v != 0;
}

/* Notes who waits because of one input. Inputs that are not named here make no task wait that did not wait before. */
static void input_waits(struct preview *preview, const struct input *in, uint32_t *looked)
{
    const struct node *node;
    const enum input_type type = in->type;
    if (type == INPUT_TASK_SUBMIT) {
        for (uint32_t i = 0; i < in->submit.count; i++) {
            subject_wait(preview, (task_id){preview->submitted.v + i}, looked);
        }
    } else if (type == INPUT_TASK_EDIT || type == INPUT_TASK_MOVE || type == INPUT_TASK_START ||
               type == INPUT_TASK_ACTIVATE) {
        subject_wait(preview, in->task.task, looked);
    } else if (type == INPUT_POOL_EDIT || type == INPUT_POOL_DELETE || type == INPUT_POOL_CLOSE) {
        queue_waits(preview, in->pool.pool, looked);
    } else if (type == INPUT_QUOTA_SET) {
        queue_waits(preview, in->quota.pool, looked);
    } else if (type == INPUT_NODE_EDIT || type == INPUT_NODE_REMOVE) {
        node = query_node(preview->before, in->node.node);
        must(node != NULL);
        queue_waits(preview, node->pool, looked);
    }
}

void preview_waits(struct preview *preview, const struct preview_ask *ask)
{
    uint32_t looked = 0;
    for (uint32_t i = 0; i < ask->count; i++) {
        input_waits(preview, &ask->inputs[i], &looked);
    }
    if (preview->wait_count > 0) {
        preview_later_first(preview, ask->inputs[0].now_ms, &preview->waits[0]);
    }
}
