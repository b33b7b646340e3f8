/* task_file.h - a task as users write it, in the API's body or in a file (docs/dev/formats/
 * task-file.md), to the checked struct that the core takes. Nothing is looked up here: pools,
 * projects and resource names are checked for form only.
 *
 * Unknown fields are refused by name. Every text is borrowed from the document or lives in the
 * arena.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/spec.h"

/* What a task is when nothing is said: a command, priority 50, repeatable, 30 s of grace. */
void task_file_spec_init(struct task_spec *spec);

/* Experiments and commands are, unless told otherwise. */
bool task_file_kind_preemptible(enum task_kind kind);

/* One task. ERR_INVALID names the path, "resources.foo: …". `user` stays empty. */
must_use enum err task_file_spec_read(const struct doc *doc, struct arena *arena,
                                      struct task_spec *ret, struct error *e);

/* One task object or a list of 1 to SUBMIT_TASKS_MAX: paths are then "[3].command[0]". The array
 * is in the arena. */
must_use enum err task_file_specs_read(const struct doc *doc, struct arena *arena,
                                       const struct task_spec **ret, uint32_t *ret_count,
                                       struct error *e);

/* A task file's text, YAML or JSON; `file` goes into the errors: "task.yaml:4:12: priority: …". */
must_use enum err task_file_read(struct str text, const char *file, struct arena *arena,
                                 const struct task_spec **ret, uint32_t *ret_count,
                                 struct error *e);
