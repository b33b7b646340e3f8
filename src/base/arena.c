/* arena.c - bump allocation in doubling blocks.
 *
 * In the build of tools/mutate each piece of memory stands between two fences. A program that reads beyond the end of a piece reads
 * nonsense there instead of zeros. A program that writes there is found when the arena is cleared.
 *
 *   no fences   [bytes, rounded up to ARENA_ALIGN]
 *   fences      [size] [bytes] [FENCE_BYTE up to the end of the piece, and for FENCE_SIZE more]
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/mem.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGN = 16, ARENA_BLOCK_MIN = 1024, ARENA_BLOCK_MAX = 1024 * 1024 };
#ifdef ARENA_FENCES
enum { FENCE_SIZE = ARENA_ALIGN, FENCE_BYTE = 0xa5 };
#else
enum { FENCE_SIZE = 0, FENCE_BYTE = 0 };
#endif

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

static size_t rounded_up(size_t size)
{
    return (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
}

/* No fence of the arena was written to. */
static void fences_check(const struct arena *arena)
{
    for (const struct arena_block *block = arena->newest; FENCE_SIZE > 0 && block != NULL;
         block = block->older) {
        for (size_t at = 0; at < block->used;) {
            size_t size;
            memcpy(&size, block->data + at, sizeof size);
            const size_t end = at + FENCE_SIZE + rounded_up(size) + FENCE_SIZE;
            for (at += FENCE_SIZE + size; at < end; at++) {
                must(block->data[at] == FENCE_BYTE);
            }
        }
    }
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
    fences_check(arena);
    blocks_free(arena->newest);
    *arena = (struct arena){0};
}

void arena_clear(struct arena *arena)
{
    fences_check(arena);
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
    const size_t rounded = rounded_up(size);
    const size_t taken = FENCE_SIZE + rounded + FENCE_SIZE;
    struct arena_block *block = arena->newest;
    if (block == NULL || block->size - block->used < taken) {
        block = block_add(arena, taken);
    }
    unsigned char *p = block->data + block->used + FENCE_SIZE;
    block->used += taken;
    arena->bytes_total += rounded;
    memset(p, 0, rounded);
    if (FENCE_SIZE > 0) {
        memcpy(p - FENCE_SIZE, &size, sizeof size);
        memset(p + size, FENCE_BYTE, rounded - size + FENCE_SIZE);
    }
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
