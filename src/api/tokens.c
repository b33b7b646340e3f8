/* tokens.c - /tokens: list, make, revoke. The secret is in the answer to POST and nowhere else.
 * Node credentials are made by joining, not here; they are listed here and can be revoked here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/join.h"
#include "api/named.h"
#include "api/page.h"
#include "api/preview.h"

/* Reads how often a join token may be used; 0: not said. */
static bool uses_read(struct call *call, const struct doc *body, int64_t *ret)
{
    const struct doc *value = doc_get(body, "uses");
    if (body_has(body, "uses") && (!doc_i64(value, ret) || *ret < 1 || *ret > JOIN_USES_MAX)) {
        call_failf(call, ERR_INVALID, "uses", "uses must be a number from 1 to %d", JOIN_USES_MAX);
        return false;
    }
    return true;
}

/* Lists tokens in order of creation. The cursor is a position in the table of tokens. A token that
 * is revoked between two pages may shift the positions of later tokens. */
void tokens_list(struct call *call)
{
    struct page page;
    if (!page_read(call, "tokens", &page)) {
        return;
    }
    struct json_out j;
    call_json(call, &j);
    page_begin(&j);
    size_t cursor = (size_t)page.after;
    size_t listed = 0;
    const struct store_token *token = NULL;
    while (listed < page.limit && (token = token_set_next(call->api->o.tokens, &cursor)) != NULL) {
        token_json(&j, token, NULL);
        listed++;
    }
    size_t peek = cursor;
    bool more = token != NULL && token_set_next(call->api->o.tokens, &peek) != NULL;
    page_end(&j, &page, more ? cursor : 0);
    call_answer_json(call, 200);
}

void tokens_create(struct call *call)
{
    static const char *const fields[] = {"scope", "name", "expires_in", "uses", NULL};
    const struct doc *body;
    if (!body_object(call, fields, &body)) {
        return;
    }
    const char *scope_text = "read";
    const char *name = NULL;
    int64_t expires_in_ms = 0;
    int64_t uses = 0;
    if (!body_text(call, body, "scope", &scope_text) || !body_name(call, body, "name", &name) ||
        !body_duration(call, body, "expires_in", &expires_in_ms) || !uses_read(call, body, &uses)) {
        return;
    }
    enum token_scope scope;
    if (!token_scope_parse(scope_text, &scope) || scope == SCOPE_NODE || scope == SCOPE_SESSION) {
        call_failf(call, ERR_INVALID, "scope", "scope must be admin, read or join, not '%.60s'",
                   scope_text);
        return;
    }
    if (scope != SCOPE_JOIN && uses != 0) {
        call_failf(call, ERR_INVALID, "uses", "only a join token has a number of uses");
        return;
    }
    name = name != NULL ? name : scope == SCOPE_JOIN ? POOL_DEFAULT_NAME : call->name;
    if (scope == SCOPE_JOIN && named_pool(call, "name", name) == NULL) {
        return;
    }
    if (token_set_count(call->api->o.tokens) >= TOKENS_MAX) {
        call_failf(call, ERR_LIMIT, "", "there are %d tokens; revoke some first", TOKENS_MAX);
        return;
    }
    if (preview_answered_alone(call)) {
        return;
    }
    const struct api_host *host = call->api->o.host;
    struct store_token token;
    char secret[TOKEN_SECRET_MAX];
    token_make(scope, name, call_now_ms(call), &token, secret);
    if (scope == SCOPE_JOIN) {
        join_limit(&token, name, uses);
        expires_in_ms = expires_in_ms > 0 ? expires_in_ms : JOIN_EXPIRES_MS;
    }
    token.expires_ms = expires_in_ms > 0 ? token.created_ms + expires_in_ms : 0;
    host->token_put(host->ctx, &token);
    struct json_out j;
    call_json(call, &j);
    token_json(&j, &token, api_token_text(call, secret));
    call_answer_json(call, 201);
}

void tokens_revoke(struct call *call)
{
    const struct store_token *token = token_set_by_id(call->api->o.tokens, call->params[0]);
    if (token == NULL) {
        call_failf(call, ERR_NOT_FOUND, "",
                   "no token has the id '%.60s'; `weir token list` shows ids", call->params[0]);
        return;
    }
    if (preview_answered_alone(call)) {
        return;
    }
    const struct api_host *host = call->api->o.host;
    struct store_token gone = *token;
    gone.revoked = true;
    session_revoke_of(call->api->o.tokens, token->id, host->token_put, host->ctx);
    host->token_put(host->ctx, &gone);
    struct json_out j;
    call_json(call, &j);
    token_json(&j, token, NULL);
    call_answer_json(call, 200);
}
