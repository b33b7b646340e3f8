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
        TEST(the_minimum_comes_together),           TEST(then_the_one_that_has_least_above_it),
        TEST(it_goes_the_other_way_round),          TEST(a_group_that_is_not_needed_comes_whole),
        TEST(groups_that_differ_are_tried_in_turn), TEST(a_broken_group_is_found),
    };
    return cmocka_run_group_tests_name("form_grow", tests, NULL, NULL);
}
