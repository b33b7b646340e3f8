/* logs.c - GET /tasks/{id}/logs: a task's output, as lines of JSON or as bytes, once or followed to
 * the task's end. The reader thread reads the pieces. The next pieces are read when the client has
 * taken most of the last ones, so a slow client costs at most LOG_BYTES_MAX.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "base/base64.h"
#include "base/doc.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "io/http_request.h"
#include "io/http_stream.h"
#include "wire/error_json.h"

enum {
    LOG_READ_BYTES = 256 * 1024,     /* bytes of one read */
    LOG_BYTES_MAX = 8 * 1024 * 1024, /* bytes that one client has not taken yet */
    LOG_BYTES_LOW = 512 * 1024,      /* with fewer untaken bytes, more is read */
    LOG_DRAIN_MS = 10,
    LOG_TAIL_MAX = 1000000, /* lines of ?tail= */
};

struct log_stream {
    struct watch watch; /* the first member, so that a watch can be cast to its stream */
    struct token_use use;
    struct api *api;
    struct http_stream *http;
    struct store_log_filter filter;
    struct loop_timer *drain;
    struct log_read *read; /* the read under way, or NULL */
    bool follow;
    bool raw;
    bool watching;
    bool news; /* news came while a read was under way */
    bool tail; /* the first read begins with the last `lines` lines */
    uint64_t lines;
};

struct log_read {
    struct work work;
    struct log_stream *stream; /* NULL: the stream has ended meanwhile */
    struct store_log_filter filter;
    bool raw;
    bool follow;
    bool tail;
    uint64_t lines;
    size_t skip; /* bytes of the next piece that are left out */
    struct arena arena;
    struct buf out;
    uint64_t last;
    bool any;
    bool ended; /* the task is in the history: `end` is the last line */
    struct buf end;
    enum err err;
    struct error error;
};

static void read_ask(struct log_stream *stream);

/* ---- on the reader thread ---- */

static void piece_json(struct buf *out, const struct store_log_piece *piece)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_u64(&j, "n", piece->number);
    json_out_kv_u64(&j, "instance", piece->index);
    json_out_kv_u64(&j, "attempt", piece->attempt);
    json_out_kv_text(&j, "stream", piece->stream == 2 ? "stderr" : "stdout");
    json_out_kv_u64(&j, "offset", piece->offset);
    json_out_kv_time(&j, "at", piece->time_ms);
    /* A JSON string of Weir holds no NUL. */
    if (utf8_valid(piece->data.p, piece->data.len) &&
        memchr(piece->data.p, '\0', piece->data.len) == NULL) {
        json_out_key(&j, "data");
        json_out_str(&j, piece->data);
    } else {
        json_out_key(&j, "base64");
        struct buf coded;
        buf_init(&coded, LOG_BYTES_MAX);
        base64_add(&coded, piece->data);
        json_out_str(&j, (struct str){buf_text(&coded), coded.len});
        buf_done(&coded);
    }
    json_out_end(&j);
    buf_add_char(out, '\n');
}

static void piece_read(void *ctx, const struct store_log_piece *piece)
{
    struct log_read *read = ctx;
    read->any = true;
    read->last = piece->number;
    struct store_log_piece rest = *piece;
    rest.offset += read->skip;
    rest.data = (struct str){piece->data.p + read->skip, piece->data.len - read->skip};
    read->skip = 0;
    if (read->raw) {
        buf_add(&read->out, rest.data.p, rest.data.len);
    } else if (rest.data.len > 0) {
        piece_json(&read->out, &rest);
    }
}

/* Writes {"end":true,"state":…,"exit_code":…} from the task in the history. */
static void end_read(struct log_read *read, struct store_reader *reader)
{
    struct str json;
    struct doc *task;
    const char *state = "unknown";
    int64_t exit_code;
    struct error e;
    enum err r = store_history_get(reader, read->filter.task, &read->arena, &json, &read->error);
    if (r == ERR_CORRUPT && read->follow) {
        read->err = r; /* else the follower of an ended task would wait for ever */
    }
    if (r != ERR_OK || doc_json_parse(&read->arena, json, &task, &e) != ERR_OK) {
        return;
    }
    struct json_out j;
    json_out_init(&j, &read->end);
    json_out_object(&j);
    json_out_kv_bool(&j, "end", true);
    (void)doc_text(doc_get(task, "state"), &state);
    json_out_kv_text(&j, "state", state);
    json_out_key(&j, "exit_code");
    if (doc_i64(doc_get(task, "exit_code"), &exit_code)) {
        json_out_i64(&j, exit_code);
    } else {
        json_out_null(&j);
    }
    json_out_end(&j);
    buf_add_char(&read->end, '\n');
    read->ended = true;
}

/* Looks into the history first. A task that is in the history writes no more output, so an empty
 * read after that is the end. */
static void read_run(struct work *work, struct store_reader *reader)
{
    struct log_read *read = (struct log_read *)work;
    read->err = ERR_OK;
    end_read(read, reader);
    if (read->err == ERR_OK && read->tail) {
        read->err = store_reader_log_tail(reader, &read->filter, read->lines, &read->filter.after,
                                          &read->skip, &read->error);
    }
    if (read->err == ERR_OK) {
        read->err =
            store_reader_logs(reader, &read->filter, &read->arena, piece_read, read, &read->error);
    }
}

/* ---- on the loop ---- */

static void read_free(struct log_read *read)
{
    buf_done(&read->out);
    buf_done(&read->end);
    arena_done(&read->arena);
    free(read);
}

static void stream_free(struct log_stream *stream)
{
    if (stream->read != NULL) {
        stream->read->stream = NULL;
    }
    if (stream->watching) {
        watches_remove(&stream->watch);
    }
    api_token_end(&stream->use);
    loop_timer_free(stream->drain);
    free(stream);
}

static void stream_gone(void *ctx)
{
    stream_free(ctx);
}

/* Ends an answer that is not whole: with a line that says why, or, where the bytes of the output are
 * all that the answer has, without the last chunk. Nobody must take the rest for the end. */
static void stream_fail(struct log_stream *stream, const struct error *error)
{
    struct buf line;
    log_error("output of a task cannot be read", kv_u64("task", stream->filter.task),
              kv_error(error));
    buf_init(&line, LOG_BYTES_MAX);
    error_json(error, &line);
    buf_add_char(&line, '\n');
    if (stream->raw || !http_stream_write(stream->http, (struct str){buf_text(&line), line.len})) {
        http_stream_break(stream->http);
    } else {
        http_stream_end(stream->http);
    }
    buf_done(&line);
    stream_free(stream);
}

static void stream_end(struct log_stream *stream)
{
    http_stream_end(stream->http);
    stream_free(stream);
}

static void stream_cut(struct token_use *use)
{
    stream_end((struct log_stream *)((char *)use - offsetof(struct log_stream, use)));
}

static void stream_more(struct log_stream *stream)
{
    if (http_stream_pending(stream->http) > LOG_BYTES_LOW) {
        loop_timer_set(stream->drain, loop_now_ms(stream->api->o.loop) + LOG_DRAIN_MS);
    } else {
        read_ask(stream);
    }
}

/* News may have begun a read since the timer was set. Only one read may be under way, because the
 * stream tells only one read that it has ended. */
static void drain_due(void *ctx)
{
    struct log_stream *stream = ctx;
    if (stream->read == NULL) {
        stream_more(stream);
    }
}

static void stream_told(struct watch *watch, enum watch_news news, struct str json)
{
    struct log_stream *stream = (struct log_stream *)watch;
    (void)news;
    (void)json;
    stream->news = true;
    if (stream->read == NULL) {
        stream_more(stream);
    }
}

static void read_back(struct work *work)
{
    struct log_read *read = (struct log_read *)work;
    struct log_stream *stream = read->stream;
    if (stream == NULL) {
        read_free(read);
        return;
    }
    stream->read = NULL;
    stream->filter.after = read->any ? read->last : read->filter.after;
    stream->tail = false;
    bool over = !read->any && (!stream->follow || read->ended);
    bool kept = http_stream_write(stream->http, (struct str){buf_text(&read->out), read->out.len});
    if (kept && read->err != ERR_OK) {
        stream_fail(stream, &read->error);
        read_free(read);
        return;
    }
    if (kept && over && stream->follow && !stream->raw) {
        kept = http_stream_write(stream->http, (struct str){buf_text(&read->end), read->end.len});
    }
    if (!kept || over) {
        stream_end(stream);
    } else if (read->any || stream->news) {
        stream_more(stream);
    }
    read_free(read);
}

static void read_ask(struct log_stream *stream)
{
    const struct api_host *host = stream->api->o.host;
    struct log_read *read = xcalloc(1, sizeof *read);
    read->work = (struct work){.run = read_run, .done = read_back};
    read->stream = stream;
    read->filter = stream->filter;
    read->raw = stream->raw;
    read->follow = stream->follow;
    read->tail = stream->tail;
    read->lines = stream->lines;
    arena_init(&read->arena);
    buf_init(&read->out, LOG_BYTES_MAX);
    buf_init(&read->end, LOG_BYTES_MAX);
    stream->news = false;
    if (!host->read(host->ctx, &read->work)) {
        read_free(read);
        loop_timer_set(stream->drain, loop_now_ms(stream->api->o.loop) + LOG_DRAIN_MS);
        return;
    }
    stream->read = read;
}

/* ---- opening ---- */

static void stream_open(struct call *call)
{
    struct log_stream *stream = xcalloc(1, sizeof *stream);
    *stream = *(const struct log_stream *)call->data;
    stream->api = call->api;
    api_token_begin(call, &stream->use, stream_cut);
    stream->drain = loop_timer_new(call->api->o.loop, drain_due, stream);
    if (stream->follow) {
        stream->watch = (struct watch){.task = {stream->filter.task}, .fn = stream_told};
        watches_add(call->api->watches, &stream->watch);
        stream->watching = true;
    }
    struct http_request *request = call->request;
    api_count_answer(call->api, 200);
    call_done(call);
    stream->http = http_stream_begin(
        request, 200, stream->raw ? "application/octet-stream" : "application/x-ndjson",
        LOG_BYTES_MAX, stream_gone, stream);
    read_ask(stream);
}

static bool choice(struct call *call, const char *name, const char *const *words, uint32_t *ret)
{
    const char *text = http_request_query(call->request, name);
    if (text == NULL) {
        return true;
    }
    for (uint32_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *ret = i;
            return true;
        }
    }
    call_failf(call, ERR_INVALID, name, "'%s' cannot be '%.60s'", name, text);
    return false;
}

void logs_show(struct call *call)
{
    static const char *const streams[] = {"both", "stdout", "stderr", NULL};
    static const char *const formats[] = {"ndjson", "raw", NULL};
    struct log_stream *ask = arena_new(call_arena(call), struct log_stream, 1);
    task_id id;
    uint64_t instance = UINT32_MAX;
    uint64_t attempt = 0;
    uint32_t format = 0;
    ask->filter.bytes_max = LOG_READ_BYTES;
    if (!call_task_id(call, &id) || !choice(call, "stream", streams, &ask->filter.stream) ||
        !choice(call, "format", formats, &format) ||
        !call_query_u64(call, "instance", TASK_INSTANCES_MAX, &instance) ||
        !call_query_u64(call, "attempt", INT32_MAX, &attempt) ||
        !call_query_u64(call, "after", INT64_MAX, &ask->filter.after) ||
        !call_query_u64(call, "tail", LOG_TAIL_MAX, &ask->lines) ||
        !call_query_bool(call, "follow", &ask->follow) ||
        !call_query_time(call, "since", &ask->filter.since_ms)) {
        return;
    }
    ask->tail = http_request_query(call->request, "tail") != NULL && ask->filter.after == 0;
    if (query_task(call_core(call), id) == NULL && id.v > query_task_last(call_core(call)).v) {
        call_failf(call, ERR_NOT_FOUND, "", "no task %llu", (unsigned long long)id.v);
        return;
    }
    ask->raw = format == 1;
    ask->filter.task = id.v;
    ask->filter.index = instance == UINT32_MAX ? -1 : (int64_t)instance;
    ask->filter.attempt = attempt == 0 ? -1 : (int64_t)attempt;
    call->data = ask;
    call_when_stored(call, stream_open);
}
