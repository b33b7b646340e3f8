/* map.h - a hash map from byte strings to pointers. The map iterates in order of insertion, so that
 * hash order never shows. Keys are copied. For 64-bit keys pass the number's bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct map;

struct map *map_new(void);
void map_free(struct map *map); /* does not free the values */

size_t map_count(const struct map *map);

/* The value of `key`, or NULL. */
void *map_get(const struct map *map, const void *key, size_t len);

/* Sets `key` to `value` (not NULL). Returns the old value, or NULL. */
void *map_put(struct map *map, const void *key, size_t len, void *value);

/* Removes `key`. Returns the key's value, or NULL. */
void *map_remove(struct map *map, const void *key, size_t len);

/* Walks in order of insertion: start with *cursor = 0; NULL at the end. The caller may remove the
 * entry that was just returned. */
void *map_next(const struct map *map, size_t *cursor);
