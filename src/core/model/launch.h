/* launch.h - a node that a provider was asked for: from the wish to the end of the machine.
 *
 *   asked ─▶ requested ─▶ running ─┬─▶ (row leaves)   the provider says failed or gone
 *     └────────┴────────────┴─▶ ending ─┘             somebody wants the machine to end
 *
 * A launch's number is given once and never again: it is what makes an order to a provider, repeated
 * after a crash, the same order.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

enum launch_state {
    LAUNCH_ASKED,     /* decided; the provider has not answered yet */
    LAUNCH_REQUESTED, /* the provider works on it */
    LAUNCH_RUNNING,   /* the machine is up; its agent may have joined */
    LAUNCH_ENDING,    /* the provider is told to end the machine */
};
enum { LAUNCH_STATE_COUNT = LAUNCH_ENDING + 1 };

struct blob;

struct launch {
    launch_id id; /* 0: no row here */
    pool_id pool;
    node_id node; /* as which the machine has joined; 0: it has not */
    int64_t asked_ms;
    int64_t changed_ms;
    /* the agent must have joined by this moment; 0: there is no bound */
    int64_t join_by_ms;
    /* since when the node has no work; 0: it has work, or there is no node yet */
    int64_t idle_ms;
    int64_t
        unfit_ms; /* since when the node is out of service; 0: it is in service, or there is none yet */
    uint8_t state; /* enum launch_state */
    uint8_t leave; /* enum leave: the machine ends once its node has no work */
    /* the node is locked, a copy of the node's: the node goes neither by itself nor by a change of the pool's size */
    uint8_t locked;
    uint8_t spare; /* the node is spare, a copy of the node's */
    uint8_t pad[4];
    struct blob *zone; /* of the flavor, where the machine was asked for; NULL: none */
    struct blob *text; /* the provider's name for the machine, NUL, its last words, NUL */
};

/* What a provider says of a launch. Answers may come twice, late, or about launches nobody knows. */
enum provider_says {
    PROVIDER_REQUESTED, /* it works on it; `words` may say why that takes long */
    PROVIDER_RUNNING,   /* the machine is up; `node` names it once its agent has joined */
    PROVIDER_FAILED,    /* there will be no machine; `words` says why */
    PROVIDER_GONE,      /* there is no machine (any more) */
};
enum { PROVIDER_SAYS_COUNT = PROVIDER_GONE + 1 };

/* Why a provider brought no machine up. */
enum provider_why {
    PROVIDER_WHY_OTHER,
    PROVIDER_WHY_NO_CAPACITY, /* such machines are sold out in the zone */
    PROVIDER_WHY_PRICE,       /* nobody sells such a machine for the price offered */
    PROVIDER_WHY_LIMIT,       /* the customer may not have more such machines */
};
enum { PROVIDER_WHY_COUNT = PROVIDER_WHY_LIMIT + 1 };

struct provider_answer {
    launch_id launch;
    enum provider_says says;
    const char *name;  /* the provider's own for the machine: "i-0abc"; "": unknown */
    const char *node;  /* PROVIDER_RUNNING: the name under which its agent joined; "": not yet */
    const char *words; /* the provider's own: "InsufficientInstanceCapacity …"; "": none */
    enum provider_why why; /* PROVIDER_FAILED */
};
