/* life.h - the life cycle of a pool, and its health.
 *
 *   submitted ─▶ partially-dispatched ─▶ fully-dispatched ─▶ partially-executing ─▶ fully-executing     (in any order, as nodes come and go)
 *       └───────────────┴──── closed by a user ──┴──────────────────┴──────────────────────┘
 *                                  ▼
 *                               closing ─▶ closed ─▶ pending-delete ─▶ deleted: the row's `deleted`     (`restore` leads back)
 *
 * A user chooses the phase. State and health follow from the phase and from counts that the row has (state/life.h). Each change of
 * state or health is a fact.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What users asked for. These numbers are stored. */
enum pool_phase {
    PHASE_OPEN,
    PHASE_CLOSING, /* no task starts, and the nodes of the provider go as they become free */
    PHASE_DELETE,  /* the same, and the tasks are unavailable; the pool goes at `delete_ms` */
};
enum { POOL_PHASE_COUNT = PHASE_DELETE + 1 };

/* These numbers are stored. */
enum pool_state {
    POOL_SUBMITTED,            /* nodes are wanted, and none is asked for yet */
    POOL_PARTIALLY_DISPATCHED, /* nodes are asked for; the provider has not answered for all */
    POOL_FULLY_DISPATCHED,     /* the provider works on all nodes; none has joined */
    POOL_PARTIALLY_EXECUTING,  /* some of the wanted nodes have joined */
    POOL_FULLY_EXECUTING,      /* all wanted nodes have joined; also where none is wanted */
    POOL_CLOSING,
    POOL_CLOSED,
    POOL_PENDING_DELETE,
    POOL_FAILURE, /* the provider brought no node up, many times in a row */
};
enum { POOL_STATE_COUNT = POOL_FAILURE + 1 };

/* A pool that is unavailable starts no task. These numbers are stored. */
enum pool_health { HEALTH_RUNNING, HEALTH_DEGRADED, HEALTH_UNAVAILABLE };
enum { POOL_HEALTH_COUNT = HEALTH_UNAVAILABLE + 1 };

/* Why a pool has its state and its health. These numbers are stored. */
enum pool_why {
    WHY_ALL_UP,   /* every wanted node is there */
    WHY_STARTING, /* nodes are on their way */
    WHY_EMPTY,    /* no node is wanted, because no task needs one */
    WHY_NO_NODES, /* a pool without a provider to which no node has joined */
    WHY_LOST,     /* some nodes are lost */
    WHY_ALL_LOST,
    WHY_PROVIDER, /* the provider brought no node up */
    WHY_CLOSED,   /* a user closed the pool */
    WHY_DELETED,  /* a user deleted the pool */
};
enum { POOL_WHY_COUNT = WHY_DELETED + 1 };

/* State and health, and the counts from which they follow. */
struct pool_standing {
    uint8_t state;  /* enum pool_state */
    uint8_t health; /* enum pool_health */
    uint8_t why;    /* enum pool_why */
    uint32_t nodes; /* nodes that have joined and are not lost */
    uint32_t wanted;
    uint32_t lost; /* nodes that are lost, or were and are not replaced yet */
};

struct pool_life {
    uint8_t phase; /* enum pool_phase */
    uint8_t state; /* as the last fact said; likewise health and why */
    uint8_t health;
    uint8_t why;
    /* derived: what the last fact said is no longer so; the key DEADLINE_LIFE is in ORDER_DEADLINE */
    uint8_t stale;
    uint8_t goes; /* derived: the key DEADLINE_DELETE is in ORDER_DEADLINE */
    uint8_t pad[2];
    uint32_t replaced;  /* nodes of a provider that were lost, while others do not stand for them */
    uint32_t had_nodes; /* PHASE_DELETE: the nodes of the provider that the pool had before */
    int64_t since_ms;   /* when the last fact about the state was made */
    int64_t delete_ms;  /* PHASE_DELETE: when the pool goes for good */
};

/* How long a deleted pool can be restored. */
#define POOL_RESTORE_MS ((int64_t)24 * 60 * 60 * 1000)
