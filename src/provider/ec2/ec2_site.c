/* ec2_site.c - see ec2_site.h. Every try is signed anew, because a signature holds for some minutes only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_site.h"

#include "base/mem.h"
#include "base/must.h"
#include "io/http_again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { URL_MAX = 320 };

struct site_call {
    struct ec2_site *site;
    struct site_call *next;   /* in line */
    struct loop_timer *timer; /* the next try */
    struct ec2_call call;
    char *form;
    unsigned tries;
};

struct ec2_site {
    struct loop *loop;
    struct http_multi *http;
    struct ec2_keys *keys;
    char *region;
    char *endpoint; /* as the pool says it; "": the region's own */
    char url[URL_MAX];
    struct site_call *running[EC2_CALLS_MAX]; /* calls that have begun, in no order; NULL: room */
    struct site_call *first;                  /* calls in line */
    struct site_call *last;
};

struct ec2_site *ec2_site_new(struct loop *loop, struct http_multi *http, struct ec2_keys *keys,
                              const char *region, const char *endpoint)
{
    struct ec2_site *site = xcalloc(1, sizeof *site);
    *site = (struct ec2_site){.loop = loop,
                              .http = http,
                              .keys = keys,
                              .region = xstrdup(region),
                              .endpoint = xstrdup(endpoint)};
    const int len = endpoint[0] != '\0'
                        ? snprintf(site->url, sizeof site->url, "%s/", endpoint)
                        : snprintf(site->url, sizeof site->url, "https://ec2.%s.amazonaws.com%s/",
                                   region, strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
    must(len > 0);
    must((size_t)len < sizeof site->url);
    return site;
}

const char *ec2_site_region(const struct ec2_site *site)
{
    return site->region;
}

const char *ec2_site_endpoint(const struct ec2_site *site)
{
    return site->endpoint;
}

static void task_free(struct site_call *task)
{
    loop_timer_free(task->timer);
    free(task->form);
    free(task);
}

static void task_drop(struct site_call *task)
{
    if (task != NULL) {
        if (task->call.dropped != NULL) {
            task->call.dropped(task->call.ctx);
        }
        task_free(task);
    }
}

void ec2_site_free(struct ec2_site *site)
{
    if (site == NULL) {
        return;
    }
    for (unsigned i = 0; i < EC2_CALLS_MAX; i++) {
        task_drop(site->running[i]);
    }
    for (struct site_call *task = site->first; task != NULL;) {
        struct site_call *next = task->next;
        task_drop(task);
        task = next;
    }
    free(site->region);
    free(site->endpoint);
    free(site);
}

static void site_go(struct ec2_site *site);

/* The call is over. Its place in line is free before its owner hears of it, who may call again. */
static void task_done(struct site_call *task, const struct ec2_result *result)
{
    struct ec2_site *site = task->site;
    for (unsigned i = 0; i < EC2_CALLS_MAX; i++) {
        site->running[i] = site->running[i] == task ? NULL : site->running[i];
    }
    task->call.done(task->call.ctx, result);
    task_free(task);
    site_go(site);
}

/* Tries again where that may help, else ends the call. */
static void task_failed(struct site_call *task, const struct ec2_error *error)
{
    const bool may_pass = error->kind == EC2_SLOW_DOWN || error->kind == EC2_PASSING;
    if (!may_pass || task->tries >= EC2_TRIES_MAX) {
        task_done(task, &(struct ec2_result){.error = *error});
        return;
    }
    int64_t wait_ms = EC2_RETRY_MS_MIN;
    for (unsigned i = 1; i < task->tries && wait_ms < EC2_RETRY_MS_MAX; i++) {
        wait_ms *= 2;
    }
    loop_timer_set(task->timer, loop_now_ms(task->site->loop) + http_again_jitter(wait_ms));
    if (task->call.again != NULL) {
        task->call.again(task->call.ctx, error->words);
    }
}

static void answered(void *ctx, const struct http_multi_reply *reply)
{
    struct site_call *task = ctx;
    struct arena arena;
    struct error e;
    struct ec2_result result = {.ok = true};
    arena_init(&arena);
    if (reply->failure != NULL) {
        result.ok = false;
        result.error = (struct ec2_error){
            EC2_PASSING, arena_fmt(&arena, "%s: %s", task->site->url, reply->failure)};
    } else if (reply->status != 200) {
        result.ok = false;
        ec2_answer_error(reply->status, reply->body, &arena, &result.error);
    } else if (task->call.machines &&
               ec2_answer_machines(reply->body, &arena, &result.machines, &e) != ERR_OK) {
        result.ok = false;
        result.error = (struct ec2_error){
            EC2_PASSING, arena_fmt(&arena, "%s answered with %s", task->site->url, e.text)};
    }
    if (result.ok) {
        task_done(task, &result);
    } else {
        task_failed(task, &result.error);
    }
    arena_done(&arena);
}

/* The host of the URL, as the header Host has it. */
static const char *host_of(const struct ec2_site *site, struct arena *arena)
{
    const char *host = strstr(site->url, "://");
    must(host != NULL);
    host += 3;
    return arena_strn(arena, host, strcspn(host, "/"));
}

static void send_signed(struct site_call *task, const struct sigv4_keys *keys, struct arena *arena)
{
    static const char form_type[] = "application/x-www-form-urlencoded; charset=utf-8";
    struct ec2_site *site = task->site;
    char date[SIGV4_DATE_MAX];
    const int64_t now_s = (int64_t)time(NULL);
    sigv4_date(now_s, date);
    const bool session = keys->session_token[0] != '\0';
    const struct sigv4_header headers[] = {
        {"content-type", form_type},
        {"host", host_of(site, arena)},
        {"x-amz-date", date},
        {"x-amz-security-token", keys->session_token},
    };
    const struct sigv4_request request = {
        .method = "POST",
        .path = "/",
        .query = "",
        .headers = headers,
        .header_count = session ? 4 : 3,
        .body = str_of(task->form),
        .region = site->region,
        .service = "ec2",
        .time_s = now_s,
    };
    const char *lines[] = {
        arena_fmt(arena, "Authorization: %s", sigv4_authorization(&request, keys, arena)),
        arena_fmt(arena, "Content-Type: %s", form_type),
        arena_fmt(arena, "X-Amz-Date: %s", date),
        "Expect:",
        session ? arena_fmt(arena, "X-Amz-Security-Token: %s", keys->session_token) : NULL,
        NULL,
    };
    http_multi_post(site->http, &(struct http_multi_post){.url = site->url,
                                                          .headers = lines,
                                                          .body = request.body,
                                                          .timeout_ms = EC2_CALL_MS_MAX,
                                                          .reply_max = EC2_REPLY_MAX,
                                                          .done = answered,
                                                          .ctx = task});
}

/* One try; or the end of a call that could not be sent. */
static void task_try(void *ctx)
{
    struct site_call *task = ctx;
    struct arena arena;
    struct sigv4_keys keys;
    struct error e;
    arena_init(&arena);
    task->tries++;
    const enum err r = ec2_keys_get(task->site->keys, &arena, &keys, &e);
    if (r == ERR_OK) {
        send_signed(task, &keys, &arena);
    } else if (r == ERR_BUSY) {
        task->tries--;
        loop_timer_set(task->timer, loop_now_ms(task->site->loop) + EC2_ROLE_MS);
    } else {
        task_failed(task, &(struct ec2_error){EC2_REFUSED, e.text});
    }
    arena_done(&arena);
}

/* Begins calls while there is room. Each begins from the loop. */
static void site_go(struct ec2_site *site)
{
    for (unsigned i = 0; i < EC2_CALLS_MAX && site->first != NULL; i++) {
        if (site->running[i] == NULL) {
            site->running[i] = site->first;
            site->first = site->first->next;
            loop_timer_set(site->running[i]->timer, loop_now_ms(site->loop));
        }
    }
}

void ec2_site_call(struct ec2_site *site, const struct ec2_call *call)
{
    struct site_call *task = xcalloc(1, sizeof *task);
    task->site = site;
    task->call = *call;
    task->form = xmalloc(call->form.len + 1);
    memcpy(task->form, call->form.p, call->form.len);
    task->form[call->form.len] = '\0';
    task->call.form = (struct str){0};
    task->timer = loop_timer_new(site->loop, task_try, task);
    *(site->first != NULL ? &site->last->next : &site->first) = task;
    site->last = task;
    site_go(site);
}
