/* commands_files.c - the command table: the files of tasks, and services that are replaced. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

static const struct flag flags_get[] = {
    {"output", 'o', FLAG_TEXT, "DIR", "write the files into this directory (default: here)",
     COMPLETE_DIRS, NULL},
    {0},
};

static const struct flag flags_update[] = {
    {"file", 'f', FLAG_TEXT, "FILE", "a task file (YAML or JSON) with the new service; - is stdin",
     COMPLETE_FILES, NULL},
    {"upload", 0, FLAG_TEXT, "DIR",
     "send this directory; each instance runs in its own copy (.weirignore leaves files out)",
     COMPLETE_DIRS, NULL},
    {"drain", 0, FLAG_DURATION, "D",
     "an old instance has so long to answer its last requests before it is told to stop (default "
     "2s)",
     COMPLETE_NONE, NULL},
    {"within", 0, FLAG_DURATION, "D",
     "the update stops if a new instance is not ready after this time (default 10m)", COMPLETE_NONE,
     NULL},
    {"old-first", 0, FLAG_BOOL, NULL,
     "end an old instance before its replacement starts, where there is no room for one more",
     COMPLETE_NONE, NULL},
    {"back", 0, FLAG_BOOL, NULL, "turn an update around: back to the old task", COMPLETE_NONE,
     NULL},
    {"resume", 0, FLAG_BOOL, NULL, "let an update go on that has stopped", COMPLETE_NONE, NULL},
    {0},
};

const struct command commands_files[] = {
    {.name = "task update",
     .args = "TASK [flags] [-- CMD…]",
     .help = "replace a running service by a new version, instance by instance",
     .more =
         "The new version is a task of its own, whose number is printed: the old service with the\n"
         "fields that flags and CMD change, or what a file says. Its instances start one by one;\n"
         "an old instance ends once a new one is healthy (or runs, without --health). The address\n"
         "of the service stays. If a new instance is not ready in time, the update stops and the\n"
         "old instances stay; --back goes back, --resume tries again.",
     .examples = "weir task update 12 --env VERSION=2\nweir task update 12 -- python serve2.py\n"
                 "weir task update 12 -f service.yaml --within 5m\nweir task update 12 --back",
     .groups = {flags_update, flags_asks, flags_task, flags_dry_run, flags_json},
     .args_min = 1,
     .args_max = 1,
     .takes_rest = true,
     .complete = COMPLETE_TASKS,
     .run = cmd_update},
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
