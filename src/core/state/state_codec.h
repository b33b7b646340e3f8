/* state_codec.h - what the writer and the reader of the whole state share.
 *
 * Only what cannot be derived is stored: sums, counts, queues, orders and hints are made anew by the
 * reader, so that equal states are equal bytes whichever road led to them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define STATE_MAGIC "weir state"
enum {
    STATE_VERSION_FIRST = 1,   /* before accounts and policies; read for ever */
    STATE_VERSION_TAGS = 3,    /* objects end with the fields that came later */
    STATE_VERSION_HISTORY = 4, /* a section of what was used before */
    STATE_VERSION_STALE = 5,   /* since when a gang is below its minimum; why tasks were evicted */
    STATE_VERSION_FORMS = 6,   /* shapes have forms */
    STATE_VERSION_TYPICAL = 7, /* ends with what is usually asked of the pools */
    STATE_VERSION_LENGTHS = 8, /* reservations with a time, expected lengths */
    STATE_VERSION_CHECKPOINT = 9, /* what instances have saved, what evictions cost */
    STATE_VERSION_RAN = 10,       /* since when tasks run, and how long they ran before */
    STATE_VERSION = 10,
};

/* How an instance is stored: one that never ran is a single number. */
enum { INSTANCE_FRESH = 0, INSTANCE_STATE_FIRST = 1 };

/* How a task's state is stored where it does not follow from its instances. */
enum { STATE_DERIVED = 0, STATE_FIRST = 1 };
