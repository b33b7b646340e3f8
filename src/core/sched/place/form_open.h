/* form_open.h - do the accounts of a gang with a form, and the cap of its user, let these instances start?
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* As things are in this trial. What comes with slots is known on the nodes only: there is a node on which the first of them (of equal
 * ones: all) would be within what is left. */
bool form_open(const struct trial *trial, const struct task *task, const uint32_t *indices,
               uint32_t count);
