/* follow.c - see follow.h. Each piece of output has a number. After a lost connection the next
 * stream begins behind the last piece that was written completely.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/follow.h"

#include "base/base64.h"
#include "cli/api.h"
#include "cli/item.h"
#include "cli/log_filter.h"
#include "io/http_client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_MS = 60000,
    AGAIN_MS = 200,
    EXIT_CODE_MAX = 255,
    OUT_BYTES_MAX = 1 << 28,
    SIGNAL_BASE = 128,
    STATUS_SERVER_FAILED = 500,
    FOLLOW_RIDE_MS = 24 * 60 * 60 * 1000,
};

struct follow {
    struct cli *cli;
    const struct follow_options *options;
    struct arena arena; /* holds one line */
    uint64_t after;
    bool progressed; /* a piece came since the last connection was made */
    struct follow_end end;
    struct error *e;
    enum err r;
};

static void write_all(int fd, struct str data)
{
    size_t done = 0;
    while (done < data.len) {
        ssize_t n = write(fd, data.p + done, data.len - done);
        if (n < 0 && errno != EINTR) {
            _exit(errno == EPIPE ? EXIT_OK : EXIT_FAILED);
        }
        done += n > 0 ? (size_t)n : 0;
    }
}

/* Writes output of one source with the prefix of its instance, made inert for a terminal. */
static void output_write(const struct follow_options *options, const struct log_source *source,
                         struct str bytes)
{
    struct buf out;
    buf_init(&out, OUT_BYTES_MAX);
    log_lines_add(options->lines, source->instance, source->error, bytes, &out);
    write_all(source->error ? STDERR_FILENO : STDOUT_FILENO,
              (struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
}

static void piece_write(struct follow *follow, const struct doc *doc, struct str line)
{
    if (follow->options->before_output != NULL) {
        follow->options->before_output(follow->options->ctx);
    }
    if (follow->options->json) {
        context_out(line);
        context_out_text("\n");
        return;
    }
    const struct doc *text = item_at(doc, "data");
    const struct doc *coded = item_at(doc, "base64");
    struct str bytes = {0};
    if (text != NULL) {
        bytes = text->text;
    } else if (coded == NULL || !base64_decode(&follow->arena, coded->text, &bytes)) {
        return;
    }
    const struct log_source source = {.instance = (uint64_t)item_number(doc, "instance", 0),
                                      .attempt = (uint64_t)item_number(doc, "attempt", 0),
                                      .error = strcmp(item_text(doc, "stream"), "stderr") == 0};
    if (follow->options->filter == NULL) {
        output_write(follow->options, &source, bytes);
        return;
    }
    struct buf whole;
    buf_init(&whole, OUT_BYTES_MAX);
    log_filter_add(follow->options->filter, source, item_text(doc, "at"), bytes, &whole);
    output_write(follow->options, &source, (struct str){.p = buf_text(&whole), .len = whole.len});
    buf_done(&whole);
}

/* Writes the lines that never ended. */
static void rest_write(const struct follow_options *options)
{
    struct log_source source;
    struct buf whole;
    buf_init(&whole, OUT_BYTES_MAX);
    while (options->filter != NULL && log_filter_end(options->filter, &source, &whole)) {
        output_write(options, &source, (struct str){.p = buf_text(&whole), .len = whole.len});
        buf_clear(&whole);
    }
    buf_done(&whole);
}

void follow_lines_init(const struct cli *cli, bool several, struct log_lines *ret)
{
    const bool raw = args_has(&cli->args, "raw");
    *ret = (struct log_lines){
        .prefix = several && !args_has(&cli->args, "no-prefix"),
        .colour = cli->colour,
        .inert = {cli->out_tty && !raw, cli->err_tty && !raw},
    };
}

static bool on_line(void *ctx, struct str line)
{
    struct follow *follow = ctx;
    follow->progressed = true;
    if (line.len == 0) {
        return true;
    }
    arena_clear(&follow->arena);
    struct doc *doc;
    follow->r = doc_json_parse(&follow->arena, line, &doc, follow->e);
    if (follow->r != ERR_OK) {
        follow->r = fail_in(follow->e, "the server's log stream");
        return false;
    }
    if (doc_get(doc, "error") != NULL) { /* the server cannot read on; what came is not all */
        follow->r = api_refusal(STATUS_SERVER_FAILED, line, follow->e);
        return false;
    }
    if (item_true(doc, "end")) {
        follow->end.ended = true;
        (void)str_copy(follow->end.state, sizeof follow->end.state, item_text(doc, "state"));
        follow->end.code = item_number(doc, "exit_code", -1);
        if (follow->options->json) {
            context_out(line);
            context_out_text("\n");
        }
        return false;
    }
    piece_write(follow, doc, line);
    follow->after = (uint64_t)item_number(doc, "n", (int64_t)follow->after);
    return follow->options->stop == NULL || *follow->options->stop == 0;
}

static bool stopped(const struct follow *follow)
{
    return follow->options->stop != NULL && *follow->options->stop != 0;
}

/* Reads one connection. *ret_again: the connection broke, and there may be more output. */
static enum err stream_once(struct follow *follow, int64_t retry_ms, bool *ret_again)
{
    struct cli *cli = follow->cli;
    const struct follow_options *options = follow->options;
    char path[256];
    (void)snprintf(path, sizeof path, "/api/v1/tasks/%llu/logs?follow=%s&after=%llu%s",
                   (unsigned long long)options->task, options->follow ? "true" : "false",
                   (unsigned long long)follow->after, options->query);
    struct http_stream_call call = {
        .call = {.method = "GET", .path = path, .retry_ms = retry_ms},
        .idle_ms = IDLE_MS,
        .on_line = on_line,
        .ctx = follow,
        .stop = options->stop,
    };
    struct http_reply reply = {0};
    struct arena arena;
    arena_init(&arena);
    enum err r = http_client_stream(cli->client, &call, &arena, &reply, follow->e);
    *ret_again = options->follow && !follow->end.ended && !stopped(follow);
    if (follow->r != ERR_OK) {
        r = follow->r;
        *ret_again = false;
    } else if (r == ERR_OK && reply.status != 0 && reply.status != 200) {
        r = api_refusal(reply.status, reply.body, follow->e);
        *ret_again = *ret_again && r == ERR_BUSY;
    } else if (r == ERR_OK && !options->follow) {
        *ret_again = false;
    }
    arena_done(&arena);
    return r;
}

enum err follow_run(struct cli *cli, const struct follow_options *options, struct follow_end *ret,
                    struct error *e)
{
    enum err r = api_open(cli, e);
    if (r != ERR_OK) {
        return r;
    }
    /* A task goes on without the server, so whoever follows it goes on waiting. */
    int64_t ride_ms =
        args_duration(&cli->args, "retry", options->follow ? FOLLOW_RIDE_MS : API_RIDE_MS);
    struct follow follow = {
        .cli = cli, .options = options, .after = options->after, .e = e, .end = {.code = -1}};
    arena_init(&follow.arena);
    bool again = true;
    int64_t retry_ms = options->follow ? ride_ms : args_duration(&cli->args, "retry", 0);
    while (again) {
        follow.progressed = false;
        r = stream_once(&follow, retry_ms, &again);
        if (again && r == ERR_UNREACHABLE) {
            r = api_await(cli, ride_ms, options->stop, e);
            again = r == ERR_OK;
        } else if (again && !follow.progressed) {
            struct timespec wait = {.tv_nsec = AGAIN_MS * 1000000L};
            (void)nanosleep(&wait, NULL);
        }
    }
    arena_done(&follow.arena);
    rest_write(options);
    bool well = follow.end.ended || stopped(&follow) || r == ERR_OK;
    if (!well) {
        return r;
    }
    *ret = follow.end;
    ret->after = follow.after;
    return ERR_OK;
}

int follow_exit(const struct follow_end *end)
{
    if (end->code > 0 && end->code <= EXIT_CODE_MAX) {
        return (int)end->code;
    }
    if (strcmp(end->state, "killed") == 0) {
        return SIGNAL_BASE + SIGTERM; /* as if its program had run and been killed */
    }
    return strcmp(end->state, "completed") == 0 ? EXIT_OK : EXIT_WEIR_FAILED;
}
