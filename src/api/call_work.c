/* call_work.c - see call_work.h. SPDX-License-Identifier: Apache-2.0 */
#include "api/call_work.h"

#include "base/mem.h"

static void work_back(struct work *base)
{
    struct call_work *work = (struct call_work *)base;
    struct call *call = work->call;
    if (call != NULL) {
        call_resume(call);
        if (work->err != ERR_OK) {
            call_fail(call, &work->error);
        } else {
            work->kind->answer(work);
        }
    }
    work->kind->free(work);
}

/* The client has left while the work runs. */
static void work_left(struct call *call, void *ctx)
{
    struct call_work *work = ctx;
    (void)call;
    work->call = NULL;
}

/* The client has left before the work began. */
static void work_dropped(struct call *call, void *ctx)
{
    struct call_work *work = ctx;
    (void)call;
    work->kind->free(work);
}

static void work_init(struct call *call, struct call_work *work)
{
    work->work = (struct work){.run = work->kind->run, .done = work_back};
    work->call = call;
}

void call_work_send(struct call *call, struct call_work *work)
{
    const struct api_host *host = call->api->o.host;
    work_init(call, work);
    if (work->kind->reads ? host->read(host->ctx, &work->work)
                          : host->compute(host->ctx, &work->work)) {
        call_park(call, work_left, work);
        return;
    }
    struct error e;
    (void)fail(&e, ERR_BUSY, "%s", work->kind->busy);
    work->kind->free(work);
    call_busy(call, 429, &e);
}

static void stored_send(struct call *call)
{
    call_resume(call);
    call_work_send(call, call->data);
}

static void stored_answer(struct call *call)
{
    struct call_work *work = call->data;
    work_back(&work->work);
}

static void when_stored(struct call *call, struct call_work *work, void (*then)(struct call *call))
{
    work_init(call, work);
    call->data = work;
    call_park(call, work_dropped, work);
    call_when_stored(call, then);
}

void call_work_send_stored(struct call *call, struct call_work *work)
{
    when_stored(call, work, stored_send);
}

void call_work_answer_stored(struct call *call, struct call_work *work)
{
    when_stored(call, work, stored_answer);
}

void call_work_run(struct call *call, struct call_work *work)
{
    work_init(call, work);
    work->kind->run(&work->work, NULL);
    work_back(&work->work);
}

void call_work_answer_json(struct call_work *work, struct buf *text, unsigned status)
{
    struct call *call = work->call;
    buf_done(&call->out);
    call->out = *text;
    buf_init(text, 0);
    call_answer_json(call, status);
}

/* ---- texts from a copy of the state ---- */

struct copy_work {
    struct call_work base;
    struct core *copy;
    call_work_write_fn write;
    void *ask;
    int64_t now_ms;
    struct buf out;
};

static void copy_run(struct work *work, struct store_reader *reader)
{
    struct copy_work *own = (struct copy_work *)work;
    (void)reader;
    own->write(own->copy, own->ask, own->now_ms, &own->out);
    core_free(steal(own->copy));
}

static void copy_answer(struct call_work *base)
{
    call_work_answer_json(base, &((struct copy_work *)base)->out, 200);
}

static void copy_free(struct call_work *base)
{
    struct copy_work *own = (struct copy_work *)base;
    core_free(own->copy);
    free(own->ask);
    buf_done(&own->out);
    free(own);
}

static const struct call_work_kind copy_kind = {
    .run = copy_run,
    .answer = copy_answer,
    .free = copy_free,
    .busy = "too many computations are under way; try again",
};

void call_work_send_copy(struct call *call, call_work_write_fn write, const void *ask, size_t size,
                         size_t most)
{
    struct copy_work *own = xcalloc(1, sizeof *own);
    own->base.kind = &copy_kind;
    own->copy = core_copy(call_core(call));
    own->write = write;
    own->ask = size > 0 ? xmemdup(ask, size) : NULL;
    own->now_ms = call_now_ms(call);
    buf_init(&own->out, most);
    call_work_send_stored(call, &own->base);
}
