/* network.h - the row of a named network, and the networks that exist without a row: the node's own, and the one of each
 * project.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    NETWORKS_MAX = 256,
    NETWORK_RANGE_LEN_MAX = 18,  /* "255.255.255.255/32" */
    NETWORK_RANGE_BITS_MIN = 8,  /* the widest range */
    NETWORK_RANGE_BITS_MAX = 30, /* the narrowest: an address for the node, and one for the tasks */
};

#define NETWORK_HOST "host"
#define NETWORK_ISOLATED "isolated"

/* Numbers that no row has. */
#define NETWORK_ID_ISOLATED ((network_id){UINT32_MAX})
#define NETWORK_ID_HOST ((network_id){UINT32_MAX - 1})
#define NETWORK_ROW_LAST (UINT32_MAX - 2)

struct network {
    network_id id;     /* 0: no row here */
    struct blob *text; /* name, NUL, encoded spec */
};

/* A network as a user describes it. */
struct network_spec {
    const char *name;
    const char *description;
    const char *range; /* "10.77.0.0/24" */
    bool outbound;     /* tasks may open connections to the outside */
    /* entries `project/NAME` and `department/NAME`; none: every project may use the network */
    const char *const *guests;
    uint32_t guest_count;
};

struct network_range {
    uint32_t first; /* the address as a number; its bits behind the first `bits` are 0 */
    uint32_t bits;
};

/* Reads "10.77.0.0/24". False: the text is no range, is wider or narrower than allowed, or its address is not the first
 * one of the range. */
bool network_range_read(const char *text, struct network_range *ret);

/* Have the ranges an address in common? */
bool network_ranges_meet(const struct network_range *a, const struct network_range *b);

/* Is the name one of the networks that exist without a row? */
bool network_built_in(const char *name);
