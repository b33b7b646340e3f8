/* box_tree.c - see box_tree.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_tree.h"

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TREE_DEPTH_MAX = 64 };

enum err box_tree_open(const char *path, struct box_tree *ret, struct error *e)
{
    *ret = (struct box_tree){.fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    return ret->fd >= 0 ? ERR_OK : fail_errno(e, ERR_IO, errno, "cannot open '%s'", path);
}

void box_tree_close(struct box_tree *tree)
{
    if (tree->fd >= 0) {
        (void)close(tree->fd);
    }
    tree->fd = -1;
}

static enum err give(const struct box_tree *tree, int fd, struct error *e)
{
    return !tree->give || fchown(fd, tree->uid, tree->gid) == 0
               ? ERR_OK
               : fail_errno(e, ERR_IO, errno, "cannot give a file to the task's user");
}

/* Opens a directory inside another one, and makes it where it is missing. */
static enum err step(const struct box_tree *tree, int parent, const char *name, int *ret,
                     struct error *e)
{
    const bool made = mkdirat(parent, name, 0755) == 0;
    *ret = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make the directory '%s'", name);
    }
    return made ? give(tree, *ret, e) : ERR_OK;
}

/* Goes to the directory of the last part of the path. *ret_name: that part; "": the path is a directory. */
static enum err descend(const struct box_tree *tree, const char *path, struct arena *arena,
                        int *ret_parent, const char **ret_name, struct error *e)
{
    int at = fcntl(tree->fd, F_DUPFD_CLOEXEC, 0);
    enum err r = at < 0 ? fail_errno(e, ERR_IO, errno, "cannot open a directory") : ERR_OK;
    struct str rest = str_of(path);
    unsigned depth = 0;
    *ret_name = "";
    while (r == ERR_OK && rest.p != NULL) {
        const struct str part = str_cut(rest, '/', &rest);
        if (part.len == 0 && rest.p == NULL) {
            break; /* a slash at the end */
        }
        if (part.len == 0 || str_is(part, ".") || str_is(part, "..") || ++depth > TREE_DEPTH_MAX) {
            r = fail(e, ERR_INVALID, "'%.200s' is no path below the directory", path);
            break;
        }
        const char *name = arena_strn(arena, part.p, part.len);
        int next;
        if (rest.p == NULL) {
            *ret_name = name;
            break;
        }
        r = step(tree, at, name, &next, e);
        (void)close(at);
        at = next;
    }
    if (r != ERR_OK && at >= 0) {
        (void)close(at);
    }
    *ret_parent = at;
    return r;
}

enum err box_tree_create(const struct box_tree *tree, const char *path, struct arena *arena,
                         struct box_tree_file *ret, struct error *e)
{
    *ret = (struct box_tree_file){.fd = -1, .parent = -1};
    enum err r = descend(tree, path, arena, &ret->parent, &ret->name, e);
    if (r != ERR_OK) {
        ret->parent = -1;
        return r;
    }
    if (*ret->name == '\0') {
        return ERR_OK;
    }
    (void)snprintf(ret->part, sizeof ret->part, ".weir-part-%d", (int)getpid());
    (void)unlinkat(ret->parent, ret->part, 0); /* of a process that was killed */
    ret->fd =
        openat(ret->parent, ret->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    return ret->fd >= 0 ? give(tree, ret->fd, e)
                        : fail_errno(e, ERR_IO, errno, "cannot write '%.200s'", path);
}

enum err box_tree_end(struct box_tree_file *file, bool keep, struct stat *ret_info, struct error *e)
{
    enum err r = ERR_OK;
    if (file->fd >= 0) {
        if (keep && (fstat(file->fd, ret_info) != 0 ||
                     renameat(file->parent, file->part, file->parent, file->name) != 0)) {
            r = fail_errno(e, ERR_IO, errno, "cannot write '%.200s'", file->name);
            keep = false;
        }
        if (!keep) {
            (void)unlinkat(file->parent, file->part, 0);
        }
        (void)close(file->fd);
    }
    if (file->parent >= 0) {
        (void)close(file->parent);
    }
    return r;
}

/* ---- walking ---- */

struct tree_walk {
    box_tree_fn each;
    void *ctx;
};

static enum err walk_dir(const struct tree_walk *walk, int fd, const char *path, unsigned depth,
                         struct error *e);

/* One entry. What vanished meanwhile, links and devices are passed over. */
static enum err walk_entry(const struct tree_walk *walk, int dir, const char *name,
                           const char *path, unsigned depth, struct error *e)
{
    struct stat info;
    enum err r = ERR_OK;
    if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) {
        return ERR_OK;
    }
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || errno == ELOOP
                   ? ERR_OK
                   : fail_errno(e, ERR_IO, errno, "cannot read '%.200s'", path);
    }
    if (fstat(fd, &info) != 0 || (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) {
        (void)close(fd);
        return ERR_OK;
    }
    if (S_ISDIR(info.st_mode)) {
        return walk_dir(walk, fd, path, depth + 1, e); /* closes it */
    }
    r = walk->each(walk->ctx, path, fd, &info, e);
    (void)close(fd);
    return r;
}

static enum err walk_dir(const struct tree_walk *walk, int fd, const char *path, unsigned depth,
                         struct error *e)
{
    DIR *dir = depth < TREE_DEPTH_MAX ? fdopendir(fd) : NULL;
    enum err r = ERR_OK;
    const struct dirent *entry;
    if (dir == NULL) {
        (void)close(fd);
        return fail(e, ERR_LIMIT, "cannot read the directory '%.200s'", path);
    }
    while (r == ERR_OK && (entry = readdir(dir)) != NULL) {
        struct arena arena;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        arena_init(&arena);
        const char *below = *path == '\0' ? arena_str(&arena, entry->d_name)
                                          : arena_fmt(&arena, "%s/%s", path, entry->d_name);
        r = walk_entry(walk, fd, entry->d_name, below, depth, e);
        arena_done(&arena);
    }
    (void)closedir(dir);
    return r;
}

enum err box_tree_walk(const struct box_tree *tree, box_tree_fn each, void *ctx, struct error *e)
{
    const struct tree_walk walk = {each, ctx};
    const int fd = openat(tree->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? fail_errno(e, ERR_IO, errno, "cannot read a directory")
                  : walk_dir(&walk, fd, "", 0, e);
}
