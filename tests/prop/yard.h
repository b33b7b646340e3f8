/* yard.h - the pool `default` kept busy with small tasks of bounded length, in which a large one must start in time (P7): what
 * prop_patience and prop_turns have in common. Time is virtual.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

enum {
    YARD_LENGTH_MS_MAX = 4000, /* of a small task */
    YARD_TICK_MS = 250,
    YARD_TASKS_MAX = 20000,
};

struct yard {
    struct world world;
    int64_t patience_ms;
    int64_t
        ends_ms[YARD_TASKS_MAX]; /* by task: when it will end by itself; 0: it has not started */
    task_id large;               /* runs until the end, once it has started */
};

/* A server that has started. */
void yard_begin(struct yard *yard, uint64_t seed, enum world_kind kind);

/* Draws the pool's patience; yard_pool() sets it. */
void yard_patience(struct yard *yard);

/* The pool becomes this; names, patience and what matters to neither are filled in. */
void yard_pool(struct yard *yard, struct pool_spec spec);

/* One more node joins. */
void yard_node(struct yard *yard, uint32_t number, int64_t slots);

/* A repeatable task of the project; several instances are a gang. */
struct task_spec yard_spec(const char *project, int64_t slots, uint32_t instances);
task_id yard_submit(struct yard *yard, const struct task_spec *spec);

/* A moment passes: what was allocated starts, what has run its time or was told to stop ends, and others arrive; then passes until one
 * is complete. */
void yard_tick(struct yard *yard, void (*arrive)(struct yard *yard));

/* Runs as many as were asked for, each of which gives how long the large task waited, and tells the longest wait. */
int yard_main(int argc, char **argv, uint64_t runs, int64_t (*run_once)(uint64_t seed));
