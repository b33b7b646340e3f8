/* context.h - what every command has at hand: its arguments, where it writes, the server it talks
 * to; and the one road from an error to words and an exit status.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/fail.h"
#include "cli/args.h"
#include "cli/login.h"

struct http_client;

enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_NOT_FOUND = 3,
    EXIT_DENIED = 4,
    EXIT_CONFLICT = 5,
    EXIT_UNREACHABLE = 6,
    EXIT_TIMED_OUT = 7,
    EXIT_WOULD_CHANGE = 8,
    EXIT_NEVER = 9,
    EXIT_WEIR_FAILED = 125, /* `run` and `wait`: not the task's own status */
};

struct cli {
    struct args args;
    struct arena arena; /* for the whole run */
    bool out_tty;
    bool err_tty;
    bool colour;  /* on stdout */
    size_t width; /* of the terminal behind stdout; 0: none, write everything */
    size_t height;
    struct login login;
    struct http_client *client; /* made by the first call */
};

/* The exit status of a code. */
int context_exit_of(enum err code);

/* Says the error on standard error, with what to do about it; its exit status. */
int context_fail(const struct cli *cli, const struct error *e);

/* The same for `weir run` and `wait`: 125 where the status is not about the request itself. */
int context_fail_run(const struct cli *cli, const struct error *e);

/* A line on standard error, for people: talk, never data. */
void context_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes data to standard output; a reader that went away ends the program quietly. */
void context_out(struct str text);
void context_out_text(const char *text);

/* "Really?" on a terminal; `what` has been said before. Without a terminal: true for one object,
 * else ERR_USAGE asks for --yes. *ret_yes says what the person answered. */
must_use enum err context_confirm(const struct cli *cli, size_t objects, bool *ret_yes,
                                  struct error *e);
