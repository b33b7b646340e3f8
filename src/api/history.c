/* history.c - see history.h. The task may have ended a moment ago and not be on disk yet, so the
 * reader is asked only after the commit. SPDX-License-Identifier: Apache-2.0 */
#include "api/history.h"

#include "api/api_internal.h"
#include "base/mem.h"

struct history_get {
    struct work work;
    struct call *call; /* NULL: the client has left */
    history_fn then;
    task_id id;
    struct arena arena;
    struct str json;
    enum err err;
    struct error error;
};

static void get_run(struct work *work, struct store_reader *reader)
{
    struct history_get *get = (struct history_get *)work;
    get->err = store_history_get(reader, get->id.v, &get->arena, &get->json, &get->error);
}

static void get_free(struct history_get *get)
{
    arena_done(&get->arena);
    free(get);
}

static void get_back(struct work *work)
{
    struct history_get *get = (struct history_get *)work;
    struct call *call = get->call;
    if (call != NULL) {
        call_resume(call);
        if (get->err == ERR_NOT_FOUND) {
            call_failf(call, ERR_NOT_FOUND, "", "no task %llu", (unsigned long long)get->id.v);
        } else if (get->err != ERR_OK) {
            call_fail(call, &get->error);
        } else {
            get->then(call, get->id, get->json);
        }
    }
    get_free(get);
}

static void get_gone(struct call *call, void *ctx)
{
    struct history_get *get = ctx;
    (void)call;
    get->call = NULL;
}

struct history_ask {
    task_id id;
    history_fn then;
};

static void get_ask(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    const struct history_ask *ask = call->data;
    struct history_get *get = xcalloc(1, sizeof *get);
    get->work = (struct work){.run = get_run, .done = get_back};
    get->call = call;
    get->id = ask->id;
    get->then = ask->then;
    arena_init(&get->arena);
    if (!host->read(host->ctx, &get->work)) {
        struct error e;
        get_free(get);
        (void)fail(&e, ERR_BUSY, "too many requests wait for the history");
        call_busy(call, 429, &e);
        return;
    }
    call_park(call, get_gone, get);
}

void history_read(struct call *call, task_id id, history_fn then)
{
    struct history_ask ask = {id, then};
    call->data = arena_dup(call_arena(call), &ask, sizeof ask);
    call_when_stored(call, get_ask);
}

static void show(struct call *call, task_id id, struct str json)
{
    (void)id;
    buf_clear(&call->out);
    buf_add(&call->out, json.p, json.len);
    call_answer_json(call, 200);
}

void history_answer(struct call *call, task_id id)
{
    history_read(call, id, show);
}
