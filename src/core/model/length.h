/* length.h - how long tasks run: what is learned of groups of them, and what is expected of one.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Where an expectation comes from; from LENGTH_BY_NAME on: groups, the most specific first. */
enum length_source {
    LENGTH_UNKNOWN, /* nothing has ended here yet */
    LENGTH_LIMIT,   /* its time limit; nobody has used one yet */
    LENGTH_BY_NAME, /* tasks of its user with its name (numbers in it do not count) and size */
    LENGTH_BY_USER_SIZE,
    LENGTH_BY_USER,
    LENGTH_BY_PROJECT_SIZE,
    LENGTH_BY_PROJECT,
    LENGTH_BY_SITE,
};
enum { LENGTH_SOURCE_COUNT = LENGTH_BY_SITE + 1 };

/* What the tasks of one group that have ended amount to. Sums are halved now and then, so that old ones fade. */
struct length_group {
    uint64_t hash;    /* of what its tasks have in common */
    int64_t day;      /* when one of them last ended; those not seen longest go first */
    int64_t total_ms; /* over `count` runs */
    int64_t
        share_total; /* over `limited_count` runs with a time limit: thousandths of it that they used */
    uint32_t count;
    uint32_t limited_count;
};
