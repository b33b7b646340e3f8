/* command.h - the command table: the one source of the parser, --help, completion and man pages.
 *
 * A command is a row: its words ("task list"), what it takes, one line of help, its flags in groups,
 * examples, and the function that does it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cli;

enum flag_type {
    FLAG_BOOL,     /* --name */
    FLAG_TEXT,     /* --name TEXT */
    FLAG_LIST,     /* --name TEXT, may be given again */
    FLAG_NUMBER,   /* --name N: a whole number, 0 or more */
    FLAG_DURATION, /* --name 2h */
    FLAG_OPTIONAL, /* --name or --name=TEXT */
};

/* What completion offers for an argument or a flag's value. */
enum complete_kind {
    COMPLETE_NONE,
    COMPLETE_TASKS,
    COMPLETE_POOLS,
    COMPLETE_NODES,
    COMPLETE_PROJECTS,
    COMPLETE_DEPARTMENTS,
    COMPLETE_TOKENS,
    COMPLETE_FILES,
    COMPLETE_DIRS,
    COMPLETE_WORDS, /* those of `choices` */
    COMPLETE_TOPICS,
};

struct flag {
    const char *name; /* without the dashes; NULL ends a group */
    char letter;      /* 0: none */
    enum flag_type type;
    const char *value; /* how help shows the value: "N" */
    const char *help;
    enum complete_kind complete;
    const char *choices; /* "a,b": the only values allowed; NULL: any */
};

enum { COMMAND_GROUPS_MAX = 5, COMMAND_WORDS_MAX = 2, ARGS_ANY = 1 << 20 };

/* Usage shows the arguments; `--` and what follows go to `rest` when takes_rest. */
struct command {
    const char *name;
    const char *args; /* "TASK…", "-- CMD…" */
    const char *help; /* one line */
    const char *more; /* paragraphs for --help and the manual; may be NULL */
    const char *examples;
    const struct flag *groups[COMMAND_GROUPS_MAX]; /* the common flags belong to every command */
    int args_min;
    int args_max;
    bool takes_rest; /* a command to run: after `--`, or from the first argument on */
    bool hidden;
    bool role; /* run by main.c, with flags of its own and no common ones; here for help only */
    enum complete_kind complete;
    const char *choices;
    int (*run)(struct cli *cli);
};

/* Every command, in the order help shows them. */
extern const struct command *const command_tables[];
extern const struct flag flags_common[];

/* Walks all commands: start with {0}; NULL at the end. */
struct command_cursor {
    size_t table;
    size_t row;
};
const struct command *command_next(struct command_cursor *cursor);

/* The command that the first words of argv name, and how many words that took; NULL: none. A first
 * word that only begins commands ("task") gives NULL with *ret_words = 1. */
const struct command *command_find(int argc, char *const *argv, int *ret_words);

/* Is this word the first of any command? */
bool command_is_group(const char *word);

/* The flag of this name (or letter, with name NULL), or NULL. */
const struct flag *command_flag(const struct command *command, const char *name, size_t len,
                                char letter);
