/* leave.h - a node that is to be without work.
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
