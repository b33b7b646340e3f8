/* history.c - see history.h. The task may have ended a moment ago and not be on disk yet, so the
 * reader is asked only after the commit. SPDX-License-Identifier: Apache-2.0 */
#include "api/history.h"

#include "api/api_internal.h"
#include "api/call_work.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/model/instance.h"
#include "wire/attempts_merge.h"
#include "wire/task_json.h"

enum { TASK_BYTES_MAX = 64 * 1024 * 1024 };

struct history_get {
    struct call_work base;
    history_fn then;
    task_id id;
    const char *asked; /* how the request names the task; in the arena */
    struct arena arena;
    struct str json; /* of a live task: given; else read */
    bool live;
    VEC(struct attempt_past) past; /* texts in the arena */
};

static void past_take(void *ctx, const struct store_attempt *row)
{
    struct history_get *get = ctx;
    struct attempt_past past = {
        .index = row->index,
        .attempt = row->attempt,
        .json = {arena_strn(&get->arena, row->json.p, row->json.len), row->json.len}};
    vec_push(&get->past, past);
}

static void get_run(struct work *work, struct store_reader *reader)
{
    struct history_get *get = (struct history_get *)work;
    struct error *e = &get->base.error;
    enum err r = ERR_OK;
    if (!get->live) {
        r = store_history_get(reader, get->id.v, &get->arena, &get->json, e);
    }
    if (r == ERR_OK) {
        r = store_history_attempts(reader, get->id.v, past_take, get, e);
    }
    if (r == ERR_NOT_FOUND) {
        (void)fail(e, r, "no task %.60s", get->asked);
    }
    get->base.err = r;
}

static void get_free(struct call_work *base)
{
    struct history_get *get = (struct history_get *)base;
    vec_done(&get->past);
    arena_done(&get->arena);
    free(get);
}

static void get_answer(struct call_work *base)
{
    struct history_get *get = (struct history_get *)base;
    struct buf out;
    buf_init(&out, TASK_BYTES_MAX);
    attempts_merge(&out, get->json, get->past.at, get->past.count);
    if (out.full) {
        call_failf(base->call, ERR_LIMIT, "",
                   "task %llu has %zu attempts, and an answer holds at most %d bytes",
                   (unsigned long long)get->id.v, get->past.count, TASK_BYTES_MAX);
    } else {
        get->then(base->call, get->id, (struct str){buf_text(&out), out.len});
    }
    buf_done(&out);
}

static const struct call_work_kind get_kind = {
    .run = get_run,
    .answer = get_answer,
    .free = get_free,
    .reads = true,
    .busy = "too many requests wait for the history",
};

struct history_ask {
    task_id id;
    history_fn then;
    bool live; /* call->out has the task */
};

static void get_ask(struct call *call)
{
    const struct history_ask *ask = call->data;
    struct history_get *get = xcalloc(1, sizeof *get);
    get->base.kind = &get_kind;
    get->id = ask->id;
    get->then = ask->then;
    get->live = ask->live;
    arena_init(&get->arena);
    get->asked = arena_str(&get->arena, call->params[0]);
    if (ask->live) {
        get->json =
            (struct str){arena_strn(&get->arena, call->out.data, call->out.len), call->out.len};
    }
    call_work_send(call, &get->base);
}

static void ask_when_stored(struct call *call, const struct history_ask *ask)
{
    call->data = arena_dup(call_arena(call), ask, sizeof *ask);
    call_when_stored(call, get_ask);
}

void history_read(struct call *call, task_id id, history_fn then)
{
    ask_when_stored(call, &(struct history_ask){id, then, false});
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

/* May the store have earlier attempts of this live task? */
static bool tried_before(const struct core *core, const struct task *task)
{
    bool tried = false;
    for (uint32_t i = 0; i < task->instance_count && !tried; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        must(instance != NULL);
        const bool again = instance_again(instance) && instance->attempt > 0;
        tried = instance->attempt > 1 || again;
    }
    return tried;
}

void history_answer_live(struct call *call, task_id id)
{
    struct json_out j;
    struct task_writer writer;
    const struct core *core = call_core(call);
    const struct task *task = query_task(core, id);
    must(task != NULL);
    task_json_writer_init(&writer, core, call_arena(call));
    const struct api_host *host = call->api->o.host;
    writer.uses = host->uses == NULL ? NULL : host->uses(host->ctx);
    call_json(call, &j);
    task_json(&writer, &j, task, TASK_JSON_REASON | TASK_JSON_ATTEMPTS);
    if (!tried_before(core, task)) {
        call_answer_json(call, 200);
        return;
    }
    /* The store is read after the commit of everything in call->out, so no attempt falls between. */
    ask_when_stored(call, &(struct history_ask){id, show, true});
}
