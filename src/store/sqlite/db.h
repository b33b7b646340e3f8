/* db.h - one SQLite connection to a data directory: opens, recognises and migrates the database,
 * and has the small helpers that every statement uses. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum db_mode {
    DB_WRITE, /* the server's: migrates, WAL, synchronous=FULL, checkpoints only when told */
    DB_READ,  /* query_only; the schema must be this program's */
    DB_COPY,  /* query_only; an older schema will do */
};

/* Opens a connection for one thread. ERR_CORRUPT names a foreign, damaged or newer file. */
must_use enum err db_open(const char *dir, enum db_mode mode, sqlite3 **ret, struct error *e);

/* Prepares `count` statements into `out`. On failure no statement is left. */
must_use enum err db_prepare(sqlite3 *db, const char *const *sql, size_t count, sqlite3_stmt **out,
                             struct error *e);
void db_finalize(sqlite3_stmt **stmts, size_t count);

/* Turns the connection's last failure into ours: "cannot <doing>: <reason>"; corrupt, busy or
 * I/O. */
enum err db_fail(sqlite3 *db, const char *doing, struct error *e);

/* Runs a statement that gives no rows, and resets it. */
must_use enum err db_run(sqlite3_stmt *stmt, const char *doing, struct error *e);

/* Steps to the next row: *ret_row is true. At its end the statement is reset: *ret_row is false. */
must_use enum err db_row(sqlite3_stmt *stmt, bool *ret_row, const char *doing, struct error *e);

/* Runs a statement whose first row's first column is a number. NULL or no row gives `none`. */
must_use enum err db_number(sqlite3_stmt *stmt, int64_t none, int64_t *ret, struct error *e);

/* Runs one query, given as text, whose first row's first column is a number. */
must_use enum err db_query_number(sqlite3 *db, const char *sql, int64_t *ret, struct error *e);

/* Binds values. Texts and blobs must live until the statement is reset. NULL is bound as empty. */
void db_bind_i64(sqlite3_stmt *stmt, int at, int64_t value);
void db_bind_u64(sqlite3_stmt *stmt, int at, uint64_t value); /* below 2^63 */
void db_bind_text(sqlite3_stmt *stmt, int at, struct str text);
/* NULL binds SQL's NULL. */
void db_bind_text_or_null(sqlite3_stmt *stmt, int at, const char *text);
void db_bind_blob(sqlite3_stmt *stmt, int at, struct str bytes);

/* Read columns of the current row. Texts and blobs are borrowed until the next row. */
uint64_t db_u64(sqlite3_stmt *stmt, int column);
struct str db_str(sqlite3_stmt *stmt, int column);
