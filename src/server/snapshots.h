/* snapshots.h - writes the whole state to a file from time to time, so that a restart need not
 * replay all facts. The loop only copies the core (the copies share chunks); a worker encodes and
 * writes. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/ledger.h"
#include "server/work_thread.h"

struct snapshots;

struct snapshots_options {
    struct loop *loop;
    struct ledger *ledger;
    struct work_thread *worker;
    struct store_thread *store;
    const char *dir; /* must outlive the snapshots */
    uint64_t seq;    /* of the newest snapshot on disk */
};

struct snapshots *snapshots_new(const struct snapshots_options *options);
void snapshots_free(struct snapshots *snapshots); /* after the worker has stopped */

/* Call at the end of a loop turn: begins a snapshot when one is due. */
void snapshots_turn_end(struct snapshots *snapshots);

/* A job of kind STORE_SNAPSHOT came back. Frees the job. */
void snapshots_job_done(struct snapshots *snapshots, struct store_job *job);

/* Writes a snapshot at a clean stop, blocking, unless the state is too large. The ledger must be
 * quiet and the threads still there. */
void snapshots_final(struct snapshots *snapshots);

void snapshots_numbers(const struct snapshots *snapshots, struct host_numbers *ret);
