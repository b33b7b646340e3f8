/* events.c - see events.h.
 *
 *   log of facts ─┬─ the newest: event_ring, encoded once ─┬─▶ each stream, at its own pace
 *                 └─ older: pages from the reader ─────────┘
 *
 * E1 a stream sees every fact once and in order: `seq` is the last one it has, and the next one is
 * always seq + 1; E2 a stream is given more when its socket takes more, and buffers one page at most;
 * E3 a stream is reset only when the log no longer has what the client missed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/events.h"

#include "api/api_internal.h"
#include "api/call.h"
#include "api/event_filter.h"
#include "api/event_ring.h"
#include "api/handlers.h"
#include "base/vec.h"
#include "io/http_request.h"
#include "io/http_stream.h"
#include "wire/event_json.h"

enum {
    EVENT_STREAMS_MAX = 2000,
    EVENT_BYTES_MAX = 1024 * 1024, /* bytes that one client has not read yet */
    EVENT_RESET_BYTES = 256,       /* room kept for the reset */
    EVENT_PAGE_FACTS = 1000,
    EVENT_COMMENT_MS = 15000, /* so that proxies and clients see that the connection is alive */
    EVENT_RETRY_MS = 20,      /* until the next try when the reader is busy */
    /* Busy streams are fed once in a while and not at every commit, because each feeding costs a
     * system call for each stream: this long for each open stream. */
    EVENT_FEED_US = 2000,
    EVENT_FEED_MS_MAX = 200,
};

struct event_stream {
    struct token_use use; /* the first member, so that a use can be cast to its stream */
    LIST_ENTRY(event_stream) link;
    struct event_streams *owner;
    struct http_stream
        *http; /* NULL: the client has left; the stream is freed when its page is back */
    struct event_filter filter;
    uint64_t seq;            /* the last fact that was sent or skipped */
    struct event_page *page; /* the page being read, or NULL */
    struct loop_timer *retry;
};

LIST_HEAD(event_list, event_stream);

struct event_streams {
    struct api *api;
    struct event_list list;
    size_t count;
    struct loop_timer *comment;
    struct loop_timer *feed;
    bool feed_set;
    int64_t fed_ms; /* when all streams were fed last */
    struct event_ring *ring;
    struct arena arena; /* memory of one event */
    struct buf text;
};

/* Facts read on the reader thread. */
struct event_page {
    struct work work;
    struct event_stream *stream; /* NULL: the stream has ended meanwhile */
    uint64_t after;
    struct arena arena;
    VEC(struct store_fact) facts;
    enum err err;
    struct error error;
};

static void comment_due(void *ctx);
static void feed_due(void *ctx);
static void page_ask(struct event_stream *stream);

struct event_streams *events_streams_new(struct api *api)
{
    struct event_streams *streams = xcalloc(1, sizeof *streams);
    streams->api = api;
    LIST_INIT(&streams->list);
    streams->comment = loop_timer_new(api->o.loop, comment_due, streams);
    streams->feed = loop_timer_new(api->o.loop, feed_due, streams);
    streams->ring = event_ring_new();
    arena_init(&streams->arena);
    buf_init(&streams->text, EVENT_TEXT_MAX);
    return streams;
}

size_t events_streams_count(const struct event_streams *streams)
{
    return streams->count;
}

/* The connection has ended, from either side. */
static void stream_free(struct event_stream *stream)
{
    if (stream->page != NULL) {
        stream->page->stream = NULL;
    }
    api_token_end(&stream->use);
    LIST_REMOVE(stream, link);
    stream->owner->count--;
    loop_timer_free(stream->retry);
    free(stream);
}

static void stream_gone(void *ctx)
{
    stream_free(ctx);
}

static void stream_end(struct event_stream *stream)
{
    http_stream_end(stream->http);
    stream_free(stream);
}

static void stream_cut(struct token_use *use)
{
    stream_end((struct event_stream *)use);
}

void events_streams_free(struct event_streams *streams)
{
    struct event_stream *stream;
    while ((stream = LIST_FIRST(&streams->list)) != NULL) {
        stream_end(stream);
    }
    loop_timer_free(streams->comment);
    loop_timer_free(streams->feed);
    event_ring_free(streams->ring);
    arena_done(&streams->arena);
    buf_done(&streams->text);
    free(streams);
}

/* Sends one reset and ends the stream. The client begins again from the present. */
static void stream_reset(struct event_stream *stream, const char *why)
{
    struct buf *text = &stream->owner->text;
    buf_clear(text);
    buf_addf(text, "event: reset\ndata: {\"reason\":\"%s\"}\n\n", why);
    bool told = http_stream_write(stream->http, (struct str){text->data, text->len});
    (void)told; /* room for the reset was kept; a client that has left needs none */
    stream_end(stream);
}

static void comment_due(void *ctx)
{
    struct event_streams *streams = ctx;
    struct event_stream *stream = LIST_FIRST(&streams->list);
    while (stream != NULL) {
        struct event_stream *next = LIST_NEXT(stream, link);
        /* A client that has something to read sees by that that the connection is alive. */
        if (http_stream_pending(stream->http) == 0 &&
            !http_stream_write(stream->http, str_of(": alive\n\n"))) {
            stream_end(stream);
        }
        stream = next;
    }
    if (!LIST_EMPTY(&streams->list)) {
        loop_timer_set(streams->comment, loop_now_ms(streams->api->o.loop) + EVENT_COMMENT_MS);
    }
}

static const struct core *core_of(const struct event_streams *streams)
{
    return streams->api->o.host->core(streams->api->o.host->ctx);
}

static int64_t now_ms(const struct event_streams *streams)
{
    return loop_now_ms(streams->api->o.loop);
}

static uint64_t seq_committed(const struct event_streams *streams)
{
    struct host_numbers numbers = {0};
    streams->api->o.host->numbers(streams->api->o.host->ctx, &numbers);
    return numbers.seq_committed;
}

/* ---- feeding ---- */

/* A part of the ring for a stream that wants every event. False: the ring does not have the next event,
 * or there is none. */
static bool stream_piece(void *ctx, struct http_piece *ret)
{
    struct event_stream *stream = ctx;
    uint64_t last;
    if (stream->page != NULL || event_filter_set(&stream->filter) ||
        core_of(stream->owner) == NULL ||
        !event_ring_piece(stream->owner->ring, stream->seq + 1, ret, &last)) {
        return false;
    }
    stream->seq = last;
    return true;
}

/* The socket takes up to `max` bytes. Events that the ring has are copied; older ones are asked for. */
static size_t stream_pull(void *ctx, char *out, size_t max)
{
    struct event_stream *stream = ctx;
    const struct core *core = core_of(stream->owner);
    const uint64_t last = seq_committed(stream->owner);
    size_t used = 0;
    while (stream->page == NULL && stream->seq < last && used < max) {
        struct event_note note;
        if (core == NULL || !event_ring_get(stream->owner->ring, stream->seq + 1, &note)) {
            if (used == 0) {
                page_ask(stream);
            }
            break;
        }
        if (!event_filter_takes(&stream->filter, core, note.type, &note.about)) {
            note.text.len = 0;
        }
        if (note.text.len > max - used && used > 0) {
            break; /* a long event begins the next piece */
        }
        stream->seq++;
        const size_t fits = note.text.len < max - used ? note.text.len : max - used;
        memcpy(out + used, note.text.p, fits);
        used += fits;
        if (fits < note.text.len) { /* one event is shorter than the buffer, which is empty now */
            must(http_stream_write(stream->http,
                                   (struct str){note.text.p + fits, note.text.len - fits}));
            break;
        }
    }
    return used;
}

/* Wakes the stream if there is something for it. Events that a filter leaves out wake nobody. */
static void stream_feed(struct event_stream *stream)
{
    const struct event_ring *ring = stream->owner->ring;
    const uint64_t last = seq_committed(stream->owner);
    const struct core *core = core_of(stream->owner);
    struct event_note note;
    while (stream->page == NULL && core != NULL && stream->seq < last &&
           event_filter_set(&stream->filter) && event_ring_get(ring, stream->seq + 1, &note) &&
           !event_filter_takes(&stream->filter, core, note.type, &note.about)) {
        stream->seq++;
    }
    if (stream->page == NULL && stream->seq < last) {
        http_stream_wake(stream->http);
    }
}

static void retry_due(void *ctx)
{
    stream_feed(ctx);
}

static void streams_feed(struct event_streams *streams)
{
    struct event_stream *stream = LIST_FIRST(&streams->list);
    streams->fed_ms = now_ms(streams);
    while (stream != NULL) {
        struct event_stream *next = LIST_NEXT(stream, link);
        stream_feed(stream);
        stream = next;
    }
}

static void feed_due(void *ctx)
{
    struct event_streams *streams = ctx;
    streams->feed_set = false;
    streams_feed(streams);
}

void events_streams_committed(struct event_streams *streams, const struct store_batch *batch)
{
    enum { US_PER_MS = 1000 };
    if (LIST_EMPTY(&streams->list)) {
        event_ring_clear(streams->ring);
        return;
    }
    for (size_t i = 0; i < batch->fact_count; i++) {
        event_ring_add(streams->ring, core_of(streams), &batch->facts[i]);
    }
    int64_t pause_ms = (int64_t)streams->count * EVENT_FEED_US / US_PER_MS;
    pause_ms = pause_ms < EVENT_FEED_MS_MAX ? pause_ms : EVENT_FEED_MS_MAX;
    if (streams->feed_set) {
        return;
    }
    if (now_ms(streams) >= streams->fed_ms + pause_ms) {
        streams_feed(streams);
    } else {
        streams->feed_set = true;
        loop_timer_set(streams->feed, streams->fed_ms + pause_ms);
    }
}

/* ---- catching up ---- */

static void page_free(struct event_page *page)
{
    vec_done(&page->facts);
    arena_done(&page->arena);
    free(page);
}

static enum err page_fact(void *ctx, const struct store_fact *fact, struct error *e)
{
    struct event_page *page = ctx;
    (void)e;
    struct store_fact copy = *fact;
    copy.body.p = arena_dup(&page->arena, fact->body.p, fact->body.len);
    vec_push(&page->facts, copy);
    return ERR_OK;
}

static void page_run(struct work *work, struct store_reader *reader)
{
    struct event_page *page = (struct event_page *)work;
    page->err =
        store_reader_facts(reader, page->after, EVENT_PAGE_FACTS, page_fact, page, &page->error);
}

/* Sends the facts of a page. False: the stream was ended. */
static bool page_send(struct event_stream *stream, const struct event_page *page)
{
    struct event_streams *streams = stream->owner;
    const struct core *core = core_of(streams);
    for (size_t i = 0; i < page->facts.count; i++) {
        const struct store_fact *fact = &page->facts.at[i];
        struct buf *text = &streams->text;
        struct event_json_subject about;
        must(fact->seq == stream->seq + 1);
        if (http_stream_pending(stream->http) + EVENT_TEXT_MAX > EVENT_BYTES_MAX) {
            break; /* the rest is read again when the client has read */
        }
        stream->seq = fact->seq;
        if (event_ring_text(text, &streams->arena, core, fact, &about) &&
            event_filter_takes(&stream->filter, core, fact->type, &about) &&
            !http_stream_write(stream->http, (struct str){text->data, text->len})) {
            stream_end(stream);
            return false;
        }
    }
    return true;
}

static void page_back(struct work *work)
{
    struct event_page *page = (struct event_page *)work;
    struct event_stream *stream = page->stream;
    bool alive = stream != NULL;
    if (alive) {
        stream->page = NULL;
    }
    if (alive && page->err != ERR_OK) {
        stream_reset(stream, page->err == ERR_NOT_FOUND ? "too old" : "not readable");
        alive = false;
    } else if (alive && core_of(stream->owner) != NULL) {
        alive = page_send(stream, page);
    }
    page_free(page);
    if (alive) {
        stream_feed(stream);
    }
}

static void page_ask(struct event_stream *stream)
{
    const struct api_host *host = stream->owner->api->o.host;
    struct event_page *page = xcalloc(1, sizeof *page);
    page->work = (struct work){.run = page_run, .done = page_back};
    page->stream = stream;
    page->after = stream->seq;
    arena_init(&page->arena);
    if (core_of(stream->owner) == NULL || !host->read(host->ctx, &page->work)) {
        page_free(page);
        loop_timer_set(stream->retry, now_ms(stream->owner) + EVENT_RETRY_MS);
        return;
    }
    stream->page = page;
}

/* ---- opening ---- */

/* The request's filter and position, kept between the check and the commit. */
struct event_ask {
    struct event_filter filter;
    uint64_t after;
    bool from_now;
};

static void stream_open(struct call *call)
{
    const struct event_ask *ask = call->data;
    struct event_streams *streams = call->api->events;
    struct event_stream *stream = xcalloc(1, sizeof *stream);
    stream->owner = streams;
    api_token_begin(call, &stream->use, stream_cut);
    stream->filter = ask->filter;
    stream->seq = ask->from_now ? seq_committed(streams) : ask->after;
    stream->retry = loop_timer_new(call->api->o.loop, retry_due, stream);
    LIST_INSERT_HEAD(&streams->list, stream, link);
    if (streams->count++ == 0) {
        loop_timer_set(streams->comment, loop_now_ms(call->api->o.loop) + EVENT_COMMENT_MS);
    }
    struct http_request *request = call->request;
    api_count_answer(call->api, 200);
    call_done(call);
    http_request_answer_header(request, "Cache-Control", "no-store");
    stream->http = http_stream_begin(request, 200, "text/event-stream",
                                     EVENT_BYTES_MAX + EVENT_RESET_BYTES, stream_gone, stream);
    http_stream_source(stream->http, stream_pull);
    http_stream_pieces(stream->http, stream_piece);
    if (!http_stream_write(stream->http, str_of(": weir\n\n"))) {
        stream_end(stream);
        return;
    }
    if (stream->seq > seq_committed(streams)) {
        stream_reset(stream, "from another server");
        return;
    }
    stream_feed(stream);
}

static bool filter_text(struct call *call, const char *name, char *out)
{
    const char *text = http_request_query(call->request, name);
    if (text != NULL && !str_copy(out, NAME_LEN_MAX + 1, text)) {
        call_failf(call, ERR_INVALID, name, "'%s' is at most %d characters", name, NAME_LEN_MAX);
        return false;
    }
    return true;
}

void events_follow(struct call *call)
{
    struct event_ask *ask = arena_new(call_arena(call), struct event_ask, 1);
    const char *last = http_request_header(call->request, "Last-Event-ID");
    ask->from_now = last == NULL && http_request_query(call->request, "after") == NULL;
    if (!call_query_u64(call, "after", INT64_MAX, &ask->after) ||
        !call_query_u64(call, "task", INT64_MAX, &ask->filter.task.v) ||
        !filter_text(call, "pool", ask->filter.pool) ||
        !filter_text(call, "type", ask->filter.type)) {
        return;
    }
    if (last != NULL && !str_to_u64(str_of(last), &ask->after)) {
        call_failf(call, ERR_INVALID, "Last-Event-ID", "Last-Event-ID must be a fact's number");
        return;
    }
    if (ask->filter.type[0] != '\0' && !event_filter_type_known(ask->filter.type)) {
        const char *meant = event_filter_type_meant(ask->filter.type);
        const bool near = meant != NULL;
        call_failf(call, ERR_INVALID, "type", "no event is called '%s'%s%s%s", ask->filter.type,
                   near ? "; did you mean '" : "", near ? meant : "", near ? "'?" : "");
        return;
    }
    if (call->api->events->count >= EVENT_STREAMS_MAX) {
        struct error e;
        (void)fail(&e, ERR_BUSY, "%d event streams are open already", EVENT_STREAMS_MAX);
        call_busy(call, 429, &e);
        return;
    }
    call->data = ask;
    call_when_stored(call, stream_open);
}
