/* box_confine.h - a task of an agent that runs as an ordinary user: its program in a view of its own (confine.h), and later programs
 * that join it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box.h"

/* Executes the program of the task in this process. Returns only on failure: an exit code, with the reason in *e. */
typedef int (*box_confine_fn)(struct box *box, struct error *e);

/* Runs the program confined. Returns what box_program() returns. */
int box_confine_run(struct box *box, box_confine_fn program, struct error *e);

/* `weir box enter DIR ATTEMPT ROLE ARG…`: runs `weir ROLE ARG…` where the attempt's program runs, with its environment. Returns the
 * exit code. `argv` begins with ROLE. */
int box_confine_enter(struct box *box, char **argv, struct error *e);

/* The pid of the attempt's program, as the node names it; 0: not known. */
int box_confine_pid(const char *dir, const struct attempt_key *key);
