/* args.h - the command line, read by the command table: flags with their values, arguments, and
 * the program to run. args_parse() checks values by type, so that reading a value cannot fail.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/vec.h"
#include "cli/command.h"

#include <stdint.h>

enum { ARGS_FLAGS_MAX = 4096 };

struct arg_flag {
    const struct flag *flag;
    const char *value; /* NULL: given without a value (FLAG_BOOL, FLAG_OPTIONAL) */
};

struct args {
    const struct command *command;
    VEC(struct arg_flag) flags; /* in the order of the command line */
    const char **words;         /* arguments */
    size_t word_count;
    char *const *rest; /* the program to run and its arguments; ends with NULL */
    size_t rest_count;
};

/* Reads what follows the command's name. ERR_USAGE names the wrong word and the nearest right
 * one. `args` borrows from argv. args_done() frees the lists of `args`, also after a failure. */
must_use enum err args_parse(const struct command *command, int argc, char *const *argv,
                             struct args *ret_args, struct error *e);
void args_done(struct args *args);

/* Read a flag by its name, which the command must have. The last value given wins. */
bool args_has(const struct args *args, const char *name);
const char *args_text(const struct args *args, const char *name); /* NULL: not given */
uint64_t args_number(const struct args *args, const char *name, uint64_t none); /* FLAG_NUMBER */
int64_t args_duration(const struct args *args, const char *name, int64_t none); /* ms */

/* Walks the values of a FLAG_LIST. Start with *cursor = 0; NULL: no more values. */
const char *args_each(const struct args *args, const char *name, size_t *cursor);
