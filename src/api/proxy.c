/* proxy.c - see proxy.h: who may reach which task. SPDX-License-Identifier: Apache-2.0 */
#include "api/proxy.h"

#include "api/call.h"
#include "api/handlers.h"
#include "api/proxy_internal.h"
#include "api/proxy_place.h"
#include "api/who.h"
#include "base/mem.h"
#include "wire/error_json.h"

#include <sodium.h>
#include <stdlib.h>

enum {
    PROXY_BODY_MAX = 64 * 1024 * 1024,
    PROXY_PASSES_MAX = 512, /* links and cookies; the oldest goes first */
    PROXY_SECRET_BYTES = 32,
    PROXY_LINK_MS = 2 * 60 * 1000,
    PROXY_COOKIE_S = 12 * 60 * 60,
};

#define LINK_PARAM "weir_link"

/* A one-time link, or the cookie that a browser got for such a link. A ticket is good for one
 * address, as long as the token for which it was made. */
struct proxy_ticket {
    uint8_t hash[32];
    bool link;
    uint8_t place[32]; /* the hash of the address: of "12" or "vision/chat" */
    int64_t expires_ms;
    char token[sizeof((struct store_token){0}.id)];
};

struct proxies {
    struct api *api;
    struct proxy_ticket tickets[PROXY_PASSES_MAX];
    size_t next;
    uint16_t port;
    uint32_t turn;
};

struct proxies *proxy_new(struct api *api)
{
    struct proxies *proxies = xcalloc(1, sizeof *proxies);
    proxies->api = api;
    return proxies;
}

void proxy_free(struct proxies *proxies)
{
    free(proxies);
}

void proxy_port_set(struct api *api, uint16_t port)
{
    api->proxies->port = port;
}

uint32_t proxy_turn(struct api *api)
{
    return api->proxies->turn++;
}

void proxy_refuse(struct http_request *request, unsigned status, const struct error *e)
{
    struct buf out;
    buf_init(&out, PROXY_HEAD_MAX);
    error_json(e, &out);
    http_request_answer(request, status, "application/json", (struct str){buf_text(&out), out.len});
    buf_done(&out);
}

/* ---- tickets ---- */

static const char *ticket_make(struct proxies *proxies, struct proxy_ticket like,
                               struct arena *arena)
{
    unsigned char random[PROXY_SECRET_BYTES];
    char *hex = arena_alloc(arena, 2 * sizeof random + 1);
    randombytes_buf(random, sizeof random);
    str_hex(hex, random, sizeof random);
    token_hash(hex, like.hash);
    proxies->tickets[proxies->next] = like;
    proxies->next = (proxies->next + 1) % PROXY_PASSES_MAX;
    return hex;
}

static struct proxy_ticket *ticket_find(struct proxies *proxies, const char *secret,
                                        const char *place, bool link)
{
    uint8_t where[32];
    const struct api *api = proxies->api;
    const int64_t now_ms = api->o.host->now_ms(api->o.host->ctx);
    uint8_t hash[32];
    if (strlen(secret) != 2 * PROXY_SECRET_BYTES) {
        return NULL;
    }
    token_hash(secret, hash);
    token_hash(place, where);
    for (size_t i = 0; i < PROXY_PASSES_MAX; i++) {
        struct proxy_ticket *ticket = &proxies->tickets[i];
        const struct store_token *token =
            memcmp(ticket->place, where, sizeof where) == 0 && ticket->link == link &&
                    ticket->expires_ms > now_ms &&
                    sodium_memcmp(ticket->hash, hash, sizeof hash) == 0
                ? token_set_by_id(api->o.tokens, ticket->token)
                : NULL;
        if (token != NULL && (token->expires_ms == 0 || token->expires_ms > now_ms)) {
            return ticket;
        }
    }
    return NULL;
}

/* Returns the name of the cookie. For a task the name ends in the task's number. For an address by
 * name it ends in a part of the address's hash, because such an address is too long for a cookie's
 * name. */
static const char *cookie_name(const struct proxied *p)
{
    enum { PLACE_SHOWN = 8 };
    struct arena *arena = http_request_arena(p->request);
    char hex[2 * PLACE_SHOWN + 1];
    uint8_t hash[32];
    token_hash(p->place, hash);
    str_hex(hex, hash, PLACE_SHOWN);
    return arena_fmt(arena, "weir_proxy_%u_%s%s", p->api->proxies->port,
                     p->name != NULL ? "n" : p->place, p->name != NULL ? hex : "");
}

static const struct proxy_ticket *ticket_of_cookie(const struct proxied *p)
{
    struct arena *arena = http_request_arena(p->request);
    const char *header = http_request_header(p->request, "Cookie");
    const char *name = cookie_name(p);
    struct str rest = header != NULL ? str_of(header) : (struct str){NULL, 0};
    while (rest.p != NULL) {
        struct str value = {NULL, 0};
        const struct str key = str_cut(str_trim(str_cut(rest, ';', &rest)), '=', &value);
        if (str_is(key, name) && value.p != NULL) {
            return ticket_find(p->api->proxies, arena_strn(arena, value.p, value.len), p->place,
                               false);
        }
    }
    return NULL;
}

/* ---- who may ---- */

/* The request's target without the link, which stands last in the query, as it was made. NULL: the link
 * stands there in another form. */
static const char *target_without_link(struct http_request *request)
{
    const char *target = http_request_target(request);
    const char *at = strstr(target, LINK_PARAM "=");
    return target[0] == '/' && at != NULL && (at[-1] == '?' || at[-1] == '&')
               ? arena_strn(http_request_arena(request), target, (size_t)(at - target - 1))
               : NULL;
}

/* Takes a one-time link: gives the cookie, and sends the browser on without the link. */
static void link_take(struct api *api, struct proxied *p, const char *secret)
{
    struct http_request *request = p->request;
    struct arena *arena = http_request_arena(request);
    struct error e;
    const char *onward = target_without_link(request);
    struct proxy_ticket *ticket =
        onward != NULL ? ticket_find(api->proxies, secret, p->place, true) : NULL;
    if (ticket == NULL) {
        (void)fail(&e, ERR_DENIED,
                   "the link was used, is older than two minutes, or is of another "
                   "task; ask for a new one");
        proxy_refuse(request, 401, &e);
        return;
    }
    struct proxy_ticket like = *ticket;
    sodium_memzero(ticket, sizeof *ticket);
    like.link = false;
    like.expires_ms = api->o.host->now_ms(api->o.host->ctx) + (int64_t)PROXY_COOKIE_S * 1000;
    http_request_answer_header(
        request, "Set-Cookie",
        arena_fmt(arena, "%s=%s; Path=%s/; Max-Age=%d; HttpOnly; SameSite=Strict%s", cookie_name(p),
                  ticket_make(api->proxies, like, arena), p->way.prefix, PROXY_COOKIE_S,
                  api->o.tls != NULL ? "; Secure" : ""));
    http_request_answer_header(request, "Location", onward);
    http_request_answer_header(request, "Referrer-Policy", "no-referrer");
    http_request_answer(request, 303, NULL, (struct str){"", 0});
}

static bool reaches(const struct proxied *p, const struct store_token *token)
{
    const struct api *api = p->api;
    enum token_scope scope;
    const struct core *core = api->o.host->core(api->o.host->ctx);
    if (core == NULL || !token_scope_parse(token->scope, &scope) || scope != SCOPE_ADMIN) {
        return false;
    }
    const struct access_principal who = access_principal_of(scope, token->name);
    const char *id =
        arena_fmt(http_request_arena(p->request), "%llu", (unsigned long long)p->task.v);
    const struct access_object object = access_object_of(core, ACCESS_OWN, id, &who);
    return access_reaches(&who, &object);
}

/* Returns the token whose rights the token `id` has. A session has the rights of the token from
 * which the session was made. NULL: that token is gone or has expired. */
static const struct store_token *token_behind(const struct api *api, const char *id)
{
    const int64_t now_ms = api->o.host->now_ms(api->o.host->ctx);
    const struct store_token *token = token_set_by_id(api->o.tokens, id);
    if (token != NULL && strcmp(token->scope, token_scope_name(SCOPE_SESSION)) == 0) {
        token = token_set_by_id(api->o.tokens, token->node);
    }
    return token == NULL || (token->expires_ms != 0 && token->expires_ms <= now_ms) ? NULL : token;
}

bool proxy_reaches(const struct proxied *p)
{
    const struct store_token *token = token_behind(p->api, p->use.token);
    return token != NULL && reaches(p, token);
}

/* Finds whose request it is. False: nobody's who may. */
static bool permitted(struct api *api, struct proxied *p)
{
    if (http_request_header(p->request, "Authorization") != NULL) {
        const struct who who = who_of(api, p->request);
        if (who.by == WHO_BY_TOKEN && reaches(p, who.token)) {
            p->way.bearer = true;
            (void)str_copy(p->use.token, sizeof p->use.token, who.token->id);
            return true;
        }
    }
    const struct proxy_ticket *ticket = ticket_of_cookie(p);
    if (ticket == NULL) {
        return false;
    }
    (void)str_copy(p->use.token, sizeof p->use.token, ticket->token);
    return proxy_reaches(p);
}

/* A page of another site must not use the cookie. A person may follow a link of the web interface, which
 * is on another port of the same host. */
static bool same_site(const struct http_request *request)
{
    const char *site = http_request_header(request, "Sec-Fetch-Site");
    const char *mode = http_request_header(request, "Sec-Fetch-Mode");
    return site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0 ||
           (strcmp(http_request_method(request), "GET") == 0 && mode != NULL &&
            strcmp(mode, "navigate") == 0);
}

/* ---- the listener ---- */

static bool knows_prefix(const struct api *api, task_id id)
{
    const struct core *core = api->o.host->core(api->o.host->ctx);
    const struct task *task = core != NULL ? query_task(core, id) : NULL;
    return task != NULL && (task->kind == TASK_NOTEBOOK || task->kind == TASK_TENSORBOARD);
}

size_t proxy_on_head(void *ctx, struct http_request *request)
{
    struct api *api = ctx;
    struct proxied *p = arena_new(http_request_arena(request), struct proxied, 1);
    struct error e;
    *p = (struct proxied){.api = api, .request = request};
    if (!who_host_trusted(api, request, &e)) {
        proxy_refuse(request, 403, &e);
        return 0;
    }
    if (!proxy_place_read(p)) {
        (void)fail(&e, ERR_NOT_FOUND,
                   "here are only the ports of tasks: " PROXY_ROOT
                   "TASK/, and of services: " PROXY_ROOT "PROJECT/NAME/");
        proxy_refuse(request, 404, &e);
        return 0;
    }
    const struct core *core = api->o.host->core(api->o.host->ctx);
    if (core != NULL) {
        /* where this finds no service, one may come while the request waits */
        (void)proxy_place_find(p, core);
    }
    const char *link = http_request_query(request, LINK_PARAM);
    if (link != NULL) {
        link_take(api, p, link);
        return 0;
    }
    if (!same_site(request) || !permitted(api, p)) {
        (void)fail(&e, ERR_DENIED,
                   "a token is needed: Authorization: Bearer …, or a link of "
                   "`weir task open %s`",
                   p->name == NULL ? p->place : "TASK --by-name");
        http_request_answer_header(request, "WWW-Authenticate", "Bearer");
        proxy_refuse(request, 401, &e);
        return 0;
    }
    p->way.keep = knows_prefix(api, p->task);
    p->way.websocket = http_upgrade_asked(request, "websocket");
    http_request_set_data(request, p);
    return PROXY_BODY_MAX;
}

void proxy_on_request(void *ctx, struct http_request *request)
{
    (void)ctx;
    const struct proxied *asked = http_request_data(request);
    struct proxied *p = xcalloc(1, sizeof *p);
    *p = *asked;
    p->way.prefix = asked->way.prefix;
    http_request_set_data(request, p);
    proxy_pass_begin(p);
}

void proxy_on_gone(void *ctx, struct http_request *request)
{
    (void)ctx;
    struct proxied *p = http_request_data(request);
    if (p != NULL) {
        proxy_pass_gone(p);
    }
}

/* Answers POST /tasks/{id}/open with a one-time link: to the port of the task, or to the address by
 * name of a service. */
void proxy_open(struct call *call)
{
    struct proxies *proxies = call->api->proxies;
    bool by_name = false;
    task_id id;
    if (!call_task_id(call, &id) || !call_query_bool(call, "by_name", &by_name)) {
        return;
    }
    const struct task *task = query_task(call_core(call), id);
    if (task == NULL) {
        call_failf(call, ERR_NOT_FOUND, "", "task %llu does not run", (unsigned long long)id.v);
        return;
    }
    const char *named = proxy_place_of(call_core(call), task, call_arena(call));
    if (by_name && named == NULL) {
        call_failf(
            call, ERR_CONFLICT, "",
            "only a task of kind service has an address by its name, and the name may have "
            "letters, "
            "digits, '-', '_' and '.' alone; and no address has a project whose name is a number");
        return;
    }
    if (proxies->port == 0 || token_set_by_id(call->api->o.tokens, call->token) == NULL) {
        call_failf(call, ERR_CONFLICT, "",
                   proxies->port == 0 ? "the server has no port for pages of tasks"
                                      : "a link stands for a token, and this request has none");
        return;
    }
    const char *path =
        by_name ? named : arena_fmt(call_arena(call), PROXY_ROOT "%llu/", (unsigned long long)id.v);
    const char *place = path + strlen(PROXY_ROOT);
    struct proxy_ticket like = {.link = true, .expires_ms = call_now_ms(call) + PROXY_LINK_MS};
    token_hash(arena_strn(call_arena(call), place, strlen(place) - 1), like.place);
    (void)str_copy(like.token, sizeof like.token, call->token);
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    json_out_kv_u64(&j, "port", proxies->port);
    json_out_kv_text(&j, "path", path);
    json_out_kv_text(&j, "address", named);
    json_out_kv_text(&j, "parameter",
                     arena_fmt(call_arena(call), LINK_PARAM "=%s",
                               ticket_make(proxies, like, call_arena(call))));
    json_out_kv_time(&j, "expires_at", like.expires_ms);
    json_out_end(&j);
    call_answer_json(call, 201);
}
