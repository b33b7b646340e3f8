/* instance.h - what follows from the row of an instance alone.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/space.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

/* STARTING, RUNNING or STOPPING. */
bool instance_active(const struct instance *instance);
/* The same without those that are told to end. */
bool instance_stays(const struct instance *instance);
/* Since when nothing of its work is saved: its last checkpoint, else its allocation (resources are held from then on, and the state
 * keeps that order from the first moment). */
int64_t instance_unsaved_ms(const struct instance *instance);

/* Did an attempt that ended so fail by its own fault? Such ends count against max_retries. */
bool instance_failed(enum end_cause cause, int32_t exit_code);

/* May this instance be promised a place? */
bool instance_may_claim(const struct instance *instance);

/* What it holds. */
struct grant instance_grant(const struct instance *instance);
