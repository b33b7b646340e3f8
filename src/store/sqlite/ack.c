/* ack.c - see ack.h. docs/dev/formats/data-directory.md describes the file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/ack.h"

#include "base/mem.h"
#include "store/crc32c.h"
#include "store/datadir.h"
#include "store/file.h"
#include "store/sqlite/wal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const char ack_magic[8] = "WEIRACK1";
static const char ways_on[] =
    "`weir db restore` brings a backup back, or what can be proven into a "
    "new --dir; `weir db adopt` goes on with what is left";

/* The file as it lies on disk, little-endian. */
struct ack_file {
    char magic[8];
    struct ack ack;
    uint32_t zero;
    uint32_t crc; /* of everything before */
};
_Static_assert(sizeof(struct ack_file) == 40, "no padding");

static uint32_t file_crc(const struct ack_file *file)
{
    return crc32c(0, file, offsetof(struct ack_file, crc));
}

enum err ack_open(const char *dir, int *ret_fd, struct error *e)
{
    struct path path = datadir_sub(dir, "acknowledged");
    *ret_fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*ret_fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open '%s'", path.text);
    }
    return ERR_OK;
}

void ack_write(int fd, const struct ack *ack)
{
    struct ack_file file = {.ack = *ack};
    memcpy(file.magic, ack_magic, sizeof file.magic);
    file.crc = file_crc(&file);
    /* When this fails, the file says less than it could. */
    (void)!pwrite(fd, &file, sizeof file, 0);
}

enum err ack_read(const char *dir, struct ack *ret, struct error *e)
{
    struct path path = datadir_sub(dir, "acknowledged");
    auto_free(file_closep) int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct ack_file file = {0};
    size_t got;
    *ret = (struct ack){0};
    if (fd < 0) {
        return errno == ENOENT ? ERR_OK
                               : fail_errno(e, ERR_IO, errno, "cannot open '%s'", path.text);
    }
    enum err r = file_read_at((struct file){fd, path.text}, &file, sizeof file, 0, &got, e);
    if (r != ERR_OK || got == 0) { /* made, and not yet written */
        return r;
    }
    if (got < sizeof file || memcmp(file.magic, ack_magic, sizeof file.magic) != 0 ||
        file.crc != file_crc(&file)) {
        return fail(e, ERR_CORRUPT,
                    "'%.100s' is damaged: the next start of the server writes it anew", path.text);
    }
    *ret = file.ack;
    return ERR_OK;
}

enum err ack_wal_check(const char *dir, const struct ack *ack, struct error *e)
{
    struct wal wal;
    enum err r = wal_scan(dir, ack->frames, &wal, e);
    if (r != ERR_OK || ack->frames == 0 || !wal.present) {
        return r;
    }
    if (!wal.head_whole) {
        return fail(e, ERR_CORRUPT, "the head of '%.60s/weir.db-wal' is damaged: %s", dir, ways_on);
    }
    struct wal again; /* a server at work may have begun the log anew meanwhile */
    r = wal_scan(dir, 0, &again, e);
    if (r == ERR_OK && memcmp(wal.salt, ack->salt, sizeof wal.salt) == 0 &&
        memcmp(again.salt, ack->salt, sizeof again.salt) == 0 && wal.frames < ack->frames) {
        return fail(e, ERR_CORRUPT, "'%.60s/weir.db-wal' is damaged behind byte %" PRIu64 ": %s",
                    dir, wal.frames_at, ways_on);
    }
    return r;
}

enum err ack_seq_check(const char *dir, const struct ack *ack, uint64_t last, struct error *e)
{
    if (ack->seq <= last) {
        return ERR_OK;
    }
    return fail(e, ERR_CORRUPT,
                "'%.45s/weir.db' ends with fact %" PRIu64 ", and %" PRIu64 " was acknowledged: %s",
                dir, last, ack->seq, ways_on);
}
