/* leave.h - a node that is to be without work: because the node leaves its pool, or because a user drains it.
 *
 *   node-leaving ─▶ the node takes no starts ─▶ its last instance ends ─▶ the provider ends the machine
 *                   └─ busy: what becomes of the tasks that run there
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdint.h>

/* What becomes of the tasks on the node. These numbers are stored. */
enum busy {
    BUSY_WAIT,    /* the tasks run on to their end */
    BUSY_REQUEUE, /* the tasks are told to stop, and run elsewhere */
    BUSY_KILL,    /* the tasks are killed */
    BUSY_REFUSE,  /* nothing is changed while tasks run there */
};
enum { BUSY_COUNT = BUSY_REFUSE + 1 };

/* Why the machine of the node ends once the node has no work. These numbers are stored. */
enum leave {
    LEAVE_NOT,      /* it does not: the node is only drained */
    LEAVE_SCALED,   /* a user made the pool smaller or named the node */
    LEAVE_REPLACED, /* another machine takes its place */
    LEAVE_UNFIT,    /* the node was out of service for too long */
};
enum { LEAVE_COUNT = LEAVE_UNFIT + 1 };

/* The replacement of the nodes of a pool: one node after the other leaves, and the pool asks for others. */
struct replacement {
    uint32_t
        at_once; /* the most nodes that leave or start at one time; 0: no replacement is under way */
    uint32_t total;   /* nodes that the pool had when the replacement began, without locked ones */
    uint32_t begun;   /* of these: nodes that were told to leave */
    uint32_t busy;    /* enum busy */
    launch_id upto;   /* the newest launch that is replaced */
    launch_id cursor; /* launches up to this one were told to leave or stay */
    int64_t since_ms;
};
