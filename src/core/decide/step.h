/* step.h - one decision under way: the input, the facts so far, and the state after these facts.
 *
 * Later parts of a decision must see what earlier parts decided: the second report of a batch may end the
 * same task, and a failed task fails its dependents and their dependents. step_state() gives the state after
 * all facts so far. While there is no fact step_state() gives the core itself, afterwards a scratch copy to
 * which the facts are applied. A copy is cheap but not free, so it is made at the first call after a fact.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/model/reason.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/state.h"

#include <stddef.h>
#include <stdint.h>

struct step {
    const struct core *core;
    const struct input *in;
    struct facts *out;
    struct core *scratch; /* NULL: not needed yet */
    size_t applied;       /* facts that were applied to the scratch copy */
    /* dependents handled so far: at most SETTLE_MAX in a step, the rest by ticks */
    uint32_t settled;
};

/* The state after all facts so far. Every fact must be filled in. Pointers into the result are valid until
 * the next call. */
const struct core *step_state(struct step *step);

/* Adds a fact. The caller fills the fact in before it calls any function of this header again. */
struct fact *step_fact(struct step *step, enum fact_type type);

/* Refuses the input and removes all facts. The caller may add to the reason that is returned. */
struct reason *step_refuse(struct step *step, enum reason_code code, const char *text);

/* The task that the input names, if it has not ended. NULL: `*ret` has the verdict. */
const struct task *step_task(struct step *step, enum verdict *ret);
/* Refuses the input because of the task state. */
enum verdict step_wrong_state(struct step *step, enum task_state state);

/* Refuses the input because a value is above a limit. */
enum verdict step_refuse_limit(struct step *step, const char *limit, int64_t max);
