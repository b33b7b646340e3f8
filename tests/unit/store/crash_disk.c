/* crash_disk.c - see crash_disk.h. Strict on purpose: a write, truncation or name is certain to
 * survive only if its own file or directory was flushed afterwards. Without a flush it may
 * survive too.
 * SPDX-License-Identifier: Apache-2.0 */
#include "crash_disk.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "fault_io.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512, FILES_MAX = 64, NAME_MAX_LEN = 64, ACKNOWLEDGED = IO_REMOVED + 1 };

struct op {
    int kind; /* enum io_kind, or ACKNOWLEDGED */
    size_t file;
    char name[NAME_MAX_LEN]; /* name below the watched directory; of a directory "" or "log" */
    char to[NAME_MAX_LEN];
    char *data;
    uint64_t len; /* of ACKNOWLEDGED the acknowledged number */
    uint64_t at;
};

static struct {
    char dir[NAME_MAX_LEN];
    VEC(struct op) ops;
    /* Inode of each file; a later file may reuse the inode of a removed one. */
    uint64_t inodes[FILES_MAX];
    size_t file_count;
} disk;

/* Returns the name below the watched directory; false: the path is outside. */
static bool name_of(const char *path, char out[NAME_MAX_LEN])
{
    size_t len = strlen(disk.dir);
    if (path == NULL || strncmp(path, disk.dir, len) != 0) {
        return false;
    }
    (void)snprintf(out, NAME_MAX_LEN, "%s", path + len + (path[len] == '/'));
    return true;
}

static bool file_of(uint64_t inode, size_t *ret)
{
    for (size_t i = disk.file_count; i > 0; i--) {
        if (disk.inodes[i - 1] == inode) {
            *ret = i - 1;
            return true;
        }
    }
    return false;
}

static void record(const struct io_event *event)
{
    struct op op = {.kind = (int)event->kind, .len = event->len, .at = event->at};
    if (event->path != NULL && !name_of(event->path, op.name)) {
        return;
    }
    if (event->kind == IO_RENAMED) {
        must(name_of(event->to, op.to));
    }
    if (event->kind == IO_CREATED) {
        must(disk.file_count < FILES_MAX);
        op.file = disk.file_count++;
        disk.inodes[op.file] = event->inode;
    }
    bool by_file = event->kind == IO_WRITTEN || event->kind == IO_TRUNCATED ||
                   (event->kind == IO_SYNCED && !event->is_dir);
    if (by_file && !file_of(event->inode, &op.file)) {
        return;
    }
    if (event->kind == IO_SYNCED && event->is_dir) {
        op.file = SIZE_MAX;
    }
    if (event->kind == IO_WRITTEN) {
        op.data = xmemdup(event->data, event->len);
    }
    vec_push(&disk.ops, op);
}

void crash_disk_watch(const char *dir)
{
    (void)snprintf(disk.dir, sizeof disk.dir, "%s", dir);
    io_watch(record);
}

void crash_disk_stop(void)
{
    io_watch(NULL);
}

void crash_disk_acknowledge(uint64_t seq)
{
    struct op op = {.kind = ACKNOWLEDGED, .len = seq};
    vec_push(&disk.ops, op);
}

size_t crash_disk_count(void)
{
    return disk.ops.count;
}

void crash_disk_done(void)
{
    for (size_t i = 0; i < disk.ops.count; i++) {
        free(disk.ops.at[i].data);
    }
    vec_done(&disk.ops);
    disk.file_count = 0;
}

static bool coin(uint64_t seed, size_t op, uint64_t part)
{
    return (hash_u64(seed ^ hash_u64(op * 1000003U + part)) & 1) != 0;
}

static bool in_dir(const char *name, const char *dir)
{
    const char *slash = strchr(name, '/');
    size_t len = slash != NULL ? (size_t)(slash - name) : 0;
    return strlen(dir) == len && strncmp(name, dir, len) == 0;
}

/* True when operation `i` was flushed before the crash. */
static bool durable(size_t i, size_t at)
{
    const struct op *op = &disk.ops.at[i];
    bool by_file = op->kind == IO_WRITTEN || op->kind == IO_TRUNCATED;
    for (size_t j = i + 1; j < at; j++) {
        const struct op *later = &disk.ops.at[j];
        if (later->kind == IO_SYNCED && by_file && later->file == op->file) {
            return true;
        }
        if (later->kind == IO_SYNCED && !by_file && later->file == SIZE_MAX &&
            in_dir(op->name, later->name)) {
            return true;
        }
    }
    return false;
}

struct content {
    char *data;
    uint64_t len;
    uint64_t room;
};

static void content_size(struct content *content, uint64_t len)
{
    if (len > content->room) {
        content->data = xrealloc(content->data, len * 2, 1);
        content->room = len * 2;
    }
    if (len > content->len) {
        memset(content->data + content->len, 0, len - content->len);
    }
    content->len = len;
}

/* Applies a write. A write that was not flushed arrives only in some of its sectors. */
static void write_apply(struct content *content, size_t i, bool whole, uint64_t seed)
{
    const struct op *op = &disk.ops.at[i];
    for (uint64_t done = 0; done < op->len;) {
        uint64_t at = op->at + done;
        uint64_t part = SECTOR - at % SECTOR;
        part = part < op->len - done ? part : op->len - done;
        if (whole || coin(seed, i, at / SECTOR)) {
            content_size(content, content->len > at + part ? content->len : at + part);
            memcpy(content->data + at, op->data + done, part);
        }
        done += part;
    }
}

static void content_make(size_t file, size_t at, uint64_t seed, struct content *content)
{
    for (size_t i = 0; i < at; i++) {
        const struct op *op = &disk.ops.at[i];
        if (op->kind == IO_WRITTEN && op->file == file) {
            write_apply(content, i, durable(i, at), seed);
        } else if (op->kind == IO_TRUNCATED && op->file == file &&
                   (durable(i, at) || coin(seed, i, 0))) {
            content_size(content, op->len);
        }
    }
}

struct names {
    struct {
        char name[NAME_MAX_LEN];
        bool there;
    } at[FILES_MAX]; /* by file */
};

static void name_remove(struct names *names, const char *name)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        names->at[i].there = names->at[i].there && strcmp(names->at[i].name, name) != 0;
    }
}

static void name_apply(struct names *names, const struct op *op)
{
    if (op->kind == IO_CREATED) {
        names->at[op->file].there = true;
        (void)snprintf(names->at[op->file].name, NAME_MAX_LEN, "%s", op->name);
    } else if (op->kind == IO_REMOVED) {
        name_remove(names, op->name);
    } else if (op->kind == IO_RENAMED) {
        name_remove(names, op->to);
        for (size_t i = 0; i < FILES_MAX; i++) {
            if (names->at[i].there && strcmp(names->at[i].name, op->name) == 0) {
                (void)snprintf(names->at[i].name, NAME_MAX_LEN, "%s", op->to);
            }
        }
    }
}

/* Applies the changes of names in each directory up to some point, at least up to its last
 * flush. */
static void names_make(size_t at, uint64_t seed, const char *dir, struct names *names)
{
    bool lost = false;
    for (size_t i = 0; i < at && !lost; i++) {
        const struct op *op = &disk.ops.at[i];
        if ((op->kind != IO_CREATED && op->kind != IO_REMOVED && op->kind != IO_RENAMED) ||
            !in_dir(op->name, dir)) {
            continue;
        }
        lost = !durable(i, at) && !coin(seed, i, 0);
        if (!lost) {
            name_apply(names, op);
        }
    }
}

static void file_put(const char *image, const char *name, const struct content *content)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", image, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(fd >= 0);
    must(pwrite(fd, content->data, content->len, 0) == (ssize_t)content->len);
    (void)close(fd);
}

uint64_t crash_disk_image(size_t at, uint64_t seed, const char *image)
{
    struct names names = {0};
    names_make(at, seed, "", &names);
    names_make(at, seed, "log", &names);
    names_make(at, seed, "snapshot", &names);
    for (size_t file = 0; file < disk.file_count; file++) {
        struct content content = {0};
        /* SQLite makes the index of its write-ahead log anew after a crash. */
        if (names.at[file].there && strcmp(names.at[file].name, "weir.db-shm") != 0) {
            content_make(file, at, seed, &content);
            file_put(image, names.at[file].name, &content);
        }
        free(content.data);
    }
    uint64_t acknowledged = 0;
    for (size_t i = 0; i < at; i++) {
        acknowledged = disk.ops.at[i].kind == ACKNOWLEDGED ? disk.ops.at[i].len : acknowledged;
    }
    return acknowledged;
}
