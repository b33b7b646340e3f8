/* test_sched_trial.c - what is tried leaves no trace when it is taken back; promised places are kept and become starts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/trial.h"

#include "core/sched/explain/explain.h"
#include "core/sched/place/search.h"
#include "sched_yard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static const pool_id pool = {1};
static const struct eviction why = {.rule = EVICT_SHARE};

static struct asker asker_of(const struct yard *yard, task_id id, enum view view)
{
    const struct task *task = query_task(yard->core, id);
    return (struct asker){.task = task,
                          .request = &query_task_shape(yard->core, task->shape)->request,
                          .end_ms = INT64_MAX,
                          .view = view};
}

static int64_t held(const struct trial *trial, task_id id, enum view view)
{
    const struct account_view *later = tally_view(&trial->tally, query_task(trial->core, id));
    return view == VIEW_LATER ? later->allocated.at[DIM_SLOTS]
                              : trial->tally.now[later->index].allocated.at[DIM_SLOTS];
}

static void taking_back_leaves_no_trace(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    yard_node(&yard, 4, 0, NULL);
    yard_node(&yard, 2, 0, NULL);
    const task_id runs = yard_task(&yard, (struct ask){.slots = 4000});
    yard_passes(&yard);
    const task_id waits = yard_task(&yard, (struct ask){.slots = 3000});
    const task_id small = yard_task(&yard, (struct ask){.slots = 1000});
    struct trial trial;
    trial_init(&trial, yard.core, pool, &yard.arena);
    struct asker later = asker_of(&yard, waits, VIEW_LATER);
    struct asker now = asker_of(&yard, small, VIEW_NOW);
    assert_null(search_first(&trial.overlay, &later, 1));
    for (int i = 0; i < 3; i++) {
        const size_t mark = trial_mark(&trial);
        trial_evict(&trial, query_instance(yard.core, runs, 0), &why, false);
        const struct node *node = search_first(&trial.overlay, &later, 1);
        assert_non_null(node);
        trial_place(&trial, &later, node, 0);
        const struct node *other = search_first(&trial.overlay, &now, 1);
        assert_non_null(other);
        assert_int_not_equal(other->id.v, node->id.v);
        trial_place(&trial, &now, other, 0);
        assert_int_equal(held(&trial, runs, VIEW_NOW), 5000);
        assert_int_equal(held(&trial, runs, VIEW_LATER), 4000);
        trial_rollback(&trial, mark);
        assert_int_equal(held(&trial, runs, VIEW_NOW), 4000);
        assert_int_equal(held(&trial, runs, VIEW_LATER), 4000);
        assert_null(search_first(&trial.overlay, &later, 1));
    }
    trial_done(&trial);
    yard_done(&yard);
}

/* Evicts the one, promises its place to the other, and applies it. */
static void take_place_of(struct yard *yard, task_id victim, task_id claimant)
{
    struct trial trial;
    struct facts facts;
    fact_list_init(&facts, &yard->arena);
    trial_init(&trial, yard->core, pool, &yard->arena);
    struct asker asker = asker_of(yard, claimant, VIEW_LATER);
    trial_evict(&trial, query_instance(yard->core, victim, 0), &why, false);
    const struct node *node = search_first(&trial.overlay, &asker, 1);
    assert_non_null(node);
    trial_place(&trial, &asker, node, 0);
    const struct input in = {.now_ms = yard->now_ms, .actor = "test", .cause = ""};
    assert_int_equal(trial_facts(&trial, &in, &facts), 0);
    assert_int_equal(facts.count, 2);
    trial_done(&trial);
    for (size_t i = 0; i < facts.count; i++) {
        core_apply(yard->core, &facts.at[i]);
    }
    core_check(yard->core);
}

static void victim_ends(struct yard *yard, task_id victim)
{
    const struct instance *instance = query_instance(yard->core, victim, 0);
    struct fact fact = yard_fact(yard, FACT_ATTEMPT_ENDED);
    fact.attempt_ended.report = (struct report){.type = REPORT_ENDED,
                                                .key = {victim, 0, instance->attempt},
                                                .incarnation = instance->incarnation,
                                                .exit_code = 143};
    fact.attempt_ended.cause = END_PREEMPTED;
    fact.attempt_ended.again = true;
    core_apply(yard->core, &fact);
    core_check(yard->core);
}

static void a_promised_place_is_kept_for_its_claimant(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    yard_node(&yard, 2, 0, NULL);
    const task_id victim = yard_task(&yard, (struct ask){.slots = 1000});
    yard_passes(&yard);
    const task_id claimant = yard_task(&yard, (struct ask){.slots = 2000, .priority = 20});
    take_place_of(&yard, victim, claimant);
    const task_id eager = yard_task(&yard, (struct ask){.slots = 1000, .priority = 90});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, eager), 0);
    struct explanation explanation;
    explain_task(yard.core, claimant, &explanation);
    assert_int_equal(explanation.reason.code, REASON_VICTIMS_LEAVING);
    assert_int_equal(explanation.reason.need, 1);
    assert_int_equal(explanation.reason.until_ms, yard.now_ms + GRACE_MS_DEFAULT);
    victim_ends(&yard, victim);
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, claimant), 1);
    assert_int_equal(yard_active(&yard, eager), 0);
    assert_null(query_instance_claim(yard.core, claimant, 0));
    yard_done(&yard);
}

static void others_use_what_is_not_promised(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    yard_node(&yard, 4, 0, NULL);
    const task_id victim = yard_task(&yard, (struct ask){.slots = 2000});
    yard_passes(&yard);
    const task_id claimant = yard_task(&yard, (struct ask){.slots = 3000});
    take_place_of(&yard, victim, claimant);
    const task_id two = yard_task(&yard, (struct ask){.slots = 2000});
    const task_id one = yard_task(&yard, (struct ask){.slots = 1000});
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, two), 0);
    assert_int_equal(yard_active(&yard, one), 1);
    yard_done(&yard);
}

static void a_claim_goes_with_its_node_and_with_its_task(void **state)
{
    (void)state;
    struct yard yard;
    yard_init(&yard, 60000);
    const node_id node = yard_node(&yard, 2, 0, NULL);
    const task_id victim = yard_task(&yard, (struct ask){.slots = 2000});
    yard_passes(&yard);
    const task_id claimant = yard_task(&yard, (struct ask){.slots = 2000});
    take_place_of(&yard, victim, claimant);
    yard_node_state(&yard, node, NODE_SILENT);
    assert_null(query_instance_claim(yard.core, claimant, 0));
    core_check(yard.core);
    yard_node_state(&yard, node, NODE_UP);
    victim_ends(&yard, victim);
    yard_passes(&yard);
    assert_int_equal(yard_active(&yard, victim), 1); /* it was there first */
    take_place_of(&yard, victim, claimant);
    struct fact fact = yard_fact(&yard, FACT_TASK_PAUSED);
    fact.task.task = claimant;
    core_apply(yard.core, &fact);
    assert_null(query_instance_claim(yard.core, claimant, 0));
    core_check(yard.core);
    yard_done(&yard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taking_back_leaves_no_trace),
        cmocka_unit_test(a_promised_place_is_kept_for_its_claimant),
        cmocka_unit_test(others_use_what_is_not_promised),
        cmocka_unit_test(a_claim_goes_with_its_node_and_with_its_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
