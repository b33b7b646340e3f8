/* test_commit_apart.c - one piece of output that the store refuses does not stop the others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/commit_apart.h"

#include "scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PIECES = 100 };

struct world {
    char dir[SCRATCH_PATH_MAX];
    struct store *store;
    struct store_log logs[PIECES];
    struct store_fact fact;
    struct store_batch batch;
};

static void world_make(struct world *w)
{
    struct error e;
    scratch_make(w->dir);
    struct store_options options = {.dir = w->dir, .facts_keep = 10};
    assert_int_equal(store_open(&options, &w->store, &e), ERR_OK);
    for (size_t i = 0; i < PIECES; i++) {
        w->logs[i] =
            (struct store_log){.task = i + 1, .attempt = 1, .stream = 1, .data = {"line\n", 5}};
    }
    w->fact = (struct store_fact){.seq = 1, .time_ms = 1, .type = 1, .body = {"x", 1}};
    w->batch = (struct store_batch){
        .facts = &w->fact, .fact_count = 1, .logs = w->logs, .log_count = PIECES};
}

static void world_end(struct world *w)
{
    store_close(w->store);
    scratch_remove(w->dir);
}

static void piece_seen(void *ctx, const struct store_log_piece *piece)
{
    assert_int_equal(piece->data.len, 5);
    (*(unsigned *)ctx)++;
}

/* How many tasks have output in the store. */
static unsigned outputs(const struct world *w)
{
    struct store_reader *reader;
    struct error e;
    struct arena arena;
    unsigned count = 0;
    arena_init(&arena);
    assert_int_equal(store_reader_open(w->dir, &reader, &e), ERR_OK);
    for (size_t i = 0; i < PIECES; i++) {
        struct store_log_filter filter = {
            .task = i + 1, .index = -1, .attempt = -1, .bytes_max = 100};
        assert_int_equal(store_reader_logs(reader, &filter, &arena, piece_seen, &count, &e),
                         ERR_OK);
    }
    store_reader_close(reader);
    arena_done(&arena);
    return count;
}

static void a_batch_in_order_is_stored_whole(void **state)
{
    (void)state;
    struct world w;
    struct error e;
    uint64_t aside = 7;
    world_make(&w);
    assert_int_equal(commit_apart(w.store, &w.batch, &aside, &e), ERR_OK);
    assert_int_equal(aside, 0);
    assert_int_equal(outputs(&w), PIECES);
    world_end(&w);
}

static void pieces_that_the_store_refuses_are_set_aside_alone(void **state)
{
    (void)state;
    struct world w;
    struct error e;
    uint64_t aside = 0;
    world_make(&w);
    w.logs[0].offset = INT64_MAX;
    w.logs[41].offset = STORE_LOG_OFFSET_MAX;
    w.logs[42].offset = UINT64_MAX;
    w.logs[99].task = 0;
    assert_int_equal(commit_apart(w.store, &w.batch, &aside, &e), ERR_OK);
    assert_int_equal(aside, 4);
    assert_int_equal(outputs(&w), PIECES - 4);
    assert_int_equal(store_commit_last_seq(w.store), 1);
    world_end(&w);
}

static void a_fact_is_never_set_aside(void **state)
{
    (void)state;
    struct world w;
    struct error e;
    uint64_t aside = 0;
    world_make(&w);
    w.logs[5].offset = INT64_MAX;
    w.fact.seq = 3;
    assert_int_equal(commit_apart(w.store, &w.batch, &aside, &e), ERR_INTERNAL);
    assert_int_equal(store_commit_last_seq(w.store), 0);
    w.fact.seq = 1;
    assert_int_equal(commit_apart(w.store, &w.batch, &aside, &e), ERR_OK);
    assert_int_equal(aside, 1);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_in_order_is_stored_whole),
        cmocka_unit_test(pieces_that_the_store_refuses_are_set_aside_alone),
        cmocka_unit_test(a_fact_is_never_set_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
