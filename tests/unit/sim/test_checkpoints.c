/* test_checkpoints.c - what simulated tasks save: the core and the book say the same was lost, and saving more often loses less.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine.h"
#include "sim/scenario_file.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { MINUTE_MS = 60000 };

/* What the facts of a run said. */
struct seen {
    uint32_t evictions;
    uint32_t checkpoints;
    int64_t lost; /* thousandths of slots x ms, by evictions */
};

/* Each time one that was evicted has ended: both reckon alike. */
static void compare(void *ctx, const struct engine *engine, const struct fact *fact)
{
    struct seen *seen = ctx;
    seen->checkpoints += fact->type == FACT_ATTEMPT_CHECKPOINT;
    if (fact->type != FACT_ATTEMPT_ENDED || fact->attempt_ended.cause != END_PREEMPTED) {
        return;
    }
    const task_id task = fact->attempt_ended.report.key.task;
    const struct job_record *record = engine_records_at(engine, task);
    const struct eviction_note *note = query_task_eviction(engine_core(engine), task);
    assert_non_null(note);
    assert_int_equal(record->losses, 0);
    assert_true(record->work_lost == note->slots_lost);
    seen->evictions++;
}

/* Borrowers of several sizes, gangs among them, and owners who come in waves. */
static struct seen play(const char *checkpoint, const char *pool)
{
    struct scenario scenario;
    struct arena arena;
    struct error e = {0};
    struct seen seen = {0};
    arena_init(&arena);
    scenario_init(&scenario);
    const char *text = arena_fmt(
        &arena,
        "start_delay: 3s\n"
        "pools: [{name: default%s}]\n"
        "projects: [{name: owner}, {name: borrower}]\n"
        "quotas: [{project: owner, pool: default, resources: {gpu: 8}}]\n"
        "nodes: [{name: n, count: 3, gpus: 4}]\n"
        "tasks:\n"
        "  - {name: small, count: 12, every: 7m, project: borrower, runs: 3h%s, stops_in: 20s}\n"
        "  - {name: gang, count: 3, every: 50m, project: borrower, runs: 2h, gang: true,"
        " instances: 3%s}\n"
        "  - {name: wave, at: 50m, count: 6, every: 41m, project: owner, runs: 35m,"
        " resources: {gpu: 3}}\n",
        pool, checkpoint, checkpoint);
    if (scenario_file_read(str_of(text), "s.yaml", NULL, &scenario, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
    scenario_sort(&scenario);
    const struct engine_options options = {
        .check = true, .watchers = {{.ctx = &seen, .fact = compare}}, .watcher_count = 1};
    struct engine *engine = engine_new(&scenario, &options);
    assert_int_equal(engine_run(engine, &e), ERR_OK);
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(records[i].state, TASK_COMPLETED);
        seen.lost += (int64_t)records[i].work_lost;
    }
    engine_free(engine);
    scenario_done(&scenario);
    arena_done(&arena);
    return seen;
}

static void core_and_book_agree(void **state)
{
    (void)state;
    const struct seen never = play("", "");
    const struct seen often = play(", checkpoint: 5m", "");
    assert_int_equal(never.checkpoints, 0);
    assert_in_range(never.evictions, 3, 1000);
    assert_in_range(often.checkpoints, 50, 10000);
    assert_in_range(often.evictions, 3, 1000);
    assert_true(often.lost * 2 < never.lost);
    /* Nobody loses more than what was done in five minutes, and the grace time. */
    const int64_t most = 3 * 1000 * (5 * MINUTE_MS + 30000);
    assert_true(often.lost <= often.evictions * most);
}

static void least_loss_loses_less_than_the_youngest(void **state)
{
    (void)state;
    const struct seen least = play(", checkpoint: 45m", "");
    const struct seen youngest = play(", checkpoint: 45m", ", scheduler: {victims: youngest}");
    assert_true(least.lost < youngest.lost);
}

/* Once a second would be a fact a second. */
static void what_comes_too_soon_is_not_told(void **state)
{
    (void)state;
    const struct seen seconds = play(", checkpoint: 2s", "");
    const struct seen sixes = play(", checkpoint: 6s", "");
    assert_int_equal(seconds.checkpoints, sixes.checkpoints);
    assert_int_equal(seconds.lost, sixes.lost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_and_book_agree),
        cmocka_unit_test(least_loss_loses_less_than_the_youngest),
        cmocka_unit_test(what_comes_too_soon_is_not_told),
    };
    return cmocka_run_group_tests_name("sim_checkpoints", tests, NULL, NULL);
}
