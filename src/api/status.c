/* status.c - GET /status (counts for `weir status`) and GET /state (the whole state as JSON).
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/handlers.h"
#include "core/state/membership.h"
#include "wire/state_json.h"

#include <stdio.h>

/* Counts of ended states include every task since the first. */
static void tasks_count(struct json_out *j, const struct core *core)
{
    json_out_key(j, "tasks");
    json_out_object(j);
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        json_out_kv_u64(j, names_task_state((enum task_state)state),
                        query_task_count(core, (enum task_state)state));
    }
    json_out_end(j);
}

static void nodes_count(struct json_out *j, const struct core *core)
{
    uint64_t counts[NODE_STATE_COUNT] = {0};
    node_id id = {0};
    const struct node *node;
    while ((node = query_node_next(core, id)) != NULL) {
        id = node->id;
        counts[node->state]++;
    }
    json_out_key(j, "nodes");
    json_out_object(j);
    for (unsigned state = 0; state < NODE_REMOVED; state++) {
        json_out_kv_u64(j, names_node_state((enum node_state)state), counts[state]);
    }
    json_out_end(j);
}

static void uuid_json(struct json_out *j, const uint8_t *uuid)
{
    char hex[33];
    str_hex(hex, uuid, 16);
    char text[37];
    (void)snprintf(text, sizeof text, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
                   hex + 20);
    json_out_kv_text(j, "server", text);
}

void status_show(struct call *call)
{
    const struct core *core = call_core(call);
    const struct api_host *host = call->api->o.host;
    struct host_numbers numbers;
    struct error e;
    struct json_out j;
    host->numbers(host->ctx, &numbers);
    bool writable = host->writable(host->ctx, &e) == ERR_OK;
    uint64_t pools = 0;
    const struct pool *pool = NULL;
    while ((pool = query_pool_next(core, pool != NULL ? pool->id : (pool_id){0})) != NULL) {
        pools += pool->deleted ? 0 : 1;
    }
    call_json(call, &j);
    json_out_object(&j);
    uuid_json(&j, query_server_uuid(core));
    json_out_kv_text(&j, "version", WEIR_VERSION);
    json_out_kv_u64(&j, "epoch", query_epoch(core));
    json_out_kv_u64(&j, "seq", query_seq(core));
    json_out_kv_time(&j, "time", call_now_ms(call));
    json_out_kv_time(&j, "started_at", numbers.started_ms);
    json_out_kv_bool(&j, "writable", writable);
    json_out_kv_text(&j, "problem", writable ? "" : e.text);
    json_out_kv_u64(&j, "pools", pools);
    nodes_count(&j, core);
    json_out_kv_u64(&j, "nodes_contested", membership_contested_count(core));
    tasks_count(&j, core);
    json_out_kv_u64(&j, "agents_connected", numbers.agents_connected);
    const struct http_tls *tls = call->api->o.tls;
    json_out_kv_time(&j, "certificate_until", tls != NULL ? http_tls_facts(tls)->until_ms : 0);
    json_out_end(&j);
    call_answer_json(call, 200);
}

/* ---- GET /state: on a worker, from a copy of the state ---- */

#define STATE_BYTES_MAX ((size_t)2 << 30)

static void state_write(const struct core *copy, const void *ask, int64_t now_ms, struct buf *out)
{
    (void)ask;
    state_json(copy, now_ms, out);
}

void status_state(struct call *call)
{
    call_work_send_copy(call, state_write, NULL, 0, STATE_BYTES_MAX);
}
