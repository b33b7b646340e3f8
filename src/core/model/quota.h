/* quota.h - what an account is promised in a pool, and what it uses there, by accounted resource.
 *
 * A dimension ("dim") is an accounted resource: slots, cpu, memory, then the named resources that some
 * quota mentions, ascending. Amounts of one kind are vectors over the dims.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/vector.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QUOTA_UNLIMITED = VECTOR_UNLIMITED,
    QUOTA_UNSET = -2,            /* of a guarantee, in what users say and in rows: the default */
    QUOTA_WEIGHT_DEFAULT = 1000, /* thousandths */
    QUOTA_WEIGHT_MAX = 1000000,
    QUOTA_RANK_DEFAULT = 100,
    QUOTA_RANK_MAX = 1000000,
    QUOTA_INHERIT = -1, /* of a minimum runtime: the parent's, at the top the pool's */
};

/* What holds, with every default filled in. Amounts are 0 or more, or QUOTA_UNLIMITED. */
struct quota {
    struct vector guaranteed;
    struct vector limit;
    uint32_t weight[QUOTA_DIMS_MAX];
    uint32_t rank;                  /* surplus goes to higher ranks first */
    int64_t preempt_min_runtime_ms; /* QUOTA_INHERIT, or what its tasks run before they lose to a */
    int64_t
        reclaim_min_runtime_ms; /* higher priority of their own project, or to another account */
};

/* What the tasks of an account (its whole subtree) hold and want in a pool. Kept by apply. */
struct usage {
    struct vector allocated; /* held by active instances, those that are stopping included */
    struct vector leaving;   /* of allocated: by instances that are stopping */
    struct vector fixed;     /* of allocated: by tasks that are not preemptible */
    struct vector wanted;    /* asked by waiting instances of queued tasks; cpu and memory that come
                                with the slots count once placed, parts of devices by memory as
                                on the pool's smallest device */
    int64_t gpu_memory_wanted; /* of wanted: bytes asked as such parts */
    uint32_t pending_count;    /* tasks in the queue */
    uint32_t running_count;    /* tasks with an allocation */
};

/* One resource of a quota as set, by name (what users say) and resolved (facts and rows). */
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

/* The whole definition: what is not named has its default. */
struct quota_spec {
    const struct quota_amount *amounts;
    uint32_t amount_count;
    uint32_t rank;
    int64_t preempt_min_runtime_ms;
    int64_t reclaim_min_runtime_ms;
};

/* The row of a quota that differs from the default; terms ascend by resource. */
struct quota_row {
    uint32_t term_count;
    uint32_t rank;
    int64_t preempt_min_runtime_ms;
    int64_t reclaim_min_runtime_ms;
    struct quota_term terms[QUOTA_DIMS_MAX];
};

/* Does a term say nothing? The default of a guarantee written out is the default; slots have none that
 * could be. */
bool quota_term_default(const struct quota_term *term);

/* What it holds above its guarantee; 0 where that is unlimited. */
int64_t quota_borrowed(const struct quota *quota, const struct usage *usage, uint32_t dim);

/* What it holds above its limit, or holds without being preemptible above its guarantee (the larger):
 * left by an edit or a loss, never by a start (P3). */
int64_t quota_overhang(const struct quota *quota, const struct usage *usage, uint32_t dim);

/* What it holds and what it waits for. */
int64_t quota_demand(const struct usage *usage, uint32_t dim);

/* Says a quota nothing that the defaults do not say? There is no row for such a one. */
bool quota_row_default(const struct quota_row *row);
