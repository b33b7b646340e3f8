/* rmtree.c - see rmtree.h.
 *
 * A directory that is not empty is emptied one level at a time: its files go, and its directories are moved
 * up to the directory that was opened. There they are entries like the others and have their turn later.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rmtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOVED_NAME_MAX = 64 };

/* A living process may add files as fast as they go, so there is an end. */
#define ROUNDS_MAX 1000000

struct removal {
    int top; /* the directory that was opened */
    unsigned long moved;
};

static bool is_self(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Removes a file, a link or an empty directory. */
static bool removed(int dir, const char *name)
{
    return unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

static DIR *entries_open(int dir, const char *name)
{
    const int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (entries == NULL && fd >= 0) {
        (void)close(fd);
    }
    return entries;
}

/* Moves a directory up. Its owner may have closed it, and who is not root must open it for that. */
static bool moved_up(struct removal *removal, int dir, const char *name)
{
    char to[MOVED_NAME_MAX];
    (void)snprintf(to, sizeof to, ".moved-%lu", ++removal->moved);
    (void)!fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW);
    return renameat(dir, name, removal->top, to) == 0;
}

/* Empties one directory of the top one, and removes it. False: nothing could be done. */
static bool emptied(struct removal *removal, const char *name)
{
    bool any = false;
    (void)!fchmodat(removal->top, name, 0700, AT_SYMLINK_NOFOLLOW);
    DIR *entries = entries_open(removal->top, name);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (!is_self(entry->d_name) && (removed(dirfd(entries), entry->d_name) ||
                                        moved_up(removal, dirfd(entries), entry->d_name))) {
            any = true;
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return unlinkat(removal->top, name, AT_REMOVEDIR) == 0 || any;
}

/* Goes once through the top directory. False: nothing could be removed. */
static bool round_do(struct removal *removal)
{
    bool any = false;
    DIR *entries = entries_open(removal->top, ".");
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (!is_self(entry->d_name) &&
            (removed(removal->top, entry->d_name) || emptied(removal, entry->d_name))) {
            any = true;
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return any;
}

void rmtree_below(const char *path)
{
    struct removal removal = {.top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (removal.top < 0) {
        return;
    }
    for (unsigned long i = 0; i < ROUNDS_MAX && round_do(&removal); i++) {
    }
    (void)close(removal.top);
}

void rmtree(const char *path)
{
    if (unlink(path) != 0) {
        rmtree_below(path);
        (void)rmdir(path);
    }
}
