/* claim.h - a place promised to a waiting instance while others are still leaving it, and why they leave.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/space.h"

#include <stdint.h>

/* The row of a claim, by the row of its instance. It goes when the instance starts, when its task leaves the queue or the pool,
 * and when the node takes no more work or becomes another one. */
struct claim {
    node_id node; /* 0: no row here */
    uint32_t pad;
    uint64_t devices; /* what the instance will hold, as in struct instance */
    int64_t slots_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
};

/* By which right somebody was told to leave. Numbers are stored. */
enum eviction_rule {
    EVICT_SHARE,     /* the victim's account is above its fair share */
    EVICT_GUARANTEE, /* the claimant's account is within its guarantee, the victim's above its own */
    EVICT_PRIORITY,  /* a higher priority in the same project */
    EVICT_CONSOLIDATE, /* moved, so that a larger one fits */
    EVICT_STALE,       /* its gang was below its minimum for too long */
};
enum { EVICTION_RULE_COUNT = EVICT_STALE + 1 };

/* An account at the moment of the decision, in the resource that decided. */
struct eviction_side {
    account_id account;
    int64_t allocated;
    int64_t guaranteed; /* or QUOTA_UNLIMITED */
    int64_t share;
};

struct eviction {
    enum eviction_rule rule;
    task_id claimant; /* 0: nobody (a stale gang) */
    resource_id resource;
    struct eviction_side victim; /* where the two accounts part: siblings */
    struct eviction_side taker;
};

/* The last time that an instance of a task was told to leave; the row is the task's. */
struct eviction_note {
    int64_t at_ms; /* 0: no row here */
    uint32_t index;
    uint32_t pad;
    struct eviction why;
    /* Thousandths x ms of slots and cpu, held since the start or the last checkpoint: what all its evictions have cost the task, as
     * far as who had to go has ended; at most INT64_MAX. */
    int64_t slots_lost;
    int64_t cpu_lost;
};

/* What it promises. */
struct grant claim_grant(const struct claim *claim);
