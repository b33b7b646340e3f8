/* world.h - three cores that live through the same history: one as in service, one with caches
 * off, one that is written out and read back. Every input goes to all three, and they must agree
 * to the byte (P12).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "core/core.h"
#include "encoded.h"
#include "law.h"
#include "ledger.h"
#include "oracle.h"
#include "oracle_budget.h"
#include "record.h"

/* Random numbers from a seed: the same on every machine. */
struct dice {
    uint64_t state;
};
uint64_t rng_next(struct dice *dice);
/* Returns 0 .. count - 1. */
uint32_t dice_roll(struct dice *dice, uint32_t count);
/* True once in `count` times. */
bool dice_once_in(struct dice *dice, uint32_t count);

/* How closely the three cores are compared. Decisions are always compared to the byte. The
 * restarted core is restarted after every few steps or after each fact; the latter takes most of
 * the time. */
enum world_kind {
    WORLD_ALONE, /* only the first core is used */
    WORLD_TRIPLE,
    WORLD_THOROUGH,
};

/* Laws that a program checks beside those of every world. A recorded history is played with the same laws. */
enum world_laws {
    LAWS_SUBMISSIONS = 1, /* history_submitted() */
    LAWS_TICKS = 2,       /* oracle_gangs_in_time() after a tick */
    LAWS_GANGS = 4,       /* rest_gangs() after a pass */
    LAWS_TURNS = 8,       /* oracle_turns() after a pass */
};

struct tape;

struct world {
    uint64_t seed;
    struct tape *tape;    /* the history as it is recorded; NULL: it is not */
    uint32_t laws;        /* bits of enum world_laws */
    struct record record; /* what was decided */
    struct encoded encoded;
    struct dice dice;
    struct dice saves;    /* of checkpoints alone */
    struct dice launches; /* of launches alone */
    struct dice lists;    /* of tasks with several pools alone */
    struct dice lives;    /* of the life cycle of pools alone */
    struct core *core;
    struct core *plain;     /* caches off */
    struct core *restarted; /* encoded and decoded again and again */
    enum world_kind kind;
    uint64_t steps;
    bool calm;    /* one pool, few faults: queues and reservations last */
    bool living;  /* pools are closed, deleted and restored */
    bool elastic; /* many gangs have groups that run with fewer than all instances */
    bool listing; /* many tasks name several pools */
    /* Projects with guarantees and mostly plain tasks, which reclaim from each other. */
    bool lending;
    uint32_t work_max; /* most work of a pass while a pool settles */
    int64_t now_ms;
    uint64_t fact_count;
    uint64_t evicted_count; /* facts of evictions */
    uint64_t settled_count; /* how often a pool came to rest and stayed so */
    struct ledger ledger;   /* sums of the first core, made when a law needs them */
    struct oracle_budgets budgets;
    struct oracle_turns turns;
    struct map *attempts; /* "task.index" -> the newest attempt allocated (P11) */
    struct arena arena;   /* cleared for each step: inputs and facts */
    struct facts facts;   /* facts of the last input */
    struct buf bytes[4];
    uint32_t names;
    uint8_t supervisors; /* supervisors used so far */
};

void world_init(struct world *world, uint64_t seed, enum world_kind kind);
/* Compares what was decided with the record of earlier builds. */
void world_done(struct world *world);

/* Takes one input through decide and apply. Checks the core after every fact. The facts stay
 * until the next step. */
enum verdict world_step(struct world *world, struct input in);

/* Returns the verdict only; changes nothing. */
enum verdict world_ask(struct world *world, struct input in, struct reason *ret);

/* Runs passes over one pool until nothing is left to do, and checks the laws of a pool at rest. */
void world_settle(struct world *world, pool_id pool);
