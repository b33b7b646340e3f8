/* fairshare.c - the division of an amount among siblings, in rounds.
 *
 * A round divides a pot. A sibling's part of the pot is s / S, where s = max(0, w/W + k (w/W - usage)), w is the sibling's weight,
 * W the sum of all weights in the round, and S the sum of all s. The code multiplies s by W and by the scales of k and usage, so s is
 * an integer. Only the result is rounded, down to whole units. The bounds of fairshare.h keep every product below 2^127:
 * amounts < 2^57, s < 2^56, S < 2^68.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/fairshare.h"

#include "base/checked.h"
#include "base/must.h"

typedef unsigned __int128 u128;

enum { K_SCALE = 1000 };

/* What rounding took from a sibling in the sibling's last round: `over / under` of a unit, less than one unit. */
struct remainder {
    u128 over;
    u128 under; /* 0: rounding took nothing */
};

struct share_round {
    struct fairshare *siblings;
    size_t count;
    uint32_t rank; /* the band of this round: only siblings of this rank get something */
    uint32_t k;
    int64_t unit;
    int64_t pot;            /* the surplus when the round began */
    int64_t surplus;        /* what is left of the surplus */
    struct remainder *left; /* per sibling */
};

static int64_t cap(const struct fairshare *one)
{
    return one->limit != SHARE_UNLIMITED && one->limit < one->demand ? one->limit : one->demand;
}

static int64_t want(const struct fairshare *one)
{
    int64_t most = cap(one);
    return most > one->share ? i64_sub(most, one->share) : 0;
}

static bool in_round(const struct share_round *round, const struct fairshare *one)
{
    return one->rank == round->rank && want(one) > 0;
}

/* The sum W of the weights in this round. */
static uint64_t weights(const struct share_round *round)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < round->count; i++) {
        sum += in_round(round, &round->siblings[i]) ? round->siblings[i].weight : 0;
    }
    return sum;
}

/* The number s of the file head, multiplied by W (`weight_sum`), K_SCALE and FAIRSHARE_USAGE_FULL. */
static u128 part(const struct share_round *round, const struct fairshare *one, uint64_t weight_sum)
{
    u128 plus = (u128)one->weight * (K_SCALE + round->k) * FAIRSHARE_USAGE_FULL;
    u128 minus = (u128)round->k * (uint64_t)one->usage * weight_sum;
    return plus > minus ? plus - minus : 0;
}

/* Gives one sibling its part of the pot. True: the sibling's demand is met with less than its part, so the rest is left to others. */
static bool give(struct share_round *round, size_t index, u128 s, u128 sum)
{
    must(index < round->count);
    must(s <= sum);
    must(sum > 0);
    struct fairshare *one = &round->siblings[index];
    const int64_t wanted = want(one);
    const u128 product = (u128)(uint64_t)round->pot * s;
    const u128 needed = (u128)(uint64_t)wanted * sum;
    int64_t given = wanted;
    if (needed > product) {
        const u128 denominator = sum * (uint64_t)round->unit;
        const u128 units = product / denominator;
        given = (int64_t)units * round->unit;
        const u128 over = product % denominator;
        if (over > 0) {
            round->left[index].over = over;
            round->left[index].under = denominator;
        }
    } else {
        round->left[index] = (struct remainder){0, 0};
    }
    one->share = i64_add(one->share, given);
    round->surplus = i64_sub(round->surplus, given);
    must(round->surplus >= 0); /* all parts of a round together are at most the pot */
    return needed < product && given > 0;
}

/* Runs one round of one band. True: another round may give more to a sibling. */
static bool round_run(struct share_round *round, u128 *parts)
{
    must(round->surplus > 0);
    const uint64_t weight_sum = weights(round);
    u128 sum = 0;
    for (size_t i = 0; i < round->count; i++) {
        const struct fairshare *one = &round->siblings[i];
        parts[i] = one->weight > 0 && in_round(round, one) ? part(round, one, weight_sum) : 0;
        sum += parts[i];
    }
    if (weight_sum == 0 || sum == 0) {
        return false;
    }
    bool again = false;
    round->pot = round->surplus;
    for (size_t i = 0; i < round->count; i++) {
        const struct fairshare *one = &round->siblings[i];
        if (one->weight > 0 && in_round(round, one)) {
            again |= give(round, i, parts[i], sum);
        }
    }
    return again && round->surplus > 0;
}

/* Compares two remainders: above 0 if `x` is larger, below 0 if `y` is larger. The comparison expands both as continued fractions,
 * because the cross products could overflow. */
static int remainder_compare(struct remainder x, struct remainder y)
{
    must(x.under > 0);
    must(y.under > 0);
    int sign = 1;
    for (;;) {
        const u128 a = x.over / x.under;
        const u128 b = y.over / y.under;
        if (a != b) {
            return a > b ? sign : -sign;
        }
        x.over -= a * x.under;
        y.over -= b * y.under;
        if (x.over == 0 || y.over == 0) {
            return x.over == y.over ? 0 : (x.over > 0 ? sign : -sign);
        }
        /* Both fractions are now below 1. The larger fraction has the smaller reciprocal. */
        x = (struct remainder){x.under, x.over};
        y = (struct remainder){y.under, y.over};
        sign = -sign;
    }
}

/* Does sibling `a` get a unit for its remainder before sibling `b`? The larger remainder is first, then the older sibling. */
static bool before(const struct share_round *round, size_t a, size_t b)
{
    const int by_size = remainder_compare(round->left[a], round->left[b]);
    return by_size != 0 ? by_size > 0 : round->siblings[a].order < round->siblings[b].order;
}

/* The index of the band's sibling with the largest remainder, or `count` if no sibling of the band has a remainder. */
static size_t remainder_first(const struct share_round *round)
{
    size_t best = round->count;
    for (size_t i = 0; i < round->count; i++) {
        const bool here = round->left[i].under > 0 && round->siblings[i].rank == round->rank;
        if (here && (best == round->count || before(round, i, best))) {
            best = i;
        }
    }
    return best;
}

/* Gives at most one unit to each sibling of the band that has a remainder, the largest remainder first. */
static void remainders_give(struct share_round *round)
{
    size_t index;
    while (round->surplus > 0 && (index = remainder_first(round)) < round->count) {
        const int64_t given = round->surplus < round->unit ? round->surplus : round->unit;
        round->siblings[index].share = i64_add(round->siblings[index].share, given);
        round->surplus = i64_sub(round->surplus, given);
        round->left[index].under = 0;
    }
}

/* Sets `*rank` to the next lower rank of a sibling, with `first` to the highest rank. False: there is no such rank. */
static bool band_next(const struct share_round *round, bool first, uint32_t *rank)
{
    bool found = false;
    uint32_t best = 0;
    for (size_t i = 0; i < round->count; i++) {
        const uint32_t own = round->siblings[i].rank;
        if ((first || own < *rank) && (!found || own > best)) {
            best = own;
            found = true;
        }
    }
    *rank = best;
    return found;
}

int64_t fairshare_surplus(struct fairshare *siblings, size_t count, int64_t surplus, int64_t unit,
                          uint32_t k, struct arena *scratch)
{
    must(count <= FAIRSHARE_SIBLINGS_MAX);
    must(k <= FAIRSHARE_K_MAX);
    must(unit > 0);
    struct share_round round = {
        .siblings = siblings,
        .count = count,
        .k = k,
        .unit = unit,
        .surplus = surplus,
        .left = arena_new(scratch, struct remainder, count),
    };
    u128 *parts = arena_new(scratch, u128, count);
    for (bool more = band_next(&round, true, &round.rank); more && round.surplus > 0;
         more = band_next(&round, false, &round.rank)) {
        while (round_run(&round, parts)) {
        }
    }
    for (bool more = band_next(&round, true, &round.rank); more && round.surplus > 0;
         more = band_next(&round, false, &round.rank)) {
        remainders_give(&round);
    }
    return round.surplus;
}

int64_t fairshare_divide(struct fairshare *siblings, size_t count, int64_t total, int64_t unit,
                         uint32_t k, struct arena *scratch)
{
    must(total >= 0);
    int64_t surplus = total;
    for (size_t i = 0; i < count; i++) {
        struct fairshare *one = &siblings[i];
        const int64_t promised = one->guaranteed == SHARE_UNLIMITED ? total : one->guaranteed;
        const int64_t most = cap(one);
        one->share = promised < most ? promised : most;
        must(one->share >= 0);
        /* Once the surplus is used up, subtracting more guarantees could only overflow. */
        surplus = surplus > 0 ? i64_sub(surplus, one->share) : surplus;
    }
    if (surplus <= 0) {
        return 0;
    }
    return fairshare_surplus(siblings, count, surplus, unit, k, scratch);
}
