/* ack.h - the file `acknowledged`: how far the store got, beside the database. The store writes it after
 * each commit and never flushes it, so it costs next to nothing. Each commit was flushed before: what
 * the file says was stored, and a database that has less has lost it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>

struct ack {
    uint64_t seq;     /* the last stored fact */
    uint32_t sum;     /* its checksum; 0: not known */
    uint32_t frames;  /* whole frames of the write-ahead log with this salt; 0: says nothing */
    uint32_t salt[2]; /* the write-ahead log begins anew with another salt */
};

/* Opens the file for ack_write(), and makes it where it is missing. */
must_use enum err ack_open(const char *dir, int *ret_fd, struct error *e);

/* Writes the file. A failure is no loss: the file then says less than it could. */
void ack_write(int fd, const struct ack *ack);

/* Reads the file; all 0 where it is missing. ERR_CORRUPT: the file is damaged. */
must_use enum err ack_read(const char *dir, struct ack *ret, struct error *e);

/* ERR_CORRUPT: the write-ahead log has lost frames that were stored. Call before SQLite opens the
 * database. */
must_use enum err ack_wal_check(const char *dir, const struct ack *ack, struct error *e);

/* ERR_CORRUPT: the database ends with fact `last`, and more was stored. */
must_use enum err ack_seq_check(const char *dir, const struct ack *ack, uint64_t last,
                                struct error *e);
