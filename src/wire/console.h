/* console.h - the frames between a client and a program inside an attempt (weir task exec, weir shell).
 * A frame is a type of one byte, the length of its content in four bytes, most significant first, and
 * the content. Both sides read frames with console_get(), which bounds them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

enum { CONSOLE_HEAD_LEN = 5, CONSOLE_FRAME_MAX = 64 * 1024 };

enum console_type {
    CONSOLE_INPUT = 'i',     /* client: bytes for standard input, or typed on the terminal */
    CONSOLE_INPUT_END = 'z', /* client: there is no more input */
    CONSOLE_SIZE = 'w',      /* client: rows and columns of the terminal, two bytes each */
    CONSOLE_OUTPUT = 'o',    /* program: bytes of standard output, or of the terminal */
    CONSOLE_ERROR = 'e',     /* program: bytes of standard error */
    CONSOLE_EXIT = 'x',      /* program: its exit code in one byte; the last frame */
    CONSOLE_FAILURE = 'f',   /* program: why it could not run; a text; the last frame */
};

struct console_frame {
    enum console_type type;
    struct str data; /* borrowed from the input */
};

void console_put(struct buf *out, enum console_type type, struct str data);
void console_put_size(struct buf *out, uint16_t rows, uint16_t columns);

/* Reads the first frame. Returns its full length, 0 when the frame is not complete, or -1 when it is
 * longer than CONSOLE_FRAME_MAX. */
long console_get(struct str in, struct console_frame *ret);

/* False: the content is not a size. */
bool console_size(struct str data, uint16_t *ret_rows, uint16_t *ret_columns);

/* Reads "24x80". */
bool console_size_parse(const char *text, uint16_t *ret_rows, uint16_t *ret_columns);
