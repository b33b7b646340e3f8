/* spool_reader.c - the reading end of the spool.
 *
 * Surprising: an incomplete record at the end of the newest segment is still being written. An
 * incomplete record at the end of an older segment was left by a killed supervisor, and is skipped.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/spool_reader.h"

#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW_BYTES = 2 * (SPOOL_RECORD_MAX + RECORD_HEAD_LEN) };

struct spool_reader {
    char *dir;
    int fd; /* -1: the segment is not open yet */
    uint64_t segment;
    uint64_t offset;     /* where the next record begins */
    uint64_t window_off; /* file offset of window[0] */
    size_t window_len;
    bool damaged;
    struct arena arena;
    char window[WINDOW_BYTES];
};

struct spool_reader *spool_reader_new(const char *dir, uint64_t segment)
{
    struct spool_reader *reader = xmalloc(sizeof *reader);
    reader->dir = xstrdup(dir);
    reader->fd = -1;
    reader->segment = segment;
    reader->offset = 0;
    reader->window_off = 0;
    reader->window_len = 0;
    reader->damaged = false;
    arena_init(&reader->arena);
    return reader;
}

static void segment_close(struct spool_reader *reader)
{
    if (reader->fd >= 0) {
        (void)close(reader->fd);
    }
    reader->fd = -1;
    reader->window_len = 0;
}

void spool_reader_free(struct spool_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    segment_close(reader);
    arena_done(&reader->arena);
    free(reader->dir);
    free(reader);
}

struct spool_position spool_reader_at(const struct spool_reader *reader)
{
    return (struct spool_position){reader->segment, reader->offset};
}

void spool_reader_seek(struct spool_reader *reader, struct spool_position at)
{
    if (at.segment != reader->segment) {
        segment_close(reader);
        reader->segment = at.segment;
    }
    reader->offset = at.offset;
}

static int segment_try(const struct spool_reader *reader, uint64_t segment)
{
    char path[AGENT_PATH_MAX];
    spool_path(reader->dir, segment, path);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Decodes the record at `offset` from the window. Returns 0 or -1 as record_decode() does. */
static long window_get(struct spool_reader *reader, struct record *ret)
{
    if (reader->offset < reader->window_off ||
        reader->offset >= reader->window_off + reader->window_len) {
        return 0;
    }
    size_t skip = (size_t)(reader->offset - reader->window_off);
    arena_clear(&reader->arena);
    return record_decode(reader->window + skip, reader->window_len - skip, &reader->arena, ret);
}

/* Reads the file anew from `offset`. */
static void window_fill(struct spool_reader *reader)
{
    ssize_t got = pread(reader->fd, reader->window, sizeof reader->window, (off_t)reader->offset);
    reader->window_off = reader->offset;
    reader->window_len = got > 0 ? (size_t)got : 0;
}

static bool record_here(struct spool_reader *reader, struct record *ret)
{
    long len = window_get(reader, ret);
    if (len <= 0) {
        window_fill(reader);
        len = window_get(reader, ret);
    }
    reader->damaged = len < 0;
    if (len <= 0) {
        return false;
    }
    reader->offset += (uint64_t)len;
    return true;
}

/* The next segment that exists; 0: none. Segments in between were removed by somebody. */
static uint64_t segment_after(const struct spool_reader *reader)
{
    int fd = segment_try(reader, reader->segment + 1);
    if (fd >= 0) {
        (void)close(fd);
        return reader->segment + 1;
    }
    uint64_t low;
    uint64_t high;
    spool_range(reader->dir, &low, &high);
    if (high <= reader->segment) {
        return 0;
    }
    for (uint64_t i = low > reader->segment ? low : reader->segment + 1; i < high; i++) {
        fd = segment_try(reader, i);
        if (fd >= 0) {
            (void)close(fd);
            return i;
        }
    }
    return high;
}

/* Goes on to a later segment, and says what is skipped: the rest of this segment where it cannot be
 * read, and segments that are gone. */
static bool segment_next(struct spool_reader *reader, uint64_t segment)
{
    struct stat info;
    int fd = segment_try(reader, segment);
    if (fd < 0) {
        return false;
    }
    bool cut = reader->fd >= 0 && fstat(reader->fd, &info) == 0 &&
               (uint64_t)info.st_size != reader->offset;
    if (reader->fd < 0 || cut || segment != reader->segment + 1) {
        log_warn("a part of the spool cannot be read and is skipped",
                 kv_u64("from_segment", reader->segment), kv_u64("from_byte", reader->offset),
                 kv_u64("to_segment", segment));
    }
    segment_close(reader);
    reader->fd = fd;
    reader->segment = segment;
    reader->offset = 0;
    reader->damaged = false;
    return true;
}

bool spool_reader_damaged(const struct spool_reader *reader)
{
    return reader->damaged;
}

bool spool_reader_next(struct spool_reader *reader, struct record *ret)
{
    for (;;) {
        if (reader->fd < 0) {
            reader->fd = segment_try(reader, reader->segment);
        }
        if (reader->fd >= 0 && record_here(reader, ret)) {
            return true;
        }
        /* Since the last read, the writer may have added to this segment and begun the next. So the
         * reader reads this segment once more after it knows that the next segment exists. */
        uint64_t next = segment_after(reader);
        if (next == 0) {
            return false;
        }
        if (reader->fd >= 0 && record_here(reader, ret)) {
            return true;
        }
        if (!segment_next(reader, next)) {
            return false;
        }
    }
}
