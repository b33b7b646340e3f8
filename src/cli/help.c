/* help.c - see help.h. Examples come first, because people read them first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include "base/must.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/context.h"
#include "cli/flags.h"
#include "base/suggest.h"
#include "cli/text.h"

#include <string.h>

enum {
    NAME_WIDTH = 17,
    FLAG_WIDTH = 26,
    HELP_INDENT = 2 + 4 + FLAG_WIDTH + 1, /* of the help on a flag, behind its letter and form */
    LINE_BYTES = 512,
};

static void section(const char *title, const struct command *table, FILE *out)
{
    (void)fprintf(out, "\n%s\n", title);
    for (const struct command *c = table; c->name != NULL; c++) {
        if (!c->hidden) {
            char line[LINE_BYTES];
            (void)snprintf(line, sizeof line, "  %-*s %s", NAME_WIDTH, c->name, c->help);
            context_line(out, line, 2 + NAME_WIDTH + 1);
        }
    }
}

void help_all(FILE *out)
{
    (void)fputs("weir: run tasks on pools of machines\n\n"
                "  weir up                       a server and a node on this machine\n"
                "  weir run -- echo hello        the first task\n"
                "  weir task list --watch        what runs, what waits\n",
                out);
    section("Every day", commands_first, out);
    section("Tasks", commands_task, out);
    section("Inside tasks", commands_interactive, out);
    section("Files and updates of tasks", commands_files, out);
    section("Answers", commands_self, out);
    section("Pools", commands_pool, out);
    section("Size of pools", commands_scale, out);
    section("Flavors", commands_flavor, out);
    section("Networks", commands_network, out);
    section("Sharing", commands_account, out);
    section("Nodes", commands_node, out);
    section("Nodes that stay", commands_lock, out);
    section("Configuration", commands_config, out);
    section("Administration", commands_admin, out);
    section("TLS", commands_tls, out);
    section("Screens", commands_screen, out);
    section("Other systems", commands_guild, out);
    (void)fputs(
        "\n`weir COMMAND --help` shows examples and flags; `weir help TOPIC` tells more:\n  ", out);
    for (size_t i = 0; help_topic_name(i) != NULL; i++) {
        (void)fprintf(out, "%s%s", i == 0 ? "" : ", ", help_topic_name(i));
    }
    (void)fputs("\n", out);
}

void help_group(const char *group, FILE *out)
{
    (void)fprintf(out, "weir %s: one of\n", group);
    size_t len = strlen(group);
    struct command_cursor cursor = {0};
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        if (strncmp(c->name, group, len) == 0 && c->name[len] == ' ') {
            (void)fprintf(out, "  %-*s %s\n", NAME_WIDTH, c->name, c->help);
        }
    }
}

static void lines_indented(const char *text, const char *indent, FILE *out)
{
    struct str rest = str_of(text);
    while (rest.p != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        char whole[LINE_BYTES];
        (void)snprintf(whole, sizeof whole, "%s%.*s", indent, (int)line.len, line.p);
        context_line(out, whole, strlen(indent) + 4);
    }
}

/* Writes the form of a flag: "--time 2h", "--json[=lines]", "--yes". */
static void flag_form(const struct flag *flag, char *out, size_t size)
{
    switch (flag->type) {
    case FLAG_BOOL:
        (void)snprintf(out, size, "--%s", flag->name);
        break;
    case FLAG_OPTIONAL:
        (void)snprintf(out, size, "--%s[=%s]", flag->name, flag->value);
        break;
    case FLAG_TEXT:
    case FLAG_LIST:
    case FLAG_NUMBER:
    case FLAG_DURATION:
        (void)snprintf(out, size, "--%s %s", flag->name, flag->value);
        break;
    }
}

static void flag_lines(const struct flag *group, FILE *out)
{
    for (const struct flag *f = group; f->name != NULL; f++) {
        if (f->help == NULL) {
            continue;
        }
        char form[80];
        flag_form(f, form, sizeof form);
        char letter[8] = "    ";
        if (f->letter != 0) {
            (void)snprintf(letter, sizeof letter, "-%c, ", f->letter);
        }
        char line[LINE_BYTES];
        (void)snprintf(line, sizeof line, "  %s%-*s %s", letter, FLAG_WIDTH, form, f->help);
        context_line(out, line, HELP_INDENT);
    }
}

void help_command(const struct command *command, FILE *out)
{
    (void)fprintf(out, "weir %s: %s\n\n", command->name, command->help);
    if (command->examples != NULL) {
        lines_indented(command->examples, "  ", out);
        (void)fputs("\n", out);
    }
    (void)fprintf(out, "Usage: weir %s%s%s\n", command->name, command->args[0] == '\0' ? "" : " ",
                  command->args);
    if (command->more != NULL) {
        (void)fputs("\n", out);
        lines_indented(command->more, "", out);
    }
    (void)fputs("\nFlags\n", out);
    for (size_t i = 0; i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++) {
        flag_lines(command->groups[i], out);
    }
    if (!command->role) {
        flag_lines(flags_common, out);
    }
}

/* ---- manual pages ---- */

/* Writes text for roff. A line must not begin with a dot or a quote; a backslash becomes \e and
 * a dash \-; a character that is not ASCII is written by its number. */
static void roff(const char *text, FILE *out)
{
    bool line_start = true;
    struct str rest = str_of(text);
    while (rest.len > 0) {
        size_t len = utf8_step(rest.p, rest.len);
        must(len > 0); /* our own texts are UTF-8 */
        char c = rest.p[0];
        if (line_start && (c == '.' || c == '\'')) {
            (void)fputs("\\&", out);
        }
        line_start = c == '\n';
        if (len > 1) {
            (void)fprintf(out, "\\[u%04X]", (unsigned)utf8_point(rest.p, len));
        } else if (c == '\\') {
            (void)fputs("\\e", out);
        } else if (c == '-') {
            (void)fputs("\\-", out);
        } else {
            (void)fputc(c, out);
        }
        rest.p += len;
        rest.len -= len;
    }
}

static void roff_flags(const struct flag *group, FILE *out)
{
    for (const struct flag *f = group; f->name != NULL; f++) {
        if (f->help == NULL) {
            continue;
        }
        char form[80];
        flag_form(f, form, sizeof form);
        (void)fputs(".TP\n.B ", out);
        if (f->letter != 0) {
            (void)fprintf(out, "\\-%c, ", f->letter);
        }
        roff(form, out);
        (void)fputs("\n", out);
        roff(f->help, out);
        (void)fputs("\n", out);
    }
}

static void man_head(const char *name, const char *help, FILE *out)
{
    (void)fputs(".TH \"", out);
    for (const char *p = name; *p != '\0'; p++) {
        (void)fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, out);
    }
    (void)fprintf(out, "\" 1 \"\" \"Weir %s\" \"Weir\"\n.SH NAME\n%s \\- ", WEIR_VERSION, name);
    roff(help, out);
    (void)fputs("\n.SH SYNOPSIS\n.B ", out);
}

/* Writes the name of a manual page: "weir-task-list". */
static void page_name(const struct command *command, char *out, size_t size)
{
    (void)snprintf(out, size, "weir-%s", command->name);
    for (char *p = out; *p != '\0'; p++) {
        *p = *p == ' ' ? '-' : *p;
    }
}

static void man_command(const struct command *command, FILE *out)
{
    char page[64];
    page_name(command, page, sizeof page);
    man_head(page, command->help, out);
    (void)fprintf(out, "weir %s\n", command->name);
    roff(command->args, out);
    (void)fputs("\n.SH DESCRIPTION\n", out);
    roff(command->help, out);
    (void)fputs(".\n", out);
    if (command->more != NULL) {
        (void)fputs(".PP\n", out);
        roff(command->more, out);
        (void)fputs("\n", out);
    }
    (void)fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++) {
        roff_flags(command->groups[i], out);
    }
    if (!command->role) {
        roff_flags(flags_common, out);
    }
    if (command->examples != NULL) {
        (void)fputs(".SH EXAMPLES\n.nf\n", out);
        roff(command->examples, out);
        (void)fputs("\n.fi\n", out);
    }
    (void)fputs(".SH EXIT STATUS\n.nf\n", out);
    roff(help_topic("exit-codes"), out);
    (void)fputs("\n.fi\n.SH SEE ALSO\n.BR weir (1)\n", out);
}

static void man_all(FILE *out)
{
    man_head("weir", "run tasks on pools of machines", out);
    (void)fputs("weir\nCOMMAND [flags] [arguments]\n.SH COMMANDS\n", out);
    struct command_cursor cursor = {0};
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        if (!c->hidden) {
            char page[64];
            page_name(c, page, sizeof page);
            (void)fprintf(out, ".TP\n.BR %s (1)\n", page);
            roff(c->help, out);
            (void)fputs("\n", out);
        }
    }
    for (size_t i = 0; help_topic_name(i) != NULL; i++) {
        (void)fprintf(out, ".SH \"%s\"\n.nf\n", help_topic_title(i));
        roff(help_topic(help_topic_name(i)), out);
        (void)fputs("\n.fi\n", out);
    }
}

void help_man(const struct command *command, FILE *out)
{
    command == NULL ? man_all(out) : man_command(command, out);
}
