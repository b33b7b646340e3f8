/* instance.h - what follows from the row of an instance alone.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/space.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

/* STARTING, RUNNING or STOPPING. */
bool instance_active(const struct instance *instance);
/* WAITING or HELD: the instance has no place, and another attempt of it may follow. */
bool instance_again(const struct instance *instance);
/* STARTING or RUNNING: the instance holds a place and was not told to stop. */
bool instance_stays(const struct instance *instance);
/* Since when the instance's work is not saved: since its last checkpoint, else since its allocation. The
 * allocation counts, not the start, because the instance stands in ORDER_ACCOUNT_LOSS from its allocation on. */
int64_t instance_unsaved_ms(const struct instance *instance);

/* Returns whether requests may go to the instance: the instance runs and, where the task has a
 * health check, is healthy. */
bool instance_ready(const struct task *task, const struct instance *instance);

/* Did an attempt with this end cause and exit code fail by its own fault? Such an end counts against
 * max_retries. */
bool instance_failed(enum end_cause cause, int32_t exit_code);

/* Returns whether an attempt with this end cause was lost with its node or a device, so that its
 * task is not to blame. */
bool instance_lost(enum end_cause cause);

/* May this instance be promised a place? */
bool instance_may_claim(const struct instance *instance);

/* What the instance holds. */
struct grant instance_grant(const struct instance *instance);
