/* tar.h - reads and writes plain tar archives (ustar) of files and directories, piece by piece.
 *
 * The reader is for archives of strangers. It takes files and directories and nothing else: links, devices,
 * pipes, extensions and compressed archives are refused by name, and so are absolute paths, "..", names
 * that are too long and archives with too many entries. An archive without compression holds no more than
 * its own length, so it cannot grow when it is unpacked. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TAR_BLOCK = 512,
    TAR_NAME_MAX = 255,
    TAR_DEPTH_MAX = 64,       /* directories above a file */
    TAR_ENTRIES_MAX = 100000, /* of one archive */
};

struct tar_entry {
    const char *name; /* relative, without "." and ".." and without a slash at the end */
    bool directory;
    bool executable;
    bool secret; /* of a head that is written: a file for its owner alone */
    uint64_t size;
    uint64_t modified_s; /* of a head that is written */
};

/* What the reader gives. Each function may fail, and the reader fails likewise. NULL: not wanted. */
struct tar_sink {
    enum err (*entry)(void *ctx, const struct tar_entry *entry, struct error *e);
    enum err (*data)(void *ctx, struct str piece, struct error *e);
    enum err (*end)(void *ctx, struct error *e); /* of the entry */
    void *ctx;
};

struct tar_reader {
    struct tar_sink sink;
    char head[TAR_BLOCK];
    size_t head_have;
    uint64_t left; /* bytes of the entry that are still to come */
    size_t pad;    /* zeros behind the entry */
    uint32_t entries;
    uint64_t bytes;
    unsigned zeros; /* blocks of zeros in a row; two end the archive */
    char name[TAR_NAME_MAX + 1];
};

void tar_reader_init(struct tar_reader *reader, const struct tar_sink *sink);
must_use enum err tar_reader_feed(struct tar_reader *reader, struct str data, struct error *e);

/* All of the archive has been fed. */
must_use enum err tar_reader_end(const struct tar_reader *reader, struct error *e);

/* Appends the head of an entry. ERR_LIMIT: the name does not fit into an archive. */
must_use enum err tar_head_add(struct buf *out, const struct tar_entry *entry, struct error *e);

/* How many zeros stand behind `size` bytes. */
size_t tar_pad(uint64_t size);

/* Appends a file and the zeros behind it. ERR_LIMIT: the name does not fit into an archive. */
must_use enum err tar_file_add(struct buf *out, const struct tar_entry *entry, struct str data,
                               struct error *e);

/* Ends an archive. */
void tar_end_add(struct buf *out);
