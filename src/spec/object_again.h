/* object_again.h - turns an object of the API back into the map that a file would have.
 *
 * Tasks and pools carry this map under `spec`. Other objects, and tasks and pools of an older
 * server, have no `spec`: their fields are picked out of the object by the reader's table.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "spec/fields.h"

/* Returns a map inside another map; NULL: there is none. */
const struct doc *object_again_map(const struct doc *map, const char *key);

/* Picks the fields of a table out of an object that has more fields. A duration is the object's
 * field with `_ms` behind its name. */
struct doc *object_again_fields(const struct field *fields, const struct doc *item,
                                struct arena *arena);

/* Returns the map of a task as it was submitted, and reads that map. */
const struct doc *object_again_task_map(const struct doc *task, struct arena *arena);
must_use enum err object_again_task(const struct doc *task, struct arena *arena,
                                    struct task_spec *ret, struct error *e);
