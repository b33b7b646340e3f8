/* level.c - classes of siblings, the rounds of a division over classes, and the remainders.
 *
 * A part of the pot is pot * weight / (W * unit), where W is the sum of the weights in the round. The bounds of fairshare.h keep
 * W * unit below 2^42 and weight below 2^20, so quotient and rest fit 64 bits and no step divides a number of 128 bits.
 * Sums of wants wrap modulo 2^64. Only sums of satisfied wants are read, and these are at most the pot.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/level.h"

#include "base/must.h"
#include "base/sort.h"
#include "core/sched/order/fairshare.h"

#include <string.h>

void level_init(struct level *level, int64_t unit)
{
    must(unit > 0);
    *level = (struct level){.unit = unit};
}

void level_done(struct level *level)
{
    for (size_t i = 0; i < level->classes.count; i++) {
        ranked_done(&level->classes.at[i].wants);
        ranked_done(&level->classes.at[i].poor);
    }
    vec_done(&level->classes);
    vec_done(&level->sorted);
    vec_done(&level->set);
    ranked_done(&level->open);
}

/* ---- seats and classes ---- */

/* The place of the class of this rank and weight, or the place where the class belongs. */
static size_t class_place(const struct level *level, uint32_t rank, uint32_t weight)
{
    size_t from = 0;
    size_t to = level->classes.count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const struct level_class *at = &level->classes.at[middle];
        if (at->rank != rank ? at->rank > rank : at->weight < weight) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static struct level_class *class_get(struct level *level, uint32_t rank, uint32_t weight)
{
    const size_t place = class_place(level, rank, weight);
    struct level_class *at = place < level->classes.count ? &level->classes.at[place] : NULL;
    if (at != NULL && at->rank == rank && at->weight == weight) {
        return at;
    }
    vec_reserve(&level->classes, 1);
    at = &level->classes.at[place];
    memmove(at + 1, at, (level->classes.count - place) * sizeof *at);
    level->classes.count++;
    *at = (struct level_class){.rank = rank, .weight = weight};
    return at;
}

static void class_drop(struct level *level, struct level_class *class)
{
    struct level_class *end = level->classes.at + level->classes.count;
    must(class->poor.count == 0);
    ranked_done(&class->wants);
    ranked_done(&class->poor);
    memmove(class, class + 1, (size_t)(end - class - 1) * sizeof *class);
    level->classes.count--;
}

static bool seat_divides(const struct level_seat *seat)
{
    return !seat->open && seat->most > 0 && seat->weight > 0;
}

static void seat_leave(struct level *level, struct level_seat *seat, uint32_t index)
{
    level->promised -= seat->open ? seat->most : seat->base;
    if (seat->open) {
        ranked_remove(&level->open, seat->most, index);
    } else if (seat_divides(seat)) {
        struct level_class *class = class_get(level, seat->rank, seat->weight);
        ranked_remove(&class->wants, seat->most, index);
        if (seat->most > class->reach) {
            ranked_remove(&class->poor, seat->order, index);
        }
        if (class->wants.count == 0) {
            class_drop(level, class);
        }
    }
    *seat = (struct level_seat){.taken = false};
}

static void seat_take(struct level *level, struct level_seat *seat, uint32_t index)
{
    level->promised += seat->open ? seat->most : seat->base;
    if (seat->open) {
        ranked_add(&level->open, seat->most, index);
    } else if (seat_divides(seat)) {
        struct level_class *class = class_get(level, seat->rank, seat->weight);
        ranked_add(&class->wants, seat->most, index);
        if (seat->most > class->reach) {
            ranked_add(&class->poor, seat->order, index);
        }
    }
}

bool level_set(struct level *level, struct level_seat *seats, uint32_t index,
               const struct level_claim *claim)
{
    struct level_seat next = {.taken = false};
    if (claim != NULL) {
        const bool limited = claim->limit != SHARE_UNLIMITED && claim->limit < claim->demand;
        const int64_t cap = limited ? claim->limit : claim->demand;
        must(cap >= 0);
        next = (struct level_seat){.taken = true,
                                   .open = claim->guaranteed == SHARE_UNLIMITED,
                                   .order = claim->order,
                                   .weight = claim->weight,
                                   .rank = claim->rank};
        must(next.open || claim->guaranteed >= 0);
        next.base = next.open ? 0 : claim->guaranteed < cap ? claim->guaranteed : cap;
        next.most = cap - next.base;
    }
    struct level_seat *seat = &seats[index];
    if (seat->taken && next.taken && seat->open == next.open && seat->base == next.base &&
        seat->most == next.most && seat->order == next.order && seat->weight == next.weight &&
        seat->rank == next.rank) {
        return false;
    }
    if (seat->taken) {
        seat_leave(level, seat, index);
    }
    *seat = next;
    if (next.taken) {
        seat_take(level, seat, index);
        vec_push(&level->set, index);
    }
    return true;
}

/* ---- the rounds of a band ---- */

/* What one class gets of the pot in a round. */
struct level_part {
    int64_t amount;   /* rounded down */
    int64_t in_units; /* rounded down to whole units */
    uint64_t over;    /* over / (W * unit) of a unit is lost by rounding to units */
    bool exact;       /* `amount` is not rounded */
};

static struct level_part part_of(int64_t pot, uint32_t weight, uint64_t weight_sum, int64_t unit)
{
    const uint64_t under = weight_sum * (uint64_t)unit;
    must(weight_sum <= (uint64_t)FAIRSHARE_SIBLINGS_MAX * FAIRSHARE_WEIGHT_MAX);
    must(weight <= FAIRSHARE_WEIGHT_MAX);
    const uint64_t rest = (uint64_t)pot % under * weight;
    const uint64_t units = (uint64_t)pot / under * weight + rest / under;
    const uint64_t small = (uint64_t)pot % weight_sum * weight;
    return (struct level_part){
        .amount = (int64_t)((uint64_t)pot / weight_sum * weight + small / weight_sum),
        .in_units = (int64_t)units * unit,
        .over = rest % under,
        .exact = small % weight_sum == 0,
    };
}

static uint32_t class_left(const struct level_class *class)
{
    return class->wants.count - class->met.count;
}

/* Gives a class its part of the pot. True: the demand of a sibling is met with less than its part. */
static bool class_give(struct level_class *class, const struct level_part *part, int64_t *surplus)
{
    const int64_t reach = class->next_gift + part->amount;
    bool again = false;
    if (reach > class->next_reach) {
        const struct ranked_sum met = ranked_upto(&class->wants, reach);
        const uint32_t more = met.count - class->met.count;
        const uint64_t wanted = met.sum - class->met.sum - more * (uint64_t) class->next_gift;
        again = more > 0 &&
                (!part->exact || ranked_upto(&class->wants, reach - 1).count > class->met.count);
        *surplus -= (int64_t)wanted;
        class->met = met;
        class->next_reach = reach;
    }
    *surplus -= class_left(class) * part->in_units;
    must(*surplus >= 0); /* all parts of a round together are at most the pot */
    class->next_gift += part->in_units;
    return again;
}

/* Runs one round of the band of classes from `first` to before `end`. True: another round may give more. */
static bool round_run(struct level *level, size_t first, size_t end, int64_t *surplus)
{
    uint64_t weight_sum = 0;
    for (size_t i = first; i < end; i++) {
        const struct level_class *class = &level->classes.at[i];
        weight_sum += (uint64_t) class->weight * class_left(class);
    }
    if (weight_sum == 0) {
        return false;
    }
    const int64_t pot = *surplus;
    bool again = false;
    must(pot > 0);
    for (size_t i = first; i < end; i++) {
        struct level_class *class = &level->classes.at[i];
        if (class_left(class) == 0) {
            continue;
        }
        const struct level_part part = part_of(pot, class->weight, weight_sum, level->unit);
        again |= class_give(class, &part, surplus);
        if (part.over > 0) {
            class->over = part.over;
            class->under = weight_sum * (uint64_t)level->unit;
        }
    }
    return again && *surplus > 0;
}

static size_t band_end(const struct level *level, size_t first)
{
    size_t end = first;
    while (end < level->classes.count &&
           level->classes.at[end].rank == level->classes.at[first].rank) {
        end++;
    }
    return end;
}

/* ---- what changed ---- */

static void changed_walk(const struct ranked *list, uint32_t place, int64_t upto,
                         level_list *changed)
{
    for (; place != RANKED_NONE && list->at[place].key <= upto;
         place = list->at[place].links[0].to) {
        vec_push(changed, list->at[place].id);
    }
}

/* Takes over reach and gift of the division, and notes all siblings whose shares depend on the difference. */
static void class_settle(struct level_class *class, const struct level_seat *seats,
                         level_list *changed)
{
    const int64_t before = class->reach;
    const int64_t after = class->next_reach;
    const int64_t low = before < after ? before : after;
    const int64_t high = before < after ? after : before;
    for (uint32_t place = low < high ? ranked_above(&class->wants, low) : RANKED_NONE;
         place != RANKED_NONE && class->wants.at[place].key <= high;
         place = class->wants.at[place].links[0].to) {
        const uint32_t index = class->wants.at[place].id;
        (after > before ? ranked_remove : ranked_add)(&class->poor, seats[index].order, index);
        vec_push(changed, index);
    }
    if (class->gift != class->next_gift) {
        changed_walk(&class->poor, ranked_above(&class->poor, -1), INT64_MAX, changed);
    }
    class->reach = after;
    class->gift = class->next_gift;
}

/* Sets which siblings of the class get one unit more. */
static void class_oldest(struct level_class *class, uint64_t oldest, int64_t last,
                         level_list *changed)
{
    if (class->oldest == oldest && class->last == last) {
        return;
    }
    const uint64_t low = class->oldest < oldest ? class->oldest : oldest;
    const uint64_t high = class->oldest < oldest ? oldest : class->oldest;
    changed_walk(&class->poor, ranked_above(&class->poor, (int64_t)low - 1), (int64_t)high,
                 changed);
    class->oldest = oldest;
    class->last = last;
}

/* ---- the remainders ---- */

#define ALL_ORDERS ((uint64_t)1 << 32) /* above the order of every sibling */

static int remainder_compare(const struct level_class *a, const struct level_class *b)
{
    const unsigned __int128 left = (unsigned __int128)a->over * b->under;
    const unsigned __int128 right = (unsigned __int128)b->over * a->under;
    return left < right ? -1 : left > right;
}

static int remainder_order(const void *left, const void *right)
{
    struct level_class *const *a = left;
    struct level_class *const *b = right;
    const int by_size = remainder_compare(*b, *a);
    return by_size != 0 ? by_size
                        : ((*a)->weight < (*b)->weight ? -1 : (*a)->weight > (*b)->weight);
}

/* Sorts the classes of a band that have a remainder, the largest remainder first. */
static void band_sort(struct level *level, size_t first, size_t end)
{
    vec_clear(&level->sorted);
    for (size_t i = first; i < end; i++) {
        struct level_class *class = &level->classes.at[i];
        if (class->under > 0 && class->poor.count > 0) {
            vec_push(&level->sorted, class);
        }
    }
    if (level->sorted.count > 1) {
        sort_items(level->sorted.at, level->sorted.count, sizeof level->sorted.at[0],
                   remainder_order);
    }
}

/* The order of the sibling with `before` older siblings in the classes sorted[from] to before sorted[to]. */
static uint64_t order_nth(const struct level *level, size_t from, size_t to, uint32_t before)
{
    uint64_t low = 0;
    uint64_t high = ALL_ORDERS;
    if (to - from == 1) {
        const struct ranked *poor = &level->sorted.at[from]->poor;
        return (uint64_t)poor->at[ranked_nth(poor, before)].key;
    }
    while (low < high) { /* the lowest order that has more than `before` siblings up to it */
        const uint64_t middle = low + (high - low) / 2;
        uint32_t count = 0;
        for (size_t i = from; i < to; i++) {
            count += ranked_upto(&level->sorted.at[i]->poor, (int64_t)middle).count;
        }
        if (count > before) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Gives at most one unit to each sibling of the band that has a remainder. Returns what is left of the surplus. */
static int64_t band_remainders(struct level *level, size_t first, size_t end, int64_t surplus,
                               level_list *changed)
{
    band_sort(level, first, end);
    for (size_t from = 0; from < level->sorted.count;) {
        const struct level_class *one = level->sorted.at[from];
        uint64_t count = 0;
        size_t to = from;
        for (; to < level->sorted.count; to++) {
            const struct level_class *next = level->sorted.at[to];
            if (remainder_compare(one, next) != 0) {
                break;
            }
            count += next->poor.count;
        }
        const uint64_t units = (uint64_t)(surplus / level->unit);
        const bool all = units >= count;
        const uint64_t oldest = all           ? ALL_ORDERS
                                : surplus > 0 ? order_nth(level, from, to, (uint32_t)units)
                                              : 0;
        const int64_t last = all ? 0 : surplus % level->unit;
        surplus = all ? surplus - (int64_t)count * level->unit : 0;
        for (; from < to; from++) {
            class_oldest(level->sorted.at[from], oldest, last, changed);
        }
    }
    return surplus;
}

/* ---- the division ---- */

/* Gives the surplus, band by band. Returns what is left for remainders. */
static int64_t bands_run(struct level *level, int64_t surplus)
{
    for (size_t i = 0; i < level->classes.count; i++) {
        struct level_class *class = &level->classes.at[i];
        class->next_reach = 0;
        class->next_gift = 0;
        class->met = (struct ranked_sum){0, 0};
        class->over = 0;
        class->under = 0;
    }
    for (size_t first = 0; first < level->classes.count && surplus > 0;) {
        const size_t end = band_end(level, first);
        while (round_run(level, first, end, &surplus)) {
        }
        first = end;
    }
    return surplus;
}

void level_divide(struct level *level, const struct level_seat *seats, int64_t total,
                  level_list *changed)
{
    must(total >= 0);
    for (size_t i = 0; i < level->set.count; i++) {
        vec_push(changed, level->set.at[i]);
    }
    vec_clear(&level->set);
    if (level->total != total) {
        const int64_t least = level->total < total ? level->total : total;
        changed_walk(&level->open, ranked_above(&level->open, least), INT64_MAX, changed);
        level->total = total;
    }
    int64_t surplus = level->promised < total ? (int64_t)(total - level->promised) : 0;
    surplus = bands_run(level, surplus);
    for (size_t first = 0; first < level->classes.count;) {
        const size_t end = band_end(level, first);
        for (size_t i = first; i < end; i++) {
            struct level_class *class = &level->classes.at[i];
            class_settle(class, seats, changed);
            if (class->under == 0) {
                class_oldest(class, 0, 0, changed);
            }
        }
        surplus = band_remainders(level, first, end, surplus, changed);
        first = end;
    }
}

int64_t level_share(const struct level *level, const struct level_seat *seat)
{
    must(seat->taken);
    if (seat->open) {
        return seat->most < level->total ? seat->most : level->total;
    }
    const size_t place = class_place(level, seat->rank, seat->weight);
    if (!seat_divides(seat)) {
        return seat->base;
    }
    must(place < level->classes.count);
    const struct level_class *class = &level->classes.at[place];
    if (seat->most <= class->reach) {
        return seat->base + seat->most;
    }
    const int64_t more = seat->order < class->oldest    ? level->unit
                         : seat->order == class->oldest ? class->last
                                                        : 0;
    return seat->base + class->gift + more;
}
