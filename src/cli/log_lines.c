/* log_lines.c - see log_lines.h. Output is passed on at once: a line that another instance interrupts
 * is ended, and goes on in a line with its own prefix.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/log_lines.h"

#include "base/must.h"
#include "base/utf8.h"
#include "cli/text.h"

#include <string.h>

/* The length of the incomplete character at the end of the text; 0: there is none. */
static size_t incomplete_len(struct str text)
{
    for (size_t back = 1; back <= 3 && back <= text.len; back++) {
        const unsigned char c = (unsigned char)text.p[text.len - back];
        if ((c & 0xc0) == 0x80) {
            continue;
        }
        const size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        return whole > back ? back : 0;
    }
    return 0;
}

/* Writes a part of a line. Tabs and carriage returns stay: programs draw their progress with them. */
static void part_add(const struct log_lines *lines, unsigned stream, struct str part,
                     struct buf *out)
{
    if (!lines->inert[stream]) {
        buf_add(out, part.p, part.len);
        return;
    }
    size_t start = 0;
    for (size_t i = 0; i <= part.len; i++) {
        const bool passes = i < part.len && (part.p[i] == '\t' || part.p[i] == '\r');
        if (i == part.len || passes) {
            text_escape(out, (struct str){.p = part.p + start, .len = i - start});
            if (passes) {
                buf_add_char(out, part.p[i]);
            }
            start = i + 1;
        }
    }
}

static void prefix_add(const struct log_lines *lines, uint64_t instance, struct buf *out)
{
    enum { COLOURS = 6 };
    if (!lines->prefix) {
        return;
    }
    if (lines->colour) {
        buf_addf(out, "\033[3%dm%llu:\033[0m ", (int)(instance % COLOURS) + 1,
                 (unsigned long long)instance);
    } else {
        buf_addf(out, "%llu: ", (unsigned long long)instance);
    }
}

/* Ends what another instance or stream has begun. */
static void turn(struct log_lines *lines, uint64_t instance, unsigned stream, struct buf *out)
{
    if (lines->instance == instance && lines->stream == stream) {
        return;
    }
    if (lines->open && lines->prefix) {
        buf_add_char(out, '\n');
    }
    lines->open = lines->open && !lines->prefix;
    lines->kept_len = 0;
    lines->instance = instance;
    lines->stream = stream;
}

void log_lines_add(struct log_lines *lines, uint64_t instance, unsigned stream, struct str piece,
                   struct buf *out)
{
    must(stream < LOG_LINES_STREAMS);
    turn(lines, instance, stream, out);
    struct buf text;
    buf_init(&text, piece.len + sizeof lines->kept + 1);
    buf_add(&text, lines->kept, lines->kept_len);
    buf_add(&text, piece.p, piece.len);
    struct str rest = {.p = buf_text(&text), .len = text.len};
    lines->kept_len = lines->inert[stream] ? incomplete_len(rest) : 0;
    rest.len -= lines->kept_len;
    memcpy(lines->kept, rest.p + rest.len, lines->kept_len);
    while (rest.len > 0) {
        const char *end = memchr(rest.p, '\n', rest.len);
        const size_t len = end == NULL ? rest.len : (size_t)(end - rest.p);
        if (!lines->open) {
            prefix_add(lines, instance, out);
        }
        part_add(lines, stream, (struct str){.p = rest.p, .len = len}, out);
        buf_add_str(out, end == NULL ? "" : "\n");
        lines->open = end == NULL;
        rest.p += len + (end != NULL);
        rest.len -= len + (end != NULL);
    }
    buf_done(&text);
}
