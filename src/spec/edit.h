/* edit.h - the bodies of PATCH /tasks/{id} and PATCH /nodes/{name}.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/input.h"

/* Reads the fields of a task that can change (task_fields.def); the body must name at least one.
 * `resources` and `devices` replace the whole request of an instance. Texts live in the arena. */
must_use enum err edit_task_read(const struct doc *doc, struct arena *arena, struct task_edit *ret,
                                 struct error *e);

/* Reads {"draining": true, "labels": {"k": "v", "gone": null}}. A label with value NULL is
 * removed. Labels that the body does not name stay. */
must_use enum err edit_node_read(const struct doc *doc, struct arena *arena, struct node_edit *ret,
                                 struct error *e);

/* Applies an edit of labels to the present labels of a node. The resulting array lives in the
 * arena. ERR_LIMIT: the node would have more than NODE_LABELS_MAX labels. */
must_use enum err edit_labels_merge(const struct label *have, uint32_t have_count,
                                    const struct node_edit *edit, struct arena *arena,
                                    struct node_edit *ret, struct error *e);
