/* test_batch.c - a batch keeps copies and is clean when it is used again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/batch.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void what_is_added_is_copied(void **state)
{
    (void)state;
    struct batch *batch = batch_new();
    char bytes[] = "fact";
    char output[] = "line\n";
    assert_true(batch_empty(batch));
    batch_fact(batch, &(struct store_fact){.seq = 7, .body = {bytes, 4}});
    batch_log(batch, &(struct store_log){.task = 3, .data = {output, 5}});
    memset(bytes, 'x', sizeof bytes);
    memset(output, 'x', sizeof output);
    struct store_batch stored = batch_for_store(batch);
    assert_int_equal(stored.fact_count, 1);
    assert_int_equal(stored.facts[0].seq, 7);
    assert_true(str_is(stored.facts[0].body, "fact"));
    assert_int_equal(stored.log_count, 1);
    assert_true(str_is(stored.logs[0].data, "line\n"));
    assert_int_equal(batch->bytes, 9);
    batch_clear(batch);
    assert_true(batch_empty(batch));
    assert_int_equal(batch->bytes, 0);
    batch_free(batch);
}

static void a_huge_batch_gives_its_memory_back(void **state)
{
    (void)state;
    struct batch *batch = batch_new();
    for (uint64_t i = 0; i < 10000; i++) {
        batch_fact(batch, &(struct store_fact){.seq = i + 1, .body = {"x", 1}});
    }
    batch_clear(batch);
    assert_int_equal(batch->facts.room, 0);
    batch_fact(batch, &(struct store_fact){.seq = 1, .body = {"x", 1}});
    size_t room = batch->facts.room;
    batch_clear(batch);
    assert_int_equal(batch->facts.room, room);
    batch_free(batch);
}

static void a_token_alone_is_worth_a_commit(void **state)
{
    (void)state;
    struct batch *batch = batch_new();
    vec_push(&batch->tokens, (struct store_token){0});
    assert_false(batch_empty(batch));
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_copied),
        cmocka_unit_test(a_huge_batch_gives_its_memory_back),
        cmocka_unit_test(a_token_alone_is_worth_a_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
