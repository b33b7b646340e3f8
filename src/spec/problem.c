/* problem.c - turns problems of a document into errors and into text for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/problem.h"

#include "base/inert.h"
#include "base/utf8.h"
#include "base/width.h"

enum {
    SHOWN_BYTES = 72,  /* of a line: one row of a terminal */
    BEFORE_BYTES = 50, /* of these at most so many before the caret */
    REPORT_BYTES_MAX = 256 * 1024,
};

enum err problem_error(const struct problems *problems, struct error *e)
{
    if (problems->total == 0) {
        return ERR_OK;
    }
    const struct problem *first = &problems->at[0];
    return fail_at(e, ERR_INVALID, first->path, "%s%s%s", first->path,
                   first->path[0] != '\0' ? ": " : "", first->text);
}

enum err problem_file_error(const struct problems *problems, const char *file, struct error *e)
{
    if (problem_error(problems, e) == ERR_OK) {
        return ERR_OK;
    }
    if (problems->at[0].line == 0) {
        return fail_in(e, "%s", file);
    }
    return fail_in(e, "%s:%u:%u", file, problems->at[0].line, problems->at[0].column);
}

const char *problem_text(const struct problem *problem, struct arena *arena)
{
    return arena_fmt(arena, "%s%s%s", problem->path, problem->path[0] != '\0' ? ": " : "",
                     problem->text);
}

void problem_syntax(struct problems *problems, struct arena *arena, const struct error *e)
{
    problems->at[0] = (struct problem){
        .line = e->line,
        .column = e->column,
        .path = arena_str(arena, e->path),
        .text = arena_str(arena, fail_line_text(e)),
    };
    problems->count = 1;
    problems->total = 1;
}

/* ---- the report ---- */

static struct str line_of(struct str text, unsigned line)
{
    struct str rest = text;
    struct str found = {0};
    for (unsigned i = 0; i < line && rest.p != NULL; i++) {
        found = str_cut(rest, '\n', &rest);
    }
    return found;
}

/* The byte of the line at which the character `column` begins. */
static size_t byte_of(struct str line, unsigned column)
{
    size_t at = 0;
    for (unsigned i = 1; i < column && at < line.len; i++) {
        const size_t len = utf8_step(line.p + at, line.len - at);
        at += len > 0 ? len : 1;
    }
    return at;
}

/* A UTF-8 character has up to four bytes. Returns the index of the first character that begins at byte `at` or later. */
static size_t character_at(struct str line, size_t at)
{
    while (at < line.len && ((unsigned char)line.p[at] & 0xc0) == 0x80) {
        at++;
    }
    return at;
}

/* Shows the line around the place, and a caret below the place. The caret stands right also where
 * a character before the place is shown as \x1b or takes two columns. */
static void place_add(struct buf *out, struct str line, unsigned column)
{
    const size_t place = byte_of(line, column);
    const size_t begin = place > BEFORE_BYTES ? character_at(line, place - BEFORE_BYTES) : 0;
    const size_t end =
        character_at(line, line.len - begin > SHOWN_BYTES ? begin + SHOWN_BYTES : line.len);
    struct buf before;
    buf_init(&before, REPORT_BYTES_MAX);
    buf_add_str(&before, begin > 0 ? "…" : "");
    inert_add(&before, (struct str){.p = line.p + begin, .len = place - begin});
    const struct str shown = {.p = buf_text(&before), .len = before.len};
    buf_addf(out, "    %s", shown.p);
    inert_add(out, (struct str){.p = line.p + place, .len = end - place});
    buf_addf(out, "%s\n    %*s^\n", end < line.len ? "…" : "", (int)width_of(shown), "");
    buf_done(&before);
}

const char *problem_report(const struct problems *problems, const char *file, struct str text,
                           struct arena *arena)
{
    struct buf out;
    buf_init(&out, REPORT_BYTES_MAX);
    for (uint32_t i = 0; i < problems->count; i++) {
        const struct problem *problem = &problems->at[i];
        const struct str line = line_of(text, problem->line);
        inert_add(&out, str_of(file));
        if (problem->line > 0) {
            buf_addf(&out, ":%u:%u", problem->line, problem->column);
        }
        buf_add_str(&out, ": ");
        inert_add(&out, str_of(problem_text(problem, arena)));
        buf_add_char(&out, '\n');
        if (line.p != NULL) {
            place_add(&out, line, problem->column);
        }
    }
    if (problems->total > problems->count) {
        buf_addf(&out, "… and %u more\n", problems->total - problems->count);
    }
    const char *report = arena_str(arena, buf_text(&out));
    buf_done(&out);
    return report;
}

enum err problem_count_error(const struct problems *problems, const char *file, struct error *e)
{
    return problems->total == 0 ? ERR_OK
                                : fail(e, ERR_INVALID, "%u problem%s in %s", problems->total,
                                       problems->total == 1 ? "" : "s", file);
}
