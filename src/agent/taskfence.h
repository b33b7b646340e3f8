/* taskfence.h - the rules of the node's packet filter (iptables) for the links of tasklink.h. What
 * comes from a link goes out under the node's address. What comes from a link reaches neither the
 * node itself, nor another link, nor the data services of clouds (169.254.0.0/16). Nothing outside
 * can open a connection into a link.
 *
 * Each rule names its link. A rule whose link is gone has no effect, and taskfence_sweep() removes
 * it, whichever process made it. So no list of rules has to be kept, and a killed supervisor leaves
 * no rule that the next sweep does not find. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>

/* The names of links begin with this word, and eight hexadecimal digits follow. */
#define TASKFENCE_LINK "weir"

enum { TASKFENCE_LINK_LEN = sizeof TASKFENCE_LINK - 1 + 8 };

/* Checks whether this process can make rules. The error says what is missing. */
must_use enum err taskfence_able(struct error *e);

/* Makes the rules for a link. `address` is the address of the link's end inside the network. */
must_use enum err taskfence_make(const char *link, const char *address, struct error *e);

/* Removes all rules whose links are gone. `*ret_others` says whether rules of living links are
 * there. */
must_use enum err taskfence_sweep(bool *ret_others, struct error *e);
