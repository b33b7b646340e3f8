/* api.c - see api.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"

#include "cli/text.h"
#include "io/http_client.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { CALL_TIMEOUT_MS = 60000, TELL_EVERY_MS = 5000 };

enum err api_open(struct cli *cli, struct error *e)
{
    if (cli->client != NULL) {
        return ERR_OK;
    }
    enum err r = login_find(&cli->arena, args_text(&cli->args, "server"), &cli->login, e);
    if (r != ERR_OK) {
        return r;
    }
    if (cli->login.url == NULL) {
        return fail(e, ERR_UNREACHABLE,
                    "no server is known: no saved login in %s and WEIR_SERVER is not set",
                    login_path(&cli->arena));
    }
    r = login_url_check(cli->login.url, e);
    if (r != ERR_OK) {
        return r;
    }
    cli->client = login_client(&cli->login);
    return ERR_OK;
}

static enum err code_of(unsigned status, const char *name)
{
    switch (status) {
    case 400:
    case 405:
        return ERR_INVALID;
    case 401:
    case 403:
        return ERR_DENIED;
    case 404:
        return ERR_NOT_FOUND;
    case 409:
        return ERR_CONFLICT;
    case 413:
        return ERR_LIMIT;
    case 422:
        return strcmp(name, "never") == 0 ? ERR_NEVER : ERR_CONFLICT;
    case 429:
    case 503:
        return ERR_BUSY;
    default:
        return ERR_INTERNAL;
    }
}

enum err api_refusal(unsigned status, struct str body, struct error *e)
{
    struct arena arena;
    arena_init(&arena);
    struct doc *doc = NULL;
    const char *name = "";
    const char *message = NULL;
    const char *path = "";
    if (body.len > 0 && doc_json_parse(&arena, body, &doc, NULL) == ERR_OK) {
        const struct doc *error = doc_get(doc, "error");
        (void)doc_text(doc_get(error, "code"), &name);
        (void)doc_text(doc_get(error, "message"), &message);
        (void)doc_text(doc_get(error, "path"), &path);
    }
    enum err code = code_of(status, name);
    if (message == NULL) {
        (void)fail(e, code, "the server answered with status %u and no explanation", status);
    } else {
        (void)fail_at(e, code, path, "%s", message);
    }
    arena_done(&arena);
    return code;
}

/* Says that a server does not answer, before a time-out says it much later. */
static void slow_say(void *ctx, const char *url, bool connected)
{
    const struct cli *cli = ctx;
    if (cli->watched) {
        return;
    }
    if (connected) {
        context_say("weir: %s has not answered yet; still waiting", url);
    } else {
        context_say("weir: no connection to %s yet; still trying", url);
        context_where(cli);
    }
}

static enum err call_once(struct cli *cli, struct arena *arena, const struct http_call *call,
                          struct api_reply *ret, struct error *e)
{
    struct http_reply reply;
    struct http_call told = *call;
    told.slow = slow_say;
    told.slow_ctx = cli;
    enum err r = http_client_call(cli->client, &told, arena, &reply, e);
    if (r != ERR_OK) {
        return r; /* the error names the address and the cause */
    }
    if (reply.status < 200 || reply.status > 299) {
        return api_refusal(reply.status, reply.body, e);
    }
    *ret = (struct api_reply){.body = reply.body};
    if (reply.body.len == 0) {
        return ERR_OK;
    }
    r = doc_json_parse(arena, reply.body, &ret->doc, e);
    return r == ERR_OK ? r : fail_in(e, "the server's answer to %s %s", call->method, call->path);
}

static bool is_lost(enum err r)
{
    return r == ERR_UNREACHABLE || r == ERR_BUSY;
}

/* Calls once without waiting, so that a person learns at once that the server cannot be reached;
 * then tries again until --retry has passed, and says every few seconds that it does. */
static enum err call_patient(struct cli *cli, struct arena *arena, struct http_call *call,
                             struct api_reply *ret, struct error *e)
{
    enum err r = call_once(cli, arena, call, ret, e);
    int64_t ride_ms = args_duration(&cli->args, "retry", API_RIDE_MS);
    const int64_t until_ms = text_now_ms() + ride_ms;
    const char *how = "";
    for (int64_t left_ms = ride_ms; is_lost(r) && left_ms > 0; left_ms = until_ms - text_now_ms()) {
        if (!cli->watched) {
            context_say("weir: %s; %strying for up to %lld s", e->text, how,
                        (long long)((left_ms + 999) / 1000));
        }
        if (!cli->watched && how[0] == '\0' && r == ERR_UNREACHABLE) {
            context_where(cli);
        }
        how = "still ";
        call->retry_ms = left_ms < TELL_EVERY_MS ? left_ms : TELL_EVERY_MS;
        r = call_once(cli, arena, call, ret, e);
    }
    if (r == ERR_OK && how[0] != '\0' && !cli->watched) {
        context_say("weir: %s answers again", cli->login.url);
    }
    return r;
}

/* The path of a read: of the moment of --at where the command has one. */
static const char *path_at(const struct cli *cli, struct arena *arena, const char *path)
{
    char at[TEXT_TIME_MAX];
    if (cli->at_ms == 0) {
        return arena_fmt(arena, "/api/v1%s", path);
    }
    text_time(cli->at_ms, at);
    return arena_fmt(arena, "/api/v1%s%sat=%s", path, strchr(path, '?') == NULL ? "?" : "&", at);
}

static struct http_call get_of(const char *path)
{
    return (struct http_call){.method = "GET", .path = path, .timeout_ms = CALL_TIMEOUT_MS};
}

enum err api_get(struct cli *cli, struct arena *arena, const char *path, struct api_reply *ret,
                 struct error *e)
{
    struct http_call call = get_of(path_at(cli, arena, path));
    call.retry_ms = args_duration(&cli->args, "retry", 0);
    const enum err r = api_open(cli, e);
    return r != ERR_OK ? r : call_once(cli, arena, &call, ret, e);
}

enum err api_get_patient(struct cli *cli, struct arena *arena, const char *path,
                         struct api_reply *ret, struct error *e)
{
    struct http_call call = get_of(arena_fmt(arena, "/api/v1%s", path));
    const enum err r = api_open(cli, e);
    return r != ERR_OK ? r : call_patient(cli, arena, &call, ret, e);
}

enum err api_await(struct cli *cli, int64_t ride_ms, const volatile int *stop, struct error *e)
{
    struct arena arena;
    arena_init(&arena);
    struct http_call call = {
        .method = "GET", .path = "/healthz", .retry_ms = ride_ms, .stop = stop};
    struct http_reply reply;
    enum err r = http_client_call(cli->client, &call, &arena, &reply, e);
    arena_done(&arena);
    return r;
}

void api_key(char *out)
{
    unsigned char random[16];
    must(getrandom(random, sizeof random, 0) == (ssize_t)sizeof random);
    for (size_t i = 0; i < sizeof random; i++) {
        (void)snprintf(out + 2 * i, 3, "%02x", random[i]);
    }
}

enum err api_change(struct cli *cli, struct arena *arena, const char *method, const char *path,
                    struct str body, struct api_reply *ret, struct error *e)
{
    enum err r = api_open(cli, e);
    if (r != ERR_OK) {
        return r;
    }
    char key[API_KEY_MAX];
    api_key(key);
    struct http_call call = {
        .method = method,
        .path = arena_fmt(arena, "/api/v1%s", path),
        .body = body,
        .idempotency_key = key,
        .timeout_ms = CALL_TIMEOUT_MS,
    };
    return call_patient(cli, arena, &call, ret, e);
}

const char *api_escape(struct arena *arena, const char *text)
{
    size_t len = strlen(text);
    char *out = arena_alloc(arena, len * 3 + 1);
    size_t at = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain = isalnum(c) != 0 || strchr("-_.~", c) != NULL;
        if (plain) {
            out[at++] = (char)c;
        } else {
            (void)snprintf(out + at, 4, "%%%02X", c);
            at += 3;
        }
    }
    return out;
}
