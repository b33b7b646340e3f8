/* cost.h - what a change would stop, said and confirmed before the change is made.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"

/* What happens without a terminal to ask on. */
enum cost_need {
    COST_NEEDS_YES,    /* ERR_CONFLICT wants --yes */
    COST_OTHERWISE_GO, /* the change is made: scripts of administrators set many quotas */
};

/* Asks the server what the change would stop. Where it stops running tasks: says which, and asks on
 * the terminal. *ret_go: make the change. With --yes nothing is asked. */
must_use enum err cost_confirm(struct cli *cli, const char *method, const char *path,
                               struct str body, enum cost_need need, bool *ret_go, struct error *e);

/* Says which tasks a dry run would stop. Says nothing where there is none. */
struct doc;
void cost_say(const struct doc *answer);
