/* test_work_thread.c - pieces of work run elsewhere and end on the loop; too many are refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/work_thread.h"

#include "base/mem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct piece {
    struct work work;
    pthread_t ran_on;
    bool done;
    size_t *left;
    struct loop *loop;
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void piece_run(struct work *work, struct store_reader *reader)
{
    struct piece *piece = (struct piece *)work;
    assert_null(reader);
    (void)pthread_mutex_lock(&gate);
    piece->ran_on = pthread_self();
    (void)pthread_mutex_unlock(&gate);
}

static void piece_done(struct work *work)
{
    struct piece *piece = (struct piece *)work;
    piece->done = true;
    if (--*piece->left == 0 && piece->loop != NULL) {
        loop_stop(piece->loop);
    }
}

static struct piece *pieces_new(size_t count, size_t *left, struct loop *loop)
{
    struct piece *pieces = xcalloc(count, sizeof *pieces);
    for (size_t i = 0; i < count; i++) {
        pieces[i] = (struct piece){
            .work = {.run = piece_run, .done = piece_done}, .left = left, .loop = loop};
    }
    return pieces;
}

static void work_runs_on_the_other_thread_and_ends_on_the_loop(void **state)
{
    (void)state;
    struct loop *loop;
    struct work_thread *thread;
    struct error e;
    size_t left = 10;
    assert_int_equal(loop_new(&loop, &e), ERR_OK);
    assert_int_equal(work_thread_start(loop, NULL, &thread, &e), ERR_OK);
    struct piece *pieces = pieces_new(10, &left, loop);
    for (size_t i = 0; i < 10; i++) {
        assert_true(work_thread_do(thread, &pieces[i].work));
    }
    loop_run(loop);
    for (size_t i = 0; i < 10; i++) {
        assert_true(pieces[i].done);
        assert_false(pthread_equal(pieces[i].ran_on, pthread_self()));
    }
    work_thread_stop(thread);
    loop_free(loop);
    free(pieces);
}

static void too_much_work_is_refused_and_a_stop_finishes_the_rest(void **state)
{
    (void)state;
    struct loop *loop;
    struct work_thread *thread;
    struct error e;
    size_t left = WORK_WAITING_MAX;
    assert_int_equal(loop_new(&loop, &e), ERR_OK);
    assert_int_equal(work_thread_start(loop, NULL, &thread, &e), ERR_OK);
    struct piece *pieces = pieces_new(WORK_WAITING_MAX + 1, &left, NULL);
    (void)pthread_mutex_lock(&gate); /* nothing comes back meanwhile */
    for (size_t i = 0; i < WORK_WAITING_MAX; i++) {
        assert_true(work_thread_do(thread, &pieces[i].work));
    }
    assert_false(work_thread_do(thread, &pieces[WORK_WAITING_MAX].work));
    (void)pthread_mutex_unlock(&gate);
    work_thread_stop(thread);
    assert_int_equal(left, 0);
    loop_free(loop);
    free(pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_runs_on_the_other_thread_and_ends_on_the_loop),
        cmocka_unit_test(too_much_work_is_refused_and_a_stop_finishes_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
