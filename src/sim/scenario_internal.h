/* scenario_internal.h - a scenario file while it is being read: file.c, its jobs and its events.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/scenario.h"
#include "sim/trace.h"
#include "spec/fields.h"

struct scenario_draft {
    struct scenario *scenario;
    const char *file;
    struct trace_options trace; /* its file NULL: none */
};

/* `tasks:` and `streams:`. */
void scenario_tasks_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *draft);
void scenario_tasks_streams(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *draft);

/* `events:`. */
void scenario_events_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *draft);

/* `departments:`, `projects:` and `quotas:`, as in the server file. */
void scenario_accounts_departments(struct reader *in, const struct doc_place *place,
                                   const struct doc *doc, const struct field *field, void *draft);
void scenario_accounts_projects(struct reader *in, const struct doc_place *place,
                                const struct doc *doc, const struct field *field, void *draft);
void scenario_accounts_quotas(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *draft);

/* `nodes:`. */
void scenario_nodes_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *draft);

/* Notes what a reader of spec/ says about `doc`, at the field that its path names. */
void scenario_file_problem(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct error *e);

/* Is it a list? Else a problem is noted. */
bool scenario_file_list(struct reader *in, const struct doc_place *place, const struct doc *doc);
