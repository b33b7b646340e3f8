/* step.h - one decision under way: the input, the facts so far, and the state as they leave it.
 *
 * Later parts of a decision must see what earlier parts decided (the second report of a batch may
 * end the same task; a failed task fails its dependents and theirs). step_state() gives that: the
 * core itself while no fact has been made, afterwards a scratch copy to which the facts are applied.
 * A copy is cheap but not free, so decisions whose facts need no second look do without it.
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
    size_t applied;       /* facts that the scratch has seen */
    uint32_t settled;     /* dependents looked at: SETTLE_MAX a step, the rest by ticks */
};

/* The state after all facts so far, each of which must be filled in. Pointers into it are good until
 * the next call. */
const struct core *step_state(struct step *step);

/* A new fact; fill it in before the next call of any of these. */
struct fact *step_fact(struct step *step, enum fact_type type);

/* Say no: the reason to fill in further. All facts are taken back. */
struct reason *step_refuse(struct step *step, enum reason_code code, const char *text);

/* The live task that the input names; else NULL and the verdict. */
const struct task *step_task(struct step *step, enum verdict *ret);
/* Not possible in this state. */
enum verdict step_wrong_state(struct step *step, enum task_state state);

/* A spec is over a limit: refused. */
enum verdict step_refuse_limit(struct step *step, const char *limit, int64_t max);
