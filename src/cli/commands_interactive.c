/* commands_interactive.c - the commands with which a person works inside a task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/flags.h"

static const struct flag flags_exec[] = {
    {"tty", 't', FLAG_BOOL, NULL, "with a terminal (the default when this is one)", COMPLETE_NONE,
     NULL},
    {"no-tty", 'T', FLAG_BOOL, NULL, "without a terminal", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_shell[] = {
    {"detach", 'd', FLAG_BOOL, NULL, "print the task's id and do not attach", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_open[] = {
    {"by-name", 0, FLAG_BOOL, NULL, "to the service of this project and name, whatever its number",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_notebook[] = {
    {"detach", 'd', FLAG_BOOL, NULL, "print the task's id and do not wait", COMPLETE_NONE, NULL},
    {"idle", 0, FLAG_DURATION, "D", "end after so long without work or a reader (default: 1h)",
     COMPLETE_NONE, NULL},
    {0},
};

#define SHELL_MORE                                                                                 \
    "The shell is a task: it waits for its resources like any other, and `weir task kill` ends "   \
    "it.\n"                                                                                        \
    "Its terminal stays when you leave: `~.` at the beginning of a line detaches, and\n"           \
    "`weir shell attach TASK` comes back, also from another machine. The exit code is that of "    \
    "the\n"                                                                                        \
    "shell. Without a command the shell is bash, else sh."

const struct command commands_interactive[] = {
    {.name = "shell",
     .args = "[flags] [--] [CMD…]",
     .help = "a terminal on a node, as a task",
     .more = SHELL_MORE,
     .examples = "weir shell\nweir shell --gpus 1 --time 2h\nweir shell --pool a100 -- python3",
     .groups = {flags_shell, flags_asks, flags_spread, flags_task, flags_dry_run},
     .takes_rest = true,
     .run = cmd_shell_start},
    {.name = "shell start",
     .args = "[flags] [--] [CMD…]",
     .help = "the same as `weir shell`",
     .more = SHELL_MORE,
     .examples = "weir shell start --gpus 1\nweir shell start --detach",
     .groups = {flags_shell, flags_asks, flags_spread, flags_task, flags_dry_run},
     .takes_rest = true,
     .run = cmd_shell_start},
    {.name = "shell attach",
     .args = "TASK",
     .help = "come back to the terminal of a shell task",
     .more =
         "Several people may be attached at once; all see the same terminal, and it has the size\n"
         "of the terminal that was attached or resized last.",
     .examples = "weir shell attach 12",
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_TASKS,
     .run = cmd_shell_attach},
    {.name = "notebook start",
     .args = "[flags]",
     .help = "Jupyter on a node, as a task; prints a link",
     .more =
         "Jupyter comes from the environment of the task: from .venv in its directory, or from\n"
         "its PATH (--env PATH=…). The link works once, within two minutes, and lets one browser\n"
         "in for twelve hours; `weir task open TASK` makes another. Nobody else gets in.",
     .examples = "weir notebook start --gpus 1\n"
                 "weir notebook start --env PATH=$HOME/env/bin:/usr/bin:/bin --idle 4h",
     .groups = {flags_notebook, flags_asks, flags_spread, flags_task, flags_dry_run},
     .run = cmd_notebook_start},
    {.name = "tensorboard start",
     .args = "DIR",
     .help = "TensorBoard for a directory, as a task; prints a link",
     .more =
         "TensorBoard comes from the environment of the task, as Jupyter does: see `weir notebook\n"
         "start --help`. DIR is a path on the node.",
     .examples = "weir tensorboard start /data/runs --slots 0",
     .groups = {flags_shell, flags_asks, flags_spread, flags_task, flags_dry_run},
     .args_min = 1,
     .args_max = 1,
     .run = cmd_notebook_tensorboard},
    {.name = "task open",
     .args = "TASK",
     .help = "a link to the port of a task, for a browser",
     .more =
         "The task must listen on 127.0.0.1:$WEIR_PORT. The link works once, within two minutes.\n"
         "Programs may use http://SERVER:PORT/proxy/TASK/ with their token instead; of a service\n"
         "also /proxy/PROJECT/NAME/, which stays when the service is submitted again.",
     .examples = "weir task open 12\nweir task open 12 --by-name",
     .groups = {flags_open},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_TASKS,
     .run = cmd_notebook_open},
    {.name = "task exec",
     .args = "TASK[.INSTANCE] [--] CMD…",
     .help = "run a command inside a running task, exit with its code",
     .more =
         "The command runs on the task's node as the task's user, in its directory, with its\n"
         "environment and within its limits, and ends with it. Standard input, output and error\n"
         "are those of this command.",
     .examples = "weir task exec 12 -- nvidia-smi\nweir task exec 12.3 -- cat progress.txt\n"
                 "weir task exec 12 -- bash",
     .groups = {flags_exec},
     .args_min = 1,
     .args_max = 1,
     .takes_rest = true,
     .complete = COMPLETE_TASKS,
     .run = cmd_shell_exec},
    {0},
};
