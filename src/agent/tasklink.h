/* tasklink.h - the way out of a network of tasks: a pair of virtual Ethernet devices between the network's namespace and the node,
 * with two addresses out of the network's range, and the rules of taskfence.h.
 *
 *   tasks: eth0, the second address ── weirXXXXXXXX, the first address: node ── rules ── outside
 *
 * Each link takes four addresses of the range that no other link of the machine has, so several nodes on one machine may have the same
 * network. The kernel removes the devices together with the namespace.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/taskfence.h"
#include "base/fail.h"

struct tasklink {
    char name[TASKFENCE_LINK_LEN + 1]; /* of the node's end */
    int claim;                         /* holds the addresses; -1: there is no link */
};

/* Can links be made here? Tries it. The error says what is missing. */
must_use enum err tasklink_able(struct error *e);

/* Makes a link into the namespace behind `net_fd`, with addresses out of `range`. */
must_use enum err tasklink_open(int net_fd, const char *range, struct tasklink *ret,
                                struct error *e);

/* Removes the link and its rules. False: rules may be left. */
bool tasklink_close(struct tasklink *link);
