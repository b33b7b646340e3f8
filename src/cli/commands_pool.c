/* commands_pool.c - the command table: pools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

static const struct flag flags_force[] = {
    {"force", 0, FLAG_BOOL, NULL, "delete the pool even if it has tasks or nodes", COMPLETE_NONE,
     NULL},
    {"now", 0, FLAG_BOOL, NULL, "for good: the pool cannot be restored, its name is free",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_close[] = {
    {"kill", 0, FLAG_BOOL, NULL, "kill the running tasks instead of waiting for their end",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_story[] = {
    {"follow", 'f', FLAG_BOOL, NULL, "go on showing events as they happen", COMPLETE_NONE, NULL},
    {"after", 0, FLAG_NUMBER, "N", "only events after number N; also with -f", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_turn_away[] = {
    {"force", 0, FLAG_BOOL, NULL,
     "change the pool even if it no longer takes some of its tasks: these become unavailable",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_pool_try[] = {
    {"min", 0, FLAG_NUMBER, "N", "fewest nodes that the provider keeps up", COMPLETE_NONE, NULL},
    {"max", 0, FLAG_NUMBER, "N", "most nodes that the provider brings up", COMPLETE_NONE, NULL},
    {"idle", 0, FLAG_DURATION, "D", "how long a node stays without work before it goes",
     COMPLETE_NONE, NULL},
    {"headroom", 0, FLAG_NUMBER, "N", "free slots that are kept ready", COMPLETE_NONE, NULL},
    {"last", 0, FLAG_DURATION, "D", "how far back to look (default 1d)", COMPLETE_NONE, NULL},
    {0},
};

const struct command commands_pool[] = {
    {.name = "pool list",
     .args = "[flags]",
     .help = "list pools",
     .examples = "weir pool list\nweir pool list --json",
     .groups = {flags_list, flags_at},
     .run = cmd_pool_list},
    {.name = "pool show",
     .args = "POOL",
     .help = "everything about one pool",
     .examples = "weir pool show default",
     .groups = {flags_show, flags_at},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_pool_show},
    {.name = "pool create",
     .args = "POOL [flags]",
     .help = "make a pool",
     .examples = "weir pool create gpu --patience 5m\n"
                 "weir pool create serving --accepts service",
     .groups = {flags_pool, flags_dry_run, flags_json},
     .args_min = 1,
     .args_max = 1,
     .run = cmd_pool_create},
    {.name = "pool edit",
     .args = "POOL flags",
     .help = "change a pool",
     .more =
         "An edit that would stop running tasks says which and asks first; without a terminal it "
         "wants\n--yes.",
     .examples = "weir pool edit default --patience 5s\n"
                 "weir pool edit default --policy priority --dry-run",
     .groups = {flags_pool, flags_turn_away, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_pool_edit},
    {.name = "pool close",
     .args = "POOL",
     .help = "take no more tasks; running tasks end, then the provider's nodes go",
     .more =
         "Waiting tasks stay and say that the pool is closed: `weir task edit T --pool P` moves "
         "them.\n`weir pool restore` opens the pool again.",
     .examples = "weir pool close burst --dry-run\nweir pool close burst --kill --yes",
     .groups = {flags_close, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_pool_life_close},
    {.name = "pool restore",
     .args = "POOL",
     .help = "open a closed pool, or bring back a pool deleted within 24 hours",
     .more = "Definition, quotas, queue and tasks come back, and the tasks run again. The provider "
             "is asked for\nas many nodes as the pool had.",
     .examples = "weir pool restore burst",
     .groups = {flags_dry_run, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_pool_life_restore},
    {.name = "pool events",
     .args = "POOL [flags]",
     .help = "what happened to a pool and its nodes, in sentences",
     .examples = "weir pool events burst\nweir pool events burst -f",
     .groups = {flags_story, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_events_pool},
    {.name = "pool delete",
     .args = "POOL",
     .help = "delete a pool; for 24 hours it can be restored",
     .more = "The pool's tasks are not lost: they stop and become unavailable until the pool is "
             "restored or the\ntasks are moved (`weir task edit T --pool P`). The provider's nodes "
             "go. Until the pool is gone for\ngood its name is taken.",
     .examples = "weir pool delete old --dry-run\nweir pool delete old --yes\n"
                 "weir pool delete old --now",
     .groups = {flags_force, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_pool_life_delete},
    {.name = "pool pause",
     .args = "POOL",
     .help = "start nothing in a pool for now; running tasks go on",
     .examples = "weir pool pause default",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_pool_pause},
    {.name = "pool resume",
     .args = "POOL",
     .help = "start tasks in a pool again",
     .examples = "weir pool resume default",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_pool_resume},
    {.name = "pool try",
     .args = "POOL flags",
     .help = "play the last day of a pool again with other settings of its provider",
     .more =
         "Prints node-hours and waits: what really was, and simulated with the present and the\n"
         "tried settings. Nothing is changed. The server must still know the tasks and events of\n"
         "that time.",
     .examples =
         "weir pool try burst --idle 20m --max 8\nweir pool try burst --headroom 4 --last 6h",
     .groups = {flags_pool_try, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_pool_try},
    {0},
};
