/* meta.c - see meta.h. SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/meta.h"

#include <string.h>

/* The root pages of the tables stay out, because VACUUM moves them. */
#define META_SUM                                                                                   \
    "CAST(weir_sum((SELECT group_concat(key || '=' || value, char(10)) FROM "                      \
    "(SELECT key, value FROM meta WHERE key <> 'sum' ORDER BY key)), "                             \
    "(SELECT group_concat(type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, ''), "      \
    "char(10)) FROM (SELECT * FROM sqlite_master ORDER BY type, name))) AS TEXT)"

enum meta_stmt { META_PUT, META_PUT_SUM };
enum { META_STMT_COUNT = META_PUT_SUM + 1 };
static const char *const put_sql[META_STMT_COUNT] = {
    [META_PUT] = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
    [META_PUT_SUM] = "INSERT OR REPLACE INTO meta (key, value) SELECT 'sum', " META_SUM,
};

enum err meta_get(sqlite3 *db, const char *key, char out[META_VALUE_MAX], struct error *e)
{
    static const char *const sql = "SELECT value FROM meta WHERE key = ?1";
    sqlite3_stmt *stmt;
    bool row = false;
    out[0] = '\0';
    enum err r = db_prepare(db, &sql, 1, &stmt, e);
    if (r != ERR_OK) {
        return r;
    }
    db_bind_text(stmt, 1, str_of(key));
    r = db_row(stmt, &row, "read table meta", e);
    if (r == ERR_OK && row) {
        struct str text = db_str(stmt, 0);
        size_t len = text.len < META_VALUE_MAX ? text.len : META_VALUE_MAX - 1;
        memcpy(out, text.p, len);
        out[len] = '\0';
    }
    db_finalize(&stmt, 1);
    return r;
}

static enum err rows_put(sqlite3 *db, const char *key, const char *value, struct error *e)
{
    sqlite3_stmt *stmts[META_STMT_COUNT];
    enum err r = db_prepare(db, put_sql, META_STMT_COUNT, stmts, e);
    if (r != ERR_OK) {
        return r;
    }
    db_bind_text(stmts[META_PUT], 1, str_of(key));
    db_bind_text(stmts[META_PUT], 2, str_of(value));
    r = db_run(stmts[META_PUT], "write table meta", e);
    r = r == ERR_OK ? db_run(stmts[META_PUT_SUM], "write table meta", e) : r;
    db_finalize(stmts, META_STMT_COUNT);
    return r;
}

/* Works inside and outside of a transaction. */
enum err meta_put(sqlite3 *db, const char *key, const char *value, struct error *e)
{
    if (sqlite3_exec(db, "SAVEPOINT meta", NULL, NULL, NULL) != SQLITE_OK) {
        return db_fail(db, "write table meta", e);
    }
    enum err r = rows_put(db, key, value, e);
    if (r != ERR_OK) {
        (void)sqlite3_exec(db, "ROLLBACK TO meta; RELEASE meta", NULL, NULL, NULL);
        return r;
    }
    if (sqlite3_exec(db, "RELEASE meta", NULL, NULL, NULL) != SQLITE_OK) {
        r = db_fail(db, "write table meta", e);
        (void)sqlite3_exec(db, "ROLLBACK TO meta; RELEASE meta", NULL, NULL, NULL);
    }
    return r;
}

enum err meta_check(sqlite3 *db, struct error *e)
{
    int64_t same;
    enum err r = db_query_number(
        db, "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'sum' AND value = " META_SUM ")", &same,
        e);
    if (r == ERR_OK && same == 0) {
        return fail(e, ERR_CORRUPT,
                    "table meta or the schema of '%.80s' is damaged: the checksum differs",
                    sqlite3_db_filename(db, "main"));
    }
    return r;
}
