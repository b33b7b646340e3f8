/* test_recover.c - the state that was stored is the state that comes back, byte for byte, with a
 * snapshot and without.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/recover.h"

#include "base/vec.h"
#include "scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { STATE_BYTES_MAX = 16 * 1024 * 1024, TASKS = 200 };

struct world {
    char dir[SCRATCH_PATH_MAX];
    struct store *store;
    struct core *core;
    struct arena arena;
};

/* Decide, apply, store. */
static void give(struct world *w, struct input *in)
{
    struct facts facts;
    struct error e;
    struct buf bytes;
    buf_init(&bytes, STATE_BYTES_MAX);
    fact_list_init(&facts, &w->arena);
    in->actor = "test";
    in->cause = "";
    assert_int_equal(core_decide(w->core, in, &facts), VERDICT_OK);
    for (size_t i = 0; i < facts.count; i++) {
        buf_clear(&bytes);
        fact_encode(&facts.at[i], &bytes);
        core_apply(w->core, &facts.at[i]);
        struct store_fact fact = {
            .seq = query_seq(w->core),
            .time_ms = facts.at[i].time_ms,
            .type = (uint32_t)facts.at[i].type,
            .body = {bytes.data, bytes.len},
        };
        struct store_batch batch = {.facts = &fact, .fact_count = 1};
        assert_int_equal(store_commit(w->store, &batch, &e), ERR_OK);
    }
    buf_done(&bytes);
}

static void submit(struct world *w, uint32_t count)
{
    static const char *const argv[] = {"sh", "-c", "exit 3"};
    struct task_spec *specs = arena_new(&w->arena, struct task_spec, count);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = (struct task_spec){
            .kind = TASK_COMMAND,
            .name = "t",
            .user = "test",
            .project = "default",
            .image = "",
            .workdir = "",
            .argv = argv,
            .argv_count = 3,
            .slots_milli = ASK_NOTHING,
            .cpu_milli = ASK_NOTHING,
            .memory_bytes = ASK_NOTHING,
            .instances = 1,
            .repeatable = true,
            .priority = 1 + i % 100,
            .grace_ms = GRACE_MS_DEFAULT,
        };
    }
    struct input in = {
        .type = INPUT_TASK_SUBMIT, .now_ms = 2000, .submit = {.specs = specs, .count = count}};
    give(w, &in);
}

static int setup(void **state)
{
    struct error e;
    struct world *w = xcalloc(1, sizeof *w);
    scratch_make(w->dir);
    struct store_options options = {.dir = w->dir, .facts_keep = 1000};
    assert_int_equal(store_open(&options, &w->store, &e), ERR_OK);
    arena_init(&w->arena);
    w->core = core_new();
    struct input start = {.type = INPUT_SERVER_START, .now_ms = 1000};
    give(w, &start);
    submit(w, TASKS);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    store_close(w->store);
    core_free(w->core);
    arena_done(&w->arena);
    scratch_remove(w->dir);
    free(w);
    return 0;
}

static void assert_same_state(const struct core *a, const struct core *b)
{
    struct buf first;
    struct buf second;
    buf_init(&first, STATE_BYTES_MAX);
    buf_init(&second, STATE_BYTES_MAX);
    core_encode(a, &first);
    core_encode(b, &second);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    buf_done(&first);
    buf_done(&second);
}

static void replay_gives_the_same_state(void **state)
{
    struct world *w = *state;
    struct core *core;
    struct recovered what;
    struct error e;
    assert_int_equal(recover_core(w->store, &core, &what, &e), ERR_OK);
    assert_int_equal(what.snapshot_seq, 0);
    assert_int_equal(what.facts, query_seq(w->core));
    assert_same_state(core, w->core);
    core_free(core);
}

static void snapshot_put(struct world *w, struct str bytes)
{
    struct error e;
    uint64_t seq = query_seq(w->core);
    assert_int_equal(store_snapshot_write(w->dir, seq, bytes, &e), ERR_OK);
    assert_int_equal(store_prune_snapshot_taken(w->store, seq, &e), ERR_OK);
}

static void snapshot_of_the_state(struct world *w)
{
    struct buf bytes;
    buf_init(&bytes, STATE_BYTES_MAX);
    core_encode(w->core, &bytes);
    snapshot_put(w, (struct str){bytes.data, bytes.len});
    buf_done(&bytes);
}

/* Whole by its checksum, and yet no state. */
static void an_undecodable_snapshot_gives_way_to_the_one_before(void **state)
{
    struct world *w = *state;
    struct core *core;
    struct recovered what;
    struct error e;
    snapshot_of_the_state(w);
    uint64_t good = query_seq(w->core);
    submit(w, 3);
    snapshot_put(w, str_of("of another kind"));
    submit(w, 2);
    assert_int_equal(recover_core(w->store, &core, &what, &e), ERR_OK);
    assert_int_equal(what.snapshot_seq, good);
    assert_same_state(core, w->core);
    core_free(core);
}

static void a_snapshot_of_another_fact_is_passed_over(void **state)
{
    struct world *w = *state;
    struct core *core;
    struct recovered what;
    struct error e;
    struct buf bytes;
    buf_init(&bytes, STATE_BYTES_MAX);
    core_encode(w->core, &bytes);
    submit(w, 1);
    snapshot_put(w, (struct str){bytes.data, bytes.len});
    buf_done(&bytes);
    assert_int_equal(recover_core(w->store, &core, &what, &e), ERR_OK);
    assert_int_equal(what.snapshot_seq, 0);
    assert_same_state(core, w->core);
    core_free(core);
}

static void without_a_usable_snapshot_every_fact_is_replayed(void **state)
{
    struct world *w = *state;
    struct core *core;
    struct recovered what;
    struct error e;
    snapshot_put(w, str_of("?"));
    submit(w, 1);
    snapshot_put(w, str_of("?"));
    assert_int_equal(recover_core(w->store, &core, &what, &e), ERR_OK);
    assert_int_equal(what.snapshot_seq, 0);
    assert_int_equal(what.facts, query_seq(w->core));
    assert_same_state(core, w->core);
    core_free(core);
}

/* Only then is there no way on, and the message says which file, what is wrong, and what to do. */
static void with_the_facts_gone_too_the_file_and_the_ways_out_are_named(void **state)
{
    struct world *w = *state;
    struct core *core;
    struct recovered what;
    struct error e;
    store_close(w->store);
    struct store_options options = {.dir = w->dir, .facts_keep = 1};
    assert_int_equal(store_open(&options, &w->store, &e), ERR_OK);
    snapshot_put(w, str_of("?"));
    submit(w, 5);
    snapshot_put(w, str_of("?"));
    for (bool more = true; more;) {
        assert_int_equal(store_prune(w->store, 5000, &more, &e), ERR_OK);
    }
    assert_int_equal(recover_core(w->store, &core, &what, &e), ERR_CORRUPT);
    const char *path = store_snapshot_path(w->store, query_seq(w->core), &w->arena);
    assert_non_null(strstr(e.text, path));
    assert_non_null(strstr(e.text, "weir db check"));
    assert_non_null(strstr(e.text, "weir db restore"));
}

static void a_snapshot_and_the_rest_give_the_same_state(void **state)
{
    struct world *w = *state;
    struct core *core;
    struct recovered what;
    struct error e;
    snapshot_of_the_state(w);
    uint64_t seq = query_seq(w->core);
    submit(w, 5);
    assert_int_equal(recover_core(w->store, &core, &what, &e), ERR_OK);
    assert_int_equal(what.snapshot_seq, seq);
    assert_int_equal(what.facts, query_seq(w->core) - seq);
    assert_same_state(core, w->core);
    core_free(core);
}

static void an_unreadable_fact_is_named(void **state)
{
    struct world *w = *state;
    struct core *core;
    struct recovered what;
    struct error e;
    struct store_fact bad = {
        .seq = query_seq(w->core) + 1, .time_ms = 3, .type = 8, .body = {"?", 1}};
    struct store_batch batch = {.facts = &bad, .fact_count = 1};
    assert_int_equal(store_commit(w->store, &batch, &e), ERR_OK);
    assert_int_equal(recover_core(w->store, &core, &what, &e), ERR_CORRUPT);
    char number[32];
    (void)snprintf(number, sizeof number, "fact %llu", (unsigned long long)bad.seq);
    assert_non_null(strstr(e.text, number));
}

#define RECOVER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECOVER_TEST(replay_gives_the_same_state),
        RECOVER_TEST(a_snapshot_and_the_rest_give_the_same_state),
        RECOVER_TEST(an_undecodable_snapshot_gives_way_to_the_one_before),
        RECOVER_TEST(a_snapshot_of_another_fact_is_passed_over),
        RECOVER_TEST(without_a_usable_snapshot_every_fact_is_replayed),
        RECOVER_TEST(with_the_facts_gone_too_the_file_and_the_ways_out_are_named),
        RECOVER_TEST(an_unreadable_fact_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
