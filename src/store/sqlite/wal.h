/* wal.h - looks at SQLite's write-ahead log from outside. SQLite takes a damaged frame for the end of
 * the log and says nothing, because a crash leaves the same picture.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>

struct wal {
    bool present;    /* the file exists and is not empty */
    bool head_whole; /* its head has the right checksum; else the members below are 0 */
    uint32_t salt[2];
    uint32_t frames;    /* whole frames from the start on, at most as many as asked for */
    uint64_t frames_at; /* the byte behind them */
};

/* Reads the head of dir/weir.db-wal and up to `frames_max` frames. Safe beside a server: SQLite keeps
 * no lock on this file. */
must_use enum err wal_scan(const char *dir, uint32_t frames_max, struct wal *ret, struct error *e);
