/* floor_commit.c - raw SQLite group commit (WAL, synchronous=FULL): the limit for batched durable
 * submissions.
 *
 *   floor_commit FILE ROWS_PER_COMMIT SECONDS      prints one number, rows per second
 *
 * FILE must not exist. SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROW_BYTES = 256 };

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void check(sqlite3 *db, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        (void)fprintf(stderr, "floor_commit: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
    return statement;
}

static void step(sqlite3 *db, sqlite3_stmt *statement)
{
    check(db, sqlite3_step(statement));
    check(db, sqlite3_reset(statement));
}

int main(int argc, char **argv)
{
    static const char row[ROW_BYTES];
    if (argc != 4) {
        (void)fprintf(stderr, "usage: floor_commit FILE ROWS SECONDS\n");
        return 2;
    }
    unsigned long rows = strtoul(argv[2], NULL, 10);
    int64_t seconds = (int64_t)strtoul(argv[3], NULL, 10);
    sqlite3 *db = NULL;
    check(db, sqlite3_open(argv[1], &db));
    check(db, sqlite3_exec(db,
                           "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                           "CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB) STRICT;",
                           NULL, NULL, NULL));
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *insert = prepare(db, "INSERT INTO t(body) VALUES(?)");
    sqlite3_stmt *commit = prepare(db, "COMMIT");
    int64_t start = now_ns();
    uint64_t done = 0;
    while (now_ns() - start < seconds * 1000000000) {
        step(db, begin);
        for (unsigned long i = 0; i < rows; i++) {
            check(db, sqlite3_bind_blob(insert, 1, row, sizeof row, SQLITE_STATIC));
            step(db, insert);
        }
        step(db, commit);
        done += rows;
    }
    (void)printf("%lld\n", (long long)((int64_t)done * 1000000000 / (now_ns() - start)));
    (void)sqlite3_finalize(begin);
    (void)sqlite3_finalize(insert);
    (void)sqlite3_finalize(commit);
    (void)sqlite3_close(db);
    return 0;
}
