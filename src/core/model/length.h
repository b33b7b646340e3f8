/* length.h - run lengths: what is learned about groups of similar tasks, and where the expected length of one
 * task comes from.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Where an expected length comes from. From LENGTH_BY_NAME on the values are groups of tasks, the most
 * specific first. */
enum length_source {
    LENGTH_UNKNOWN, /* too few tasks have ended to tell */
    LENGTH_LIMIT,   /* the task's time limit: too few tasks with a time limit have ended */
    LENGTH_BY_NAME, /* tasks of the same user, name and size. Digits in the name do not count */
    LENGTH_BY_USER_SIZE,
    LENGTH_BY_USER,
    LENGTH_BY_PROJECT_SIZE,
    LENGTH_BY_PROJECT,
    LENGTH_BY_SITE,
};
enum { LENGTH_SOURCE_COUNT = LENGTH_BY_SITE + 1 };

/* The sums over the ended tasks of one group. The sums are halved now and then, so that old tasks count less. */
struct length_group {
    uint64_t hash; /* hash of what the group's tasks have in common */
    /* the day on which a task of the group last ended. The group with the earliest day is dropped first */
    int64_t day;
    int64_t total_ms; /* sum over `count` runs */
    /* sum over `limited_count` runs with a time limit: thousandths of the limit that each run used */
    int64_t share_total;
    uint32_t count;
    uint32_t limited_count;
};
