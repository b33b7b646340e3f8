/* checkpoint.h - has a task touched its $WEIR_CHECKPOINT_FILE? Part of the supervisor.
 *
 * Looked at, not watched: a watch costs something for every file that a task makes in its directory, a look only for tasks that are
 * looked at, and those are at most CHECKPOINT_LOOKS_MAX a round, however many run. What counts is when the file was changed, by the
 * kernel's own stamp, which no task can set; so a late look tells the same. SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct attempt;
struct supervisor;

/* The attempt is about to start: what an earlier one left there does not count. */
void checkpoint_begin(struct attempt *attempt);

/* Records a checkpoint if there is a new one, and none of the last CHECKPOINT_INTERVAL_MS before it was recorded. */
void checkpoint_look(struct attempt *attempt);

/* Something runs: rounds are made as long as anything does. */
void checkpoint_watch(struct supervisor *sup);

/* Looks at some of those that run. */
void checkpoint_round(struct supervisor *sup);
