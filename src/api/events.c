/* events.c - see events.h.
 *
 *   open ─▶ behind ──pages from the reader──▶ live ──facts as they are committed──▶ …
 *             └─ asked-for past is gone, or the client does not read: one `reset`, then the end
 *
 * E1 a stream sees every fact once and in order: it becomes live only when it has been sent the
 * last committed one; E2 a slow client costs at most EVENT_BYTES_MAX.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/events.h"

#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "base/vec.h"
#include "io/http_request.h"
#include "io/http_stream.h"
#include "wire/event_json.h"

enum {
    EVENT_STREAMS_MAX = 2000,
    EVENT_BYTES_MAX = 1024 * 1024, /* not yet read by one client */
    EVENT_RESET_BYTES = 256,       /* room kept for the last word */
    EVENT_PAGE_FACTS = 1000,
    EVENT_TEXT_MAX = 256 * 1024, /* of one event */
    EVENT_COMMENT_MS = 15000,    /* so that proxies and clients see that the line is alive */
    EVENT_DRAIN_MS = 20,         /* a catching-up client is given time to read */
};

struct event_filter {
    task_id task; /* 0: any */
    char pool[NAME_LEN_MAX + 1];
    char type[NAME_LEN_MAX + 1];
};

struct event_stream {
    struct token_use use; /* first */
    LIST_ENTRY(event_stream) link;
    struct event_streams *owner;
    struct http_stream *http; /* NULL: the client has gone; freed when its page is back */
    struct event_filter filter;
    uint64_t seq; /* last fact sent or passed over */
    bool live;
    struct event_page *page; /* being read, or NULL */
    struct loop_timer *drain;
};

LIST_HEAD(event_list, event_stream);

struct event_streams {
    struct api *api;
    struct event_list list;
    size_t count;
    struct loop_timer *comment;
    struct arena arena; /* of one event */
    struct buf text;
};

/* Facts read on the reader thread. */
struct event_page {
    struct work work;
    struct event_stream *stream; /* NULL: gone meanwhile */
    uint64_t after;
    struct arena arena;
    VEC(struct store_fact) facts;
    enum err err;
    struct error error;
};

static void comment_due(void *ctx);
static void page_ask(struct event_stream *stream);

struct event_streams *events_streams_new(struct api *api)
{
    struct event_streams *streams = xcalloc(1, sizeof *streams);
    streams->api = api;
    LIST_INIT(&streams->list);
    streams->comment = loop_timer_new(api->o.loop, comment_due, streams);
    arena_init(&streams->arena);
    buf_init(&streams->text, EVENT_TEXT_MAX);
    return streams;
}

size_t events_streams_count(const struct event_streams *streams)
{
    return streams->count;
}

/* The connection is over, from whichever side. */
static void stream_free(struct event_stream *stream)
{
    if (stream->page != NULL) {
        stream->page->stream = NULL;
    }
    api_token_end(&stream->use);
    LIST_REMOVE(stream, link);
    stream->owner->count--;
    loop_timer_free(stream->drain);
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
    arena_done(&streams->arena);
    buf_done(&streams->text);
    free(streams);
}

/* One reset, and the end: the client starts over from the present. */
static void stream_reset(struct event_stream *stream, const char *why)
{
    struct buf *text = &stream->owner->text;
    buf_clear(text);
    buf_addf(text, "event: reset\ndata: {\"reason\":\"%s\"}\n\n", why);
    bool told = http_stream_write(stream->http, (struct str){text->data, text->len});
    (void)told; /* room for it was kept; a client that is gone needs no last word */
    stream_end(stream);
}

static void comment_due(void *ctx)
{
    struct event_streams *streams = ctx;
    struct event_stream *stream = LIST_FIRST(&streams->list);
    while (stream != NULL) {
        struct event_stream *next = LIST_NEXT(stream, link);
        if (!http_stream_write(stream->http, str_of(": alive\n\n"))) {
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

/* The event's text into streams->text; false when the stored fact cannot be read. */
static bool event_text(struct event_streams *streams, const struct core *core,
                       const struct store_fact *stored, struct event_json_subject *ret_about)
{
    struct fact fact;
    struct error e;
    arena_clear(&streams->arena);
    if (fact_decode(stored->body, &streams->arena, &fact, &e) != ERR_OK) {
        return false;
    }
    struct buf *text = &streams->text;
    buf_clear(text);
    buf_addf(text, "id: %llu\nevent: %s\ndata: ", (unsigned long long)stored->seq,
             fact_type_name(fact.type));
    struct json_out j;
    json_out_init(&j, text);
    event_json(&j, core, stored->seq, &fact);
    *ret_about = event_json_subject(core, &fact);
    buf_add_str(text, "\n\n");
    return !text->full;
}

static bool wanted(const struct event_filter *filter, const struct core *core,
                   const struct store_fact *fact, const struct event_json_subject *about)
{
    if (filter->task.v != 0 && about->task.v != filter->task.v) {
        return false;
    }
    if (filter->pool[0] != '\0' && strcmp(filter->pool, query_pool_name(core, about->pool)) != 0) {
        return false;
    }
    return filter->type[0] == '\0' ||
           strcmp(filter->type, fact_type_name((enum fact_type)fact->type)) == 0;
}

/* False when the stream is no more. */
static bool stream_send(struct event_stream *stream, const struct store_fact *fact,
                        const struct event_json_subject *about)
{
    must(fact->seq > stream->seq);
    stream->seq = fact->seq;
    if (!wanted(&stream->filter, core_of(stream->owner), fact, about)) {
        return true;
    }
    const struct buf *text = &stream->owner->text;
    if (http_stream_pending(stream->http) + text->len <= EVENT_BYTES_MAX &&
        http_stream_write(stream->http, (struct str){text->data, text->len})) {
        return true;
    }
    stream_reset(stream, "too slow");
    return false;
}

void events_streams_committed(struct event_streams *streams, const struct store_batch *batch)
{
    const struct core *core = core_of(streams);
    for (size_t i = 0; i < batch->fact_count && !LIST_EMPTY(&streams->list); i++) {
        const struct store_fact *fact = &batch->facts[i];
        struct event_json_subject about;
        bool shown = event_text(streams, core, fact, &about);
        struct event_stream *stream = LIST_FIRST(&streams->list);
        while (stream != NULL) {
            struct event_stream *next = LIST_NEXT(stream, link);
            if (shown && stream->live && stream->seq < fact->seq) {
                (void)stream_send(stream, fact, &about);
            }
            stream = next;
        }
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

static uint64_t seq_committed(const struct event_streams *streams)
{
    struct host_numbers numbers = {0};
    streams->api->o.host->numbers(streams->api->o.host->ctx, &numbers);
    return numbers.seq_committed;
}

/* Live at the end of the past (E1), else another page once the client has read most of this one. */
static void stream_go_on(struct event_stream *stream)
{
    if (stream->seq >= seq_committed(stream->owner)) {
        stream->live = true;
    } else if (http_stream_pending(stream->http) > EVENT_BYTES_MAX / 4) {
        loop_timer_set(stream->drain, loop_now_ms(stream->owner->api->o.loop) + EVENT_DRAIN_MS);
    } else {
        page_ask(stream);
    }
}

static void drain_due(void *ctx)
{
    stream_go_on(ctx);
}

static void page_back(struct work *work)
{
    struct event_page *page = (struct event_page *)work;
    struct event_stream *stream = page->stream;
    if (stream == NULL) {
        page_free(page);
        return;
    }
    stream->page = NULL;
    struct event_streams *streams = stream->owner;
    const struct core *core = core_of(streams);
    bool alive = true;
    if (page->err != ERR_OK || core == NULL) {
        stream_reset(stream, page->err == ERR_NOT_FOUND ? "too old" : "not readable");
        alive = false;
    }
    for (size_t i = 0; alive && i < page->facts.count; i++) {
        struct event_json_subject about;
        if (event_text(streams, core, &page->facts.at[i], &about)) {
            alive = stream_send(stream, &page->facts.at[i], &about);
        }
    }
    page_free(page);
    if (alive) {
        stream_go_on(stream);
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
    if (!host->read(host->ctx, &page->work)) {
        page_free(page);
        loop_timer_set(stream->drain, loop_now_ms(stream->owner->api->o.loop) + EVENT_DRAIN_MS);
        return;
    }
    stream->page = page;
}

/* ---- opening ---- */

/* What is asked for, kept between the check and the commit. */
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
    stream->drain = loop_timer_new(call->api->o.loop, drain_due, stream);
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
    if (!http_stream_write(stream->http, str_of(": weir\n\n"))) {
        stream_end(stream);
        return;
    }
    if (stream->seq > seq_committed(streams)) {
        stream_reset(stream, "from another server");
        return;
    }
    stream_go_on(stream);
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

static bool event_type_known(const char *name)
{
    for (unsigned type = 1; type <= FACT_TYPE_MAX; type++) {
        if (strcmp(fact_type_name((enum fact_type)type), name) == 0) {
            return true;
        }
    }
    return false;
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
    if (ask->filter.type[0] != '\0' && !event_type_known(ask->filter.type)) {
        call_failf(call, ERR_INVALID, "type", "no event is called '%s'", ask->filter.type);
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
