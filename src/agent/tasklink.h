/* tasklink.h - the way out of a network of tasks: a pair of virtual Ethernet devices between the network's namespace and
 * the node, with two addresses of the network's range, and the rules of taskfence.h.
 *
 *   tasks: eth0, the second address ── weirXXXXXXXX, the first address: node ── rules ── outside
 *
 * Each link takes four addresses of the range that no other link of the machine has. So several nodes on one machine can
 * have links of the same network. The kernel removes the devices together with the namespace.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/taskfence.h"
#include "base/fail.h"

struct tasklink {
    char name[TASKFENCE_LINK_LEN + 1]; /* of the device on the node */
    int claim; /* a socket that holds the block of addresses; -1: there is no link */
};

/* Checks whether this process can make links, by making one. The error says what is missing. */
must_use enum err tasklink_able(struct error *e);

/* Makes a link with addresses of `range` between the node and the namespace behind `net_fd`. */
must_use enum err tasklink_open(int net_fd, const char *range, struct tasklink *ret,
                                struct error *e);

/* Removes the link and its rules. False: rules may be left. */
bool tasklink_close(struct tasklink *link);
