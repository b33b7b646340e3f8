/* store_identity.c - the parts of a data directory belong together: database, log/ and snapshot/ hold
 * the same identity, 32 random hex digits in table meta and in the files log/identity and
 * snapshot/identity.
 *
 * I1 a database that is missing beside other parts is never taken for a new one;
 * I2 a part with another identity, or with data and none, is refused;
 * I3 the database gets its identity first. Until meta says that the parts have theirs, parts without
 *    one get it: so a crash in between, and a directory of an older Weir, are no mismatch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/vec.h"
#include "store/datadir.h"
#include "store/file.h"
#include "store/sqlite/meta.h"
#include "store/sqlite/store_internal.h"
#include "store/store_snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IDENTITY_LEN = 32, PART_COUNT = 2, LEFT_MAX = 1000 };

struct identity {
    char text[META_VALUE_MAX]; /* "": none */
};

static const struct {
    const char *name;
    const char *file;
    const char *suffix;
} parts[PART_COUNT] = {{"log", "log/identity", ".seg"}, {"snapshot", "snapshot/identity", ".snap"}};

static const char damaged[] = "damaged"; /* no identity, and not an empty file */

static const char ways_on[] =
    "`weir db restore` brings a backup back, `weir db adopt` goes on with "
    "what is left, another --dir begins anew";

/* ---- reading ---- */

static struct identity part_identity(const char *dir, size_t part)
{
    struct identity found = {""};
    struct path path = datadir_sub(dir, parts[part].file);
    auto_free(file_closep) int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const ssize_t len = fd < 0 ? 0 : read(fd, found.text, sizeof found.text - 1);
    if (len == IDENTITY_LEN + 1 && found.text[IDENTITY_LEN] == '\n' &&
        strspn(found.text, "0123456789abcdef") == IDENTITY_LEN) {
        found.text[IDENTITY_LEN] = '\0';
    } else {
        (void)str_copy(found.text, sizeof found.text, len > 0 ? damaged : "");
    }
    return found;
}

/* How many segments or snapshots the part has. */
static enum err part_count(const char *dir, size_t part, size_t *ret, struct error *e)
{
    struct datadir_numbers numbers = {0};
    enum err r = datadir_list(dir, parts[part].name, parts[part].suffix, &numbers, e);
    *ret = numbers.count;
    vec_done(&numbers);
    return r;
}

static bool db_missing(const char *dir)
{
    struct path db = datadir_db(dir);
    struct stat status;
    return stat(db.text, &status) != 0 || status.st_size == 0;
}

enum err store_identity_before(const char *dir, struct error *e)
{
    size_t counts[PART_COUNT] = {0};
    bool known = false;
    if (!db_missing(dir)) {
        return ERR_OK;
    }
    for (size_t i = 0; i < PART_COUNT; i++) {
        enum err r = part_count(dir, i, &counts[i], e);
        if (r != ERR_OK) {
            return r;
        }
        known = known || counts[i] > 0 || part_identity(dir, i).text[0] != '\0';
    }
    if (!known) {
        return ERR_OK;
    }
    return fail(e, ERR_CORRUPT,
                "'%.60s' has %zu log segments and %zu snapshots, but weir.db is missing: %s", dir,
                counts[0], counts[1], ways_on);
}

/* ---- writing ---- */

static enum err part_write(const char *dir, size_t part, const struct identity *identity,
                           struct error *e)
{
    struct path path = datadir_sub(dir, parts[part].file);
    struct path sub = datadir_sub(dir, parts[part].name);
    auto_free(file_closep) int fd =
        open(path.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot create '%s'", path.text);
    }
    char line[IDENTITY_LEN + 1];
    memcpy(line, identity->text, IDENTITY_LEN);
    line[IDENTITY_LEN] = '\n';
    struct file file = {fd, path.text};
    enum err r = file_write_at(file, line, sizeof line, 0, e);
    r = r == ERR_OK ? file_sync(file, e) : r;
    return r == ERR_OK ? file_sync_dir(sub.text, e) : r;
}

static void identity_make(struct identity *ret)
{
    uint8_t random[IDENTITY_LEN / 2];
    must(getrandom(random, sizeof random, 0) == (ssize_t)sizeof random);
    str_hex(ret->text, random, sizeof random);
}

/* Refuses one part of the data directory if the part belongs to another directory (rule I2). A part without an
 * identity is refused only if the part has data and the database has an identity (`given`). `*ret_write`: the part's identity is still
 * to be written. */
static enum err part_check(const char *dir, size_t part, const struct identity *identity,
                           bool given, bool *ret_write, struct error *e)
{
    struct identity found = part_identity(dir, part);
    size_t count = 0;
    if (strcmp(found.text, identity->text) == 0) {
        *ret_write = false;
        return ERR_OK;
    }
    enum err r = part_count(dir, part, &count, e);
    if (r != ERR_OK) {
        return r;
    }
    *ret_write = true;
    if ((found.text[0] == '\0' || strcmp(found.text, damaged) == 0) && (!given || count == 0)) {
        return ERR_OK;
    }
    return fail(e, ERR_CORRUPT, "'%.60s' does not belong to weir.db (%.8s, not %.8s): %s",
                datadir_sub(dir, parts[part].name).text,
                found.text[0] != '\0' ? found.text : "none", identity->text, ways_on);
}

/* A part that is not there at all: nothing may be missing from it. Snapshots are made anew from facts,
 * and recover.c says where facts are missing. */
static enum err log_missing(sqlite3 *db, const char *dir, struct error *e)
{
    int64_t segments;
    enum err r =
        db_query_number(db, "SELECT count(*) FROM log_segment WHERE chunks > 0", &segments, e);
    if (r == ERR_OK && segments > 0) {
        return fail(e, ERR_CORRUPT,
                    "'%.60s/log' is missing or empty, and weir.db names %" PRId64 " segments: %s",
                    dir, segments, ways_on);
    }
    return r;
}

enum err store_identity_ensure(sqlite3 *db, const char *dir, struct error *e)
{
    struct identity identity;
    struct identity given;
    bool write[PART_COUNT] = {false};
    enum err r = meta_get(db, "identity", identity.text, e);
    r = r == ERR_OK ? meta_get(db, "identity_given", given.text, e) : r;
    const bool anew = identity.text[0] == '\0';
    if (anew) {
        identity_make(&identity);
    }
    for (size_t i = 0; r == ERR_OK && i < PART_COUNT; i++) {
        r = part_check(dir, i, &identity, given.text[0] != '\0', &write[i], e);
    }
    r = r == ERR_OK && write[0] && given.text[0] != '\0' ? log_missing(db, dir, e) : r;
    r = r == ERR_OK && anew ? meta_put(db, "identity", identity.text, e) : r;
    for (size_t i = 0; r == ERR_OK && i < PART_COUNT; i++) {
        r = write[i] ? part_write(dir, i, &identity, e) : ERR_OK;
    }
    return r == ERR_OK && given.text[0] == '\0' ? meta_put(db, "identity_given", "yes", e) : r;
}

enum err store_identity_copy(sqlite3 *db, const char *to, struct error *e)
{
    struct identity identity;
    enum err r = meta_get(db, "identity", identity.text, e);
    for (size_t i = 0; r == ERR_OK && identity.text[0] != '\0' && i < PART_COUNT; i++) {
        r = part_write(to, i, &identity, e);
    }
    return r;
}

enum err store_identity_match(sqlite3 *db, const char *dir, struct error *e)
{
    struct identity identity;
    struct identity given;
    bool write;
    enum err r = meta_get(db, "identity", identity.text, e);
    r = r == ERR_OK ? meta_get(db, "identity_given", given.text, e) : r;
    for (size_t i = 0; r == ERR_OK && identity.text[0] != '\0' && i < PART_COUNT; i++) {
        r = part_check(dir, i, &identity, given.text[0] != '\0', &write, e);
        if (r == ERR_OK && strcmp(part_identity(dir, i).text, damaged) == 0) {
            r = fail(e, ERR_CORRUPT,
                     "'%.100s' is damaged: the next start of the server writes it anew",
                     datadir_sub(dir, parts[i].file).text);
        }
    }
    return r;
}

/* ---- `weir db adopt` ---- */

/* Renames log/ to log.left-1/, or the next free number: its index is gone with the database, and a
 * new segment must not overwrite an old one. */
static enum err log_leave(const char *dir, struct error *e)
{
    struct path from = datadir_sub(dir, "log");
    size_t count = 0;
    enum err r = part_count(dir, 0, &count, e);
    if (r != ERR_OK || count == 0) {
        return r;
    }
    for (unsigned i = 1; i < LEFT_MAX; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "log.left-%u", i);
        struct path to = datadir_sub(dir, name);
        if (renameat2(AT_FDCWD, from.text, AT_FDCWD, to.text, RENAME_NOREPLACE) == 0) {
            return file_sync_dir(dir, e);
        }
        if (errno != EEXIST) {
            return fail_errno(e, ERR_IO, errno, "cannot rename '%s'", from.text);
        }
    }
    return fail(e, ERR_CONFLICT, "'%.100s' has %u directories log.left-N", dir, LEFT_MAX);
}

enum err store_identity_snapshot_note(sqlite3 *db, const char *dir, uint64_t seq, struct error *e)
{
    static const char *const sql = "INSERT OR REPLACE INTO snapshot (seq, bytes, crc, sum) "
                                   "VALUES (?1, ?2, ?3, weir_sum(?1, ?2, ?3))";
    uint64_t bytes;
    uint32_t crc;
    sqlite3_stmt *stmt;
    enum err r = store_snapshot_head(dir, seq, &bytes, &crc, e);
    r = r == ERR_OK ? db_prepare(db, &sql, 1, &stmt, e) : r;
    if (r == ERR_OK) {
        db_bind_u64(stmt, 1, seq);
        db_bind_u64(stmt, 2, bytes);
        db_bind_u64(stmt, 3, crc);
        r = db_run(stmt, "note a snapshot", e);
        db_finalize(&stmt, 1);
    }
    return r;
}

/* Notes the newest snapshot in a new database: the facts go on behind its number. */
static enum err newest_note(sqlite3 *db, const char *dir, uint64_t *ret_seq, struct error *e)
{
    struct datadir_numbers numbers = {0};
    enum err r = datadir_list(dir, "snapshot", ".snap", &numbers, e);
    *ret_seq = numbers.count > 0 ? numbers.at[numbers.count - 1] : 0;
    vec_done(&numbers);
    return r == ERR_OK && *ret_seq > 0 ? store_identity_snapshot_note(db, dir, *ret_seq, e) : r;
}

static enum err file_drop(struct path path, struct error *e)
{
    return unlink(path.text) == 0 || errno == ENOENT
               ? ERR_OK
               : fail_errno(e, ERR_IO, errno, "cannot remove '%s'", path.text);
}

enum err store_identity_adopt(const char *dir, uint64_t *ret_seq, struct error *e)
{
    auto_free(file_closep) int lock_fd = -1;
    sqlite3 *db = NULL;
    const bool anew = db_missing(dir);
    enum err r = datadir_valid(dir, e);
    r = r == ERR_OK ? datadir_lock(dir, &lock_fd, e) : r;
    r = r == ERR_OK && anew ? log_leave(dir, e) : r;
    r = r == ERR_OK ? datadir_make(dir, e) : r;
    r = r == ERR_OK ? db_open(dir, DB_WRITE, &db, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    *ret_seq = 0;
    r = anew ? newest_note(db, dir, ret_seq, e) : ERR_OK;
    r = r == ERR_OK ? file_drop(datadir_sub(dir, "acknowledged"), e) : r;
    for (size_t i = 0; r == ERR_OK && i < PART_COUNT; i++) {
        r = file_drop(datadir_sub(dir, parts[i].file), e);
    }
    r = r == ERR_OK ? meta_put(db, "identity_given", "", e) : r;
    r = r == ERR_OK ? store_identity_ensure(db, dir, e) : r;
    (void)sqlite3_close(db);
    return r;
}
