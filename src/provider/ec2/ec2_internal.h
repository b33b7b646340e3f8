/* ec2_internal.h - shared by ec2.c and ec2_node.c.
 *
 *   launch() ─▶ waits ──list of the region: not there──▶ asks ──machine──▶ there ─▶ (leaves) gone
 *                 │                                        │ no answer        ▲
 *                 └──────────there already─────────────────┼──────────────────┤
 *                                                          └─▶ checks ──there─┘
 *
 * A machine waits for the first list of its region, because a server that was killed may have made it before. Later
 * launches ask at once: their keys are new.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "core/model/limits.h"
#include "provider/ec2/ec2.h"
#include "provider/ec2/ec2_query.h"
#include "provider/ec2/ec2_site.h"

enum {
    EC2_REGIONS_MAX = 64,
    EC2_ID_MAX = 64,
    EC2_SOON_MS = 1000, /* from one list to the next while machines come or go; doubled up to … */
    EC2_OFTEN_MS = 10 * 1000,  /* … this, as often as while all machines are up */
    EC2_IDLE_MS = 300 * 1000,  /* while there are none: finds machines that nobody knows */
    EC2_UNSEEN_MS = 60 * 1000, /* a machine that no list has named for so long has gone */
    EC2_CHECKS_MAX = 3, /* lists that do not name a machine that should be there: they lag behind */
    EC2_END_AGAIN_MS = 30 * 1000,
};

struct ec2;

/* A region of an endpoint, with the machines that are or should be there. */
struct ec2_region {
    struct ec2 *ec2;
    struct ec2_site *site;
    struct map *machines; /* by key */
    struct loop_timer *timer;
    bool listing;
    bool listed;      /* a whole list has come */
    uint64_t list_no; /* of the list under way, or of the last one */
    int64_t wait_ms;  /* until the next list */
};

enum ec2_step {
    EC2_WAITS,  /* for a list */
    EC2_ASKS,   /* RunInstances is under way */
    EC2_CHECKS, /* RunInstances had no answer that says whether there is a machine */
    EC2_THERE,  /* EC2 has named the machine */
};

/* What RunInstances needs; freed once there is a machine, because the script has a secret. */
struct ec2_wanted {
    struct arena arena;
    struct pool_spec pool;
    const char *node;
    const char *flavor;
    const char *zone;
    char *script;
    bool spot;
    bool named;
    uint32_t place;
};

struct ec2_node {
    struct ec2_region *region;
    char key[PROVIDER_KEY_MAX];
    char id[EC2_ID_MAX]; /* "": unknown */
    enum ec2_step step;
    enum provider_says says;
    bool ends;     /* the machine is to end */
    bool end_sent; /* TerminateInstances is under way or was answered */
    bool out;      /* a call about it is under way: the struct must stay */
    bool removed;  /* … and is freed when that call is back */
    unsigned checks;
    uint64_t after_no; /* a list with a higher number decides */
    uint64_t seen_no;  /* the last list that named the machine */
    int64_t seen_ms;
    int64_t end_again_ms;
    enum provider_why why;
    char words[TEXT_LEN_MAX + 1];
    struct ec2_wanted *wanted; /* NULL: there is a machine, or none is wanted */
};

struct ec2 {
    struct provider provider;
    struct loop *loop;
    struct http_multi *http;
    struct ec2_keys *keys;
    struct ec2_host host;
    char uuid[2 * 16 + 1];
    bool known; /* the regions of all pools are in `regions` */
    struct ec2_region *regions[EC2_REGIONS_MAX];
    unsigned region_count;
};

/* The region of these settings, made where it is new; NULL: there are too many. */
struct ec2_region *ec2_region_of(struct ec2 *ec2, const struct pool_spec *pool);

/* Asks for a list now, or after EC2_SOON_MS. */
void ec2_region_now(struct ec2_region *region);
void ec2_region_soon(struct ec2_region *region);

/* ec2_node.c */
struct ec2_node *ec2_node_new(struct ec2_region *region, const char *key);
void ec2_node_free(struct ec2_node *node);
void ec2_node_tell(const struct ec2_node *node);
/* RunInstances in the place that is next. */
void ec2_node_ask(struct ec2_node *node);
/* Ends the machine, or the attempt to have one. */
void ec2_node_end(struct ec2_node *node);
/* There is no machine, and there will be none. Tells so and frees the node. */
void ec2_node_gone(struct ec2_node *node, const char *words, enum provider_why why);
/* A list names a machine of ours. */
void ec2_node_seen(struct ec2_region *region, const struct ec2_machine *machine);
/* A whole list does not name the machine of this node. */
void ec2_node_unseen(struct ec2_node *node);
