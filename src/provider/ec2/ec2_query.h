/* ec2_query.h - the forms that are sent to EC2: the Query API of version 2016-11-15, always by POST.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "core/model/spec.h"
#include "provider/provider.h"

enum {
    EC2_FORM_MAX = 64 * 1024, /* bytes of one request */
    EC2_PAGE = 1000,          /* machines of one page of a list */
    EC2_TOKEN_MAX = PROVIDER_KEY_MAX + 4,
    EC2_SCRIPT_MAX = 16 * 1024, /* what EC2 takes as user data */
};

/* The tags by which the machines of a server are found again. */
#define EC2_TAG_SERVER "weir:server"
#define EC2_TAG_KEY "weir:key"
#define EC2_TAG_POOL "weir:pool"

/* One machine, in the place (zone or subnet) with this number. `script` is the user data. */
struct ec2_run {
    const struct pool_spec *pool;
    const char *key;
    const char *server_uuid; /* in hexadecimal */
    const char *node;
    const char *flavor; /* the instance type; "": that of the pool */
    const char *zone;   /* "": the pool's places */
    bool spot;
    const char *script;
    uint32_t place;
};

/* How many places are tried for one machine: at least 1. */
uint32_t ec2_query_places(const struct pool_spec *pool, const char *zone);

/* All of these clear `out` first. */
void ec2_query_run(const struct ec2_run *run, struct buf *out);
void ec2_query_list(const char *server_uuid, const char *next_token, struct buf *out);
void ec2_query_terminate(const char *instance, struct buf *out);

/* The shell script with which a machine starts its agent. `out` is full where it is too long. */
void ec2_query_script(const struct provider_order *order, const char *extra, struct buf *out);
