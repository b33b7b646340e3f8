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

struct doc *docmap_pick(struct arena *arena, const struct doc *map, const char *const *names)
{
    struct doc *picked = docmap_new(arena, map);
    for (; *names != NULL; names++) {
        const struct doc *value = doc_get(map, *names);
        if (value != NULL && value->kind != DOC_NULL) {
            docmap_add(picked, *names, arena_dup(arena, value, sizeof *value));
        }
    }
    return picked;
}
