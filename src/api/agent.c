/* agent.c - the agents' three routes. Joining makes a credential. The host, which keeps the links,
 * handles stream and reports. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/join.h"
#include "api/named.h"
#include "io/http_request.h"
#include "wire/agent.h"

/* The commit that stores the new credential also revokes the node's earlier credential. */
static void credential_replace(struct call *call, const char *node, const struct store_token *token)
{
    const struct api_host *host = call->api->o.host;
    const struct store_token *old = token_set_named(call->api->o.tokens, SCOPE_NODE, node);
    if (old != NULL) {
        struct store_token gone = *old;
        gone.revoked = true;
        host->token_put(host->ctx, &gone);
    }
    host->token_put(host->ctx, token);
}

/* Signs the node's request. False: the call is answered. */
static bool certify(struct call *call, const char *request, const char *name,
                    const char *credential, struct agent_certified *ret)
{
    const struct api_host *host = call->api->o.host;
    struct error e;
    const struct x509_node node = {.name = name, .credential = credential};
    if (host->node_sign(host->ctx, request, &node, call_arena(call), &ret->certificate,
                        &ret->renew_ms, &e) == ERR_OK) {
        return true;
    }
    (void)str_copy(e.path, sizeof e.path, "request");
    call_fail(call, &e);
    return false;
}

void agent_certificate(struct call *call)
{
    struct agent_certify certify_body;
    struct agent_certified certified;
    struct error e;
    if (agent_certify_decode(http_request_body(call->request), call_arena(call), &certify_body,
                             &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    if (!http_tls_used(call->request)) {
        call_failf(call, ERR_CONFLICT, "",
                   "this server speaks plain HTTP and signs no certificates");
        return;
    }
    if (certify(call, certify_body.request, call->name, call->token, &certified)) {
        buf_clear(&call->out);
        agent_certified_encode(&certified, &call->out);
        call_answer_json(call, 200);
    }
}

void agent_join(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    struct agent_join join;
    struct error e;
    if (agent_join_decode(http_request_body(call->request), call_arena(call), &join, &e) !=
        ERR_OK) {
        call_fail(call, &e);
        return;
    }
    if (host->agent_connected(host->ctx, join.name)) {
        call_failf(call, ERR_CONFLICT, "name",
                   "node '%s' is connected; stop its agent first, or take another name", join.name);
        return;
    }
    if (named_pool(call, "pool", join.pool[0] != '\0' ? join.pool : call->name) == NULL) {
        return;
    }
    struct store_token used;
    if (!join_allowed(call, &join, &used)) {
        return;
    }
    struct store_token token;
    char secret[TOKEN_SECRET_MAX];
    token_make(SCOPE_NODE, join.name, call_now_ms(call), &token, secret);
    must(str_copy(token.pool, sizeof token.pool, used.pool));
    must(str_copy(token.machine, sizeof token.machine, join.machine));
    struct agent_certified certified = {.certificate = ""};
    if (http_tls_used(call->request) &&
        !certify(call, join.request, join.name, token.id, &certified)) {
        return;
    }
    credential_replace(call, join.name, &token);
    if (used.uses != 0) {
        host->token_put(host->ctx, &used);
    }
    buf_clear(&call->out);
    agent_joined_encode(&(struct agent_joined){.node = join.name,
                                               .credential = secret,
                                               .certificate = certified.certificate},
                        &call->out);
    call_answer_json(call, 201);
}

void agent_stream(struct call *call)
{
    call->api->o.host->agent_stream(call->api->o.host->ctx, call);
}

void agent_reports(struct call *call)
{
    call->api->o.host->agent_reports(call->api->o.host->ctx, call);
}
