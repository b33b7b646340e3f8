/* server_internal.h - what the two files of the server file's reader share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"
#include "spec/server_file.h"

void server_lists_pools(const struct doc_value *v, void *file);
void server_lists_departments(const struct doc_value *v, void *file);
void server_lists_projects(const struct doc_value *v, void *file);
void server_lists_quotas(const struct doc_value *v, void *file);

/* Checks that every department, project and pool that the file refers to is declared. Called
 * after the whole file was read. */
void server_lists_check(const struct doc_value *v, const struct server_file *file);
