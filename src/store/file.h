/* file.h - whole reads and writes, flushes and copies, each failure naming its file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stddef.h>
#include <stdint.h>

/* An open file with the name that messages use. */
struct file {
    int fd;
    const char *path;
};

/* All `len` bytes at position `at`, or ERR_IO. */
must_use enum err file_write_at(struct file file, const void *data, size_t len, uint64_t at,
                                struct error *e);

/* Up to `len` bytes at position `at`; fewer only at the end of the file. */
must_use enum err file_read_at(struct file file, void *data, size_t len, uint64_t at,
                               size_t *ret_len, struct error *e);

/* The file's bytes and size are on disk. */
must_use enum err file_sync(struct file file, struct error *e);

/* The directory's entries are on disk: after creating, renaming or removing a file in it. */
must_use enum err file_sync_dir(const char *path, struct error *e);

/* The same for the directory that `path` lies in. */
must_use enum err file_sync_parent(const char *path, struct error *e);

/* The first `bytes` bytes of `from` into the new file `to`, flushed. ERR_CORRUPT when `from` is
 * shorter; ERR_NOT_FOUND when it is missing. */
must_use enum err file_copy(const char *from, const char *to, uint64_t bytes, struct error *e);

/* cleanup function: closes a descriptor that is not -1. */
void file_closep(const int *fd);
