/* docmap.c - see docmap.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/docmap.h"

#include <string.h>

struct doc *docmap_new(struct arena *arena, const struct doc *like)
{
    struct doc *map = arena_dup(arena, like, sizeof *like);
    map->kind = DOC_MAP;
    map->first = NULL;
    map->count = 0;
    return map;
}

void docmap_add(struct doc *map, const char *name, struct doc *value)
{
    struct doc **tail = &map->first;
    while (*tail != NULL) {
        tail = &(*tail)->next;
    }
    value->key = str_of(name);
    value->next = NULL;
    *tail = value;
    map->count++;
}

void docmap_put(struct arena *arena, struct doc *map, const char *name, const struct doc *value)
{
    if (value != NULL && value->kind != DOC_NULL) {
        docmap_add(map, name, arena_dup(arena, value, sizeof *value));
    }
}

void docmap_copy(struct arena *arena, struct doc *map, const struct doc *from)
{
    for (const struct doc *item = from->first; item != NULL; item = item->next) {
        docmap_put(arena, map, item->key.p, item);
    }
}
