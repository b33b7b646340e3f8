/* datadir.h - where things lie in a data directory, its lock, and the numbered files in it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DATADIR_LEN_MAX = 3072, /* of the directory's own name */
    DATADIR_PATH_MAX = 4096,
    DATADIR_FILES_MAX = 1 << 20, /* numbered files in one directory */
};

struct path {
    char text[DATADIR_PATH_MAX];
};

/* Refuses an empty or overlong directory name; everything below relies on it. */
must_use enum err datadir_valid(const char *dir, struct error *e);

/* Paths inside a data directory. */
struct path datadir_db(const char *dir);
struct path datadir_sub(const char *dir, const char *name); /* dir/name */
struct path datadir_segment(const char *dir, uint64_t segment);
struct path datadir_snapshot(const char *dir, uint64_t seq);

/* Makes the directory (0711), its parts (0700) and an empty database file (0600), where missing. */
must_use enum err datadir_make(const char *dir, struct error *e);

/* ERR_NOT_FOUND unless there is a database in it. */
must_use enum err datadir_has_db(const char *dir, struct error *e);

/* Takes the directory for this process, until *ret_fd is closed. ERR_CONFLICT names the holder. */
must_use enum err datadir_lock(const char *dir, int *ret_fd, struct error *e);

/* While *ret_fd is open no log segment or snapshot of the directory is removed. Waits only for a
 * removal under way. */
must_use enum err datadir_hold_files(const char *dir, int *ret_fd, struct error *e);

/* On the descriptor of datadir_lock(): true when files may be removed until
 * datadir_removal_end(); false while somebody holds them. */
bool datadir_removal_begin(int lock_fd);
void datadir_removal_end(int lock_fd);

struct datadir_numbers {
    uint64_t *at; /* ascending */
    size_t count;
    size_t room;
};

/* The numbers of the files NUMBER<suffix> in dir/sub; a missing directory has none. Free with
 * vec_done(). */
must_use enum err datadir_list(const char *dir, const char *sub, const char *suffix,
                               struct datadir_numbers *out, struct error *e);
