/* args.h - the command line, read by the command table: flags with their values, arguments, and the
 * command to run. Values are checked by type here, so that reading them cannot fail.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/vec.h"
#include "cli/command.h"

#include <stdint.h>

enum { ARGS_FLAGS_MAX = 4096 };

struct arg_flag {
    const struct flag *flag;
    const char *value; /* NULL: none was given (FLAG_BOOL, FLAG_OPTIONAL) */
};

struct args {
    const struct command *command;
    VEC(struct arg_flag) flags; /* in order */
    const char **words;         /* arguments */
    size_t word_count;
    char *const *rest; /* the command to run; NULL-terminated */
    size_t rest_count;
};

/* Reads what follows the command's name. ERR_USAGE names what is wrong and the nearest right word.
 * `args` borrows from argv; args_done() frees its own lists, also after a failure. */
must_use enum err args_parse(const struct command *command, int argc, char *const *argv,
                             struct args *ret_args, struct error *e);
void args_done(struct args *args);

/* By name, which must be one of the command's flags; the last given wins. */
bool args_has(const struct args *args, const char *name);
const char *args_text(const struct args *args, const char *name); /* NULL: not given */
uint64_t args_number(const struct args *args, const char *name, uint64_t none); /* FLAG_NUMBER */
int64_t args_duration(const struct args *args, const char *name, int64_t none); /* ms */

/* The values of a FLAG_LIST one by one: start with *cursor = 0; NULL at the end. */
const char *args_each(const struct args *args, const char *name, size_t *cursor);
