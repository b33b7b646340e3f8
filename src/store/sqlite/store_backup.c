/* store_backup.c - whole copies of a data directory: `weir db backup` and `weir db restore`.
 *
 * The database is copied first, in one read transaction, then the files that the copy names. These
 * files only grow behind the end that the copy names, and no process removes them meanwhile
 * (datadir_hold_files). SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/db.h"
#include "store/sqlite/store_internal.h"
#include "store/sqlite/store_salvage.h"

#include "base/mem.h"
#include "base/vec.h"
#include "store/datadir.h"
#include "store/file.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REMOVE_DESCRIPTORS = 16 };

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)remove(walk->level > 0 ? path : "");
    return 0;
}

/* Empties a directory that this program filled. */
static void contents_remove(const char *dir)
{
    (void)nftw(dir, entry_remove, REMOVE_DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static enum err pages_copy(sqlite3 *from, sqlite3 *to, struct error *e)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (backup == NULL) {
        return db_fail(to, "begin a copy", e);
    }
    /* Copies all pages in one step. With smaller steps a busy server would make the backup begin
     * again for ever. */
    (void)sqlite3_backup_step(backup, -1);
    if (sqlite3_backup_finish(backup) != SQLITE_OK) {
        return db_fail(to, "copy the database", e);
    }
    /* The copy has no write-ahead log, so that it can be read on a read-only medium. */
    if (sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK) {
        return db_fail(to, "finish a copy", e);
    }
    return ERR_OK;
}

static enum err database_copy(sqlite3 *from, const char *path, struct error *e)
{
    sqlite3 *to = NULL;
    auto_free(file_closep) int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot create '%s'", path);
    }
    int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    must(to != NULL);
    enum err r = rc == SQLITE_OK ? pages_copy(from, to, e) : db_fail(to, "open a copy", e);
    (void)sqlite3_close(to);
    return r == ERR_OK ? file_sync((struct file){fd, path}, e) : r;
}

static enum err segments_copy(sqlite3 *db, const char *from, const char *to, struct error *e)
{
    static const char *const sql = "SELECT segment, bytes FROM log_segment WHERE chunks > 0";
    sqlite3_stmt *stmt;
    enum err r = db_prepare(db, &sql, 1, &stmt, e);
    for (bool row = r == ERR_OK; row;) {
        r = db_row(stmt, &row, "read the log index", e);
        if (r == ERR_OK && row) {
            struct path source = datadir_segment(from, db_u64(stmt, 0));
            struct path target = datadir_segment(to, db_u64(stmt, 0));
            r = file_copy(source.text, target.text, db_u64(stmt, 1), e);
        }
        row = row && r == ERR_OK;
    }
    db_finalize(&stmt, 1);
    return r;
}

static enum err snapshot_copy(const char *from, const char *to, uint64_t seq, struct error *e)
{
    struct path source = datadir_snapshot(from, seq);
    struct path target = datadir_snapshot(to, seq);
    struct stat status;
    if (stat(source.text, &status) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot read '%s'", source.text);
    }
    return file_copy(source.text, target.text, (uint64_t)status.st_size, e);
}

static enum err snapshots_copy(sqlite3 *db, const char *from, const char *to, struct error *e)
{
    int64_t last;
    enum err r = db_query_number(
        db, "SELECT coalesce((SELECT max(seq) FROM fact), max(seq)) FROM snapshot", &last, e);
    if (r != ERR_OK) {
        return r;
    }
    struct datadir_numbers numbers;
    r = datadir_list(from, "snapshot", ".snap", &numbers, e);
    for (size_t i = 0; r == ERR_OK && i < numbers.count; i++) {
        if (numbers.at[i] <= (uint64_t)last) {
            r = snapshot_copy(from, to, numbers.at[i], e);
        }
    }
    vec_done(&numbers);
    return r;
}

/* Copies everything under one read transaction, so that the listed files are the copied files. */
static enum err contents_copy(sqlite3 *db, const char *from, const char *to, struct error *e)
{
    struct path partial = datadir_sub(to, "weir.db.partial");
    struct path final = datadir_db(to);
    struct path log = datadir_sub(to, "log");
    struct path snapshot = datadir_sub(to, "snapshot");
    if (mkdir(log.text, 0700) != 0 || mkdir(snapshot.text, 0700) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a directory in '%s'", to);
    }
    enum err r = database_copy(db, partial.text, e);
    if (r == ERR_OK) {
        r = segments_copy(db, from, to, e);
    }
    if (r == ERR_OK) {
        r = snapshots_copy(db, from, to, e);
    }
    if (r == ERR_OK) {
        r = store_identity_copy(db, to, e);
    }
    if (r == ERR_OK) {
        r = file_sync_dir(log.text, e);
    }
    if (r == ERR_OK) {
        r = file_sync_dir(snapshot.text, e);
    }
    if (r == ERR_OK && rename(partial.text, final.text) != 0) {
        r = fail_errno(e, ERR_IO, errno, "cannot rename '%s'", partial.text);
    }
    return r == ERR_OK ? file_sync_dir(to, e) : r;
}

/* Copies into the existing, empty directory `to`. The database appears last. */
static enum err directory_copy(const char *from, const char *to, struct error *e)
{
    auto_free(file_closep) int hold_fd = -1;
    enum err r = datadir_has_db(from, e);
    if (r == ERR_OK) {
        r = datadir_hold_files(from, &hold_fd, e);
    }
    sqlite3 *db = NULL;
    if (r == ERR_OK) {
        r = db_open(from, DB_COPY, &db, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    if (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        r = db_fail(db, "begin a copy", e);
    }
    if (r == ERR_OK) {
        r = contents_copy(db, from, to, e);
    }
    (void)sqlite3_close(db);
    return r;
}

static enum err partial_publish(const char *partial, const char *to, struct error *e)
{
    if (renameat2(AT_FDCWD, partial, AT_FDCWD, to, RENAME_NOREPLACE) != 0) {
        return fail_errno(e, errno == EEXIST ? ERR_CONFLICT : ERR_IO, errno, "cannot rename '%s'",
                          partial);
    }
    return file_sync_parent(to, e);
}

enum err store_backup(const char *dir, const char *to, struct error *e)
{
    enum err r = datadir_valid(dir, e);
    if (r == ERR_OK) {
        r = datadir_valid(to, e);
    }
    if (r == ERR_OK) {
        r = datadir_has_db(dir, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    struct stat status;
    if (lstat(to, &status) == 0) {
        return fail(e, ERR_CONFLICT, "'%s' exists already: name a new directory", to);
    }
    char partial[DATADIR_PATH_MAX];
    (void)snprintf(partial, sizeof partial, "%s.partial", to);
    if (mkdir(partial, 0700) != 0) {
        if (errno == EEXIST) {
            return fail(e, ERR_CONFLICT, "'%s' is left from an interrupted backup: remove it",
                        partial);
        }
        return fail_errno(e, ERR_IO, errno, "cannot make directory '%s'", partial);
    }
    r = directory_copy(dir, partial, e);
    if (r == ERR_OK) {
        r = partial_publish(partial, to, e);
    }
    if (r != ERR_OK) {
        contents_remove(partial);
        (void)rmdir(partial);
    }
    return r;
}

static enum err target_check(const char *dir, struct error *e)
{
    DIR *handle = opendir(dir);
    if (handle == NULL) {
        return fail_errno(e, ERR_IO, errno, "cannot open directory '%s'", dir);
    }
    struct dirent *entry;
    char found[64] = "";
    while ((entry = readdir(handle)) != NULL && found[0] == '\0') {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)snprintf(found, sizeof found, "%.60s", entry->d_name);
        }
    }
    (void)closedir(handle);
    if (found[0] != '\0') {
        return fail(e, ERR_CONFLICT,
                    "'%s' is not empty (it has '%s'): restore into a new directory", dir, found);
    }
    return ERR_OK;
}

static void finding_note(void *ctx, const char *text)
{
    (void)text;
    *(bool *)ctx = true;
}

/* Is anything in the directory damaged? A database of an older Weir may have no checksums, and is
 * copied as it is. */
static enum err damage_look(const char *from, store_decode_fn decode, bool *ret, struct error *e)
{
    const struct store_check_fns fns = {.finding = finding_note, .decode = decode};
    *ret = false;
    enum err r = store_check(from, &fns, ret, e);
    return r == ERR_CONFLICT ? ERR_OK : r;
}

enum err store_backup_restore(const char *from, const char *dir, store_decode_fn decode,
                              struct store_restored *ret, struct error *e)
{
    *ret = (struct store_restored){0};
    enum err r = datadir_valid(from, e);
    if (r == ERR_OK) {
        r = datadir_valid(dir, e);
    }
    if (r == ERR_OK) {
        r = datadir_has_db(from, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    bool made = mkdir(dir, 0711) == 0;
    if (!made && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make directory '%s'", dir);
    }
    r = target_check(dir, e);
    if (r != ERR_OK) {
        return r;
    }
    auto_free(file_closep) int lock_fd = -1; /* no server may start in the half-filled directory */
    r = datadir_lock(dir, &lock_fd, e);
    r = r == ERR_OK ? damage_look(from, decode, &ret->damaged, e) : r;
    if (r == ERR_OK) {
        r = ret->damaged ? store_salvage(from, dir, decode, ret, e) : directory_copy(from, dir, e);
    }
    if (r == ERR_OK) {
        return file_sync_parent(dir, e);
    }
    contents_remove(dir);
    if (made) {
        (void)rmdir(dir);
    }
    return r;
}
