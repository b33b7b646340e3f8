/* disk_walk.c - see disk_walk.h. The task may change the tree during the walk. So each directory is
 * opened by its name below an open directory, no symbolic link is followed, no other file system is
 * entered, and a file that vanishes is not counted. SPDX-License-Identifier: Apache-2.0 */
#include "agent/disk_walk.h"

#include "base/map.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_TMP "/tmp"
#define SHARED_VAR_TMP "/var/tmp"

enum {
    ENTRY_BYTES_MIN = 4096,
    BLOCK_BYTES = 512,
    LINKED_FILES_MAX = 1 << 16, /* files with several names beyond these count once for each name */
};

struct disk_sum {
    const struct disk_walk *walk;
    uint64_t bytes;
    /* device and inode of the files counted so far whose number of names is not 1 */
    struct map *linked;
    DIR *open[DISK_DEPTH_MAX];
    size_t depth;
};

static bool is_over(const struct disk_sum *sum)
{
    return sum->bytes > sum->walk->limit;
}

static void count(struct disk_sum *sum, const struct stat *info)
{
    static char seen;
    const uint64_t bytes = (uint64_t)info->st_blocks * BLOCK_BYTES;
    if (!S_ISDIR(info->st_mode) && info->st_nlink != 1) {
        const uint64_t file[2] = {info->st_dev, info->st_ino};
        if (map_get(sum->linked, file, sizeof file) != NULL) {
            return;
        }
        if (map_count(sum->linked) < LINKED_FILES_MAX) {
            (void)map_put(sum->linked, file, sizeof file, &seen);
        }
    }
    sum->bytes += bytes < ENTRY_BYTES_MIN ? ENTRY_BYTES_MIN : bytes;
}

/* Opens the directory `name` below `at_fd` and puts it on the stack, so that tree_add() walks
 * through it next. */
static void enter(struct disk_sum *sum, int at_fd, const char *name)
{
    if (sum->depth == DISK_DEPTH_MAX) {
        sum->bytes = UINT64_MAX;
        return;
    }
    const int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir != NULL) {
        sum->open[sum->depth++] = dir;
    } else if (fd >= 0) {
        (void)close(fd);
    }
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Adds up all files below the directory on the stack, until the end or until the limit is passed. */
static void tree_add(struct disk_sum *sum)
{
    struct stat top;
    if (sum->depth == 0 || fstat(dirfd(sum->open[0]), &top) != 0) {
        return;
    }
    while (sum->depth > 0 && !is_over(sum)) {
        DIR *dir = sum->open[sum->depth - 1];
        const struct dirent *entry = readdir(dir);
        struct stat info;
        if (entry == NULL) {
            (void)closedir(dir);
            sum->depth--;
        } else if (!is_dots(entry->d_name) &&
                   fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
            count(sum, &info);
            if (S_ISDIR(info.st_mode) && info.st_dev == top.st_dev) {
                enter(sum, dirfd(dir), entry->d_name);
            }
        }
    }
    while (sum->depth > 0) {
        (void)closedir(sum->open[--sum->depth]);
    }
}

/* Adds up the files that the task's user owns in a directory that all users share (/tmp). */
static void shared_add(struct disk_sum *sum, const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir != NULL && !is_over(sum) && (entry = readdir(dir)) != NULL) {
        struct stat info;
        if (is_dots(entry->d_name) ||
            fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            info.st_uid != sum->walk->uid) {
            continue;
        }
        count(sum, &info);
        if (S_ISDIR(info.st_mode)) {
            enter(sum, dirfd(dir), entry->d_name);
            tree_add(sum);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
}

/* Returns whether the file is on the file system of the job directory, /tmp or /var/tmp. Files in
 * memory (memfd, /dev/shm) are not on disk; they count as memory. */
static bool on_disk(const struct disk_sum *sum, dev_t dev)
{
    const char *const tops[] = {sum->walk->dir, SHARED_TMP, SHARED_VAR_TMP};
    struct stat top;
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++) {
        if (stat(tops[i], &top) == 0 && top.st_dev == dev) {
            return true;
        }
    }
    return false;
}

/* Adds up the files that a process holds and that have no name any more. Such files still take room
 * on disk. `how`: "fd" for the files that the process has open, "map_files" for those that it has
 * mapped. */
static void held_files_add(struct disk_sum *sum, int proc_fd, const char *pid, const char *how)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%.20s/%s", pid, how);
    const int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    while (files != NULL && !is_over(sum) && (entry = readdir(files)) != NULL) {
        struct stat info;
        if (fstatat(dirfd(files), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode) &&
            info.st_nlink == 0 && info.st_uid == sum->walk->uid && on_disk(sum, info.st_dev)) {
            count(sum, &info);
        }
    }
    if (files != NULL) {
        (void)closedir(files);
    }
}

static void processes_add(struct disk_sum *sum)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    while (proc != NULL && !is_over(sum) && (entry = readdir(proc)) != NULL) {
        uint64_t pid;
        struct stat info;
        if (str_to_u64(str_of(entry->d_name), &pid) &&
            fstatat(dirfd(proc), entry->d_name, &info, 0) == 0 && info.st_uid == sum->walk->uid) {
            held_files_add(sum, dirfd(proc), entry->d_name, "fd");
            held_files_add(sum, dirfd(proc), entry->d_name, "map_files");
        }
    }
    if (proc != NULL) {
        (void)closedir(proc);
    }
}

uint64_t disk_walk_bytes(const struct disk_walk *walk)
{
    struct disk_sum sum = {.walk = walk, .linked = map_new()};
    enter(&sum, AT_FDCWD, walk->dir);
    tree_add(&sum);
    if (walk->uid != 0) {
        shared_add(&sum, SHARED_TMP);
        shared_add(&sum, SHARED_VAR_TMP);
        processes_add(&sum);
    }
    map_free(sum.linked);
    return sum.bytes;
}
