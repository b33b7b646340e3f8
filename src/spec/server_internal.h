/* server_internal.h - the parts of the server file's reader.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"
#include "spec/server_file.h"

/* Is the pool one of the file's? */
bool server_file_pool_declared(const struct server_file *file, const char *name);

void server_accounts_departments(struct reader *in, const struct doc_place *place,
                                 const struct doc *doc, const struct field *field, void *object);
void server_accounts_projects(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *object);
void server_accounts_quotas(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object);

/* Whether what departments, projects and quotas refer to is declared, once all is read. */
void server_accounts_check(struct reader *in, const struct doc *doc,
                           const struct server_file *file);
