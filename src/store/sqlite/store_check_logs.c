/* store_check_logs.c - compares the log index with the segments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_check_internal.h"

#include "store/datadir.h"
#include "store/logstore.h"

#include <inttypes.h>

/* Names a missing segment once, not for every chunk in it. */
static enum err record_check(struct check *check, struct log_reader *reader,
                             const struct log_ref *ref, uint64_t *missing, struct error *e)
{
    if (log_place_segment(ref->place) == *missing) {
        return ERR_OK;
    }
    struct arena arena;
    arena_init(&arena);
    struct str data;
    enum err r = logstore_reader_read(reader, ref, &arena, &data, e);
    arena_done(&arena);
    if (r == ERR_NOT_FOUND) {
        *missing = log_place_segment(ref->place);
        store_check_found(check, "log segment %s is missing",
                          datadir_segment(check->dir, *missing).text);
        return ERR_OK;
    }
    if (r == ERR_CORRUPT) {
        store_check_found(check, "%s (task %" PRIu64 ".%u:%u, stream %u, offset %" PRIu64 ")",
                          e->text, ref->key.task, ref->key.index, ref->key.attempt, ref->key.stream,
                          ref->key.offset);
        return ERR_OK;
    }
    return r;
}

static enum err records_check(struct check *check, sqlite3_stmt *stmt, struct log_reader *reader,
                              struct error *e)
{
    uint64_t missing = 0;
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read the log index", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        struct log_ref ref = {.place = db_u64(stmt, 6),
                              .key = {.task = db_u64(stmt, 0),
                                      .index = (uint32_t)db_u64(stmt, 1),
                                      .attempt = (uint32_t)db_u64(stmt, 2),
                                      .stream = (uint32_t)db_u64(stmt, 3),
                                      .offset = db_u64(stmt, 4)},
                              .len = db_u64(stmt, 5)};
        r = record_check(check, reader, &ref, &missing, e);
        if (r != ERR_OK) {
            return r;
        }
    }
}

static enum err counts_check(struct check *check, sqlite3_stmt *stmt, struct error *e)
{
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read the log index", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        store_check_found(
            check,
            "%s: the index has %" PRIu64 " chunks of segment %" PRIu64 " and counts %" PRIu64,
            datadir_db(check->dir).text, db_u64(stmt, 1), db_u64(stmt, 0), db_u64(stmt, 2));
    }
}

/* A missing segment was named with its chunks. */
static enum err heads_check(struct check *check, sqlite3_stmt *stmt, struct log_reader *reader,
                            struct error *e)
{
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read the log index", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        r = logstore_reader_head(reader, db_u64(stmt, 0), e);
        if (r == ERR_CORRUPT) {
            store_check_found(check, "%s", e->text);
        } else if (r != ERR_OK && r != ERR_NOT_FOUND) {
            return r;
        }
    }
}

enum err store_check_logs(struct check *check, struct error *e)
{
    static const char *const sql[] = {
        "SELECT task, idx, attempt, stream, offset, length, place FROM log_chunk NOT INDEXED",
        "WITH found (segment, chunks) AS "
        "(SELECT place >> 32, count(*) FROM log_chunk NOT INDEXED GROUP BY 1) "
        "SELECT segment, ifnull(found.chunks, 0), ifnull(log_segment.chunks, 0) FROM found "
        "FULL JOIN log_segment USING (segment) "
        "WHERE ifnull(found.chunks, 0) <> ifnull(log_segment.chunks, 0)",
        "SELECT segment FROM log_segment WHERE chunks > 0",
    };
    sqlite3_stmt *stmts[3];
    enum err r = db_prepare(check->db, sql, 3, stmts, e);
    if (r != ERR_OK) {
        return r;
    }
    struct log_reader *reader = logstore_reader_new(check->dir);
    r = records_check(check, stmts[0], reader, e);
    if (r == ERR_OK) {
        r = counts_check(check, stmts[1], e);
    }
    r = r == ERR_OK ? heads_check(check, stmts[2], reader, e) : r;
    logstore_reader_free(reader);
    db_finalize(stmts, 3);
    return r;
}
