/* prop_devices.c - the laws of design.md section 2 over random histories in which devices go out of service and come back.
 *
 * Between the steps of history.h nodes with devices join that say which of their devices are out of service, and which of these are lost.
 * The sums of ledger.h count nothing of such a device as free, so P1 and P5 are judged with them. Beside that, after each step: no start
 * and no promise uses a device that is out of service, no more slots are free on a node than on its other devices, and what held a lost device
 * was told to stop. At the end all devices are well, and everything of them is free or held.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history.h"
#include "prop_run.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    HISTORIES_DEFAULT = 300,
    STEPS = 160,
    OWN_ONCE_IN = 4,
    NODES = 4,
    DEVICES = 4,
    THOROUGH_ONCE_IN = 16,
};

static const char *const names[NODES] = {"d0", "d1", "d2", "d3"};

/* What the histories met. */
struct met {
    uint64_t starts; /* on a node with a device out of service */
    uint64_t stops;  /* because a device was lost */
};

static void starts_check(const struct world *world, struct met *met)
{
    for (size_t i = 0; i < world->facts.count; i++) {
        const struct fact *fact = &world->facts.at[i];
        if (fact->type == FACT_ALLOCATED || fact->type == FACT_CLAIMED) {
            const struct node *node = query_node(world->core, fact->allocated.node);
            law((fact->allocated.devices & node->devices_out) == 0,
                "no start uses a device that is out of service");
            met->starts += node->devices_out != 0 && fact->type == FACT_ALLOCATED;
        }
        met->stops +=
            fact->type == FACT_ATTEMPT_STOPPING && fact->attempt_stopping.cause == END_DEVICE;
    }
}

static void free_check(const struct core *core)
{
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        int64_t free = 0;
        for (uint32_t i = 0; i < node->device_count; i++) {
            free += node->device_free[i];
            law((node->devices_out >> i & 1) == 0 || node->device_free[i] == 0,
                "nothing is free of a device that is out of service");
        }
        law(node->device_count == 0 || node->slots_free <= free,
            "no more slots are free than those of the devices in service");
    }
}

static void lost_check(const struct core *core, const char *name, uint64_t lost)
{
    const struct node *node = query_node_named(core, name);
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node->id, &cursor)) != NULL) {
        law((instance->devices & lost) == 0 || instance->state == INSTANCE_STOPPING,
            "what holds a lost device is told to stop");
    }
}

/* A node joins, or says again what it has. With `well` all its devices are in service. */
static void node_says(struct world *world, struct dice *dice, const char *name, bool well)
{
    struct node_spec spec = {.name = name,
                             .pool = "default",
                             .slots_milli = DEVICES * SLOT_MILLI,
                             .cpu_milli = 8000,
                             .memory_bytes = 1000,
                             .gpu_memory_bytes = 40,
                             .device_count = DEVICES,
                             .boot_id = "",
                             .address = "",
                             .version = ""};
    const struct node *node = query_node_named(world->core, name);
    arena_clear(&world->arena);
    if (node != NULL && (well || !dice_once_in(dice, 8))) {
        memcpy(spec.supervisor, node->supervisor, sizeof spec.supervisor);
        spec.pool = query_pool_name(world->core, node->pool);
    } else {
        spec.supervisor[0] = ++world->supervisors;
    }
    if (!well) {
        spec.devices_out = dice_roll(dice, 1u << DEVICES);
        spec.devices_lost = spec.devices_out & dice_roll(dice, 1u << DEVICES);
        spec.device_trouble = spec.devices_out != 0 ? "GPU 0: the driver has lost it" : "";
    }
    const struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    if (world_step(world, in) == VERDICT_OK) {
        lost_check(world->core, name, spec.devices_lost);
    }
}

static void history_run(uint64_t seed, struct met *met)
{
    struct world world;
    struct dice dice = {seed ^ 0x64657669636573};
    prop_history(seed);
    world_init(&world, seed, seed % THOROUGH_ONCE_IN == 0 ? WORLD_THOROUGH : WORLD_TRIPLE);
    history_begin(&world);
    for (uint32_t i = 0; i < STEPS; i++) {
        if (dice_once_in(&dice, OWN_ONCE_IN)) {
            node_says(&world, &dice, names[dice_roll(&dice, NODES)], false);
        } else {
            history_step(&world);
        }
        starts_check(&world, met);
        free_check(world.core);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        const struct node *node = query_node_named(world.core, names[i]);
        if (node != NULL) {
            node_says(&world, &dice, names[i], true);
            law(query_node_named(world.core, names[i])->devices_out == 0, "all devices are back");
        }
    }
    free_check(world.core);
    world_done(&world);
}

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    struct met met = {0};
    for (uint64_t i = 0; i < run.histories; i++) {
        history_run(run.seed + i, &met);
    }
    law(run.histories < HISTORIES_DEFAULT || met.starts > 0,
        "some tasks start beside a lost device");
    law(run.histories < HISTORIES_DEFAULT || met.stops > 0, "some tasks are told to stop");
    printf("%" PRIu64 " histories, %" PRIu64 " starts beside devices out of service, %" PRIu64
           " stops: all laws held\n",
           run.histories, met.starts, met.stops);
    return 0;
}
