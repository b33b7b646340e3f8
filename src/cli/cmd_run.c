/* cmd_run.c - `weir run`: submits a task, follows its output and exits with its exit status.
 * Ctrl-C on a terminal asks what to do. Without a terminal, and on SIGTERM, the command ends and
 * the task goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/follow.h"
#include "cli/task_args.h"
#include "cli/task_text.h"
#include "cli/item.h"
#include "cli/wait_line.h"

#include "io/http_client.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { TASK_JSON_MAX = 8 << 20, SIGNAL_BASE = 128 };

/* The only variable that the signal handler writes. */
static volatile int signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
}

static void signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

/* Writes the task of the command line as JSON. */
static enum err task_write(struct cli *cli, struct buf *body, struct error *e)
{
    struct task_args task;
    enum err r = task_args_read(cli, &task, e);
    r = r != ERR_OK ? r : api_open(cli, e);
    if (r != ERR_OK) {
        return r;
    }
    task_args_workdir(cli, &task);
    r = task_args_upload(cli, &task, e);
    if (r != ERR_OK) {
        return r;
    }
    (void)task_args_json(&task, NULL, body);
    return body->full ? fail(e, ERR_LIMIT, "the task is larger than %d bytes", TASK_JSON_MAX)
                      : ERR_OK;
}

static enum err run_submit(struct cli *cli, uint64_t *ret_task, struct api_reply *ret_reply,
                           struct error *e)
{
    struct buf body;
    buf_init(&body, TASK_JSON_MAX);
    enum err r = task_write(cli, &body, e);
    r = r != ERR_OK ? r
                    : api_change(cli, &cli->arena, "POST", task_args_path(cli),
                                 (struct str){.p = body.data, .len = body.len}, ret_reply, e);
    buf_done(&body);
    if (r != ERR_OK) {
        return r;
    }
    const struct doc *tasks = item_at(ret_reply->doc, "tasks");
    int64_t id = tasks == NULL ? 0 : item_number(tasks->first, "id", 0);
    if (id <= 0) {
        return fail(e, ERR_INTERNAL, "the server's answer names no task");
    }
    *ret_task = (uint64_t)id;
    task_args_spread_say(cli, tasks);
    return ERR_OK;
}

/* --dry-run: says what would become of the task. */
static int dry_run(struct cli *cli)
{
    struct error e;
    struct buf body;
    int code = EXIT_OK;
    buf_init(&body, TASK_JSON_MAX);
    enum err r = task_write(cli, &body, &e);
    const struct cost_call call = {
        "POST", task_args_path(cli), {.p = body.data, .len = body.len}, NULL};
    r = r != ERR_OK ? r : cost_dry(cli, &call, &code, &e);
    buf_done(&body);
    return r != ERR_OK ? context_fail_run(cli, &e) : code;
}

enum choice { CHOICE_DETACH, CHOICE_KILL, CHOICE_GO_ON };

/* Reads "k", " K " or "kill": the letter of a choice, or its word. */
static bool choice_read(const char *line, enum choice *ret)
{
    static const char *const words[] = {
        [CHOICE_DETACH] = "detach", [CHOICE_KILL] = "kill", [CHOICE_GO_ON] = "continue"};
    struct str word = str_trim(str_of(line));
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        bool letter = word.len == 1 && tolower((unsigned char)word.p[0]) == words[i][0];
        if (letter || str_is(word, words[i])) {
            *ret = (enum choice)i;
            return true;
        }
    }
    return false;
}

/* Reads one line from the terminal; false: end of input, or a signal. Signals are blocked except
 * inside ppoll(), which opens `open_mask`, so that none is missed between the question and the
 * wait. */
static bool line_read(int tty, const sigset_t *open_mask, char *line, size_t size)
{
    struct pollfd wait = {.fd = tty, .events = POLLIN};
    int ready = -1;
    errno = EINTR; /* starts the loop; a later EINTR is a stop and continue, which means nothing */
    while (ready < 0 && errno == EINTR && signal_seen == 0) {
        ready = ppoll(&wait, 1, NULL, open_mask);
    }
    if (ready != 1) {
        return false;
    }
    const ssize_t got = read(tty, line, size - 1);
    line[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Asks on the terminal until the answer is valid. A second Ctrl-C or the end of input detaches. */
static enum choice ask(uint64_t task)
{
    const int tty = open("/dev/tty", O_RDONLY | O_CLOEXEC);
    enum choice choice = CHOICE_DETACH;
    char line[64] = "";
    bool answered = tty < 0;
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    if (tty >= 0) {
        (void)tcflush(tty, TCIFLUSH); /* what was typed before the question does not answer it */
    }
    (void)fprintf(stderr, "\nweir: task %llu goes on.", (unsigned long long)task);
    while (!answered) {
        (void)fputs(" [d]etach, [k]ill it, or [c]ontinue following? ", stderr);
        if (!line_read(tty, &before, line, sizeof line)) {
            (void)fputs("\n", stderr);
            break;
        }
        answered = choice_read(line, &choice);
        if (!answered) {
            (void)fputs("weir: answer d, k or c.", stderr);
        }
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (tty >= 0) {
        (void)close(tty);
    }
    return choice;
}

static int detach(uint64_t task, int number)
{
    context_say(
        "weir: task %llu goes on; `weir task logs -f %llu` follows it, `weir task kill %llu` "
        "ends it",
        (unsigned long long)task, (unsigned long long)task, (unsigned long long)task);
    return number == 0 ? EXIT_OK : SIGNAL_BASE + number;
}

static enum err kill_task(struct cli *cli, uint64_t task, struct error *e)
{
    struct api_reply reply;
    return api_change(cli, &cli->arena, "POST",
                      arena_fmt(&cli->arena, "/tasks/%llu/kill", (unsigned long long)task),
                      (struct str){0}, &reply, e);
}

/* Says what happened to a task that did not simply exit. */
static void end_say(struct cli *cli, uint64_t task, const struct follow_end *end)
{
    struct api_reply reply;
    if (strcmp(end->state, "completed") == 0 ||
        api_get_patient(cli, &cli->arena,
                        arena_fmt(&cli->arena, "/tasks/%llu", (unsigned long long)task), &reply,
                        NULL) != ERR_OK) {
        return;
    }
    const char *cause = item_text(reply.doc, "cause");
    const char *why = item_text(reply.doc, "reason.message");
    why = why[0] == '\0' ? task_text_message(reply.doc) : why;
    bool by_itself = strcmp(cause, "exit") == 0 || cause[0] == '\0';
    /* The reason why a program could not be started was already printed as its standard error. */
    bool told = strcmp(cause, "spawn-failed") == 0 && !args_has(&cli->args, "json");
    if (!told && (!by_itself || end->code < 0)) {
        bool same = strcmp(cause, end->state) == 0 || cause[0] == '\0';
        context_say("weir: task %llu %s%s%s%s%s%s", (unsigned long long)task, end->state,
                    same ? "" : " (", same ? "" : cause, same ? "" : ")",
                    why[0] == '\0' ? "" : ": ", why);
    }
}

/* What the callback before the first output needs. */
struct watch_start {
    const struct login *login;
    uint64_t task;
    struct wait_line *line;
    bool looked;
};

/* Says once, before the first output or at the end, that the task runs in another directory than
 * this one. Uses a connection of its own, because the other connection carries the output. */
static void workdir_say(struct watch_start *start)
{
    enum { LOOK_MS = 5000, AGAIN_MS = 200 };
    if (start->looked || !login_is_local(start->login->url)) {
        return;
    }
    start->looked = true;
    struct http_client *client = login_client(start->login);
    struct arena arena;
    arena_init(&arena);
    struct http_call call = {
        .method = "GET",
        .path = arena_fmt(&arena, "/api/v1/tasks/%llu", (unsigned long long)start->task),
        .timeout_ms = LOOK_MS,
        .retry_ms = AGAIN_MS};
    struct http_reply reply;
    struct doc *doc = NULL;
    if (http_client_call(client, &call, &arena, &reply, NULL) == ERR_OK && reply.status == 200 &&
        doc_json_parse(&arena, reply.body, &doc, NULL) == ERR_OK && task_text_workdir_missed(doc)) {
        context_say(
            "weir: note: the task's user cannot enter '%s', so it runs in its job directory",
            item_text(doc, "workdir"));
    }
    arena_done(&arena);
    http_client_free(client);
}

static void before_output(void *ctx)
{
    struct watch_start *start = ctx;
    wait_line_clear(start->line);
    workdir_say(start);
}

/* What one call of follow_once() leaves to the next. */
struct followed {
    uint64_t task;
    struct log_lines lines;
    int64_t evicted_ms; /* the last eviction that was said */
};

/* Follows the output until the end of the task or a signal. Begins where `end` says that an
 * earlier call stopped. */
static enum err follow_once(struct cli *cli, struct followed *run, struct follow_end *end,
                            struct error *e)
{
    struct watch_start start = {
        .login = &cli->login,
        .task = run->task,
        .line = wait_line_start(&cli->login, run->task, &run->evicted_ms),
    };
    struct follow_options options = {
        .task = run->task,
        .query = "",
        .after = end->after,
        .follow = true,
        .json = args_has(&cli->args, "json"),
        .lines = &run->lines,
        .stop = &signal_seen,
        .before_output = before_output,
        .ctx = &start,
    };
    enum err r = follow_run(cli, &options, end, e);
    wait_line_free(start.line);
    if (r == ERR_OK && end->ended) {
        workdir_say(&start);
    }
    return r;
}

static int run_follow(struct cli *cli, uint64_t task, int64_t instances)
{
    struct error e;
    struct followed run = {.task = task};
    follow_lines_init(cli, instances > 1, &run.lines);
    struct follow_end end = {.code = -1};
    for (;;) {
        enum err r = follow_once(cli, &run, &end, &e);
        if (r != ERR_OK) {
            (void)context_fail(cli, &e);
            context_say("weir: task %llu was submitted; it goes on without this command",
                        (unsigned long long)task);
            return EXIT_WEIR_FAILED;
        }
        if (end.ended) {
            end_say(cli, task, &end);
            return follow_exit(&end);
        }
        int number = signal_seen;
        if (number != SIGINT || !cli->err_tty) {
            return detach(task, number);
        }
        signal_seen = 0;
        switch (ask(task)) {
        case CHOICE_DETACH:
            return detach(task, 0);
        case CHOICE_KILL:
            if (kill_task(cli, task, &e) != ERR_OK) {
                return context_fail_run(cli, &e);
            }
            break;
        case CHOICE_GO_ON:
            break;
        }
    }
}

int cmd_run(struct cli *cli)
{
    struct error e;
    uint64_t task = 0;
    struct api_reply reply;
    if (cli->args.rest_count == 0) {
        (void)fail(&e, ERR_USAGE, "no command to run: weir run [flags] -- CMD…");
        return context_fail(cli, &e);
    }
    if (cost_is_dry(cli)) {
        return dry_run(cli);
    }
    if (!args_has(&cli->args, "detach")) {
        signals_catch();
    }
    enum err r = run_submit(cli, &task, &reply, &e);
    if (r != ERR_OK) {
        return context_fail_run(cli, &e);
    }
    if (args_has(&cli->args, "detach")) {
        context_out_text(arena_fmt(&cli->arena, "%llu\n", (unsigned long long)task));
        return EXIT_OK;
    }
    cli->watched = true;
    const struct doc *tasks = item_at(reply.doc, "tasks");
    return run_follow(cli, task, item_number(tasks->first, "instances", 1));
}
