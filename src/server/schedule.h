/* schedule.h - when the scheduler runs: at the end of each loop turn for every pool that is due,
 * and at the core's deadlines. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/ledger.h"

struct schedule;

struct schedule *schedule_new(struct loop *loop, struct ledger *ledger);
void schedule_free(struct schedule *schedule);

/* Call at the end of a loop turn: runs a bounded number of the passes that are due, and sets the
 * timer for the next deadline. Does nothing while the ledger is not open. */
void schedule_turn_end(struct schedule *schedule);

uint64_t schedule_passes(const struct schedule *schedule); /* passes that changed something */
uint64_t schedule_tries(const struct schedule *schedule);  /* all passes since the start */
