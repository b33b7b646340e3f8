/* server_programs.h - the programs that a server file names: can they be run on this machine? A file may be right and its
 * programs may come later, so what is missing is a warning. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/problem.h"

/* ERR_OK: the program of a provider is a file that this process may run. ERR_NOT_FOUND or ERR_DENIED say why it is not. */
must_use enum err server_programs_try(const char *command, struct error *e);

/* Adds a warning, with its place, for each pool of a file that was read without problems whose program cannot be run here. */
void server_programs_look(struct str text, struct arena *arena, struct problems *ret_warnings);
