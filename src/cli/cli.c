/* cli.c - finds the command that argv names and runs it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "cli/cmd.h"
#include "cli/context.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "base/suggest.h"
#include "io/http_client.h"
#include "cli/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 80, WIDTH_MIN = 20 };

static void terminal_look(struct cli *cli)
{
    cli->out_tty = isatty(STDOUT_FILENO) == 1;
    cli->err_tty = isatty(STDERR_FILENO) == 1;
    const char *when = args_text(&cli->args, "color");
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    cli->colour = cli->out_tty && !dumb && (no_color == NULL || no_color[0] == '\0');
    if (when != NULL && strcmp(when, "auto") != 0) {
        cli->colour = strcmp(when, "always") == 0;
    }
    if (!cli->out_tty) {
        return;
    }
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    cli->width = known ? size.ws_col : WIDTH_DEFAULT;
    cli->width = cli->width < WIDTH_MIN ? WIDTH_MIN : cli->width;
    cli->height = known ? size.ws_row : 0;
}

static int usage_fail(const struct error *e)
{
    context_say("weir: %s", e->text);
    return EXIT_USAGE;
}

/* Offers the second words of `group`; without a group, all first words. */
static void offer_words(struct suggest *suggest, const char *group, struct arena *arena)
{
    size_t len = group == NULL ? 0 : strlen(group);
    struct command_cursor cursor = {0};
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        if (c->hidden) {
            continue;
        }
        if (group == NULL) {
            suggest_offer(suggest, arena_strn(arena, c->name, strcspn(c->name, " ")));
        } else if (strncmp(c->name, group, len) == 0 && c->name[len] == ' ') {
            suggest_offer(suggest, c->name + len + 1);
        }
    }
}

/* Other names that people try: the verb alone, or the word of another program. */
static const char *other_name(const char *word)
{
    static const char *const pairs[][2] = {
        {"ls", "task list"},    {"list", "task list"},    {"cancel", "task kill"},
        {"show", "task show"},  {"pools", "pool list"},   {"nodes", "node list"},
        {"stop", "down"},       {"start", "up"},          {"exec", "run"},
        {"squeue", "queue"},    {"sbatch", "submit"},     {"srun", "run"},
        {"sinfo", "node list"}, {"scancel", "task kill"}, {"tasks", "task list"},
        {"why", "explain"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(pairs[i][0], word) == 0) {
            return pairs[i][1];
        }
    }
    return NULL;
}

/* What stands before the command is no flag that every command has. */
static void unknown_first_flag(const char *typed)
{
    struct suggest suggest;
    const char *name = typed + strspn(typed, "-");
    suggest_init(&suggest, (struct str){name, strcspn(name, "=")});
    for (const struct flag *flag = flags_common; flag->name != NULL; flag++) {
        suggest_offer(&suggest, flag->name);
    }
    if (suggest.best != NULL) {
        context_say("weir: unknown flag %.60s; did you mean --%s?", typed, suggest.best);
    } else {
        context_say("weir: %.60s cannot stand before the command; `weir help` shows how commands "
                    "look",
                    typed);
    }
}

static int unknown_command(int argc, char *const *argv, int words)
{
    struct arena arena;
    arena_init(&arena);
    const char *group = words == 1 ? argv[0] : NULL;
    const char *typed = argv[words];
    int code = EXIT_USAGE;
    if (group != NULL && (argc == 1 || typed[0] == '-')) {
        bool asked = argc > 1 && (strcmp(typed, "--help") == 0 || strcmp(typed, "-h") == 0);
        help_group(group, asked ? stdout : stderr);
        arena_done(&arena);
        return asked ? EXIT_OK : EXIT_USAGE;
    }
    if (typed[0] == '-') {
        unknown_first_flag(typed);
        arena_done(&arena);
        return code;
    }
    struct suggest suggest;
    suggest_init(&suggest, str_of(typed));
    offer_words(&suggest, group, &arena);
    const char *other = group == NULL ? other_name(typed) : NULL;
    const char *best = other != NULL ? other : suggest.best;
    bool pair = group != NULL;
    if (best != NULL) {
        context_say("weir: unknown command '%s%s%s'; did you mean `weir %s%s%s`?",
                    pair ? group : "", pair ? " " : "", typed, pair ? group : "", pair ? " " : "",
                    best);
    } else {
        context_say("weir: unknown command '%s%s%s'; `weir help` lists them", pair ? group : "",
                    pair ? " " : "", typed);
    }
    arena_done(&arena);
    return code;
}

/* Reads --at of commands that have it. */
static enum err moment_read(struct cli *cli, struct error *e)
{
    const bool known = command_flag(cli->args.command, "at", strlen("at"), 0) != NULL;
    const char *text = known ? args_text(&cli->args, "at") : NULL;
    if (text == NULL) {
        return ERR_OK;
    }
    if (command_flag(cli->args.command, "watch", strlen("watch"), 0) != NULL &&
        args_has(&cli->args, "watch")) {
        return fail(e, ERR_USAGE,
                    "--at shows one moment of the past, and --watch what changes now");
    }
    return text_moment_flag("at", text, &cli->at_ms, e);
}

static int command_run(const struct command *command, int argc, char *const *argv)
{
    struct cli cli = {0};
    struct error e;
    enum err r = args_parse(command, argc, argv, &cli.args, &e);
    r = r == ERR_OK ? moment_read(&cli, &e) : r;
    if (r != ERR_OK) {
        args_done(&cli.args);
        return usage_fail(&e);
    }
    if (args_has(&cli.args, "help")) {
        help_command(command, stdout);
        args_done(&cli.args);
        return EXIT_OK;
    }
    must(command->run != NULL); /* main.c runs the roles itself */
    arena_init(&cli.arena);
    terminal_look(&cli);
    int code = command->run(&cli);
    http_client_free(cli.client);
    arena_done(&cli.arena);
    args_done(&cli.args);
    return code;
}

/* Moves common flags that stand before the command behind it: `weir --server URL status`. */
static void flags_move(int argc, char **argv, struct arena *arena)
{
    int at = 1;
    while (at < argc && argv[at][0] == '-' && argv[at][1] == '-') {
        const char *name = argv[at] + 2;
        const size_t len = strcspn(name, "=");
        const struct flag *flag = flags_common;
        while (flag->name != NULL &&
               (strlen(flag->name) != len || strncmp(flag->name, name, len) != 0)) {
            flag++;
        }
        if (flag->name == NULL || flag->type == FLAG_BOOL) {
            return; /* --help and --version stand first on purpose; others are no flags of all */
        }
        at += name[len] == '=' ? 1 : 2;
    }
    int words = 0;
    if (at == 1 || at >= argc || command_find(argc - at, argv + at, &words) == NULL) {
        return;
    }
    char **flags = arena_dup(arena, argv + 1, (size_t)(at - 1) * sizeof *argv);
    memmove(argv + 1, argv + at, (size_t)words * sizeof *argv);
    memcpy(argv + 1 + words, flags, (size_t)(at - 1) * sizeof *argv);
}

int cli_main(int argc, char **argv)
{
    /* A closed pipe is reported by write() and must not kill the program: the exit status stays
     * one of ours. */
    (void)signal(SIGPIPE, SIG_IGN);
    context_called(argv[0]);
    if (argc < 2) {
        help_all(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_all(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        static char version[] = "version";
        argv[1] = version;
    }
    struct arena arena;
    arena_init(&arena);
    flags_move(argc, argv, &arena);
    arena_done(&arena);
    struct error e;
    if (cmd_whatif_move(argc, argv, &e) != ERR_OK) {
        return usage_fail(&e);
    }
    int words = 0;
    const struct command *command = command_find(argc - 1, argv + 1, &words);
    if (command == NULL) {
        return unknown_command(argc - 1, argv + 1, words);
    }
    return command_run(command, argc - 1 - words, argv + 1 + words);
}
