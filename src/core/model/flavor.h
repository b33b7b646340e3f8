/* flavor.h - the row of a flavor: a kind of node that a provider can bring up, and in which zones it is sold out.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/spec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FLAVORS_MAX = 1024,
    FLAVOR_ZONES_MAX = 16,
    FLAVOR_CURRENCY_MAX = 16,                       /* bytes */
    FLAVOR_ZONES_ALL = (1 << FLAVOR_ZONES_MAX) - 1, /* a bit for each zone */
};

/* What Weir has learned about a zone from the provider's answers. */
struct flavor_zone {
    int64_t since_ms;  /* sold out since; 0: not sold out */
    int64_t failed_ms; /* the provider's last refusal */
    int64_t retry_ms;  /* the provider is asked again from this moment on */
    launch_id probe;   /* the launch that asks again; 0: none */
    uint32_t failures; /* refusals in a row */
    uint32_t why;      /* enum provider_why of the last refusal */
};

struct flavor {
    flavor_id id;        /* 0: no row here */
    uint32_t pool_count; /* pools that have this flavor */
    uint32_t
        provider; /* enum pool_provider. struct flavor_spec describes the members from here to `price_milli` */
    uint32_t slots;
    uint32_t gpus;
    uint32_t spot;
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t price_milli;
    /* at least 1: a flavor without zones has one zone without a name */
    uint32_t zone_count;
    uint32_t pad;
    struct flavor_zone zones[FLAVOR_ZONES_MAX];
    struct blob *zone_names; /* each with its NUL, in the order of `zones` */
    struct blob *text;       /* name, NUL, encoded spec */
};

/* A flavor as a user describes it. */
struct flavor_spec {
    const char *name;
    const char *description;
    enum pool_provider provider;
    const char *native; /* the provider's own name: "p3.2xlarge"; "": it has none */
    uint32_t slots;     /* what each node has; cpu and memory 0: unknown */
    uint32_t gpus;      /* above 0: the slots are these GPUs */
    int64_t cpu_milli;
    int64_t memory_bytes;
    const char *const *zones; /* in the order in which they are tried */
    uint32_t zone_count;
    int64_t price_milli; /* of a node for an hour, in thousandths of the currency; 0: unknown */
    const char *currency;
    bool spot; /* the provider may take the node back */
};
