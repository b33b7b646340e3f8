/* sum.h - checksums of the rows of the database. The chain of facts and the SQL functions weir_sum()
 * and weir_chain() are made here. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/sqlite/db.h"
#include "store/store.h"

/* Adds the SQL functions to a connection:
 *   weir_sum(value, …)                      CRC-32C of the values and their types
 *   weir_chain(seq, time_ms, type, body)    the column `sum` of facts that are given in order
 * SUM_… is true for a whole row of a table. Whatever decides what is removed or overwritten looks only
 * at whole rows, and no statement gives a damaged row a new checksum. */
#define SUM_HISTORY                                                                                \
    "sum = weir_sum(task, submitted_ms, ended_ms, state, kind, pool, user, project, name, json)"
#define SUM_ATTEMPT "sum = weir_sum(task, idx, attempt, json, ended_ms)"
#define SUM_PIECE                                                                                  \
    "sum = weir_sum(day, task, idx, attempt, begin_ms, end_ms, lost_ms, slots_milli, asked, "      \
    "waited, ending, kind, pool, user, project, node)"
#define SUM_DAY                                                                                    \
    "sum = weir_sum(day, pool, project, user, kind, asked, used, lost, waited, completed, "        \
    "failed, killed, unavailable, unknown, tries, tries_bad, evicted, node_lost)"
#define SUM_NODE "sum = weir_sum(day, pool, node, used, lost, tries, tries_bad, evicted, node_lost)"
#define SUM_CHUNK "sum = weir_sum(task, idx, attempt, stream, offset, length, time_ms, place)"
#define SUM_SEGMENT "sum = weir_sum(segment, chunks, bytes)"
#define SUM_SNAPSHOT "sum = weir_sum(seq, bytes, crc)"
#define SUM_TOKEN                                                                                  \
    "sum = weir_sum(hash, id, scope, name, created_ms, expires_ms, uses, pool, node, machine)"

enum { SUM_BYTES = 512 };

/* A checksum over values that come one by one. `bytes` holds values that `crc` does not cover yet. */
struct sum_values {
    uint32_t crc;
    size_t len;
    unsigned char bytes[SUM_BYTES];
};

/* Binds the values of a row to the statement's parameters 1, 2, 3 …. sum_row_end() binds the
 * checksum of the values, equal to weir_sum() of them, to the parameter after the last value. The
 * texts must live until the statement has run. */
struct sum_row {
    sqlite3_stmt *stmt;
    int count;
    struct sum_values sum;
};

void sum_row_begin(struct sum_row *row, sqlite3_stmt *stmt);
void sum_row_i64(struct sum_row *row, int64_t value);
void sum_row_u64(struct sum_row *row, uint64_t value);
void sum_row_text(struct sum_row *row, struct str text);
void sum_row_blob(struct sum_row *row, struct str bytes);
void sum_row_end(struct sum_row *row);

must_use enum err sum_register(sqlite3 *db, struct error *e);

/* The fact of a row whose first columns are seq, time_ms, type and body. The body lives until the next row. */
struct store_fact sum_fact_row(sqlite3_stmt *stmt);

/* The column `sum` of a fact: the checksum of the fact before it in the upper half, and its own in
 * the lower half. The own checksum covers the upper half too. `before` is 0 where a chain begins. */
uint64_t sum_fact(uint32_t before, const struct store_fact *fact);

/* Is `sum` the right value for the fact? */
bool sum_fact_right(uint64_t sum, const struct store_fact *fact);

/* ERR_CORRUPT: the fact is damaged, or does not follow fact `seq` with checksum `own` (0: not known). */
must_use enum err sum_fact_next(const char *dir, uint64_t seq, uint32_t own,
                                const struct store_fact *fact, uint64_t sum, struct error *e);

/* ERR_CORRUPT: names the damaged fact, the file and the way back. */
enum err sum_fact_fail(const char *dir, uint64_t seq, struct error *e);

/* The two halves. */
uint32_t sum_before(uint64_t sum);
uint32_t sum_own(uint64_t sum);
