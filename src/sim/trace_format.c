/* trace_format.c - the known formats, and the columns of a file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_internal.h"

enum { HEADER_TEXT_MAX = 96 };

const char *const trace_roles[ROLE_COUNT] = {
    [ROLE_SUBMIT] = "submit",
    [ROLE_DURATION] = "duration",
    [ROLE_START] = "start",
    [ROLE_END] = "end",
    [ROLE_GPUS] = "gpus",
    [ROLE_GPU_MILLI] = "gpu_milli",
    [ROLE_SLOTS] = "slots",
    [ROLE_SLOTS_ASKED] = "slots_asked",
    [ROLE_CPU] = "cpu",
    [ROLE_CPU_MILLI] = "cpu_milli",
    [ROLE_MEMORY] = "memory",
    [ROLE_MEMORY_MIB] = "memory_mib",
    [ROLE_MODELS] = "models",
    [ROLE_PROJECT] = "project",
    [ROLE_USER] = "user",
    [ROLE_NAME] = "name",
    [ROLE_PRIORITY] = "priority",
    [ROLE_INSTANCES] = "instances",
    [ROLE_TIME_LIMIT] = "time_limit",
    [ROLE_EXIT] = "exit",
};

static const struct format formats[] = {
    {.name = "csv", .separator = ',', .header = true},
    {.name = "philly",
     .separator = ',',
     .header = true,
     .columns = {[ROLE_SUBMIT] = "timestamp",
                 [ROLE_DURATION] = "duration",
                 [ROLE_GPUS] = "num_gpus",
                 [ROLE_PROJECT] = "cluster"}},
    {.name = "openb",
     .separator = ',',
     .header = true,
     .columns = {[ROLE_SUBMIT] = "creation_time",
                 [ROLE_START] = "scheduled_time",
                 [ROLE_END] = "deletion_time",
                 [ROLE_GPUS] = "num_gpu",
                 [ROLE_GPU_MILLI] = "gpu_milli",
                 [ROLE_CPU_MILLI] = "cpu_milli",
                 [ROLE_MEMORY_MIB] = "memory_mib",
                 [ROLE_MODELS] = "gpu_spec",
                 [ROLE_NAME] = "name"}},
    {.name = "swf",
     .separator = ' ',
     .comment = ';',
     .missing = true,
     .fields_min = 18,
     .columns = {[ROLE_NAME] = "#1",
                 [ROLE_SUBMIT] = "#2",
                 [ROLE_DURATION] = "#4",
                 [ROLE_SLOTS] = "#5",
                 [ROLE_SLOTS_ASKED] = "#8",
                 [ROLE_TIME_LIMIT] = "#9",
                 [ROLE_USER] = "#12",
                 [ROLE_PROJECT] = "#13"}},
};

enum err trace_format_find(const char *name, const struct format **ret, struct error *e)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (name == NULL || strcmp(name, formats[i].name) == 0) {
            *ret = &formats[i];
            return ERR_OK;
        }
    }
    return fail(e, ERR_USAGE, "a format is openb, philly, swf or csv, not '%s'", name);
}

static int role_find(struct str name)
{
    for (int i = 0; i < ROLE_COUNT; i++) {
        if (str_is(name, trace_roles[i])) {
            return i;
        }
    }
    return -1;
}

static void column_name_set(struct trace *trace, int role, struct str name)
{
    const size_t len = name.len < COLUMN_NAME_MAX ? name.len : COLUMN_NAME_MAX - 1;
    memcpy(trace->names[role], name.p, len);
    trace->names[role][len] = '\0';
}

enum err trace_format_columns_name(struct trace *trace, const char *columns, struct error *e)
{
    const bool plain = strcmp(trace->format->name, "csv") == 0;
    for (int i = 0; i < ROLE_COUNT; i++) {
        const char *name = plain ? trace_roles[i] : trace->format->columns[i];
        column_name_set(trace, i, str_of(name == NULL ? "" : name));
    }
    bool named[ROLE_COUNT] = {false};
    struct str rest = str_of(columns == NULL ? "" : columns);
    while (rest.len > 0) {
        struct str name;
        const struct str item = str_cut(rest, ',', &rest);
        const struct str role = str_cut(str_trim(item), '=', &name);
        const int found = role_find(role);
        if (found < 0 || name.p == NULL || name.len == 0) {
            return fail(e, ERR_USAGE,
                        "columns: '%.*s' is not of the form ROLE=COLUMN; roles are submit, "
                        "duration, start, end, gpus, gpu_milli, slots, cpu, cpu_milli, memory, "
                        "project, user, name, priority, instances, time_limit, exit",
                        (int)item.len, item.p);
        }
        if (named[found]) {
            return fail(e, ERR_USAGE, "columns: '%s' gets a column twice: only one can be read",
                        trace_roles[found]);
        }
        named[found] = true;
        column_name_set(trace, found, str_is(name, "-") ? str_of("") : name);
        /* "-": the role has no column, whatever the format says */
        trace->given[found] = !str_is(name, "-");
    }
    return ERR_OK;
}

char trace_format_separator(const struct format *format, struct str text)
{
    struct str rest;
    const struct str line = str_cut(text, '\n', &rest);
    if (!format->header || memchr(line.p, format->separator, line.len) != NULL) {
        return format->separator;
    }
    if (memchr(line.p, ';', line.len) != NULL) {
        return ';';
    }
    return memchr(line.p, '\t', line.len) != NULL ? '\t' : format->separator;
}

enum err trace_format_row_check(const struct trace *trace, struct error *e)
{
    const struct csv *csv = &trace->csv;
    const uint32_t wanted = trace->header_count;
    if (csv->fault != NULL) {
        return csv_fail(csv, (int)csv->fault_field, e, "%s", csv->fault);
    }
    if (csv->count < wanted) {
        return csv_fail(csv, CSV_END, e,
                        "the row ends here, with %u of the %u columns that the header names",
                        csv->count, wanted);
    }
    if (csv->count < trace->format->fields_min) {
        return csv_fail(csv, CSV_END, e, "the row ends here, with %u of the %u fields of %s",
                        csv->count, trace->format->fields_min, trace->format->name);
    }
    for (uint32_t i = wanted; wanted > 0 && i < csv->count; i++) {
        if (str_trim(csv->fields[i]).len > 0) {
            return csv_fail(csv, (int)i, e, "the header names %u columns, and here is one more",
                            wanted);
        }
    }
    return ERR_OK;
}

/* Lists the columns of the header for a message, as many as fit. */
static const char *header_text(const struct trace *trace, char out[static HEADER_TEXT_MAX])
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < trace->header_count; i++) {
        const struct str field = str_trim(trace->csv.fields[i]);
        const size_t room = HEADER_TEXT_MAX - used;
        const int len = snprintf(out + used, room, "%s%.*s", i > 0 ? ", " : "",
                                 (int)(field.len < room ? field.len : room), field.p);
        if (len < 0 || (size_t)len >= room) {
            (void)snprintf(out + HEADER_TEXT_MAX - sizeof "...", sizeof "...", "...");
            break;
        }
        used += (size_t)len;
    }
    return out;
}

static must_use enum err column_missing(const struct trace *trace, const char *name,
                                        struct error *e)
{
    char header[HEADER_TEXT_MAX];
    if (trace->header_count == 0) {
        return csv_fail(&trace->csv, -1, e, "there is no column '%s'; %s has #1 to #%u", name,
                        trace->format->name, trace->format->fields_min);
    }
    return csv_fail(&trace->csv, -1, e, "there is no column '%s'; the header has %s", name,
                    header_text(trace, header));
}

/* Finds the column of a role by its name in the header. Two columns of this name are refused,
 * because one of them would be ignored in silence. */
static must_use enum err column_find(const struct trace *trace, int role, int *ret_column,
                                     struct error *e)
{
    const char *name = trace->names[role];
    const int found = csv_column(&trace->csv, name);
    const int second = found < 0 ? -1 : csv_column_next(&trace->csv, name, found);
    if (second >= 0) {
        return csv_fail(&trace->csv, second, e,
                        "the header names the column '%s' twice; --columns %s=#%d reads the "
                        "first, --columns %s=#%d this one",
                        name, trace_roles[role], found + 1, trace_roles[role], second + 1);
    }
    *ret_column = found;
    return ERR_OK;
}

enum err trace_format_columns_find(struct trace *trace, struct error *e)
{
    const bool header = trace->format->header;
    const uint32_t count = header ? trace->header_count : trace->format->fields_min;
    char text[HEADER_TEXT_MAX];
    enum err r = header ? trace_format_row_check(trace, e) : ERR_OK;
    if (r != ERR_OK) {
        return r;
    }
    for (int i = 0; i < ROLE_COUNT; i++) {
        const char *name = trace->names[i];
        uint64_t number = 0;
        trace->columns[i] = -1;
        if (name[0] == '#' && str_to_u64(str_of(name + 1), &number) && number > 0 &&
            number <= count) {
            trace->columns[i] = (int)number - 1;
        } else if (name[0] != '\0' && header) {
            r = column_find(trace, i, &trace->columns[i], e);
        }
        if (r != ERR_OK) {
            return r;
        }
        if (trace->given[i] && trace->columns[i] < 0) {
            return column_missing(trace, name, e);
        }
    }
    if (trace->columns[ROLE_SUBMIT] < 0) {
        return csv_fail(&trace->csv, -1, e,
                        "there is no column '%s' for the time of submission; --columns "
                        "submit=NAME names it; the header has %s",
                        trace->names[ROLE_SUBMIT], header_text(trace, text));
    }
    if (trace->columns[ROLE_DURATION] < 0 && trace->columns[ROLE_END] < 0) {
        return csv_fail(&trace->csv, -1, e,
                        "there is no column for how long tasks run; --columns duration=NAME "
                        "names it; the header has %s",
                        header_text(trace, text));
    }
    return ERR_OK;
}
