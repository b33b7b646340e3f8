/* settle.h - what follows when an attempt, a task or a node comes to its end.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stdint.h>

struct step;
struct report;

/* The attempt that a report names has come to its end, with all that follows: the rest of its gang,
 * its task, the tasks that depend on it. The attempt must be live. */
void settle_attempt(struct step *step, const struct report *report);

/* When it happened: the agent's word, as far as it is possible (neither before the attempt was
 * allocated or had started nor after now); now, where the agent did not see it happen. */
int64_t settle_report_ms(const struct step *step, const struct instance *instance,
                         const struct report *report);

/* Every attempt on a node is given up. */
void settle_node(struct step *step, node_id node);

/* A task without allocations ends, and its dependents are told; it is archived when all have been. */
void settle_task(struct step *step, task_id id, enum task_state state, enum end_cause cause,
                 int32_t exit_code);

/* Tell the active instances of a task to end, those under way for the same cause excepted; with
 * `running_only` also all others that are under way. */
void settle_stop(struct step *step, task_id id, enum end_cause cause, bool running_only);

/* Those that wait for an ended task go free or fail, and theirs, as far as this step may go; a task
 * for whom nobody waits any more is archived. */
void settle_dependents(struct step *step, task_id id);
enum { SETTLE_MAX = 1000 };

/* The exit code shown for what never ran because of a kill, for what Weir itself ended, and for
 * programs that could not be started. */
enum {
    EXIT_CODE_KILLED = 143,
    EXIT_CODE_WEIR = 125,
    EXIT_CODE_NOT_RUN = 126,
    EXIT_CODE_NOT_FOUND = 127
};
