/* store_snapshot.c - one file per snapshot. A file under its final name is always whole.
 * docs/dev/formats/data-directory.md describes the format. SPDX-License-Identifier: Apache-2.0 */
#include "store/store_snapshot.h"

#include "base/mem.h"
#include "base/vec.h"
#include "store/crc32c.h"
#include "store/datadir.h"
#include "store/file.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* The head as it lies in the file, little-endian. */
struct snapshot_head {
    char magic[8];
    uint64_t seq;
    uint64_t len;
    uint32_t data_crc;
    uint32_t head_crc; /* of the members before it */
};
enum { HEAD_BYTES = 32 };
_Static_assert(sizeof(struct snapshot_head) == HEAD_BYTES, "no padding");

static const char magic[8] = "WEIRSNP1";

static uint32_t head_crc(const struct snapshot_head *head)
{
    return crc32c(0, head, offsetof(struct snapshot_head, head_crc));
}

static struct path path_partial(const char *dir, uint64_t seq)
{
    struct path path = datadir_snapshot(dir, seq);
    size_t len = strlen(path.text);
    (void)snprintf(path.text + len, sizeof path.text - len, ".tmp");
    return path;
}

static enum err partial_write(const struct path *path, const struct snapshot_head *head,
                              struct str bytes, struct error *e)
{
    auto_free(file_closep) int fd =
        open(path->text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot create '%s'", path->text);
    }
    struct file file = {fd, path->text};
    enum err r = file_write_at(file, head, HEAD_BYTES, 0, e);
    if (r == ERR_OK) {
        r = file_write_at(file, bytes.p, bytes.len, HEAD_BYTES, e);
    }
    return r == ERR_OK ? file_sync(file, e) : r;
}

enum err store_snapshot_write(const char *dir, uint64_t seq, struct str bytes, struct error *e)
{
    must(seq > 0);
    enum err r = datadir_valid(dir, e);
    if (r != ERR_OK) {
        return r;
    }
    if (bytes.len > STORE_SNAPSHOT_BYTES_MAX) {
        return fail(e, ERR_LIMIT, "snapshot of %zu bytes is over the limit of %" PRIu64, bytes.len,
                    STORE_SNAPSHOT_BYTES_MAX);
    }
    struct snapshot_head head = {
        .seq = seq, .len = bytes.len, .data_crc = crc32c(0, bytes.p, bytes.len)};
    memcpy(head.magic, magic, sizeof head.magic);
    head.head_crc = head_crc(&head);
    struct path partial = path_partial(dir, seq);
    struct path final = datadir_snapshot(dir, seq);
    r = partial_write(&partial, &head, bytes, e);
    if (r == ERR_OK && rename(partial.text, final.text) != 0) {
        r = fail_errno(e, ERR_IO, errno, "cannot rename '%s'", partial.text);
    }
    if (r != ERR_OK) {
        (void)unlink(partial.text);
        return r;
    }
    struct path snapshots = datadir_sub(dir, "snapshot");
    return file_sync_dir(snapshots.text, e);
}

static enum err head_read(int fd, const struct path *path, uint64_t seq, struct snapshot_head *head,
                          struct error *e)
{
    size_t got;
    enum err r = file_read_at((struct file){fd, path->text}, head, HEAD_BYTES, 0, &got, e);
    if (r != ERR_OK) {
        return r;
    }
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot read '%s'", path->text);
    }
    if (got < HEAD_BYTES) {
        return fail(e, ERR_CORRUPT, "snapshot '%s' ends inside its head", path->text);
    }
    if (memcmp(head->magic, magic, sizeof magic - 1) == 0 && head->magic[7] > magic[7] &&
        head->magic[7] <= '9') {
        return fail(e, ERR_CORRUPT, "snapshot '%s' has format %c: written by a newer Weir",
                    path->text, head->magic[7]);
    }
    if (memcmp(head->magic, magic, sizeof magic) != 0) {
        return fail(e, ERR_CORRUPT, "'%s' is not a snapshot of Weir", path->text);
    }
    if (head->head_crc != head_crc(head) || head->seq != seq ||
        head->len > STORE_SNAPSHOT_BYTES_MAX) {
        return fail(e, ERR_CORRUPT, "snapshot '%s' has a damaged head", path->text);
    }
    if ((uint64_t)status.st_size != HEAD_BYTES + head->len) {
        return fail(e, ERR_CORRUPT, "snapshot '%s' has %" PRIu64 " bytes instead of %" PRIu64,
                    path->text, (uint64_t)status.st_size, HEAD_BYTES + head->len);
    }
    return ERR_OK;
}

static enum err snapshot_open(const struct path *path, int *ret_fd, struct error *e)
{
    *ret_fd = open(path->text, O_RDONLY | O_CLOEXEC);
    if (*ret_fd < 0) {
        return fail_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "cannot open '%s'",
                          path->text);
    }
    return ERR_OK;
}

enum err store_snapshot_head(const char *dir, uint64_t seq, uint64_t *ret_bytes, uint32_t *ret_crc,
                             struct error *e)
{
    struct path path = datadir_snapshot(dir, seq);
    auto_free(file_closep) int fd = -1;
    struct snapshot_head head = {0};
    enum err r = snapshot_open(&path, &fd, e);
    r = r == ERR_OK ? head_read(fd, &path, seq, &head, e) : r;
    *ret_bytes = HEAD_BYTES + head.len;
    *ret_crc = head.data_crc;
    return r;
}

enum err store_snapshot_read(const char *dir, uint64_t seq, int64_t crc, struct arena *arena,
                             struct str *ret, struct error *e)
{
    struct path path = datadir_snapshot(dir, seq);
    auto_free(file_closep) int fd = -1;
    struct snapshot_head head;
    enum err r = snapshot_open(&path, &fd, e);
    r = r == ERR_OK ? head_read(fd, &path, seq, &head, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    if (crc >= 0 && head.data_crc != crc) {
        return fail(e, ERR_CORRUPT,
                    "'%s' is not the snapshot of fact %" PRIu64 " that weir.db names", path.text,
                    seq);
    }
    char *bytes = arena_alloc(arena, head.len + 1);
    size_t got;
    r = file_read_at((struct file){fd, path.text}, bytes, head.len, HEAD_BYTES, &got, e);
    if (r != ERR_OK) {
        return r;
    }
    if (got < head.len || head.data_crc != crc32c(0, bytes, head.len)) {
        return fail(e, ERR_CORRUPT, "snapshot '%s': the checksum differs", path.text);
    }
    *ret = (struct str){bytes, head.len};
    return ERR_OK;
}

void store_snapshot_sweep(const char *dir)
{
    struct datadir_numbers partial;
    if (datadir_list(dir, "snapshot", ".snap.tmp", &partial, NULL) != ERR_OK) {
        return;
    }
    for (size_t i = 0; i < partial.count; i++) {
        struct path path = path_partial(dir, partial.at[i]);
        (void)unlink(path.text);
    }
    vec_done(&partial);
}
