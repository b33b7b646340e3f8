/* context.h - what every command needs: its arguments, its output, and the server. Also the one
 * place where an error becomes a message and an exit status.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/fail.h"
#include "cli/args.h"
#include "cli/login.h"

#include <stdio.h>

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
    /* Of `run` and `wait`: Weir failed, and the status is not that of the task. */
    EXIT_WEIR_FAILED = 125,
};

struct cli {
    struct args args;
    struct arena arena; /* freed when the command ends */
    bool out_tty;
    bool err_tty;
    bool colour;  /* true: standard output may have colours */
    size_t width; /* columns of the terminal on standard output; 0: no terminal, nothing is cut */
    size_t height;
    struct login login;
    struct http_client *client; /* made by the first call */
    int64_t at_ms;              /* --at: the moment that is shown; 0: now */
    bool watched; /* a wait_line says when the server is lost: other code is silent about it */
};

/* Tells how the program was called (argv[0]), so that messages propose what can be typed. */
void context_called(const char *program);

/* The moment that is shown: that of --at, else now. Ages and spans are counted to it. */
int64_t context_now_ms(const struct cli *cli);

/* Returns the exit status for an error code. */
int context_exit_of(enum err code);

/* Says which server a command talks to, where a saved login chose the server. */
void context_where(const struct cli *cli);

/* Prints the error and a hint on standard error. Returns the exit status. */
int context_fail(const struct cli *cli, const struct error *e);

/* Like context_fail(), for `weir run` and `wait`: 125 where the failure is not about the
 * request. */
int context_fail_run(const struct cli *cli, const struct error *e);

/* Prints a line for people on standard error. Data never goes there. What a terminal would obey is
 * made visible. */
void context_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line for people, whose own text is safe for a terminal. On a terminal the line is broken
 * between words, and further lines begin with `indent` spaces. */
void context_line(FILE *out, const char *line, size_t indent);

/* Prints the problems of a file (problem_report()) on standard error. */
void context_report(struct arena *arena, const char *report);

/* Writes data to standard output. If the reader has closed the pipe, the program ends without a
 * message. */
void context_out(struct str text);
void context_out_text(const char *text);

/* Writes lines for people to standard output. What a terminal would obey is made visible. */
void context_out_inert(struct str text);

/* The same, with lines that are too long for the terminal broken between words; what is broken off goes
 * on behind `indent` spaces. */
void context_out_wrapped(const struct cli *cli, struct str text, size_t indent);

/* Asks for a yes on the terminal, after the caller has said what will happen. Without a terminal
 * the answer is yes for one object, else ERR_USAGE asks for --yes. *ret_yes is the answer. */
must_use enum err context_confirm(const struct cli *cli, size_t objects, bool *ret_yes,
                                  struct error *e);
