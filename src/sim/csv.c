/* csv.c - see csv.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/csv.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

void csv_init(struct csv *csv, const char *file, struct str text, char separator,
              struct arena *arena)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t len = sizeof mark - 1;
    if (text.len >= len && memcmp(text.p, mark, len) == 0) {
        text = (struct str){text.p + len, text.len - len};
    }
    *csv = (struct csv){.file = file, .rest = text, .separator = separator, .arena = arena};
}

static struct str line_cut(struct csv *csv)
{
    struct str rest;
    struct str line = str_cut(csv->rest, '\n', &rest);
    csv->rest = rest.p == NULL ? (struct str){line.p + line.len, 0} : rest;
    csv->line++;
    if (line.len > 0 && line.p[line.len - 1] == '\r') {
        line.len--;
    }
    return line;
}

/* Notes a fault of a row. Only the first fault of a row is kept. */
static void fault(struct csv *csv, const char *text)
{
    if (csv->fault == NULL) {
        csv->fault = text;
        csv->fault_field = csv->count - 1;
    }
}

/* Cuts a field in quotes that begins at `at`, and moves *at behind the closing quote. Doubled
 * quotes become one. */
static struct str quoted_cut(struct csv *csv, struct str line, size_t *at)
{
    char *text = arena_alloc(csv->arena, line.len - *at + 1);
    size_t len = 0;
    size_t i = *at + 1;
    for (; i < line.len; i++) {
        if (line.p[i] == '"' && (i + 1 >= line.len || line.p[i + 1] != '"')) {
            break;
        }
        i += line.p[i] == '"';
        text[len++] = line.p[i];
    }
    if (i >= line.len) {
        fault(csv, "the quote is not closed in this line");
    }
    *at = i < line.len ? i + 1 : i;
    return (struct str){text, len};
}

static bool separates(const struct csv *csv, char c)
{
    return c == csv->separator || (csv->separator == ' ' && c == '\t');
}

static void row_split(struct csv *csv, struct str line)
{
    const bool blanks = csv->separator == ' ';
    size_t at = 0;
    csv->count = 0;
    csv->fault = NULL;
    csv->end_column = (unsigned)line.len + 1;
    while (csv->count < CSV_FIELDS_MAX) {
        while (blanks && at < line.len && (line.p[at] == ' ' || line.p[at] == '\t')) {
            at++;
        }
        if (blanks && at == line.len) {
            return;
        }
        struct str *field = &csv->fields[csv->count];
        csv->columns[csv->count++] = (unsigned)at + 1;
        if (at < line.len && line.p[at] == '"') {
            *field = quoted_cut(csv, line, &at);
            if (at < line.len && !separates(csv, line.p[at])) {
                fault(csv, "something follows the closing quote");
            }
        } else {
            const size_t begin = at;
            while (at < line.len && !separates(csv, line.p[at])) {
                at++;
            }
            *field = (struct str){line.p + begin, at - begin};
        }
        if (at >= line.len) {
            return;
        }
        at++;
    }
}

bool csv_next(struct csv *csv)
{
    while (csv->rest.len > 0) {
        const struct str line = line_cut(csv);
        if (str_trim(line).len > 0) {
            row_split(csv, line);
            return true;
        }
    }
    return false;
}

int csv_column_next(const struct csv *csv, const char *name, int after)
{
    for (uint32_t i = (uint32_t)(after + 1); i < csv->count; i++) {
        const struct str field = str_trim(csv->fields[i]);
        if (field.len == strlen(name) && strncasecmp(field.p, name, field.len) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int csv_column(const struct csv *csv, const char *name)
{
    return csv_column_next(csv, name, -1);
}

enum err csv_fail(const struct csv *csv, int field, struct error *e, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    unsigned column = field == CSV_END ? csv->end_column : 1;
    if (field >= 0 && (uint32_t)field < csv->count) {
        column = csv->columns[field];
    }
    return fail(e, ERR_INVALID, "%s:%u:%u: %s", csv->file, csv->line, column, text);
}
