/* cursors.c - see cursors.h. A look goes through all rows: there are few, and a look is rare.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/cursors.h"

#include "base/mem.h"
#include "base/must.h"

struct cursor_row {
    struct cursor_key key;
    uint64_t piece;
    uint64_t used; /* when it was last set, in sets */
};

struct cursors {
    struct cursor_row *at; /* CURSORS_MAX */
    uint32_t count;
    uint64_t sets;
};

struct cursors *cursors_new(void)
{
    struct cursors *cursors = xcalloc(1, sizeof *cursors);
    cursors->at = xcalloc(CURSORS_MAX, sizeof *cursors->at);
    return cursors;
}

void cursors_free(struct cursors *cursors)
{
    if (cursors != NULL) {
        free(cursors->at);
        free(cursors);
    }
}

static struct cursor_row *find(const struct cursors *cursors, const struct cursor_key *key)
{
    for (uint32_t i = 0; i < cursors->count; i++) {
        struct cursor_row *row = &cursors->at[i];
        if (row->key.task == key->task && row->key.index == key->index &&
            row->key.stream == key->stream) {
            return row;
        }
    }
    return NULL;
}

uint64_t cursors_get(const struct cursors *cursors, const struct cursor_key *key)
{
    const struct cursor_row *row = find(cursors, key);
    return row != NULL ? row->piece : 0;
}

static struct cursor_row *oldest(struct cursors *cursors)
{
    struct cursor_row *found = &cursors->at[0];
    for (uint32_t i = 1; i < cursors->count; i++) {
        found = cursors->at[i].used < found->used ? &cursors->at[i] : found;
    }
    return found;
}

void cursors_set(struct cursors *cursors, const struct cursor_key *key, uint64_t piece)
{
    struct cursor_row *row = find(cursors, key);
    if (row == NULL) {
        row = cursors->count < CURSORS_MAX ? &cursors->at[cursors->count++] : oldest(cursors);
    }
    *row = (struct cursor_row){.key = *key, .piece = piece, .used = ++cursors->sets};
}
