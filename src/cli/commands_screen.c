/* commands_screen.c - the command table: what opens a screen.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

static const struct flag flags_ui[] = {
    {"print", 0, FLAG_BOOL, NULL, "print the link and open no browser", COMPLETE_NONE, NULL},
    {0},
};

const struct command commands_screen[] = {
    {.name = "ui",
     .args = "[flags]",
     .help = "open the web interface, already signed in",
     .more =
         "Makes a link that signs in once and is valid for two minutes. With a desktop the browser "
         "opens\n"
         "by itself; elsewhere the link is printed. The session lasts seven days, may do what your "
         "token\n"
         "may do, and ends with the token.",
     .examples = "weir ui\nweir ui --print",
     .groups = {flags_ui, flags_json},
     .run = cmd_ui},
    {.name = "top",
     .args = "[flags]",
     .help = "pools, map, queue and tasks on the terminal, live",
     .more =
         "1 pools, 2 map, 3 queue, 4 your tasks; j and k or the arrows choose, Enter opens a task "
         "with its "
         "reason\n"
         "and output, Esc goes back, q ends. Only what changed is written, at most 5 KB a second.\n"
         "[ and ] go a minute back and forward in time, { and } an hour.",
     .examples = "weir top\nweir top --at 2h",
     .groups = {flags_at},
     .run = cmd_top},
    {0},
};
