/* leave.h - a node that is to be without work: because the node leaves its pool, or because a user drains it.
 *
 *   node-leaving ─▶ the node takes no starts ─▶ its last instance ends ─▶ the provider ends the machine
 *                   └─ busy: what becomes of the tasks that run there
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
