/* test_store_thread.c - jobs go to the store's thread and come back in order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/store_thread.h"

#include "scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct world {
    struct loop *loop;
    struct store_job *back[STORE_JOBS_MAX];
    size_t count;
    size_t wanted;
};

static void job_back(void *ctx, struct store_job *job)
{
    struct world *w = ctx;
    w->back[w->count++] = job;
    if (w->count == w->wanted) {
        loop_stop(w->loop);
    }
}

static void jobs_come_back_in_order_with_what_came_of_them(void **state)
{
    (void)state;
    char dir[SCRATCH_PATH_MAX];
    struct world w = {.wanted = 4};
    struct store *store;
    struct store_thread *thread;
    struct error e;
    scratch_make(dir);
    struct store_options options = {.dir = dir, .facts_keep = 10};
    assert_int_equal(store_open(&options, &store, &e), ERR_OK);
    assert_int_equal(loop_new(&w.loop, &e), ERR_OK);
    assert_int_equal(store_thread_start(w.loop, store, job_back, &w, &thread, &e), ERR_OK);
    struct batch *good = batch_new();
    struct batch *gap = batch_new();
    batch_fact(good, &(struct store_fact){.seq = 1, .time_ms = 1, .type = 1, .body = {"x", 1}});
    batch_fact(gap, &(struct store_fact){.seq = 7, .time_ms = 1, .type = 1, .body = {"x", 1}});
    struct store_job jobs[] = {
        {.kind = STORE_COMMIT, .batch = good},
        {.kind = STORE_COMMIT, .batch = gap},
        {.kind = STORE_REBUILD},
        {.kind = STORE_PRUNE, .now_ms = 5},
    };
    for (size_t i = 0; i < w.wanted; i++) {
        store_thread_do(thread, &jobs[i]);
    }
    loop_run(w.loop);
    for (size_t i = 0; i < w.wanted; i++) {
        assert_ptr_equal(w.back[i], &jobs[i]);
    }
    assert_int_equal(jobs[0].err, ERR_OK);
    assert_int_not_equal(jobs[1].err, ERR_OK);
    assert_int_equal(jobs[2].err, ERR_CORRUPT); /* "x" is no fact */
    assert_int_equal(jobs[3].err, ERR_OK);
    store_thread_stop(thread);
    batch_free(good);
    batch_free(gap);
    loop_free(w.loop);
    scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_come_back_in_order_with_what_came_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
