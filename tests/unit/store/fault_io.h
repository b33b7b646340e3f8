/* fault_io.h - watches and fails calls on files. It fails the n-th call that opens, writes, flushes, renames or makes something, in our
 * code and in SQLite's alike: the test program defines those calls itself, so that the dynamic
 * linker gives them to the library too. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault {
    int at;     /* which call fails, from 1; 0: none */
    int number; /* with this errno; a write leaves half of its bytes behind */
    bool stays; /* every further call that writes fails too, until cleared */
};

/* From now on; counting begins anew. */
void fault_set(const struct fault *fault);
void fault_clear(void);

/* Calls counted since fault_set(), and whether one failed. */
int fault_calls(void);
bool fault_hit(void);

/* What happened to files, after it happened. */
enum io_kind { IO_CREATED, IO_WRITTEN, IO_TRUNCATED, IO_SYNCED, IO_RENAMED, IO_REMOVED };

struct io_event {
    enum io_kind kind;
    uint64_t inode;
    bool is_dir;      /* synced: a directory, named by path */
    const char *path; /* created, renamed, removed; synced directories */
    const char *to;   /* renamed */
    const void *data; /* written */
    uint64_t len;     /* written; truncated: the new size */
    uint64_t at;
};

/* Every event goes to the function; NULL: none. */
void io_watch(void (*function)(const struct io_event *event));
