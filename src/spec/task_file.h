/* task_file.h - reads a task as users write it, in the API's body or in a file
 * (docs/dev/formats/task-file.md), into the checked struct that the core takes.
 *
 * Names of pools, projects and resources are checked for form only; the core knows which exist.
 * An unknown field is refused by name. Every text is borrowed from the document or lives in the
 * arena.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/spec.h"
#include "spec/problem.h"

/* Fills in the defaults of a task: a command, priority 50, repeatable, 30 s of grace. */
void task_file_spec_init(struct task_spec *spec);

/* True for the kinds of tasks that are preemptible by default: experiments and commands. */
bool task_file_kind_preemptible(enum task_kind kind);

/* Reads one task. ERR_INVALID names the path: "resources.foo: …". `user` stays empty. */
must_use enum err task_file_spec_read(const struct doc *doc, struct arena *arena,
                                      struct task_spec *ret, struct error *e);

/* Reads one task object, or a list of 1 to SUBMIT_TASKS_MAX task objects. Paths in a list begin
 * with the index: "[3].command[0]". The array lives in the arena. */
must_use enum err task_file_specs_read(const struct doc *doc, struct arena *arena,
                                       const struct task_spec **ret, uint32_t *ret_count,
                                       struct error *e);

/* Checks one field, a value with its key. ERR_INVALID says what is wrong, without the name. */
must_use enum err task_file_field_check(const struct doc *field, struct arena *arena,
                                        struct error *e);

/* Reads one task, a value of a larger document, into a struct task_spec, and notes its problems. */
struct doc_value;
void task_file_value_read(const struct doc_value *v, void *ret_spec);

/* A task file: one task, or a list of tasks. */
struct task_file {
    bool
        partial; /* given by the caller: flags complete the task, so only single fields are checked */
    const struct doc *doc;
    const struct task_spec *specs;
    uint32_t count;
};

/* Reads the text of a task file, YAML or JSON. ERR_INVALID: `problems` lists what is wrong, and `e`
 * has the first problem as "task.yaml:4:12: priority: …". */
must_use enum err task_file_read(struct str text, const char *file, struct arena *arena,
                                 struct task_file *ret, struct problems *problems, struct error *e);
