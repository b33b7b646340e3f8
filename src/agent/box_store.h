/* box_store.h - unpacked images in D/images: from a directory, an archive or a registry.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box.h"

struct box_rootfs {
    const char *path;   /* of the root file system */
    const char *config; /* umoci's configuration, for the image's environment; "": none */
    int use_fd;         /* held while the image is in use; -1: it is not of the store */
};

/* Finds or makes the root file system of the task's image. */
must_use enum err box_store_take(struct box *box, struct box_rootfs *ret, struct error *e);

/* Is `path`, with all links followed, one of the directories of a list "A:B", or below one? *ret_real: the
 * path without links, in the arena. `ret_word`: NULL, or what stands behind the directory: "rw". */
bool box_store_below(const char *list, const char *path, struct arena *arena, const char **ret_real,
                     bool *ret_writable);
