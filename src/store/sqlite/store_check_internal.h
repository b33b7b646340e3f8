/* store_check_internal.h - the struct and functions that the parts of store_check() share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/sqlite/ack.h"
#include "store/sqlite/db.h"
#include "store/store.h"

struct check {
    const char *dir;
    sqlite3 *db;
    const struct store_check_fns *fns;
    void *ctx;
    size_t count;
    struct ack ack; /* what was acknowledged when the check began */
};

/* Reports one finding. After STORE_FINDINGS_MAX findings, reports only that there are more. */
void store_check_found(struct check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Names every row whose checksum differs. */
must_use enum err store_check_rows(struct check *check, struct error *e);

/* Compares every row of the log index with the bytes that it names, and the counts of each
 * segment. */
must_use enum err store_check_logs(struct check *check, struct error *e);
