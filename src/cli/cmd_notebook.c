/* cmd_notebook.c - `weir notebook start`, `weir tensorboard start`: Jupyter and TensorBoard as tasks,
 * reached through the server. `weir task open`: a link to the port of any task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/ids.h"
#include "cli/item.h"
#include "cli/page_scripts.h"
#include "cli/task_run.h"
#include "io/http_client.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    READY_MS = 120 * 1000, /* Jupyter takes seconds to start, more on a slow disk */
    READY_LOOK_US = 250 * 1000,
    READY_CALL_MS = 10 * 1000,
    IDLE_MS_DEFAULT = 60 * 60 * 1000,
    SECRET_BYTES = 24,
};

/* Where the pages of tasks are: the server's own host, another port. */
static const char *page_url(struct cli *cli, int64_t port)
{
    const char *url = cli->login.url;
    const char *host = strstr(url, "://");
    if (host == NULL) {
        return arena_fmt(&cli->arena, "http://127.0.0.1:%lld", (long long)port);
    }
    host += 3;
    const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
    const size_t len = end != NULL ? (size_t)(end - host) + 1 : strcspn(host, ":/");
    return arena_fmt(&cli->arena, "%.*s%.*s:%lld", (int)(host - url), url, (int)len, host,
                     (long long)port);
}

static enum err link_ask(struct cli *cli, uint64_t task, bool by_name, struct api_reply *ret,
                         struct error *e)
{
    return api_change(cli, &cli->arena, "POST",
                      arena_fmt(&cli->arena, "/tasks/%llu/open%s", (unsigned long long)task,
                                by_name ? "?by_name=true" : ""),
                      (struct str){0}, ret, e);
}

/* Prints a link to a page of the task. `page` is "" or "lab?token=…". */
static enum err link_print(struct cli *cli, uint64_t task, bool by_name, const char *page,
                           struct error *e)
{
    struct api_reply reply;
    enum err r = link_ask(cli, task, by_name, &reply, e);
    if (r == ERR_OK) {
        context_out_text(
            arena_fmt(&cli->arena, "%s%s%s%s%s\n", page_url(cli, item_number(reply.doc, "port", 0)),
                      item_text(reply.doc, "path"), page, strchr(page, '?') != NULL ? "&" : "?",
                      item_text(reply.doc, "parameter")));
    }
    return r;
}

/* Waits until the program in the task answers. ERR_CONFLICT: the task has ended. */
static enum err ready_wait(struct cli *cli, uint64_t task, const char *path, struct error *e)
{
    struct api_reply reply;
    enum err r = task_run_wait(cli, task, e);
    r = r == ERR_OK ? link_ask(cli, task, false, &reply, e) : r;
    if (r == ERR_NOT_FOUND) {
        struct error
            ended; /* the task has just ended, which says more than that there is no page */
        if (task_run_wait(cli, task, &ended) != ERR_OK) {
            *e = ended;
            r = ended.code;
        }
    }
    if (r != ERR_OK) {
        return r;
    }
    const struct http_trust trust = {.ca = cli->login.ca, .fingerprint = cli->login.fingerprint};
    struct http_client *client =
        http_client_new(page_url(cli, item_number(reply.doc, "port", 0)), cli->login.token);
    http_client_trust(client, &trust);
    const struct http_call call = {
        .method = "GET",
        .path = arena_fmt(&cli->arena, "%s%s", item_text(reply.doc, "path"), path),
        .timeout_ms = READY_CALL_MS};
    unsigned status = 502;
    for (int i = 0; r == ERR_OK && status >= 500 && i < READY_MS * 1000 / READY_LOOK_US; i++) {
        struct http_reply answer;
        struct error ignored;
        status = http_client_call(client, &call, &cli->arena, &answer, &ignored) == ERR_OK
                     ? answer.status
                     : 502;
        if (status >= 500) {
            (void)usleep(READY_LOOK_US);
            r = task_run_wait(cli, task, e);
        }
    }
    http_client_free(client);
    return r == ERR_OK && status >= 500
               ? fail(e, ERR_TIMEOUT, "task %llu runs, and nothing answers on its port",
                      (unsigned long long)task)
               : r;
}

static void secret_make(char *out)
{
    unsigned char random[SECRET_BYTES];
    must(getrandom(random, sizeof random, 0) == (ssize_t)sizeof random);
    str_hex(out, random, sizeof random);
}

static const char *script_text(struct cli *cli, const unsigned char *bytes, size_t len)
{
    return arena_strn(&cli->arena, (const char *)bytes, len);
}

static int page_start(struct cli *cli, const struct task_run_kind *kind, const char *path,
                      const char *page)
{
    struct error e;
    uint64_t task;
    int code = EXIT_OK;
    enum err r = task_run_submit(cli, kind, &task, &code, &e);
    if (r == ERR_OK && task == 0) {
        return code; /* a dry run */
    }
    if (r == ERR_OK && args_has(&cli->args, "detach")) {
        context_out_text(arena_fmt(&cli->arena, "%llu\n", (unsigned long long)task));
        return EXIT_OK;
    }
    if (r == ERR_OK) {
        context_say("weir: task %llu starts %s", (unsigned long long)task, kind->name);
        r = ready_wait(cli, task, path, &e);
    }
    if (r == ERR_OK) {
        context_say("weir: open this link within two minutes; it works once. `weir task kill %llu` "
                    "ends the task",
                    (unsigned long long)task);
        r = link_print(cli, task, false, page, &e);
    }
    return r == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}

int cmd_notebook_start(struct cli *cli)
{
    const char *const argv[] = {"sh", "-c", script_text(cli, script_jupyter, script_jupyter_len),
                                NULL};
    char secret[2 * SECRET_BYTES + 1];
    secret_make(secret);
    const int64_t idle_ms = args_duration(&cli->args, "idle", IDLE_MS_DEFAULT);
    const char *const env[] = {
        arena_fmt(&cli->arena, "JUPYTER_TOKEN=%s", secret),
        arena_fmt(&cli->arena, "WEIR_IDLE_S=%lld", (long long)(idle_ms / 1000)), NULL};
    const struct task_run_kind kind = {
        .kind = "notebook", .name = "notebook", .argv = argv, .env = env};
    return page_start(cli, &kind, "api", arena_fmt(&cli->arena, "?token=%s", secret));
}

int cmd_notebook_tensorboard(struct cli *cli)
{
    const char *const argv[] = {"sh", "-c",
                                script_text(cli, script_tensorboard, script_tensorboard_len), NULL};
    const char *const env[] = {arena_fmt(&cli->arena, "WEIR_LOGDIR=%s", cli->args.words[0]), NULL};
    const struct task_run_kind kind = {
        .kind = "tensorboard", .name = "tensorboard", .argv = argv, .env = env};
    return page_start(cli, &kind, "", "");
}

int cmd_notebook_open(struct cli *cli)
{
    struct error e;
    struct attempt_name name;
    enum err r = ids_name_parse(cli->args.words[0], &name, &e);
    r = r == ERR_OK ? api_open(cli, &e) : r;
    r = r == ERR_OK ? link_print(cli, name.task, args_has(&cli->args, "by-name"), "", &e) : r;
    return r == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}
