/* settle.h - what follows when an attempt or a task ends, or a node is lost.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

struct step;
struct report;

/* The attempt that the report names has ended. Adds the facts of this end and of all that follows: the rest
 * of the gang, the task, the task's dependents. The attempt must be active. */
void settle_attempt(struct step *step, const struct report *report);

/* The moment that a report is about: the agent's time, but not before the allocation or the start of the
 * attempt and not after now. For an end that no agent saw the moment is now. */
int64_t settle_report_ms(const struct step *step, const struct instance *instance,
                         const struct report *report);

/* Gives up every attempt on a node. */
void settle_node(struct step *step, node_id node);

/* Ends a task that has no active instance, and handles the tasks that wait for it. The task is archived when
 * no other task waits for it any more. */
void settle_task(struct step *step, task_id id, enum task_state state, enum end_cause cause,
                 int32_t exit_code);

/* Tells the active instances of a task to stop. An instance that is already stopping for the same cause is
 * left alone; with `running_only` every stopping instance is left alone. */
void settle_stop(struct step *step, task_id id, enum end_cause cause, bool running_only);

/* Tells one active instance to stop. An instance that is already stopping gets no more time than it has. */
void settle_stop_one(struct step *step, const struct task *task, const struct instance *instance,
                     enum end_cause cause);

/* Releases or fails the tasks that wait for an ended task, and the dependents of failed tasks, as far as this
 * step may go. An ended task for which no task waits any more is archived. */
void settle_dependents(struct step *step, task_id id);
enum { SETTLE_MAX = 1000 };

/* Exit codes for tasks that never ran: killed, ended by Weir, program not executable, program not found. */
enum {
    EXIT_CODE_KILLED = 143,
    EXIT_CODE_WEIR = 125,
    EXIT_CODE_NOT_RUN = 126,
    EXIT_CODE_NOT_FOUND = 127
};
