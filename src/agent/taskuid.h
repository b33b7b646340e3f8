/* taskuid.h - a user of its own for each task, out of a range of uids that belong to no account. Tasks
 * with different uids cannot signal each other nor read each other's memory, environment and files.
 * Only a supervisor that runs as root can do so. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/runas.h"
#include "base/fail.h"

#include <stdint.h>

#define TASKUID_SUBUID "/etc/subuid"
enum { TASKUID_RANGE_MAX = 65536, TASKUID_FIRST_MIN = 1000 };

/* `count` 0: no range. */
struct taskuid_range {
    uid_t first;
    uint32_t count;
};

/* The range of `wanted` ("200000-265535", or "none"). Where `wanted` is NULL: root's range in the file
 * `subuid` (/etc/subuid), else no range. ERR_INVALID: `wanted` is no range. */
must_use enum err taskuid_range(const char *wanted, const char *subuid, struct taskuid_range *ret,
                                struct error *e);

struct taskuids;

/* NULL for an empty range. */
struct taskuids *taskuid_new(struct taskuid_range range);
void taskuid_free(struct taskuids *uids);

/* The number of the uid that the task gets. A task that runs already may get the same number again;
 * no two tasks have one number at the same time. -1: all numbers are taken. */
int32_t taskuid_take(struct taskuids *uids, uint64_t task);
void taskuid_give(struct taskuids *uids, int32_t number);

/* Makes the account of the number out of the account `base`: uid and gid of its own, the further
 * groups of `base`, and `home` as its directory. */
void taskuid_account(const struct taskuids *uids, int32_t number, const struct runas_account *base,
                     const char *home, struct runas_account *ret);
