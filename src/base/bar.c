/* bar.c - see bar.h. SPDX-License-Identifier: Apache-2.0 */
#include "base/bar.h"

#include "base/width.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_MAX = 30, WIDTH_MIN = 5, LINE_BYTES = 512, COLUMNS_USUAL = 80 };

void bar_line(struct buf *out, uint32_t permille, const char *text, size_t columns)
{
    static const char marks[] = "##############################";
    const size_t text_width = width_of(str_of(text));
    const size_t around = sizeof "[] " - 1;
    /* The last column stays empty: a line that fills it could not be drawn over. */
    const size_t room = columns > text_width + around + 1 ? columns - text_width - around - 1 : 0;
    const size_t width = room > WIDTH_MAX ? WIDTH_MAX : room;
    const size_t filled = width * (permille > 1000 ? 1000 : permille) / 1000;
    if (width < WIDTH_MIN) {
        buf_add(out, text, width_fit(str_of(text), columns > 0 ? columns - 1 : 0));
    } else {
        buf_addf(out, "[%.*s%*s] %s", (int)filled, marks, (int)(width - filled), "", text);
    }
}

static size_t columns_of(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col
                                                                           : COLUMNS_USUAL;
}

void bar_draw(uint32_t permille, const char *text)
{
    struct buf line;
    buf_init(&line, LINE_BYTES);
    bar_line(&line, permille, text, columns_of());
    (void)fprintf(stderr, "\r%s\x1b[K", buf_text(&line));
    (void)fflush(stderr);
    buf_done(&line);
}

void bar_clear(void)
{
    (void)fputs("\r\x1b[K", stderr);
    (void)fflush(stderr);
}
