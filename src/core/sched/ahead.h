/* ahead.h - those who found no room try to take before somebody behind them starts.
 *
 *   blocked ─▶ noted ─▶ one behind them would fit ─▶ they take, with what is free ─▶ it starts if it still fits
 *
 * Otherwise what starts behind them would be taken back in the next pass, in the same moment: a start in vain. Nobody tries where
 * nobody behind them fits: then their turn is after all others.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/action.h"

struct ahead {
    struct action *action; /* NULL: nobody takes in this pool */
    struct notes notes;    /* what is known of shapes that others would have to move for */
    struct turns_line *lines;
    uint32_t count;
    uint32_t room;
    struct id_set touched; /* tasks that were promised or have lost something */
};

void ahead_init(struct ahead *ahead, struct action *action, struct arena *arena);

/* The first task of the line does not start: it, and those equal to it, are ahead of all that have their turns now. */
void ahead_note(struct ahead *ahead, const struct turns_line *line);

/* Those noted try to take, and are noted no more. True: the trial has changed. */
bool ahead_run(struct ahead *ahead);

/* Was the task promised something here, or has it lost something? Then the rest of it waits for the next pass. */
bool ahead_touched(const struct ahead *ahead, const struct task *task);
