/* edit.h - the bodies of PATCH /tasks/{id} and PATCH /nodes/{name}.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/input.h"

/* {priority, time_limit, max_retries, grace, name, tags, pool, project, resources, devices}; at least
 * one. resources and devices replace all that an instance asked for. */
must_use enum err edit_task_read(const struct doc *doc, struct arena *arena, struct task_edit *ret,
                                 struct error *e);

/* {"draining": true, "labels": {"k": "v", "gone": null}}. A label with value NULL is to be removed;
 * labels not named stay. */
must_use enum err edit_node_read(const struct doc *doc, struct arena *arena, struct node_edit *ret,
                                 struct error *e);

/* The labels a node has after such an edit: those it had, changed, removed and added to. The array
 * is in the arena. ERR_LIMIT: more than NODE_LABELS_MAX. */
must_use enum err edit_labels_merge(const struct label *have, uint32_t have_count,
                                    const struct node_edit *edit, struct arena *arena,
                                    struct node_edit *ret, struct error *e);
