/* explain_form.h - why a gang with topology or groups waits.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/task.h"
#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* What explain_form() finds. */
struct form_look {
    bool starts;            /* the gang finds its places, so the next pass starts the gang */
    struct request request; /* of the group that finds no room; else of the first waiting group */
    uint32_t count; /* instances with `request` that start together; 1 if all groups find room */
    uint32_t group; /* the group that finds no room, as the task lists groups, from 1; 0: none */
    struct reason reason; /* why the gang waits although `count` such instances alone find room */
};

/* Writes the name of a group of the task into the reason; 0: the reason is about no single group. */
void explain_form_group(const struct trial *trial, const struct task *task, uint32_t group,
                        struct reason *ret);

/* Finds out why a gang with a form waits. The trial must have no decisions. `holder`: the task for which places are kept in the
 * trial; NULL: none are kept. */
void explain_form(struct trial *trial, const struct task *task, const struct task *holder,
                  struct form_look *ret);
