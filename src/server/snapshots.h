/* snapshots.h - now and then the whole state goes to a file, so that a restart need not replay
 * everything. The loop only copies the core (chunks are shared); a worker encodes and writes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/ledger.h"
#include "server/work_thread.h"

struct snapshots;

struct snapshots_options {
    struct loop *loop;
    struct ledger *ledger;
    struct work_thread *worker;
    struct store_thread *store;
    const char *dir; /* lives as long as the snapshots do */
    uint64_t seq;    /* of the newest one on disk */
};

struct snapshots *snapshots_new(const struct snapshots_options *options);
void snapshots_free(struct snapshots *snapshots); /* after the worker has stopped */

/* End of a turn: begin one when it is time. */
void snapshots_turn_end(struct snapshots *snapshots);

/* A job of kind STORE_SNAPSHOT is back. Frees it. */
void snapshots_job_done(struct snapshots *snapshots, struct store_job *job);

/* At a clean stop, on a quiet ledger, with the threads still there: write one now, blocking, when
 * the state is small enough to be worth it. */
void snapshots_final(struct snapshots *snapshots);

void snapshots_numbers(const struct snapshots *snapshots, struct host_numbers *ret);
