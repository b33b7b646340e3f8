/* prop_member.c - the laws of design.md section 2 over random histories in which labels and selectors move nodes, and pools turn
 * tasks away.
 *
 * Between the steps of history.h nodes join that name no pool, labels and selectors change, and pools are edited with --force. After
 * every fact core_check() recomputes which pool each node belongs to (K17). At the end all moves are made: then each node that follows
 * its labels is where its labels say.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/membership.h"
#include "history.h"
#include "prop_run.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    HISTORIES_DEFAULT = 300,
    STEPS = 160,
    OWN_ONCE_IN = 3,
    NODES = 6,
    POOLS = 4,
    THOROUGH_ONCE_IN = 16,
    TICKS_MAX = 1000,
};

static const struct label labels[] = {
    {"zone", "a"}, {"zone", "b"}, {"rack", "1"}, {"rack", "2"}, {"gpu", "x"}};
enum { LABELS = sizeof labels / sizeof labels[0] };

/* Some of the labels, in their order. */
static uint32_t labels_roll(struct dice *dice, uint32_t most, struct label *ret)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < LABELS && count < most; i++) {
        if (dice_once_in(dice, 2) &&
            (count == 0 || strcmp(ret[count - 1].key, labels[i].key) != 0)) {
            ret[count++] = labels[i];
        }
    }
    return count;
}

static void free_node_join(struct world *world, struct dice *dice)
{
    static const char *const names[NODES] = {"m0", "m1", "m2", "m3", "m4", "m5"};
    struct label own[LABELS];
    struct node_spec spec = {.name = names[dice_roll(dice, NODES)],
                             .pool = "",
                             .labels = own,
                             .label_count = labels_roll(dice, LABELS, own),
                             .slots_milli = (int64_t)dice_roll(dice, 5) * SLOT_MILLI,
                             .cpu_milli = 8000,
                             .memory_bytes = 1000,
                             .boot_id = "",
                             .address = "",
                             .version = ""};
    const struct node *node = query_node_named(world->core, spec.name);
    if (node != NULL && !dice_once_in(dice, 4)) {
        memcpy(spec.supervisor, node->supervisor, sizeof spec.supervisor);
    } else {
        spec.supervisor[0] = ++world->supervisors;
    }
    (void)world_step(world, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &spec}});
}

static void labels_edit(struct world *world, struct dice *dice)
{
    struct label own[LABELS];
    const struct node *node = query_node_next(world->core, (node_id){dice_roll(dice, 12)});
    const struct node_edit edit = {.fields = NODE_EDIT_LABELS | NODE_EDIT_BUSY,
                                   .labels = own,
                                   .label_count = labels_roll(dice, LABELS, own),
                                   .busy = (enum busy)dice_roll(dice, BUSY_COUNT)};
    if (node != NULL) {
        (void)world_step(world, (struct input){.type = INPUT_NODE_EDIT,
                                               .node = {.node = node->id, .edit = &edit}});
    }
}

/* A pool gets another selector, other guests, other kinds, or another bound on slots. */
static void pool_edit(struct world *world, struct dice *dice)
{
    static const char *const guests[] = {"project/default", "department/default"};
    struct label own[LABELS];
    struct pool_spec spec;
    const struct pool *pool = query_pool_next(world->core, (pool_id){dice_roll(dice, POOLS)});
    if (pool == NULL) {
        return;
    }
    query_pool_spec(world->core, pool->id, &world->arena, &spec);
    switch (dice_roll(dice, 6)) {
    case 0:
        spec.access = dice_once_in(dice, 2) ? ACCESS_DEDICATED : ACCESS_PUBLIC;
        spec.guests = guests;
        spec.guest_count = dice_roll(dice, 3);
        break;
    case 1:
        spec.accepts = dice_roll(dice, 1u << TASK_KIND_COUNT);
        break;
    case 2:
        spec.slots_per_node = dice_roll(dice, 5);
        break;
    default:
        spec.selector = own;
        spec.selector_count = labels_roll(dice, 2, own);
        break;
    }
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.spec = &spec, .pool = pool->id}};
    in.pool.force = !dice_once_in(dice, 4);
    (void)world_step(world, in);
}

static void own_step(struct world *world, struct dice *dice)
{
    arena_clear(&world->arena);
    switch (dice_roll(dice, 4)) {
    case 0:
        free_node_join(world, dice);
        break;
    case 1:
        labels_edit(world, dice);
        break;
    case 2:
        pool_edit(world, dice);
        break;
    default:
        (void)world_step(world, (struct input){.type = INPUT_TICK});
        break;
    }
}

/* Makes all moves that are due, and returns how many nodes moved. */
static uint64_t moves_make(struct world *world)
{
    uint64_t moved = 0;
    for (uint32_t i = 0; i < TICKS_MAX && query_deadline(world->core) == 0; i++) {
        arena_clear(&world->arena);
        (void)world_step(world, (struct input){.type = INPUT_TICK});
        for (size_t at = 0; at < world->facts.count; at++) {
            moved += world->facts.at[at].type == FACT_NODE_MOVED;
        }
    }
    law(query_deadline(world->core) != 0, "moves come to an end");
    return moved;
}

static void homes_check(const struct core *core)
{
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        uint32_t matches;
        if (node->follows_labels && node->state != NODE_REMOVED && node->instance_count == 0) {
            law(membership_pool(core, node->labels, &matches)->id.v == node->pool.v,
                "an empty node is where its labels say");
        }
        law(node->pool_next.v == 0 || node->instance_count > 0, "only a busy node is yet to move");
    }
}

static uint64_t history_run(uint64_t seed)
{
    struct world world;
    struct dice dice = {seed ^ 0x6d656d626572};
    prop_history(seed);
    world_init(&world, seed, seed % THOROUGH_ONCE_IN == 0 ? WORLD_THOROUGH : WORLD_TRIPLE);
    history_begin(&world);
    uint64_t moved = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        if (dice_once_in(&dice, OWN_ONCE_IN)) {
            own_step(&world, &dice);
        } else {
            history_step(&world);
        }
        if (i % 16 == 0) {
            moved += moves_make(&world);
            homes_check(world.core);
        }
    }
    moved += moves_make(&world);
    homes_check(world.core);
    world_done(&world);
    return moved;
}

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    uint64_t moved = 0;
    for (uint64_t i = 0; i < run.histories; i++) {
        moved += history_run(run.seed + i);
    }
    law(run.histories < HISTORIES_DEFAULT || moved > 0, "some histories move nodes");
    printf("%" PRIu64 " histories, %" PRIu64 " moves of nodes: all laws held\n", run.histories,
           moved);
    return 0;
}
