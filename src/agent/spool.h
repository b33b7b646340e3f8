/* spool.h - the node's one append-only file of what happened, D/spool/NNNNNNNN in segments. Written
 * by the supervisor, read by the agent, deleted segment by segment as the server acknowledges.
 *
 *   00000007: SEGMENT(id, open) STARTED OUTPUT … | 00000008: SEGMENT(id, open) …
 *                                  ^ acknowledged              ^ written
 *
 * Never flushed to disk: the page cache survives every kill, and after a power cut the tasks are
 * gone too. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"
#include "base/fail.h"

/* A place between two records; segments count from 1. */
struct spool_position {
    uint64_t segment;
    uint64_t offset;
};

/* <0, 0, >0 */
int spool_position_compare(struct spool_position a, struct spool_position b);

struct spool;

struct spool_options {
    const char *dir; /* the node's directory; D/spool is made in it */
    unsigned char id[SUPERVISOR_ID_LEN];
    /* Fills `open` with the attempts that have no end yet; at most ATTEMPTS_MAX. */
    size_t (*open_list)(void *ctx, struct attempt_key *open);
    void *ctx;
};

/* Opens a new segment behind those that are there. */
must_use enum err spool_new(const struct spool_options *options, struct spool **ret,
                            struct error *e);
void spool_free(struct spool *spool);

/* At the end, when nobody reads: removes the last segment if everything in it is acknowledged. */
void spool_remove_acked(struct spool *spool);

/* Gather a record; spool_flush() writes. */
void spool_put(struct spool *spool, const struct record *record);

/* Reads up to `max` (at most READ_CHUNK) bytes from `fd` into the spool as output of `record`. The
 * result of read(); -1 and ENOSPC, with nothing read, when the spool cannot be written just now. */
long spool_put_from(struct spool *spool, const struct record *record, int fd, size_t max);

/* Writes what was gathered. ERR_IO: it stays gathered; try again later. */
must_use enum err spool_flush(struct spool *spool, struct error *e);

/* Where the next record will stand, gathered ones counted. */
struct spool_position spool_end(const struct spool *spool);

/* Everything before `at` is on the server's disk: delete the segments that lie wholly before it. */
void spool_ack(struct spool *spool, struct spool_position at);
struct spool_position spool_acked(const struct spool *spool);

/* Bytes not yet acknowledged, on disk and gathered. */
uint64_t spool_bytes(const struct spool *spool);

/* Lowest and highest segment in D/spool; 0 when there is none. */
void spool_range(const char *dir, uint64_t *ret_low, uint64_t *ret_high);

/* The file of a segment: D/spool/NNNNNNNN. `out` has AGENT_PATH_MAX. */
void spool_path(const char *dir, uint64_t segment, char *out);
