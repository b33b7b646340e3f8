/* wal.c - see wal.h. https://sqlite.org/fileformat2.html#walformat describes the format.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/wal.h"

#include "base/mem.h"
#include "store/datadir.h"
#include "store/file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 32,
    HEAD_WORDS = HEAD_BYTES / 4,
    FRAME_HEAD_BYTES = 24,
    FRAME_WORDS = FRAME_HEAD_BYTES / 4,
    PAGE_BYTES_MAX = 65536,
};
#define WAL_MAGIC UINT32_C(0x377f0682) /* the lowest bit: checksums read words as big-endian */

struct sums {
    uint32_t a;
    uint32_t b;
    bool big_endian;
};

/* Adds `len` bytes, a multiple of 8. */
static void sums_add(struct sums *sums, const void *data, size_t len)
{
    const char *p = data;
    for (size_t i = 0; i < len; i += 8) {
        uint32_t words[2];
        memcpy(words, p + i, sizeof words);
        sums->a += (sums->big_endian ? be32toh(words[0]) : words[0]) + sums->b;
        sums->b += (sums->big_endian ? be32toh(words[1]) : words[1]) + sums->a;
    }
}

static bool sums_are(const struct sums *sums, const uint32_t stored[2])
{
    return sums->a == be32toh(stored[0]) && sums->b == be32toh(stored[1]);
}

/* Words of the head: magic, version, page size, count of checkpoints, two salts, two checksums. */
static bool head_take(const uint32_t head[HEAD_WORDS], struct sums *sums, uint32_t *ret_page_bytes)
{
    const uint32_t magic = be32toh(head[0]);
    *sums = (struct sums){.big_endian = (magic & 1) != 0};
    *ret_page_bytes = be32toh(head[2]);
    sums_add(sums, head, HEAD_BYTES - 8);
    return (magic & ~UINT32_C(1)) == WAL_MAGIC && sums_are(sums, head + 6) &&
           *ret_page_bytes >= 512 && *ret_page_bytes <= PAGE_BYTES_MAX &&
           (*ret_page_bytes & (*ret_page_bytes - 1)) == 0;
}

/* Words of a frame's head: page, size of the database, two salts, two checksums. */
static enum err frames_scan(struct file file, uint32_t page_bytes, struct sums *sums,
                            uint32_t frames_max, struct wal *ret, struct error *e)
{
    const size_t frame_bytes = FRAME_HEAD_BYTES + page_bytes;
    auto_free(freep) char *frame = xmalloc(frame_bytes);
    ret->frames_at = HEAD_BYTES;
    while (ret->frames < frames_max) {
        size_t got;
        uint32_t head[FRAME_WORDS];
        enum err r = file_read_at(file, frame, frame_bytes, ret->frames_at, &got, e);
        if (r != ERR_OK || got < frame_bytes) {
            return r;
        }
        memcpy(head, frame, sizeof head);
        sums_add(sums, frame, 8);
        sums_add(sums, frame + FRAME_HEAD_BYTES, page_bytes);
        if (head[2] != ret->salt[0] || head[3] != ret->salt[1] || !sums_are(sums, head + 4)) {
            return ERR_OK;
        }
        ret->frames++;
        ret->frames_at += frame_bytes;
    }
    return ERR_OK;
}

enum err wal_scan(const char *dir, uint32_t frames_max, struct wal *ret, struct error *e)
{
    struct path path = datadir_sub(dir, "weir.db-wal");
    auto_free(file_closep) int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *ret = (struct wal){0};
    if (fd < 0) {
        return errno == ENOENT ? ERR_OK
                               : fail_errno(e, ERR_IO, errno, "cannot open '%s'", path.text);
    }
    struct file file = {fd, path.text};
    uint32_t head[HEAD_WORDS] = {0};
    uint32_t page_bytes;
    struct sums sums;
    size_t got;
    enum err r = file_read_at(file, head, sizeof head, 0, &got, e);
    ret->present = r == ERR_OK && got > 0;
    if (r != ERR_OK || !head_take(head, &sums, &page_bytes)) {
        return r;
    }
    ret->head_whole = true;
    ret->salt[0] = head[4];
    ret->salt[1] = head[5];
    return frames_scan(file, page_bytes, &sums, frames_max, ret, e);
}
