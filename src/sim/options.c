/* options.c - see options.h. The help is in the CLI's command table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/options.h"

#include "base/amount.h"
#include "base/str.h"

#include <stddef.h>

enum { RATIO_DEFAULT_MILLI = 1300, RUNS_DEFAULT_MS = 60 * 60 * 1000 };

enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_DURATION,
    OPTION_SEEDS,
    OPTION_MILLI,
    OPTION_COUNT
};

struct option_row {
    const char *name;
    enum option_kind kind;
    size_t offset;
};

#define ROW(name_, kind_, field_)                                                                  \
    {                                                                                              \
        name_, kind_, offsetof(struct sim_options, field_)                                         \
    }

static const struct option_row rows[] = {
    ROW("seed", OPTION_SEEDS, seed_first),
    ROW("seeds", OPTION_SEEDS, seed_first),
    ROW("json", OPTION_FLAG, json),
    ROW("events", OPTION_FLAG, events),
    ROW("why", OPTION_FLAG, why),
    ROW("no-summary", OPTION_FLAG, no_summary),
    ROW("check", OPTION_FLAG, check),
    ROW("quiet", OPTION_FLAG, quiet),
    ROW("skip-bad", OPTION_FLAG, skip_bad),
    ROW("tasks", OPTION_TEXT, tasks),
    ROW("report", OPTION_TEXT, report),
    ROW("trace", OPTION_TEXT, trace),
    ROW("format", OPTION_TEXT, format),
    ROW("columns", OPTION_TEXT, columns),
    ROW("state", OPTION_TEXT, state),
    ROW("nodes", OPTION_TEXT, nodes),
    ROW("runs", OPTION_DURATION, runs_ms),
    ROW("until", OPTION_DURATION, until_ms),
    ROW("patience", OPTION_DURATION, patience_ms),
    ROW("ratio", OPTION_MILLI, ratio_milli),
    ROW("placement", OPTION_TEXT, placement),
    ROW("shuffle", OPTION_COUNT, shuffle),
};

static const struct option_row *row_find(struct str name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (str_is(name, rows[i].name)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* "42" or "42-51". */
static must_use enum err seeds_set(struct str value, struct sim_options *options, struct error *e)
{
    struct str rest;
    const struct str first = str_cut(value, '-', &rest);
    uint64_t low;
    uint64_t high;
    if (!str_to_u64(first, &low) || (rest.p != NULL && !str_to_u64(rest, &high))) {
        return fail(e, ERR_USAGE, "a seed is a number, several are 42-51, not '%.*s'",
                    (int)value.len, value.p);
    }
    high = rest.p == NULL ? low : high;
    if (high < low || high - low >= SIM_SEEDS_MAX) {
        return fail(e, ERR_USAGE, "1 to %d seeds are possible, first to last", SIM_SEEDS_MAX);
    }
    options->seed_given = true;
    options->seed_first = low;
    options->seed_last = high;
    return ERR_OK;
}

static must_use enum err value_set(const struct option_row *row, const char *value,
                                   struct sim_options *options, struct error *e)
{
    char *field = (char *)options + row->offset;
    enum err r = ERR_OK;
    switch (row->kind) {
    case OPTION_FLAG:
        return fail(e, ERR_USAGE, "--%s takes no value", row->name);
    case OPTION_TEXT:
        *(const char **)field = value;
        return ERR_OK;
    case OPTION_DURATION:
        r = amount_duration(str_of(value), (int64_t *)field, e);
        break;
    case OPTION_MILLI:
        r = amount_milli(str_of(value), (int64_t *)field, e);
        break;
    case OPTION_COUNT:
        if (!str_to_u64(str_of(value), (uint64_t *)field)) {
            r = fail(e, ERR_USAGE, "a number is wanted, not '%s'", value);
        }
        break;
    case OPTION_SEEDS:
        r = seeds_set(str_of(value), options, e);
        break;
    }
    if (r != ERR_OK) {
        (void)fail_in(e, "--%s", row->name);
        return ERR_USAGE;
    }
    return ERR_OK;
}

/* One flag at argv[*i]; *i moves over its value. */
static must_use enum err flag_read(int argc, char **argv, int *i, struct sim_options *options,
                                   struct error *e)
{
    struct str rest;
    const struct str name = str_cut(str_of(argv[*i] + 2), '=', &rest);
    const struct option_row *row = row_find(name);
    if (row == NULL) {
        return fail(e, ERR_USAGE, "unknown flag '%s'; see weir help sim", argv[*i]);
    }
    if (row->kind == OPTION_FLAG && rest.p == NULL) {
        *(bool *)((char *)options + row->offset) = true;
        return ERR_OK;
    }
    if (rest.p == NULL && *i + 1 >= argc) {
        return fail(e, ERR_USAGE, "--%s wants a value", row->name);
    }
    return value_set(row, rest.p != NULL ? rest.p : argv[++*i], options, e);
}

static must_use enum err check(const struct sim_options *options, struct error *e)
{
    const uint32_t files = options->file_count;
    switch (options->command) {
    case SIM_RUN:
        if (files > 1 || (files == 0 && options->trace == NULL && options->state == NULL)) {
            return fail(e, ERR_USAGE,
                        "one scenario file is wanted, or --trace FILE with --nodes, or --state "
                        "FILE; see weir help sim");
        }
        break;
    case SIM_COMPARE:
        if (files < 2) {
            return fail(e, ERR_USAGE,
                        "two or more scenario files are wanted: weir sim compare "
                        "A.yaml B.yaml");
        }
        break;
    case SIM_OPENB:
        if (files > 0 || options->nodes == NULL || options->tasks == NULL) {
            return fail(e, ERR_USAGE, "--nodes FILE and --tasks FILE are wanted");
        }
        break;
    }
    return ERR_OK;
}

enum err sim_options_read(int argc, char **argv, struct sim_options *ret, struct error *e)
{
    struct sim_options options = {.seed_first = 42, .seed_last = 42, .patience_ms = -1};
    options.ratio_milli = RATIO_DEFAULT_MILLI;
    options.runs_ms = RUNS_DEFAULT_MS;
    int i = 1;
    if (argc > 1 && strcmp(argv[1], "compare") == 0) {
        options.command = SIM_COMPARE;
        i++;
    } else if (argc > 1 && strcmp(argv[1], "openb") == 0) {
        options.command = SIM_OPENB;
        i++;
    }
    for (; i < argc; i++) {
        const bool flag = argv[i][0] == '-' && argv[i][1] == '-';
        enum err r = ERR_OK;
        if (flag) {
            r = flag_read(argc, argv, &i, &options, e);
        } else if (options.file_count == SIM_FILES_MAX) {
            r = fail(e, ERR_USAGE, "at most %d files", SIM_FILES_MAX);
        } else {
            options.files[options.file_count++] = argv[i];
        }
        if (r != ERR_OK) {
            return r;
        }
    }
    enum err r = check(&options, e);
    if (r == ERR_OK) {
        *ret = options;
    }
    return r;
}
