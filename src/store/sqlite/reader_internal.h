/* reader_internal.h - the reader's struct, shared by store_reader.c and store_history.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/logstore.h"
#include "store/sqlite/db.h"
#include "store/store.h"

/* The statements, prepared once at open. store_reader.c has their texts. */
enum read_stmt {
    READ_FACT_FIRST,
    READ_FACT_LAST,
    READ_FACT_TIME,
    READ_SNAPSHOT_CRC,
    READ_FACT_PAGE,
    READ_HISTORY_GET,
    READ_HISTORY_ALL,
    READ_HISTORY_RECENT,
    READ_HISTORY_LAST,
    READ_HISTORY_POOL,
    READ_HISTORY_USER,
    READ_HISTORY_PROJECT,
    READ_HISTORY_NAME,
    READ_HISTORY_STATE,
    READ_ATTEMPTS,
    READ_LOG,
    READ_LOG_BACK,
    READ_LOG_HAS,
    READ_USAGE,
    READ_USAGE_NODE,
    READ_USAGE_FIRST,
    READ_USAGE_EXACT,
    READ_TIMELINE,
    READ_TIMELINE_ROWS,
};
enum { READ_STMT_COUNT = READ_TIMELINE_ROWS + 1 };

struct store_reader {
    char *dir;
    sqlite3 *db;
    sqlite3_stmt *stmt[READ_STMT_COUNT];
    struct log_reader *logs;
    struct map *prices; /* of the question about use that is read: by pool (store_usage_cost.c) */
};
