/* test_threads.c - the store as the server uses it: one thread commits, one reads, one writes
 * snapshots. What a reader sees is a state that some commit left; meant for the thread sanitizer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>

enum { STEPS = 400, SNAPSHOTS = 30 };

struct shared {
    struct fixture *f;
    _Atomic uint64_t committed; /* by the committing thread */
    _Atomic bool failed;
};

static enum err fact_follow(void *ctx, const struct store_fact *fact, struct error *e)
{
    uint64_t *last = ctx;
    if (fact->seq != *last + 1) {
        return fail(e, ERR_CORRUPT, "out of order");
    }
    *last = fact->seq;
    return ERR_OK;
}

static void bytes_sum(void *ctx, const struct store_log_piece *piece)
{
    uint64_t *bytes = ctx;
    *bytes += piece->data.len;
}

/* Follows facts and output until all are seen; both grow, and output is never behind its fact. */
static enum err reader_follow(struct shared *shared, struct store_reader *reader, struct error *e)
{
    uint64_t last = 0;
    while (last < STEPS && !shared->failed) {
        uint64_t committed = shared->committed;
        uint64_t bytes = 0;
        struct arena arena;
        arena_init(&arena);
        enum err r = store_reader_facts(reader, last, 100, fact_follow, &last, e);
        struct store_log_filter filter = {
            .task = 1, .index = -1, .attempt = -1, .bytes_max = SIZE_MAX};
        if (r == ERR_OK) {
            r = store_reader_logs(reader, &filter, &arena, bytes_sum, &bytes, e);
        }
        arena_done(&arena);
        if (r == ERR_OK && (bytes < last * 12 || bytes < committed * 12)) {
            r = fail(e, ERR_CORRUPT, "output is behind its facts");
        }
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

static void *reader_main(void *ctx)
{
    struct shared *shared = ctx;
    struct store_reader *reader;
    struct error e;
    if (store_reader_open(shared->f->dir, &reader, &e) != ERR_OK) {
        shared->failed = true;
        return NULL;
    }
    if (reader_follow(shared, reader, &e) != ERR_OK) {
        shared->failed = true;
    }
    store_reader_close(reader);
    return NULL;
}

/* The files only: recording one is the committing thread's. */
static void *snapshots_main(void *ctx)
{
    struct shared *shared = ctx;
    struct error e;
    for (uint64_t seq = 1; seq <= SNAPSHOTS && !shared->failed; seq++) {
        if (store_snapshot_write(shared->f->dir, seq, str_of("state"), &e) != ERR_OK) {
            shared->failed = true;
        }
    }
    return NULL;
}

static void committer_run(struct shared *shared)
{
    struct fixture *f = shared->f;
    for (uint64_t seq = 1; seq <= STEPS && !shared->failed; seq++) {
        if (fixture_step(f, seq) != ERR_OK || store_commit_tend(f->store, &f->e) != ERR_OK) {
            shared->failed = true;
        }
        shared->committed = seq;
    }
}

static void readers_and_snapshots_run_beside_commits(void **state)
{
    struct fixture *f = *state;
    struct shared shared = {.f = f};
    pthread_t threads[2];
    fixture_open(f);
    assert_int_equal(pthread_create(&threads[0], NULL, reader_main, &shared), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, snapshots_main, &shared), 0);
    committer_run(&shared);
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    assert_int_equal(pthread_join(threads[1], NULL), 0);
    assert_false(shared.failed);
    fixture_steps_check(f, f->dir, STEPS);
    assert_ok(store_prune_snapshot_taken(f->store, SNAPSHOTS, &f->e));
    assert_ok(store_prune_snapshot_taken(f->store, SNAPSHOTS - 1, &f->e));
    assert_false(fixture_exists(f, "snapshot/1.snap"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(readers_and_snapshots_run_beside_commits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
