/* server_refs.h - what the items of a server file say about each other: names that the file must declare.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"
#include "spec/server_file.h"

/* Finds the struct of this name among `count` of `size` bytes; NULL: there is none. */
const void *server_refs_find(const void *specs, uint32_t count, size_t size, size_t name_offset,
                             const char *name);

/* Notes a problem for each name that the file does not declare. */
void server_refs_check(const struct doc_value *file_value, const struct server_file *file);
