/* trace.c - see trace.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace.h"

#include "base/amount.h"
#include "base/inert.h"
#include "core/model/resource.h"
#include "sim/trace_internal.h"
#include "sim/trace_value.h"

enum { SECOND_MS = 1000, NAME_NOTE_MAX = 1024 };

/* ---- rows ---- */

/* Everything but time, length and name that a row has. Equal rows share a kind of job. Zeroed
 * first, because the bytes are a key. */
struct trace_row_kind {
    int64_t slots_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t time_limit_ms;
    uint32_t instances;
    uint32_t priority;
    int32_t exit_code;
    uint32_t gpu;
    const struct trace_name *project; /* NULL: none is named */
    const struct trace_name *user;
    char models[TEXT_LEN_MAX + 1];
};

struct trace_row {
    int64_t submit_ms;
    int64_t runs_ms;
    struct trace_row_kind kind;
};

/* Returns the field of a role; false: the row has no such field, or it is empty or, in SWF, -1. */
static bool field_of(const struct trace *trace, enum role role, struct str *ret)
{
    const int column = trace->columns[role];
    if (column < 0 || (uint32_t)column >= trace->csv.count) {
        return false;
    }
    *ret = str_trim(trace->csv.fields[column]);
    return ret->len > 0 && !(trace->format->missing && str_is(*ret, "-1"));
}

/* Returns a number in thousandths; `otherwise` if the field is missing. */
static must_use enum err milli_of(const struct trace *trace, enum role role, int64_t otherwise,
                                  int64_t *ret, struct error *e)
{
    struct str text;
    *ret = otherwise;
    if (!field_of(trace, role, &text)) {
        return ERR_OK;
    }
    if (!trace_value_milli(text, ret)) {
        return csv_fail(&trace->csv, trace->columns[role], e,
                        "%s: a number of 0 or more is wanted, not '%.*s'", trace_roles[role],
                        (int)(text.len < 40 ? text.len : 40), text.p);
    }
    return ERR_OK;
}

static must_use enum err time_of(const struct trace *trace, enum role role, int64_t *ret_ms,
                                 struct error *e)
{
    struct str text = {"", 0};
    enum trace_clock clock = CLOCK_UNKNOWN;
    if (!field_of(trace, role, &text) || !trace_value_time(text, ret_ms, &clock)) {
        return csv_fail(&trace->csv, trace->columns[role], e,
                        "%s: seconds or a date and time like 2017-10-01 00:00:45 are wanted, not "
                        "'%.*s'",
                        trace_roles[role], (int)(text.len < 40 ? text.len : 40), text.p);
    }
    if (trace->clock != CLOCK_UNKNOWN && clock != trace->clock) {
        return csv_fail(&trace->csv, trace->columns[role], e,
                        "%s: %s, as in the first row, is wanted, not '%.*s'", trace_roles[role],
                        trace->clock == CLOCK_DATES ? "a date and time" : "a number of seconds",
                        (int)(text.len < 40 ? text.len : 40), text.p);
    }
    return ERR_OK;
}

/* Learns from the first readable time how the trace writes times. */
static void clock_learn(struct trace *trace)
{
    struct str text;
    int64_t at_ms;
    enum trace_clock clock;
    if (trace->clock == CLOCK_UNKNOWN && field_of(trace, ROLE_SUBMIT, &text) &&
        trace_value_time(text, &at_ms, &clock)) {
        trace->clock = clock;
    }
}

static must_use enum err span_check(const struct trace *trace, enum role role, int64_t span_ms,
                                    struct error *e)
{
    return span_ms <= AMOUNT_MS_MAX
               ? ERR_OK
               : csv_fail(&trace->csv, trace->columns[role], e,
                          "%s: nothing takes more than a hundred years", trace_roles[role]);
}

/* Returns seconds as milliseconds; 0 if the field is missing. */
static must_use enum err span_of(const struct trace *trace, enum role role, int64_t *ret_ms,
                                 struct error *e)
{
    enum err r = milli_of(trace, role, 0, ret_ms, e);
    return r == ERR_OK ? span_check(trace, role, *ret_ms, e) : r;
}

/* Returns the duration; 0 if the format marks it as unknown, as for a job that was cancelled
 * before it ran. */
static must_use enum err duration_of(const struct trace *trace, int64_t *ret_ms, struct error *e)
{
    struct str text;
    if (!field_of(trace, ROLE_DURATION, &text) && !trace->format->missing) {
        return csv_fail(&trace->csv, trace->columns[ROLE_DURATION], e,
                        "duration: a number of 0 or more is wanted, and there is none");
    }
    return span_of(trace, ROLE_DURATION, ret_ms, e);
}

/* Computes the length from start (or submission) to end, if the trace has no duration. */
static must_use enum err length_of(const struct trace *trace, struct trace_row *row,
                                   struct error *e)
{
    int64_t from_ms = row->submit_ms;
    int64_t end_ms;
    struct str text;
    if (field_of(trace, ROLE_DURATION, &text) || trace->columns[ROLE_END] < 0) {
        return duration_of(trace, &row->runs_ms, e);
    }
    if (field_of(trace, ROLE_START, &text)) {
        enum err r = time_of(trace, ROLE_START, &from_ms, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    enum err r = time_of(trace, ROLE_END, &end_ms, e);
    if (r == ERR_OK && end_ms < from_ms) {
        return csv_fail(&trace->csv, trace->columns[ROLE_END], e, "the task ends before it starts");
    }
    row->runs_ms = r == ERR_OK ? end_ms - from_ms : 0;
    return r == ERR_OK ? span_check(trace, ROLE_END, row->runs_ms, e) : r;
}

static must_use enum err size_of(const struct trace *trace, struct trace_row_kind *kind,
                                 struct error *e)
{
    int64_t gpus = 0;
    int64_t gpu_milli = 0;
    int64_t slots = 0;
    int64_t asked = 0;
    enum err r = milli_of(trace, ROLE_GPUS, 0, &gpus, e);
    r = r == ERR_OK ? milli_of(trace, ROLE_GPU_MILLI, -1, &gpu_milli, e) : r;
    r = r == ERR_OK ? milli_of(trace, ROLE_SLOTS, 0, &slots, e) : r;
    r = r == ERR_OK ? milli_of(trace, ROLE_SLOTS_ASKED, 0, &asked, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    const bool share = gpus == SLOT_MILLI && gpu_milli >= 0 && gpu_milli < SLOT_MILLI * 1000;
    kind->gpu = gpus > 0;
    kind->slots_milli = gpus > 0 ? gpus : (slots > 0 ? slots : asked);
    kind->slots_milli = share ? gpu_milli / 1000 : kind->slots_milli;
    const bool sized = trace->columns[ROLE_GPUS] >= 0 || trace->columns[ROLE_SLOTS] >= 0;
    if (!sized) {
        kind->slots_milli = SLOT_MILLI;
    }
    if (kind->slots_milli > SLOT_MILLI && kind->slots_milli % SLOT_MILLI != 0) {
        return csv_fail(&trace->csv, trace->columns[ROLE_GPUS], e,
                        "an amount above one GPU must be a whole number");
    }
    return ERR_OK;
}

static must_use enum err amounts_of(const struct trace *trace, struct trace_row_kind *kind,
                                    struct error *e)
{
    struct str text;
    int64_t cpu_milli = 0;
    int64_t mib = 0;
    enum err r = milli_of(trace, ROLE_CPU, ASK_NOTHING, &kind->cpu_milli, e);
    r = r == ERR_OK ? milli_of(trace, ROLE_CPU_MILLI, -1, &cpu_milli, e) : r;
    r = r == ERR_OK ? milli_of(trace, ROLE_MEMORY_MIB, -1, &mib, e) : r;
    if (r == ERR_OK && field_of(trace, ROLE_MEMORY, &text) &&
        !trace_value_bytes(text, &kind->memory_bytes)) {
        return csv_fail(&trace->csv, trace->columns[ROLE_MEMORY], e,
                        "memory: bytes or an amount like 4Gi are wanted, not '%.*s'",
                        (int)(text.len < 40 ? text.len : 40), text.p);
    }
    if (r == ERR_OK && mib / 1000 > AMOUNT_BYTES_MAX >> 20) {
        return csv_fail(&trace->csv, trace->columns[ROLE_MEMORY_MIB], e,
                        "the amount of memory is too large");
    }
    kind->cpu_milli = cpu_milli >= 0 ? cpu_milli / 1000 : kind->cpu_milli;
    kind->memory_bytes = mib >= 0 ? mib / 1000 << 20 : kind->memory_bytes;
    return r;
}

static must_use enum err counts_of(const struct trace *trace, struct trace_row_kind *kind,
                                   struct error *e)
{
    int64_t priority = 0;
    int64_t instances = 0;
    int64_t exit_code = 0;
    enum err r = milli_of(trace, ROLE_PRIORITY, PRIORITY_DEFAULT * 1000, &priority, e);
    r = r == ERR_OK ? milli_of(trace, ROLE_INSTANCES, 1000, &instances, e) : r;
    r = r == ERR_OK ? milli_of(trace, ROLE_EXIT, 0, &exit_code, e) : r;
    r = r == ERR_OK ? span_of(trace, ROLE_TIME_LIMIT, &kind->time_limit_ms, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    if (priority < PRIORITY_MIN * 1000 || priority > PRIORITY_MAX * 1000) {
        return csv_fail(&trace->csv, trace->columns[ROLE_PRIORITY], e, "a priority is %d to %d",
                        PRIORITY_MIN, PRIORITY_MAX);
    }
    if (instances < 1000 || instances > (int64_t)TASK_INSTANCES_MAX * 1000) {
        return csv_fail(&trace->csv, trace->columns[ROLE_INSTANCES], e, "1 to %d instances",
                        TASK_INSTANCES_MAX);
    }
    kind->priority = (uint32_t)(priority / 1000);
    kind->instances = (uint32_t)(instances / 1000);
    kind->exit_code = (int32_t)(exit_code / 1000 % 256);
    return ERR_OK;
}

static must_use enum err row_read(struct trace *trace, struct trace_row *row, struct error *e)
{
    struct trace_row_kind *kind = &row->kind;
    memset(row, 0, sizeof *row);
    kind->memory_bytes = ASK_NOTHING;
    enum err r = trace_format_row_check(trace, e);
    if (r != ERR_OK) {
        return r;
    }
    clock_learn(trace);
    r = time_of(trace, ROLE_SUBMIT, &row->submit_ms, e);
    r = r == ERR_OK ? length_of(trace, row, e) : r;
    r = r == ERR_OK ? size_of(trace, kind, e) : r;
    r = r == ERR_OK ? amounts_of(trace, kind, e) : r;
    r = r == ERR_OK ? counts_of(trace, kind, e) : r;
    struct str text;
    if (r == ERR_OK && field_of(trace, ROLE_PROJECT, &text)) {
        kind->project = trace_names_of(&trace->projects, text);
    }
    if (r == ERR_OK && field_of(trace, ROLE_USER, &text)) {
        kind->user = trace_names_of(&trace->users, text);
    }
    if (r == ERR_OK && field_of(trace, ROLE_MODELS, &text) && text.len <= TEXT_LEN_MAX) {
        memcpy(kind->models, text.p, text.len);
    }
    return r;
}

/* ---- jobs ---- */

static const struct job_kind *kind_of(struct trace *trace, const struct trace_row_kind *row)
{
    struct job_kind *kind = map_get(trace->kinds, row, sizeof *row);
    if (kind != NULL) {
        return kind;
    }
    struct arena *arena = &trace->scenario->arena;
    kind = scenario_kind(trace->scenario);
    struct task_spec *spec = &kind->spec;
    const char **argv = arena_new(arena, const char *, 1);
    argv[0] = "sim";
    spec->argv = argv;
    spec->argv_count = 1;
    spec->project = row->project != NULL ? row->project->text : spec->project;
    spec->user = row->user != NULL ? row->user->text : spec->user;
    spec->slots_milli = row->slots_milli;
    spec->needs_gpu = row->gpu != 0;
    spec->cpu_milli = row->cpu_milli;
    spec->memory_bytes = row->memory_bytes;
    spec->instances = row->instances;
    spec->priority = row->priority;
    spec->time_limit_ms = row->time_limit_ms;
    kind->exit_code = row->exit_code;
    kind->checkpoint_ms = trace->options->checkpoint_ms;
    kind->stops_in_ms = trace->options->stops_in_ms;
    kind->models = row->models[0] != '\0' ? arena_str(arena, row->models) : NULL;
    trace_wide_divide(&trace->nodes, spec);
    (void)map_put(trace->kinds, row, sizeof *row, kind);
    return kind;
}

static must_use enum err job_add(struct trace *trace, const struct trace_row *row, struct error *e)
{
    struct str name;
    struct scenario *scenario = trace->scenario;
    if (scenario->jobs.count >= scenario->jobs_max) {
        return csv_fail(&trace->csv, -1, e, "more than %u tasks", scenario->jobs_max);
    }
    struct job job = {
        .at_ms = row->submit_ms,
        .runs_ms = row->runs_ms,
        .name = "",
        .kind = kind_of(trace, &row->kind),
    };
    if (field_of(trace, ROLE_NAME, &name)) {
        const size_t len = name.len < TEXT_LEN_MAX ? name.len : TEXT_LEN_MAX;
        job.name = arena_strn(&scenario->arena, name.p, len);
    }
    vec_push(&scenario->jobs, job);
    return ERR_OK;
}

/* Learns from a comment like "; UnixStartTime: 749458803" which moment the trace calls 0. */
static void comment_read(struct trace *trace)
{
    uint64_t seconds;
    const struct csv *csv = &trace->csv;
    if (csv->count >= 3 && str_is(csv->fields[1], "UnixStartTime:") &&
        str_to_u64(csv->fields[2], &seconds) && seconds <= (uint64_t)AMOUNT_MS_MAX / SECOND_MS) {
        trace->unix_ms = (int64_t)seconds * SECOND_MS;
    }
}

/* Notes the date of the first job. Arrivals that are stretched have no dates any more. */
static void date_note(const struct trace *trace, int64_t origin_ms)
{
    struct scenario *scenario = trace->scenario;
    const bool dated = trace->clock == CLOCK_DATES || trace->unix_ms > 0;
    if (dated && scenario->begins_ms == 0 && trace->options->arrivals == 0) {
        scenario->begins_ms = trace->unix_ms + origin_ms;
    }
}

/* Shifts all times so that the first job of the trace arrives at 0. */
static void times_shift(const struct trace *trace, size_t first)
{
    struct scenario *scenario = trace->scenario;
    int64_t origin_ms = INT64_MAX;
    for (size_t i = first; i < scenario->jobs.count; i++) {
        const int64_t at_ms = scenario->jobs.at[i].at_ms;
        origin_ms = at_ms < origin_ms ? at_ms : origin_ms;
    }
    for (size_t i = first; i < scenario->jobs.count; i++) {
        scenario->jobs.at[i].at_ms -= origin_ms;
    }
    if (first < scenario->jobs.count) {
        date_note(trace, origin_ms);
    }
}

/* Multiplies all times by the factor of the options. The result is rounded to whole seconds, which
 * most traces have: jobs that arrive in the same second still arrive together. */
static void times_stretch(const struct trace *trace, size_t first)
{
    const int64_t factor = trace->options->arrivals;
    const int64_t one = (int64_t)TRACE_FACTOR_ONE * SECOND_MS;
    for (size_t i = first; factor != 0 && i < trace->scenario->jobs.count; i++) {
        struct job *job = &trace->scenario->jobs.at[i];
        job->at_ms = (int64_t)(((__int128)job->at_ms * factor + one / 2) / one) * SECOND_MS;
    }
}

/* Refuses times that are too far apart for the core's clock. */
static must_use enum err times_check(const struct trace *trace, size_t first, struct error *e)
{
    for (size_t i = first; i < trace->scenario->jobs.count; i++) {
        if (trace->scenario->jobs.at[i].at_ms > AMOUNT_MS_MAX) {
            return fail(e, ERR_INVALID,
                        "%s: between its first and last task lie more than a "
                        "hundred years",
                        trace->csv.file);
        }
    }
    return ERR_OK;
}

static must_use enum err rows_read(struct trace *trace, struct error *e)
{
    const char comment = trace->format->comment;
    while (csv_next(&trace->csv)) {
        struct trace_row row;
        if (comment != 0 && trace->csv.fields[0].len > 0 && trace->csv.fields[0].p[0] == comment) {
            comment_read(trace);
            continue;
        }
        enum err r = row_read(trace, &row, e);
        if (r == ERR_INVALID && trace->options->skip_bad) {
            if (trace->scenario->rows_bad++ == 0) {
                trace->scenario->row_bad_first = arena_str(&trace->scenario->arena, e->text);
            }
            continue;
        }
        r = r == ERR_OK ? job_add(trace, &row, e) : r;
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

/* Notes how many names are not those of the trace, and the first of them. */
static void names_note(struct trace *trace)
{
    const struct {
        const struct trace_names *names;
        const char *what;
    } both[] = {{&trace->projects, "project"}, {&trace->users, "user"}};
    struct scenario *scenario = trace->scenario;
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        const struct trace_name *first = both[i].names->first;
        if (first != NULL && scenario->names_changed == 0) {
            struct buf text;
            buf_init(&text, NAME_NOTE_MAX);
            inert_add(&text, (struct str){first->from.p, (size_t)str_shown(first->from)});
            scenario->name_changed_first = arena_fmt(&scenario->arena, "%s '%s' is '%s' here",
                                                     both[i].what, buf_text(&text), first->text);
            buf_done(&text);
        }
        scenario->names_changed += both[i].names->changed;
    }
}

enum err trace_read(const struct trace_options *options, struct str text, struct scenario *scenario,
                    struct error *e)
{
    struct trace trace = {.scenario = scenario, .options = options};
    const size_t first = scenario->jobs.count;
    trace.nodes = trace_wide_nodes(scenario);
    enum err r = trace_format_find(options->format, &trace.format, e);
    r = r == ERR_OK ? trace_format_columns_name(&trace, options->columns, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    csv_init(&trace.csv, options->file, text, trace_format_separator(trace.format, text),
             &scenario->arena);
    if (trace.format->header && !csv_next(&trace.csv)) {
        return fail(e, ERR_INVALID, "%s: the file is empty", options->file);
    }
    trace.header_count = trace.format->header ? trace.csv.count : 0;
    trace.kinds = map_new();
    trace_names_init(&trace.projects, &scenario->arena);
    trace_names_init(&trace.users, &scenario->arena);
    r = trace_format_columns_find(&trace, e);
    r = r == ERR_OK ? rows_read(&trace, e) : r;
    names_note(&trace);
    map_free(trace.kinds);
    trace_names_done(&trace.projects);
    trace_names_done(&trace.users);
    times_shift(&trace, first);
    r = r == ERR_OK ? times_check(&trace, first, e) : r;
    times_stretch(&trace, first);
    return r == ERR_OK ? times_check(&trace, first, e) : r;
}
