/* reason_names.c - see reason_names.h. Surprising: the tasks of a pool or an account are found by a
 * look at every task. A refusal of a deletion is rare, and an index for it alone would cost every
 * task. SPDX-License-Identifier: Apache-2.0 */
#include "wire/reason_names.h"

#include "base/must.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <string.h>

enum {
    SHOWN_MAX = 8,     /* names in one list */
    LOOKED_MAX = 1000, /* nodes whose labels are read */
};

/* Ends a list of `shown` out of `all` names. */
static void rest_add(uint32_t shown, uint32_t all, struct buf *out)
{
    if (all > shown) {
        buf_addf(out, " and %u more", all - shown);
    }
}

static void count_add(uint32_t count, const char *what, struct buf *out)
{
    buf_addf(out, "%u %s%s", count, what, count == 1 ? "" : "s");
}

/* ---- in use ---- */

static bool task_uses(const struct task *task, const struct reason *reason)
{
    return reason->pool.v != 0 ? task->pool.v == reason->pool.v
                               : task->account.v == reason->account.v;
}

static void tasks_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    uint32_t shown = 0;
    count_add(reason->need, "task", out);
    if (reason->task.v != 0) {
        buf_addf(out, ", the first of which is %" PRIu64, reason->task.v);
        return;
    }
    const struct task *task = query_task_next(core, (task_id){0});
    for (; task != NULL && shown < SHOWN_MAX; task = query_task_next(core, task->id)) {
        if (task_uses(task, reason)) {
            buf_addf(out, "%s%" PRIu64, shown == 0 ? ": " : ", ", task->id.v);
            shown++;
        }
    }
    rest_add(shown, reason->need, out);
}

static void nodes_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    uint32_t shown = 0;
    count_add(reason->need, "node", out);
    const struct node *node = query_pool_node_next(core, reason->pool, (node_id){0});
    for (; node != NULL && shown < SHOWN_MAX;
         node = query_pool_node_next(core, reason->pool, node->id)) {
        buf_addf(out, "%s%s", shown == 0 ? ": " : ", ", query_node_name(core, node->id));
        shown++;
    }
    rest_add(shown, reason->need, out);
}

static void instances_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    uint32_t shown = 0;
    struct attempt_key cursor = {0};
    count_add(reason->need, "instance", out);
    const struct instance *instance = query_node_instance_next(core, reason->node, &cursor);
    for (; instance != NULL && shown < SHOWN_MAX;
         instance = query_node_instance_next(core, reason->node, &cursor)) {
        buf_addf(out, "%s%" PRIu64 ".%u", shown == 0 ? ": " : ", ", cursor.task.v, cursor.index);
        shown++;
    }
    rest_add(shown, reason->need, out);
}

void reason_names_uses(const struct core *core, const struct reason *reason, struct buf *out)
{
    const struct pool *pool = query_pool(core, reason->pool);
    if (reason->node.v != 0) {
        instances_add(core, reason, out);
    } else if (pool != NULL && pool->node_count > 0 && reason->task.v == 0 && reason->have == 0) {
        nodes_add(core, reason, out);
    } else if (pool != NULL && pool->task_count == 0) {
        count_add(reason->need, "node", out);
        buf_add_str(out, " that its provider was asked for");
    } else {
        tasks_add(core, reason, out);
    }
}

/* ---- what would be accepted ---- */

void reason_names_nodes(const struct core *core, const char *asked, struct buf *out)
{
    struct suggest suggest;
    uint32_t count = 0;
    suggest_init(&suggest, str_of(asked));
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        const char *name = query_node_name(core, node->id);
        suggest_offer(&suggest, name);
        if (count < SHOWN_MAX) {
            buf_addf(out, "%s%s", count == 0 ? "; there are: " : ", ", name);
        }
        count++;
    }
    rest_add(SHOWN_MAX, count, out);
    if (count == 0) {
        buf_add_str(out, "; no node has joined yet");
    }
    if (suggest.best != NULL) {
        buf_addf(out, "; did you mean '%s'?", suggest.best);
    }
}

/* Adds a label to the list if it is not there yet; false: the list is full. */
static bool label_add(const struct label *label, struct arena *arena, const char **list,
                      uint32_t *count)
{
    const char *text = arena_fmt(arena, "%s=%s", label->key, label->value);
    uint32_t at = 0;
    while (at < *count && strcmp(list[at], text) != 0) {
        at++;
    }
    if (at == *count && at < SHOWN_MAX) {
        list[(*count)++] = text;
        return true;
    }
    return at < *count;
}

void reason_names_labels(const struct core *core, pool_id pool, struct buf *out)
{
    struct arena arena;
    const char *list[SHOWN_MAX];
    uint32_t count = 0;
    bool room = true;
    arena_init(&arena);
    const struct node *node = query_pool_node_next(core, pool, (node_id){0});
    for (uint32_t looked = 0; node != NULL && looked < LOOKED_MAX && room; looked++) {
        struct node_spec spec;
        query_node_spec(core, node->id, &arena, &spec);
        for (uint32_t i = 0; i < spec.label_count && room; i++) {
            room = label_add(&spec.labels[i], &arena, list, &count);
        }
        node = query_pool_node_next(core, pool, node->id);
    }
    buf_add_str(out, count == 0 ? "; its nodes have no labels" : "; its nodes have ");
    for (uint32_t i = 0; i < count; i++) {
        buf_addf(out, "%s%s", i == 0 ? "" : ", ", list[i]);
    }
    buf_add_str(out, room && node == NULL ? "" : " and others");
    arena_done(&arena);
}
