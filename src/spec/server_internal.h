/* server_internal.h - what the two files of the server file's reader share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"
#include "spec/server_file.h"

/* True when the file declares a pool of this name. */
bool server_file_pool_declared(const struct server_file *file, const char *name);

void server_accounts_departments(struct reader *in, const struct doc_place *place,
                                 const struct doc *doc, const struct field *field, void *object);
void server_accounts_projects(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *object);
void server_accounts_quotas(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object);

/* Checks that every department, project and pool that an item refers to is declared. Called
 * after the whole file was read. */
void server_accounts_check(struct reader *in, const struct doc *doc,
                           const struct server_file *file);
