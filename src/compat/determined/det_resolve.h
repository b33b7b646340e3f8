/* det_resolve.h - maps of Determined's configuration with every default filled in.
 *
 * A table of fields (spec/fields.h) says how a map is resolved: the reader of a field is one of the functions
 * below, `note` is the default as text (NULL: none), `inner` the table of a map below. A resolved map is a new
 * map in the arena. Times are whole or decimal seconds, and their names end in "_s".
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"

/* A map with the given fields and the defaults of the others. Fields that cannot be read are noted as problems. */
struct doc *det_resolve_map(const struct doc_value *map, const struct field *fields);

/* Readers of fields; the object is the resolved map. */
void det_resolve_text(const struct doc_value *v, void *map);
void det_resolve_whole(const struct doc_value *v, void *map);
void det_resolve_switch(const struct doc_value *v, void *map);
void det_resolve_time(const struct doc_value *v, void *map); /* "1m30s" becomes 90 */
void det_resolve_any(const struct doc_value *v, void *map);  /* as given */
void det_resolve_inner(const struct doc_value *v, void *map);

/* Puts a value into a map or a list, in place of the value of the same key. `key` NULL: an item of a list. */
void det_resolve_put(struct arena *arena, struct doc *into, const char *key,
                     const struct doc *value);
void det_resolve_put_text(struct arena *arena, struct doc *into, const char *key, const char *text);
struct doc *det_resolve_empty(struct arena *arena, enum doc_kind kind);

/* Reads of resolved maps; a missing value is "", 0 or false. */
const char *det_resolve_get_text(const struct doc *map, const char *key);
int64_t det_resolve_get_whole(const struct doc *map, const char *key);
bool det_resolve_get_switch(const struct doc *map, const char *key);
