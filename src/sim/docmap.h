/* docmap.h - builds maps out of values of other maps, for readers of documents.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"

/* Makes an empty map with the line and column of `like`. */
struct doc *docmap_new(struct arena *arena, const struct doc *like);

/* Puts a copy of a value into the map. A NULL or null value is left out. */
void docmap_put(struct arena *arena, struct doc *map, const char *name, const struct doc *value);

/* Puts copies of all values of another map into this map. */
void docmap_copy(struct arena *arena, struct doc *map, const struct doc *from);

/* Puts `value` itself into the map. The value must belong to no other map. */
void docmap_add(struct doc *map, const char *name, struct doc *value);
