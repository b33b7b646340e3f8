/* elastic_rig.h - an organisation with one pool whose provider brings nodes up and down.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "org_rig.h"

enum { IDLE_MS = 60 * 1000, STARTING_MS = 10 * 60 * 1000 };

/* A provider that brings up to three nodes of two slots each. */
static inline void three_nodes(struct pool_spec *spec)
{
    spec->provider = POOL_LOCAL;
    spec->nodes_min = 0;
    spec->nodes_max = 3;
    spec->node_slots = 2;
    spec->node_cpu_milli = 4000;
    spec->node_memory_bytes = (int64_t)2 << 30;
    spec->node_idle_ms = IDLE_MS;
    spec->max_starting_ms = STARTING_MS;
}

static inline void begin(struct org *org, void (*pool)(struct pool_spec *))
{
    org_init(org);
    org_pool(org, pool);
}

static inline const struct pool *pool_of(const struct org *org)
{
    return query_pool(org->rig.core, org_pool_id);
}

/* Runs one pass. Returns how many nodes the pool asked for. */
static inline size_t asks(struct org *org)
{
    (void)org_pass(org);
    return rig_count(&org->rig, FACT_LAUNCH_ASKED);
}

/* The machine of this launch comes up, and its agent joins. */
static inline node_id joins(struct org *org, unsigned launch)
{
    char name[32];
    (void)snprintf(name, sizeof name, "default-%u", launch);
    return rig_node(&org->rig, name, 2, 0, (uint8_t)(100 + launch));
}

static inline void says(struct org *org, uint64_t launch, enum provider_says what,
                        const char *words)
{
    const struct provider_answer answer = {
        .launch = {launch}, .says = what, .name = "", .node = "", .words = words};
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &answer, .count = 1}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

/* Time passes, and the deadlines that have come are handled. */
static inline void later(struct org *org, int64_t ms)
{
    org->rig.now_ms += ms;
    struct input in = {.type = INPUT_TICK};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

static inline enum launch_state state_of(const struct org *org, uint64_t launch)
{
    const struct launch *row = query_launch(org->rig.core, (launch_id){launch});
    assert_non_null(row);
    return (enum launch_state)row->state;
}

static inline task_id work(struct org *org, unsigned slots, uint32_t instances)
{
    return org_submit(org, (struct org_task){.slots = slots, .instances = instances});
}
