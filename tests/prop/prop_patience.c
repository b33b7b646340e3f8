/* prop_patience.c - P7: a task that can run will run, however many small tasks overtake it.
 *
 * A pool is kept full with small tasks of bounded length. Then a large task arrives. When the large
 * task has become the first holder, it must start within the length of one small task. Time is virtual. WEIR_SEED repeats a run, WEIR_HISTORIES sets the number of runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tape.h"
#include "yard.h"

#include <stdlib.h>

enum {
    RUNS_DEFAULT = 100,
    WARM_UP_MS = 5000,
    COMPARED_ONCE_IN = 4, /* runs with caches off and restarts beside it (P12) */
};

/* True: its short tasks go first. */
static bool yard_make(struct yard *yard)
{
    struct dice *dice = &yard->world.dice;
    yard_patience(yard);
    const bool short_first = dice_once_in(dice, 2);
    yard_pool(yard,
              (struct pool_spec){.order = short_first ? QUEUE_SHORT_FIRST : QUEUE_SUBMISSION});
    const uint32_t nodes = 1 + dice_roll(dice, 4);
    for (uint32_t i = 0; i < nodes; i++) {
        yard_node(yard, i, 2 + dice_roll(dice, 7));
    }
    return short_first;
}

/* More small tasks than there is room for, most of them without a time limit. */
static void small_tasks_arrive(struct yard *yard)
{
    struct dice *dice = &yard->world.dice;
    for (uint32_t i = dice_roll(dice, 6); i > 0; i--) {
        struct task_spec spec = yard_spec("default", 1 + (int64_t)dice_once_in(dice, 5), 1);
        spec.time_limit_ms = dice_once_in(dice, 4) ? YARD_LENGTH_MS_MAX : 0;
        (void)yard_submit(yard, &spec);
    }
}

/* A task as large as the largest node, or a gang as large as all of them. */
static struct task_spec large_roll(struct yard *yard)
{
    int64_t largest = 0;
    int64_t total = 0;
    for (const struct node *node = query_node_next(yard->world.core, (node_id){0}); node != NULL;
         node = query_node_next(yard->world.core, node->id)) {
        largest = node->slots_milli > largest ? node->slots_milli : largest;
        total += node->slots_milli;
    }
    return dice_once_in(&yard->world.dice, 2)
               ? yard_spec("default", largest / SLOT_MILLI, 1)
               : yard_spec("default", 1, (uint32_t)(total / SLOT_MILLI));
}

static int64_t run_once(uint64_t seed)
{
    struct yard *yard = calloc(1, sizeof *yard);
    must(yard != NULL);
    yard_begin(yard, seed, seed % COMPARED_ONCE_IN == 0 ? WORLD_TRIPLE : WORLD_ALONE);
    const bool short_first = yard_make(yard);
    while (yard->world.now_ms < WARM_UP_MS) {
        yard_tick(yard, small_tasks_arrive);
    }
    const struct task_spec spec = large_roll(yard);
    yard->large = yard_submit(yard, &spec);
    while (query_pool_named(yard->world.core, "default")->reserved[0].task.v != yard->large.v &&
           query_task(yard->world.core, yard->large)->active_count == 0) {
        yard_tick(yard, small_tasks_arrive); /* those ahead of it go first */
    }
    const int64_t begin_ms = yard->world.now_ms;
    /* Where short ones go first: half of its expected length more, and once the length of what was expected to end. */
    const int64_t more_ms = short_first ? YARD_LENGTH_MS_MAX / 2 + YARD_LENGTH_MS_MAX : 0;
    const int64_t limit_ms = yard->patience_ms + more_ms + YARD_LENGTH_MS_MAX + 2 * YARD_TICK_MS;
    tape_does(&yard->world, "starts-by", yard->large.v, (uint64_t)(begin_ms + limit_ms));
    tape_done(&yard->world);
    while (query_task(yard->world.core, yard->large)->active_count == 0) {
        yard_tick(yard, small_tasks_arrive);
        law(yard->world.now_ms - begin_ms <= limit_ms, "P7: nobody starves");
    }
    const int64_t waited_ms = yard->world.now_ms - begin_ms;
    world_done(&yard->world);
    free(yard);
    return waited_ms;
}

int main(int argc, char **argv)
{
    return yard_main(argc, argv, RUNS_DEFAULT, run_once);
}
