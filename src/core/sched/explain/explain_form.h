/* explain_form.h - why a gang with topology or groups waits.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/task.h"
#include "core/sched/place/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* What stands in its way. */
struct form_look {
    bool starts;            /* nothing: the next pass starts it */
    struct request request; /* of the group that finds no room, or of the first; */
    uint32_t count;         /* of which so many are to start together */
    uint32_t group;         /* that group, as the task lists them, from 1; 0: it has none */
    struct reason
        reason; /* where these instances alone would find room; else there is not enough of it anywhere */
};

/* The reason is about this group of the task; 0: about no one of them. */
void explain_form_group(const struct trial *trial, const struct task *task, uint32_t group,
                        struct reason *ret);

/* Looks at it in a trial in which nothing is decided yet; `holder` is for whom places are kept in it, or NULL. */
void explain_form(struct trial *trial, const struct task *task, const struct task *holder,
                  struct form_look *ret);
