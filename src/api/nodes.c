/* nodes.c - /nodes: list, show, drain and label, remove. A node comes by joining, not by POST.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/join.h"
#include "api/named.h"
#include "api/page.h"
#include "api/preview.h"
#include "io/http_request.h"
#include "spec/edit.h"
#include "wire/state_json.h"

static void node_answer(struct call *call, node_id id)
{
    struct json_out j;
    call_json(call, &j);
    state_json_node(&j, call_core(call), query_node(call_core(call), id), call_arena(call));
    call_answer_json(call, 200);
}

/* `filter` is the name of a pool, or NULL for all pools. */
static uint64_t node_next(const struct core *core, const void *filter, uint64_t after)
{
    const char *pool = filter;
    const struct node *node = query_node_next(core, (node_id){(uint32_t)after});
    while (node != NULL &&
           (node->state == NODE_REMOVED ||
            (pool != NULL && strcmp(query_pool_name(core, node->pool), pool) != 0))) {
        node = query_node_next(core, node->id);
    }
    return node != NULL ? node->id.v : 0;
}

static void node_write(struct json_out *j, const struct core *core, uint64_t key,
                       struct arena *arena)
{
    state_json_node(j, core, query_node(core, (node_id){(uint32_t)key}), arena);
}

void nodes_list(struct call *call)
{
    static const struct page_source source = {node_next, node_write};
    const char *pool = http_request_query(call->request, "pool");
    if (pool != NULL && named_pool(call, "pool", pool) == NULL) {
        return;
    }
    page_answer(call, arena_fmt(call_arena(call), "nodes %s", pool != NULL ? pool : ""), &source,
                pool);
}

void nodes_show(struct call *call)
{
    const struct node *node = named_node(call, "", call->params[0]);
    if (node != NULL) {
        node_answer(call, node->id);
    }
}

void nodes_edit(struct call *call)
{
    const struct node *node = named_node(call, "", call->params[0]);
    const struct doc *body;
    struct node_edit edit;
    struct error e;
    struct facts facts;
    if (node == NULL || !body_read(call, &body)) {
        return;
    }
    node_id id = node->id;
    if (edit_node_read(body, call_arena(call), &edit, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct node_spec spec;
    query_node_spec(call_core(call), id, call_arena(call), &spec);
    struct node_edit whole;
    if (edit_labels_merge(spec.labels, spec.label_count, &edit, call_arena(call), &whole, &e) !=
        ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = id, .edit = &whole}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        node_answer(call, id);
    }
}

void nodes_remove(struct call *call)
{
    const struct node *node = named_node(call, "", call->params[0]);
    struct facts facts;
    if (node == NULL) {
        return;
    }
    struct input in = {.type = INPUT_NODE_REMOVE, .node = {.node = node->id}};
    if (preview_answered(call, &in) || !call_input(call, &in, &facts)) {
        return;
    }
    const struct api_host *host = call->api->o.host;
    token_set_revoke_node(call->api->o.tokens, call->params[0], host->token_put, host->ctx);
    call_answer(call, 204, NULL);
}

/* POST /nodes/{name}/rejoin: the administrator's word that another machine may have the name. The
 * token is for this node and its pool, once, within an hour. */
void nodes_rejoin(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    const struct node *node = named_node(call, "", call->params[0]);
    if (node == NULL) {
        return;
    }
    if (node->state == NODE_REMOVED) {
        call_failf(call, ERR_NOT_FOUND, "", "no node '%.60s'", call->params[0]);
        return;
    }
    if (host->agent_connected(host->ctx, call->params[0])) {
        call_failf(call, ERR_CONFLICT, "", "node '%s' is connected; stop its agent first",
                   call->params[0]);
        return;
    }
    if (preview_answered_alone(call)) {
        return;
    }
    struct store_token token;
    char secret[TOKEN_SECRET_MAX];
    const char *pool = query_pool_name(call_core(call), node->pool);
    token_make(SCOPE_JOIN, pool, call_now_ms(call), &token, secret);
    join_limit(&token, pool, JOIN_USES_DEFAULT);
    must(str_copy(token.node, sizeof token.node, call->params[0]));
    token.expires_ms = token.created_ms + JOIN_EXPIRES_MS;
    host->token_put(host->ctx, &token);
    struct json_out j;
    call_json(call, &j);
    token_json(&j, &token, api_token_text(call, secret));
    call_answer_json(call, 201);
}
