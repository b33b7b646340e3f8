/* help.h - the command table as help texts and manual pages.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

#include <stdio.h>

/* The first screen. */
void help_all(FILE *out);

/* The commands that begin with a word. */
void help_group(const char *group, FILE *out);

/* One command: synopsis, examples, flags. */
void help_command(const struct command *command, FILE *out);

/* One command as a manual page; NULL: that of `weir` itself. */
void help_man(const struct command *command, FILE *out);

/* A topic's text, or NULL. Topics: start with 0; help_topic_name() is NULL at the end. */
const char *help_topic(const char *name);
const char *help_topic_name(size_t index);
const char *help_topic_title(size_t index);
