/* idle.c - GET /usage/idle: who holds places and does nothing with them, as the nodes last said.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "core/model/instance.h"
#include "base/vec.h"
#include "store/store_usage.h"
#include "wire/use_table.h"

#include <stdlib.h>

enum {
    IDLE_SECONDS_DEFAULT = 300,
    IDLE_SECONDS_MAX = 366 * 86400,
    IDLE_SHOWN_MAX = 200, /* attempts in the answer, those with the most slot-time first */
};

struct idle_row {
    const struct instance *instance;
    const struct attempt_use *use;
    int64_t amount; /* slots times milliseconds */
};

struct idle_rows {
    VEC(struct idle_row) vec;
};

static int row_compare(const void *a, const void *b)
{
    const struct idle_row *x = a;
    const struct idle_row *y = b;
    if (x->amount != y->amount) {
        return x->amount < y->amount ? 1 : -1;
    }
    return x->instance->task.v < y->instance->task.v ? -1 : 1;
}

static void rows_find(const struct core *core, const struct use_table *uses, int64_t least_ms,
                      struct idle_rows *rows)
{
    size_t cursor = 0;
    const struct attempt_use *use;
    while ((use = use_table_next(uses, &cursor)) != NULL) {
        const int64_t idle_ms = use->heard_ms - use->busy_ms;
        const struct instance *instance = query_instance_live(core, use->key);
        if (idle_ms >= least_ms && instance != NULL && instance->slots_milli > 0) {
            const struct idle_row row = {instance, use,
                                         store_usage_amount(instance->slots_milli, idle_ms)};
            vec_push(&rows->vec, row);
        }
    }
    if (rows->vec.count > 0) {
        qsort(rows->vec.at, rows->vec.count, sizeof rows->vec.at[0], row_compare);
    }
}

static void row_json(struct json_out *j, const struct core *core, const struct idle_row *row,
                     struct arena *arena)
{
    const struct instance *instance = row->instance;
    const struct task *task = query_task(core, instance->task);
    const struct node *node = query_node(core, instance->node);
    struct task_spec spec;
    must(task != NULL);
    query_task_spec(core, task->id, arena, &spec);
    json_out_put(j, "{task:%lu,instance:%u,name:%s,kind:%s,user:%s,project:%s", task->id.v,
                 instance->index, spec.name, names_task_kind((enum task_kind)task->kind),
                 query_usage_user_name(core, task->user), query_account_name(core, task->account));
    json_out_kv_text(j, "pool", node != NULL ? query_pool_name(core, node->pool) : NULL);
    json_out_kv_text(j, "node", node != NULL ? query_node_name(core, node->id) : NULL);
    json_out_put(j, "slots:%.3ld,idle_since:%td,warned_at:%td,slot_seconds:%.3ld}",
                 instance->slots_milli, row->use->busy_ms, row->use->warned_ms, row->amount);
}

void idle_show(struct call *call)
{
    const struct core *core = call_core(call);
    const struct api_host *host = call->api->o.host;
    uint64_t seconds = IDLE_SECONDS_DEFAULT;
    struct json_out j;
    if (!call_query_u64(call, "seconds", IDLE_SECONDS_MAX, &seconds)) {
        return;
    }
    struct idle_rows rows = {0};
    rows_find(core, host->uses != NULL ? host->uses(host->ctx) : NULL, (int64_t)seconds * 1000,
              &rows);
    int64_t slots = 0;
    int64_t amount = 0;
    for (size_t i = 0; i < rows.vec.count; i++) {
        slots += rows.vec.at[i].instance->slots_milli;
        amount += rows.vec.at[i].amount;
    }
    call_json(call, &j);
    json_out_put(&j, "{time:%td,attempts:%lu,slots:%.3ld,slot_seconds:%.3ld,items:[",
                 call_now_ms(call), rows.vec.count, slots, amount);
    for (size_t i = 0; i < rows.vec.count && i < IDLE_SHOWN_MAX; i++) {
        row_json(&j, core, &rows.vec.at[i], call_arena(call));
    }
    vec_done(&rows.vec);
    json_out_put(&j, "]}");
    call_answer_json(call, 200);
}
