/* provider.c - keys of launches, and reports as answers for the core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/provider.h"

#include "base/must.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { UUID_BYTES = 16 };
static const char prefix[] = "weir-";

/* "weir-", the uuid, "-". */
static size_t key_begin(const uint8_t *server_uuid, char *ret)
{
    size_t len = sizeof prefix - 1;
    memcpy(ret, prefix, len);
    str_hex(ret + len, server_uuid, UUID_BYTES);
    len += (size_t)2 * UUID_BYTES;
    ret[len++] = '-';
    ret[len] = '\0';
    return len;
}

void provider_key(const uint8_t *server_uuid, launch_id launch, char *ret)
{
    size_t len = key_begin(server_uuid, ret);
    int more = snprintf(ret + len, PROVIDER_KEY_MAX - len, "%" PRIu64, launch.v);
    must(more > 0);
    must((size_t)more < PROVIDER_KEY_MAX - len);
}

bool provider_answer_of(const uint8_t *server_uuid, const struct provider_report *report,
                        struct provider_answer *ret)
{
    char ours[PROVIDER_KEY_MAX];
    size_t len = key_begin(server_uuid, ours);
    launch_id launch;
    if (strncmp(report->key, ours, len) != 0 || !str_to_u64(str_of(report->key + len), &launch.v)) {
        return false;
    }
    provider_key(server_uuid, launch, ours);
    if (strcmp(report->key, ours) != 0) {
        return false; /* another spelling of the number: not made by us */
    }
    *ret = (struct provider_answer){
        .launch = launch,
        .says = report->says,
        .name = report->name,
        .node = report->node,
        .why = report->why,
        .words = report->words,
    };
    return true;
}
