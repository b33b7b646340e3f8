/* datadir.c - names, locks and lists of files of a data directory.
 *
 * The lock file carries two locks of open file descriptions. Such a lock ends with the process,
 * however the process ends, and is not lost when another part of the process closes the file.
 *
 *   byte 0  exclusive: held by the server
 *   byte 1  shared: held by a backup or check that reads files; exclusive: the server removes files
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/datadir.h"

#include "base/str.h"
#include "base/vec.h"
#include "store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_SERVER = 0, LOCK_FILES = 1 };

static struct path path_fmt(const char *format, ...) __attribute__((format(printf, 1, 2)));

static struct path path_fmt(const char *format, ...)
{
    struct path path;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(path.text, sizeof path.text, format, args);
    va_end(args);
    must(len > 0);
    must((size_t)len < sizeof path.text);
    return path;
}

enum err datadir_valid(const char *dir, struct error *e)
{
    if (dir == NULL || dir[0] == '\0') {
        return fail(e, ERR_INVALID, "the data directory needs a name");
    }
    if (strlen(dir) > DATADIR_LEN_MAX) {
        return fail(e, ERR_LIMIT, "the data directory's name is longer than %d bytes",
                    DATADIR_LEN_MAX);
    }
    return ERR_OK;
}

struct path datadir_db(const char *dir)
{
    return path_fmt("%s/weir.db", dir);
}

struct path datadir_sub(const char *dir, const char *name)
{
    return path_fmt("%s/%s", dir, name);
}

struct path datadir_segment(const char *dir, uint64_t segment)
{
    return path_fmt("%s/log/%08" PRIu64 ".seg", dir, segment);
}

struct path datadir_snapshot(const char *dir, uint64_t seq)
{
    return path_fmt("%s/snapshot/%" PRIu64 ".snap", dir, seq);
}

static enum err dir_make(const char *path, mode_t mode, struct error *e)
{
    if (mkdir(path, mode) == 0 || errno == EEXIST) {
        return ERR_OK;
    }
    return fail_errno(e, ERR_IO, errno, "cannot make directory '%s'", path);
}

enum err datadir_make(const char *dir, struct error *e)
{
    struct path log = datadir_sub(dir, "log");
    struct path snapshot = datadir_sub(dir, "snapshot");
    enum err r = dir_make(dir, 0711, e);
    if (r == ERR_OK) {
        r = dir_make(log.text, 0700, e);
    }
    if (r == ERR_OK) {
        r = dir_make(snapshot.text, 0700, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    /* SQLite gives its -wal and -shm files the mode of the database. An existing database is not
     * opened here; sqlite/db.c says why. */
    struct path db = datadir_db(dir);
    auto_free(file_closep) int fd = open(db.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot create '%s'", db.text);
    }
    r = file_sync_dir(dir, e);
    return r == ERR_OK ? file_sync_parent(dir, e) : r;
}

enum err datadir_has_db(const char *dir, struct error *e)
{
    struct path db = datadir_db(dir);
    if (access(db.text, F_OK) == 0) {
        return ERR_OK;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        return fail(e, ERR_NOT_FOUND, "no data of Weir in '%s' (there is no weir.db)", dir);
    }
    return fail_errno(e, ERR_IO, errno, "cannot open '%s'", db.text);
}

static bool lock_set(int fd, short type, off_t byte, bool wait)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int r;
    do {
        r = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    } while (r != 0 && errno == EINTR);
    return r == 0;
}

static int lock_open(const char *dir, struct error *e)
{
    struct path path = datadir_sub(dir, "lock");
    int fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        (void)fail_errno(e, ERR_IO, errno, "cannot open '%s'", path.text);
    }
    return fd;
}

static enum err lock_held(int fd, const char *dir, struct error *e)
{
    char text[24] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    uint64_t pid;
    struct str digits = str_trim((struct str){text, n > 0 ? (size_t)n : 0});
    if (!str_to_u64(digits, &pid)) {
        return fail(e, ERR_CONFLICT, "data directory '%s' is in use by another process", dir);
    }
    return fail(e, ERR_CONFLICT, "data directory '%s' is in use by process %" PRIu64, dir, pid);
}

enum err datadir_lock(const char *dir, int *ret_fd, struct error *e)
{
    auto_free(file_closep) int fd = lock_open(dir, e);
    if (fd < 0) {
        return ERR_IO;
    }
    if (!lock_set(fd, F_WRLCK, LOCK_SERVER, false)) {
        if (errno == EAGAIN || errno == EACCES) {
            return lock_held(fd, dir, e);
        }
        return fail_errno(e, ERR_IO, errno, "cannot lock '%s/lock'", dir);
    }
    /* Has a fixed width: no truncation is needed, and a reader never sees a part of the text. */
    char text[24];
    int len = snprintf(text, sizeof text, "%-15ld\n", (long)getpid());
    enum err r = file_write_at((struct file){fd, "lock"}, text, (size_t)len, 0, e);
    if (r != ERR_OK) {
        return r;
    }
    *ret_fd = fd;
    fd = -1;
    return ERR_OK;
}

enum err datadir_hold_files(const char *dir, int *ret_fd, struct error *e)
{
    auto_free(file_closep) int fd = lock_open(dir, e);
    if (fd < 0 && (errno == EROFS || errno == EACCES)) {
        *ret_fd = -1; /* nothing can be removed on a read-only medium, so no lock is needed */
        return ERR_OK;
    }
    if (fd < 0) {
        return ERR_IO;
    }
    if (!lock_set(fd, F_RDLCK, LOCK_FILES, true)) {
        return fail_errno(e, ERR_IO, errno, "cannot lock '%s/lock'", dir);
    }
    *ret_fd = fd;
    fd = -1;
    return ERR_OK;
}

bool datadir_removal_begin(int lock_fd)
{
    return lock_set(lock_fd, F_WRLCK, LOCK_FILES, false);
}

void datadir_removal_end(int lock_fd)
{
    (void)lock_set(lock_fd, F_UNLCK, LOCK_FILES, false);
}

static int number_compare(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* The number in a name NUMBER<suffix>; 0 for any other name. */
static uint64_t number_of(const char *name, const char *suffix)
{
    size_t len = strlen(name);
    size_t suffix_len = strlen(suffix);
    uint64_t number;
    if (len <= suffix_len || strcmp(name + len - suffix_len, suffix) != 0 ||
        !str_to_u64((struct str){name, len - suffix_len}, &number)) {
        return 0;
    }
    return number;
}

enum err datadir_list(const char *dir, const char *sub, const char *suffix,
                      struct datadir_numbers *out, struct error *e)
{
    *out = (struct datadir_numbers){0};
    struct path path = datadir_sub(dir, sub);
    DIR *handle = opendir(path.text);
    if (handle == NULL) {
        if (errno == ENOENT) {
            return ERR_OK;
        }
        return fail_errno(e, ERR_IO, errno, "cannot open directory '%s'", path.text);
    }
    struct dirent *entry;
    while ((entry = readdir(handle)) != NULL && out->count < DATADIR_FILES_MAX) {
        uint64_t number = number_of(entry->d_name, suffix);
        if (number != 0) {
            vec_push(out, number);
        }
    }
    (void)closedir(handle);
    if (out->count > 1) {
        qsort(out->at, out->count, sizeof *out->at, number_compare);
    }
    return ERR_OK;
}
