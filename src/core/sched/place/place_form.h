/* place_form.h - instances of a gang with topology or groups find their nodes in a trial.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/task.h"
#include "core/sched/place/arrange.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"

#include <stdint.h>

/* As place_these(): these instances (ascending), in the asker's view, beside those of the task that run, are promised a place or
 * have got one in this trial. Nothing is placed unless all are. */
enum arrange_result place_form(struct trial *trial, struct asker *asker, const uint32_t *indices,
                               uint32_t count, const struct node **places);

/* See arrange_closest(): in this trial, with what has its place already. */
uint32_t place_form_closest(struct trial *trial, struct asker *asker, uint32_t group,
                            const uint32_t *indices, uint32_t count, domain_id *ret);

/* Where each instance of a task is, will be, or goes by this trial; NULL: nowhere. Those told to leave are nowhere. */
const struct node **place_form_known(const struct trial *trial, const struct task *task);
