/* test_fairshare.c - the division by worked examples: remainders, bands, and whole organisations of two levels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/fairshare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { SLOT = 1000, ALL = -1, HUNGRY = 200, TEAMS_MAX = 8 };

/* In whole slots; the weight in whole numbers. */
struct party {
    int64_t guaranteed;
    int64_t limit;
    uint32_t weight;
    int64_t demand;
    uint32_t rank;
    int64_t expected;
};

static int64_t slots(int64_t whole)
{
    return whole == ALL ? SHARE_UNLIMITED : whole * SLOT;
}

/* Divides and compares; the results are in order of age. */
static int64_t divide(const char *what, const struct party *parties, size_t count, int64_t total)
{
    struct fairshare siblings[TEAMS_MAX] = {0};
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < count; i++) {
        siblings[i] = (struct fairshare){
            .guaranteed = slots(parties[i].guaranteed),
            .limit = slots(parties[i].limit),
            .demand = slots(parties[i].demand),
            .weight = parties[i].weight * 1000,
            .rank = parties[i].rank,
            .order = i,
        };
    }
    const int64_t left = fairshare_divide(siblings, count, total * SLOT, SLOT, 0, &arena);
    for (size_t i = 0; i < count; i++) {
        if (siblings[i].share != parties[i].expected * SLOT) {
            print_message("%s: party %zu gets %lld thousandths\n", what, i,
                          (long long)siblings[i].share);
        }
        assert_int_equal(siblings[i].share, parties[i].expected * SLOT);
    }
    arena_done(&arena);
    return left / SLOT;
}

/* The least weight that there is still counts, beside one that is larger and alone. */
static void a_thousandth_is_a_weight(void **state)
{
    (void)state;
    struct fairshare siblings[] = {
        {.limit = SHARE_UNLIMITED, .demand = 20 * SLOT, .weight = 1, .order = 0},
        {.limit = SHARE_UNLIMITED, .demand = 20 * SLOT, .weight = 3, .order = 1},
    };
    struct arena arena;
    arena_init(&arena);
    (void)fairshare_divide(siblings, 2, 8 * SLOT, SLOT, 0, &arena);
    assert_int_equal(siblings[0].share, 2 * SLOT);
    assert_int_equal(siblings[1].share, 6 * SLOT);
    (void)fairshare_divide(siblings, 1, 8 * SLOT, SLOT, 0, &arena);
    assert_int_equal(siblings[0].share, 8 * SLOT);
    arena_done(&arena);
}

static void the_spare_unit_goes_to_the_oldest_of_equals(void **state)
{
    (void)state;
    const struct party thirds[] = {
        {0, ALL, 1, HUNGRY, 0, 4}, {0, ALL, 1, HUNGRY, 0, 3}, {0, ALL, 1, HUNGRY, 0, 3}};
    assert_int_equal(divide("thirds", thirds, 3, 10), 0);
}

static void the_spare_unit_goes_to_the_larger_remainder(void **state)
{
    (void)state;
    const struct party parts[] = {{0, ALL, 1, HUNGRY, 0, 3}, {0, ALL, 2, HUNGRY, 0, 7}};
    assert_int_equal(divide("one to two", parts, 2, 10), 0);
}

static void what_a_satisfied_one_leaves_is_divided_again(void **state)
{
    (void)state;
    const struct party parts[] = {
        {2, ALL, 1, 3, 0, 3}, {2, ALL, 1, HUNGRY, 0, 3}, {2, ALL, 2, HUNGRY, 0, 6}};
    assert_int_equal(divide("two rounds", parts, 3, 12), 0);
}

static void a_higher_rank_is_served_before_weights_count(void **state)
{
    (void)state;
    const struct party parts[] = {{2, ALL, 1, 4, 200, 4}, {2, ALL, 100, HUNGRY, 100, 6}};
    assert_int_equal(divide("bands", parts, 2, 10), 0);
}

static void what_nobody_wants_is_left(void **state)
{
    (void)state;
    const struct party parts[] = {{2, ALL, 1, 1, 0, 1}, {2, 3, 1, HUNGRY, 0, 3}};
    assert_int_equal(divide("left", parts, 2, 10), 6);
}

static void promises_beyond_the_pool_stand_and_nothing_else_is_given(void **state)
{
    (void)state;
    const struct party parts[] = {
        {6, ALL, 1, HUNGRY, 0, 6}, {6, ALL, 1, HUNGRY, 0, 6}, {0, ALL, 1, HUNGRY, 0, 0}};
    assert_int_equal(divide("too many promises", parts, 3, 10), 0);
}

static void a_heavy_past_shifts_weight_to_the_light_user(void **state)
{
    (void)state;
    struct fairshare siblings[] = {
        {.limit = SHARE_UNLIMITED,
         .demand = HUNGRY * SLOT,
         .weight = 1000,
         .usage = 600000,
         .order = 0},
        {.limit = SHARE_UNLIMITED,
         .demand = HUNGRY * SLOT,
         .weight = 1000,
         .usage = 100000,
         .order = 1},
    };
    struct arena arena;
    arena_init(&arena);
    assert_int_equal(fairshare_divide(siblings, 2, 16 * SLOT, SLOT, 1000, &arena), 0);
    assert_int_equal(siblings[0].share, 5 * SLOT);
    assert_int_equal(siblings[1].share, 11 * SLOT);
    arena_done(&arena);
}

enum { DEPARTMENTS = 2, PROJECTS = 4 };

/* Two departments of up to four projects; a department's demand is its projects'. */
struct organisation {
    const char *what;
    int64_t total;
    struct party departments[DEPARTMENTS];
    struct party projects[DEPARTMENTS][PROJECTS];
};

static void organisation_check(const struct organisation *row)
{
    struct party departments[DEPARTMENTS];
    memcpy(departments, row->departments, sizeof departments);
    for (size_t d = 0; d < DEPARTMENTS; d++) {
        for (size_t p = 0; p < PROJECTS; p++) {
            departments[d].demand += row->projects[d][p].demand;
        }
    }
    (void)divide(row->what, departments, DEPARTMENTS, row->total);
    for (size_t d = 0; d < DEPARTMENTS; d++) {
        (void)divide(row->what, row->projects[d], PROJECTS, departments[d].expected);
    }
}

/* A department of the first stage: 20 guaranteed; a project: 5. Weights are the guarantees. */
#define RND(share)                                                                                 \
    {                                                                                              \
        20, ALL, 20, 0, 0, share                                                                   \
    }
#define MLOPS(share)                                                                               \
    {                                                                                              \
        20, 20, 20, 0, 0, share                                                                    \
    }
#define RND_TEAM(wants, share)                                                                     \
    {                                                                                              \
        5, ALL, 5, wants, 0, share                                                                 \
    }
#define MLOPS_TEAM(wants, share)                                                                   \
    {                                                                                              \
        5, 5, 5, wants, 0, share                                                                   \
    }

static const struct organisation ONE_POOL[] = {
    {"everyone wants 200",
     80,
     {RND(60), MLOPS(20)},
     {{RND_TEAM(200, 15), RND_TEAM(200, 15), RND_TEAM(200, 15), RND_TEAM(200, 15)},
      {MLOPS_TEAM(200, 5), MLOPS_TEAM(200, 5), MLOPS_TEAM(200, 5), MLOPS_TEAM(200, 5)}}},
    {"only r&d1 wants 100", 80, {RND(80), MLOPS(0)}, {{RND_TEAM(100, 80)}, {{0}}}},
    {"r&d1 and r&d2 want 80 each",
     80,
     {RND(80), MLOPS(0)},
     {{RND_TEAM(80, 40), RND_TEAM(80, 40)}, {{0}}}},
    {"r&d1 wants 80, every mlo wants 5",
     80,
     {RND(60), MLOPS(20)},
     {{RND_TEAM(80, 60)},
      {MLOPS_TEAM(5, 5), MLOPS_TEAM(5, 5), MLOPS_TEAM(5, 5), MLOPS_TEAM(5, 5)}}},
    {"r&d1-3 want 80 each, mlo1 wants 5",
     80,
     {RND(75), MLOPS(5)},
     {{RND_TEAM(80, 25), RND_TEAM(80, 25), RND_TEAM(80, 25)}, {MLOPS_TEAM(5, 5)}}},
    {"everyone wants 200, borrowing on for all",
     80,
     {RND(40), RND(40)},
     {{RND_TEAM(200, 10), RND_TEAM(200, 10), RND_TEAM(200, 10), RND_TEAM(200, 10)},
      {RND_TEAM(200, 10), RND_TEAM(200, 10), RND_TEAM(200, 10), RND_TEAM(200, 10)}}},
    {"step 2: mlo1 wants 4", 80, {RND(76), MLOPS(4)}, {{RND_TEAM(80, 76)}, {MLOPS_TEAM(4, 4)}}},
    {"step 3: mlo1 wants 9, may have 5",
     80,
     {RND(71), MLOPS(9)},
     {{RND_TEAM(80, 71)}, {MLOPS_TEAM(9, 5)}}},
    {"step 6: a blocked request is demand",
     80,
     {RND(60), MLOPS(20)},
     {{RND_TEAM(80, 25), RND_TEAM(80, 24), RND_TEAM(11, 11)},
      {MLOPS_TEAM(9, 5), MLOPS_TEAM(4, 4), MLOPS_TEAM(4, 4), MLOPS_TEAM(4, 4)}}},
    {"step 7: r&d1 is gone",
     80,
     {RND(60), MLOPS(20)},
     {{RND_TEAM(0, 0), RND_TEAM(80, 49), RND_TEAM(11, 11)},
      {MLOPS_TEAM(9, 5), MLOPS_TEAM(4, 4), MLOPS_TEAM(4, 4), MLOPS_TEAM(4, 4)}}},
    {"120 slots, still one pool",
     120,
     {RND(100), MLOPS(20)},
     {{RND_TEAM(200, 25), RND_TEAM(200, 25), RND_TEAM(200, 25), RND_TEAM(200, 25)},
      {MLOPS_TEAM(200, 5), MLOPS_TEAM(200, 5), MLOPS_TEAM(200, 5), MLOPS_TEAM(200, 5)}}},
};

static void one_pool_for_two_departments(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ONE_POOL / sizeof ONE_POOL[0]; i++) {
        organisation_check(&ONE_POOL[i]);
    }
}

/* The pool of 20 that r&d was promised 5 of: {guaranteed, limit, weight, demand, rank, share}. */
static const struct organisation NEW_POOL[] = {
    {"weights as guarantees, the other department closed",
     20,
     {{5, ALL, 5, 0, 0, 20}, {0, 0, 0, 0, 0, 0}},
     {{{2, ALL, 2, 200, 0, 8},
       {2, ALL, 2, 200, 0, 8},
       {1, ALL, 1, 200, 0, 4},
       {0, ALL, 0, 200, 0, 0}},
      {{0, 0, 0, 200, 0, 0}}}},
    {"one weight for all",
     20,
     {{5, ALL, 5, 0, 0, 20}, {0, 0, 0, 0, 0, 0}},
     {{{2, ALL, 2, 200, 0, 6},
       {2, ALL, 2, 200, 0, 6},
       {1, ALL, 2, 200, 0, 5},
       {0, ALL, 2, 200, 0, 3}},
      {{0, 0, 0, 200, 0, 0}}}},
    {"both departments borrow with one weight",
     20,
     {{5, ALL, 2, 0, 0, 13}, {0, ALL, 2, 0, 0, 7}},
     {{{2, ALL, 2, 200, 0, 4},
       {2, ALL, 2, 200, 0, 4},
       {1, ALL, 2, 200, 0, 3},
       {0, ALL, 2, 200, 0, 2}},
      {{0, ALL, 2, 200, 0, 2},
       {0, ALL, 2, 200, 0, 2},
       {0, ALL, 2, 200, 0, 2},
       {0, ALL, 2, 200, 0, 1}}}},
    {"a department's weight is its guarantee",
     20,
     {{5, ALL, 5, 0, 0, 20}, {0, ALL, 0, 0, 0, 0}},
     {{{2, ALL, 2, 200, 0, 6},
       {2, ALL, 2, 200, 0, 6},
       {1, ALL, 2, 200, 0, 5},
       {0, ALL, 2, 200, 0, 3}},
      {{0, ALL, 2, 200, 0, 0},
       {0, ALL, 2, 200, 0, 0},
       {0, ALL, 2, 200, 0, 0},
       {0, ALL, 2, 200, 0, 0}}}},
    {"only mlo1 wants something",
     20,
     {{5, ALL, 2, 0, 0, 0}, {0, ALL, 2, 0, 0, 20}},
     {{{2, ALL, 2, 0, 0, 0}}, {{0, ALL, 2, 20, 0, 20}}}},
    {"then r&d1 wants 2",
     20,
     {{5, ALL, 2, 0, 0, 2}, {0, ALL, 2, 0, 0, 18}},
     {{{2, ALL, 2, 2, 0, 2}}, {{0, ALL, 2, 20, 0, 18}}}},
    {"then r&d1 wants 20",
     20,
     {{5, ALL, 2, 0, 0, 13}, {0, ALL, 2, 0, 0, 7}},
     {{{2, ALL, 2, 20, 0, 13}}, {{0, ALL, 2, 20, 0, 7}}}},
    {"four times the guarantees: no surplus",
     20,
     {{20, ALL, 20, 0, 0, 20}, {0, ALL, 2, 0, 0, 0}},
     {{{8, ALL, 8, 200, 0, 8},
       {8, ALL, 8, 200, 0, 8},
       {4, ALL, 4, 200, 0, 4},
       {0, ALL, 2, 200, 0, 0}},
      {{0}}}},
};

static void a_new_pool_lent_and_taken_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof NEW_POOL / sizeof NEW_POOL[0]; i++) {
        organisation_check(&NEW_POOL[i]);
    }
}

/* Five projects, everyone hungry; weights 1 to 3, a department's is its guarantee; a project that may not borrow has its
 * guarantee as limit. */
static const struct organisation THREE_POOLS[] = {
    {"pool A",
     40,
     {{16, ALL, 16, 0, 0, 19}, {18, ALL, 18, 0, 0, 21}},
     {{{10, ALL, 2, 200, 0, 11}, {6, ALL, 3, 200, 0, 8}, {0, ALL, 1, 200, 0, 0}},
      {{12, ALL, 1, 200, 0, 13}, {6, ALL, 3, 200, 0, 8}}}},
    {"pool B",
     72,
     {{48, ALL, 48, 0, 0, 48}, {24, ALL, 24, 0, 0, 24}},
     {{{20, ALL, 2, 200, 0, 20}, {28, ALL, 2, 200, 0, 28}, {0, ALL, 1, 200, 0, 0}},
      {{20, ALL, 1, 200, 0, 20}, {4, ALL, 3, 200, 0, 4}}}},
    {"pool C",
     24,
     {{24, ALL, 24, 0, 0, 24}, {0, ALL, 0, 0, 0, 0}},
     {{{14, 14, 0, 200, 0, 14}, {10, ALL, 1, 200, 0, 10}, {0, 0, 0, 200, 0, 0}},
      {{0, 0, 0, 200, 0, 0}, {0, 0, 0, 200, 0, 0}}}},
};

static void five_projects_in_three_pools(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof THREE_POOLS / sizeof THREE_POOLS[0]; i++) {
        organisation_check(&THREE_POOLS[i]);
    }
    const struct party flat[] = {
        {10, ALL, 2, HUNGRY, 0, 17}, {6, ALL, 3, HUNGRY, 0, 16}, {0, ALL, 1, HUNGRY, 0, 3}};
    assert_int_equal(divide("one level", flat, 3, 36), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousandth_is_a_weight),
        cmocka_unit_test(the_spare_unit_goes_to_the_oldest_of_equals),
        cmocka_unit_test(the_spare_unit_goes_to_the_larger_remainder),
        cmocka_unit_test(what_a_satisfied_one_leaves_is_divided_again),
        cmocka_unit_test(a_higher_rank_is_served_before_weights_count),
        cmocka_unit_test(what_nobody_wants_is_left),
        cmocka_unit_test(promises_beyond_the_pool_stand_and_nothing_else_is_given),
        cmocka_unit_test(a_heavy_past_shifts_weight_to_the_light_user),
        cmocka_unit_test(one_pool_for_two_departments),
        cmocka_unit_test(a_new_pool_lent_and_taken_back),
        cmocka_unit_test(five_projects_in_three_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
