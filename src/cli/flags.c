/* flags.c - see flags.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/flags.h"

const struct flag flags_common[] = {
    {"help", 'h', FLAG_BOOL, NULL, "this text", COMPLETE_NONE, NULL},
    {"server", 0, FLAG_TEXT, "URL", "the server to talk to (default: WEIR_SERVER, the saved login)",
     COMPLETE_NONE, NULL},
    {"retry", 0, FLAG_DURATION, "D",
     "keep trying this long when the server is away (default: 30s for changes, 0 for reads)",
     COMPLETE_NONE, NULL},
    {"color", 0, FLAG_TEXT, "WHEN", "always, never or auto (the default; NO_COLOR is honoured)",
     COMPLETE_WORDS, "always,never,auto"},
    {0},
};

const struct flag flags_json[] = {
    {"json", 0, FLAG_OPTIONAL, "lines", "print the API's objects; --json=lines: one a line",
     COMPLETE_NONE, "lines,array"},
    {0},
};

const struct flag flags_list[] = {
    {"json", 0, FLAG_OPTIONAL, "lines", "print the API's objects; --json=lines: one a line",
     COMPLETE_NONE, "lines,array"},
    {"quiet", 'q', FLAG_BOOL, NULL, "print ids (or names) only", COMPLETE_NONE, NULL},
    {"columns", 0, FLAG_TEXT, "A,B", "show these columns", COMPLETE_NONE, NULL},
    {"sort", 0, FLAG_TEXT, "A", "sort by this column; -A: descending", COMPLETE_NONE, NULL},
    {"watch", 'w', FLAG_BOOL, NULL, "show it again whenever something changes", COMPLETE_NONE,
     NULL},
    {"wide", 0, FLAG_BOOL, NULL, "all columns, absolute times, nothing trimmed", COMPLETE_NONE,
     NULL},
    {"limit", 0, FLAG_NUMBER, "N", "show at most N; 0: all", COMPLETE_NONE, NULL},
    {"no-header", 0, FLAG_BOOL, NULL, "leave the header out", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_show[] = {
    {"json", 0, FLAG_OPTIONAL, "lines", "print the API's object", COMPLETE_NONE, "lines,array"},
    {"watch", 'w', FLAG_BOOL, NULL, "show it again whenever it changes", COMPLETE_NONE, NULL},
    {"wide", 0, FLAG_BOOL, NULL, "every field, absolute times", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_yes[] = {
    {"yes", 'y', FLAG_BOOL, NULL, "do not ask", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_dir[] = {
    {"dir", 0, FLAG_TEXT, "D",
     "the data directory (default: /var/lib/weir for root, else ~/.local/share/weir)",
     COMPLETE_DIRS, NULL},
    {0},
};

#define KINDS "experiment,command,shell,notebook,tensorboard,service"

const struct flag flags_task[] = {
    {"slots", 's', FLAG_TEXT, "N", "slots per instance (default 1)", COMPLETE_NONE, NULL},
    {"gpus", 'g', FLAG_TEXT, "X", "GPUs per instance: whole, or a part of one (0.5)", COMPLETE_NONE,
     NULL},
    {"gpu-memory", 0, FLAG_TEXT, "X",
     "alone: a part of a GPU with so much memory; else of each GPU", COMPLETE_NONE, NULL},
    {"gpu-devices", 0, FLAG_TEXT, "N", "the part asked for of so many GPUs", COMPLETE_NONE, NULL},
    {"cpu", 0, FLAG_TEXT, "X", "cores per instance", COMPLETE_NONE, NULL},
    {"memory", 0, FLAG_TEXT, "X", "memory per instance: 64Gi, 500M", COMPLETE_NONE, NULL},
    {"resources", 'r', FLAG_LIST, "'A=X B=Y'", "named amounts per instance: 'foo=5 bar=1'",
     COMPLETE_NONE, NULL},
    {"devices", 0, FLAG_TEXT, "0,1", "these GPUs, on one node", COMPLETE_NONE, NULL},
    {"node-label", 0, FLAG_LIST, "K=V", "a label that its nodes must have: gpu.model=A100",
     COMPLETE_NONE, NULL},
    {"avoid", 0, FLAG_LIST, "N,M", "nodes on which it must not run", COMPLETE_NODES, NULL},
    {"instances", 'n', FLAG_NUMBER, "N", "how many instances", COMPLETE_NONE, NULL},
    {"gang", 0, FLAG_BOOL, NULL, "all instances start together or not at all", COMPLETE_NONE, NULL},
    {"min-instances", 0, FLAG_NUMBER, "N",
     "a gang that runs with so many; the others come and go as there is room", COMPLETE_NONE, NULL},
    {"array", 0, FLAG_TEXT, "0-99", "one independent instance per number", COMPLETE_NONE, NULL},
    {"pool", 'p', FLAG_LIST, "A,B", "pools, in order of preference", COMPLETE_POOLS, NULL},
    {"project", 0, FLAG_TEXT, "P", "the project that pays", COMPLETE_PROJECTS, NULL},
    {"priority", 0, FLAG_NUMBER, "N", "1 to 100, higher first (default 50)", COMPLETE_NONE, NULL},
    {"preemptible", 0, FLAG_BOOL, NULL, "may be stopped for the owner of what it borrows",
     COMPLETE_NONE, NULL},
    {"no-preempt", 0, FLAG_BOOL, NULL, "may not be stopped for others", COMPLETE_NONE, NULL},
    {"time", 't', FLAG_DURATION, "2h", "time limit", COMPLETE_NONE, NULL},
    {"grace", 0, FLAG_DURATION, "30s", "from SIGTERM to SIGKILL (default 30s)", COMPLETE_NONE,
     NULL},
    {"retries", 0, FLAG_NUMBER, "N", "run a failed instance again, up to N times", COMPLETE_NONE,
     NULL},
    {"no-repeat", 0, FLAG_BOOL, NULL, "never run it again after a lost node", COMPLETE_NONE, NULL},
    {"kind", 0, FLAG_TEXT, "K", KINDS " (default command)", COMPLETE_WORDS, KINDS},
    {"name", 0, FLAG_TEXT, "S", "a name for people", COMPLETE_NONE, NULL},
    {"image", 0, FLAG_TEXT, "I", "container image", COMPLETE_NONE, NULL},
    {"env", 'e', FLAG_LIST, "K=V", "set a variable; K alone hands on yours", COMPLETE_NONE, NULL},
    {"workdir", 0, FLAG_TEXT, "D",
     "where it runs (default: here when the server is this machine, else the job directory)",
     COMPLETE_DIRS, NULL},
    {"tag", 0, FLAG_LIST, "T", "a tag, to find it by", COMPLETE_NONE, NULL},
    {"after", 0, FLAG_LIST, "TASK", "start after these tasks have succeeded; T:any: have ended",
     COMPLETE_TASKS, NULL},
    {"stage", 0, FLAG_BOOL, NULL, "do not queue it yet; `weir task start` does", COMPLETE_NONE,
     NULL},
    {0},
};

const struct flag flags_pool[] = {
    {"title", 0, FLAG_TEXT, "S", "free text", COMPLETE_NONE, NULL},
    {"description", 0, FLAG_TEXT, "S", "free text", COMPLETE_NONE, NULL},
    {"patience", 0, FLAG_DURATION, "D",
     "how long the first blocked task may be overtaken (default 60s)", COMPLETE_NONE, NULL},
    {"accepts", 0, FLAG_TEXT, "K,K", "the task kinds it takes (default: all)", COMPLETE_WORDS,
     NULL},
    {"aux-tasks", 0, FLAG_NUMBER, "N", "tasks without slots a node takes (default 100)",
     COMPLETE_NONE, NULL},
    {"policy", 0, FLAG_TEXT, "P",
     "whose turn it is: fair-share (the default), priority, fifo, round-robin", COMPLETE_WORDS,
     "fair-share,priority,fifo,round-robin"},
    {"placement", 0, FLAG_TEXT, "P", "which node: pack (the default) or spread", COMPLETE_WORDS,
     "pack,spread"},
    {"victims", 0, FLAG_TEXT, "V", "who gives way: least-loss (the default)", COMPLETE_WORDS, NULL},
    {"preemption", 0, FLAG_TEXT, "on|off", "may running tasks be stopped for others (default on)",
     COMPLETE_WORDS, "on,off"},
    {"uneven", 0, FLAG_TEXT, "on|off",
     "may a task wider than a node take uneven parts of nodes (default on)", COMPLETE_WORDS,
     "on,off"},
    {"consolidation", 0, FLAG_NUMBER, "N", "tasks moved to make room for one (default 16)",
     COMPLETE_NONE, NULL},
    {"stale-grace", 0, FLAG_TEXT, "D", "how long a gang may be incomplete (default 60s); never",
     COMPLETE_NONE, NULL},
    {"preempt-min-runtime", 0, FLAG_DURATION, "D",
     "how long tasks run before they give way to a higher priority", COMPLETE_NONE, NULL},
    {"reclaim-min-runtime", 0, FLAG_DURATION, "D",
     "how long tasks run before they give back what they borrow", COMPLETE_NONE, NULL},
    {"preempt-delay", 0, FLAG_DURATION, "D", "how long a task waits before it takes from others",
     COMPLETE_NONE, NULL},
    {"history", 0, FLAG_TEXT, "D|off",
     "shares look back: what was used counts half after D (default off)", COMPLETE_NONE, NULL},
    {"history-window", 0, FLAG_DURATION, "D", "look back anew every D", COMPLETE_NONE, NULL},
    {"history-factor", 0, FLAG_TEXT, "K", "how much the past counts, 0 to 10 (default 1)",
     COMPLETE_NONE, NULL},
    {"user-slots", 0, FLAG_TEXT, "N", "slots that the tasks of one user may hold; unlimited",
     COMPLETE_NONE, NULL},
    {0},
};
