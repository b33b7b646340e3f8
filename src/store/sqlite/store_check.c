/* store_check.c - `weir db check`: verifies everything that can be verified without knowing what
 * facts mean. A server may be running; one read transaction sees one state of the database.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_check_internal.h"
#include "store/sqlite/meta.h"
#include "store/sqlite/store_internal.h"

#include "base/mem.h"
#include "base/vec.h"
#include "store/datadir.h"
#include "store/file.h"
#include "store/store_snapshot.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { FINDING_LEN_MAX = 1024 };

void store_check_found(struct check *check, const char *format, ...)
{
    if (check->count++ > STORE_FINDINGS_MAX) {
        return;
    }
    char text[FINDING_LEN_MAX];
    if (check->count > STORE_FINDINGS_MAX) {
        check->fns->finding(check->ctx, "there are more findings than are listed");
        return;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    check->fns->finding(check->ctx, text);
}

static enum err pages_check(struct check *check, struct error *e)
{
    static const char *const sql = "PRAGMA integrity_check(100)";
    sqlite3_stmt *stmt;
    enum err r = db_prepare(check->db, &sql, 1, &stmt, e);
    for (bool row = r == ERR_OK; row;) {
        r = db_row(stmt, &row, "check", e);
        struct str text = row ? db_str(stmt, 0) : (struct str){"ok", 2};
        if (!str_is(text, "ok")) {
            store_check_found(check, "%s: %.*s", datadir_db(check->dir).text, (int)text.len,
                              text.p);
        }
    }
    db_finalize(&stmt, 1);
    return r;
}

/* Names a damaged fact, a fact that does not follow the one before it, and a gap. */
static void fact_check(struct check *check, const struct store_fact *fact, uint64_t sum,
                       uint64_t before_seq, uint32_t before_own)
{
    const struct path path = datadir_db(check->dir);
    const char *file = path.text;
    if (before_seq != 0 && fact->seq != before_seq + 1) {
        store_check_found(check, "%s: facts %" PRIu64 " to %" PRIu64 " are missing", file,
                          before_seq + 1, fact->seq - 1);
    } else if (before_seq != 0 && sum_before(sum) != before_own) {
        store_check_found(check, "%s: fact %" PRIu64 " does not follow fact %" PRIu64, file,
                          fact->seq, before_seq);
    }
    if (!sum_fact_right(sum, fact)) {
        store_check_found(check, "%s: fact %" PRIu64 " is damaged (the checksum differs)", file,
                          fact->seq);
    }
}

/* Looks at the chain of facts. Returns the first and last number (0: no facts). */
static enum err facts_check(struct check *check, uint64_t *ret_first, uint64_t *ret_last,
                            struct error *e)
{
    static const char *const sql = "SELECT seq, time_ms, type, body, sum FROM fact ORDER BY seq";
    sqlite3_stmt *stmt;
    uint32_t own = 0;
    enum err r = db_prepare(check->db, &sql, 1, &stmt, e);
    *ret_first = 0;
    *ret_last = 0;
    for (bool row = r == ERR_OK; row;) {
        r = db_row(stmt, &row, "read facts", e);
        if (!row) {
            break;
        }
        struct store_fact fact = sum_fact_row(stmt);
        fact_check(check, &fact, db_u64(stmt, 4), *ret_last, own);
        own = sum_own(db_u64(stmt, 4));
        *ret_first = *ret_first == 0 ? fact.seq : *ret_first;
        *ret_last = fact.seq;
    }
    db_finalize(&stmt, 1);
    return r;
}

/* `crc` as the database has it; -1: the database does not say. */
static enum err snapshot_check(struct check *check, uint64_t seq, int64_t crc, struct error *e)
{
    struct arena arena;
    struct str bytes;
    arena_init(&arena);
    enum err r = store_snapshot_read(check->dir, seq, crc, &arena, &bytes, e);
    if (r == ERR_OK && check->fns->decode != NULL) {
        r = check->fns->decode(bytes, e);
        r = r == ERR_OK ? r
                        : fail_in(e, "snapshot '%s' does not decode",
                                  datadir_snapshot(check->dir, seq).text);
    }
    arena_done(&arena);
    return r;
}

/* Reads each snapshot. *ret_newest is the newest whole snapshot that is not ahead of the facts. */
static enum err snapshots_check(struct check *check, uint64_t last, uint64_t *ret_newest,
                                struct error *e)
{
    static const char *const sql = "SELECT crc FROM snapshot WHERE seq = ?1 AND " SUM_SNAPSHOT;
    struct datadir_numbers numbers = {0};
    sqlite3_stmt *stmt;
    enum err r = db_prepare(check->db, &sql, 1, &stmt, e);
    r = r == ERR_OK ? datadir_list(check->dir, "snapshot", ".snap", &numbers, e) : r;
    *ret_newest = 0;
    for (size_t i = 0; r == ERR_OK && i < numbers.count; i++) {
        int64_t crc = -1;
        db_bind_u64(stmt, 1, numbers.at[i]);
        r = db_number(stmt, -1, &crc, e);
        r = r == ERR_OK ? snapshot_check(check, numbers.at[i], crc, e) : r;
        if (r == ERR_CORRUPT) {
            store_check_found(check, "%s", e->text);
            r = ERR_OK;
        } else if (r == ERR_OK && numbers.at[i] > last) {
            store_check_found(check, "snapshot '%s' is ahead of the last fact, %" PRIu64,
                              datadir_snapshot(check->dir, numbers.at[i]).text, last);
        } else if (r == ERR_OK) {
            *ret_newest = numbers.at[i];
        }
    }
    db_finalize(&stmt, 1);
    vec_done(&numbers);
    return r;
}

/* Reports a recorded snapshot whose file is missing or has another size. Replay works without the
 * snapshot, but an admin should know of the loss. */
static enum err recorded_check(struct check *check, struct error *e)
{
    static const char *const sql = "SELECT seq FROM snapshot ORDER BY seq";
    sqlite3_stmt *stmt;
    enum err r = db_prepare(check->db, &sql, 1, &stmt, e);
    for (bool row = r == ERR_OK; row;) {
        r = db_row(stmt, &row, "read snapshots", e);
        if (!row) {
            break;
        }
        struct path path = datadir_snapshot(check->dir, db_u64(stmt, 0));
        if (access(path.text, F_OK) != 0) {
            store_check_found(check, "snapshot '%s' is missing", path.text);
        }
    }
    db_finalize(&stmt, 1);
    return r;
}

/* Facts and the snapshots that they follow. */
static enum err state_check(struct check *check, struct error *e)
{
    uint64_t first;
    uint64_t last;
    uint64_t newest;
    int64_t start; /* an adopted directory begins with a snapshot and no fact */
    enum err r = facts_check(check, &first, &last, e);
    r = r == ERR_OK ? db_query_number(check->db, "SELECT max(seq) FROM snapshot", &start, e) : r;
    if (r == ERR_OK) {
        r = snapshots_check(check, first > 0 ? last : (uint64_t)start, &newest, e);
    }
    if (r == ERR_OK && first > 1 && newest < first - 1) {
        store_check_found(check,
                          "%s: facts before %" PRIu64 " are gone and no whole snapshot has them",
                          datadir_db(check->dir).text, first);
    }
    r = r == ERR_OK ? recorded_check(check, e) : r;
    return r == ERR_OK
               ? ack_seq_check(check->dir, &check->ack, first > 0 ? last : (uint64_t)start, e)
               : r;
}

static enum err identity_check(struct check *check, struct error *e)
{
    return store_identity_match(check->db, check->dir, e);
}

static enum err meta_part_check(struct check *check, struct error *e)
{
    return meta_check(check->db, e);
}

/* A part that is too damaged to be read to its end is one finding more, and the next part follows. */
static enum err parts_check(struct check *check, struct error *e)
{
    static enum err (*const parts[])(struct check *, struct error *) = {
        identity_check, meta_part_check,  pages_check,
        state_check,    store_check_rows, store_check_logs,
    };
    enum err r = ERR_OK;
    for (size_t i = 0; r == ERR_OK && i < sizeof parts / sizeof parts[0]; i++) {
        r = parts[i](check, e);
        if (r == ERR_CORRUPT) {
            store_check_found(check, "%s", e->text);
            r = ERR_OK;
        }
    }
    return r;
}

/* What was acknowledged comes first: a server at work may store more meanwhile, and never less. */
static enum err ack_check(struct check *check, struct error *e)
{
    enum err r = ack_read(check->dir, &check->ack, e);
    r = r == ERR_OK ? ack_wal_check(check->dir, &check->ack, e) : r;
    if (r == ERR_CORRUPT) {
        store_check_found(check, "%s", e->text);
        r = ERR_OK;
    }
    return r;
}

enum err store_check(const char *dir, const struct store_check_fns *fns, void *ctx, struct error *e)
{
    struct error local;
    e = e != NULL ? e : &local;
    struct check check = {.dir = dir, .fns = fns, .ctx = ctx};
    auto_free(file_closep) int hold_fd = -1;
    enum err r = datadir_valid(dir, e);
    r = r == ERR_OK ? datadir_has_db(dir, e) : r;
    r = r == ERR_OK ? datadir_hold_files(dir, &hold_fd, e) : r;
    r = r == ERR_OK ? ack_check(&check, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    r = db_open(dir, DB_READ, &check.db, e);
    if (r == ERR_OK && sqlite3_exec(check.db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        r = db_fail(check.db, "begin a check", e);
    }
    r = r == ERR_OK ? parts_check(&check, e) : r;
    if (r == ERR_CORRUPT) {
        /* The database is too damaged for the check to go on. */
        store_check_found(&check, "%s", e->text);
        r = ERR_OK;
    }
    (void)sqlite3_close(check.db);
    return r;
}
