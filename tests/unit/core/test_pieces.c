/* test_pieces.c - the pieces in which running tasks leave: how gangs are cut, what each piece loses, and that the order that is read piece
 * by piece is the order of all pieces sorted at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

#include "core/model/instance.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/pieces.h"
#include "core/state/state.h"

#include <stdlib.h>

enum { SEEDS = 8, TASKS = 14, PIECES_MAX = 200 };

static uint32_t dice_now;

static uint32_t dice(uint32_t count)
{
    dice_now = dice_now * 1103515245u + 12345u;
    return (dice_now >> 16) % count;
}

static enum pool_victims by_now;

static int piece_order(const void *a, const void *b)
{
    return pieces_cache_compare(by_now, 0, *(const struct piece *const *)a,
                                *(const struct piece *const *)b);
}

/* What one instance would lose: what it holds, and one, times the time since its last checkpoint or its allocation and the
 * cost of an eviction. */
static unsigned __int128 loss_of(const struct instance *at, int64_t now_ms)
{
    const int64_t from = at->checkpoint_ms > 0 ? at->checkpoint_ms : at->allocated_ms;
    const int64_t held = at->slots_milli > 0 ? at->slots_milli : at->cpu_milli;
    return (unsigned __int128)(held + 1) * (uint64_t)(now_ms - from + EVICTION_COST_MS);
}

static struct piece_cache cache_of(const struct org *org, struct arena *arena, enum pool_victims by)
{
    return (struct piece_cache){.core = org->rig.core,
                                .arena = arena,
                                .pool = org_pool_id,
                                .by = by,
                                .now_ms = org->rig.now_ms};
}

/* ---- gangs are cut ---- */

/* Instances of a running gang began at these moments before now. */
static task_id gang_since(struct org *org, uint32_t min, const int64_t *ago_ms, uint32_t count)
{
    const task_id id = org_submit(
        org, (struct org_task){.slots = 2, .instances = count, .min_instances = min, .gang = true});
    org_settle(org);
    org->rig.now_ms += 3600000;
    for (uint32_t i = 0; i < count; i++) {
        struct instance *row = table_edit(&org->rig.core->instances,
                                          query_task(org->rig.core, id)->instance_first + i);
        row->started_ms = org->rig.now_ms - ago_ms[i];
        row->allocated_ms = row->started_ms - 7 * (int64_t)(i + 1);
    }
    return id;
}

static void a_piece_above_the_minimum_loses_at_least_what_the_one_before_loses(void **state)
{
    (void)state;
    static const int64_t ago[] = {50000, 10000, 20000, 90000, 30000, 40000};
    struct org org;
    struct arena arena;
    org_init(&org);
    arena_init(&arena);
    org_nodes(&org, 3, 4);
    const task_id id = gang_since(&org, 2, ago, 6);
    const struct piece_cache cache = cache_of(&org, &arena, VICTIMS_LEAST_LOSS);
    uint32_t count;
    const struct piece *pieces =
        pieces_cut_gang(&cache, NULL, query_task(org.rig.core, id), &count);
    assert_int_equal(count, 5);
    unsigned __int128 most = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const struct instance *at = query_instance(org.rig.core, id, 5 - i);
        const unsigned __int128 own = loss_of(at, org.rig.now_ms);
        most = own > most ? own : most;
        assert_int_equal(pieces[i].index, 5 - i);
        assert_int_equal(pieces[i].count, 1);
        assert_true(pieces[i].extra);
        assert_false(pieces[i].whole);
        assert_true(pieces[i].loss == most);
        assert_int_equal(pieces[i].age_ms, ago[5 - i]);
        assert_int_equal(pieces[i].since_ms, org.rig.now_ms - ago[5 - i]);
        assert_int_equal(pieces[i].amounts.at[DIM_SLOTS], 2 * SLOT_MILLI);
    }
    const struct piece *rest = &pieces[4];
    assert_true(rest->whole);
    assert_false(rest->extra);
    assert_int_equal(rest->count, 2);
    assert_int_equal(rest->index, 1);
    assert_int_equal(rest->age_ms, 50000);
    assert_int_equal(rest->since_ms, org.rig.now_ms - 10000);
    assert_int_equal(rest->amounts.at[DIM_SLOTS], 4 * SLOT_MILLI);
    assert_true(rest->loss == loss_of(query_instance(org.rig.core, id, 0), org.rig.now_ms) +
                                  loss_of(query_instance(org.rig.core, id, 1), org.rig.now_ms));
    arena_done(&arena);
    org_done(&org);
}

static void an_instance_that_has_ended_is_in_no_piece(void **state)
{
    (void)state;
    struct org org;
    struct arena arena;
    bool found[6] = {false};
    org_init(&org);
    arena_init(&arena);
    org_nodes(&org, 3, 4);
    const task_id id = org_submit(
        &org, (struct org_task){.slots = 2, .instances = 6, .min_instances = 2, .gang = true});
    org_settle(&org);
    rig_report(&org.rig, id, 4, REPORT_ENDED, 0);
    rig_report(&org.rig, id, 0, REPORT_ENDED, 0);
    const struct piece_cache cache = cache_of(&org, &arena, VICTIMS_LEAST_LOSS);
    uint32_t count;
    const struct piece *pieces =
        pieces_cut_gang(&cache, NULL, query_task(org.rig.core, id), &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct instance *at = NULL;
        uint32_t members = 0;
        while ((at = pieces_cache_next(org.rig.core, &pieces[i], at)) != NULL) {
            assert_false(found[at->index]);
            found[at->index] = true;
            members++;
        }
        assert_int_equal(members, pieces[i].count);
    }
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(found[i], i != 0 && i != 4);
    }
    arena_done(&arena);
    org_done(&org);
}

/* ---- the order ---- */

static void org_roll(struct org *org)
{
    org_init(org);
    org_nodes(org, 8, 8);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct org_task task = {.slots = dice(4), .priority = 40 + 10 * dice(2)};
        task.instances = 1 + dice(4);
        task.gang = dice(2) == 0;
        task.min_instances = task.gang && dice(2) == 0 ? 1 + dice(task.instances) : 0;
        task.fixed = dice(8) == 0;
        (void)org_submit(org, task);
        org_settle(org);
        org->rig.now_ms += dice(3) == 0 ? 600000 : 1000 * (int64_t)dice(90);
    }
    for (uint64_t row = table_next(&org->rig.core->instances, 0); row != 0 && dice(2) == 0;
         row = table_next(&org->rig.core->instances, row)) {
        const struct instance *at = table_get(&org->rig.core->instances, row);
        if (at->state == INSTANCE_RUNNING) {
            rig_report(&org->rig, at->task, at->index, REPORT_CHECKPOINT, 0);
        }
    }
    assert_int_equal(rig_task(&org->rig, INPUT_TASK_KILL, (task_id){3}), VERDICT_OK);
}

/* All pieces of the project, cut by hand and sorted. */
static uint32_t all_pieces(const struct piece_cache *cache, const struct account_view *account,
                           struct piece **ret)
{
    uint32_t found = 0;
    for (const struct task *task = query_task_next(cache->core, (task_id){0}); task != NULL;
         task = query_task_next(cache->core, task->id)) {
        const bool busy = task->gang && task->stopping_count > 0;
        if (!task->preemptible || busy || task->active_count == task->stopping_count) {
            continue;
        }
        if (task->gang) {
            uint32_t count;
            struct piece *pieces = pieces_cut_gang(cache, account, task, &count);
            for (uint32_t i = 0; i < count; i++) {
                ret[found++] = &pieces[i];
            }
            continue;
        }
        for (uint32_t i = 0; i < task->instance_count; i++) {
            const struct instance *at = query_instance(cache->core, task->id, i);
            if (instance_stays(at)) {
                struct piece *piece = arena_new(cache->arena, struct piece, 1);
                *piece = (struct piece){.task = task, .account = account, .index = i};
                pieces_cut_add(cache, at, piece);
                assert_true(piece->loss == loss_of(at, cache->now_ms));
                ret[found++] = piece;
            }
        }
    }
    assert_true(found < PIECES_MAX);
    by_now = cache->by;
    qsort(ret, found, sizeof *ret, piece_order);
    return found;
}

static void pieces_are_read_in_the_order_of_all_pieces(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct org org;
        struct trial trial;
        struct arena arena;
        dice_now = seed * 7919;
        org_roll(&org);
        arena_init(&arena);
        trial_init(&trial, org.rig.core, org_pool_id, &arena);
        const struct account_view *account =
            shares_view(trial.tally.shares, ACCOUNT_DEFAULT_PROJECT);
        assert_non_null(account);
        for (unsigned by = 0; by < POOL_VICTIMS_COUNT; by++) {
            struct piece *sorted[PIECES_MAX];
            struct pieces pieces;
            struct piece_cache cache = cache_of(&org, &arena, (enum pool_victims)by);
            const uint32_t count = all_pieces(&cache, account, sorted);
            int64_t slots_max = 0;
            pieces_init(&pieces, &cache, account, ACCOUNT_DEFAULT_PROJECT, 0);
            for (uint32_t i = 0; i < count; i++) {
                const struct piece *piece = pieces_get(&pieces, i);
                assert_non_null(piece);
                assert_int_equal(piece->task->id.v, sorted[i]->task->id.v);
                assert_int_equal(piece->index, sorted[i]->index);
                assert_int_equal(piece->count, sorted[i]->count);
                assert_true(piece->loss == sorted[i]->loss);
                const int64_t slots = piece->amounts.at[DIM_SLOTS];
                slots_max = slots > slots_max ? slots : slots_max;
            }
            assert_null(pieces_get(&pieces, count));
            assert_true(pieces_slots_max(&pieces) >= slots_max);
        }
        trial_done(&trial);
        arena_done(&arena);
        org_done(&org);
    }
}

/* A search for room needs to know how many slots an eviction can free at most. A gang that holds cpu alone frees none. */
static void a_gang_without_slots_frees_no_slots(void **state)
{
    (void)state;
    struct org org;
    struct trial trial;
    struct arena arena;
    struct pieces pieces;
    struct task_spec spec = rig_spec();
    org_init(&org);
    arena_init(&arena);
    org_nodes(&org, 1, 4);
    spec.slots_milli = 0;
    spec.cpu_milli = 2000;
    spec.instances = 3;
    spec.gang = true;
    const task_id gang = rig_submit(&org.rig, spec);
    org_settle(&org);
    assert_true(org_runs(&org, gang));
    for (int64_t slots = 0; slots < 2; slots++) { /* the gang alone; beside a task of one slot */
        trial_init(&trial, org.rig.core, org_pool_id, &arena);
        struct piece_cache cache = cache_of(&org, &arena, VICTIMS_LEAST_LOSS);
        pieces_init(&pieces, &cache, shares_view(trial.tally.shares, ACCOUNT_DEFAULT_PROJECT),
                    ACCOUNT_DEFAULT_PROJECT, 0);
        assert_int_equal(pieces_slots_max(&pieces), slots * SLOT_MILLI);
        trial_done(&trial);
        (void)org_submit(&org, (struct org_task){.slots = 1});
        org_settle(&org);
    }
    arena_done(&arena);
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_above_the_minimum_loses_at_least_what_the_one_before_loses),
        cmocka_unit_test(an_instance_that_has_ended_is_in_no_piece),
        cmocka_unit_test(pieces_are_read_in_the_order_of_all_pieces),
        cmocka_unit_test(a_gang_without_slots_frees_no_slots),
    };
    return cmocka_run_group_tests_name("core_pieces", tests, NULL, NULL);
}
