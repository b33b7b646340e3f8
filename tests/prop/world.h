/* world.h - three cores that live through the same history: one as in service, one with caches off,
 * one that is written out and read back. Every input goes to all of them, and they must agree to the
 * byte (P12). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "core/core.h"
#include "law.h"
#include "ledger.h"
#include "record.h"

/* Numbers from a seed: the same on every machine. */
struct dice {
    uint64_t state;
};
uint64_t rng_next(struct dice *dice);
/* 0 .. count - 1. */
uint32_t dice_roll(struct dice *dice, uint32_t count);
/* True once in `count` times. */
bool dice_once_in(struct dice *dice, uint32_t count);

/* How closely the three are compared: decisions always, to the byte; states with a restart after every few steps, or after
 * each fact, which costs most of the time. */
enum world_kind {
    WORLD_ALONE, /* only the first lives */
    WORLD_TRIPLE,
    WORLD_THOROUGH,
};

struct world {
    uint64_t seed;
    struct record record; /* what was decided */
    struct dice dice;
    struct dice saves;    /* of checkpoints alone */
    struct dice launches; /* of launches alone */
    struct core *core;
    struct core *plain;     /* caches off */
    struct core *restarted; /* decoded again and again */
    enum world_kind kind;
    uint64_t steps;
    bool calm;         /* one pool, few faults: queues and reservations last */
    bool elastic;      /* many gangs have groups of which not all is needed */
    bool lending;      /* projects with guarantees, mostly plain tasks: they take from each other */
    uint32_t work_max; /* of a pass while a pool settles, at most */
    int64_t now_ms;
    uint64_t fact_count;
    uint64_t evicted_count; /* facts of evictions */
    uint64_t settled_count; /* times a pool came to rest and stayed there */
    struct ledger ledger;   /* of the first core, as laws ask for it */
    struct map *attempts;   /* "task.index" -> the newest attempt allocated (P11) */
    struct arena arena;     /* of the step: inputs and facts */
    struct facts facts;     /* what the last input gave */
    struct buf bytes[4];
    uint32_t names;
    uint8_t supervisors; /* ever used */
};

void world_init(struct world *world, uint64_t seed, enum world_kind kind);
/* Compares what was decided with the record of earlier builds. */
void world_done(struct world *world);

/* One input through decide and apply, checked after every fact; the facts stay until the next. */
enum verdict world_step(struct world *world, struct input in);

/* The verdict alone; changes nothing. */
enum verdict world_ask(struct world *world, struct input in, struct reason *ret);

/* Passes over one pool until nothing is left to do; checks the laws that hold then. */
void world_settle(struct world *world, pool_id pool);
