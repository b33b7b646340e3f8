/* calls.c - see calls.h. SPDX-License-Identifier: Apache-2.0 */
#include "provider/calls.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

struct calls {
    struct calls_options o;
    struct loop_timer *timer;
    struct map *by_key;
};

static struct machine_call *call_find(const struct calls *calls, const char *key)
{
    return map_get(calls->by_key, key, strlen(key));
}

static void call_free(struct machine_call *call)
{
    free(call->text);
    free(call);
}

static void call_drop(struct machine_call *call)
{
    must(map_remove(call->calls->by_key, call->key, strlen(call->key)) == call);
    call_free(call);
}

static struct machine_call *call_new(struct calls *calls, const char *key, enum call_kind kind)
{
    struct machine_call *call = xcalloc(1, sizeof *call);
    call->calls = calls;
    call->kind = kind;
    must(str_copy(call->key, sizeof call->key, key));
    must(map_put(calls->by_key, call->key, strlen(call->key), call) == NULL);
    return call;
}

static void call_make(struct machine_call *call)
{
    must(!call->busy);
    call->busy = true;
    call->tries++;
    call->calls->o.make(call->calls->o.ctx, call);
}

/* From now on the call ends the machine. */
static void call_turn(struct machine_call *call)
{
    call->kind = CALL_TERMINATE;
    call->tries = 0;
    call->end_next = false;
    free(call->text);
    call->text = NULL;
    call_make(call);
}

/* Makes the calls that are due, and sets the timer for the next one. */
static void again_due(void *ctx)
{
    struct calls *calls = ctx;
    const int64_t now_ms = loop_now_ms(calls->o.loop);
    int64_t next_ms = INT64_MAX;
    size_t cursor = 0;
    for (struct machine_call *call = map_next(calls->by_key, &cursor); call != NULL;
         call = map_next(calls->by_key, &cursor)) {
        if (call->busy) {
            continue;
        }
        if (call->again_ms <= now_ms) {
            call_make(call);
        } else if (call->again_ms < next_ms) {
            next_ms = call->again_ms;
        }
    }
    if (next_ms != INT64_MAX) {
        loop_timer_set(calls->timer, next_ms);
    }
}

struct calls *calls_new(const struct calls_options *options)
{
    struct calls *calls = xcalloc(1, sizeof *calls);
    calls->o = *options;
    calls->timer = loop_timer_new(options->loop, again_due, calls);
    calls->by_key = map_new();
    return calls;
}

void calls_free(struct calls *calls)
{
    if (calls == NULL) {
        return;
    }
    size_t cursor = 0;
    for (struct machine_call *call = map_next(calls->by_key, &cursor); call != NULL;
         call = map_next(calls->by_key, &cursor)) {
        call_free(call);
    }
    map_free(calls->by_key);
    loop_timer_free(calls->timer);
    free(calls);
}

void *calls_ctx(const struct calls *calls)
{
    return calls->o.ctx;
}

size_t calls_count(const struct calls *calls)
{
    return map_count(calls->by_key);
}

void calls_launch(struct calls *calls, const char *key, struct str text)
{
    if (call_find(calls, key) != NULL) {
        return;
    }
    struct machine_call *call = call_new(calls, key, CALL_LAUNCH);
    call->text = xcalloc(1, text.len + 1);
    memcpy(call->text, text.p, text.len);
    call->text_len = text.len;
    call_make(call);
}

void calls_terminate(struct calls *calls, const char *key)
{
    struct machine_call *call = call_find(calls, key);
    if (call == NULL) {
        call_make(call_new(calls, key, CALL_TERMINATE));
        return;
    }
    call->told = false;
    if (call->kind == CALL_LAUNCH && call->busy) {
        call->end_next = true;
    } else if (call->kind == CALL_LAUNCH) {
        call_turn(call);
    }
}

static void report(const struct machine_call *call, enum provider_says says, const char *words)
{
    const struct provider_report it = {
        .key = call->key, .says = says, .name = "", .node = "", .words = words};
    call->calls->o.sink.report(call->calls->o.sink.ctx, &it);
}

void calls_answered(struct machine_call *call, const struct provider_report *said)
{
    const struct provider_sink sink = call->calls->o.sink;
    call->busy = false;
    if (call->end_next) {
        call_turn(call);
        return;
    }
    const bool tell = !call->told;
    struct provider_report it = *said;
    char key[PROVIDER_KEY_MAX];
    must(str_copy(key, sizeof key, call->key));
    it.key = key;
    call_drop(call);
    if (tell) {
        sink.report(sink.ctx, &it);
    }
}

void calls_unclear(struct machine_call *call, const char *words)
{
    const bool launch = call->kind == CALL_LAUNCH;
    struct calls *calls = call->calls;
    call->busy = false;
    if (call->end_next) {
        call_turn(call);
        return;
    }
    if (call->tries >= (launch ? CALLS_LAUNCH_TRIES : CALLS_TERMINATE_TRIES)) {
        if (!launch) {
            call_drop(call);
            return;
        }
        report(call, PROVIDER_FAILED, words);
        call->told = true;
        call_turn(call);
        return;
    }
    if (!launch && !call->told && words[0] != '\0') {
        report(call, PROVIDER_RUNNING, words);
    }
    call->again_ms = loop_now_ms(calls->o.loop) + ((int64_t)CALLS_AGAIN_MS << (call->tries - 1));
    again_due(calls);
}

void calls_program_ended(struct machine_call *call, const struct programs_result *result,
                         calls_read_fn read)
{
    struct arena arena;
    struct error e;
    arena_init(&arena);
    if (result->problem[0] != '\0') {
        calls_unclear(call, result->problem);
    } else if (read(call, result->out, &arena, &e) != ERR_OK) {
        calls_unclear(call, e.text);
    }
    arena_done(&arena);
}
