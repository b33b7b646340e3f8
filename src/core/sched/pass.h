/* pass.h - one scheduling pass over one pool: which waiting instances start where.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/state/fact.h"
#include "core/state/state.h"

/* Decides INPUT_PASS: adds the facts of the pass to `out`, FACT_PASS last. Adds no facts if the pass changes nothing. Only caches
 * beside the state change. The pass stops at about in->pass.work_max units of work, but not before it placed an instance. */
void pass_decide(const struct core *core, const struct input *in, struct facts *out);
