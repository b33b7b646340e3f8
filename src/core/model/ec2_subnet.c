/* ec2_subnet.c - see ec2_subnet.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/model/ec2_subnet.h"

#include "base/str.h"

#include <string.h>

const char *ec2_subnet_id(const char *entry)
{
    struct str behind;
    (void)str_cut(str_of(entry), '=', &behind);
    return behind.p != NULL ? behind.p : entry;
}

const char *ec2_subnet_in(const struct pool_spec *pool, const char *zone)
{
    const size_t len = strlen(zone);
    for (uint32_t i = 0; i < pool->ec2_subnet_count; i++) {
        const char *entry = pool->ec2_subnets[i];
        if (strncmp(entry, zone, len) == 0 && entry[len] == '=') {
            return entry + len + 1;
        }
    }
    return NULL;
}
