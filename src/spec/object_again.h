/* object_again.h - turns an object of the API back into the map that a file would have.
 *
 * Tasks and pools carry this map under `spec`. Quotas, and tasks and pools of an older server,
 * have no `spec`: their fields are picked out of the object by the tables of object.h.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "spec/fields.h"

/* Returns a map that the reader of this kind of object in spec/ accepts. The map lives in the
 * arena. */
const struct doc *object_again(const struct object *object, const struct doc *item,
                               struct arena *arena);

/* Picks the fields that a reader knows out of an object that has more fields. */
const struct doc *object_again_fields(const struct field *fields, const struct doc *item,
                                      struct arena *arena);

/* Like object_again(), for a task. */
const struct doc *object_again_task_map(const struct doc *task, struct arena *arena);

/* Reads the task as it was submitted. */
must_use enum err object_again_task(const struct doc *task, struct arena *arena,
                                    struct task_spec *ret, struct error *e);
