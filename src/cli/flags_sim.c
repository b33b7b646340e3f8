/* flags_sim.c - the flags of `weir sim` and its commands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/flags.h"

const struct flag flags_sim[] = {
    {"seed", 0, FLAG_NUMBER, "N", "seed of all random numbers (default: that of the file, else 42)",
     COMPLETE_NONE, NULL},
    {"until", 0, FLAG_DURATION, "D", "end after so much virtual time", COMPLETE_NONE, NULL},
    {"events", 0, FLAG_BOOL, NULL, "show what happens, line by line", COMPLETE_NONE, NULL},
    {"why", 0, FLAG_BOOL, NULL, "show what happens and why tasks wait", COMPLETE_NONE, NULL},
    {"no-summary", 0, FLAG_BOOL, NULL, "leave the summary out", COMPLETE_NONE, NULL},
    {"json", 0, FLAG_BOOL, NULL, "the summary as JSON", COMPLETE_NONE, NULL},
    {"tasks", 0, FLAG_TEXT, "FILE", "one line of CSV per task; -: on standard output",
     COMPLETE_FILES, NULL},
    {"report", 0, FLAG_TEXT, "FILE", "charts and tables as one HTML page", COMPLETE_FILES, NULL},
    {"check", 0, FLAG_BOOL, NULL, "check after every step that the state adds up", COMPLETE_NONE,
     NULL},
    {"quiet", 0, FLAG_BOOL, NULL, "no progress and no rates", COMPLETE_NONE, NULL},
    {"help", 'h', FLAG_BOOL, NULL, "this text", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_sim_inputs[] = {
    {"trace", 0, FLAG_TEXT, "FILE", "tasks from a trace", COMPLETE_FILES, NULL},
    {"format", 0, FLAG_TEXT, "F", "format of the trace: openb, philly, swf, or csv (default)",
     COMPLETE_WORDS, "openb,philly,swf,csv"},
    {"columns", 0, FLAG_TEXT, "A=X,B=Y", "which column means what: submit=arrived,gpus=#3",
     COMPLETE_NONE, NULL},
    {"arrivals", 0, FLAG_TEXT, "X", "multiply the times of arrival by X, like 0.5178",
     COMPLETE_NONE, NULL},
    {"skip-bad", 0, FLAG_BOOL, NULL, "count malformed rows instead of ending", COMPLETE_NONE, NULL},
    {"state", 0, FLAG_TEXT, "FILE", "a server's state, from `weir state export`", COMPLETE_FILES,
     NULL},
    {"runs", 0, FLAG_DURATION, "D", "with --state: how long tasks without a limit run (default 1h)",
     COMPLETE_NONE, NULL},
    {"nodes", 0, FLAG_TEXT, "NxG", "N nodes of G GPUs, if no file describes nodes", COMPLETE_NONE,
     NULL},
    {"patience", 0, FLAG_TEXT, "D|auto", "patience of every pool; POOL=D or POOL=auto of one",
     COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_sim_compare[] = {
    {"seeds", 0, FLAG_TEXT, "A-B", "run with each of these seeds", COMPLETE_NONE, NULL},
    {"json", 0, FLAG_BOOL, NULL, "every figure of every run as JSON", COMPLETE_NONE, NULL},
    {"report", 0, FLAG_TEXT, "FILE", "bars, charts and tables as one HTML page", COMPLETE_FILES,
     NULL},
    {"until", 0, FLAG_DURATION, "D", "end each after so much virtual time", COMPLETE_NONE, NULL},
    {"check", 0, FLAG_BOOL, NULL, "check after every step that the state adds up", COMPLETE_NONE,
     NULL},
    {"quiet", 0, FLAG_BOOL, NULL, "no progress", COMPLETE_NONE, NULL},
    {"help", 'h', FLAG_BOOL, NULL, "this text", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_sim_openb[] = {
    {"nodes", 0, FLAG_TEXT, "FILE", "the list of nodes", COMPLETE_FILES, NULL},
    {"tasks", 0, FLAG_TEXT, "FILE", "the list of tasks", COMPLETE_FILES, NULL},
    {"seeds", 0, FLAG_TEXT, "A-B", "shuffle the tasks with each of these seeds (default 42)",
     COMPLETE_NONE, NULL},
    {"ratio", 0, FLAG_TEXT, "X", "request X times the capacity (default 1.3)", COMPLETE_NONE, NULL},
    {"placement", 0, FLAG_TEXT, "P", "which node: tight (the default), pack or spread",
     COMPLETE_WORDS, "tight,pack,spread"},
    {"shuffle", 0, FLAG_NUMBER, "N", "let the nodes join in another order, drawn from N",
     COMPLETE_NONE, NULL},
    {"json", 0, FLAG_BOOL, NULL, "every figure of every seed as JSON", COMPLETE_NONE, NULL},
    {"quiet", 0, FLAG_BOOL, NULL, "no rates", COMPLETE_NONE, NULL},
    {"help", 'h', FLAG_BOOL, NULL, "this text", COMPLETE_NONE, NULL},
    {0},
};
