/* context.c - see context.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/context.h"

#include "base/inert.h"
#include "cli/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 8192,
    OUT_MAX_BYTES = 1 << 24,
    SAY_COLUMNS_MIN = 40, /* on a narrower terminal lines are not wrapped */
    SAY_INDENT = 6,       /* as wide as "weir: " */
    REPORT_INDENT = 2,
};

int64_t context_now_ms(const struct cli *cli)
{
    return cli->at_ms != 0 ? cli->at_ms : text_now_ms();
}

int context_exit_of(enum err code)
{
    switch (code) {
    case ERR_OK:
        return EXIT_OK;
    case ERR_USAGE:
    case ERR_INVALID:
    case ERR_LIMIT:
        return EXIT_USAGE;
    case ERR_NOT_FOUND:
        return EXIT_NOT_FOUND;
    case ERR_DENIED:
        return EXIT_DENIED;
    case ERR_CONFLICT:
        return EXIT_CONFLICT;
    case ERR_UNREACHABLE:
    case ERR_BUSY:
        return EXIT_UNREACHABLE;
    case ERR_TIMEOUT:
        return EXIT_TIMED_OUT;
    case ERR_NEVER:
        return EXIT_NEVER;
    case ERR_IO:
    case ERR_CORRUPT:
    case ERR_INTERNAL:
        return EXIT_FAILED;
    }
    return EXIT_FAILED;
}

void context_line(FILE *out, const char *line, size_t indent)
{
    struct winsize size = {0};
    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col < SAY_COLUMNS_MIN) {
        (void)fprintf(out, "%s\n", line);
        return;
    }
    struct buf wrapped;
    buf_init(&wrapped, LINE_MAX_BYTES * 2);
    text_wrap(&wrapped, str_of(line), size.ws_col, indent);
    (void)fprintf(out, "%s\n", buf_text(&wrapped));
    buf_done(&wrapped);
}

/* How a person calls the program in a message: `weir`, or `./weir` from the directory in which it
 * was built. Set once, before the first message. */
static const char *called = "weir";

void context_called(const char *program)
{
    called = program != NULL && strcmp(program, "./weir") == 0 ? "./weir" : "weir";
}

/* Writes a line of which every `weir COMMAND` can be typed as it stands. */
static void called_add(struct buf *out, const char *line)
{
    static const char mark[] = "`weir ";
    const char *at = line;
    for (const char *found; (found = strstr(at, mark)) != NULL; at = found + sizeof mark - 1) {
        buf_add(out, at, (size_t)(found - at));
        buf_addf(out, "`%s ", called);
    }
    buf_add_str(out, at);
}

void context_say(const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    struct buf typed;
    struct buf shown;
    buf_init(&typed, LINE_MAX_BYTES * 2);
    buf_init(&shown, LINE_MAX_BYTES * 6);
    called_add(&typed, line);
    inert_add_lines(&shown, str_of(buf_text(&typed)));
    context_line(stderr, buf_text(&shown), SAY_INDENT);
    buf_done(&shown);
    buf_done(&typed);
}

void context_report(struct arena *arena, const char *report)
{
    struct str rest = str_of(report);
    while (rest.p != NULL && rest.len > 0) {
        struct str line = str_cut(rest, '\n', &rest);
        const char *text = arena_strn(arena, line.p, line.len);
        if (text[0] == ' ') {
            (void)fprintf(stderr, "%s\n", text); /* a line of the file, or its caret */
        } else {
            context_line(stderr, text, REPORT_INDENT);
        }
    }
}

void context_where(const struct cli *cli)
{
    if (cli->login.context != NULL && cli->login.saved) {
        context_say(
            "      this command talks to %s (context %s); `weir context list` shows other logins",
            cli->login.url, cli->login.context);
    }
}

/* Says what a person could do next, where the message alone does not say it. */
static void hint(const struct cli *cli, enum err code)
{
    if (code == ERR_UNREACHABLE) {
        context_where(cli);
    }
    if (code == ERR_UNREACHABLE && cli->login.dir != NULL) {
        context_say("      is `weir up --dir %s` running? `weir status` tells once it is",
                    cli->login.dir);
    } else if (code == ERR_UNREACHABLE) {
        context_say(
            "      check the address (%s), that the server runs there, and that nothing between "
            "refuses the connection;",
            cli->login.from == NULL ? "WEIR_SERVER" : cli->login.from);
        context_say("      `weir up` starts one on this machine");
    } else if (code == ERR_DENIED) {
        context_say(
            "      `weir whoami` shows who you are there; `weir login URL` saves another token");
    }
}

int context_fail(const struct cli *cli, const struct error *e)
{
    bool named = e->path[0] == '\0' || strstr(e->text, e->path) != NULL;
    context_say("weir: %s%s%s", named ? "" : e->path, named ? "" : ": ", e->text);
    hint(cli, e->code);
    return context_exit_of(e->code);
}

int context_fail_run(const struct cli *cli, const struct error *e)
{
    int code = context_fail(cli, e);
    bool about_request = code == EXIT_USAGE || code == EXIT_NEVER || code == EXIT_TIMED_OUT;
    return about_request ? code : EXIT_WEIR_FAILED;
}

void context_out(struct str text)
{
    size_t done = 0;
    while (done < text.len) {
        ssize_t n = write(STDOUT_FILENO, text.p + done, text.len - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            /* A reader may close the pipe early (`weir task list | head`). Any other failure,
             * such as a full disk, must not look like success. */
            if (errno != EPIPE) {
                context_say("weir: cannot write the output: %s", strerror(errno));
            }
            _exit(errno == EPIPE ? EXIT_OK : EXIT_FAILED);
        }
        done += (size_t)n;
    }
}

void context_out_inert(struct str text)
{
    struct buf shown;
    buf_init(&shown, OUT_MAX_BYTES);
    inert_add_lines(&shown, text);
    context_out((struct str){.p = buf_text(&shown), .len = shown.len});
    buf_done(&shown);
}

void context_out_wrapped(const struct cli *cli, struct str text, size_t indent)
{
    struct buf wrapped;
    buf_init(&wrapped, OUT_MAX_BYTES);
    while (text.len > 0) {
        const struct str line = str_cut(text, '\n', &text);
        if (cli->width > 0) {
            text_wrap(&wrapped, line, cli->width, indent);
        } else {
            buf_add(&wrapped, line.p, line.len);
        }
        buf_add_char(&wrapped, '\n');
    }
    context_out_inert((struct str){.p = buf_text(&wrapped), .len = wrapped.len});
    buf_done(&wrapped);
}

void context_out_text(const char *text)
{
    context_out(str_of(text));
}

enum err context_confirm(const struct cli *cli, size_t objects, bool *ret_yes, struct error *e)
{
    *ret_yes = true;
    if (args_has(&cli->args, "yes")) {
        return ERR_OK;
    }
    if (!isatty(STDIN_FILENO) || !cli->err_tty) {
        return objects <= 1
                   ? ERR_OK
                   : fail(e, ERR_USAGE,
                          "nothing was changed; give --yes to do it without a terminal to ask on");
    }
    (void)fprintf(stderr, "Go on? [y/N] ");
    char line[16] = "";
    *ret_yes = fgets(line, sizeof line, stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
    if (!*ret_yes) {
        context_say("nothing was changed");
    }
    return ERR_OK;
}
