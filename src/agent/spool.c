/* spool.c - the writing end of the spool.
 *
 * Holds (README.md): A4 a record stays until it is acknowledged; A5 each segment begins with its
 * supervisor's id and the open attempts. SPDX-License-Identifier: Apache-2.0 */
#include "agent/spool.h"

#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits of gathered records that are not written yet. Only a full disk lets the gathered records
 * come near GATHER_BYTES_MAX. */
enum { GATHER_BYTES_MAX = 64 * 1024 * 1024, GATHER_KEEP = 1024 * 1024, GATHER_FLUSH = 256 * 1024 };

struct spool {
    struct spool_options options;
    char *dir;
    int fd;
    uint64_t segment;
    uint64_t written;     /* bytes of this segment that are in the file */
    uint64_t head_len;    /* length of the segment's first record */
    uint64_t low;         /* lowest segment not yet deleted */
    uint64_t older_bytes; /* unacknowledged bytes of the segments below `segment` */
    struct spool_position acked;
    struct buf gathered;
};

int spool_position_compare(struct spool_position a, struct spool_position b)
{
    if (a.segment != b.segment) {
        return a.segment < b.segment ? -1 : 1;
    }
    return a.offset < b.offset ? -1 : a.offset > b.offset;
}

void spool_path(const char *dir, uint64_t segment, char *out)
{
    (void)snprintf(out, AGENT_PATH_MAX, "%s/spool/%08llu", dir, (unsigned long long)segment);
}

void spool_range(const char *dir, uint64_t *ret_low, uint64_t *ret_high)
{
    char path[AGENT_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/spool", dir);
    *ret_low = 0;
    *ret_high = 0;
    DIR *entries = opendir(path);
    if (entries == NULL) {
        return;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        uint64_t number;
        if (!str_to_u64(str_of(entry->d_name), &number) || number == 0) {
            continue;
        }
        *ret_low = *ret_low == 0 || number < *ret_low ? number : *ret_low;
        *ret_high = number > *ret_high ? number : *ret_high;
    }
    (void)closedir(entries);
}

static uint64_t segment_size(const char *dir, uint64_t segment)
{
    char path[AGENT_PATH_MAX];
    struct stat info;
    spool_path(dir, segment, path);
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static must_use enum err segment_open(struct spool *spool, uint64_t segment, struct error *e)
{
    char path[AGENT_PATH_MAX];
    spool_path(spool->dir, segment, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make the spool segment '%s'", path);
    }
    if (spool->fd >= 0) {
        (void)close(spool->fd);
        spool->older_bytes += spool->written;
    }
    spool->fd = fd;
    spool->segment = segment;
    spool->written = 0;
    return ERR_OK;
}

static void segment_head_put(struct spool *spool)
{
    auto_free(freep) struct attempt_key *open = xcalloc(ATTEMPTS_MAX, sizeof *open);
    struct record head = {.type = RECORD_SEGMENT, .open = open};
    memcpy(head.id, spool->options.id, SUPERVISOR_ID_LEN);
    head.open_count = spool->options.open_list(spool->options.ctx, open);
    must(head.open_count <= ATTEMPTS_MAX);
    record_encode(&spool->gathered, &head);
    spool->head_len = spool->gathered.len;
}

/* Sums up the sizes of the segments below the newest one that are still there. */
static void older_count(struct spool *spool, uint64_t end)
{
    spool->older_bytes = 0;
    for (uint64_t i = spool->low; i != 0 && i < end; i++) {
        spool->older_bytes += segment_size(spool->dir, i);
    }
}

static must_use enum err spool_dir_make(const char *dir, struct error *e)
{
    char path[AGENT_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/spool", dir);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make the spool '%s'", path);
    }
    return ERR_OK;
}

bool spool_sound(const struct spool *spool)
{
    char path[AGENT_PATH_MAX];
    struct stat by_name;
    struct stat open_file;
    spool_path(spool->dir, spool->segment, path);
    if (stat(path, &by_name) != 0 || fstat(spool->fd, &open_file) != 0 ||
        by_name.st_ino != open_file.st_ino || (uint64_t)open_file.st_size != spool->written) {
        return false;
    }
    uint64_t first = spool->acked.segment > spool->low ? spool->acked.segment : spool->low;
    for (uint64_t i = first; i < spool->segment; i++) {
        if (segment_size(spool->dir, i) == 0) {
            return false;
        }
    }
    return true;
}

must_use enum err spool_renew(struct spool *spool, struct error *e)
{
    enum err r = spool_dir_make(spool->dir, e);
    r = r == ERR_OK ? segment_open(spool, spool->segment + 1, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    while (spool->low < spool->segment && segment_size(spool->dir, spool->low) == 0) {
        spool->low++;
    }
    /* What stands before the first segment that is left cannot be acknowledged any more. */
    struct spool_position first = {spool->low, 0};
    spool->acked = spool_position_compare(spool->acked, first) < 0 ? first : spool->acked;
    older_count(spool, spool->segment);
    struct buf rest = spool->gathered;
    buf_init(&spool->gathered, GATHER_BYTES_MAX);
    segment_head_put(spool);
    buf_add(&spool->gathered, rest.data, rest.len);
    buf_done(&rest);
    return ERR_OK;
}

must_use enum err spool_new(const struct spool_options *options, struct spool **ret,
                            struct error *e)
{
    enum err r = spool_dir_make(options->dir, e);
    if (r != ERR_OK) {
        return r;
    }
    struct spool *spool = xcalloc(1, sizeof *spool);
    spool->options = *options;
    spool->dir = xstrdup(options->dir);
    spool->fd = -1;
    buf_init(&spool->gathered, GATHER_BYTES_MAX);
    uint64_t high;
    spool_range(spool->dir, &spool->low, &high);
    older_count(spool, high + 1);
    spool->low = spool->low == 0 ? 1 : spool->low;
    spool->acked = (struct spool_position){spool->low, 0};
    r = segment_open(spool, high + 1, e);
    if (r != ERR_OK) {
        spool_free(spool);
        return r;
    }
    segment_head_put(spool);
    r = spool_flush(spool, e);
    if (r != ERR_OK) {
        spool_free(spool);
        return r;
    }
    *ret = spool;
    return ERR_OK;
}

void spool_free(struct spool *spool)
{
    if (spool == NULL) {
        return;
    }
    if (spool->fd >= 0) {
        (void)close(spool->fd);
    }
    buf_done(&spool->gathered);
    free(spool->dir);
    free(spool);
}

void spool_remove_acked(struct spool *spool)
{
    bool bare = spool->older_bytes == 0 && spool->written == spool->head_len;
    if (bare || spool_bytes(spool) == 0) {
        char path[AGENT_PATH_MAX];
        spool_path(spool->dir, spool->segment, path);
        (void)unlink(path);
    }
}

/* Closes a full segment and begins the next one. When the next segment cannot be made, the old
 * segment grows on. */
static void roll_when_full(struct spool *spool)
{
    if (spool->written + spool->gathered.len < SPOOL_SEGMENT_BYTES) {
        return;
    }
    struct error e;
    if (spool_flush(spool, &e) != ERR_OK || segment_open(spool, spool->segment + 1, &e) != ERR_OK) {
        return;
    }
    segment_head_put(spool);
}

void spool_put(struct spool *spool, const struct record *record)
{
    roll_when_full(spool);
    record_encode(&spool->gathered, record);
}

long spool_put_from(struct spool *spool, const struct record *record, int fd, size_t max)
{
    must(max <= READ_CHUNK);
    roll_when_full(spool);
    struct error e;
    if (spool->gathered.len > GATHER_FLUSH && spool_flush(spool, &e) != ERR_OK) {
        errno = ENOSPC; /* leaves the output in the pipe */
        return -1;
    }
    char *room = record_output_begin(&spool->gathered, max);
    long got = read(fd, room, max);
    record_output_end(&spool->gathered, record, got > 0 ? (size_t)got : 0);
    return got;
}

must_use enum err spool_flush(struct spool *spool, struct error *e)
{
    struct buf *gathered = &spool->gathered;
    size_t done = 0;
    while (done < gathered->len) {
        ssize_t wrote = write(spool->fd, gathered->data + done, gathered->len - done);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            int why = errno;
            spool->written += done;
            buf_drop(gathered, done);
            return fail_errno(e, ERR_IO, why, "cannot write to the spool");
        }
        done += (size_t)wrote;
    }
    spool->written += done;
    if (gathered->room > GATHER_KEEP) {
        buf_done(gathered);
    } else {
        buf_clear(gathered);
    }
    return ERR_OK;
}

struct spool_position spool_end(const struct spool *spool)
{
    return (struct spool_position){spool->segment, spool->written + spool->gathered.len};
}

void spool_ack(struct spool *spool, struct spool_position at)
{
    if (spool_position_compare(at, spool->acked) <= 0 ||
        spool_position_compare(at, spool_end(spool)) > 0) {
        return;
    }
    spool->acked = at;
    for (; spool->low < at.segment && spool->low < spool->segment; spool->low++) {
        char path[AGENT_PATH_MAX];
        uint64_t size = segment_size(spool->dir, spool->low);
        spool_path(spool->dir, spool->low, path);
        (void)unlink(path);
        spool->older_bytes -= size < spool->older_bytes ? size : spool->older_bytes;
    }
}

struct spool_position spool_acked(const struct spool *spool)
{
    return spool->acked;
}

uint64_t spool_bytes(const struct spool *spool)
{
    uint64_t here = spool->written + spool->gathered.len;
    uint64_t taken = spool->acked.segment == spool->segment ? spool->acked.offset : 0;
    return spool->older_bytes + here - taken;
}
