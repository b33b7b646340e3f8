/* claim.h - claims and evictions. A claim is a place promised to a waiting instance while other instances are
 * still leaving that place. An eviction says why an instance was told to leave.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/space.h"

#include <stdint.h>

/* The row of a claim has the number of its instance's row. A claim ends when the instance starts, when its
 * task leaves the queue or the pool, and when the node takes no more work or gets another spec. */
struct claim {
    node_id node; /* 0: no row here */
    uint32_t pad;
    uint64_t devices; /* the devices that the instance will hold, one bit each */
    int64_t slots_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
};

/* By which right an instance was told to leave. These numbers are stored. */
enum eviction_rule {
    EVICT_SHARE, /* the victim's account is above its fair share */
    /* the claimant's account is within its guarantee, the victim's account is above its guarantee */
    EVICT_GUARANTEE,
    EVICT_PRIORITY,    /* the claimant has a higher priority in the same project */
    EVICT_CONSOLIDATE, /* the victim is moved so that a larger task fits */
    EVICT_STALE,       /* the victim's gang was below its minimum for too long */
};
enum { EVICTION_RULE_COUNT = EVICT_STALE + 1 };

/* What one account had at the moment of the eviction, in the resource that decided. */
struct eviction_side {
    account_id account;
    int64_t allocated;
    int64_t guaranteed; /* or QUOTA_UNLIMITED */
    int64_t share;
};

struct eviction {
    enum eviction_rule rule;
    task_id claimant; /* the task that gets the place; 0: none, the victim's gang is stale */
    resource_id resource;
    /* `victim` and `taker` are the two siblings where the accounts' paths diverge */
    struct eviction_side victim;
    struct eviction_side taker;
};

/* The rule that people are told. An account that is below its guarantee takes from an account above its guarantee by its
 * guarantee, also where the rule of shares found the victim. */
enum eviction_rule claim_eviction_told(const struct eviction *why);

/* The last time that an instance of a task was told to leave. The row has the number of the task. */
struct eviction_note {
    int64_t at_ms; /* 0: no row here */
    uint32_t index;
    uint32_t pad;
    struct eviction why;
    /* The work that evictions have cost the task: thousandths of slots (of cpu) times milliseconds. Counted
     * is what an evicted instance held between its start or its last checkpoint and its end. At most
     * INT64_MAX. */
    int64_t slots_lost;
    int64_t cpu_lost;
};

/* What a claim promises. */
struct grant claim_grant(const struct claim *claim);
