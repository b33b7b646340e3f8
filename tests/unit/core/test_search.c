/* test_search.c - searches over nodes agree with a look at every node, before and after a trial has placed and evicted, and after the
 * trial has taken everything back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/search.h"

#include "core/sched/place/score.h"
#include "core/sched/place/trial.h"
#include "sched_yard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { SEEDS = 400, NODES = 9, TASKS = 24 };

static const pool_id pool = {1};
static const struct eviction why = {.rule = EVICT_SHARE};
static uint32_t dice_now;

static uint32_t dice(uint32_t count)
{
    dice_now = dice_now * 1103515245u + 12345u;
    return (dice_now >> 16) % count;
}

static struct ask ask_roll(void)
{
    struct ask ask = {.slots = 1000 * (int64_t)dice(4), .priority = 1 + dice(99)};
    ask.cpu = dice(3) == 0 ? 500 * (int64_t)(1 + dice(6)) : 0;
    ask.instances = 1 + dice(3);
    if (dice(3) == 0 || (ask.slots == 0 && ask.cpu == 0)) {
        ask.named[0] = (struct amount){{FOO}, 100 * (int64_t)(1 + dice(9))};
    }
    return ask;
}

static void placement_set(struct yard *yard, enum pool_placement placement)
{
    const struct pool_spec spec = {.name = "default",
                                   .title = "",
                                   .description = "",
                                   .patience_ms = 60000,
                                   .aux_tasks = 100,
                                   .placement = placement};
    struct fact fact = yard_fact(yard, FACT_POOL_SET);
    fact.pool_set.pool = pool;
    fact.pool_set.spec = &spec;
    core_apply(yard->core, &fact);
}

/* Nodes of several sizes, one of them draining, and tasks of which some run. */
static void yard_roll(struct yard *yard)
{
    yard_init(yard, 60000);
    placement_set(yard, dice(2) == 0 ? PLACEMENT_PACK : PLACEMENT_SPREAD);
    for (uint32_t i = 0; i < NODES; i++) {
        const struct named_amount amounts[] = {{"foo", 500 * (int64_t)dice(6)}, {NULL, 0}};
        const node_id node = yard_node(yard, 1 + dice(6), 0, dice(2) == 0 ? NULL : amounts);
        if (i == 3) {
            yard_node_state(yard, node, NODE_SILENT);
        }
    }
    for (uint32_t i = 0; i < TASKS; i++) {
        (void)yard_task(yard, ask_roll());
    }
    yard_passes(yard);
}

static struct asker asker_of(const struct yard *yard, const struct task *task, enum view view)
{
    return (struct asker){.task = task,
                          .request = &query_task_shape(yard->core, task->shape)->request,
                          .end_ms = INT64_MAX,
                          .view = view};
}

/* What every node takes; of the nodes that take `count` the one that comes first by the pool's placement. */
struct look {
    uint32_t total;
    uint32_t most;
    const struct node *first;
    int64_t free; /* of the measure, on that node */
};

static struct look look_at_all(const struct trial *trial, const struct asker *asker, uint32_t count)
{
    const struct overlay *overlay = &trial->overlay;
    struct look look = {0};
    for (const struct node *node = query_pool_node_next(trial->core, pool, (node_id){0});
         node != NULL; node = query_pool_node_next(trial->core, pool, node->id)) {
        const struct spot *spot = overlay_find(overlay, node->id);
        struct space now;
        if (node->state != NODE_UP) {
            continue;
        }
        const uint32_t takes = search_takes(overlay, node, asker, UINT32_MAX);
        space_now(node, &now);
        const int64_t free = score_free(spot != NULL ? overlay_space(spot, asker->view) : &now,
                                        score_resource(asker->request));
        const bool ahead = overlay->spread ? free > look.free : free < look.free;
        look.total += takes;
        look.most = takes > look.most ? takes : look.most;
        if (takes >= count && (look.first == NULL || ahead)) {
            look.first = node;
            look.free = free;
        }
    }
    return look;
}

static void searches_compare(struct trial *trial, const struct yard *yard)
{
    overlay_leaving(&trial->overlay);
    for (const struct task *task = query_task_next(trial->core, (task_id){0}); task != NULL;
         task = query_task_next(trial->core, task->id)) {
        for (unsigned view = 0; view < VIEW_COUNT; view++) {
            const struct asker asker = asker_of(yard, task, (enum view)view);
            const uint32_t count = 1 + dice(4);
            const uint32_t max = 1 + dice(12);
            const struct look look = look_at_all(trial, &asker, count);
            assert_int_equal(search_total(&trial->overlay, &asker, max),
                             look.total < max ? look.total : max);
            assert_int_equal(search_most(&trial->overlay, &asker, max),
                             look.most < max ? look.most : max);
            const struct node *first = search_first(&trial->overlay, &asker, count);
            /* Of the nodes that take the instances, `pack` and `spread` may prefer another than the first by free amounts (score.h). */
            assert_int_equal(first == NULL, look.first == NULL);
            assert_true(first == NULL ||
                        search_takes(&trial->overlay, first, &asker, count) >= count);
            first = look.first;
            if (first != NULL && !trial->overlay.spread) {
                /* the same node is the first of its level behind any lower id, and none is behind it that comes before it */
                assert_ptr_equal(
                    search_level(&trial->overlay, &asker, look.free, (node_id){0}, count), first);
                const struct node *next =
                    search_level(&trial->overlay, &asker, look.free, first->id, count);
                assert_true(next == NULL || next->id.v > first->id.v);
            }
        }
    }
}

/* Evicts what runs and places what waits, here and there. */
static void trial_roll(struct trial *trial, const struct yard *yard, struct asker *askers)
{
    for (uint32_t i = 0; i < 8; i++) {
        const struct task *task = query_task(yard->core, (task_id){1 + dice(TASKS)});
        const uint32_t index = dice(task->instance_count);
        const struct instance *instance = query_instance(yard->core, task->id, index);
        bool known = false;
        for (size_t at = 0; at < trial->count; at++) {
            known =
                known || (trial->decisions[at].task == task && trial->decisions[at].index == index);
        }
        if (known) {
            continue;
        }
        if (instance->state != INSTANCE_WAITING) {
            trial_evict(trial, instance, &why, false);
            continue;
        }
        askers[i] = asker_of(yard, task, dice(2) == 0 ? VIEW_NOW : VIEW_LATER);
        const struct node *node = search_first(&trial->overlay, &askers[i], 1);
        if (node != NULL) {
            trial_place(trial, &askers[i], node, index);
        }
    }
}

static void searches_agree_with_a_look_at_every_node(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct yard yard;
        struct trial trial;
        struct asker askers[8];
        dice_now = seed * 7919;
        yard_roll(&yard);
        trial_init(&trial, yard.core, pool, &yard.arena);
        searches_compare(&trial, &yard);
        const size_t mark = trial_mark(&trial);
        trial_roll(&trial, &yard, askers);
        searches_compare(&trial, &yard);
        trial_rollback(&trial, mark);
        searches_compare(&trial, &yard);
        trial_done(&trial);
        yard_done(&yard);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_agree_with_a_look_at_every_node),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
