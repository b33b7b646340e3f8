/* cost.h - what a change would do: said with --dry-run instead of the change, or said and confirmed before the change is made.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

#define COST_WHATIF "/whatif"

/* A call that changes something. */
struct cost_call {
    const char *method;
    const char *path; /* may have a query; COST_WHATIF: the body names the call */
    struct str body;
    const char
        *what; /* what a dry run says first: "delete pool old"; NULL: only what happens to tasks */
};

/* What happens without a terminal to ask on. */
enum cost_need {
    COST_NEEDS_YES,    /* ERR_CONFLICT wants --yes */
    COST_OTHERWISE_GO, /* the change is made: scripts of administrators set many quotas */
};

/* Says the `warnings` of an answer, if it has any. */
void cost_warn(const struct doc *answer);

/* Says lines of text on standard error. */
void cost_lines_say(struct buf *lines);

/* Is --dry-run given? */
bool cost_is_dry(const struct cli *cli);

/* --dry-run: asks the server what the change would do, and prints the answer on standard output. `*ret_exit`: EXIT_WOULD_CHANGE, or
 * EXIT_OK where nothing would change. */
must_use enum err cost_dry(struct cli *cli, const struct cost_call *call, int *ret_exit,
                           struct error *e);

/* Like cost_dry(), for a command that makes this one call. Returns the exit status. */
int cost_dry_run(struct cli *cli, const struct cost_call *call);

/* Like cost_dry_run(), for a command that makes, changes or deletes the object that its first word names. `what` is the kind
 * of object: "project". */
int cost_dry_object(struct cli *cli, const struct cost_call *call);

/* Asks the server what the change would do and says it, without a question. With --yes nothing is asked or said. The result may be
 * ignored: what cannot be tried is refused by the change itself. */
enum err cost_say(struct cli *cli, const struct cost_call *call, struct error *e);

/* Asks the server what the change would stop. Where it stops running tasks: says what the change does, and asks on
 * the terminal. *ret_go: make the change. With --yes nothing is asked. */
must_use enum err cost_confirm(struct cli *cli, const struct cost_call *call, enum cost_need need,
                               bool *ret_go, struct error *e);
