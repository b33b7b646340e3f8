/* help.h - help texts and manual pages from the command table.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

#include <stdio.h>

/* Prints the first screen. */
void help_all(FILE *out);

/* Prints the commands that begin with this word. */
void help_group(const char *group, FILE *out);

/* Prints one command: synopsis, examples, flags. */
void help_command(const struct command *command, FILE *out);

/* Prints the manual page of a command; NULL: of `weir` itself. */
void help_man(const struct command *command, FILE *out);

/* Returns the text of a topic, or NULL. To walk the topics start with 0; help_topic_name() is
 * NULL at the end. */
const char *help_topic(const char *name);
const char *help_topic_name(size_t index);
const char *help_topic_title(size_t index);
