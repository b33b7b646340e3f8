/* hash.c - FNV-1a with a final mix (the finaliser of splitmix64).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "base/must.h"

#include <string.h>

uint64_t hash_u64(uint64_t value)
{
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9U;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebU;
    value ^= value >> 31;
    return value;
}

uint64_t hash_bytes(const void *data, size_t len)
{
    const unsigned char *p = data;
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ p[i]) * 0x100000001b3U;
    }
    return hash_u64(hash);
}

uint64_t hash_words(const void *data, size_t len)
{
    const unsigned char *p = data;
    uint64_t hash = 0xcbf29ce484222325U;
    must(len % sizeof hash == 0);
    for (size_t i = 0; i < len; i += sizeof hash) {
        uint64_t word;
        memcpy(&word, p + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    return hash_u64(hash);
}
