/* guild_desk.h - Weir's core inside a command: one pool, one node, and no server. The node offers the scheduler's resources; each run is a
 * task with one slot. Nothing is stored.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "compat/guild/guild_needs.h"

#include <stdbool.h>
#include <stdint.h>

struct guild_desk;

/* `workers`: how many runs may run at a time. */
struct guild_desk *guild_desk_new(uint32_t workers, const struct guild_needs *resources);
void guild_desk_free(struct guild_desk *desk);

/* ERR_NEVER: the desk has less than a run needs. `needs` must name resources of the desk only. */
must_use enum err guild_desk_check(const struct guild_desk *desk, const struct guild_needs *needs,
                                   struct error *e);

/* Queues a run whose needs guild_desk_check() accepts. ERR_NEVER: the scheduler refuses it. *ret_task is above 0. */
must_use enum err guild_desk_submit(struct guild_desk *desk, const struct guild_needs *needs,
                                    uint64_t *ret_task, struct error *e);

/* Lets the scheduler decide. */
void guild_desk_pass(struct guild_desk *desk);

/* The next run that the scheduler has started since the last call; 0: none. */
uint64_t guild_desk_next(struct guild_desk *desk);

void guild_desk_started(struct guild_desk *desk, uint64_t task);
/* The run has ended: what it held is free. */
void guild_desk_ended(struct guild_desk *desk, uint64_t task, int exit_code);
/* Takes a run out of the queue that was not started. */
void guild_desk_drop(struct guild_desk *desk, uint64_t task);
