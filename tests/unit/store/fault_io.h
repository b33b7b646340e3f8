/* fault_io.h - watches calls on files and makes them fail. The n-th call that opens, writes,
 * flushes, renames or creates a file fails, in Weir's code and in SQLite's. The test program
 * defines these calls itself, and the dynamic linker gives them to the library too.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault {
    int at;     /* the number of the call that fails, from 1; 0: none */
    int number; /* the errno of the failure; a failing write leaves half of its bytes */
    bool stays; /* every further call that writes fails too, until cleared */
};

/* Sets the fault and counts from 0 again. */
void fault_set(const struct fault *fault);
void fault_clear(void);

/* Return the calls counted since fault_set(), and whether one has failed. */
int fault_calls(void);
bool fault_hit(void);

/* Operations on files, told after they have happened. */
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

/* Sends every event to the function; NULL: to none. */
void io_watch(void (*function)(const struct io_event *event));
