/* store_check_rows.c - compares each row with its checksum; facts are in store_check.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_check_internal.h"

#include "store/datadir.h"
#include "store/sqlite/sum.h"

/* Each gives the names of the damaged rows of one table. NOT INDEXED: the rows themselves are read,
 * and no copies of their columns in an index. */
static const char *const damaged_sql[] = {
    "SELECT 'the row of ended task ' || task FROM history NOT INDEXED WHERE (" SUM_HISTORY
    ") IS NOT 1",
    "SELECT 'attempt ' || task || '.' || idx || ':' || attempt FROM attempt NOT INDEXED WHERE "
    "(" SUM_ATTEMPT ") IS NOT 1",
    "SELECT 'the index of the output of ' || task || '.' || idx || ':' || attempt || ', stream ' "
    "|| "
    "stream || ', offset ' || offset FROM log_chunk NOT INDEXED WHERE (" SUM_CHUNK ") IS NOT 1",
    "SELECT 'the row of log segment ' || segment FROM log_segment NOT INDEXED WHERE "
    "(" SUM_SEGMENT ") IS NOT 1",
    "SELECT 'the row of snapshot ' || seq FROM snapshot NOT INDEXED WHERE (" SUM_SNAPSHOT
    ") IS NOT 1",
    "SELECT 'what attempt ' || task || '.' || idx || ':' || attempt || ' used' FROM usage_piece "
    "WHERE (" SUM_PIECE ") IS NOT 1",
    "SELECT 'what was used on ' || date(day * 86400, 'unixepoch') || ' in pool ' || pool FROM "
    "usage_day WHERE (" SUM_DAY ") IS NOT 1",
    "SELECT 'what node ' || node || ' did on ' || date(day * 86400, 'unixepoch') FROM usage_node "
    "WHERE (" SUM_NODE ") IS NOT 1",
    "SELECT 'the row of token ' || id FROM token NOT INDEXED WHERE (" SUM_TOKEN ") IS NOT 1",
};
enum { TABLE_COUNT = sizeof damaged_sql / sizeof damaged_sql[0] };

static enum err table_check(struct check *check, sqlite3_stmt *stmt, struct error *e)
{
    const struct path path = datadir_db(check->dir);
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read rows", e);
        if (r == ERR_CORRUPT) { /* the other tables may be readable */
            store_check_found(check, "%s", e->text);
            return ERR_OK;
        }
        if (r != ERR_OK || !row) {
            return r;
        }
        struct str name = db_str(stmt, 0);
        store_check_found(check, "%s: %.*s is damaged (the checksum differs)", path.text,
                          (int)name.len, name.p);
    }
}

enum err store_check_rows(struct check *check, struct error *e)
{
    sqlite3_stmt *stmts[TABLE_COUNT];
    enum err r = db_prepare(check->db, damaged_sql, TABLE_COUNT, stmts, e);
    for (size_t i = 0; r == ERR_OK && i < TABLE_COUNT; i++) {
        r = table_check(check, stmts[i], e);
    }
    if (r != ERR_OK) {
        return r;
    }
    db_finalize(stmts, TABLE_COUNT);
    return ERR_OK;
}
