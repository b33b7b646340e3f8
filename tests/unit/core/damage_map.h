/* damage_map.h - which damage to stored bytes is noticed, as a text that is kept in samples/. The bounds of every number show in it.
 * WEIR_GOLDEN_WRITE=1 writes the texts anew: do that only when a format is meant to change, and read the difference.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAMAGE_VALUES = 12, DAMAGE_A_LINE = 32, DAMAGE_BYTES_MAX = 1 << 20 };

/* What a byte is changed to: small numbers, the ends of the codings of numbers, and its neighbours. */
static inline char damage_value(char before, unsigned i)
{
    static const unsigned char values[] = {0, 1, 2, 3, 5, 8, 0x7f, 0x80, 0xff};
    const int near[] = {before + 1, before - 1, before ^ 0x40};
    return i < sizeof values ? (char)values[i] : (char)near[i - sizeof values];
}

/* The map of a state: for each byte one hexadecimal number with a bit for each value with which the state is read. What is
 * read is sound. Returns how often the state is read. */
static inline size_t damage_map_state(const struct core *of, struct buf *ret)
{
    size_t len;
    size_t count = 0;
    char *bytes = rig_bytes(of, &len);
    for (size_t at = 0; at < len; at++) {
        const char before = bytes[at];
        unsigned read = 0;
        for (unsigned i = 0; i < DAMAGE_VALUES; i++) {
            struct core *core = NULL;
            struct error e;
            bytes[at] = damage_value(before, i);
            if (core_decode((struct str){bytes, len}, &core, &e) == ERR_OK) {
                read |= 1u << i;
                count++;
                core_check_rows(core);
                core_free(core);
            }
        }
        bytes[at] = before;
        char number[8];
        (void)snprintf(number, sizeof number, "%03x%c", read,
                       at % DAMAGE_A_LINE == DAMAGE_A_LINE - 1 || at == len - 1 ? '\n' : ' ');
        buf_add(ret, number, strlen(number));
    }
    free(bytes);
    return count;
}

/* The map is the one that samples/ has by this name. */
static inline void damage_map_check(const char *name, const struct buf *map)
{
    char path[4096];
    const char *dir = getenv("WEIR_SAMPLES");
    const bool write = getenv("WEIR_GOLDEN_WRITE") != NULL;
    assert_non_null(dir);
    assert_true(snprintf(path, sizeof path, "%s/damage-%s.txt", dir, name) < (int)sizeof path);
    FILE *file = fopen(path, write ? "wb" : "rb");
    assert_non_null(file);
    if (write) {
        assert_int_equal(fwrite(map->data, 1, map->len, file), map->len);
    } else {
        char *text = malloc(DAMAGE_BYTES_MAX);
        const size_t len = fread(text, 1, DAMAGE_BYTES_MAX, file);
        size_t line = 1;
        for (size_t i = 0; i < len && i < map->len && text[i] == map->data[i]; i++) {
            line += text[i] == '\n';
        }
        if (len != map->len || memcmp(text, map->data, len) != 0) {
            fail_msg("other damage is read than line %zu of %s says (damage_map.h)", line, path);
        }
        free(text);
    }
    assert_int_equal(fclose(file), 0);
}
