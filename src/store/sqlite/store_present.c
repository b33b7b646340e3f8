/* store_present.c - does the directory still name the files that the store writes, and are they whole?
 *
 * A file that somebody deletes or replaces while the server runs goes on taking what is written to it, and nobody who opens the
 * directory later finds it. SQLite does not look. So every commit looks first, and what nobody would find is never acknowledged.
 * A file that is put back is taken again. What was cut off a file is gone, so from then on every commit fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "store/datadir.h"
#include "store/file.h"
#include "store/sqlite/store_internal.h"
#include "store/sqlite/wal.h"

#include <string.h>
#include <sys/stat.h>

enum { WAL_HEAD_BYTES = 32, WAL_FRAME_HEAD_BYTES = 24 };

static const char *const names[STORE_FILES] = {"weir.db", "weir.db-wal", "weir.db-shm"};

static enum err cut_fail(const struct store *store, struct error *e)
{
    return fail(
        e, ERR_CORRUPT,
        "'%.60s/%s' was cut while the server ran; nothing more is stored: end the server, and "
        "`weir db restore` brings back what can be proven",
        store->dir, names[store->cut - 1]);
}

/* Is it the file that the store has open? The first look notes which file that is. */
static enum err file_look(struct store *store, unsigned number, int64_t *ret_bytes, struct error *e)
{
    struct store_file *seen = &store->files[number];
    struct stat status;
    /* every commit looks at the files, so the path is put together once */
    if (seen->path == NULL) {
        seen->path = xstrdup(datadir_sub(store->dir, names[number]).text);
    }
    const bool there = stat(seen->path, &status) == 0;
    if (there && seen->inode == 0) {
        seen->device = status.st_dev;
        seen->inode = status.st_ino;
        seen->bytes = status.st_size;
    }
    if (seen->inode != 0 &&
        (!there || status.st_ino != seen->inode || status.st_dev != seen->device)) {
        return fail(
            e, ERR_IO,
            "'%.100s' was deleted or replaced while the server runs: put the file back, or end "
            "the server and use `weir db restore`",
            seen->path);
    }
    *ret_bytes = there ? status.st_size : 0;
    return ERR_OK;
}

enum err store_present(struct store *store, struct error *e)
{
    int64_t bytes[STORE_FILES];
    for (unsigned i = 0; i < STORE_FILES; i++) {
        enum err r = file_look(store, i, &bytes[i], e);
        if (r != ERR_OK) {
            return r;
        }
    }
    /* The database never shrinks. The log may, when a reader of another process has emptied it; then it begins anew. */
    if (bytes[STORE_DB] < store->files[STORE_DB].bytes) {
        store->cut = STORE_DB + 1;
    }
    store->files[STORE_DB].bytes = bytes[STORE_DB];
    const int64_t frame = STORE_PAGE_BYTES + WAL_FRAME_HEAD_BYTES;
    store->wal_short =
        store->wal_frames > 0 && bytes[STORE_WAL] < WAL_HEAD_BYTES + store->wal_frames * frame;
    struct stat status;
    if (store->ack_fd >= 0 && fstat(store->ack_fd, &status) == 0 && status.st_nlink == 0) {
        file_closep(&store->ack_fd);
        struct error unheard; /* without the file a lost end is not noticed; nothing else is lost */
        enum err r = ack_open(store->dir, &store->ack_fd, &unheard);
        (void)r;
    }
    return store->cut == 0 ? ERR_OK : cut_fail(store, e);
}

enum err store_present_after(struct store *store, struct error *e)
{
    struct wal wal;
    if (!store->wal_short || wal_scan(store->dir, 0, &wal, e) != ERR_OK) {
        return ERR_OK;
    }
    if (!wal.present) { /* this commit wrote nothing, and shows nothing */
        return ERR_OK;
    }
    /* A log that began anew has a whole head with another salt. */
    if (wal.head_whole &&
        (store->ack_salt_stale || memcmp(wal.salt, store->ack.salt, sizeof wal.salt) != 0)) {
        return ERR_OK;
    }
    store->cut = STORE_WAL + 1;
    return cut_fail(store, e);
}
