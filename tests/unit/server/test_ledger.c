/* test_ledger.c - held until the disk has it; dropped when the disk refuses. The store thread is
 * played by the test: jobs lie in `job` until the test says how they went.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

struct world {
    struct loop *loop;
    struct ledger *ledger;
    struct store_job *job; /* handed over, not yet done */
    unsigned committed;
    unsigned healed;
    size_t facts_committed;
    size_t effects_released;
    struct arena arena;
};

static struct world *world; /* where the played store thread finds it */

/* In place of store_thread.c. */
void store_thread_do(struct store_thread *thread, struct store_job *job)
{
    (void)thread;
    assert_null(world->job);
    world->job = job;
    loop_stop(world->loop);
}

static void on_committed(void *ctx, const struct batch *batch)
{
    struct world *w = ctx;
    w->committed++;
    w->facts_committed += batch->facts.count;
    w->effects_released += batch->effects.count;
}

static void on_healed(void *ctx)
{
    struct world *w = ctx;
    w->healed++;
}

static void on_probe(void *ctx, struct store_token *ret)
{
    (void)ctx;
    *ret = (struct store_token){.id = "probe"};
}

static void job_ends(enum err err, struct core *core)
{
    struct store_job *job = world->job;
    assert_non_null(job);
    world->job = NULL;
    job->err = err;
    job->core = core;
    if (err != ERR_OK) {
        job->error.code = err;
        assert_true(str_copy(job->error.text, ERROR_TEXT_MAX, "no space left on device"));
    }
    ledger_job_done(world->ledger, job);
}

static enum verdict give(struct input *in)
{
    struct facts facts;
    in->actor = "user:test";
    in->cause = "";
    fact_list_init(&facts, &world->arena);
    return ledger_input(world->ledger, in, &facts);
}

static void submit(void)
{
    static const char *const argv[] = {"true"};
    static const struct task_spec spec = {
        .kind = TASK_COMMAND,
        .name = "",
        .user = "test",
        .project = "default",
        .image = "",
        .workdir = "",
        .argv = argv,
        .argv_count = 1,
        .slots_milli = ASK_NOTHING,
        .cpu_milli = ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
        .instances = 1,
        .repeatable = true,
        .priority = PRIORITY_DEFAULT,
        .grace_ms = GRACE_MS_DEFAULT,
    };
    struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = &spec, .count = 1}};
    assert_int_equal(give(&in), VERDICT_OK);
}

struct answer {
    struct parked_answer hold;
    unsigned given;
    bool failed;
};

static void answer_given(struct parked_answer *hold, const struct error *failure)
{
    struct answer *answer = (struct answer *)hold;
    answer->given++;
    answer->failed = failure != NULL;
}

static void ask(struct answer *answer)
{
    *answer = (struct answer){.hold = {.fn = answer_given}};
    ledger_hold(world->ledger, &answer->hold);
}

static int setup(void **state)
{
    struct error e;
    struct world *w = xcalloc(1, sizeof *w);
    struct ledger_hooks hooks = {
        .ctx = w, .committed = on_committed, .healed = on_healed, .probe = on_probe};
    world = w;
    arena_init(&w->arena);
    assert_int_equal(loop_new(&w->loop, &e), ERR_OK);
    w->ledger = ledger_new(w->loop, core_new(), 1000000, &hooks);
    struct input start = {.type = INPUT_SERVER_START};
    assert_int_equal(give(&start), VERDICT_OK);
    ledger_hand_over(w->ledger);
    job_ends(ERR_OK, NULL);
    w->committed = 0;
    w->facts_committed = 0;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    if (w->job != NULL) {
        free(w->job);
    }
    ledger_free(w->ledger);
    loop_free(w->loop);
    arena_done(&w->arena);
    free(w);
    return 0;
}

static void a_read_of_what_is_on_disk_is_answered_at_once(void **state)
{
    (void)state;
    struct answer answer;
    ask(&answer);
    assert_int_equal(answer.given, 1);
    assert_false(answer.failed);
    assert_true(ledger_quiet(world->ledger));
}

static void an_answer_waits_for_its_commit(void **state)
{
    (void)state;
    struct answer answer;
    submit();
    ask(&answer);
    assert_int_equal(answer.given, 0);
    ledger_hand_over(world->ledger);
    assert_int_equal(answer.given, 0);
    assert_int_equal(world->job->kind, STORE_COMMIT);
    job_ends(ERR_OK, NULL);
    assert_int_equal(answer.given, 1);
    assert_false(answer.failed);
    assert_int_equal(world->committed, 1);
}

static void a_read_waits_for_what_it_could_see(void **state)
{
    (void)state;
    struct answer answer;
    submit();
    ledger_hand_over(world->ledger);
    ask(&answer); /* nothing new was decided, but the commit of what it saw is under way */
    assert_int_equal(answer.given, 0);
    job_ends(ERR_OK, NULL);
    assert_int_equal(answer.given, 1);
}

static void facts_gather_while_a_commit_is_under_way(void **state)
{
    (void)state;
    struct answer first;
    struct answer later;
    submit();
    ask(&first);
    ledger_hand_over(world->ledger);
    for (int i = 0; i < 10; i++) {
        submit();
        ledger_hand_over(world->ledger); /* one commit at a time: nothing is handed over */
    }
    ask(&later);
    job_ends(ERR_OK, NULL);
    assert_int_equal(first.given, 1);
    assert_int_equal(later.given, 0);
    ledger_hand_over(world->ledger);
    assert_int_equal(world->job->batch->facts.count, 10);
    job_ends(ERR_OK, NULL);
    assert_int_equal(later.given, 1);
    assert_int_equal(world->committed, 2);
    assert_int_equal(world->facts_committed, 11);
}

static void a_request_that_went_away_is_forgotten(void **state)
{
    (void)state;
    struct answer answer;
    submit();
    ask(&answer);
    ledger_unhold(world->ledger, &answer.hold);
    ledger_unhold(world->ledger, &answer.hold);
    ledger_hand_over(world->ledger);
    job_ends(ERR_OK, NULL);
    assert_int_equal(answer.given, 0);
}

static void facts_are_numbered_without_gaps(void **state)
{
    (void)state;
    uint64_t seq = query_seq(ledger_core(world->ledger));
    submit();
    submit();
    ledger_hand_over(world->ledger);
    const struct batch *batch = world->job->batch;
    for (size_t i = 0; i < batch->facts.count; i++) {
        assert_int_equal(batch->facts.at[i].seq, seq + 1 + i);
    }
    assert_int_equal(query_seq(ledger_core(world->ledger)), seq + batch->facts.count);
    job_ends(ERR_OK, NULL);
}

/* A core as the disk has it: what the test committed before the failure. */
static struct core *core_on_disk(void)
{
    struct core *core = core_new();
    struct input start = {
        .type = INPUT_SERVER_START, .actor = "server", .cause = "", .now_ms = 1000000};
    struct facts facts;
    fact_list_init(&facts, &world->arena);
    assert_int_equal(core_decide(core, &start, &facts), VERDICT_OK);
    for (size_t i = 0; i < facts.count; i++) {
        core_apply(core, &facts.at[i]);
    }
    return core;
}

static void a_failed_commit_drops_all_that_is_not_on_disk(void **state)
{
    (void)state;
    struct answer stored;
    struct answer gathered;
    struct error e;
    submit();
    ask(&stored);
    ledger_hand_over(world->ledger);
    submit();
    ask(&gathered);
    job_ends(ERR_IO, NULL);
    assert_true(stored.failed);
    assert_true(gathered.failed);
    assert_int_equal(world->committed, 0);
    assert_int_equal(ledger_state(world->ledger), LEDGER_REBUILDING);
    assert_null(ledger_core(world->ledger));
    assert_int_equal(ledger_writable(world->ledger, &e), ERR_BUSY);
    assert_non_null(strstr(e.text, "no space left"));
    assert_int_equal(world->job->kind, STORE_REBUILD);
    job_ends(ERR_OK, core_on_disk());
    assert_int_equal(ledger_state(world->ledger), LEDGER_READ_ONLY);
    assert_null(query_task(ledger_core(world->ledger), (task_id){1}));
    struct answer read;
    ask(&read); /* reads go on */
    assert_int_equal(read.given, 1);
    assert_false(read.failed);
    assert_int_equal(ledger_writable(world->ledger, &e), ERR_BUSY);
}

static void who_asks_while_the_state_is_rebuilt_waits_for_it(void **state)
{
    (void)state;
    struct answer early = {.hold = {.fn = answer_given}};
    struct answer late = {.hold = {.fn = answer_given}};
    submit();
    ledger_hand_over(world->ledger);
    job_ends(ERR_IO, NULL);
    ledger_await_core(world->ledger, &early.hold);
    assert_int_equal(early.given, 0);
    job_ends(ERR_IO, NULL); /* the disk cannot be read either: it is told */
    assert_int_equal(early.given, 1);
    assert_true(early.failed);
    ledger_await_core(world->ledger, &late.hold);
    loop_run(world->loop);
    job_ends(ERR_OK, core_on_disk());
    assert_int_equal(late.given, 1);
    assert_false(late.failed);
    assert_int_equal(ledger_state(world->ledger), LEDGER_READ_ONLY);
}

static void it_heals_when_a_probe_succeeds(void **state)
{
    (void)state;
    struct error e;
    submit();
    ledger_hand_over(world->ledger);
    job_ends(ERR_IO, NULL);
    job_ends(ERR_OK, core_on_disk());
    loop_run(world->loop); /* until the probe is handed over */
    assert_int_equal(world->job->kind, STORE_COMMIT);
    assert_string_equal(world->job->batch->tokens.at[0].id, "probe");
    job_ends(ERR_IO, NULL);
    assert_int_equal(ledger_state(world->ledger), LEDGER_READ_ONLY);
    assert_int_equal(world->healed, 0);
    loop_run(world->loop); /* and the next one */
    job_ends(ERR_OK, NULL);
    assert_int_equal(ledger_state(world->ledger), LEDGER_OPEN);
    assert_int_equal(world->healed, 1);
    assert_int_equal(ledger_writable(world->ledger, &e), ERR_OK);
    submit();
    ledger_hand_over(world->ledger);
    job_ends(ERR_OK, NULL);
    assert_int_equal(world->committed, 1);
}

static void a_state_that_cannot_be_read_is_tried_again(void **state)
{
    (void)state;
    submit();
    ledger_hand_over(world->ledger);
    job_ends(ERR_IO, NULL);
    job_ends(ERR_IO, NULL);
    assert_int_equal(ledger_state(world->ledger), LEDGER_REBUILDING);
    loop_run(world->loop);
    assert_int_equal(world->job->kind, STORE_REBUILD);
    job_ends(ERR_OK, core_on_disk());
    assert_int_equal(ledger_state(world->ledger), LEDGER_READ_ONLY);
}

static void submissions_are_refused_before_reads_and_reports_never(void **state)
{
    (void)state;
    struct error e;
    enum { ASKED = 3072 };
    struct answer *answers = xcalloc(ASKED, sizeof *answers);
    submit();
    for (size_t i = 0; i < ASKED; i++) {
        if (i == 2048) {
            assert_int_equal(ledger_room(world->ledger, ROOM_SUBMIT, &e), ERR_BUSY);
            assert_int_equal(ledger_room(world->ledger, ROOM_READ, &e), ERR_OK);
        }
        ask(&answers[i]);
    }
    assert_int_equal(ledger_room(world->ledger, ROOM_READ, &e), ERR_BUSY);
    assert_int_equal(ledger_room(world->ledger, ROOM_CONTROL, &e), ERR_OK);
    ledger_hand_over(world->ledger);
    job_ends(ERR_OK, NULL);
    assert_int_equal(ledger_room(world->ledger, ROOM_SUBMIT, &e), ERR_OK);
    free(answers);
}

static void time_goes_on_from_the_last_recorded(void **state)
{
    (void)state;
    /* A wall clock that was set back: 500,000 is before the last fact's time. */
    struct core *core = core_on_disk();
    struct ledger_hooks hooks = {
        .ctx = world, .committed = on_committed, .healed = on_healed, .probe = on_probe};
    struct ledger *ledger = ledger_new(world->loop, core, 500000, &hooks);
    int64_t now_ms = ledger_now_ms(ledger);
    assert_true(now_ms >= 1000000);
    assert_int_equal(ledger_boot_ms(ledger, now_ms + 5), loop_now_ms(world->loop) + 5);
    ledger_free(ledger);
}

/* Reading a large state takes long, and the loop has not turned since it was made: the two clocks still agree. */
static void what_was_done_before_the_first_turn_moves_no_clock(void **state)
{
    (void)state;
    const int64_t made_ms = loop_now_ms(world->loop);
    struct timespec now;
    do {
        assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &now), 0);
    } while ((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 < made_ms + 3);
    struct ledger_hooks hooks = {
        .ctx = world, .committed = on_committed, .healed = on_healed, .probe = on_probe};
    struct ledger *ledger = ledger_new(world->loop, core_on_disk(), 5000000, &hooks);
    assert_int_equal(ledger_now_ms(ledger), 5000000);
    assert_true(ledger_boot_ms(ledger, 5000000) >= made_ms + 3);
    ledger_free(ledger);
}

#define LEDGER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEDGER_TEST(a_read_of_what_is_on_disk_is_answered_at_once),
        LEDGER_TEST(an_answer_waits_for_its_commit),
        LEDGER_TEST(a_read_waits_for_what_it_could_see),
        LEDGER_TEST(facts_gather_while_a_commit_is_under_way),
        LEDGER_TEST(a_request_that_went_away_is_forgotten),
        LEDGER_TEST(facts_are_numbered_without_gaps),
        LEDGER_TEST(a_failed_commit_drops_all_that_is_not_on_disk),
        LEDGER_TEST(who_asks_while_the_state_is_rebuilt_waits_for_it),
        LEDGER_TEST(it_heals_when_a_probe_succeeds),
        LEDGER_TEST(a_state_that_cannot_be_read_is_tried_again),
        LEDGER_TEST(submissions_are_refused_before_reads_and_reports_never),
        LEDGER_TEST(time_goes_on_from_the_last_recorded),
        LEDGER_TEST(what_was_done_before_the_first_turn_moves_no_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
