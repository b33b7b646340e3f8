/* session.c - see session.h: /session, /session/link.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/session.h"

#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "io/http_request.h"

#include <sodium.h>

enum { LINK_RANDOM_BYTES = 32, COOKIE_SUFFIX_BYTES = 4 };

static const char link_prefix[] = "weir_link_";

/* ---- links ---- */

static size_t link_at(const struct api *api, const char *secret, int64_t now_ms)
{
    uint8_t hash[32];
    if (strncmp(secret, link_prefix, sizeof link_prefix - 1) != 0) {
        return SESSION_LINKS_MAX;
    }
    token_hash(secret, hash);
    for (size_t i = 0; i < SESSION_LINKS_MAX; i++) {
        const struct session_link *link = &api->links.at[i];
        if (link->token[0] != '\0' && link->expires_ms > now_ms &&
            sodium_memcmp(link->hash, hash, sizeof hash) == 0) {
            return i;
        }
    }
    return SESSION_LINKS_MAX;
}

const struct store_token *session_link_find(const struct api *api, const char *secret,
                                            int64_t now_ms)
{
    const size_t at = link_at(api, secret, now_ms);
    const struct store_token *token =
        at < SESSION_LINKS_MAX ? token_set_by_id(api->o.tokens, api->links.at[at].token) : NULL;
    return token == NULL || (token->expires_ms != 0 && token->expires_ms <= now_ms) ? NULL : token;
}

/* Uses the call's link up. False: another request was faster. */
static bool link_take(struct call *call)
{
    static const char bearer[] = "Bearer ";
    const char *header = http_request_header(call->request, "Authorization");
    const size_t at = header == NULL || strlen(header) < sizeof bearer
                          ? SESSION_LINKS_MAX
                          : link_at(call->api, header + sizeof bearer - 1, call_now_ms(call));
    if (at == SESSION_LINKS_MAX) {
        return false;
    }
    sodium_memzero(&call->api->links.at[at], sizeof call->api->links.at[at]);
    return true;
}

/* The stored token that the caller's links and sessions stand for. An account that came through the socket
 * has none of its own: the administrator's, which such an account can read, stands for it. */
static const struct store_token *token_behind(struct call *call)
{
    const struct tokens *tokens = call->api->o.tokens;
    const struct store_token *token = token_set_by_id(tokens, call->token);
    if (call->by == WHO_BY_SESSION && token != NULL) {
        return token_set_by_id(tokens, token->node);
    }
    return call->by == WHO_BY_SOCKET ? token_set_named(tokens, SCOPE_ADMIN, call->name) : token;
}

void session_link(struct call *call)
{
    const struct store_token *token = token_behind(call);
    if (token == NULL) {
        call_failf(call, ERR_CONFLICT, "",
                   "'%s' has no token for which a link could stand; `weir login` saves one",
                   call->name);
        return;
    }
    unsigned char random[LINK_RANDOM_BYTES];
    char hex[2 * LINK_RANDOM_BYTES + 1];
    randombytes_buf(random, sizeof random);
    must(sodium_bin2hex(hex, sizeof hex, random, sizeof random) == hex);
    const char *secret = arena_fmt(call_arena(call), "%s%s", link_prefix, hex);
    struct session_links *links = &call->api->links;
    struct session_link *link = &links->at[links->next];
    links->next = (links->next + 1) % SESSION_LINKS_MAX;
    *link = (struct session_link){.expires_ms = call_now_ms(call) + SESSION_LINK_LIFE_MS};
    must(str_copy(link->token, sizeof link->token, token->id));
    token_hash(secret, link->hash);
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    json_out_kv_text(&j, "link", secret);
    json_out_kv_text(&j, "path", arena_fmt(call_arena(call), "/#link=%s", secret));
    json_out_kv_time(&j, "expires_at", link->expires_ms);
    json_out_end(&j);
    call_answer_json(call, 201);
}

/* ---- sessions ---- */

const char *session_cookie_prefix(const struct api *api)
{
    return api->o.tls != NULL ? "__Host-weir_session_" : "weir_session_";
}

/* The name has a part of the server's own number, because a browser sends the cookies of all servers of
 * a machine to each of them. `life_s` 0: takes the cookie away. */
static void cookie_give(struct call *call, const char *secret, int64_t life_s)
{
    char hex[2 * COOKIE_SUFFIX_BYTES + 1];
    str_hex(hex, query_server_uuid(call_core(call)), COOKIE_SUFFIX_BYTES);
    const char *text =
        arena_fmt(call_arena(call), "%s%s=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict%s",
                  session_cookie_prefix(call->api), hex, secret, (long long)life_s,
                  call->api->o.tls != NULL ? "; Secure" : "");
    http_request_answer_header(call->request, "Set-Cookie", text);
}

static bool is_session_of(const struct store_token *token, const char *of)
{
    return strcmp(token->scope, token_scope_name(SCOPE_SESSION)) == 0 &&
           strcmp(token->node, of) == 0;
}

void session_revoke_of(const struct tokens *tokens, const char *token,
                       void (*put)(void *ctx, const struct store_token *token), void *ctx)
{
    size_t cursor = 0;
    const struct store_token *session;
    while ((session = token_set_next(tokens, &cursor)) != NULL) {
        if (is_session_of(session, token)) {
            struct store_token gone = *session;
            gone.revoked = true;
            put(ctx, &gone);
        }
    }
}

/* Is there room for one more session? A token with too many loses its oldest one. */
static bool room_made(struct call *call, const struct store_token *token)
{
    const struct tokens *tokens = call->api->o.tokens;
    const struct store_token *oldest = NULL;
    const struct store_token *one;
    size_t cursor = 0;
    size_t own = 0;
    size_t all = 0;
    while ((one = token_set_next(tokens, &cursor)) != NULL) {
        all += strcmp(one->scope, token_scope_name(SCOPE_SESSION)) == 0;
        if (is_session_of(one, token->id)) {
            own++;
            oldest = oldest == NULL || one->created_ms < oldest->created_ms ? one : oldest;
        }
    }
    if (own >= SESSIONS_TOKEN_MAX) {
        struct store_token gone = *oldest;
        gone.revoked = true;
        call->api->o.host->token_put(call->api->o.host->ctx, &gone);
    } else if (all >= SESSIONS_MAX || token_set_count(tokens) >= TOKENS_MAX) {
        call_failf(call, ERR_LIMIT, "", "there are %zu sessions; sign out somewhere first", all);
        return false;
    }
    return true;
}

static const char *by_name(enum who_by by)
{
    switch (by) {
    case WHO_BY_SESSION:
        return "session";
    case WHO_BY_SOCKET:
        return "socket";
    case WHO_BY_NOTHING:
    case WHO_BY_TOKEN:
    case WHO_BY_LINK:
        break;
    }
    return "token";
}

static void session_answer(struct call *call, const struct store_token *shown, enum who_by by,
                           unsigned status)
{
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    json_out_kv_text(&j, "id", shown != NULL ? shown->id : call->token);
    json_out_kv_text(&j, "name", call->name);
    json_out_kv_text(&j, "scope", token_scope_name(call->scope));
    json_out_kv_text(&j, "by", by_name(by));
    json_out_kv_time(&j, "expires_at", shown != NULL ? shown->expires_ms : 0);
    json_out_end(&j);
    call_answer_json(call, status);
}

void session_create(struct call *call)
{
    const struct store_token *token = token_behind(call);
    if (call->by == WHO_BY_SESSION || token == NULL) {
        call_failf(
            call, ERR_CONFLICT, "",
            "a session is made with a token or a one-time link, and not by cookie or socket");
        return;
    }
    if (call->by == WHO_BY_LINK && !link_take(call)) {
        call_failf(call, ERR_DENIED, "", "this link was used already; `weir ui` makes another");
        return;
    }
    if (!room_made(call, token)) {
        return;
    }
    struct store_token session;
    char secret[TOKEN_SECRET_MAX];
    token_make(SCOPE_SESSION, token->name, call_now_ms(call), &session, secret);
    must(str_copy(session.node, sizeof session.node, token->id));
    session.expires_ms = session.created_ms + SESSION_LIFE_MS;
    if (token->expires_ms != 0 && token->expires_ms < session.expires_ms) {
        session.expires_ms = token->expires_ms;
    }
    call->api->o.host->token_put(call->api->o.host->ctx, &session);
    cookie_give(call, secret, (session.expires_ms - session.created_ms) / 1000);
    sodium_memzero(secret, sizeof secret);
    session_answer(call, &session, WHO_BY_SESSION, 201);
}

void session_show(struct call *call)
{
    session_answer(call, token_set_by_id(call->api->o.tokens, call->token), call->by, 200);
}

void session_delete(struct call *call)
{
    const struct store_token *session = token_set_by_id(call->api->o.tokens, call->token);
    if (call->by != WHO_BY_SESSION || session == NULL) {
        call_failf(call, ERR_CONFLICT, "", "there is no session to end: this request has none");
        return;
    }
    struct store_token gone = *session;
    gone.revoked = true;
    call->api->o.host->token_put(call->api->o.host->ctx, &gone);
    cookie_give(call, "gone", 0);
    session_answer(call, &gone, WHO_BY_SESSION, 200);
}
