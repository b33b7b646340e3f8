/* test_sched_explain.c - reasons, and that the change they name is the smallest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain.h"
#include "core/sched/pass.h"

#include "sched_yard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct named_amount foo_seven[] = {{"foo", 7000}, {NULL, 0}};

static struct explanation explain(const struct yard *yard, task_id task)
{
    struct explanation explanation;
    explain_task(yard->core, task, &explanation);
    return explanation;
}

static bool possible(const struct yard *yard, struct ask ask, uint32_t gang, struct reason *ret)
{
    const struct request request = yard_request(ask);
    return explain_possible(yard->core, query_pool(yard->core, (pool_id){1}), &request, gang, ret);
}

static void a_wait_names_what_is_short_and_who_holds_it(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    const task_id early = yard_task(&yard, (struct ask){.named = {{{FOO}, 5000}}});
    assert_int_equal(explain(&yard, early).reason.code, REASON_POOL_EMPTY);
    yard_node(&yard, 0, 0, foo_seven);
    assert_int_equal(explain(&yard, early).reason.code, REASON_NEXT);
    yard_passes(&yard);
    assert_int_equal(explain(&yard, early).reason.code, REASON_NONE);
    const task_id late = yard_task(&yard, (struct ask){.named = {{{FOO}, 5000}}});
    yard_passes(&yard);
    const struct explanation why = explain(&yard, late);
    assert_int_equal(why.reason.code, REASON_NO_ROOM);
    assert_int_equal(why.reason.resource.v, FOO);
    assert_int_equal(why.reason.wanted, 5000);
    assert_int_equal(why.reason.available, 2000);
    assert_int_equal(why.reason.smallest, 2000);
    assert_int_equal(why.reason.node.v, 1);
    assert_int_equal(why.nodes_total, 1);
    assert_int_equal(why.blocker_count, 1);
    assert_int_equal(why.blockers[0].v, early.v);
    const task_id changed = yard_task(&yard, (struct ask){.named = {{{FOO}, 2000}}});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, changed), 1);
    yard_done(&yard);
}

static void a_short_gang_says_how_many_places_are_free(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    yard_node(&yard, 0, 4, NULL);
    const task_id first = yard_task(&yard, (struct ask){.slots = 1000});
    yard_passes(&yard);
    const task_id gang =
        yard_task(&yard, (struct ask){.slots = 1000, .instances = 4, .gang = true});
    yard_passes(&yard);
    const struct explanation why = explain(&yard, gang);
    assert_int_equal(why.reason.code, REASON_GANG_SHORT);
    assert_int_equal(why.reason.have, 3);
    assert_int_equal(why.reason.need, 4);
    assert_int_equal(yard_active(&yard, first), 1);
    yard_done(&yard);
}

static void what_is_kept_is_said_to_be_kept(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 0);
    yard_node(&yard, 4, 0, NULL);
    const task_id running = yard_task(&yard, (struct ask){.slots = 1000});
    yard_passes(&yard);
    const task_id holder = yard_task(&yard, (struct ask){.slots = 4000});
    const task_id small = yard_task(&yard, (struct ask){.slots = 1000});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, running), 1);
    const struct explanation why = explain(&yard, small);
    assert_int_equal(why.reason.code, REASON_RESERVED);
    assert_int_equal(why.reason.task.v, holder.v);
    assert_int_equal(why.near[0].code, REASON_RESERVED);
    assert_int_equal(explain(&yard, holder).reason.code, REASON_NO_ROOM);
    yard_done(&yard);
}

static void nodes_that_are_away_are_named_as_the_reason(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    const node_id large = yard_node(&yard, 8, 0, NULL);
    yard_node(&yard, 2, 0, NULL);
    yard_node_state(&yard, large, NODE_LOST);
    const task_id task = yard_task(&yard, (struct ask){.slots = 4000});
    yard_passes(&yard);
    struct explanation why = explain(&yard, task);
    assert_int_equal(why.reason.code, REASON_NODES_AWAY);
    assert_int_equal(why.reason.have, 0);
    assert_int_equal(why.reason.need, 1);
    yard_node_state(&yard, large, NODE_REMOVED);
    why = explain(&yard, task);
    assert_int_equal(why.reason.code, REASON_TOO_LARGE);
    assert_int_equal(why.reason.smallest, 2000);
    yard_done(&yard);
}

static void too_much_of_one_thing_names_the_most_there_is(void **state)
{
    (void)state;
    struct yard yard;
    struct reason reason;
    yard_init(&yard, 60000);
    assert_true(possible(&yard, (struct ask){.slots = 99000}, 1, &reason));
    yard_node(&yard, 0, 4, NULL);
    yard_node_state(&yard, yard_node(&yard, 8, 0, foo_seven), NODE_LOST);
    assert_true(possible(&yard, (struct ask){.slots = 8000}, 1, &reason));
    assert_false(possible(&yard, (struct ask){.slots = 9000}, 1, &reason));
    assert_int_equal(reason.code, REASON_TOO_LARGE);
    assert_int_equal(reason.resource.v, RESOURCE_SLOTS);
    assert_int_equal(reason.smallest, 8000);
    assert_false(possible(&yard, (struct ask){.slots = 5000, .gpu = true}, 1, &reason));
    assert_int_equal(reason.code, REASON_TOO_LARGE);
    assert_int_equal(reason.smallest, 4000);
    assert_false(possible(&yard, (struct ask){.named = {{{FOO}, 7001}}}, 1, &reason));
    assert_int_equal(reason.code, REASON_TOO_LARGE);
    assert_int_equal(reason.smallest, 7000);
    assert_false(possible(&yard, (struct ask){.named = {{{GPU1}, 1}}}, 1, &reason));
    assert_int_equal(reason.code, REASON_UNKNOWN_RESOURCE);
    assert_string_equal(reason.text, "gpu1");
    yard_done(&yard);
}

static void amounts_that_no_node_has_together_are_a_combination(void **state)
{
    (void)state;
    struct yard yard;
    struct reason reason;
    yard_init(&yard, 60000);
    yard_node(&yard, 8, 0, NULL);
    yard_node(&yard, 2, 0, foo_seven);
    const struct ask ask = {.slots = 3000, .named = {{{FOO}, 5000}}};
    assert_false(possible(&yard, ask, 1, &reason));
    assert_int_equal(reason.code, REASON_COMBINATION);
    assert_int_equal(reason.resource.v, RESOURCE_SLOTS);
    assert_int_equal(reason.smallest, 2000);
    struct ask less = ask;
    less.slots = reason.smallest;
    assert_true(possible(&yard, less, 1, &reason));
    yard_done(&yard);
}

static void a_gang_is_refused_with_the_count_that_would_do(void **state)
{
    (void)state;
    struct yard yard;
    struct reason reason;
    yard_init(&yard, 60000);
    yard_node(&yard, 0, 4, NULL);
    yard_node(&yard, 0, 3, NULL);
    assert_true(possible(&yard, (struct ask){.slots = 2000}, 3, &reason));
    assert_false(possible(&yard, (struct ask){.slots = 2000}, 4, &reason));
    assert_int_equal(reason.code, REASON_GANG_TOO_LARGE);
    assert_int_equal(reason.smallest, 3);
    assert_int_equal(reason.have, 3);
    assert_int_equal(reason.need, 4);
    yard_done(&yard);
}

static void devices_that_no_node_has_are_refused(void **state)
{
    (void)state;
    struct yard yard;
    struct reason reason;
    yard_init(&yard, 60000);
    yard_node(&yard, 8, 0, NULL);
    assert_false(possible(&yard, (struct ask){.slots = 500, .gpu = true}, 1, &reason));
    assert_int_equal(reason.code, REASON_NO_DEVICES);
    yard_node(&yard, 0, 2, NULL);
    assert_true(possible(&yard, (struct ask){.slots = 500, .gpu = true}, 1, &reason));
    assert_true(possible(&yard, (struct ask){.slots = 2000, .devices = 3}, 1, &reason));
    assert_false(possible(&yard, (struct ask){.slots = 1000, .devices = 4}, 1, &reason));
    assert_int_equal(reason.code, REASON_NO_DEVICES);
    assert_int_equal(reason.have, 2); /* the highest index is 1 */
    yard_done(&yard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_names_what_is_short_and_who_holds_it),
        cmocka_unit_test(a_short_gang_says_how_many_places_are_free),
        cmocka_unit_test(what_is_kept_is_said_to_be_kept),
        cmocka_unit_test(nodes_that_are_away_are_named_as_the_reason),
        cmocka_unit_test(too_much_of_one_thing_names_the_most_there_is),
        cmocka_unit_test(amounts_that_no_node_has_together_are_a_combination),
        cmocka_unit_test(a_gang_is_refused_with_the_count_that_would_do),
        cmocka_unit_test(devices_that_no_node_has_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
