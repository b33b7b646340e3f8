/* taskfence.h - the rules of the node's packet filter for the links of tasknet.h, by iptables: what comes from a link goes out
 * under the node's address, and reaches neither the node itself, nor another link, nor the machines' data services (169.254.0.0/16).
 * Nothing from outside opens a connection into a link.
 *
 * Each rule names the link that it is for. A rule whose link is gone holds for nothing, and taskfence_sweep() removes it, whoever made
 * it. So there is no list of rules to keep, and a kill leaves nothing that the next sweep does not find.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>

/* Names of links: this and eight hexadecimal digits. */
#define TASKFENCE_LINK "weir"

enum { TASKFENCE_LINK_LEN = sizeof TASKFENCE_LINK - 1 + 8 };

/* Can rules be made here? The error says what is missing. */
must_use enum err taskfence_able(struct error *e);

/* Makes the rules for a link through which the tasks with this address go out. */
must_use enum err taskfence_make(const char *link, const char *address, struct error *e);

/* Removes all rules of links that are gone. `*ret_others` says whether there are rules of other links. */
must_use enum err taskfence_sweep(bool *ret_others, struct error *e);
