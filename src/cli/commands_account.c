/* commands_account.c - the command table: departments, projects, quotas.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/cmd_object.h"
#include "cli/flags.h"

static const struct flag flags_department[] = {
    {"parent", 0, FLAG_TEXT, "D", "the department above it (empty: none)", COMPLETE_DEPARTMENTS,
     NULL},
    {0},
};

static const struct flag flags_project[] = {
    {"department", 0, FLAG_TEXT, "D", "the department it is in (default: default)",
     COMPLETE_DEPARTMENTS, NULL},
    {0},
};

static const struct flag flags_quota_list[] = {
    {"pool", 'p', FLAG_TEXT, "P", "only in this pool", COMPLETE_POOLS, NULL},
    {"project", 0, FLAG_TEXT, "P", "only this project's", COMPLETE_PROJECTS, NULL},
    {"department", 0, FLAG_TEXT, "D", "only this department's", COMPLETE_DEPARTMENTS, NULL},
    {"all", 'a', FLAG_BOOL, NULL, "also resources without any quota, and pools without nodes",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_quota_set[] = {
    {"pool", 'p', FLAG_TEXT, "P", "in this pool (default: default)", COMPLETE_POOLS, NULL},
    {"department", 0, FLAG_TEXT, "D", "of this department, not of a project", COMPLETE_DEPARTMENTS,
     NULL},
    {"limit", 0, FLAG_LIST, "'R=X'", "never more than this: gpu=20; gpu=unlimited", COMPLETE_NONE,
     NULL},
    {"weight", 0, FLAG_LIST, "N", "its part of the surplus (default 1); cpu=2 for another resource",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_usage[] = {
    {"by", 0, FLAG_TEXT, "WHAT", "one line for each of these (default: user)", COMPLETE_WORDS,
     "user,project,pool,node,kind,day"},
    {"since", 0, FLAG_TEXT, "7d",
     "from then on: a duration ago, a day or a time (default: 30 days)", COMPLETE_NONE, NULL},
    {"until", 0, FLAG_TEXT, "D", "up to then (default: now)", COMPLETE_NONE, NULL},
    {"pool", 'p', FLAG_TEXT, "P", "only in this pool", COMPLETE_POOLS, NULL},
    {"user", 'u', FLAG_TEXT, "U", "only this user's", COMPLETE_NONE, NULL},
    {"project", 0, FLAG_TEXT, "P", "only this project's", COMPLETE_PROJECTS, NULL},
    {"csv", 0, FLAG_BOOL, NULL, "comma-separated values, without the line of totals", COMPLETE_NONE,
     NULL},
    {"wide", 0, FLAG_BOOL, NULL, "all columns, nothing trimmed", COMPLETE_NONE, NULL},
    {0},
};

const struct command commands_account[] = {
    {CMD_OBJECT_LIST(cmd_account_project, project), .help = "list projects",
     .examples = "weir project list\nweir project list --json"},
    {CMD_OBJECT_SHOW(cmd_account_project, project, "PROJECT", COMPLETE_PROJECTS),
     .help = "everything about one project", .examples = "weir project show vision"},
    {CMD_OBJECT_CREATE(cmd_account_project, project, "PROJECT [flags]", flags_project,
                       flags_account),
     .help = "make a project", .examples = "weir project create vision --department ml"},
    {CMD_OBJECT_EDIT(cmd_account_project, project, "PROJECT", COMPLETE_PROJECTS, flags_project,
                     flags_account),
     .help = "change a project, or move it to another department",
     .examples = "weir project edit vision --department ml\n"
                 "weir project edit notebooks --idle-action none"},
    {CMD_OBJECT_DELETE(cmd_account_project, project, "PROJECT", COMPLETE_PROJECTS),
     .help = "delete a project that has no tasks", .examples = "weir project delete old --yes"},
    {CMD_OBJECT_LIST(cmd_account_department, department), .help = "list departments",
     .examples = "weir department list\nweir department list --json"},
    {CMD_OBJECT_SHOW(cmd_account_department, department, "DEPARTMENT", COMPLETE_DEPARTMENTS),
     .help = "everything about one department", .examples = "weir department show ml"},
    {CMD_OBJECT_CREATE(cmd_account_department, department, "DEPARTMENT [flags]", flags_department,
                       flags_account),
     .help = "make a department",
     .examples = "weir department create ml --title 'Machine learning'"},
    {CMD_OBJECT_EDIT(cmd_account_department, department, "DEPARTMENT", COMPLETE_DEPARTMENTS,
                     flags_department, flags_account),
     .help = "change a department, or move it below another",
     .examples = "weir department edit vision-lab --parent ml"},
    {CMD_OBJECT_DELETE(cmd_account_department, department, "DEPARTMENT", COMPLETE_DEPARTMENTS),
     .help = "delete a department that has no accounts below it",
     .examples = "weir department delete old --yes"},
    {.name = "quota list",
     .args = "[flags]",
     .help = "what each account is guaranteed, holds, borrows and waits for",
     .examples = "weir quota list\nweir quota list --pool v100 --watch\nweir quota list --at 1h",
     .groups = {flags_list, flags_quota_list, flags_at},
     .run = cmd_quota_list},
    {.name = "quota set",
     .args = "PROJECT|--department D RESOURCE=AMOUNT… [flags]",
     .help = "set the guarantee, limit and weight of an account in a pool",
     .more =
         "RESOURCE=AMOUNT is the guarantee; `gpu` and `slots` are one counter. An amount may be\n"
         "`unlimited`, a guarantee `default`. What you do not name stays as it is. A quota below\n"
         "what is in use stops no task: `weir quota list` shows the overhang.",
     .examples = "weir quota set vision --pool v100 gpu=5 --limit gpu=20 --weight 2\n"
                 "weir quota set --department ml --pool v100 gpu=40\n"
                 "weir quota set vision --pool v100 gpu=5 --dry-run",
     .groups = {flags_quota_set, flags_quota, flags_dry_run, flags_yes, flags_json},
     .args_min = 0,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_PROJECTS,
     .run = cmd_quota_set},
    {.name = "usage",
     .args = "[flags]",
     .help = "slot hours used, asked for, lost and waited, and how tasks ended",
     .more =
         "USED is what tasks held: slots times the time from allocation to end. ASKED is slots "
         "times\n"
         "the time limit; a task without a limit asks for what it uses. LOST is the part of USED\n"
         "since the last checkpoint of attempts that were evicted, lost or begun again. WAITED is\n"
         "slots times the time without a place. An attempt counts on the days (UTC) on which it "
         "ran,\n"
         "once it has ended. The sums of days are kept for ten years; parts of days are exact for "
         "as\n"
         "long as the server keeps ended tasks.",
     .examples = "weir usage\n"
                 "weir usage --by project --since 2026-10-01 --until 2026-11-01 --csv\n"
                 "weir usage --by day --pool v100 --since 7d\n"
                 "weir usage --by node",
     .groups = {flags_usage, flags_json},
     .run = cmd_usage},
    {.name = "budget",
     .args = "[flags]",
     .help = "what each pool may still pay for kept places and for equal shares, in slot hours",
     .more = "IDLE is what places kept for waiting tasks may leave idle, LOSS the work that "
             "evictions for\n"
             "equal shares may lose: each a part of the slot-time of the pool. LEFT is what the "
             "budget has of\n"
             "the most that it saves up, AN HOUR what it gets, PAYS what it pays in an hour for "
             "places that are\n"
             "kept now.",
     .examples = "weir budget\nweir budget --watch\nweir budget --filter 'pool=v100' --json",
     .groups = {flags_list},
     .run = cmd_budget},
    {0},
};
