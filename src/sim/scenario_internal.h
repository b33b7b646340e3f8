/* scenario_internal.h - a scenario file while it is read: what the files scenario_*.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/scenario.h"
#include "sim/trace.h"
#include "spec/fields.h"

struct scenario_draft {
    struct scenario *scenario;
    const char *file;
    struct trace_options trace; /* trace.file is NULL: no trace */
};

/* Read `tasks:` and `streams:`. */
void scenario_tasks_read(const struct doc_value *v, void *draft);
void scenario_tasks_streams(const struct doc_value *v, void *draft);

/* Reads `events:`. */
void scenario_events_read(const struct doc_value *v, void *draft);

/* Read `departments:`, `projects:` and `quotas:`, as in the server file. */
void scenario_accounts_departments(const struct doc_value *v, void *draft);
void scenario_accounts_projects(const struct doc_value *v, void *draft);
void scenario_accounts_quotas(const struct doc_value *v, void *draft);

/* Reads `nodes:`. */
void scenario_nodes_read(const struct doc_value *v, void *draft);

/* Notes the error of a reader of spec/ as a problem of `doc`, at the field that the error's path
 * names. */
void scenario_file_problem(const struct doc_value *v, const struct error *e);

/* True when the value is a list; false: a problem was noted. */
bool scenario_file_list(const struct doc_value *v);

/* Reads a list of objects of a scenario file. `object` is the scenario's draft. `read` adds one
 * object of the list to the scenario; where it fails, the file gets a problem at the place of that
 * object. */
typedef enum err (*scenario_read_fn)(const struct doc_value *item, struct scenario *scenario,
                                     struct error *e);
void scenario_file_objects(const struct doc_value *v, void *object, scenario_read_fn read);
