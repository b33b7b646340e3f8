/* store_check_internal.h - what the parts of store_check() share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/sqlite/db.h"
#include "store/store.h"

struct check {
    const char *dir;
    sqlite3 *db;
    const struct store_check_fns *fns;
    void *ctx;
    size_t count;
};

/* Reports one finding; beyond STORE_FINDINGS_MAX only that there are more. */
void store_check_found(struct check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Every row of the log index against the bytes it names, and the counts of each segment. */
must_use enum err store_check_logs(struct check *check, struct error *e);
