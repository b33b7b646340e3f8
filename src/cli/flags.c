/* flags.c - see flags.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/flags.h"

/* One row: with what completion offers and the values allowed, and without. */
#define FLAG_OF(kind, name, letter, value, help, complete, choices)                                \
    {name, letter, FLAG_##kind, value, help, COMPLETE_##complete, choices},
#define FLAG(kind, name, letter, value, help) FLAG_OF(kind, name, letter, value, help, NONE, NULL)
/* clang-format off */

const struct flag flags_common[] = {
    FLAG(BOOL, "help", 'h', NULL, "this text")
    FLAG(TEXT, "server", 0, "URL", "the server to talk to (default: WEIR_SERVER, the saved login)")
    FLAG(DURATION, "retry", 0, "D", "how long to keep trying without an answer (default: WEIR_RETRY, 30s for changes, 0 for reads)")
    FLAG_OF(TEXT, "color", 0, "WHEN", "always, never or auto (the default, or WEIR_COLOR; NO_COLOR turns colours off)", WORDS, "always,never,auto")
    {0},
};

const struct flag flags_json[] = {
    FLAG_OF(OPTIONAL, "json", 0, "lines", "print the API's objects; --json=lines: one per line", NONE, "lines,array")
    {0},
};

const struct flag flags_list[] = {
    FLAG_OF(OPTIONAL, "json", 0, "lines", "print the API's objects; --json=lines: one per line", NONE, "lines,array")
    FLAG(BOOL, "quiet", 'q', NULL, "print ids (or names) only")
    FLAG(TEXT, "columns", 0, "A,B", "show these columns")
    FLAG(TEXT, "sort", 0, "A", "sort by this column; -A: descending")
    FLAG(TEXT, "filter", 0, "'A=X B>=N'", "only lines with these values of columns: = != < <= > >= ~ (has the text)")
    FLAG(BOOL, "watch", 'w', NULL, "show the list again whenever something changes")
    FLAG(BOOL, "wide", 0, NULL, "all columns, absolute times, nothing trimmed")
    FLAG(NUMBER, "limit", 0, "N", "show at most N; 0: all")
    FLAG(BOOL, "no-header", 0, NULL, "leave the header out")
    {0},
};

const struct flag flags_at[] = {
    {"at", 0, FLAG_TEXT, "TIME",
     "as it was then: a duration ago (10m), a day or a time; not with --watch", COMPLETE_NONE, NULL},
    {0},
};

const struct flag flags_show[] = {
    FLAG_OF(OPTIONAL, "json", 0, "lines", "print the API's object", NONE, "lines,array")
    FLAG(BOOL, "watch", 'w', NULL, "show the object again whenever it changes")
    FLAG(BOOL, "wide", 0, NULL, "every field, absolute times")
    {0},
};

const struct flag flags_yes[] = {
    FLAG(BOOL, "yes", 'y', NULL, "do not ask")
    {0},
};

const struct flag flags_dry_run[] = {
    FLAG(BOOL, "dry-run", 0, NULL, "change nothing, say what would start, wait or stop; exit code 8 if anything would change")
    {0},
};

const struct flag flags_dir[] = {
    FLAG_OF(TEXT, "dir", 0, "D", "the data directory (default: /var/lib/weir for root, else ~/.local/share/weir)", DIRS, NULL)
    {0},
};

#define KINDS "experiment,command,shell,notebook,tensorboard,service"

/* The flag of a field of an object; nothing for a field without a flag. */
#define NO_FLAG
#define FIELD(id, kept, tag, change, place, flag) flag

const struct flag flags_asks[] = {
    FLAG(TEXT, "slots", 's', "N", "slots per instance (default 1)")
    FLAG(TEXT, "gpus", 'g', "X", "GPUs per instance: whole, or a part of one (0.5)")
    FLAG(TEXT, "gpu-memory", 0, "X", "memory of each GPU; without --gpus: a part of one GPU with this memory")
    FLAG(TEXT, "gpu-devices", 0, "N", "take the requested part of N GPUs instead of one")
    FLAG(TEXT, "cpu", 0, "X", "cores per instance")
    FLAG(TEXT, "memory", 0, "X", "memory per instance: 64Gi, 500M")
    FLAG(LIST, "resources", 'r', "'A=X B=Y'", "named amounts per instance: 'foo=5 bar=1'")
    {0},
};

const struct flag flags_task[] = {
#include "core/model/task_fields.def"
    FLAG(BOOL, "no-preempt", 0, NULL, "the task may not be stopped for other tasks")
    {0},
};

const struct flag flags_pool[] = {
#include "core/model/pool_fields.def"
    FLAG(DURATION, "preempt-delay", 0, "D", "the older name of --preemption-delay")
    {0},
};

const struct flag flags_flavor[] = {
#include "core/model/flavor_fields.def"
    FLAG(BOOL, "no-spot", 0, NULL, "the provider does not take nodes back")
    {0},
};

const struct flag flags_network[] = {
#include "core/model/network_fields.def"
    FLAG(BOOL, "no-outbound", 0, NULL, "the network has no way out")
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
