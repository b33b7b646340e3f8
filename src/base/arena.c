/* arena.c - bump allocation in doubling blocks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/mem.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGN = 16, ARENA_BLOCK_MIN = 1024, ARENA_BLOCK_MAX = 1024 * 1024 };

struct arena_block {
    struct arena_block *older;
    size_t used;
    size_t size;
    size_t pad; /* keeps data aligned to ARENA_ALIGN */
    unsigned char data[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

static void blocks_free(struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
}

void arena_done(struct arena *arena)
{
    blocks_free(arena->newest);
    *arena = (struct arena){0};
}

void arena_clear(struct arena *arena)
{
    if (arena->newest != NULL) {
        blocks_free(arena->newest->older);
        arena->newest->older = NULL;
        arena->newest->used = 0;
    }
    arena->bytes_total = 0;
}

static struct arena_block *block_add(struct arena *arena, size_t need)
{
    size_t size = arena->newest != NULL ? arena->newest->size * 2 : ARENA_BLOCK_MIN;
    if (size > ARENA_BLOCK_MAX) {
        size = ARENA_BLOCK_MAX;
    }
    if (size < need) {
        size = need;
    }
    struct arena_block *block = xmalloc(sizeof *block + size);
    block->older = arena->newest;
    block->used = 0;
    block->size = size;
    arena->newest = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    must(size <= SIZE_MAX / 4);
    size_t rounded = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    struct arena_block *block = arena->newest;
    if (block == NULL || block->size - block->used < rounded) {
        block = block_add(arena, rounded);
    }
    void *p = block->data + block->used;
    block->used += rounded;
    arena->bytes_total += rounded;
    memset(p, 0, rounded);
    return p;
}

void *arena_dup(struct arena *arena, const void *p, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (size > 0) {
        memcpy(copy, p, size);
    }
    return copy;
}

char *arena_strn(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    if (len > 0) {
        memcpy(copy, text, len);
    }
    return copy;
}

char *arena_str(struct arena *arena, const char *text)
{
    return arena_strn(arena, text, strlen(text));
}
