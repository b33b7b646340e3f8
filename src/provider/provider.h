/* provider.h - what brings nodes up and down for a pool: launch, list, terminate, nothing more. A
 * node is whatever runs `weir agent` and joins with the pool's join token.
 *
 *   EFFECT_LAUNCH, EFFECT_TERMINATE ─▶ launch(), terminate() ─▶ the outside
 *                                      list(), now and then      │
 *   INPUT_PROVIDER ◀── provider_answer_of() ◀── report ◀─────────┘
 *
 * Every call is keyed. The key follows from the server's uuid and the number of the launch, so an
 * order that is repeated after a crash is the same order, and a machine that somebody else made is
 * never taken for ours.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/must.h"
#include "core/model/launch.h"
#include "core/model/spec.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROVIDER_KEY_MAX = 64, PROVIDER_RESOURCES_MAX = 96 };

/* For how long a machine stays, where its time is limited. */
enum provider_stay {
    PROVIDER_STAYS,
    PROVIDER_DRAINS, /* its time is nearly over: nothing new should start there */
    PROVIDER_ENDS,   /* its time is over in a moment: what runs there should stop */
};

/* What a provider says of the machine of one key. All texts are borrowed for the call. */
struct provider_report {
    const char *key;
    enum provider_says says;
    const char *name;  /* the provider's own for the machine; "": unknown */
    const char *node;  /* as which its agent has joined, where the provider knows; "": not yet */
    const char *words; /* why it takes long, or why there is no machine; "": nothing */
    enum provider_why why; /* PROVIDER_FAILED: what kind of refusal it is */
    enum provider_stay stay;
};

struct provider_sink {
    void *ctx;
    void (*report)(void *ctx, const struct provider_report *report);
};

/* One machine to bring up. */
struct provider_order {
    const char *key;
    const char *pool;
    const char *node; /* as which its agent joins */
    uint32_t slots;   /* what the node has */
    uint32_t gpus;    /* above 0: the slots are these GPUs */
    int64_t cpu_milli;
    int64_t memory_bytes;
    const char
        *flavor; /* the provider's own name for the kind of machine; "": the provider chooses */
    const char *zone;                 /* where; "": anywhere */
    bool spot;                        /* the provider may take the machine back */
    int64_t price;                    /* what it costs in an hour, in thousandths; 0: unknown */
    const char *server;               /* where its agent connects to */
    const char *join_token;           /* with which it joins the pool; a secret: never logged */
    const struct pool_spec *settings; /* of the pool, with those of its provider */
    bool named; /* the provider has named the machine of this key: one that is not there has gone */
};

struct provider;

/* None of these blocks or fails: an order is taken, and what becomes of it is told to the sink, at
 * once or later, from the thread that calls. Reports may come twice and in any order. */
struct provider_ops {
    /* Bring up one machine. A key that is known already makes no second machine: its state is
     * reported again. */
    void (*launch)(struct provider *provider, const struct provider_order *order);

    /* Report every machine that has one of our keys, then call `done`. One request to the outside,
     * however many machines there are. A `problem` other than "": what was reported is not the whole list. No second
     * list is asked for before the first is done. */
    void (*list)(struct provider *provider, void (*done)(void *ctx, const char *problem),
                 void *ctx);

    /* End the machine of the key, whatever its state; PROVIDER_GONE follows, also for a key that is
     * not known. */
    void (*terminate)(struct provider *provider, const char *key);

    /* Forget everything; the machines stay. No report follows. */
    void (*free)(struct provider *provider);
};

/* The first member of every provider. */
struct provider {
    const struct provider_ops *ops;
    struct provider_sink sink;
};

/* The key of a launch of this server: "weir-", the uuid in hexadecimal, "-", the number. `ret` has
 * PROVIDER_KEY_MAX. */
void provider_key(const uint8_t *server_uuid, launch_id launch, char *ret);

/* The answer for the core that a report amounts to. False: the key is none of this server's. */
must_use bool provider_answer_of(const uint8_t *server_uuid, const struct provider_report *report,
                                 struct provider_answer *ret);

/* What the agent of a new node is told with --resources. `ret` has PROVIDER_RESOURCES_MAX. */
void provider_resources(const struct provider_order *order, char *ret);
