/* docmap.h - maps made of parts of other maps, so that readers of documents can be given them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"

/* An empty map at the place of `like`. */
struct doc *docmap_new(struct arena *arena, const struct doc *like);

/* The same with a copy of a value; NULL and null: nothing. */
void docmap_put(struct arena *arena, struct doc *map, const char *name, const struct doc *value);

/* Every value of another map. */
void docmap_copy(struct arena *arena, struct doc *map, const struct doc *from);

/* `value`, which belongs to no other map, under this name. */
void docmap_add(struct doc *map, const char *name, struct doc *value);
