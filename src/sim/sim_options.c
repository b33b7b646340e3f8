/* sim_options.c - see sim_options.h. The help text is in the command table of cli/.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_options.h"

#include "base/amount.h"
#include "base/str.h"
#include "base/suggest.h"
#include "sim/patience.h"
#include "sim/trace_value.h"

#include <stddef.h>
#include <unistd.h>

enum { RATIO_DEFAULT_MILLI = 1300, RUNS_DEFAULT_MS = 60 * 60 * 1000 };

enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_DURATION,
    OPTION_PATIENCE,
    OPTION_SEED,
    OPTION_SEEDS,
    OPTION_MILLI,
    OPTION_FACTOR,
    OPTION_COUNT
};

/* The commands that accept a flag. */
enum { IN_RUN = 1 << SIM_RUN, IN_COMPARE = 1 << SIM_COMPARE, IN_OPENB = 1 << SIM_OPENB };
enum { IN_PLAYS = IN_RUN | IN_COMPARE, IN_ALL = IN_PLAYS | IN_OPENB };

struct sim_option_row {
    const char *name;
    enum option_kind kind;
    size_t offset;
    unsigned commands;
};

#define ROW(name_, kind_, field_, commands_)                                                       \
    {                                                                                              \
        name_, kind_, offsetof(struct sim_options, field_), commands_                              \
    }

static const struct sim_option_row rows[] = {
    ROW("seed", OPTION_SEED, seed_first, IN_RUN),
    ROW("seeds", OPTION_SEEDS, seed_first, IN_COMPARE | IN_OPENB),
    ROW("json", OPTION_FLAG, json, IN_ALL),
    ROW("events", OPTION_FLAG, events, IN_RUN),
    ROW("why", OPTION_FLAG, why, IN_RUN),
    ROW("no-summary", OPTION_FLAG, no_summary, IN_RUN),
    ROW("check", OPTION_FLAG, check, IN_PLAYS),
    ROW("quiet", OPTION_FLAG, quiet, IN_ALL),
    ROW("skip-bad", OPTION_FLAG, skip_bad, IN_PLAYS),
    ROW("tasks", OPTION_TEXT, tasks, IN_RUN | IN_OPENB),
    ROW("report", OPTION_TEXT, report, IN_PLAYS),
    ROW("trace", OPTION_TEXT, trace, IN_PLAYS),
    ROW("format", OPTION_TEXT, format, IN_PLAYS),
    ROW("columns", OPTION_TEXT, columns, IN_PLAYS),
    ROW("arrivals", OPTION_FACTOR, arrivals, IN_PLAYS),
    ROW("state", OPTION_TEXT, state, IN_PLAYS),
    ROW("nodes", OPTION_TEXT, nodes, IN_ALL),
    ROW("runs", OPTION_DURATION, runs_ms, IN_PLAYS),
    ROW("until", OPTION_DURATION, until_ms, IN_PLAYS),
    ROW("patience", OPTION_PATIENCE, patience, IN_PLAYS),
    ROW("ratio", OPTION_MILLI, ratio_milli, IN_OPENB),
    ROW("placement", OPTION_TEXT, placement, IN_OPENB),
    ROW("shuffle", OPTION_COUNT, shuffle, IN_OPENB),
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static const char *const command_names[] = {"weir sim", "weir sim compare", "weir sim openb"};

static const struct sim_option_row *row_find(struct str name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (str_is(name, rows[i].name)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Fails for an unknown flag, and suggests the nearest known one. */
static must_use enum err flag_unknown(const struct sim_options *options, const char *word,
                                      struct str name, struct error *e)
{
    struct suggest suggest;
    suggest_init(&suggest, name);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if ((rows[i].commands & 1U << options->command) != 0) {
            suggest_offer(&suggest, rows[i].name);
        }
    }
    if (suggest.best != NULL) {
        return fail(e, ERR_USAGE, "unknown flag '%s'; did you mean --%s?", word, suggest.best);
    }
    return fail(e, ERR_USAGE, "unknown flag '%s'; `%s --help` lists them", word,
                command_names[options->command]);
}

/* Fails for a flag that belongs to another command, instead of ignoring the flag. */
static must_use enum err flag_elsewhere(const struct sim_options *options,
                                        const struct sim_option_row *row, struct error *e)
{
    const char *where = "";
    for (int i = SIM_OPENB; i >= SIM_RUN; i--) {
        where = (row->commands & 1U << i) != 0 ? command_names[i] : where;
    }
    return fail(e, ERR_USAGE, "--%s is a flag of %s, not of %s", row->name, where,
                command_names[options->command]);
}

/* Reads "42" or "42-51". */
static must_use enum err seeds_set(enum option_kind kind, struct str value,
                                   struct sim_options *options, struct error *e)
{
    struct str rest;
    const struct str first = str_cut(value, '-', &rest);
    uint64_t low;
    uint64_t high;
    const bool one = kind == OPTION_SEED;
    if (!str_to_u64(first, &low) || (rest.p != NULL && (one || !str_to_u64(rest, &high)))) {
        return fail(e, ERR_USAGE,
                    one ? "a seed is a number, not '%.*s'; several are for weir sim compare"
                        : "a seed is a number, several are 42-51, not '%.*s'",
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

static must_use enum err value_set(const struct sim_option_row *row, const char *value,
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
    case OPTION_PATIENCE:
        *(const char **)field = value;
        r = patience_check(value, e);
        break;
    case OPTION_MILLI:
        r = amount_milli(str_of(value), (int64_t *)field, e);
        break;
    case OPTION_FACTOR:
        r = trace_value_factor(str_of(value), (int64_t *)field, e);
        break;
    case OPTION_COUNT:
        if (!str_to_u64(str_of(value), (uint64_t *)field)) {
            r = fail(e, ERR_USAGE, "a number is wanted, not '%s'", value);
        }
        break;
    case OPTION_SEED:
    case OPTION_SEEDS:
        r = seeds_set(row->kind, str_of(value), options, e);
        break;
    }
    if (r != ERR_OK) {
        (void)fail_in(e, "--%s", row->name);
        return ERR_USAGE;
    }
    return ERR_OK;
}

/* Reads the flag at argv[*i] and moves *i over its value. */
static must_use enum err flag_read(int argc, char **argv, int *i, struct sim_options *options,
                                   struct error *e)
{
    struct str rest;
    const struct str name = str_cut(str_of(argv[*i] + 2), '=', &rest);
    const struct sim_option_row *row = row_find(name);
    if (row == NULL) {
        return flag_unknown(options, argv[*i], name, e);
    }
    if ((row->commands & 1U << options->command) == 0) {
        return flag_elsewhere(options, row, e);
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

/* Checks flags that need or exclude other flags. */
static must_use enum err together_check(const struct sim_options *options, struct error *e)
{
    const bool of_trace = options->format != NULL || options->columns != NULL ||
                          options->arrivals != 0 || options->skip_bad;
    if (of_trace && options->trace == NULL) {
        return fail(e, ERR_USAGE,
                    "--%s needs --trace FILE; a trace that the "
                    "scenario names has its own fields",
                    options->format != NULL    ? "format"
                    : options->columns != NULL ? "columns"
                    : options->arrivals != 0   ? "arrivals"
                                               : "skip-bad");
    }
    if (options->runs_ms != 0 && options->state == NULL) {
        return fail(e, ERR_USAGE, "--runs needs --state FILE");
    }
    if (options->json && options->events) {
        return fail(
            e, ERR_USAGE,
            "--json and --events cannot be combined: --json prints a summary, --events a log");
    }
    return ERR_OK;
}

static must_use enum err check(const struct sim_options *options, struct error *e)
{
    const uint32_t files = options->file_count;
    struct suggest suggest;
    suggest_init(&suggest, str_of(files > 0 ? options->files[0] : ""));
    suggest_offer(&suggest, "compare");
    suggest_offer(&suggest, "openb");
    switch (options->command) {
    case SIM_RUN:
        if (suggest.best != NULL && access(options->files[0], F_OK) != 0) {
            return fail(e, ERR_USAGE, "there is no '%s'; did you mean weir sim %s?",
                        options->files[0], suggest.best);
        }
        if (files > 1 || (files == 0 && options->trace == NULL && options->state == NULL)) {
            return fail(e, ERR_USAGE,
                        "one scenario file is wanted, or --trace FILE with --nodes, or --state "
                        "FILE; see weir help sim%s",
                        files > 1 ? "; several are for weir sim compare" : "");
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
    struct sim_options options = {.seed_first = 42, .seed_last = 42};
    options.ratio_milli = RATIO_DEFAULT_MILLI;
    int i = 1;
    if (argc > 1 && strcmp(argv[1], "compare") == 0) {
        options.command = SIM_COMPARE;
        i++;
    } else if (argc > 1 && strcmp(argv[1], "openb") == 0) {
        options.command = SIM_OPENB;
        i++;
    }
    for (; i < argc; i++) {
        /* "-" alone is standard input and no flag. */
        const bool word = argv[i][0] == '-' && argv[i][1] != '\0';
        enum err r = ERR_OK;
        if (word && argv[i][1] != '-') {
            r = flag_unknown(&options, argv[i], str_of(argv[i] + 1), e);
        } else if (word) {
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
    r = r == ERR_OK ? together_check(&options, e) : r;
    if (r == ERR_OK) {
        options.events |= options.why; /* reasons are shown as lines between the events */
        options.runs_ms = options.runs_ms == 0 ? RUNS_DEFAULT_MS : options.runs_ms;
        *ret = options;
    }
    return r;
}
