/* losses.h - attempts that are lost together with their node or supervisor: how often, and how long the task
 * waits then.
 *
 * A task can kill the supervisor that runs it. So a task whose attempts are lost again and again waits longer
 * after each loss, and fails after max_losses losses within LOSSES_WINDOW_MS. The wait is spread by a hash:
 * tasks that were lost together come back at different moments. So a task that kills its neighbours is present
 * at every loss, and its neighbours are not.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"

#include <stdint.h>

enum {
    LOSSES_WINDOW_MS = 60 * 60 * 1000,
    LOSSES_WAIT_MS = 5000,
    LOSSES_WAIT_MS_MAX = 10 * 60 * 1000
};

/* The losses of the instance within LOSSES_WINDOW_MS, with one more loss at `now_ms`. */
uint32_t losses_next(const struct instance *instance, int64_t now_ms);

/* Counts a loss at `now_ms`. */
void losses_count(struct instance *instance, int64_t now_ms);

/* How long the task waits after the `count`-th loss of an instance: 0 after the first loss, then from
 * LOSSES_WAIT_MS to twice as long, doubled with each further loss. */
int64_t losses_wait_ms(task_id task, uint32_t index, uint32_t count);
