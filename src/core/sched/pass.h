/* pass.h - one scheduling pass over one pool: which waiting instances start where.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/state/fact.h"
#include "core/state/state.h"

/* Facts for INPUT_PASS: FACT_ALLOCATED…, FACT_HEAD_BLOCKED, FACT_RESERVED, and FACT_PASS when
 * anything changed or the pool was marked due. Reads the state, changes nothing; at most
 * in->pass.work_max units of work. */
void pass_decide(const struct core *core, const struct input *in, struct facts *out);
