/* task_again.h - a task that has ended, as a new one.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/spec.h"

/* The spec that a task object of docs/api/objects.md was made from; `user` and `stage` are not in it. The arena's. */
must_use enum err task_again_read(const struct doc *task, struct arena *arena,
                                  struct task_spec *ret, struct error *e);
