/* object_again.h - from an object of the API back to what a file would say of it.
 *
 * Tasks and pools have that under `spec`. Objects that were written before there was one, and quotas, have the same fields beside
 * others: those are picked by the tables of object.h.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "spec/fields.h"

/* A map that the reader of such objects takes; lives in the arena. */
const struct doc *object_again(const struct object *object, const struct doc *item,
                               struct arena *arena);

/* The fields that a reader knows, out of an object that has more. */
const struct doc *object_again_fields(const struct field *fields, const struct doc *item,
                                      struct arena *arena);

/* The same as object_again() of a task. */
const struct doc *object_again_task_map(const struct doc *task, struct arena *arena);

/* The task that was submitted. */
must_use enum err object_again_task(const struct doc *task, struct arena *arena,
                                    struct task_spec *ret, struct error *e);
