/* inert.c - see inert.h. SPDX-License-Identifier: Apache-2.0 */
#include "base/inert.h"

#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>

enum { LINE_BYTES_MAX = 6 * ERROR_TEXT_MAX };

/* True for C1 controls, line and paragraph separators, and characters that change the direction
 * of writing. */
static bool point_is_risky(uint32_t point)
{
    return (point >= 0x80 && point < 0xa0) || (point >= 0x200e && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
           point == 0xfeff;
}

static void escape_byte(struct buf *out, unsigned char c)
{
    if (c == '\n') {
        buf_add_str(out, "\\n");
    } else if (c == '\t') {
        buf_add_str(out, "\\t");
    } else if (c == '\r') {
        buf_add_str(out, "\\r");
    } else if (c < 0x20 || c >= 0x7f) {
        buf_addf(out, "\\x%02x", c);
    } else {
        buf_add_char(out, (char)c);
    }
}

void inert_add(struct buf *out, struct str text)
{
    size_t at = 0;
    while (at < text.len) {
        size_t len = utf8_step(text.p + at, text.len - at);
        if (len < 2) {
            escape_byte(out, (unsigned char)text.p[at]);
            at++;
            continue;
        }
        uint32_t point = utf8_point(text.p + at, len);
        if (point_is_risky(point)) {
            buf_addf(out, "\\u%04x", point);
        } else {
            buf_add(out, text.p + at, len);
        }
        at += len;
    }
}

void inert_add_lines(struct buf *out, struct str text)
{
    struct str rest = text;
    while (rest.p != NULL) {
        inert_add(out, str_cut(rest, '\n', &rest));
        buf_add_str(out, rest.p != NULL ? "\n" : "");
    }
}

void inert_print_error(const char *who, const struct error *e)
{
    struct buf line;
    buf_init(&line, LINE_BYTES_MAX);
    inert_add_lines(&line, str_of(e->text));
    (void)fprintf(stderr, "weir %s: %s\n", who, buf_text(&line));
    buf_done(&line);
}
