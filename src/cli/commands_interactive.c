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
     .groups = {flags_shell, flags_asks, flags_spread, flags_task},
     .takes_rest = true,
     .run = cmd_shell_start},
    {.name = "shell start",
     .args = "[flags] [--] [CMD…]",
     .help = "the same as `weir shell`",
     .more = SHELL_MORE,
     .examples = "weir shell start --gpus 1\nweir shell start --detach",
     .groups = {flags_shell, flags_asks, flags_spread, flags_task},
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
