/* network.c - see network.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/model/network.h"

#include "base/must.h"

#include <string.h>

/* Reads one number of at most three digits, without a zero in front. */
static bool number_read(const char **at, uint32_t most, uint32_t *ret)
{
    const char *p = *at;
    uint32_t value = 0;
    uint32_t digits = 0;
    for (; *p >= '0' && *p <= '9' && digits < 3; digits++) {
        value = value * 10 + (uint32_t)(*p++ - '0');
    }
    if (digits == 0 || value > most || (digits > 1 && **at == '0')) {
        return false;
    }
    *at = p;
    *ret = value;
    return true;
}

static uint32_t range_mask(uint32_t bits)
{
    must(bits > 0);
    must(bits <= 32);
    return ~(uint32_t)0 << (32 - bits);
}

bool network_range_read(const char *text, struct network_range *ret)
{
    uint32_t first = 0;
    uint32_t bits;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t part;
        if (!number_read(&text, UINT8_MAX, &part) || *text != (i < 3 ? '.' : '/')) {
            return false;
        }
        text++;
        first = first << 8 | part;
    }
    if (!number_read(&text, NETWORK_RANGE_BITS_MAX, &bits) || *text != '\0' ||
        bits < NETWORK_RANGE_BITS_MIN || (first & ~range_mask(bits)) != 0) {
        return false;
    }
    *ret = (struct network_range){first, bits};
    return true;
}

bool network_ranges_meet(const struct network_range *a, const struct network_range *b)
{
    const uint32_t mask = range_mask(a->bits < b->bits ? a->bits : b->bits);
    return (a->first & mask) == (b->first & mask);
}

bool network_built_in(const char *name)
{
    return strcmp(name, NETWORK_HOST) == 0 || strcmp(name, NETWORK_ISOLATED) == 0;
}
