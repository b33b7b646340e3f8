/* arena.h - memory that is freed as one: everything that a request or a step makes.
 *
 *   first block ─▶ next ─▶ …      allocation takes the next bytes of the newest block
 *
 * Each block is twice as large as the block before, up to ARENA_BLOCK_MAX.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    struct arena_block *newest;
    size_t bytes_total; /* handed out since init or clear */
};

/* Makes an empty arena, without memory yet. */
void arena_init(struct arena *arena);

/* Frees everything. */
void arena_done(struct arena *arena);

/* Forgets everything and keeps one block for reuse. */
void arena_clear(struct arena *arena);

/* `size` zeroed bytes, aligned for any type. The bytes live until clear or done. */
void *arena_alloc(struct arena *arena, size_t size);

/* A copy of `size` bytes. */
void *arena_dup(struct arena *arena, const void *p, size_t size);

/* A copy of `len` characters with a terminating NUL. */
char *arena_strn(struct arena *arena, const char *text, size_t len);

/* A copy of a C string. */
char *arena_str(struct arena *arena, const char *text);

/* A formatted string. */
char *arena_fmt(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `count` zeroed elements of a type. */
#define arena_new(arena, type, count) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(count)))
