/* place_form.h - nodes in a trial for instances of a gang with topology or groups.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/task.h"
#include "core/sched/place/arrange.h"
#include "core/sched/place/overlay.h"
#include "core/sched/place/trial.h"

#include <stdint.h>

/* Places these instances, in ascending order, in the asker's view. Instances of the task that run, have a claim or were placed in this
 * trial keep their places and count for the form. `places` gets the node of each instance. Nothing is placed unless all are. */
enum arrange_result place_form(struct trial *trial, struct asker *asker, const uint32_t *indices,
                               uint32_t count, const struct node **places);

/* Sets `*ret` to the domain that takes most of these instances of a group in this trial. Returns their number. See arrange_closest(). */
uint32_t place_form_closest(struct trial *trial, struct asker *asker, uint32_t group,
                            const uint32_t *indices, uint32_t count, domain_id *ret);

/* The node of each instance of a task by the state and by this trial: where the instance runs, has its claim or is placed. NULL: the
 * instance has no node or is told to leave. */
const struct node **place_form_known(const struct trial *trial, const struct task *task);
