/* logstore.c - writes and reads log segments. docs/dev/formats/data-directory.md describes the
 * format.
 *
 * Surprising: no file is ever truncated. An undo moves the position back in memory, and the next
 * record overwrites the failed record. A reader never looks behind the end that the index names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/logstore.h"

#include "base/mem.h"
#include "store/crc32c.h"
#include "store/datadir.h"
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1024 * 1024 }; /* collected before a write */
_Static_assert(BLOCK_BYTES >= LOG_RECORD_HEAD + LOG_RECORD_BYTES_MAX, "a record fits a block");
_Static_assert(LOG_SEGMENT_BYTES >= LOG_SEGMENT_HEAD + BLOCK_BYTES, "a block fits a segment");

static const char segment_magic[8] = "WEIRLOG1";
static const uint32_t record_magic = 0x52474f4cU; /* "LOGR" */

/* The head as it lies in the file, little-endian. `crc` covers the members behind it and the
 * data. */
struct record_head {
    uint32_t magic;
    uint32_t crc;
    uint32_t len;
    uint32_t stream;
    uint64_t task;
    uint64_t offset;
    uint32_t index;
    uint32_t attempt;
};
_Static_assert(sizeof(struct record_head) == LOG_RECORD_HEAD, "no padding");

struct segment_head {
    char magic[8];
    uint64_t segment;
};
_Static_assert(sizeof(struct segment_head) == LOG_SEGMENT_HEAD, "no padding");

struct logstore {
    char *dir;
    int fd; /* of `segment`; -1: not open yet */
    uint64_t segment;
    uint64_t position; /* where the next record begins, unwritten bytes included */
    uint64_t kept_segment;
    uint64_t kept_position;
    char *block; /* the bytes before `position` that are not written yet */
    size_t block_len;
    bool unsynced;
};

static uint32_t record_crc(const struct record_head *head, const char *data, size_t len)
{
    size_t skip = offsetof(struct record_head, len);
    uint32_t crc = crc32c(0, (const char *)head + skip, sizeof *head - skip);
    return crc32c(crc, data, len);
}

struct logstore *logstore_new(const char *dir, uint64_t segment, uint64_t bytes)
{
    must(segment > 0);
    must(bytes <= LOG_SEGMENT_BYTES);
    struct logstore *log = xcalloc(1, sizeof *log);
    log->dir = xstrdup(dir);
    log->fd = -1;
    log->segment = segment;
    log->position = bytes;
    log->kept_segment = segment;
    log->kept_position = bytes;
    return log;
}

static void segment_close(struct logstore *log)
{
    if (log->fd >= 0) {
        (void)close(log->fd);
        log->fd = -1;
    }
}

void logstore_free(struct logstore *log)
{
    if (log == NULL) {
        return;
    }
    segment_close(log);
    free(log->block);
    free(log->dir);
    free(log);
}

/* Is the open segment still the one that the directory names, with all that was written to it? Output in a file that nobody finds
 * is not stored. */
static enum err segment_present(const struct logstore *log, const struct path *path, uint64_t bytes,
                                struct error *e)
{
    struct stat open_one;
    struct stat named;
    if (fstat(log->fd, &open_one) == 0 && stat(path->text, &named) == 0 &&
        open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev &&
        (uint64_t)named.st_size >= bytes) {
        return ERR_OK;
    }
    return fail(e, ERR_IO, "'%.150s' was deleted, replaced or cut while the server runs",
                path->text);
}

static enum err block_write(struct logstore *log, struct error *e)
{
    if (log->block_len == 0) {
        return ERR_OK;
    }
    must(log->fd >= 0);
    struct path path = datadir_segment(log->dir, log->segment);
    const uint64_t at = log->position - log->block_len;
    enum err r = segment_present(log, &path, at, e);
    if (r == ERR_OK) {
        r = file_write_at((struct file){log->fd, path.text}, log->block, log->block_len, at, e);
    }
    if (r == ERR_OK) {
        log->block_len = 0;
        log->unsynced = true;
    }
    return r;
}

static void block_add(struct logstore *log, const void *data, size_t len)
{
    must(log->block_len + len <= BLOCK_BYTES);
    if (log->block == NULL) {
        log->block = xmalloc(BLOCK_BYTES);
    }
    memcpy(log->block + log->block_len, data, len);
    log->block_len += len;
    log->position += len;
}

/* Opens the current segment. A new segment gets its head, and its name is put on disk at once. */
static enum err segment_open(struct logstore *log, struct error *e)
{
    if (log->fd >= 0) {
        return ERR_OK;
    }
    struct path path = datadir_segment(log->dir, log->segment);
    int fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open '%s'", path.text);
    }
    log->fd = fd;
    if (log->position > 0) {
        return ERR_OK;
    }
    struct path log_dir = datadir_sub(log->dir, "log");
    enum err r = file_sync_dir(log_dir.text, e);
    if (r != ERR_OK) {
        segment_close(log); /* so that the next try flushes the directory again */
        return r;
    }
    struct segment_head head = {.segment = log->segment};
    memcpy(head.magic, segment_magic, sizeof head.magic);
    block_add(log, &head, sizeof head);
    return ERR_OK;
}

enum err logstore_place(struct logstore *log, size_t len, uint64_t *ret_place, struct error *e)
{
    must(len > 0);
    must(len <= LOG_RECORD_BYTES_MAX);
    if (log->position + LOG_RECORD_HEAD + len > LOG_SEGMENT_BYTES) {
        enum err r = logstore_flush(log, e);
        if (r != ERR_OK) {
            return r;
        }
        segment_close(log);
        log->segment++;
        log->position = 0;
    }
    enum err r = segment_open(log, e);
    if (r != ERR_OK) {
        return r;
    }
    *ret_place = log->segment << 32 | log->position;
    return ERR_OK;
}

enum err logstore_append(struct logstore *log, const struct log_key *key, struct str data,
                         struct error *e)
{
    must(log->fd >= 0);
    must(data.len > 0);
    must(data.len <= LOG_RECORD_BYTES_MAX);
    if (log->block_len + LOG_RECORD_HEAD + data.len > BLOCK_BYTES) {
        enum err r = block_write(log, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    struct record_head head = {.magic = record_magic,
                               .len = (uint32_t)data.len,
                               .stream = key->stream,
                               .task = key->task,
                               .offset = key->offset,
                               .index = key->index,
                               .attempt = key->attempt};
    head.crc = record_crc(&head, data.p, data.len);
    block_add(log, &head, sizeof head);
    block_add(log, data.p, data.len);
    return ERR_OK;
}

enum err logstore_flush(struct logstore *log, struct error *e)
{
    enum err r = block_write(log, e);
    if (r != ERR_OK || !log->unsynced) {
        return r;
    }
    struct path path = datadir_segment(log->dir, log->segment);
    r = file_sync((struct file){log->fd, path.text}, e);
    if (r == ERR_OK) {
        log->unsynced = false;
    }
    return r;
}

void logstore_keep(struct logstore *log)
{
    must(log->block_len == 0);
    must(!log->unsynced);
    log->kept_segment = log->segment;
    log->kept_position = log->position;
}

void logstore_undo(struct logstore *log)
{
    /* The segment is always reopened: after a failed flush the old descriptor cannot be trusted. */
    segment_close(log);
    log->segment = log->kept_segment;
    log->position = log->kept_position;
    log->block_len = 0;
    log->unsynced = false;
}

uint64_t logstore_segment(const struct logstore *log)
{
    return log->segment;
}

uint64_t logstore_bytes(const struct logstore *log)
{
    return log->position;
}

struct log_reader {
    char *dir;
    int fd; /* of `segment`; -1: no segment is open */
    uint64_t segment;
};

struct log_reader *logstore_reader_new(const char *dir)
{
    struct log_reader *reader = xcalloc(1, sizeof *reader);
    reader->dir = xstrdup(dir);
    reader->fd = -1;
    return reader;
}

void logstore_reader_free(struct log_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    file_closep(&reader->fd);
    free(reader->dir);
    free(reader);
}

static enum err reader_turn_to(struct log_reader *reader, uint64_t segment, const struct path *path,
                               struct error *e)
{
    if (reader->fd >= 0 && reader->segment == segment) {
        return ERR_OK;
    }
    file_closep(&reader->fd);
    reader->fd = open(path->text, O_RDONLY | O_CLOEXEC);
    reader->segment = segment;
    if (reader->fd < 0) {
        return fail_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "cannot open '%s'",
                          path->text);
    }
    return ERR_OK;
}

enum err logstore_reader_head(struct log_reader *reader, uint64_t segment, struct error *e)
{
    struct path path = datadir_segment(reader->dir, segment);
    struct segment_head head = {0};
    size_t got;
    enum err r = reader_turn_to(reader, segment, &path, e);
    if (r == ERR_OK) {
        r = file_read_at((struct file){reader->fd, path.text}, &head, sizeof head, 0, &got, e);
    }
    if (r == ERR_OK &&
        (memcmp(head.magic, segment_magic, sizeof head.magic) != 0 || head.segment != segment)) {
        r = fail(e, ERR_CORRUPT, "the head of '%s' is damaged", path.text);
    }
    return r;
}

static bool head_is(const struct record_head *head, const struct log_key *key, size_t len)
{
    return head->magic == record_magic && head->len == len && head->task == key->task &&
           head->index == key->index && head->attempt == key->attempt &&
           head->stream == key->stream && head->offset == key->offset;
}

enum err logstore_reader_read(struct log_reader *reader, const struct log_ref *ref,
                              struct arena *arena, struct str *ret, struct error *e)
{
    uint64_t place = ref->place;
    size_t len = ref->len;
    uint64_t position = log_place_position(place);
    struct path path = datadir_segment(reader->dir, log_place_segment(place));
    enum err r = reader_turn_to(reader, log_place_segment(place), &path, e);
    if (r != ERR_OK) {
        return r;
    }
    if (len == 0 || len > LOG_RECORD_BYTES_MAX) {
        return fail(e, ERR_CORRUPT, "'%s' at byte %" PRIu64 ": no record has %zu bytes", path.text,
                    position, len);
    }
    char *bytes = arena_alloc(arena, LOG_RECORD_HEAD + len);
    size_t got;
    r = file_read_at((struct file){reader->fd, path.text}, bytes, LOG_RECORD_HEAD + len, position,
                     &got, e);
    if (r != ERR_OK) {
        return r;
    }
    if (got < LOG_RECORD_HEAD + len) {
        return fail(e, ERR_CORRUPT, "'%s' at byte %" PRIu64 ": the file ends inside the record",
                    path.text, position);
    }
    struct record_head head;
    memcpy(&head, bytes, sizeof head);
    if (!head_is(&head, &ref->key, len)) {
        return fail(e, ERR_CORRUPT, "'%s' at byte %" PRIu64 ": not the record the index names",
                    path.text, position);
    }
    if (head.crc != record_crc(&head, bytes + LOG_RECORD_HEAD, len)) {
        return fail(e, ERR_CORRUPT, "'%s' at byte %" PRIu64 ": the checksum differs", path.text,
                    position);
    }
    *ret = (struct str){bytes + LOG_RECORD_HEAD, len};
    return ERR_OK;
}
