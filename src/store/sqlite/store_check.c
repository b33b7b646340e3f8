/* store_check.c - `weir db check`: verifies everything that can be verified without knowing what
 * facts mean. A server may be running; one read transaction sees one state of the database.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_check_internal.h"
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

/* Looks for gaps between facts. Returns the first and last number (0: no facts). */
static enum err facts_check(struct check *check, uint64_t *ret_first, uint64_t *ret_last,
                            struct error *e)
{
    static const char *const sql = "SELECT seq FROM fact ORDER BY seq";
    sqlite3_stmt *stmt;
    enum err r = db_prepare(check->db, &sql, 1, &stmt, e);
    *ret_first = 0;
    *ret_last = 0;
    for (bool row = r == ERR_OK; row;) {
        r = db_row(stmt, &row, "read facts", e);
        if (!row) {
            break;
        }
        uint64_t seq = db_u64(stmt, 0);
        if (*ret_first == 0) {
            *ret_first = seq;
        } else if (seq != *ret_last + 1) {
            store_check_found(check, "%s: facts %" PRIu64 " to %" PRIu64 " are missing",
                              datadir_db(check->dir).text, *ret_last + 1, seq - 1);
        }
        *ret_last = seq;
    }
    db_finalize(&stmt, 1);
    return r;
}

static enum err snapshot_check(struct check *check, uint64_t seq, struct error *e)
{
    struct arena arena;
    struct str bytes;
    arena_init(&arena);
    enum err r = store_snapshot_read(check->dir, seq, &arena, &bytes, e);
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
    struct datadir_numbers numbers;
    enum err r = datadir_list(check->dir, "snapshot", ".snap", &numbers, e);
    *ret_newest = 0;
    for (size_t i = 0; r == ERR_OK && i < numbers.count; i++) {
        r = snapshot_check(check, numbers.at[i], e);
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
    vec_done(&numbers);
    return r;
}

/* Reports a recorded snapshot whose file is missing. Replay works without the snapshot, but an
 * admin should know of the loss. */
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

static enum err parts_check(struct check *check, struct error *e)
{
    uint64_t first;
    uint64_t last;
    uint64_t newest;
    enum err r = pages_check(check, e);
    if (r == ERR_OK) {
        r = facts_check(check, &first, &last, e);
    }
    if (r == ERR_OK) {
        r = snapshots_check(check, last, &newest, e);
    }
    if (r == ERR_OK && first > 1 && newest < first - 1) {
        store_check_found(check,
                          "%s: facts before %" PRIu64 " are gone and no whole snapshot has them",
                          datadir_db(check->dir).text, first);
    }
    if (r == ERR_OK) {
        r = recorded_check(check, e);
    }
    return r == ERR_OK ? store_check_logs(check, e) : r;
}

enum err store_check(const char *dir, const struct store_check_fns *fns, void *ctx, struct error *e)
{
    struct error local;
    e = e != NULL ? e : &local;
    enum err r = datadir_valid(dir, e);
    if (r == ERR_OK) {
        r = datadir_has_db(dir, e);
    }
    auto_free(file_closep) int hold_fd = -1;
    if (r == ERR_OK) {
        r = datadir_hold_files(dir, &hold_fd, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    struct check check = {.dir = dir, .fns = fns, .ctx = ctx};
    r = db_open(dir, DB_READ, &check.db, e);
    if (r == ERR_OK && sqlite3_exec(check.db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        r = db_fail(check.db, "begin a check", e);
    }
    if (r == ERR_OK) {
        r = store_identity_match(check.db, dir, e);
    }
    if (r == ERR_OK) {
        r = parts_check(&check, e);
    }
    if (r == ERR_CORRUPT) {
        /* The database is too damaged for the check to go on. */
        store_check_found(&check, "%s", e->text);
        r = ERR_OK;
    }
    (void)sqlite3_close(check.db);
    return r;
}
