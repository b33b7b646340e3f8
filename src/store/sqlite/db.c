/* db.c - SQLite behind a few helpers; the only file that knows SQLite's settings.
 *
 * A database is Weir's when its application id is 'WEIR'. PRAGMA user_version is the schema
 * version. Table meta keeps the name of the last migration and the version of the program that made
 * it, so that an older program can say which schema it met.
 *
 * Surprising: nothing but SQLite ever opens the database file, not even to read its head. Closing
 * any descriptor of a file drops all POSIX locks of the process on the file, SQLite's locks too.
 * Another process would then treat the write-ahead log as abandoned.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/db.h"

#include "store/datadir.h"
#include "store/sqlite/meta.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/sum.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    APPLICATION_ID = 0x57454952, /* 'WEIR' */
    BUSY_TIMEOUT_MS = 5000,
};

enum err db_fail(sqlite3 *db, const char *doing, struct error *e)
{
    int code = sqlite3_errcode(db) & 0xff;
    int number = sqlite3_system_errno(db);
    const char *file = sqlite3_db_filename(db, "main");
    bool disk = code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_CANTOPEN;
    bool content = code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH || code == SQLITE_TOOBIG ||
                   code == SQLITE_RANGE;
    enum err kind = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ERR_CORRUPT
                    : code == SQLITE_BUSY || code == SQLITE_LOCKED  ? ERR_BUSY
                    : content                                       ? ERR_INVALID
                                                                    : ERR_IO;
    if (disk && number != 0) {
        return fail_errno(e, kind, number, "cannot %s in '%s': %s", doing, file,
                          sqlite3_errmsg(db));
    }
    if (kind == ERR_CORRUPT) {
        return fail(
            e, kind,
            "'%.60s' is damaged (cannot %s: %.60s): `weir db restore` brings a backup back, "
            "or what can be proven into a new --dir",
            file, doing, sqlite3_errmsg(db));
    }
    return fail(e, kind, "cannot %s in '%s': %s", doing, file, sqlite3_errmsg(db));
}

enum err db_run(sqlite3_stmt *stmt, const char *doing, struct error *e)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_DONE || rc == SQLITE_ROW) {
        (void)sqlite3_reset(stmt);
        return ERR_OK;
    }
    enum err r = db_fail(sqlite3_db_handle(stmt), doing, e);
    (void)sqlite3_reset(stmt);
    return r;
}

enum err db_row(sqlite3_stmt *stmt, bool *ret_row, const char *doing, struct error *e)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        *ret_row = true;
        return ERR_OK;
    }
    *ret_row = false;
    enum err r = rc == SQLITE_DONE ? ERR_OK : db_fail(sqlite3_db_handle(stmt), doing, e);
    (void)sqlite3_reset(stmt);
    return r;
}

enum err db_number(sqlite3_stmt *stmt, int64_t none, int64_t *ret, struct error *e)
{
    bool row;
    enum err r = db_row(stmt, &row, "read", e);
    if (r != ERR_OK) {
        return r;
    }
    *ret = none;
    if (row && sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
        *ret = sqlite3_column_int64(stmt, 0);
    }
    (void)sqlite3_reset(stmt);
    return ERR_OK;
}

enum err db_query_number(sqlite3 *db, const char *sql, int64_t *ret, struct error *e)
{
    sqlite3_stmt *stmt;
    enum err r = db_prepare(db, &sql, 1, &stmt, e);
    if (r != ERR_OK) {
        return r;
    }
    r = db_number(stmt, 0, ret, e);
    db_finalize(&stmt, 1);
    return r;
}

enum err db_prepare(sqlite3 *db, const char *const *sql, size_t count, sqlite3_stmt **out,
                    struct error *e)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        int rc = sqlite3_prepare_v3(db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &out[i], NULL);
        if (rc != SQLITE_OK) {
            enum err r = db_fail(db, "prepare a statement", e);
            if (rc == SQLITE_ERROR) { /* all statements are constant: the tables must be at fault */
                r = fail(e, ERR_CORRUPT, "the schema of '%.100s' is damaged: %s",
                         sqlite3_db_filename(db, "main"), sqlite3_errmsg(db));
            }
            db_finalize(out, count);
            return r;
        }
    }
    return ERR_OK;
}

void db_finalize(sqlite3_stmt **stmts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)sqlite3_finalize(stmts[i]);
        stmts[i] = NULL;
    }
}

void db_bind_i64(sqlite3_stmt *stmt, int at, int64_t value)
{
    int rc = sqlite3_bind_int64(stmt, at, value);
    must(rc == SQLITE_OK);
}

void db_bind_u64(sqlite3_stmt *stmt, int at, uint64_t value)
{
    must(value <= INT64_MAX);
    db_bind_i64(stmt, at, (int64_t)value);
}

void db_bind_text(sqlite3_stmt *stmt, int at, struct str text)
{
    must(text.len <= INT32_MAX);
    int rc =
        sqlite3_bind_text(stmt, at, text.p != NULL ? text.p : "", (int)text.len, SQLITE_STATIC);
    must(rc == SQLITE_OK);
}

void db_bind_text_or_null(sqlite3_stmt *stmt, int at, const char *text)
{
    if (text != NULL) {
        db_bind_text(stmt, at, str_of(text));
    } else {
        must(sqlite3_bind_null(stmt, at) == SQLITE_OK);
    }
}

void db_bind_blob(sqlite3_stmt *stmt, int at, struct str bytes)
{
    must(bytes.len <= INT32_MAX);
    int rc =
        sqlite3_bind_blob(stmt, at, bytes.p != NULL ? bytes.p : "", (int)bytes.len, SQLITE_STATIC);
    must(rc == SQLITE_OK);
}

uint64_t db_u64(sqlite3_stmt *stmt, int column)
{
    return (uint64_t)sqlite3_column_int64(stmt, column);
}

struct str db_str(sqlite3_stmt *stmt, int column)
{
    const char *p = sqlite3_column_blob(stmt, column);
    int len = sqlite3_column_bytes(stmt, column);
    return (struct str){p != NULL ? p : "", len > 0 ? (size_t)len : 0};
}

static enum err db_exec(sqlite3 *db, const char *sql, const char *doing, struct error *e)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? ERR_OK : db_fail(db, doing, e);
}

/* Checks that the file is as long as its page count says, once the write-ahead log is empty.
 * Otherwise a server could work for days on a truncated file before it meets the end. */
static enum err length_check(sqlite3 *db, const struct path *path, struct error *e)
{
    (void)sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    struct stat status;
    char wal[DATADIR_PATH_MAX + 8];
    (void)snprintf(wal, sizeof wal, "%s-wal", path->text);
    if (stat(wal, &status) == 0 && status.st_size > 0) {
        /* The write-ahead log is not empty: a reader is at work, or the disk is full. */
        return ERR_OK;
    }
    int64_t pages;
    int64_t page_bytes;
    enum err r = db_query_number(db, "PRAGMA page_count", &pages, e);
    if (r == ERR_OK) {
        r = db_query_number(db, "PRAGMA page_size", &page_bytes, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    if (stat(path->text, &status) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot read '%s'", path->text);
    }
    if (status.st_size < pages * page_bytes) {
        return fail(e, ERR_CORRUPT, "'%s' is truncated: %" PRId64 " bytes of %" PRId64, path->text,
                    (int64_t)status.st_size, pages * page_bytes);
    }
    return ERR_OK;
}

/* Writes for example "schema 3 (0003_quotas, written by weir 0.4.0)", as far as the file tells. */
static void schema_describe(sqlite3 *db, int64_t version, char *out, size_t size)
{
    static const char *const sql = "SELECT group_concat(value, ', ') FROM (SELECT value FROM meta "
                                   "WHERE key IN ('schema', 'written_by') ORDER BY key)";
    (void)snprintf(out, size, "schema %" PRId64, version);
    sqlite3_stmt *stmt;
    if (db_prepare(db, &sql, 1, &stmt, NULL) != ERR_OK) {
        return;
    }
    bool row;
    if (db_row(stmt, &row, "read", NULL) == ERR_OK && row) {
        struct str text = db_str(stmt, 0);
        (void)snprintf(out, size, "schema %" PRId64 " (%.*s)", version, (int)text.len, text.p);
    }
    db_finalize(&stmt, 1);
}

/* The version stands twice: in the head of the file, and as the name of the last migration. */
static enum err schema_compare(sqlite3 *db, const struct path *path, int64_t version,
                               struct error *e)
{
    char name[META_VALUE_MAX];
    enum err r = meta_get(db, "schema", name, e);
    if (r == ERR_OK && (version < 1 || strcmp(name, migrations[version - 1].name) != 0)) {
        return fail(e, ERR_CORRUPT,
                    "'%.100s' is damaged: its head says schema %" PRId64 ", its table meta '%.40s'",
                    path->text, version, name);
    }
    return r;
}

static enum err schema_recognise(sqlite3 *db, const struct path *path, int64_t *ret_version,
                                 struct error *e)
{
    int64_t id;
    int64_t objects;
    enum err r = db_query_number(db, "PRAGMA application_id", &id, e);
    if (r == ERR_CORRUPT && sqlite3_errcode(db) == SQLITE_NOTADB) {
        return fail(e, ERR_CORRUPT, "'%s' is not a database of Weir", path->text);
    }
    if (r == ERR_OK) {
        r = db_query_number(db, "PRAGMA user_version", ret_version, e);
    }
    if (r == ERR_OK) {
        r = db_query_number(db, "SELECT count(*) FROM sqlite_master", &objects, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    if (id == 0 && *ret_version == 0 && objects == 0) {
        return ERR_OK; /* the database was made, and not yet filled */
    }
    if (id != APPLICATION_ID) {
        return fail(e, ERR_CORRUPT,
                    "'%s' is a database of another program (application id 0x%08" PRIx64
                    " instead of 0x%08x)",
                    path->text, (uint64_t)id, (unsigned)APPLICATION_ID);
    }
    if (*ret_version > migration_count) {
        char found[128];
        schema_describe(db, *ret_version, found, sizeof found);
        return fail(e, ERR_CORRUPT,
                    "'%s' has %s, this program (%s) knows up to %d: use a newer one", path->text,
                    found, WEIR_VERSION, migration_count);
    }
    return schema_compare(db, path, *ret_version, e);
}

static enum err migration_note(sqlite3 *db, const struct migration *migration, struct error *e)
{
    enum err r = meta_put(db, "schema", migration->name, e);
    return r == ERR_OK ? meta_put(db, "written_by", "weir " WEIR_VERSION, e) : r;
}

static enum err migration_steps(sqlite3 *db, int version, struct error *e)
{
    const struct migration *migration = &migrations[version - 1];
    char pragma[64]; /* a PRAGMA takes no parameter; the number is not from outside */
    (void)snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", version);
    enum err r = db_exec(db, "BEGIN IMMEDIATE", "begin a migration", e);
    if (r == ERR_OK) {
        r = db_exec(db, migration->sql, "change the schema", e);
    }
    if (r == ERR_OK) {
        r = migration_note(db, migration, e);
    }
    if (r == ERR_OK) {
        r = db_exec(db, pragma, "set the schema version", e);
    }
    if (r == ERR_OK) {
        r = db_exec(db, "COMMIT", "commit a migration", e);
    }
    if (r != ERR_OK && sqlite3_get_autocommit(db) == 0) {
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    return r;
}

/* Refuses a connection that cannot write. SQLite opens a database for reading when it cannot open
 * the database, or the files beside it, for writing at that moment. Such a connection would refuse
 * every write for as long as it lives. */
static enum err writable_check(sqlite3 *db, const struct path *path, struct error *e)
{
    if (sqlite3_db_readonly(db, "main") != 0) {
        return fail(e, ERR_IO, "cannot open '%s' for writing", path->text);
    }
    return db_exec(db, "BEGIN IMMEDIATE; ROLLBACK", "open for writing", e);
}

static enum err writer_set_up(sqlite3 *db, const struct path *path, struct error *e)
{
    enum err r = writable_check(db, path, e);
    if (r != ERR_OK) {
        return r;
    }
    r = db_exec(db,
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                "PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY",
                "set up the connection", e);
    if (r != ERR_OK) {
        return r;
    }
    int64_t version;
    r = db_query_number(db, "PRAGMA user_version", &version, e);
    for (int next = (int)version + 1; r == ERR_OK && next <= migration_count; next++) {
        r = migration_steps(db, next, e);
    }
    r = r == ERR_OK ? meta_check(db, e) : r;
    return r == ERR_OK ? length_check(db, path, e) : r;
}

static enum err reader_set_up(sqlite3 *db, const struct path *path, int64_t version,
                              struct error *e)
{
    if (version < migration_count) {
        return fail(e, ERR_CONFLICT,
                    "'%s' has schema %" PRId64 ", this program wants %d: start the server once",
                    path->text, version, migration_count);
    }
    /* The write-ahead log of a dead server stays as it is, because it may be evidence. */
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return db_exec(
        db, "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON",
        "set up the connection", e);
}

static enum err connection_set_up(sqlite3 *db, const struct path *path, enum db_mode mode,
                                  struct error *e)
{
    (void)sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    int64_t version;
    enum err r = sum_register(db, e);
    r = r == ERR_OK ? schema_recognise(db, path, &version, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    return mode == DB_WRITE
               ? writer_set_up(db, path, e)
               : reader_set_up(db, path, mode == DB_COPY ? migration_count : version, e);
}

/* Switches off SQLite's count of its memory. The count takes one lock of all threads twice for each
 * allocation, and Weir does not read the count. */
static void memory_uncounted(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

enum err db_open(const char *dir, enum db_mode mode, sqlite3 **ret, struct error *e)
{
    struct path path = datadir_db(dir);
    struct stat status;
    if (stat(path.text, &status) != 0) {
        return fail_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "cannot open '%s'",
                          path.text);
    }
    if (mode != DB_WRITE && status.st_size == 0) {
        return fail(e, ERR_CORRUPT, "'%s' is empty", path.text);
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, memory_uncounted);
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path.text, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    must(db != NULL);
    enum err r = rc == SQLITE_OK ? connection_set_up(db, &path, mode, e) : db_fail(db, "open", e);
    if (r != ERR_OK) {
        (void)sqlite3_close(db);
        return r;
    }
    *ret = db;
    return ERR_OK;
}
