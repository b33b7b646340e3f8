/* checkpoint.h - has a task changed its $WEIR_CHECKPOINT_FILE? Part of the supervisor.
 *
 * The supervisor looks at the files and does not watch them: a watch costs something for every file
 * that a task makes in its directory. One round looks at CHECKPOINT_LOOKS_MAX attempts at most,
 * however many run. The kernel's time of the last change counts, which no task can set; so a late
 * look gives the same result. SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct attempt;
struct supervisor;

/* Call before the attempt starts: a file that an earlier attempt left does not count. */
void checkpoint_begin(struct attempt *attempt);

/* Records a checkpoint if the file has changed, and the last recorded checkpoint is at least
 * CHECKPOINT_INTERVAL_MS older. */
void checkpoint_look(struct attempt *attempt);

/* An attempt runs: begins the rounds, which go on as long as an attempt is open. */
void checkpoint_watch(struct supervisor *sup);

/* Looks at the next CHECKPOINT_LOOKS_MAX attempts. */
void checkpoint_round(struct supervisor *sup);
