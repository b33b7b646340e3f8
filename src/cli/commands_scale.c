/* commands_scale.c - the command table: the size of pools and the nodes that stay or leave.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

#define BUSY_HELP "their tasks: wait (for their end), requeue (elsewhere), kill, refuse"

static const struct flag flags_scale[] = {
    {"nodes", 0, FLAG_NUMBER, "N", "a fixed number of nodes", COMPLETE_NONE, NULL},
    {"min", 0, FLAG_NUMBER, "N", "fewest nodes of a pool that grows and shrinks", COMPLETE_NONE,
     NULL},
    {"max", 0, FLAG_NUMBER, "N", "most nodes of a pool that grows and shrinks", COMPLETE_NONE,
     NULL},
    {"zones", 0, FLAG_LIST, "Z=N,Z=N", "how many of the nodes stand in each zone, or random",
     COMPLETE_NONE, NULL},
    {"remove", 0, FLAG_LIST, "A,B", "nodes that leave the pool", COMPLETE_NONE, NULL},
    {"busy", 0, FLAG_TEXT, "WORD", BUSY_HELP " (default wait)", COMPLETE_WORDS,
     "wait,requeue,kill,refuse"},
    {0},
};

static const struct flag flags_replace[] = {
    {"at-once", 0, FLAG_NUMBER, "N", "most nodes that leave or start at one time (default 1)",
     COMPLETE_NONE, NULL},
    {"busy", 0, FLAG_TEXT, "WORD",
     "tasks on busy nodes: wait (run to their end, the default), requeue (run elsewhere), kill",
     COMPLETE_WORDS, "wait,requeue,kill"},
    {"stop", 0, FLAG_BOOL, NULL, "stop the replacement that is under way", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_drain[] = {
    {"within", 0, FLAG_DURATION, "D", "the tasks on the node may run on for so long", COMPLETE_NONE,
     NULL},
    {"busy", 0, FLAG_TEXT, "WORD", BUSY_HELP " (default wait; with --within requeue)",
     COMPLETE_WORDS, "wait,requeue,kill,refuse"},
    {0},
};

const struct command commands_scale[] = {
    {.name = "pool scale",
     .args = "POOL flags",
     .help = "change how many nodes a pool with a provider has, or name nodes that leave",
     .more =
         "Nodes that are not named leave in this order: nodes on their way, nodes without work, "
         "then\n"
         "those whose tasks lose least. Locked nodes stay. A change that stops tasks says which "
         "and\n"
         "asks first; without a terminal it wants --yes.",
     .examples = "weir pool scale train --nodes 5\n"
                 "weir pool scale train --remove train-2,train-4 --busy requeue\n"
                 "weir pool scale burst --max 8 --dry-run",
     .groups = {flags_scale, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_scale_pool},
    {.name = "pool replace",
     .args = "POOL [flags]",
     .help = "replace all nodes of a pool with a provider, some at a time",
     .more = "Nodes leave one after the other, and the provider brings others up. `weir pool show` "
             "says\n"
             "how far it is. Locked nodes stay. It stops when the provider fails, and says why.",
     .examples = "weir pool replace train --at-once 2\nweir pool replace train --stop",
     .groups = {flags_replace, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_POOLS,
     .run = cmd_scale_replace},
    {0},
};

const struct command commands_lock[] = {
    {.name = "node lock",
     .args = "NODE…",
     .help = "keep nodes: no shrinking, scaling or replacement takes them away",
     .examples = "weir node lock train-2",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_NODES,
     .run = cmd_node_lock},
    {.name = "node unlock",
     .args = "NODE…",
     .help = "let locked nodes go again",
     .examples = "weir node unlock train-2",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_NODES,
     .run = cmd_node_unlock},
    {0},
};
