/* console_internal.h - the program of a console and its descriptors, shared by console.c (exec, attach)
 * and console_host.c. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "wire/console.h"

#include <sys/types.h>

#define CONSOLE_SOCKET ".weir-console" /* in the job directory */

enum {
    CONSOLE_PIPE_BYTES = 128 * 1024, /* waiting in one direction; then its reader stops */
    CONSOLE_READ_BYTES = 16 * 1024,
};

struct console_program {
    pid_t pid;
    int pidfd;
    int in;  /* its standard input, or the terminal; -1: closed */
    int out; /* its standard output, or the terminal; -1: ended */
    int err; /* its standard error; -1: ended, or on the terminal */
    bool terminal;
};

/* Starts the program in a session (with a terminal) or process group of its own. */
must_use enum err console_program_start(char *const *argv, const char *terminal,
                                        struct console_program *ret, struct error *e);

void console_program_size(const struct console_program *program, struct str data);

/* The exit code once the pidfd is readable: 128 + n for signal n. */
int console_program_code(const struct console_program *program);

/* Ends the program's group: SIGHUP now, SIGKILL after a moment. */
void console_program_end(const struct console_program *program);

/* Reads once into frames of `type`. False: the descriptor has ended. */
bool console_read(int fd, enum console_type type, struct buf *out);

/* Writes what the descriptor takes now. False: nobody reads it any more. */
bool console_write(int fd, struct buf *data);

/* console_host.c */
int console_host(char *const *argv);
int console_host_attach(const char *terminal);
