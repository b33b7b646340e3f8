/* crc32c.c - CRC-32C by the processor's own instruction, else eight bytes at a time by eight tables made
 * once ("slicing by 8"): above 1 GB/s without special instructions, several times that with them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/crc32c.h"

#include <pthread.h>
#include <string.h>

enum { SLICES = 8 };

typedef uint32_t (*crc_fn)(uint32_t crc, const unsigned char *p, size_t len);

static uint32_t table[SLICES][256];
static crc_fn fastest;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t by_tables(uint32_t crc, const unsigned char *p, size_t len)
{
    for (; len >= SLICES; len -= SLICES, p += SLICES) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        word ^= crc;
        crc = table[7][word & 0xff] ^ table[6][(word >> 8) & 0xff] ^ table[5][(word >> 16) & 0xff] ^
              table[4][(word >> 24) & 0xff] ^ table[3][(word >> 32) & 0xff] ^
              table[2][(word >> 40) & 0xff] ^ table[1][(word >> 48) & 0xff] ^ table[0][word >> 56];
    }
    for (; len > 0; len--, p++) {
        crc = (crc >> 8) ^ table[0][(crc ^ *p) & 0xff];
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc,
                                                                 const unsigned char *p, size_t len)
{
    uint64_t wide = crc;
    for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t), p += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; len > 0; len--, p++) {
        crc = __builtin_ia32_crc32qi(crc, *p);
    }
    return crc;
}

static crc_fn fastest_find(void)
{
    return __builtin_cpu_supports("sse4.2") != 0 ? by_instruction : by_tables;
}
#else
static crc_fn fastest_find(void)
{
    return by_tables;
}
#endif

static void set_up(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
        }
        table[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int slice = 1; slice < SLICES; slice++) {
            uint32_t before = table[slice - 1][byte];
            table[slice][byte] = (before >> 8) ^ table[0][before & 0xff];
        }
    }
    fastest = fastest_find();
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
    (void)pthread_once(&once, set_up);
    return ~fastest(~crc, data, len);
}

uint32_t crc32c_by_tables(uint32_t crc, const void *data, size_t len)
{
    (void)pthread_once(&once, set_up);
    return ~by_tables(~crc, data, len);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they lie");
