/* fuzz_console.c - the frames between a client and a program inside an attempt. Frames that were read are
 * written again and must give the same bytes; a frame that is cut short is not complete.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/arena.h"
#include "base/must.h"
#include "wire/console.h"

#include <string.h>

enum { OUT_MAX = CONSOLE_HEAD_LEN + CONSOLE_FRAME_MAX, CELLS_MAX = 10000 };

static void frame_again(struct str in, const struct console_frame *frame, size_t len)
{
    struct console_frame cut;
    struct buf out;
    uint16_t rows;
    uint16_t columns;
    must(len <= in.len);
    must(frame->data.len <= CONSOLE_FRAME_MAX);
    must(frame->data.len + CONSOLE_HEAD_LEN == len);
    must(console_get((struct str){in.p, len - 1}, &cut) == 0);
    buf_init(&out, OUT_MAX);
    console_put(&out, frame->type, frame->data);
    must(!out.full);
    must(out.len == len);
    must(memcmp(out.data, in.p, len) == 0);
    if (frame->type == CONSOLE_SIZE && console_size(frame->data, &rows, &columns)) {
        buf_clear(&out);
        console_put_size(&out, rows, columns);
        must(out.len == len);
        must(memcmp(out.data, in.p, len) == 0);
    }
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size};
    struct arena arena;
    uint16_t rows;
    uint16_t columns;
    arena_init(&arena);
    if (console_size_parse(arena_strn(&arena, rest.p, rest.len), &rows, &columns)) {
        must(rows > 0 && rows <= CELLS_MAX);
        must(columns > 0 && columns <= CELLS_MAX);
    }
    arena_done(&arena);
    for (long len = 1; len > 0;) {
        struct console_frame frame;
        len = console_get(rest, &frame);
        if (len > 0) {
            frame_again(rest, &frame, (size_t)len);
            rest = (struct str){rest.p + len, rest.len - (size_t)len};
        }
    }
    return 0;
}
