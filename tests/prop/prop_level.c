/* prop_level.c - the kept division gives the integers of the reference. Random siblings join, leave and change. After every change
 * core/sched/order/level.c must give each sibling the share that fairshare_divide() gives, and must have named every sibling whose
 * share changed. WEIR_SEED repeats a run, WEIR_HISTORIES sets the number of families of siblings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/fairshare.h"
#include "core/sched/order/level.h"
#include "prop_run.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FAMILIES_DEFAULT = 4000, SIBLINGS_MAX = 60, STEPS = 40 };

/* How large the numbers of a family are. */
struct family {
    uint32_t siblings;
    uint32_t weights; /* different weights, at most 5 */
    uint32_t ranks;
    uint64_t most; /* of guarantees, limits and demands */
    int64_t unit;
    bool open; /* some guarantees are unlimited */
};

struct sibling {
    struct level_claim claim;
    int64_t share; /* after the last division */
};

static int64_t amount(struct dice *dice, const struct family *family)
{
    const uint64_t value = rng_next(dice) % (family->most + 1);
    return (int64_t)(dice_once_in(dice, 3) ? value : value / 1000 * 1000);
}

static void claim_roll(struct dice *dice, const struct family *family, uint32_t order,
                       struct level_claim *ret)
{
    static const uint32_t weights[] = {1000, 2000, 1, FAIRSHARE_WEIGHT_MAX, 0};
    *ret = (struct level_claim){
        .guaranteed = dice_once_in(dice, 2) ? 0 : amount(dice, family) / 8,
        .limit = dice_once_in(dice, 4) ? amount(dice, family) : SHARE_UNLIMITED,
        .demand = amount(dice, family),
        .order = order,
        .weight = weights[dice_roll(dice, family->weights)],
        .rank = dice_roll(dice, family->ranks),
    };
    if (family->open && dice_once_in(dice, 2)) {
        ret->guaranteed = SHARE_UNLIMITED;
    }
}

static void family_roll(struct dice *dice, struct family *ret)
{
    static const uint64_t sizes[] = {4, 1500, 20000, 1000000, (uint64_t)1 << 56};
    *ret = (struct family){
        .siblings = 1 + dice_roll(dice, SIBLINGS_MAX),
        .weights = 1 + dice_roll(dice, 5),
        .ranks = 1 + dice_roll(dice, 2),
        .most = sizes[dice_roll(dice, 5)],
        .unit = dice_once_in(dice, 3) ? 1 : 1000,
        .open = dice_once_in(dice, 4),
    };
}

/* Compares all shares with the reference. `named` says which siblings the kept division named or the step changed. */
static void family_check(const struct level *level, const struct level_seat *seats,
                         struct sibling *siblings, const bool *named, const struct family *family)
{
    struct fairshare reference[SIBLINGS_MAX];
    uint32_t index[SIBLINGS_MAX];
    uint32_t count = 0;
    struct arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; i < family->siblings; i++) {
        const struct level_claim *claim = &siblings[i].claim;
        if (seats[i].taken) {
            index[count] = i;
            reference[count++] = (struct fairshare){.guaranteed = claim->guaranteed,
                                                    .limit = claim->limit,
                                                    .demand = claim->demand,
                                                    .order = claim->order,
                                                    .weight = claim->weight,
                                                    .rank = claim->rank};
        }
    }
    (void)fairshare_divide(reference, count, level->total, family->unit, 0, &arena);
    for (uint32_t i = 0; i < count; i++) {
        struct sibling *one = &siblings[index[i]];
        const int64_t share = level_share(level, &seats[index[i]]);
        law(share == reference[i].share, "the kept share is the share of the reference");
        law(share == one->share || named[index[i]], "a changed share is named");
        one->share = share;
    }
    arena_done(&arena);
}

static void family_live(struct dice *dice)
{
    struct family family;
    struct sibling siblings[SIBLINGS_MAX] = {0};
    struct level_seat seats[SIBLINGS_MAX] = {0};
    struct level level;
    level_list changed = {0};
    int64_t total = 0;
    family_roll(dice, &family);
    level_init(&level, family.unit);
    for (uint32_t step = 0; step < STEPS; step++) {
        bool named[SIBLINGS_MAX] = {false};
        uint32_t changes = dice_once_in(dice, 4) ? dice_roll(dice, family.siblings + 1) : 1;
        for (; changes > 0; changes--) {
            const uint32_t at = dice_roll(dice, family.siblings);
            const bool leaves = dice_once_in(dice, 4);
            claim_roll(dice, &family, 2 * at + 1, &siblings[at].claim);
            level_set(&level, seats, at, leaves ? NULL : &siblings[at].claim);
            named[at] = true;
        }
        if (step == 0 || dice_once_in(dice, 5)) {
            total = amount(dice, &family) / 2 * (1 + dice_roll(dice, 8)) / 4;
        }
        vec_clear(&changed);
        level_divide(&level, seats, total, &changed);
        for (size_t i = 0; i < changed.count; i++) {
            named[changed.at[i]] = true;
        }
        family_check(&level, seats, siblings, named, &family);
    }
    level_done(&level);
    vec_done(&changed);
}

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, FAMILIES_DEFAULT);
    for (uint64_t i = 0; i < run.histories; i++) {
        struct dice dice = {run.seed + i + 1};
        prop_history(run.seed + i);
        family_live(&dice);
    }
    printf("%" PRIu64 " families of siblings\n", run.histories);
    return 0;
}
