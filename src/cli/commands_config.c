/* commands_config.c - the command table: the server's file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

static const struct flag flags_config_check[] = {
    {"json", 0, FLAG_BOOL, NULL, "each problem with line, column and path, as JSON", COMPLETE_NONE,
     NULL},
    {0},
};

static const struct flag flags_prune[] = {
    {"prune", 0, FLAG_BOOL, NULL, "delete what the file does not name", COMPLETE_NONE, NULL},
    {0},
};

const struct command commands_config[] = {
    {.name = "config check",
     .args = "FILE",
     .help = "check a server file",
     .examples = "weir config check /etc/weir/server.yaml\nweir config check --json server.yaml",
     .groups = {flags_config_check},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_FILES,
     .run = cmd_data_config_check},
    {.name = "config init",
     .args = "cpu|gpu|cpu+gpu",
     .help = "print a server file to start from",
     .examples = "weir config init cpu+gpu > server.yaml",
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_WORDS,
     .choices = "cpu,gpu,cpu+gpu",
     .run = cmd_data_config_init},
    {.name = "config diff",
     .args = "FILE",
     .help = "what applying a server file would change, and which tasks it would stop and start",
     .more =
         "Compares pools, defaults, departments, projects and quotas of the file with those of "
         "the\n"
         "server. + is made, ~ changed, - deleted, ! refused. What the file does not name is told\n"
         "and stays, unless --prune is given. Nothing is changed. Exit status 8: something would\n"
         "change; 5: the server would refuse something.",
     .examples =
         "weir config diff /etc/weir/server.yaml\nweir config diff server.yaml --prune --json",
     .groups = {flags_prune, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_FILES,
     .run = cmd_config_diff},
    {.name = "config apply",
     .args = "FILE",
     .help = "make pools, departments, projects and quotas as a server file says",
     .more = "Shows what `weir config diff` shows, and makes all changes or none. Asks where tasks "
             "would\n"
             "stop or objects would be deleted. The server reads its own file at the next start "
             "and on\n"
             "SIGHUP: keep that file the same.",
     .examples = "weir config apply server.yaml\nweir config apply server.yaml --prune --yes",
     .groups = {flags_prune, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_FILES,
     .run = cmd_config_apply},
    {.name = "config show",
     .args = "[flags]",
     .help = "the settings and objects of the server, and where each comes from",
     .more =
         "FROM is where a value comes from: default, file (the server's file), command line, or "
         "API for an\n"
         "object that a person or a program has made. Wants an administrator's token.",
     .examples = "weir config show\nweir config show --json",
     .groups = {flags_json},
     .run = cmd_config_show},
    {.name = "config import",
     .args = "determined FILE",
     .help = "print the pools of Determined's master configuration as a server file",
     .more =
         "Says what Determined would refuse, with line and column. Comments in the server file "
         "name\n"
         "the settings that Weir does not take over. Exit status 1: values have to be filled in "
         "before\n"
         "a server takes the file.",
     .examples = "weir config import determined /etc/determined/master.yaml > server.yaml",
     .args_min = 2,
     .args_max = 2,
     .complete = COMPLETE_FILES,
     .run = cmd_config_import},
    {0},
};
