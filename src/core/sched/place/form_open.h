/* form_open.h - do the bounds of the accounts and the user's cap let these instances of a gang with a form start?
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* True if the gates let the instances start now in this trial, and a node exists on which their cpu and memory stay within the bounds. The
 * node decides how much cpu and memory comes with a slot. Of a gang with groups only the first instance is tried on nodes, of equal
 * instances all are. */
bool form_open(const struct trial *trial, const struct task *task, const uint32_t *indices,
               uint32_t count);

/* Returns whether some node, if it were empty, would hold one instance, and `count` instances on
 * that node would stay within what the asker's accounts may still take. True for an asker without
 * bounds. False: the bounds are why the task waits, so free room would not help. */
bool form_open_bound(const struct trial *trial, const struct asker *asker, uint32_t count);
