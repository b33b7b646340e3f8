/* call.c - answers calls. Every answer that shows the state goes through call_answer(), so that
 * nothing uncommitted is shown. Every audited call leaves a line in the log.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/call.h"

#include "api/audits.h"

#include "api/api_internal.h"
#include "api/http_status.h"
#include "api/past.h"
#include "api/route.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/time_text.h"
#include "io/http_request.h"
#include "wire/error_json.h"
#include "wire/task_json.h"

#include <stdarg.h>

struct arena *call_arena(const struct call *call)
{
    return call->kept != NULL ? call->kept : http_request_arena(call->request);
}

void call_keep(struct call *call)
{
    must(call->kept == NULL);
    struct arena *arena = xmalloc(sizeof *arena);
    arena_init(arena);
    call->kept = arena;
    call->name = arena_str(arena, call->name);
    call->actor = arena_str(arena, call->actor);
    call->cause = arena_str(arena, call->cause);
}

/* The names of the call are given back to the request's own memory, because the call may outlive the kept one. */
struct arena *call_keep_take(struct call *call)
{
    struct arena *own = http_request_arena(call->request);
    struct arena *kept = call->kept;
    must(kept != NULL);
    call->kept = NULL;
    call->name = arena_str(own, call->name);
    call->actor = arena_str(own, call->actor);
    call->cause = arena_str(own, call->cause);
    return kept;
}

void call_keep_free(struct arena *arena)
{
    if (arena != NULL) {
        arena_done(arena);
        free(arena);
    }
}

const struct core *call_core(const struct call *call)
{
    if (call->past != NULL) {
        return call->past;
    }
    const struct core *core = call->api->o.host->core(call->api->o.host->ctx);
    must(core != NULL);
    return core;
}

int64_t call_now_ms(const struct call *call)
{
    return call->past != NULL ? call->past_ms : call->api->o.host->now_ms(call->api->o.host->ctx);
}

void call_json(struct call *call, struct json_out *j)
{
    buf_clear(&call->out);
    json_out_init(j, &call->out);
}

void call_done(struct call *call)
{
    http_request_set_data(call->request, NULL);
    call->gone = NULL;
    buf_done(&call->out);
    call_keep_free(call->kept);
    call->kept = NULL;
    core_free(steal(call->past));
}

/* Records the act of the call. Call before the act is answered. A dry run changes nothing and is
 * not recorded. */
static void audit_note(const struct call *call)
{
    const char *dry = route_takes(call->route, "dry_run") ? call_query(call, "dry_run") : NULL;
    if (dry == NULL || strcmp(dry, "true") != 0) {
        audits_note(call->api, call->request,
                    &(struct audits_act){call->route, call->actor, call->token, call->status});
    }
}

static void give(struct call *call)
{
    if (call->out.full) {
        buf_clear(&call->out);
        call->out.full = false;
        struct error e;
        (void)fail(&e, ERR_LIMIT, "the answer is larger than %d bytes; ask for less",
                   ANSWER_BYTES_MAX);
        error_json(&e, &call->out);
        call->status = http_status_of(e.code);
        call->content_type = "application/json";
    }
    call->status = api_error_form(call->api, call->request, call->status, &call->out);
    if (call->route != NULL && call->route->audited) {
        audit_note(call);
        log_info("request", kv_str("actor", call->actor), kv_str("method", call->route->method),
                 kv_str("path", http_request_path(call->request)), kv_u64("status", call->status),
                 kv_str("peer", http_request_peer(call->request)));
    }
    api_count_answer(call->api, call->status);
    struct http_request *request = call->request;
    api_connection_form(call->api, request);
    if (call->route != NULL && !route_is_open(call->route)) {
        /* No cache keeps what a token opened, and no browser takes a task's output for a page. */
        http_request_answer_header(request, "Cache-Control", "no-store");
        http_request_answer_header(request, "X-Content-Type-Options", "nosniff");
    }
    struct buf out = call->out;
    buf_init(&call->out, 0);
    call_done(call);
    http_request_answer_take(request, call->status, call->content_type, &out);
}

/* Answers without waiting for the disk, because such an error shows nothing of the state. */
static void give_busy(struct call *call, unsigned status, const struct error *e)
{
    buf_clear(&call->out);
    error_json(e, &call->out);
    call->status = status;
    call->content_type = "application/json";
    http_request_answer_header(call->request, "Retry-After", "1");
    give(call);
}

bool call_reads(const struct call *call)
{
    return strcmp(call->route->method, "GET") == 0;
}

/* Does the caller reach the object of the path? Objects are looked up only for principals that do
 * not reach all of them. */
static bool reached(const struct call *call)
{
    enum access_whose whose = call->route->whose;
    if (call->principal.reach == ACCESS_SERVER || whose == ACCESS_NOBODY) {
        return true;
    }
    struct access_object object =
        access_object_of(call_core(call), whose, call->params[0], &call->principal);
    return access_reaches(&call->principal, &object);
}

void call_run(struct call *call)
{
    if (reached(call)) {
        if (past_awaited(call)) {
            return;
        }
        if (call->kept == NULL && route_takes(call->route, "dry_run") &&
            call_query(call, "dry_run") != NULL) {
            call_keep(call);
        }
        call->route->handler(call);
        return;
    }
    /* The same words whether the object exists or not: a stranger learns nothing. */
    call_failf(call, ERR_DENIED, "", "'%s' may not %s %.120s", call->actor, call->route->method,
               http_request_path(call->request));
}

static void hold_released(struct parked_answer *hold, const struct error *failure)
{
    struct call *call = (struct call *)hold;
    const struct api_host *host = call->api->o.host;
    bool fallen = failure != NULL && host->core(host->ctx) == NULL;
    if (fallen && call_reads(call) && !call->awaited && call->gone == NULL) {
        /* The call saw facts that were never stored, so its handler runs again on the rebuilt
         * core. */
        call_await_core(call);
        return;
    }
    if (failure != NULL) {
        if (call->gone != NULL) {
            call->gone(call, call->gone_ctx);
        }
        give_busy(call, 503, failure);
        return;
    }
    call->stored(call);
}

void call_when_stored(struct call *call, void (*then)(struct call *call))
{
    const struct api_host *host = call->api->o.host;
    call->stored = then;
    call->hold.fn = hold_released;
    host->hold(host->ctx, &call->hold);
}

void call_await_core(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    call->awaited = true;
    call->stored = call_run;
    call->hold.fn = hold_released;
    host->await_core(host->ctx, &call->hold);
}

void call_answer(struct call *call, unsigned status, const char *content_type)
{
    call->status = status;
    call->content_type = content_type;
    call_when_stored(call, give);
}

void call_answer_at_once(struct call *call, unsigned status, const char *content_type)
{
    must(call->route->whose == ACCESS_NOBODY);
    call->status = status;
    call->content_type = content_type;
    give(call);
}

void call_answer_json(struct call *call, unsigned status)
{
    call_answer(call, status, "application/json");
}

void call_busy(struct call *call, unsigned status, const struct error *e)
{
    give_busy(call, status, e);
}

void call_fail(struct call *call, const struct error *e)
{
    buf_clear(&call->out);
    error_json(e, &call->out);
    call_answer_json(call, http_status_of(e->code));
}

void call_conflict(struct call *call, const char *code, const char *message)
{
    buf_clear(&call->out);
    error_json_code(code, message, &call->out);
    call_answer_json(call, http_status_of(ERR_CONFLICT));
}

void call_failf(struct call *call, enum err code, const char *path, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct error e;
    (void)fail_at(&e, code, path, "%s", text);
    call_fail(call, &e);
}

void call_refuse(struct call *call, enum verdict verdict, const struct facts *facts, bool of_many)
{
    buf_clear(&call->out);
    error_json_refusal(call_core(call), facts, of_many, call_arena(call), &call->out);
    call_answer_json(call, http_status_of_refusal(verdict, &facts->refusal));
}

bool call_input(struct call *call, struct input *in, struct facts *facts)
{
    const struct api_host *host = call->api->o.host;
    in->actor = call->actor;
    in->cause = call->cause;
    fact_list_init(facts, call_arena(call));
    enum verdict verdict = host->input(host->ctx, in, facts);
    if (verdict == VERDICT_OK || verdict == VERDICT_REPEATED) {
        return true;
    }
    bool of_many = in->type == INPUT_TASK_SUBMIT && in->submit.count > 1;
    call_refuse(call, verdict, facts, of_many);
    return false;
}

void call_park(struct call *call, void (*gone)(struct call *call, void *ctx), void *ctx)
{
    call->gone = gone;
    call->gone_ctx = ctx;
}

void call_resume(struct call *call)
{
    call->gone = NULL;
    call->gone_ctx = NULL;
}

/* ---- query parameters ---- */

struct query_check {
    const struct call *call;
    const char *unknown;
    const char *twice; /* a parameter that stands in the query more than once */
};

struct query_count {
    const char *name;
    uint32_t count;
};

static void query_counted(void *ctx, const char *name, const char *value)
{
    struct query_count *count = ctx;
    (void)value;
    count->count += strcmp(name, count->name) == 0;
}

static void query_seen(void *ctx, const char *name, const char *value)
{
    struct query_check *check = ctx;
    (void)value;
    if (!route_takes(check->call->route, name)) {
        check->unknown = name;
        return;
    }
    struct query_count count = {.name = name};
    http_request_query_each(check->call->request, query_counted, &count);
    if (count.count > 1) {
        check->twice = name;
    }
}

const char *call_query(const struct call *call, const char *name)
{
    if (call->trial == NULL) {
        return http_request_query(call->request, name);
    }
    if (strcmp(name, "dry_run") == 0) {
        return "true";
    }
    struct str rest = str_of(call->trial->query);
    while (rest.p != NULL) {
        struct str value = {NULL, 0};
        const struct str key = str_cut(str_cut(rest, '&', &rest), '=', &value);
        if (str_is(key, name)) {
            return value.p == NULL ? "" : arena_strn(call_arena(call), value.p, value.len);
        }
    }
    return NULL;
}

bool call_query_known(struct call *call)
{
    struct query_check check = {.call = call};
    http_request_query_each(call->request, query_seen, &check);
    if (check.unknown == NULL && check.twice == NULL) {
        return true;
    }
    if (check.unknown == NULL) {
        call_failf(call, ERR_INVALID, check.twice,
                   "the query parameter '%.60s' must stand only once", check.twice);
        return false;
    }
    const char *known = call->route->query;
    call_failf(call, ERR_INVALID, check.unknown, "unknown query parameter '%.60s'; %s%s",
               check.unknown, *known != '\0' ? "there are: " : "this route has none", known);
    return false;
}

bool call_query_u64(struct call *call, const char *name, uint64_t max, uint64_t *ret)
{
    const char *text = call_query(call, name);
    uint64_t value;
    if (text == NULL) {
        return true;
    }
    if (!str_to_u64(str_of(text), &value) || value > max) {
        call_failf(call, ERR_INVALID, name,
                   "'%s' must be a whole number from 0 to %llu, not '%.60s'", name,
                   (unsigned long long)max, text);
        return false;
    }
    *ret = value;
    return true;
}

bool call_query_bool(struct call *call, const char *name, bool *ret)
{
    const char *text = call_query(call, name);
    if (text == NULL) {
        return true;
    }
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || *text == '\0') {
        *ret = true;
    } else if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0) {
        *ret = false;
    } else {
        call_failf(call, ERR_INVALID, name, "'%s' must be true or false, not '%.60s'", name, text);
        return false;
    }
    return true;
}

bool call_query_time(struct call *call, const char *name, int64_t *ret)
{
    const char *text = call_query(call, name);
    if (text == NULL || time_text_parse(str_of(text), ret)) {
        return true;
    }
    call_failf(call, ERR_INVALID, name,
               "'%s' must be a time such as 2026-11-15T12:00:00Z, not '%.60s'", name, text);
    return false;
}

bool call_task_id(struct call *call, task_id *ret)
{
    uint64_t id;
    if (!str_to_u64(str_of(call->params[0]), &id) || id == 0) {
        call_failf(call, ERR_NOT_FOUND, "", "no task '%.60s': tasks are numbered from 1",
                   call->params[0]);
        return false;
    }
    *ret = (task_id){id};
    return true;
}
