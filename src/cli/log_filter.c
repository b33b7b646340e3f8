/* log_filter.c - see log_filter.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/log_filter.h"

#include "base/mem.h"
#include "base/vec.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES_MAX = 1 << 20, /* a longer line is cut into several */
    AT_MAX = 32,
};

struct line {
    struct log_source source;
    char at[AT_MAX]; /* when the first byte of the line arrived */
    struct buf text;
};

struct log_filter {
    bool greps;
    regex_t grep;
    bool timestamps;
    VEC(struct line) lines; /* one for each stream that has been seen */
};

enum err log_filter_new(const char *grep, bool timestamps, struct log_filter **ret, struct error *e)
{
    struct log_filter *filter = xcalloc(1, sizeof *filter);
    filter->timestamps = timestamps;
    const int failed =
        grep == NULL ? 0 : regcomp(&filter->grep, grep, REG_EXTENDED | REG_NOSUB | REG_NEWLINE);
    if (failed != 0) {
        char why[64];
        (void)regerror(failed, &filter->grep, why, sizeof why);
        free(filter);
        return fail(e, ERR_USAGE, "--grep: '%.60s' is no regular expression: %s", grep, why);
    }
    filter->greps = grep != NULL;
    *ret = filter;
    return ERR_OK;
}

void log_filter_free(struct log_filter *filter)
{
    if (filter == NULL) {
        return;
    }
    for (size_t i = 0; i < filter->lines.count; i++) {
        buf_done(&filter->lines.at[i].text);
    }
    vec_done(&filter->lines);
    if (filter->greps) {
        regfree(&filter->grep);
    }
    free(filter);
}

static struct line *line_of(struct log_filter *filter, struct log_source source)
{
    for (size_t i = 0; i < filter->lines.count; i++) {
        const struct log_source *known = &filter->lines.at[i].source;
        if (known->instance == source.instance && known->attempt == source.attempt &&
            known->error == source.error) {
            return &filter->lines.at[i];
        }
    }
    struct line line = {.source = source};
    buf_init(&line.text, LINE_BYTES_MAX);
    vec_push(&filter->lines, line);
    return &filter->lines.at[filter->lines.count - 1];
}

static void line_give(const struct log_filter *filter, struct line *line, struct buf *out)
{
    if (!filter->greps || regexec(&filter->grep, buf_text(&line->text), 0, NULL, 0) == 0) {
        if (filter->timestamps) {
            buf_addf(out, "%s ", line->at);
        }
        buf_add(out, line->text.data, line->text.len);
        buf_add_char(out, '\n');
    }
    buf_clear(&line->text);
}

void log_filter_add(struct log_filter *filter, struct log_source source, const char *at,
                    struct str piece, struct buf *out)
{
    struct line *line = line_of(filter, source);
    while (piece.len > 0) {
        const char *end = memchr(piece.p, '\n', piece.len);
        const size_t room = LINE_BYTES_MAX - line->text.len;
        const size_t whole = end != NULL ? (size_t)(end - piece.p) : piece.len;
        const size_t taken = whole < room ? whole : room;
        if (line->text.len == 0) {
            (void)str_copy(line->at, sizeof line->at, at);
        }
        buf_add(&line->text, piece.p, taken);
        if ((end != NULL && taken == whole) || line->text.len == LINE_BYTES_MAX) {
            line_give(filter, line, out);
        }
        const size_t skip = taken + (end != NULL && taken == whole ? 1 : 0);
        piece = (struct str){piece.p + skip, piece.len - skip};
    }
}

bool log_filter_end(struct log_filter *filter, struct log_source *ret_source, struct buf *out)
{
    for (size_t i = 0; i < filter->lines.count; i++) {
        struct line *line = &filter->lines.at[i];
        if (line->text.len > 0) {
            *ret_source = line->source;
            line_give(filter, line, out);
            return true;
        }
    }
    return false;
}
