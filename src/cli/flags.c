/* flags.c - see flags.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/flags.h"

const struct flag flags_common[] = {
    {"help", 'h', FLAG_BOOL, NULL, "this text", COMPLETE_NONE, NULL},
    {"server", 0, FLAG_TEXT, "URL", "the server to talk to (default: WEIR_SERVER, the saved login)",
     COMPLETE_NONE, NULL},
    {"retry", 0, FLAG_DURATION, "D",
     "how long to keep trying without an answer (default: 30s for changes, 0 for reads)",
     COMPLETE_NONE, NULL},
    {"color", 0, FLAG_TEXT, "WHEN",
     "always, never or auto (the default; NO_COLOR turns colours off)", COMPLETE_WORDS,
     "always,never,auto"},
    {0},
};

const struct flag flags_json[] = {
    {"json", 0, FLAG_OPTIONAL, "lines", "print the API's objects; --json=lines: one per line",
     COMPLETE_NONE, "lines,array"},
    {0},
};

const struct flag flags_list[] = {
    {"json", 0, FLAG_OPTIONAL, "lines", "print the API's objects; --json=lines: one per line",
     COMPLETE_NONE, "lines,array"},
    {"quiet", 'q', FLAG_BOOL, NULL, "print ids (or names) only", COMPLETE_NONE, NULL},
    {"columns", 0, FLAG_TEXT, "A,B", "show these columns", COMPLETE_NONE, NULL},
    {"sort", 0, FLAG_TEXT, "A", "sort by this column; -A: descending", COMPLETE_NONE, NULL},
    {"watch", 'w', FLAG_BOOL, NULL, "show the list again whenever something changes", COMPLETE_NONE,
     NULL},
    {"wide", 0, FLAG_BOOL, NULL, "all columns, absolute times, nothing trimmed", COMPLETE_NONE,
     NULL},
    {"limit", 0, FLAG_NUMBER, "N", "show at most N; 0: all", COMPLETE_NONE, NULL},
    {"no-header", 0, FLAG_BOOL, NULL, "leave the header out", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_show[] = {
    {"json", 0, FLAG_OPTIONAL, "lines", "print the API's object", COMPLETE_NONE, "lines,array"},
    {"watch", 'w', FLAG_BOOL, NULL, "show the object again whenever it changes", COMPLETE_NONE,
     NULL},
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

/* A field of an object as a row of flags; nothing for a field without a flag. */
#define NO_FLAG
#define FLAG(kind, name, letter, value, help, complete, choices)                                   \
    {name, letter, FLAG_##kind, value, help, COMPLETE_##complete, choices},
#define FIELD(id, kept, tag, change, place, flag) flag

const struct flag flags_asks[] = {
    {"slots", 's', FLAG_TEXT, "N", "slots per instance (default 1)", COMPLETE_NONE, NULL},
    {"gpus", 'g', FLAG_TEXT, "X", "GPUs per instance: whole, or a part of one (0.5)", COMPLETE_NONE,
     NULL},
    {"gpu-memory", 0, FLAG_TEXT, "X",
     "memory of each GPU; without --gpus: a part of one GPU with this memory", COMPLETE_NONE, NULL},
    {"gpu-devices", 0, FLAG_TEXT, "N", "take the requested part of N GPUs instead of one",
     COMPLETE_NONE, NULL},
    {"cpu", 0, FLAG_TEXT, "X", "cores per instance", COMPLETE_NONE, NULL},
    {"memory", 0, FLAG_TEXT, "X", "memory per instance: 64Gi, 500M", COMPLETE_NONE, NULL},
    {"resources", 'r', FLAG_LIST, "'A=X B=Y'", "named amounts per instance: 'foo=5 bar=1'",
     COMPLETE_NONE, NULL},
    {0},
};

/* clang-format off */
const struct flag flags_task[] = {
#include "core/model/task_fields.def"
    {"no-preempt", 0, FLAG_BOOL, NULL, "the task may not be stopped for other tasks", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_pool[] = {
#include "core/model/pool_fields.def"
    {"preempt-delay", 0, FLAG_DURATION, "D", "the older name of --preemption-delay", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_account[] = {
#include "core/model/account_fields.def"
    {0},
};

const struct flag flags_quota[] = {
#include "core/model/quota_fields.def"
    {0},
};

/* The flags of those fields of a task that can change. */
#undef FIELD
#define FIELD(id, kept, tag, change, place, flag) ONLY_##change(flag)
#define ONLY_FIXED(...)
#define ONLY_EDIT(bit, when) KEEP
#define KEEP(...) __VA_ARGS__
const struct flag flags_task_edit[] = {
#include "core/model/task_fields.def"
    {0},
};
