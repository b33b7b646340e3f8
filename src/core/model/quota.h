/* quota.h - quotas and usage: what an account is promised in a pool, and what the account uses there, by
 * dimension.
 *
 * A dimension ("dim") is a resource that quotas count: slots, cpu, memory, then the named resources that some
 * quota mentions, ascending. A vector has one amount for each dimension.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/vector.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QUOTA_UNLIMITED = VECTOR_UNLIMITED,
    QUOTA_UNSET = -2,            /* a guarantee that nobody set, in specs and in rows */
    QUOTA_WEIGHT_DEFAULT = 1000, /* thousandths */
    QUOTA_WEIGHT_MAX = 1000000,
    QUOTA_RANK_DEFAULT = 100,
    QUOTA_RANK_MAX = 1000000,
    /* a minimum runtime that is the parent's, or the pool's for an account at the top */
    QUOTA_INHERIT = -1,
};

/* What a quota says beside its amounts (quota_fields.def). */
struct quota_rules {
    uint32_t rank; /* surplus goes to higher ranks first */
    /* how long a task runs before a task of higher priority in its own project may evict it; or QUOTA_INHERIT */
    int64_t preempt_min_runtime_ms;
    /* how long a task runs before another account may evict it; or QUOTA_INHERIT */
    int64_t reclaim_min_runtime_ms;
    uint32_t ticket; /* the number of the request that the quota answers; 0: none */
};

/* The rules of an account for which nobody set rules. */
extern const struct quota_rules quota_rules_none;

/* A quota with every default filled in. Amounts are 0 or more, or QUOTA_UNLIMITED. */
struct quota {
    struct vector guaranteed;
    struct vector limit;
    uint32_t weight[QUOTA_DIMS_MAX];
    struct quota_rules rules;
};

/* What the tasks of an account and of all accounts below hold and want in a pool. */
struct usage {
    struct vector allocated; /* held by active instances, stopping instances included */
    struct vector leaving;   /* of `allocated`: held by instances that are stopping */
    struct vector fixed;     /* of `allocated`: held by tasks that are not preemptible */
    /* requested by waiting instances of queued tasks. Cpu and memory that come with the slots count only once
     * an instance has its place. Parts of devices by memory count as on the pool's smallest device */
    struct vector wanted;
    int64_t gpu_memory_wanted; /* of `wanted`: the bytes of parts of devices by memory */
    uint32_t pending_count;    /* tasks in the queue */
    uint32_t running_count;    /* tasks with an allocation */
};

/* One resource of a quota as a user set it: struct quota_amount with the name, struct quota_term with the id
 * for facts and rows. */
struct quota_amount {
    const char *resource;
    int64_t guaranteed; /* or QUOTA_UNLIMITED, QUOTA_UNSET */
    int64_t limit;      /* or QUOTA_UNLIMITED */
    uint32_t weight;
};

struct quota_term {
    resource_id resource;
    uint16_t pad;
    uint32_t weight;
    int64_t guaranteed;
    int64_t limit;
};

/* The whole definition of a quota. A resource that is not named has its default. */
struct quota_spec {
    const struct quota_amount *amounts;
    uint32_t amount_count;
    struct quota_rules rules;
};

/* The row of a quota that differs from the default. The terms ascend by resource. */
struct quota_row {
    uint32_t term_count;
    struct quota_rules rules;
    struct quota_term terms[QUOTA_DIMS_MAX];
};

/* Does a term say only what the defaults say? An unlimited guarantee is the default of all resources but
 * slots. No number stands for the default guarantee of slots, which is computed. */
bool quota_term_default(const struct quota_term *term);

/* What the account holds above its guarantee; 0 where the guarantee is unlimited. */
int64_t quota_borrowed(const struct quota *quota, const struct usage *usage, uint32_t dim);

/* The larger of two excesses: what the account holds above its limit, and what its tasks that are not
 * preemptible hold above its guarantee. Edits and lost nodes leave such an excess, a start never does (P3). */
int64_t quota_overhang(const struct quota *quota, const struct usage *usage, uint32_t dim);

/* What the account holds and what its waiting tasks request, together. */
int64_t quota_demand(const struct usage *usage, uint32_t dim);

/* Does a quota say only what the defaults say? The state has no row for such a quota. */
bool quota_row_default(const struct quota_row *row);
