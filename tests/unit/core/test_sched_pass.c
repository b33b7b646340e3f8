/* test_sched_pass.c - order, whole gangs, patience and budget of one pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/pass.h"

#include "sched_yard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct named_amount two_gpus[] = {{"gpu0", 1000}, {"gpu1", 1000}, {NULL, 0}};

static struct ask named(uint16_t resource, int64_t milli)
{
    return (struct ask){.named = {{{resource}, milli}}};
}

static void tasks_that_fit_pass_those_that_do_not(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 5000);
    yard_node(&yard, 0, 0, two_gpus);
    const task_id aaa = yard_task(&yard, named(GPU0, 1000));
    const task_id bbb = yard_task(&yard, named(GPU0, 1000));
    const task_id ccc = yard_task(&yard, (struct ask){.named = {{{GPU0}, 1000}, {{GPU1}, 1000}}});
    const task_id ddd = yard_task(&yard, named(GPU1, 1000));
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, aaa), 1);
    assert_int_equal(yard_active(&yard, bbb), 0);
    assert_int_equal(yard_active(&yard, ccc), 0);
    assert_int_equal(yard_active(&yard, ddd), 1);
    yard_done(&yard);
}

/* Tasks of a second each, a new one every half second, two at a time: without a reservation there
 * would never be room for the task that needs both places. */
static void a_blocked_task_starts_after_patience_and_one_task(void **state)
{
    (void)state;
    enum { PATIENCE_MS = 5000, LENGTH_MS = 1000, EVERY_MS = 500, SMALL_MAX = 200 };
    static const struct named_amount amounts[] = {{"gpu0", 1000}, {"gpu1", 2000}, {NULL, 0}};
    struct yard yard;
    yard_init(&yard, PATIENCE_MS);
    yard_node(&yard, 0, 0, amounts);
    task_id small[SMALL_MAX] = {yard_task(&yard, named(GPU1, 1000))};
    size_t count = 1;
    yard_passes(&yard);
    const task_id ccc = yard_task(&yard, (struct ask){.named = {{{GPU0}, 1000}, {{GPU1}, 2000}}});
    yard_passes(&yard);
    const int64_t begin_ms = yard.now_ms;
    int64_t waited_ms = 0;
    for (int64_t at = EVERY_MS; at <= 60000 && yard_active(&yard, ccc) == 0; at += EVERY_MS) {
        yard.now_ms = begin_ms + at;
        waited_ms = at;
        small[count++] = yard_task(&yard, named(GPU1, 1000));
        for (size_t i = 0; i < count; i++) {
            const struct instance *instance = query_instance(yard.core, small[i], 0);
            if (yard_active(&yard, small[i]) > 0 &&
                instance->allocated_ms + LENGTH_MS <= yard.now_ms) {
                yard_end(&yard, small[i]);
            }
        }
        yard_passes(&yard);
    }
    assert_int_equal(yard_active(&yard, ccc), 1);
    assert_in_range(waited_ms, PATIENCE_MS, PATIENCE_MS + LENGTH_MS);
    yard_done(&yard);
}

static void named_amounts_are_shared_as_far_as_they_go(void **state)
{
    (void)state;
    static const struct named_amount seven[] = {{"foo", 7000}, {NULL, 0}};
    static const struct named_amount twelve[] = {{"foo", 12000}, {NULL, 0}};
    static const struct named_amount gpu[] = {{"gpu0", 24000}, {NULL, 0}};
    struct yard yard;
    yard_init(&yard, 60000);
    yard_node(&yard, 0, 0, seven);
    task_id first = yard_task(&yard, named(FOO, 5000));
    task_id second = yard_task(&yard, named(FOO, 5000));
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, first), 1);
    assert_int_equal(yard_active(&yard, second), 0);
    yard_end(&yard, first);
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, second), 1);
    yard_node(&yard, 0, 0, twelve);
    first = yard_task(&yard, named(FOO, 5000));
    second = yard_task(&yard, named(FOO, 5000));
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, first), 1);
    assert_int_equal(yard_active(&yard, second), 1);
    yard_node(&yard, 0, 0, gpu);
    const task_id large = yard_task(&yard, named(GPU0, 16000));
    const task_id more = yard_task(&yard, named(GPU0, 16000));
    const task_id small = yard_task(&yard, named(GPU0, 8000));
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, large), 1);
    assert_int_equal(yard_active(&yard, more), 0);
    assert_int_equal(yard_active(&yard, small), 1);
    yard_done(&yard);
}

static void slots_go_to_the_fullest_node_that_fits(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    yard_node(&yard, 8, 0, NULL);
    const node_id middle = yard_node(&yard, 4, 0, NULL);
    const node_id small = yard_node(&yard, 2, 0, NULL);
    const task_id one = yard_task(&yard, (struct ask){.slots = 1000});
    const task_id three = yard_task(&yard, (struct ask){.slots = 3000});
    yard_passes(&yard);
    assert_int_equal(query_instance(yard.core, one, 0)->node.v, small.v);
    assert_int_equal(query_instance(yard.core, three, 0)->node.v, middle.v);
    yard_done(&yard);
}

static void a_gang_starts_whole_on_few_nodes_or_not_at_all(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    for (int i = 0; i < 3; i++) {
        yard_node(&yard, 0, 4, NULL);
    }
    const node_id small = yard_node(&yard, 0, 2, NULL);
    const task_id gang =
        yard_task(&yard, (struct ask){.slots = 1000, .instances = 6, .gang = true});
    const task_id large =
        yard_task(&yard, (struct ask){.slots = 2000, .instances = 5, .gang = true});
    const task_id single = yard_task(&yard, (struct ask){.slots = 4000});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, gang), 6);
    assert_int_equal(yard_active(&yard, large), 0);
    assert_int_equal(yard_active(&yard, single), 1);
    assert_int_equal(query_instance(yard.core, gang, 0)->node.v, 1);
    assert_int_equal(query_instance(yard.core, gang, 3)->node.v, 1);
    assert_int_equal(query_instance(yard.core, gang, 4)->node.v, small.v);
    assert_int_equal(query_instance(yard.core, gang, 5)->node.v, small.v);
    assert_int_equal(query_instance(yard.core, single, 0)->node.v, 2);
    yard_done(&yard);
}

static void a_pass_stops_at_its_budget_and_the_next_goes_on(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    yard_node(&yard, 8, 0, NULL);
    const task_id blocked = yard_task(&yard, (struct ask){.slots = 9000});
    const task_id array = yard_task(&yard, (struct ask){.slots = 1000, .instances = 7});
    const task_id tail = yard_task(&yard, (struct ask){.slots = 1000, .cpu = 10});
    uint32_t passes = 1;
    while (!yard_pass(&yard, 3)) {
        passes++;
        assert_in_range(passes, 1, 10);
    }
    assert_in_range(passes, 3, 10);
    assert_int_equal(yard_active(&yard, blocked), 0);
    assert_int_equal(yard_active(&yard, array), 7);
    assert_int_equal(yard_active(&yard, tail), 1);
    yard_done(&yard);
}

/* A node of 4 slots with two long tasks on it, and a task of 4 slots that holds the reservation. */
static task_id reserve(struct yard *yard, int64_t limit_ms, task_id *ret_running)
{
    yard_init(yard, 5000);
    yard_node(yard, 4, 0, NULL);
    ret_running[0] = yard_task(yard, (struct ask){.slots = 1000, .limit_ms = limit_ms});
    ret_running[1] = yard_task(yard, (struct ask){.slots = 1000, .limit_ms = limit_ms});
    yard_passes(yard);
    const task_id holder = yard_task(yard, (struct ask){.slots = 3000});
    yard_passes(yard);
    yard->now_ms += 5000;
    yard_passes(yard);
    assert_int_equal(query_pool(yard->core, (pool_id){1})->reserved[0].task.v, holder.v);
    return holder;
}

static void kept_places_take_what_does_not_delay_the_holder(void **state)
{
    (void)state;
    struct yard yard;
    task_id running[2];
    const task_id holder = reserve(&yard, 0, running);
    /* One end makes room for three slots: nothing is left beside the holder. */
    const task_id other = yard_task(&yard, (struct ask){.slots = 1000});
    const task_id brief = yard_task(&yard, (struct ask){.slots = 1000, .limit_ms = 1});
    const task_id aux = yard_task(&yard, (struct ask){.cpu = 1});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, other), 0);
    assert_int_equal(yard_active(&yard, brief), 0);
    assert_int_equal(yard_active(&yard, aux), 0);
    yard_end(&yard, running[1]);
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, holder), 1);
    assert_int_equal(query_pool(yard.core, (pool_id){1})->reserved[0].task.v, 0);
    yard_done(&yard);
}

static void a_task_that_ends_before_the_holder_starts_may_use_its_places(void **state)
{
    (void)state;
    struct yard yard;
    task_id running[2];
    const task_id holder = reserve(&yard, 20000, running);
    const task_id slow = yard_task(&yard, (struct ask){.slots = 1000, .limit_ms = 15001});
    const task_id brief = yard_task(&yard, (struct ask){.slots = 1000, .limit_ms = 15000});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, slow), 0);
    assert_int_equal(yard_active(&yard, brief), 1);
    yard_end(&yard, brief);
    yard_end(&yard, running[0]);
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, holder), 1);
    yard_done(&yard);
}

static void higher_priority_goes_ahead_of_the_holder(void **state)
{
    (void)state;
    struct yard yard;
    task_id running[2];
    const task_id holder = reserve(&yard, 0, running);
    const task_id urgent = yard_task(&yard, (struct ask){.slots = 2000, .priority = 90});
    const task_id blocked = yard_task(&yard, (struct ask){.slots = 4000, .priority = 90});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, urgent), 1);
    assert_int_equal(yard_active(&yard, holder), 0);
    const struct pool *pool = query_pool(yard.core, (pool_id){1});
    assert_int_equal(pool->reserved_count, 1);
    assert_int_equal(pool->reserved[0].task.v, holder.v);
    assert_int_equal(yard_active(&yard, blocked), 0);
    yard_done(&yard);
}

static void a_task_whose_nodes_are_away_holds_nobody_back(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 0);
    const node_id away = yard_node(&yard, 8, 0, NULL);
    yard_node(&yard, 4, 0, NULL);
    yard_node_state(&yard, away, NODE_LOST);
    const task_id large = yard_task(&yard, (struct ask){.slots = 8000});
    const task_id small = yard_task(&yard, (struct ask){.slots = 4000});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, large), 0);
    assert_int_equal(yard_active(&yard, small), 1);
    assert_int_equal(query_pool(yard.core, (pool_id){1})->reserved_count, 0);
    yard_done(&yard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_that_fit_pass_those_that_do_not),
        cmocka_unit_test(a_blocked_task_starts_after_patience_and_one_task),
        cmocka_unit_test(named_amounts_are_shared_as_far_as_they_go),
        cmocka_unit_test(slots_go_to_the_fullest_node_that_fits),
        cmocka_unit_test(a_gang_starts_whole_on_few_nodes_or_not_at_all),
        cmocka_unit_test(a_pass_stops_at_its_budget_and_the_next_goes_on),
        cmocka_unit_test(kept_places_take_what_does_not_delay_the_holder),
        cmocka_unit_test(a_task_that_ends_before_the_holder_starts_may_use_its_places),
        cmocka_unit_test(higher_priority_goes_ahead_of_the_holder),
        cmocka_unit_test(a_task_whose_nodes_are_away_holds_nobody_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
