/* test_past.c - the way back: which older snapshots stay, and the fact and snapshot of a moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static void facts_up_to(struct fixture *f, uint64_t first, uint64_t last)
{
    for (uint64_t seq = first; seq <= last; seq += 100) {
        assert_ok(fixture_facts(f, seq, seq + 99 < last ? seq + 99 : last));
    }
}

static void snapshot_put(struct fixture *f, uint64_t seq)
{
    char text[32];
    (void)snprintf(text, sizeof text, "state %llu", (unsigned long long)seq);
    assert_ok(store_snapshot_write(f->dir, seq, str_of(text), &f->e));
    assert_ok(store_prune_snapshot_taken(f->store, seq, &f->e));
}

static bool snapshot_there(const struct fixture *f, uint64_t seq)
{
    char name[64];
    (void)snprintf(name, sizeof name, "snapshot/%llu.snap", (unsigned long long)seq);
    return fixture_exists(f, name);
}

/* The newest snapshot up to fact `seq`, as a new reader finds it. */
static uint64_t snapshot_up_to(struct fixture *f, uint64_t seq)
{
    struct store_reader *reader;
    struct arena arena;
    struct str bytes;
    uint64_t found;
    char text[32];
    arena_init(&arena);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    assert_ok(store_past_snapshot(reader, seq, &arena, &found, &bytes, &f->e));
    (void)snprintf(text, sizeof text, "state %llu", (unsigned long long)found);
    assert_true(found == 0 ? bytes.len == 0 : str_is(bytes, text));
    store_reader_close(reader);
    arena_done(&arena);
    return found;
}

static uint64_t fact_at(struct fixture *f, int64_t at_ms, int64_t *ret_from_ms)
{
    struct store_reader *reader;
    uint64_t seq;
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    assert_ok(store_past_moment(reader, at_ms, &seq, ret_from_ms, &f->e));
    store_reader_close(reader);
    return seq;
}

static void older_snapshots_stay_at_most_the_gap_apart(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    facts_up_to(f, 1, 120000);
    for (uint64_t seq = 20000; seq <= 120000; seq += 20000) {
        snapshot_put(f, seq);
    }
    /* The two newest, and of three neighbours only the outer two. */
    assert_true(snapshot_there(f, 120000) && snapshot_there(f, 100000));
    assert_true(snapshot_there(f, 80000) && snapshot_there(f, 40000));
    assert_false(snapshot_there(f, 60000) || snapshot_there(f, 20000));
    assert_int_equal(snapshot_up_to(f, 119999), 100000);
    assert_int_equal(snapshot_up_to(f, 79999), 40000);
    assert_int_equal(snapshot_up_to(f, 39999), 0);
    /* A snapshot whose facts have gone leads nowhere. */
    for (bool more = true; more;) {
        assert_ok(store_prune(f->store, 0, &more, &f->e));
    }
    facts_up_to(f, 120001, 120100);
    snapshot_put(f, 120100);
    assert_true(snapshot_there(f, 120100) && snapshot_there(f, 120000) &&
                snapshot_there(f, 100000));
    assert_false(snapshot_there(f, 80000) || snapshot_there(f, 40000));
}

static void the_fact_of_a_moment_is_the_newest_up_to_it(void **state)
{
    struct fixture *f = *state;
    int64_t from_ms;
    fixture_open(f);
    assert_int_equal(fact_at(f, 1000, &from_ms), 0);
    assert_true(from_ms == INT64_MAX);
    assert_ok(fixture_facts(f, 1, 57)); /* fact n was decided at n * 10 ms */
    assert_int_equal(fact_at(f, 9, &from_ms), 0);
    assert_int_equal(from_ms, 10);
    for (int64_t ms = 10; ms < 580; ms++) {
        assert_int_equal(fact_at(f, ms, &from_ms), (uint64_t)(ms < 570 ? ms / 10 : 57));
    }
    assert_int_equal(fact_at(f, INT64_MAX, &from_ms), 57);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(older_snapshots_stay_at_most_the_gap_apart),
        store_test(the_fact_of_a_moment_is_the_newest_up_to_it),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
