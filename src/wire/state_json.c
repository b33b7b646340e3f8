/* state_json.c - the whole state as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/state_json.h"

#include "wire/account_json.h"
#include "wire/node_json.h"
#include "wire/pool_json.h"
#include "wire/quota_json.h"
#include "wire/task_json.h"

static void pools_json(struct json_out *j, const struct core *core, struct arena *arena)
{
    json_out_key(j, "pools");
    json_out_array(j);
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        pool_json(j, core, pool, arena);
        arena_clear(arena);
    }
    json_out_end(j);
}

static void defaults_json(struct json_out *j, const struct core *core)
{
    json_out_key(j, "defaults");
    json_out_object(j);
    json_out_kv_text(j, "gpu_pool", query_default_pool(core, POOL_DEFAULT_GPU));
    json_out_kv_text(j, "cpu_pool", query_default_pool(core, POOL_DEFAULT_CPU));
    json_out_end(j);
}

static void nodes_json(struct json_out *j, const struct core *core, struct arena *arena)
{
    json_out_key(j, "nodes");
    json_out_array(j);
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        node_json(j, core, node, arena);
        arena_clear(arena);
    }
    json_out_end(j);
}

static void accounts_json(struct json_out *j, const struct core *core, enum account_kind kind,
                          struct arena *arena)
{
    json_out_key(j, kind == ACCOUNT_PROJECT ? "projects" : "departments");
    json_out_array(j);
    for (const struct account *account = query_account_next(core, (account_id){0}); account != NULL;
         account = query_account_next(core, account->id)) {
        if (account->kind == kind) {
            account_json(j, core, account, arena);
            arena_clear(arena);
        }
    }
    json_out_end(j);
}

static void quotas_json(struct json_out *j, const struct core *core, struct arena *arena)
{
    json_out_key(j, "quotas");
    json_out_array(j);
    account_id account = {0};
    pool_id pool = {0};
    while (query_quota_next(core, &account, &pool)) {
        quota_json(j, core, account, pool, arena);
        arena_clear(arena);
    }
    json_out_end(j);
}

static void tasks_json(struct json_out *j, const struct core *core, struct arena *arena)
{
    struct task_writer writer;
    task_json_writer_init(&writer, core, arena);
    json_out_key(j, "tasks");
    json_out_array(j);
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        task_json(&writer, j, task, TASK_JSON_ATTEMPTS | TASK_JSON_PLACES | TASK_JSON_NO_ENV);
        arena_clear(arena);
    }
    json_out_end(j);
}

void state_json(const struct core *core, int64_t now_ms, struct buf *out)
{
    struct arena arena;
    struct json_out j;
    arena_init(&arena);
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_u64(&j, "version", STATE_JSON_VERSION);
    json_out_kv_u64(&j, "seq", query_seq(core));
    json_out_kv_time(&j, "time", now_ms);
    defaults_json(&j, core);
    pools_json(&j, core, &arena);
    nodes_json(&j, core, &arena);
    accounts_json(&j, core, ACCOUNT_DEPARTMENT, &arena);
    accounts_json(&j, core, ACCOUNT_PROJECT, &arena);
    quotas_json(&j, core, &arena);
    tasks_json(&j, core, &arena);
    json_out_end(&j);
    arena_done(&arena);
}
