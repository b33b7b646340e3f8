/* cmd_shell.c - `weir task exec`: a program inside a running task. `weir shell`: a terminal on a node, as
 * a task. SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/attach.h"
#include "cli/cmd.h"
#include "cli/ids.h"
#include "cli/item.h"
#include "cli/task_args.h"
#include "cli/task_run.h"
#include "cli/wait_line.h"

#include <string.h>
#include <unistd.h>

static bool on_terminal(void)
{
    return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

static int session(struct cli *cli, const struct attach_options *options)
{
    struct attach_end end;
    struct error e;
    if (attach_run(cli, options, &end, &e) != ERR_OK) {
        return context_fail_run(cli, &e);
    }
    if (end.detached) {
        context_say("\nweir: detached; task %llu goes on: `weir shell attach %llu`",
                    (unsigned long long)options->task, (unsigned long long)options->task);
        return EXIT_OK;
    }
    return end.code >= 0 ? end.code : EXIT_WEIR_FAILED;
}

int cmd_shell_exec(struct cli *cli)
{
    struct error e;
    struct attempt_name name;
    enum err r = cli->args.word_count != 1
                     ? fail(&e, ERR_USAGE, "which task? weir task exec TASK -- CMD…")
                     : ids_name_parse(cli->args.words[0], &name, &e);
    if (r == ERR_OK && cli->args.rest_count == 0) {
        r = fail(&e, ERR_USAGE, "no command to run: weir task exec TASK -- CMD…");
    }
    r = r == ERR_OK ? api_open(cli, &e) : r;
    if (r != ERR_OK) {
        return context_fail_run(cli, &e);
    }
    const bool tty =
        args_has(&cli->args, "tty") || (on_terminal() && !args_has(&cli->args, "no-tty"));
    const struct attach_options options = {.task = name.task,
                                           .instance = name.instance,
                                           .argv = cli->args.rest,
                                           .argc = (size_t)cli->args.rest_count,
                                           .terminal = tty};
    return session(cli, &options);
}

static int attach_to(struct cli *cli, uint64_t task)
{
    struct error e;
    enum err r = task_run_wait(cli, task, &e);
    if (r != ERR_OK) {
        return context_fail_run(cli, &e);
    }
    const struct attach_options options = {.task = task, .instance = -1, .terminal = on_terminal()};
    return session(cli, &options);
}

int cmd_shell_start(struct cli *cli)
{
    static const char *const fallback[] = {
        "sh", "-c", "command -v bash >/dev/null && exec bash || exec sh", NULL};
    struct error e;
    uint64_t task;
    const struct task_run_kind kind = {.kind = "shell", .name = "shell", .argv = fallback};
    int code;
    if (task_run_submit(cli, &kind, &task, &code, &e) != ERR_OK) {
        return context_fail_run(cli, &e);
    }
    if (task == 0) {
        return code; /* a dry run */
    }
    if (args_has(&cli->args, "detach")) {
        context_out_text(arena_fmt(&cli->arena, "%llu\n", (unsigned long long)task));
        return EXIT_OK;
    }
    context_say("weir: task %llu; `~.` at the beginning of a line leaves it running",
                (unsigned long long)task);
    return attach_to(cli, task);
}

int cmd_shell_attach(struct cli *cli)
{
    struct error e;
    struct attempt_name name;
    enum err r = ids_name_parse(cli->args.words[0], &name, &e);
    r = r == ERR_OK ? api_open(cli, &e) : r;
    return r == ERR_OK ? attach_to(cli, name.task) : context_fail_run(cli, &e);
}
