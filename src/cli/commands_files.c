/* commands_files.c - the command table: the files of tasks. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

static const struct flag flags_get[] = {
    {"output", 'o', FLAG_TEXT, "DIR", "write the files into this directory (default: here)",
     COMPLETE_DIRS, NULL},
    {0},
};

const struct command commands_files[] = {
    {.name = "task files",
     .args = "TASK[.INSTANCE] [PATH]",
     .help = "list the directory of a task on its node",
     .more =
         "The directory is there while the task runs, and after its end until the node's clean-up\n"
         "takes it. Without an instance: instance 0. Links are shown and never followed.",
     .examples = "weir task files 12\nweir task files 12.3 out",
     .groups = {flags_json},
     .args_min = 1,
     .args_max = 2,
     .complete = COMPLETE_TASKS,
     .run = cmd_files_list},
    {.name = "task get",
     .args = "TASK[.INSTANCE] PATH…",
     .help = "fetch files and directories from the directory of a task",
     .more = "A directory is fetched with all files below it. `.` fetches everything. Links, pipes "
             "and\n"
             "devices are left out.",
     .examples = "weir task get 12 model.bin\nweir task get 12.3 out logs -o results",
     .groups = {flags_get},
     .args_min = 2,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TASKS,
     .run = cmd_files_get},
    {0},
};
