/* box_buckets.h - files of buckets for a task: resources into its directories, results and snapshots out of its job
 * directory. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/bucket_client.h"

struct box_buckets;

must_use enum err box_buckets_open(struct box *box, const struct attempt_key *key,
                                   struct box_buckets **ret, struct error *e);
void box_buckets_close(struct box_buckets *buckets); /* NULL is allowed */

/* Asks the server, and brings the resources that are not there yet. */
must_use enum err box_buckets_fetch(struct box_buckets *buckets, struct error *e);

/* Can there be a snapshot, or newer resources, while the program runs? */
bool box_buckets_watched(const struct box_buckets *buckets);

/* Asks the server again: brings newer resources, and takes the snapshots that are due. Failures go to the task's error
 * output. `now_s` is the time of a clock that does not jump. */
void box_buckets_look(struct box_buckets *buckets, int64_t now_s);

/* Sends the results. `killed`: the task was stopped from outside. */
must_use enum err box_buckets_results(struct box_buckets *buckets, bool killed, struct error *e);

/* Tells the server why the task fails. */
void box_buckets_failed(struct box_buckets *buckets, const struct error *e);
