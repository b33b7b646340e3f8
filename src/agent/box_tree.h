/* box_tree.h - files below one directory that others may write to, too: no name leads out of it, and no link is followed.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A directory, and who owns what is made in it. */
struct box_tree {
    int fd;
    bool give; /* to this user and group */
    uid_t uid;
    gid_t gid;
};

must_use enum err box_tree_open(const char *path, struct box_tree *ret, struct error *e);
void box_tree_close(struct box_tree *tree);

/* A file on its way into the tree: whole under its name, or not at all. */
struct box_tree_file {
    int fd;
    int parent;
    const char *name; /* the last part of the path */
    char part[64];
};

/* Makes the directories of `path` ("a/b/c") and opens a new file. ERR_INVALID: the path leads out of the tree.
 * A path with a slash at its end is a directory: it is made, and ret->fd is -1. */
must_use enum err box_tree_create(const struct box_tree *tree, const char *path,
                                  struct arena *arena, struct box_tree_file *ret, struct error *e);

/* Puts the file under its name (`keep`), or drops it. *ret_info is what then stands there. */
must_use enum err box_tree_end(struct box_tree_file *file, bool keep, struct stat *ret_info,
                               struct error *e);

/* Calls `each` for every plain file, until one call fails. The file is open for reading during the call. */
typedef enum err (*box_tree_fn)(void *ctx, const char *path, int fd, const struct stat *info,
                                struct error *e);
must_use enum err box_tree_walk(const struct box_tree *tree, box_tree_fn each, void *ctx,
                                struct error *e);
