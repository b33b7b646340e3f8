/* spec_edit.h - a spec with an edit put into it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/model/spec.h"

/* The spec with those fields that the edit sets; texts are borrowed from it. */
void spec_edit_task(struct task_spec *spec, const struct task_edit *edit);
