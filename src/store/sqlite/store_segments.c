/* store_segments.c - are the segments of the log as long as the index says? A look at names and sizes,
 * cheap enough for every start; store_check() reads the bytes. SPDX-License-Identifier: Apache-2.0 */
#include "store/datadir.h"
#include "store/logstore.h"
#include "store/sqlite/db.h"
#include "store/sqlite/store_internal.h"
#include "store/store.h"

#include <inttypes.h>
#include <sys/stat.h>

enum err store_segments_look(struct store *store, store_segment_fn fn, void *ctx, struct error *e)
{
    static const char *const sql = "SELECT segment, bytes FROM log_segment WHERE chunks > 0";
    sqlite3_stmt *stmt;
    enum err r = db_prepare(store->db, &sql, 1, &stmt, e);
    for (bool row = r == ERR_OK; row;) {
        r = db_row(stmt, &row, "read the log index", e);
        if (r != ERR_OK || !row) {
            break;
        }
        const uint64_t bytes = db_u64(stmt, 1);
        struct path path = datadir_segment(store->dir, db_u64(stmt, 0));
        struct stat status;
        const bool there = stat(path.text, &status) == 0;
        if (!there || (uint64_t)status.st_size < bytes) {
            fn(ctx, path.text, there ? (uint64_t)status.st_size : 0, bytes);
        }
    }
    db_finalize(&stmt, 1);
    return r;
}
