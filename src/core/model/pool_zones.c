/* pool_zones.c - see pool_zones.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/model/pool_zones.h"

#include "base/str.h"
#include "core/model/limits.h"

#include <string.h>

bool pool_zones_read(const char *entry, char *ret_zone, uint32_t *ret_count)
{
    struct str number;
    uint64_t count;
    const struct str zone = str_cut(str_of(entry), '=', &number);
    if (number.p == NULL || zone.len == 0 || zone.len > NAME_LEN_MAX ||
        !str_to_u64(number, &count) || count > POOL_NODES_MAX) {
        return false;
    }
    memcpy(ret_zone, zone.p, zone.len);
    ret_zone[zone.len] = '\0';
    *ret_count = (uint32_t)count;
    return true;
}

bool pool_zones_sound(const struct pool_spec *spec)
{
    char zones[POOL_ZONES_MAX][NAME_LEN_MAX + 1];
    uint64_t sum = 0;
    if (spec->zone_count > POOL_ZONES_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < spec->zone_count; i++) {
        uint32_t count;
        if (!pool_zones_read(spec->zones[i], zones[i], &count)) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(zones[i], zones[j]) == 0) {
                return false;
            }
        }
        sum += count;
    }
    return spec->zone_count == 0 || sum == spec->nodes_fixed;
}

uint32_t pool_zones_in(const struct pool_spec *spec, const char *zone)
{
    char named[NAME_LEN_MAX + 1];
    for (uint32_t i = 0; i < spec->zone_count; i++) {
        uint32_t count;
        if (pool_zones_read(spec->zones[i], named, &count) && strcmp(named, zone) == 0) {
            return count;
        }
    }
    return 0;
}
