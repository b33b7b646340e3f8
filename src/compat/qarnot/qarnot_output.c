/* qarnot_output.c - a task's output as the SDK reads it: whole, or what came since the last look.
 *
 * Whole output is that of each instance's newest attempt, one instance after the other. Fresh output is what arrived since
 * the last POST for the same stream of the same task or instance; api/cursors.h knows how far that was.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/cursors.h"
#include "api/history.h"
#include "api/route.h"
#include "base/mem.h"
#include "base/vec.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"
#include "store/store.h"

enum {
    READ_BYTES = 1024 * 1024,
    OUTPUT_BYTES_MAX = 32 * 1024 * 1024, /* of one answer; older output is left out */
    STREAM_STDOUT = 1,
    STREAM_STDERR = 2,
};

struct output_piece {
    uint32_t index;
    struct str data; /* in the arena */
};

struct output_read {
    struct work work;
    struct call *call; /* NULL: the client has left */
    struct cursor_key key;
    struct store_log_filter filter;
    bool fresh;
    uint64_t last; /* the last piece that was read */
    size_t bytes;
    size_t seen; /* pieces of one read */
    struct arena arena;
    VEC(struct output_piece) pieces;
    enum err err;
    struct error error;
};

static void piece_take(void *ctx, const struct store_log_piece *from)
{
    struct output_read *read = ctx;
    struct output_piece piece = {
        .index = from->index,
        .data = {arena_dup(&read->arena, from->data.p, from->data.len), from->data.len}};
    read->last = from->number;
    read->bytes += from->data.len;
    read->seen++;
    vec_push(&read->pieces, piece);
}

static void output_run(struct work *work, struct store_reader *reader)
{
    struct output_read *read = (struct output_read *)work;
    read->err = ERR_OK;
    do {
        read->seen = 0;
        read->err =
            store_reader_logs(reader, &read->filter, &read->arena, piece_take, read, &read->error);
        read->filter.after = read->last;
    } while (read->err == ERR_OK && read->seen > 0 && read->bytes < OUTPUT_BYTES_MAX);
}

static void output_free(struct output_read *read)
{
    vec_done(&read->pieces);
    arena_done(&read->arena);
    free(read);
}

/* Whole output goes instance by instance, so that the lines of two instances do not mix. */
static void pieces_write(struct output_read *read, struct buf *out)
{
    uint32_t most = 0;
    for (size_t i = 0; i < read->pieces.count; i++) {
        most = read->pieces.at[i].index > most ? read->pieces.at[i].index : most;
    }
    if (read->fresh) {
        for (size_t i = 0; i < read->pieces.count; i++) {
            buf_add(out, read->pieces.at[i].data.p, read->pieces.at[i].data.len);
        }
        return;
    }
    /* Pieces of an instance stand in order: a list per instance keeps the work linear. */
    size_t *first = arena_new(&read->arena, size_t, most + 1);
    size_t *last = arena_new(&read->arena, size_t, most + 1);
    size_t *next = arena_new(&read->arena, size_t, read->pieces.count + 1);
    for (size_t i = 0; i < read->pieces.count; i++) {
        const uint32_t index = read->pieces.at[i].index;
        next[i] = 0;
        if (first[index] == 0) {
            first[index] = i + 1;
        } else {
            next[last[index] - 1] = i + 1;
        }
        last[index] = i + 1;
    }
    for (uint32_t index = 0; index <= most && read->pieces.count > 0; index++) {
        for (size_t i = first[index]; i != 0; i = next[i - 1]) {
            buf_add(out, read->pieces.at[i - 1].data.p, read->pieces.at[i - 1].data.len);
        }
    }
}

static void output_back(struct work *work)
{
    struct output_read *read = (struct output_read *)work;
    struct call *call = read->call;
    if (call != NULL) {
        call_resume(call);
        if (read->err != ERR_OK) {
            call_fail(call, &read->error);
        } else {
            if (read->fresh) {
                cursors_set(call->api->cursors, &read->key, read->last);
            }
            buf_clear(&call->out);
            pieces_write(read, &call->out);
            call_answer(call, 200, "text/plain; charset=utf-8");
        }
    }
    output_free(read);
}

static void output_gone(struct call *call, void *ctx)
{
    struct output_read *read = ctx;
    (void)call;
    read->call = NULL;
}

static void output_ask(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    const struct output_read *want = call->data;
    struct output_read *read = xcalloc(1, sizeof *read);
    *read = *want;
    read->work = (struct work){.run = output_run, .done = output_back};
    read->call = call;
    arena_init(&read->arena);
    if (!host->read(host->ctx, &read->work)) {
        struct error e;
        output_free(read);
        (void)fail(&e, ERR_BUSY, "too many requests wait for the history");
        call_busy(call, 429, &e);
        return;
    }
    call_park(call, output_gone, read);
}

/* What the path asks for, but for the instance. */
static void output_want(const struct call *call, task_id id, struct output_read *want)
{
    want->fresh = strcmp(call->route->method, "POST") == 0;
    want->filter = (struct store_log_filter){
        .task = id.v,
        .index = -1,
        .attempt = want->fresh ? -1 : 0,
        .stream = call->route->handler == qarnot_output_stderr ? STREAM_STDERR : STREAM_STDOUT,
        .bytes_max = READ_BYTES};
}

/* The index of the instance with this number. False: the call was answered with 404. */
static bool instance_of(struct call *call, const char *annotation, uint32_t first, uint64_t count,
                        int64_t *ret)
{
    const char *ranges = NULL;
    const struct doc *kept = qarnot_fields_kept(call_arena(call), annotation);
    uint64_t number = 0;
    uint32_t index = 0;
    bool well = str_to_u64(str_of(call->params[1]), &number) && number <= UINT32_MAX;
    if (well && doc_text(doc_get(kept, "advancedRanges"), &ranges)) {
        well = qarnot_ranges_find(ranges, (uint32_t)number, &index);
    } else {
        well = well && number >= first && number - first < count;
        index = (uint32_t)number - first;
    }
    if (!well) {
        call_failf(call, ERR_NOT_FOUND, "", "the task has no instance %.20s", call->params[1]);
    }
    *ret = index;
    return well;
}

static void output_begin(struct call *call)
{
    struct output_read *want = call->data;
    want->key = (struct cursor_key){
        .task = want->filter.task, .index = want->filter.index, .stream = want->filter.stream};
    want->filter.after = want->fresh ? cursors_get(call->api->cursors, &want->key) : 0;
    want->last = want->filter.after;
    call_when_stored(call, output_ask);
}

/* The task has ended: the history knows its instances, and whether it was deleted. */
static void ended_begin(struct call *call, task_id id, struct str json)
{
    struct doc *task;
    struct error e;
    uint64_t first = 0;
    uint64_t count = 0;
    const char *annotation = "";
    struct output_read *want = arena_new(call_arena(call), struct output_read, 1);
    if (doc_json_parse(call_arena(call), json, &task, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    if (qarnot_tasks_deleted(task)) {
        call_failf(call, ERR_NOT_FOUND, "", "the task %.60s was deleted", call->params[0]);
        return;
    }
    (void)doc_u64(doc_get(task, "array_first"), &first);
    (void)doc_u64(doc_get(task, "instances"), &count);
    (void)doc_text(doc_get(task, "annotation"), &annotation);
    output_want(call, id, want);
    if (call->params[1] == NULL ||
        instance_of(call, annotation, (uint32_t)first, count, &want->filter.index)) {
        call->data = want;
        output_begin(call);
    }
}

static void output_show(struct call *call)
{
    const struct core *core = call_core(call);
    struct output_read *want = arena_new(call_arena(call), struct output_read, 1);
    struct task_spec spec;
    task_id id;
    if (!qarnot_tasks_of(call, &id)) {
        return;
    }
    const struct task *task = query_task(core, id);
    if (task == NULL) {
        history_read(call, id, ended_begin);
        return;
    }
    output_want(call, id, want);
    query_task_spec(core, id, call_arena(call), &spec);
    if (call->params[1] == NULL || instance_of(call, spec.annotation, task->array_first,
                                               task->instance_count, &want->filter.index)) {
        call->data = want;
        output_begin(call);
    }
}

void qarnot_output_stdout(struct call *call)
{
    output_show(call);
}

void qarnot_output_stderr(struct call *call)
{
    output_show(call);
}
