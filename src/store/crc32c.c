/* crc32c.c - CRC-32C, eight bytes at a time by eight tables made once ("slicing by 8"). The speed
 * is above 1 GB/s without special instructions, so that a large snapshot costs little at a restart.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/crc32c.h"

#include <pthread.h>
#include <string.h>

enum { SLICES = 8 };

static uint32_t table[SLICES][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_make(void)
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
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
    (void)pthread_once(&table_once, table_make);
    const unsigned char *p = data;
    crc = ~crc;
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
    return ~crc;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they lie");
