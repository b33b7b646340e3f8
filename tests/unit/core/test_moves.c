/* test_moves.c - what users change of tasks that exist: their place in the queue, pauses, pools,
 * resources, projects; and what dependents of any end make of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES_MAX = 1 << 16 };

static int setup(void **state)
{
    struct rig *rig = xcalloc(1, sizeof *rig);
    rig_init(rig);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    rig_done(rig);
    free(rig);
    return 0;
}

static enum verdict move(struct rig *rig, task_id task, task_id other, bool behind)
{
    struct input in = {.type = INPUT_TASK_MOVE};
    in.task.task = task;
    in.task.move = (struct task_move){other, behind};
    return rig_do(rig, in);
}

static enum verdict edit(struct rig *rig, task_id task, struct task_edit change)
{
    struct input in = {.type = INPUT_TASK_EDIT};
    in.task.task = task;
    in.task.edit = &change;
    return rig_do(rig, in);
}

static void pool_make(struct rig *rig, const char *name)
{
    struct pool_spec spec = {.name = name, .patience_ms = 60000, .aux_tasks = 10};
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static void project_make(struct rig *rig, const char *name)
{
    struct account_spec spec = {
        .kind = ACCOUNT_PROJECT, .name = name, .parent = ACCOUNT_DEFAULT_NAME};
    struct input in = {.type = INPUT_ACCOUNT_SET, .account = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

/* The queue of the default pool is exactly this. */
static void queue_is(const struct rig *rig, const task_id *want, size_t count)
{
    pool_id pool = query_pool_named(rig->core, POOL_DEFAULT_NAME)->id;
    task_id at = {0};
    for (size_t i = 0; i < count; i++) {
        at = query_queue_next(rig->core, pool, at);
        assert_int_equal(at.v, want[i].v);
    }
    assert_int_equal(query_queue_next(rig->core, pool, at).v, 0);
}

/* ---- moves ---- */

static void a_task_moves_ahead_and_behind(void **state)
{
    struct rig *rig = *state;
    task_id a = rig_submit(rig, rig_spec());
    task_id b = rig_submit(rig, rig_spec());
    task_id c = rig_submit(rig, rig_spec());
    task_id d = rig_submit(rig, rig_spec());
    assert_int_equal(move(rig, d, b, false), VERDICT_OK);
    queue_is(rig, (task_id[]){a, d, b, c}, 4);
    assert_int_equal(move(rig, a, b, true), VERDICT_OK);
    queue_is(rig, (task_id[]){d, b, a, c}, 4);
    assert_int_equal(move(rig, d, c, false), VERDICT_OK);
    queue_is(rig, (task_id[]){b, a, d, c}, 4);
    assert_int_equal(move(rig, c, b, true), VERDICT_OK);
    queue_is(rig, (task_id[]){b, c, a, d}, 4);
    assert_int_equal(move(rig, c, b, true), VERDICT_OK); /* it stands there */
    assert_int_equal(rig->facts.count, 0);
    assert_int_equal(move(rig, c, c, true), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
}

static void moves_never_run_out_of_ranks(void **state)
{
    struct rig *rig = *state;
    task_id a = rig_submit(rig, rig_spec());
    task_id b = rig_submit(rig, rig_spec());
    task_id c = rig_submit(rig, rig_spec());
    for (int i = 0; i < 200; i++) {
        assert_int_equal(move(rig, i % 2 == 0 ? b : c, a, true), VERDICT_OK);
        assert_int_equal(move(rig, i % 2 == 0 ? c : b, a, false), VERDICT_OK);
    }
    queue_is(rig, (task_id[]){b, a, c}, 3);
}

static void other_projects_keep_their_places(void **state)
{
    struct rig *rig = *state;
    project_make(rig, "q");
    struct task_spec theirs = rig_spec();
    theirs.project = "q";
    task_id a = rig_submit(rig, rig_spec());
    task_id x = rig_submit(rig, theirs);
    task_id b = rig_submit(rig, rig_spec());
    task_id y = rig_submit(rig, theirs);
    task_id c = rig_submit(rig, rig_spec());
    assert_int_equal(move(rig, c, a, false), VERDICT_OK);
    queue_is(rig, (task_id[]){c, x, a, y, b}, 5);
}

static void a_move_stays_in_its_line(void **state)
{
    struct rig *rig = *state;
    pool_make(rig, "p");
    project_make(rig, "q");
    task_id a = rig_submit(rig, rig_spec());
    struct task_spec spec = rig_spec();
    spec.project = "q";
    task_id project = rig_submit(rig, spec);
    spec = rig_spec();
    spec.priority = 70;
    task_id urgent = rig_submit(rig, spec);
    spec = rig_spec();
    spec.pools = (const char *const[]){"p"};
    spec.pool_count = 1;
    task_id pool = rig_submit(rig, spec);
    task_id gone = rig_submit(rig, rig_spec());
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, gone), VERDICT_OK);
    assert_int_equal(move(rig, a, project, false), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_OTHER_QUEUE);
    assert_string_equal(rig->facts.refusal.text, "project");
    assert_int_equal(move(rig, a, pool, false), VERDICT_CONFLICT);
    assert_string_equal(rig->facts.refusal.text, "pool");
    assert_int_equal(move(rig, a, urgent, false), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_OTHER_PRIORITY);
    assert_int_equal(rig->facts.refusal.need, 70);
    assert_int_equal(move(rig, a, gone, false), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_TASK_ENDED);
    assert_int_equal(move(rig, a, (task_id){999}, false), VERDICT_NOT_FOUND);
    assert_int_equal(move(rig, gone, a, false), VERDICT_CONFLICT);
}

/* ---- pauses ---- */

static void pool_policy(struct rig *rig, enum pool_policy policy, bool preemption)
{
    const pool_id pool = query_pool_named(rig->core, POOL_DEFAULT_NAME)->id;
    struct pool_spec spec;
    query_pool_spec(rig->core, pool, &rig->kept, &spec);
    spec.policy = policy;
    spec.preemption_off = !preemption;
    spec.patience_ms = 60000;
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.spec = &spec, .pool = pool}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static struct task_spec preemptible(void)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = SLOT_MILLI;
    spec.preemptible = true;
    return spec;
}

/* Two tasks run, `next` waits at the same priority. Is some task evicted once `next` stands ahead of the second one? */
static bool evicts_when_moved(struct rig *rig, task_id running[2], task_id *ret_next)
{
    rig_node(rig, "n1", 2, 0, 1);
    running[0] = rig_submit(rig, preemptible());
    running[1] = rig_submit(rig, preemptible());
    rig_pass(rig);
    *ret_next = rig_submit(rig, preemptible());
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, running[1])->stopping_count, 0);
    assert_int_equal(move(rig, *ret_next, running[1], false), VERDICT_OK);
    rig->now_ms++; /* what starts in a moment is not taken back in that moment */
    rig_pass(rig);
    return query_task(rig->core, *ret_next)->claimed_count > 0;
}

static void a_task_moved_ahead_takes_the_place_of_an_equal_one(void **state)
{
    struct rig *rig = *state;
    task_id running[2];
    task_id next;
    pool_policy(rig, POLICY_PRIORITY, true);
    assert_true(evicts_when_moved(rig, running, &next));
    assert_int_equal(query_task(rig->core, running[0])->stopping_count, 0);
    assert_int_equal(query_task(rig->core, running[1])->stopping_count, 1);
    assert_int_equal(query_pool_named(rig->core, POOL_DEFAULT_NAME)->overtaken_count, 1);
}

static void only_where_priorities_preempt(void **state)
{
    struct rig *rig = *state;
    task_id running[2];
    task_id next;
    pool_policy(rig, POLICY_PRIORITY, false);
    assert_false(evicts_when_moved(rig, running, &next));
    pool_policy(rig, POLICY_FAIR_SHARE, true);
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, next)->claimed_count, 0);
}

static void a_new_order_of_waiting_tasks_evicts_nobody(void **state)
{
    struct rig *rig = *state;
    pool_policy(rig, POLICY_PRIORITY, true);
    rig_node(rig, "n1", 2, 0, 1);
    struct task_spec wide = preemptible();
    wide.slots_milli = 2 * SLOT_MILLI;
    const task_id first = rig_submit(rig, preemptible());
    rig_pass(rig);
    const task_id waits = rig_submit(rig, wide);
    const task_id runs = rig_submit(rig, preemptible()); /* the free slot is enough for it */
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, runs)->active_count, 1);
    const task_id last = rig_submit(rig, preemptible());
    assert_int_equal(move(rig, last, waits, false), VERDICT_OK);
    rig_pass(rig);
    assert_true(query_task(rig->core, last)->rank < query_task(rig->core, runs)->rank);
    assert_int_equal(query_task(rig->core, last)->claimed_count, 0);
    assert_int_equal(query_task(rig->core, first)->stopping_count, 0);
    assert_int_equal(query_task(rig->core, runs)->stopping_count, 0);
}

static void a_running_task_is_paused_and_runs_again(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 1, 0, 1);
    task_id a = rig_submit(rig, rig_spec());
    task_id b = rig_submit(rig, rig_spec());
    rig_pass(rig);
    rig_report(rig, a, 0, REPORT_STARTED, 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, a), VERDICT_OK);
    assert_int_equal(rig_fact(rig, FACT_ATTEMPT_STOPPING)->attempt_stopping.cause, END_PAUSED);
    assert_int_equal(rig->effects.count, 1);
    assert_int_equal(rig_state(rig, a), TASK_STOPPING);
    rig_report(rig, a, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_state(rig, a), TASK_PAUSED);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, b), TASK_STARTING);
    assert_int_equal(rig_task(rig, INPUT_TASK_ACTIVATE, a), VERDICT_OK);
    rig_run(rig, b, 0, 0);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, a), TASK_STARTING);
    const struct task *task = query_task(rig->core, a);
    assert_int_equal(task->retries, 0);
    assert_int_equal(query_instance(rig->core, a, 0)->retries, 0);
    assert_int_equal(task->preempted_count, 0);
    rig_run(rig, a, 0, 0);
    assert_int_equal(query_task_outcome(rig->core, a), TASK_COMPLETED);
}

static void a_pause_may_be_taken_back_while_it_stops(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 1, 0, 1);
    task_id a = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, a), VERDICT_OK);
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, a), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_ACTIVATE, a), VERDICT_OK);
    assert_int_equal(rig_task(rig, INPUT_TASK_ACTIVATE, a), VERDICT_CONFLICT);
    rig_report(rig, a, 0, REPORT_ENDED, 0);
    assert_int_equal(rig_state(rig, a), TASK_PENDING);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, a), TASK_STARTING);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, a), VERDICT_OK);
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, a), VERDICT_CONFLICT);
}

static void a_paused_gang_leaves_whole(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 0, 1);
    struct task_spec spec = rig_spec();
    spec.gang = true;
    spec.instances = 2;
    task_id a = rig_submit(rig, spec);
    rig_pass(rig);
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, a), VERDICT_OK);
    assert_int_equal(rig_count(rig, FACT_ATTEMPT_STOPPING), 2);
    rig_report(rig, a, 0, REPORT_ENDED, 0);
    assert_int_equal(rig_state(rig, a), TASK_STOPPING);
    rig_report(rig, a, 1, REPORT_ENDED, 1);
    assert_int_equal(rig_state(rig, a), TASK_PAUSED);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, a), VERDICT_OK);
    assert_int_equal(query_task_outcome(rig->core, a), TASK_KILLED);
}

/* ---- edits ---- */

static void a_running_task_changes_its_pool_after_its_grace(void **state)
{
    struct rig *rig = *state;
    pool_make(rig, "p");
    rig_node(rig, "n1", 1, 0, 1);
    task_id a = rig_submit(rig, rig_spec());
    rig_pass(rig);
    struct task_edit to = {
        .fields = TASK_EDIT_pools,
        .spec = &(struct task_spec){.pools = (const char *const[]){"p"}, .pool_count = 1}};
    assert_int_equal(edit(rig, a, to), VERDICT_OK);
    assert_int_equal(rig_fact(rig, FACT_ATTEMPT_STOPPING)->attempt_stopping.cause, END_MOVED);
    assert_int_equal(rig_state(rig, a), TASK_STOPPING);
    rig_report(rig, a, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_state(rig, a), TASK_PENDING);
    assert_string_equal(query_pool_name(rig->core, query_task(rig->core, a)->pool), "p");
    assert_int_equal(query_instance(rig->core, a, 0)->retries, 0);
    to.spec =
        &(struct task_spec){.pools = (const char *const[]){POOL_DEFAULT_NAME}, .pool_count = 1};
    assert_int_equal(edit(rig, a, to), VERDICT_OK); /* pending: in place */
    rig_pass(rig);
    assert_int_equal(rig_state(rig, a), TASK_STARTING);
}

static void a_pool_that_goes_meanwhile_is_not_reached(void **state)
{
    struct rig *rig = *state;
    pool_make(rig, "p");
    rig_node(rig, "n1", 1, 0, 1);
    task_id a = rig_submit(rig, rig_spec());
    rig_pass(rig);
    assert_int_equal(
        edit(rig, a,
             (struct task_edit){.fields = TASK_EDIT_pools,
                                .spec = &(struct task_spec){.pools = (const char *const[]){"p"},
                                                            .pool_count = 1}}),
        VERDICT_OK);
    struct input in = {.type = INPUT_POOL_DELETE,
                       .pool = {.pool = query_pool_named(rig->core, "p")->id, .now = true}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    rig_report(rig, a, 0, REPORT_ENDED, 143);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, a), TASK_STARTING);
}

static void resources_of_a_waiting_task_change(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 0, 1);
    struct task_spec spec = rig_spec();
    task_id first = rig_submit(rig, spec);
    spec.slots_milli = 2000;
    task_id a = rig_submit(rig, spec);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, a), TASK_PENDING);
    spec.slots_milli = 3000;
    struct task_edit change = {.fields = TASK_EDIT_resources, .spec = &spec};
    assert_int_equal(edit(rig, a, change), VERDICT_REFUSED); /* P9 */
    assert_int_equal(rig->facts.refusal.code, REASON_TOO_LARGE);
    spec.slots_milli = 1000;
    assert_int_equal(edit(rig, first, change), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_HOLDS_PLACES);
    assert_int_equal(edit(rig, a, change), VERDICT_OK);
    struct task_spec now;
    query_task_spec(rig->core, a, &rig->kept, &now);
    assert_int_equal(now.slots_milli, 1000);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, a), TASK_STARTING);
}

static void the_project_of_a_waiting_task_changes(void **state)
{
    struct rig *rig = *state;
    project_make(rig, "q");
    task_id a = rig_submit(rig, rig_spec());
    struct task_edit change = {.fields = TASK_EDIT_project,
                               .spec = &(struct task_spec){.project = "nobody"}};
    assert_int_equal(edit(rig, a, change), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_PROJECT);
    change.spec = &(struct task_spec){.project = "q"};
    assert_int_equal(edit(rig, a, change), VERDICT_OK);
    account_id q = query_account_named(rig->core, ACCOUNT_PROJECT, "q")->id;
    struct usage usage;
    query_usage(rig->core, q, query_task(rig->core, a)->pool, &usage);
    assert_int_equal(usage.pending_count, 1);
    query_usage(rig->core, ACCOUNT_DEFAULT_PROJECT, query_task(rig->core, a)->pool, &usage);
    assert_int_equal(usage.pending_count, 0);
    rig_node(rig, "n1", 1, 0, 1);
    rig_pass(rig);
    change.spec = &(struct task_spec){.project = ACCOUNT_DEFAULT_NAME};
    assert_int_equal(edit(rig, a, change), VERDICT_CONFLICT);
}

/* ---- dependencies ---- */

static task_id submit_after(struct rig *rig, task_id dependency, bool any)
{
    struct task_spec spec = rig_spec();
    spec.depends_on = &dependency.v;
    spec.depends_count = 1;
    spec.depends_any = any;
    return rig_submit(rig, spec);
}

static void any_end_sets_free_who_asked_for_any(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 1, 0, 1);
    task_id a = rig_submit(rig, rig_spec());
    task_id strict = submit_after(rig, a, false);
    task_id any = submit_after(rig, a, true);
    task_id chain = submit_after(rig, strict, true);
    rig_pass(rig);
    rig_run(rig, a, 0, 1);
    assert_int_equal(query_task_outcome(rig->core, strict), TASK_FAILED);
    assert_int_equal(query_task(rig->core, any)->depends_left, 0);
    assert_int_equal(query_task(rig->core, chain)->depends_left, 0);
    task_id late = submit_after(rig, a, true);
    assert_int_equal(query_task(rig->core, late)->depends_left, 0);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, any), TASK_STARTING);
}

/* The state with many dependents is encoded after each step of the rig, so: few steps. */
static void many_submit_after(struct rig *rig, task_id dependency, uint32_t count)
{
    struct task_spec *specs = xcalloc(count, sizeof *specs);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = rig_spec();
        specs[i].depends_on = &dependency.v;
        specs[i].depends_count = 1;
        specs[i].depends_any = i % 2;
    }
    struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = specs, .count = count}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    free(specs);
}

static void many_dependents_are_told_piece_by_piece(void **state)
{
    struct rig *rig = *state;
    enum { MANY = 2500 };
    rig_node(rig, "n1", 1, 0, 1);
    task_id a = rig_submit(rig, rig_spec());
    many_submit_after(rig, a, MANY);
    rig_pass(rig);
    rig_run(rig, a, 0, 1);
    assert_true(rig->facts.count < 1010);
    assert_int_equal(rig_state(rig, a), TASK_FAILED);
    assert_true(query_deadline(rig->core) <= rig->now_ms);
    task_id late = submit_after(rig, a, false); /* it is known how that ends */
    assert_int_equal(query_task_outcome(rig->core, late), TASK_FAILED);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, a), VERDICT_CONFLICT);
    uint32_t ticks = 0;
    for (; query_deadline(rig->core) <= rig->now_ms; ticks++) {
        assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
        assert_true(rig->facts.count <= 2010);
    }
    assert_int_equal(ticks, 2);
    assert_null(query_task(rig->core, a));
    assert_int_equal(query_task_count(rig->core, TASK_FAILED), 2 + MANY / 2);
    assert_int_equal(query_task_count(rig->core, TASK_PENDING), MANY / 2);
}

static void an_end_of_version_1_freed_all(void **state)
{
    struct rig *rig = *state;
    char *bytes = arena_new(&rig->arena, char, BYTES_MAX);
    FILE *file =
        fopen(arena_fmt(&rig->arena, "%s/fact-task-ended-v1", getenv("WEIR_SAMPLES")), "rb");
    assert_non_null(file);
    size_t len = fread(bytes, 1, BYTES_MAX, file);
    assert_int_equal(fclose(file), 0);
    struct fact fact;
    struct error e;
    assert_int_equal(fact_decode((struct str){bytes, len}, &rig->arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.type, FACT_TASK_ENDED);
    assert_int_equal(fact.version, 1);
    assert_int_equal(fact.task_ended.state, TASK_COMPLETED);
    assert_int_equal(fact.task_ended.released, UINT32_MAX);
}

int main(void)
{
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_task_moves_ahead_and_behind),
        RIG_TEST(moves_never_run_out_of_ranks),
        RIG_TEST(other_projects_keep_their_places),
        RIG_TEST(a_move_stays_in_its_line),
        RIG_TEST(a_task_moved_ahead_takes_the_place_of_an_equal_one),
        RIG_TEST(only_where_priorities_preempt),
        RIG_TEST(a_new_order_of_waiting_tasks_evicts_nobody),
        RIG_TEST(a_running_task_is_paused_and_runs_again),
        RIG_TEST(a_pause_may_be_taken_back_while_it_stops),
        RIG_TEST(a_paused_gang_leaves_whole),
        RIG_TEST(a_running_task_changes_its_pool_after_its_grace),
        RIG_TEST(a_pool_that_goes_meanwhile_is_not_reached),
        RIG_TEST(resources_of_a_waiting_task_change),
        RIG_TEST(the_project_of_a_waiting_task_changes),
        RIG_TEST(any_end_sets_free_who_asked_for_any),
        RIG_TEST(many_dependents_are_told_piece_by_piece),
        RIG_TEST(an_end_of_version_1_freed_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
