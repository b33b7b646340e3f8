/* docmap.h - maps made of parts of other maps, so that readers of documents can be given them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"

/* An empty map at the place of `like`. */
struct doc *docmap_new(struct arena *arena, const struct doc *like);

/* A map with copies of those values of `map` whose names are listed (NULL at the end) and which are
 * not null. */
struct doc *docmap_pick(struct arena *arena, const struct doc *map, const char *const *names);

/* `value`, which belongs to no other map, under this name. */
void docmap_add(struct doc *map, const char *name, struct doc *value);
