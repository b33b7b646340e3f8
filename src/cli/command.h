/* command.h - the command table: the one source of the parser, --help, completion and man pages.
 *
 * A command is a row: its words ("task list"), its arguments, one line of help, groups of flags,
 * examples, and its function.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cli;
struct cmd_object;

enum flag_type {
    FLAG_BOOL,     /* --name */
    FLAG_TEXT,     /* --name TEXT */
    FLAG_LIST,     /* --name TEXT, may be given several times */
    FLAG_NUMBER,   /* --name N: a whole number, 0 or more */
    FLAG_DURATION, /* --name 2h */
    FLAG_OPTIONAL, /* --name or --name=TEXT */
};

/* What completion offers for an argument or for the value of a flag. */
enum complete_kind {
    COMPLETE_NONE,
    COMPLETE_TASKS,
    COMPLETE_POOLS,
    COMPLETE_FLAVORS,
    COMPLETE_NETWORKS,
    COMPLETE_NODES,
    COMPLETE_PROJECTS,
    COMPLETE_DEPARTMENTS,
    COMPLETE_TOKENS,
    COMPLETE_FILES,
    COMPLETE_DIRS,
    COMPLETE_WORDS, /* the words of `choices` */
    COMPLETE_TOPICS,
    COMPLETE_STATES, /* of tasks */
    COMPLETE_PLACES, /* tasks, nodes and pools */
};

struct flag {
    const char *name; /* without the dashes; NULL ends a group */
    char letter;      /* 0: none */
    enum flag_type type;
    const char *value; /* placeholder of the value in help texts: "N" */
    const char *help;  /* NULL: a flag that is always refused; no help and no completion shows it */
    enum complete_kind complete;
    const char *choices; /* "a,b": the only values allowed; NULL: any */
};

enum { COMMAND_GROUPS_MAX = 7, COMMAND_WORDS_MAX = 2, ARGS_ANY = 1 << 20 };

/* A row of the command table. */
struct command {
    const char *name;
    const char *args; /* "TASK…", "-- CMD…" */
    const char *help; /* one line */
    const char *more; /* paragraphs for --help and the manual, or NULL */
    const char *examples;
    /* The common flags belong to every command and are not listed. */
    const struct flag *groups[COMMAND_GROUPS_MAX];
    int args_min;
    int args_max;
    bool takes_rest; /* takes a program to run: after `--`, or from the first argument on */
    bool hidden;
    /* Run by main.c, with its own flags and without the common ones; listed for help only. */
    bool role;
    enum complete_kind complete;
    const char *choices;
    /* for a command of cmd_object.h: the kind of object; else NULL */
    const struct cmd_object *object;
    int (*run)(struct cli *cli);
};

/* All commands, in the order of the help text. */
extern const struct command *const command_tables[];
extern const struct flag flags_common[];

/* Walks all commands. Start with {0}; NULL: no more commands. */
struct command_cursor {
    size_t table;
    size_t row;
};
const struct command *command_next(struct command_cursor *cursor);

/* Returns the command that the first words of argv name, and the number of these words. NULL:
 * there is none. A first word that begins commands but is none itself ("task") gives NULL and
 * *ret_words = 1. */
const struct command *command_find(int argc, char *const *argv, int *ret_words);

/* True when this word is the first word of a command. */
bool command_is_group(const char *word);

/* Finds a flag by name, or by letter when `name` is NULL. NULL: there is none. */
const struct flag *command_flag(const struct command *command, const char *name, size_t len,
                                char letter);
