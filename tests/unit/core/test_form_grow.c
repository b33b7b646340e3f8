/* test_form_grow.c - what of a gang comes next, and what goes first, by how many of each group there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/form_grow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct arena arena;

/* A group of a form: what it is part of, how many instances it has (0: groups) and needs (0: all), and the slots of each. */
struct line {
    uint32_t parent;
    uint32_t count;
    uint32_t min;
    int64_t slots;
};

static struct form *form_of(const struct line *lines, uint32_t count)
{
    struct form *form = form_new(&arena, count);
    for (uint32_t i = 0; i < count; i++) {
        form->groups[i].parent = lines[i].parent;
        form->groups[i].count = lines[i].count;
        form->groups[i].min = lines[i].min;
        form->groups[i].request.slots_milli = lines[i].slots;
    }
    assert_true(form_link(form));
    return form;
}

#define FORM(...)                                                                                  \
    form_of((const struct line[]){__VA_ARGS__},                                                    \
            sizeof((const struct line[]){__VA_ARGS__}) / sizeof(struct line))
#define HAVE(...) (&(const struct form_have){{__VA_ARGS__}})

/* The choice is these, by group; none: there is no such choice. */
static void next_is(const struct form *form, const struct form_have *have, uint32_t choice,
                    const struct form_have *expected)
{
    struct form_have more;
    const bool any = form_grow_next(form, have, choice, &more);
    assert_int_equal(any, expected != NULL);
    for (uint32_t i = 0; expected != NULL && i < form->group_count; i++) {
        assert_int_equal(more.at[i], expected->at[i]);
    }
}

/* Of these, all of which stay, that goes first. */
static void first_to_go(const struct form *form, const struct form_have *have,
                        const struct form_have *expected)
{
    struct form_have less;
    uint32_t group;
    const bool any = form_grow_shrink(form, have, have, &less, &group);
    assert_int_equal(any, expected != NULL);
    for (uint32_t i = 0; expected != NULL && i < form->group_count; i++) {
        assert_int_equal(less.at[i], expected->at[i]);
    }
}

static void the_minimum_comes_together(void **state)
{
    (void)state;
    const struct form *form = FORM({0}, {0, 3, 1, 1}, {0, 6, 2, 1});
    assert_int_equal(form_min(form), 3);
    assert_true(form_grow_elastic(form));
    next_is(form, HAVE(0), 0, HAVE(0, 1, 2));
    next_is(form, HAVE(0), 1, NULL);
    next_is(form, HAVE(0, 1, 1), 0, HAVE(0, 0, 1));
    assert_false(form_grow_whole(form, HAVE(0, 3, 1)));
    assert_true(form_grow_whole(form, HAVE(0, 1, 2)));
}

static void then_the_one_that_has_least_above_it(void **state)
{
    (void)state;
    const struct form *form = FORM({0}, {0, 3, 1, 1}, {0, 6, 2, 1});
    next_is(form, HAVE(0, 1, 2), 0, HAVE(0, 1, 0));
    next_is(form, HAVE(0, 1, 2), 1, HAVE(0, 0, 1));
    next_is(form, HAVE(0, 1, 2), 2, NULL);
    next_is(form, HAVE(0, 2, 2), 0, HAVE(0, 0, 1));
    next_is(form, HAVE(0, 2, 3), 0, HAVE(0, 0, 1));
    next_is(form, HAVE(0, 2, 4), 0, HAVE(0, 1, 0));
    next_is(form, HAVE(0, 3, 6), 0, NULL);
}

static void it_goes_the_other_way_round(void **state)
{
    (void)state;
    const struct form *form = FORM({0}, {0, 3, 1, 1}, {0, 6, 2, 1});
    first_to_go(form, HAVE(0, 3, 6), HAVE(0, 0, 1));
    first_to_go(form, HAVE(0, 3, 5), HAVE(0, 1, 0));
    first_to_go(form, HAVE(0, 1, 3), HAVE(0, 0, 1));
    first_to_go(form, HAVE(0, 1, 2), NULL);
    first_to_go(form, HAVE(0, 1, 1), NULL);
}

static void a_group_that_is_not_needed_comes_whole(void **state)
{
    (void)state;
    /* one of two replicas: a leader of 2 slots and workers of 1, of which two are needed */
    const struct form *form =
        FORM({0, 0, 1, 0}, {0}, {1, 1, 0, 2}, {1, 4, 2, 1}, {0}, {4, 1, 0, 2}, {4, 4, 2, 1});
    assert_int_equal(form_min(form), 3);
    next_is(form, HAVE(0), 0, HAVE(0, 0, 1, 2));
    next_is(form, HAVE(0), 1, NULL); /* the other one is alike */
    next_is(form, HAVE(0, 0, 1, 2), 0, HAVE(0, 0, 0, 0, 0, 1, 2));
    next_is(form, HAVE(0, 0, 1, 2), 1, HAVE(0, 0, 0, 1));
    first_to_go(form, HAVE(0, 0, 1, 2, 0, 1, 3), HAVE(0, 0, 0, 0, 0, 0, 1));
    first_to_go(form, HAVE(0, 0, 1, 2, 0, 1, 2), HAVE(0, 0, 0, 0, 0, 1, 2));
    first_to_go(form, HAVE(0, 0, 1, 2), NULL);
}

static void groups_that_differ_are_tried_in_turn(void **state)
{
    (void)state;
    const struct form *form = FORM({0, 0, 2, 0}, {0, 1, 0, 8}, {0, 2, 0, 1}, {0, 1, 0, 4});
    assert_int_equal(form_min(form), 2);
    next_is(form, HAVE(0), 0, HAVE(0, 1, 2, 0));
    next_is(form, HAVE(0), 1, HAVE(0, 0, 2, 1));
    next_is(form, HAVE(0), 2, HAVE(0, 1, 0, 1));
    next_is(form, HAVE(0), 3, NULL);
    /* one that has begun comes first */
    next_is(form, HAVE(0, 0, 1, 0), 0, HAVE(0, 1, 1, 0));
    next_is(form, HAVE(0, 0, 1, 0), 1, HAVE(0, 0, 1, 1));
}

/* How many of two groups are tried as the first, of which the gang needs one. */
static uint32_t tried(const struct form *form)
{
    struct form_have more;
    uint32_t choices = 0;
    while (form_grow_next(form, HAVE(0), choices, &more)) {
        choices++;
    }
    return choices;
}

/* One of two groups of a leader and two workers; the second is a copy, which a case may change. */
static struct form *two_replicas(void)
{
    return FORM({0, 0, 1, 0}, {0}, {1, 1, 0, 2}, {1, 2, 0, 1}, {0}, {4, 1, 0, 2}, {4, 2, 0, 1});
}

static void groups_are_alike_in_everything_or_they_differ(void **state)
{
    (void)state;
    assert_int_equal(tried(two_replicas()), 1);
    struct form *form = two_replicas();
    form->groups[6].request.cpu_milli = 1;
    assert_int_equal(tried(form), 2);
    form = two_replicas();
    form->groups[1].required[0] = 'r';
    assert_int_equal(tried(form), 2);
    form = two_replicas();
    form->groups[5].required[0] = 'r';
    assert_int_equal(tried(form), 2);
    form = two_replicas();
    form->groups[3].preferred[0] = 'r';
    assert_int_equal(tried(form), 2);
    /* another count, another minimum of instances, another minimum of groups */
    form = FORM({0, 0, 1, 0}, {0}, {1, 1, 0, 2}, {1, 2, 2, 1}, {0}, {4, 1, 0, 2}, {4, 3, 2, 1});
    assert_int_equal(tried(form), 2);
    form = FORM({0, 0, 1, 0}, {0}, {1, 1, 0, 2}, {1, 2, 1, 1}, {0}, {4, 1, 0, 2}, {4, 2, 2, 1});
    assert_int_equal(tried(form), 2);
    /* one leaf more; as many groups, one deeper */
    form = FORM({0, 0, 1, 0}, {0}, {1, 1, 0, 1}, {0}, {3, 1, 0, 1}, {3, 1, 0, 1});
    assert_int_equal(tried(form), 2);
    form = FORM({0, 0, 1, 0}, {0}, {1, 0, 0, 0}, {2, 1, 0, 1}, {1, 1, 0, 1}, {0}, {5, 0, 0, 0},
                {6, 1, 0, 1}, {6, 1, 0, 1});
    assert_int_equal(tried(form), 2);
}

static void of_fresh_groups_that_are_alike_only_the_first_comes_next(void **state)
{
    (void)state;
    const struct form *form =
        FORM({0, 0, 1, 0}, {0, 1, 0, 1}, {0, 2, 0, 1}, {0, 2, 0, 1}, {0, 3, 0, 1}, {0, 2, 0, 1});
    next_is(form, HAVE(0, 1), 0, HAVE(0, 0, 2));
    next_is(form, HAVE(0, 1), 1, HAVE(0, 0, 0, 0, 3));
    next_is(form, HAVE(0, 1), 2, NULL);
    /* groups that have begun come first, each of them, though they are alike */
    next_is(form, HAVE(0, 1, 0, 1, 0, 1), 0, HAVE(0, 0, 0, 1));
    next_is(form, HAVE(0, 1, 0, 1, 0, 1), 1, HAVE(0, 0, 0, 0, 0, 1));
    next_is(form, HAVE(0, 1, 0, 1, 0, 1), 2, HAVE(0, 0, 2));
    next_is(form, HAVE(0, 1, 0, 1, 0, 1), 3, HAVE(0, 0, 0, 0, 3));
    next_is(form, HAVE(0, 1, 0, 1, 0, 1), 4, NULL);
}

/* What goes of a group is what stays of it, in each group below, and nothing of its neighbours. */
static void a_whole_group_goes_with_all_below_it(void **state)
{
    (void)state;
    const struct form *form = FORM({0, 0, 1, 0}, {0}, {1, 1, 0, 2}, {1, 2, 0, 1}, {0}, {4, 1, 0, 2},
                                   {4, 2, 0, 1}, {0, 2, 0, 1});
    struct form_have less;
    uint32_t group;
    const struct form_have *full = HAVE(0, 0, 1, 2, 0, 1, 2, 2);
    const struct form_have *stays = HAVE(0, 0, 1, 2, 0, 1, 1, 0);
    assert_true(form_grow_shrink(form, full, stays, &less, &group));
    assert_int_equal(group, 4);
    const uint32_t expected[] = {0, 0, 0, 0, 0, 1, 1, 0};
    for (uint32_t i = 0; i < form->group_count; i++) {
        assert_int_equal(less.at[i], expected[i]);
    }
    /* of a broken group, too */
    const struct form_have *lost = HAVE(0, 0, 1, 2, 0, 0, 2, 2);
    assert_true(form_grow_shrink(form, lost, HAVE(0, 0, 1, 2, 0, 0, 2, 2), &less, &group));
    assert_int_equal(group, 4);
    assert_int_equal(less.at[5], 0);
    assert_int_equal(less.at[6], 2);
    assert_int_equal(less.at[7], 0);
}

/* ---- random forms ---- */

static uint32_t dice_now;

static uint32_t dice(uint32_t count)
{
    dice_now = dice_now * 1103515245u + 12345u;
    return (dice_now >> 16) % count;
}

/* Departments of replicas of leaves, with minimums at random. */
static struct form *random_form(void)
{
    struct line lines[TASK_GROUPS_MAX] = {{0, 0, 0, 0}};
    uint32_t count = 1;
    const uint32_t tops = 1 + dice(3);
    for (uint32_t top = 0; top < tops; top++) {
        const uint32_t parent = count++;
        const uint32_t leaves = dice(4);
        lines[parent] = (struct line){0, leaves == 0 ? 1 + dice(4) : 0, dice(2), 1};
        for (uint32_t leaf = 0; leaf < leaves; leaf++) {
            const uint32_t instances = 1 + dice(4);
            lines[count++] = (struct line){parent, instances, dice(instances + 1), 1 + dice(2)};
        }
    }
    lines[0].min = dice(tops + 1);
    return form_of(lines, count);
}

/* From nothing to all of the gang by any choice: no step leaves a group incomplete, and no two choices of a whole gang are the same. */
static void any_choice_leads_to_the_full_gang(void **state)
{
    (void)state;
    for (dice_now = 1; dice_now < 400; dice_now += 1) {
        const uint32_t seed = dice_now;
        const struct form *form = random_form();
        const uint32_t none = form->group_count;
        struct form_have have = {{0}};
        struct form_have more[FORM_CHOICES_MAX + TASK_GROUPS_MAX];
        uint32_t choices;
        do {
            for (choices = 0; form_grow_next(form, &have, choices, &more[choices]); choices++) {
                for (uint32_t i = 0; form_grow_whole(form, &have) && i < choices; i++) {
                    assert_memory_not_equal(&more[i], &more[choices], sizeof more[i]);
                }
            }
            assert_true(choices > 0 || form_grow_whole(form, &have));
            const uint32_t choice = choices > 0 ? dice(choices) : 0;
            for (uint32_t i = 0; choices > 0 && i < form->group_count; i++) {
                have.at[i] += more[choice].at[i];
                assert_true(form->groups[i].below == 0 || have.at[i] == 0);
                assert_true(have.at[i] <= form->groups[i].count);
            }
            assert_true(form_grow_whole(form, &have));
            assert_int_equal(form_grow_broken(form, &have, &have, none), none);
        } while (choices > 0);
        for (uint32_t i = 0; i < form->group_count; i++) {
            assert_int_equal(have.at[i], form->groups[i].below > 0 ? 0 : form->groups[i].count);
        }
        dice_now = seed;
    }
}

/* And back: the gang stays whole to the last step, and then nothing is left above a minimum. */
static void the_way_back_ends_at_the_minimums(void **state)
{
    (void)state;
    for (dice_now = 1; dice_now < 400; dice_now += 1) {
        const uint32_t seed = dice_now;
        const struct form *form = random_form();
        struct form_have have = {{0}};
        struct form_have less;
        uint32_t group;
        for (uint32_t i = 0; i < form->group_count; i++) {
            have.at[i] = form->groups[i].below > 0 ? 0 : form->groups[i].count;
        }
        while (form_grow_shrink(form, &have, &have, &less, &group)) {
            uint32_t gone = 0;
            for (uint32_t i = 0; i < form->group_count; i++) {
                assert_true(less.at[i] <= have.at[i]);
                assert_true(less.at[i] == 0 || (i >= group && i < form->groups[group].end));
                have.at[i] -= less.at[i];
                gone += less.at[i];
            }
            assert_true(gone > 0);
            assert_true(form_grow_whole(form, &have));
        }
        uint32_t left = 0;
        for (uint32_t i = 0; i < form->group_count; i++) {
            assert_true(have.at[i] == 0 || have.at[i] == form->groups[i].min);
            left += have.at[i];
        }
        assert_true(left >= form_min(form));
        dice_now = seed;
    }
}

static void a_form_is_elastic_where_any_group_needs_less_than_all(void **state)
{
    (void)state;
    assert_false(form_grow_elastic(FORM({0}, {0, 2, 0, 1}, {0, 3, 3, 1})));
    assert_true(form_grow_elastic(FORM({0}, {0, 2, 0, 1}, {0, 3, 2, 1})));
    assert_true(form_grow_elastic(FORM({0, 0, 1, 0}, {0, 2, 0, 1}, {0, 3, 0, 1})));
    assert_false(form_grow_elastic(FORM({0}, {0}, {1, 3, 0, 1}))); /* a group of one group */
    assert_true(form_grow_elastic(FORM({0}, {0}, {1, 3, 1, 1})));
    assert_false(form_grow_elastic(FORM({0, 3, 1, 1}))); /* not grouped: the task's own minimum */
}

static void a_group_has_begun_when_any_group_below_has(void **state)
{
    (void)state;
    const struct form *form =
        FORM({0, 0, 1, 0}, {0}, {1, 1, 0, 2}, {1, 2, 0, 1}, {0}, {4, 1, 0, 3}, {4, 2, 0, 1});
    next_is(form, HAVE(0, 0, 0, 0, 0, 1, 0), 0, HAVE(0, 0, 0, 0, 0, 0, 2));
    next_is(form, HAVE(0, 0, 0, 0, 0, 0, 1), 0, HAVE(0, 0, 0, 0, 0, 1, 1));
    /* of a group of one group the instances below do not count as groups */
    const struct form *one = FORM({0}, {0}, {1, 2, 2, 1});
    assert_false(form_grow_whole(one, HAVE(0, 0, 1)));
    assert_true(form_grow_whole(one, HAVE(0, 0, 2)));
    next_is(one, HAVE(0, 0, 1), 0, HAVE(0, 0, 1));
}

static void a_broken_group_is_found(void **state)
{
    (void)state;
    const struct form *form = FORM({0, 0, 1, 0}, {0, 2, 0, 1}, {0, 2, 0, 1});
    const uint32_t none = form->group_count;
    assert_int_equal(form_grow_broken(form, HAVE(0, 2, 2), HAVE(0, 2, 2), none), none);
    assert_int_equal(form_grow_broken(form, HAVE(0, 2, 1), HAVE(0, 2, 1), none), 2);
    assert_int_equal(form_grow_broken(form, HAVE(0, 2, 1), HAVE(0, 2, 1), 2), none);
    assert_int_equal(form_grow_broken(form, HAVE(0, 2, 1), HAVE(0, 2, 0), none),
                     none); /* nobody stays */
    assert_int_equal(form_grow_broken(form, HAVE(0, 1, 1), HAVE(0, 1, 1), none), 0);
    first_to_go(form, HAVE(0, 2, 1), HAVE(0, 0, 1));
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_minimum_comes_together),
        TEST(then_the_one_that_has_least_above_it),
        TEST(it_goes_the_other_way_round),
        TEST(a_group_that_is_not_needed_comes_whole),
        TEST(groups_that_differ_are_tried_in_turn),
        TEST(a_broken_group_is_found),
        TEST(groups_are_alike_in_everything_or_they_differ),
        TEST(a_form_is_elastic_where_any_group_needs_less_than_all),
        TEST(a_group_has_begun_when_any_group_below_has),
        TEST(of_fresh_groups_that_are_alike_only_the_first_comes_next),
        TEST(a_whole_group_goes_with_all_below_it),
        TEST(any_choice_leads_to_the_full_gang),
        TEST(the_way_back_ends_at_the_minimums),
    };
    return cmocka_run_group_tests_name("form_grow", tests, NULL, NULL);
}
