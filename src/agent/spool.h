/* spool.h - the node's append-only log of what happened, in segments D/spool/NNNNNNNN. The
 * supervisor writes the spool and the agent reads it. Segments are deleted one by one as the server
 * acknowledges them.
 *
 *   00000007: SEGMENT(id, open) STARTED OUTPUT … | 00000008: SEGMENT(id, open) …
 *                                  ^ acknowledged              ^ written
 *
 * The spool is never flushed to disk: the page cache survives every kill, and after a power cut the
 * tasks are gone too. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"
#include "base/fail.h"

/* A place between two records. Segments are numbered from 1. */
struct spool_position {
    uint64_t segment;
    uint64_t offset;
};

/* Returns a number below, equal to or above 0. */
int spool_position_compare(struct spool_position a, struct spool_position b);

struct spool;

struct spool_options {
    const char *dir; /* the node's directory D; the spool is made in D/spool */
    unsigned char id[SUPERVISOR_ID_LEN];
    /* Writes the attempts without a recorded end to `open`, at most ATTEMPTS_MAX, and returns how
     * many. */
    size_t (*open_list)(void *ctx, struct attempt_key *open);
    void *ctx;
};

/* Opens a new segment behind the existing segments. */
must_use enum err spool_new(const struct spool_options *options, struct spool **ret,
                            struct error *e);
void spool_free(struct spool *spool);

/* Removes the last segment if every record in it is acknowledged. Call at the end, when no process
 * reads the spool. */
void spool_remove_acked(struct spool *spool);

/* Gathers a record; spool_flush() writes the gathered records. */
void spool_put(struct spool *spool, const struct record *record);

/* Reads up to `max` (at most READ_CHUNK) bytes from `fd` into the spool as output of `record`.
 * Returns what read() returned, or -1 and ENOSPC, with nothing read, when the spool cannot be
 * written now. */
long spool_put_from(struct spool *spool, const struct record *record, int fd, size_t max);

/* Writes the gathered records. ERR_IO: the records stay gathered; try again later. */
must_use enum err spool_flush(struct spool *spool, struct error *e);

/* Are all segments that are not acknowledged still there, and does the newest one hold what was
 * written to it? */
bool spool_sound(const struct spool *spool);

/* Begins a new segment in front of the gathered records, because an older one was lost or damaged.
 * Makes D/spool anew where it is gone. The caller puts again what is not acknowledged. */
must_use enum err spool_renew(struct spool *spool, struct error *e);

/* Where the next record will stand, gathered records included. */
struct spool_position spool_end(const struct spool *spool);

/* Every record before `at` is on the server's disk. Deletes the segments that lie wholly before
 * `at`. */
void spool_ack(struct spool *spool, struct spool_position at);
struct spool_position spool_acked(const struct spool *spool);

/* Bytes not yet acknowledged, on disk and gathered. */
uint64_t spool_bytes(const struct spool *spool);

/* The lowest and highest segment in D/spool; both 0 when there is none. */
void spool_range(const char *dir, uint64_t *ret_low, uint64_t *ret_high);

/* Writes the path D/spool/NNNNNNNN of a segment to `out`, which has AGENT_PATH_MAX bytes. */
void spool_path(const char *dir, uint64_t segment, char *out);
