/* commands_guild.c - the command table: runs of Guild AI.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

static const struct flag flags_guild[] = {
    {"home", 'H', FLAG_TEXT, "D", "the Guild home (default: as Guild finds it)", COMPLETE_DIRS,
     NULL},
    {"resources", 0, FLAG_TEXT, "'R=N R=N'", "what runs with a tag `dask:R=N` share", COMPLETE_NONE,
     NULL},
    {"workers", 0, FLAG_TEXT, "N", "how many runs may run at a time (default: the cores)",
     COMPLETE_NONE, NULL},
    {"order", 0, FLAG_TEXT, "O",
     "fit: every run starts that fits (the default); fifo: strictly as staged", COMPLETE_WORDS,
     "fit,fifo"},
    {"gpus", 0, FLAG_TEXT, "0,1",
     "devices for runs that chose none; other runs must have chosen the same", COMPLETE_NONE, NULL},
    {"devices", 0, FLAG_TEXT, "0,1",
     "devices to hand out: a run with a tag `dask:gpu=N` gets N of them", COMPLETE_NONE, NULL},
    {"wait-for-running", 0, FLAG_BOOL, NULL, "start nothing beside other runs", COMPLETE_NONE,
     NULL},
    {"poll-interval", 0, FLAG_TEXT, "S", "seconds between two looks at the home (default 1)",
     COMPLETE_NONE, NULL},
    {"restage", 0, FLAG_BOOL, NULL, "first make runs staged that a killed queue left pending",
     COMPLETE_NONE, NULL},
    {"pool", 'p', FLAG_TEXT, "P", "the pool of a running Weir (default: the server's)",
     COMPLETE_POOLS, NULL},
    {"here", 0, FLAG_BOOL, NULL, "start runs on this machine, also when a Weir is running",
     COMPLETE_NONE, NULL},
    {"guild", 0, FLAG_TEXT, "FILE", "the program `guild`, for runs that only Guild can start",
     COMPLETE_FILES, NULL},
    {"run-once", 0, FLAG_BOOL, NULL, "as in Guild: `watch run-once=yes` is `run-once`",
     COMPLETE_NONE, NULL},
    {"yes", 'y', FLAG_BOOL, NULL, "taken and not used: nothing is asked", COMPLETE_NONE, NULL},
    {"dashboard-address", 0, FLAG_TEXT, "A",
     "taken and not used: Weir has no dashboard of its own here", COMPLETE_NONE, NULL},
    {"loglevel", 0, FLAG_TEXT, "L", "taken and not used; LOG_LEVEL=10 shows more lines",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_guild_start[] = {
    {"home", 'H', FLAG_TEXT, "D", "the Guild home (default: as Guild finds it)", COMPLETE_DIRS,
     NULL},
    {"gpus", 0, FLAG_TEXT, "0,1", "devices in place of those chosen at staging", COMPLETE_NONE,
     NULL},
    {"alone", 0, FLAG_BOOL, NULL, "leave the run staged while other runs run", COMPLETE_NONE, NULL},
    {"guild", 0, FLAG_TEXT, "FILE", "the program `guild`, for runs that only Guild can start",
     COMPLETE_FILES, NULL},
    {0},
};

static const char more[] = "Takes runs that `guild run --stage` left in the Guild home, and starts "
                           "them as Guild's own Dask\n"
                           "scheduler does: a run starts when its tags `dask:R=N` fit into what "
                           "--resources offers. Flags may be\n"
                           "written as in Guild: resources='foo=7'. A run stays staged until it "
                           "really starts. Where a Weir is\n"
                           "running (see `weir whoami`), runs become its tasks; else they run here "
                           "and nothing else is needed.";

const struct command commands_guild[] = {
    {.name = "guild run-once",
     .args = "[flag=value…]",
     .help = "run what Guild AI has staged, and end",
     .more = more,
     .examples = "weir guild run-once resources='foo=7'\nweir guild run-once resources='gpu0=1 "
                 "gpu1=1' order=fifo\nweir guild run-once --workers 4 --here",
     .groups = {flags_guild},
     .args_max = ARGS_ANY,
     .run = cmd_guild_once},
    {.name = "guild watch",
     .args = "[flag=value…]",
     .help = "run what Guild AI has staged and stages, until Ctrl-C",
     .more = more,
     .examples =
         "weir guild watch resources='foo=7 bar=1'\nweir guild watch workers=4 poll-interval=10",
     .groups = {flags_guild},
     .args_max = ARGS_ANY,
     .run = cmd_guild_watch},
    {.name = "guild start",
     .args = "RUN",
     .help = "start one staged run here, and follow it to its end",
     .more = "The command of the tasks that `weir guild run-once` and `watch` submit to a running "
             "Weir. Ends with\n"
             "the exit status of the run, or with 125 when the run could not be taken.",
     .examples = "weir guild start 4f3e120f5cd9481e825b225567f95b9f",
     .groups = {flags_guild_start},
     .args_min = 1,
     .args_max = 1,
     .run = cmd_guild_start},
    {0},
};
