/* test_logs.c - the stream of a task's log: src/api/logs.c alone, with everything around it played here, so that reads, timers, news and
 * a client who takes little come in exactly the order that a test says. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "base/mem.h"
#include "io/http_request.h"
#include "io/http_server.h"
#include "io/http_stream.h"
#include "wire/error_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    TASK = 1,
    READS_MAX = 8,
    LARGE = 600 * 1024 /* above what the stream wants to be taken first */
};

/* The world of one stream. */
static struct {
    struct work *reads[READS_MAX]; /* under way, in the order in which they were asked for */
    unsigned read_count;
    unsigned asked; /* reads, ever */
    size_t piece;   /* bytes that the next read finds; 0: none */
    bool ended;     /* the task is in history */
    size_t pending; /* what the client has not taken */
    bool open;
    unsigned written_after_end;
    loop_fn timer_fn;
    void *timer_ctx;
    bool timer_set;
    struct watch *watch;
    struct arena arena;
} world;

/* ---- what surrounds the stream ---- */

static bool host_read(void *ctx, struct work *work)
{
    (void)ctx;
    assert_true(world.read_count < READS_MAX);
    world.reads[world.read_count++] = work;
    world.asked++;
    return true;
}

enum err store_history_get(struct store_reader *reader, uint64_t task, struct arena *arena,
                           struct str *ret_json, struct error *e)
{
    (void)reader;
    (void)task;
    (void)arena;
    *ret_json = str_of("{\"state\":\"completed\",\"exit_code\":0}");
    *e = (struct error){.code = ERR_NOT_FOUND};
    return world.ended ? ERR_OK : ERR_NOT_FOUND;
}

enum err store_reader_logs(struct store_reader *reader, const struct store_log_filter *filter,
                           struct arena *arena, store_log_fn fn, void *ctx, struct error *e)
{
    (void)reader;
    (void)e;
    if (world.piece > 0) {
        char *text = arena_alloc(arena, world.piece);
        memset(text, 'x', world.piece);
        const struct store_log_piece piece = {
            .number = filter->after + 1, .attempt = 1, .stream = 1, .data = {text, world.piece}};
        fn(ctx, &piece);
    }
    world.piece = 0;
    return ERR_OK;
}

enum err store_reader_log_tail(struct store_reader *reader, const struct store_log_filter *filter,
                               uint64_t lines, uint64_t *ret_after, size_t *ret_skip,
                               struct error *e)
{
    (void)reader;
    (void)lines;
    (void)e;
    *ret_after = filter->after;
    *ret_skip = 0;
    return ERR_OK;
}

static int http; /* its address is the stream's */

struct http_stream *http_stream_begin(struct http_request *request, unsigned status,
                                      const char *content_type, size_t bytes_max,
                                      void (*on_gone)(void *ctx), void *ctx)
{
    (void)request;
    (void)status;
    (void)content_type;
    (void)bytes_max;
    (void)on_gone;
    (void)ctx;
    world.open = true;
    return (struct http_stream *)(void *)&http;
}

bool http_stream_write(struct http_stream *stream, struct str data)
{
    (void)stream;
    world.written_after_end += !world.open;
    world.pending += data.len;
    return true;
}

void http_stream_end(struct http_stream *stream)
{
    (void)stream;
    assert_true(world.open);
    world.open = false;
}

/* The real one wants the whole core. */
void error_json(const struct error *e, struct buf *out)
{
    buf_add_str(out, e->text);
}

void http_stream_break(struct http_stream *stream)
{
    http_stream_end(stream);
}

size_t http_stream_pending(const struct http_stream *stream)
{
    (void)stream;
    return world.pending;
}

const char *http_request_query(const struct http_request *request, const char *name)
{
    (void)request;
    return strcmp(name, "format") == 0 ? "raw" : NULL;
}

static int timer; /* likewise */

struct loop_timer *loop_timer_new(struct loop *loop, loop_fn fn, void *ctx)
{
    (void)loop;
    world.timer_fn = fn;
    world.timer_ctx = ctx;
    return (struct loop_timer *)(void *)&timer;
}

void loop_timer_set(struct loop_timer *own, int64_t at_ms)
{
    (void)own;
    (void)at_ms;
    world.timer_set = true;
}

void loop_timer_free(struct loop_timer *own)
{
    (void)own;
    world.timer_set = false;
}

int64_t loop_now_ms(const struct loop *loop)
{
    (void)loop;
    return 0;
}

void watches_add(struct watches *watches, struct watch *watch)
{
    (void)watches;
    world.watch = watch;
}

void watches_remove(struct watch *watch)
{
    assert_ptr_equal(watch, world.watch);
    world.watch = NULL;
}

void api_token_begin(const struct call *call, struct token_use *use,
                     void (*cut)(struct token_use *use))
{
    (void)call;
    (void)use;
    (void)cut;
}

void api_token_end(struct token_use *use)
{
    (void)use;
}

void api_count_answer(struct api *api, unsigned status)
{
    (void)api;
    (void)status;
}

void call_done(struct call *call)
{
    (void)call;
}

void call_failf(struct call *call, enum err code, const char *path, const char *format, ...)
{
    (void)call;
    (void)code;
    fail_msg("refused: %s %s", path, format);
}

bool call_task_id(struct call *call, task_id *ret)
{
    (void)call;
    *ret = (task_id){TASK};
    return true;
}

bool call_query_u64(struct call *call, const char *name, uint64_t max, uint64_t *ret)
{
    (void)call;
    (void)name;
    (void)max;
    (void)ret;
    return true;
}

bool call_query_bool(struct call *call, const char *name, bool *ret)
{
    (void)call;
    (void)name;
    *ret = true; /* follow */
    return true;
}

bool call_query_time(struct call *call, const char *name, int64_t *ret)
{
    (void)call;
    (void)name;
    (void)ret;
    return true;
}

struct arena *call_arena(const struct call *call)
{
    (void)call;
    return &world.arena;
}

const struct core *call_core(const struct call *call)
{
    (void)call;
    return NULL;
}

const struct task *query_task(const struct core *core, task_id id)
{
    (void)core;
    (void)id;
    return NULL;
}

task_id query_task_last(const struct core *core)
{
    (void)core;
    return (task_id){TASK};
}

void call_when_stored(struct call *call, void (*then)(struct call *call))
{
    then(call);
}

/* ---- what happens ---- */

static const struct api_host host = {.read = host_read};
static struct api api = {.o = {.host = &host}};

static int begin(void **state)
{
    struct call call = {.api = &api};
    (void)state;
    memset(&world, 0, sizeof world);
    arena_init(&world.arena);
    logs_show(&call);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_done(&world.arena);
    return 0;
}

/* The oldest read comes back, having found this much; `over`: the task had ended. */
static void read_returns(size_t found, bool over)
{
    assert_true(world.read_count > 0);
    struct work *work = world.reads[0];
    world.read_count--;
    memmove(world.reads, world.reads + 1, world.read_count * sizeof *world.reads);
    world.piece = found;
    world.ended = over;
    work->run(work, NULL);
    work->done(work);
}

static void news_come(void)
{
    assert_non_null(world.watch);
    world.watch->fn(world.watch, WATCH_OUTPUT, (struct str){0});
}

static void timer_comes(void)
{
    assert_true(world.timer_set);
    world.timer_set = false;
    world.timer_fn(world.timer_ctx);
}

/* ---- tests ---- */

static void a_slow_client_is_waited_for(void **state)
{
    (void)state;
    read_returns(LARGE, false);
    assert_int_equal(world.read_count, 0);
    timer_comes();
    assert_int_equal(world.read_count, 0); /* nothing was taken */
    world.pending = 0;
    timer_comes();
    assert_int_equal(world.read_count, 1);
    read_returns(0, true);
    assert_false(world.open);
    assert_null(world.watch);
}

static void news_during_a_read_lead_to_one_more(void **state)
{
    (void)state;
    assert_int_equal(world.read_count, 1);
    news_come();
    news_come();
    assert_int_equal(world.read_count, 1);
    read_returns(0, false);
    assert_int_equal(world.read_count, 1);
    read_returns(0, false);
    assert_int_equal(world.read_count, 0); /* nothing new */
    news_come();
    read_returns(0, true);
    assert_false(world.open);
}

/* The timer was set while the client was slow; news led to a read before it came. */
static void a_timer_during_a_read_asks_for_none(void **state)
{
    (void)state;
    read_returns(LARGE, false);
    world.pending = 0;
    news_come();
    assert_int_equal(world.read_count, 1);
    timer_comes();
    assert_int_equal(world.read_count, 1);
    read_returns(0, true);
    assert_false(world.open);
    while (world.read_count > 0) {
        read_returns(0, true); /* one that nobody may have asked for */
    }
    assert_int_equal(world.written_after_end, 0);
    assert_int_equal(world.asked, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_slow_client_is_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(news_during_a_read_lead_to_one_more, begin, end),
        cmocka_unit_test_setup_teardown(a_timer_during_a_read_asks_for_none, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
