/* test_fault.c - the disk fails at call 1, 2, 3 … until a whole life of a store passes untouched:
 * never a crash, never a false acknowledgement; what failed is not there, reads go on, and the same
 * call works once the fault is gone. SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "fault_io.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

enum { CALLS_MAX = 2000, STEPS = 8 };

/* What one life has acknowledged. */
struct life {
    struct fixture *f;
    uint64_t facts;
    uint64_t snapshot;
    int failures;
};

/* A call that fails must say why, and must work once the fault is gone. */
static void retry(struct life *life, enum err (*call)(struct life *life), const char *name)
{
    struct fixture *f = life->f;
    f->e.text[0] = '\0';
    enum err r = call(life);
    if (r == ERR_OK) {
        return;
    }
    assert_true(fault_hit());
    life->failures++;
    if (r != ERR_IO || f->e.text[0] == '\0') {
        print_error("%s: code %d, \"%s\"\n", name, r, f->e.text);
    }
    assert_int_equal(r, ERR_IO);
    assert_string_not_equal(f->e.text, "");
    enum err again = call(life); /* a lasting fault is still there */
    assert_true(again == ERR_OK || again == ERR_IO);
    fault_clear();
    r = call(life);
    assert_string_equal(r == ERR_OK ? "" : f->e.text, "");
    assert_ok(r);
}

static enum err open_call(struct life *life)
{
    struct fixture *f = life->f;
    struct store_options options = {.dir = f->dir, .facts_keep = 1, .history_keep_ms = 1000};
    return f->store != NULL ? ERR_OK : store_open(&options, &f->store, &f->e);
}

/* Facts and output in one batch; the numbers tell whether a failed one left something. */
static enum err step_call(struct life *life)
{
    struct fixture *f = life->f;
    uint64_t next = life->facts + 1;
    enum err r = fixture_step(f, next);
    if (r == ERR_OK) {
        life->facts = next;
        return r;
    }
    assert_int_equal(store_commit_last_seq(f->store), life->facts);
    return r;
}

static enum err other_call(struct life *life)
{
    struct store_token token = {.id = "t", .scope = "read", .name = "n"};
    struct store_history row = {.task = 9, .ended_ms = 1, .json = str_of("{}")};
    struct store_log log = {.task = 9, .attempt = 1, .stream = 2, .data = str_of("output")};
    struct store_batch batch = {.tokens = &token,
                                .token_count = 1,
                                .history = &row,
                                .history_count = 1,
                                .logs = &log,
                                .log_count = 1};
    return store_commit(life->f->store, &batch, &life->f->e);
}

static enum err snapshot_call(struct life *life)
{
    struct fixture *f = life->f;
    enum err r = store_snapshot_write(f->dir, life->facts, str_of("state"), &f->e);
    if (r == ERR_OK) {
        r = store_prune_snapshot_taken(f->store, life->facts, &f->e);
    }
    if (r == ERR_OK) {
        life->snapshot = life->facts;
    }
    return r;
}

static enum err prune_call(struct life *life)
{
    bool more;
    return store_prune(life->f->store, 5000, &more, &life->f->e);
}

static void acknowledged_check(struct life *life)
{
    struct fixture *f = life->f;
    struct arena arena;
    struct str bytes;
    uint64_t snapshot;
    arena_init(&arena);
    assert_ok(store_snapshot_load(f->store, UINT64_MAX, &arena, &snapshot, &bytes, &f->e));
    assert_true(snapshot >= life->snapshot);
    assert_int_equal(fixture_facts_check(f, snapshot), life->facts);
    fixture_steps_check(f, f->dir, life->facts);
    arena_done(&arena);
}

static void life_run(struct life *life)
{
    struct fixture *f = life->f;
    retry(life, open_call, "open");
    for (int i = 1; i <= STEPS; i++) {
        retry(life, step_call, "commit");
        if (i % 4 == 0) {
            retry(life, snapshot_call, "snapshot");
        }
        if (i == 6) {
            retry(life, other_call, "commit of all kinds");
            fixture_close(f); /* a checkpoint */
            retry(life, open_call, "open again");
        }
    }
    retry(life, prune_call, "prune");
    fixture_close(f);
}

/* A life in which call `n` fails; false when there were fewer calls. */
static bool life_with_fault(int number, bool stays, int n)
{
    void *state;
    assert_int_equal(fixture_set_up(&state), 0);
    struct life life = {.f = state};
    fault_set(&(struct fault){.at = n, .number = number, .stays = stays});
    life_run(&life);
    bool was_hit = fault_hit();
    fault_clear();
    fixture_open(life.f);
    acknowledged_check(&life);
    assert_ok(fixture_step(life.f, life.facts + 1));
    auto_free(freep) char *findings = fixture_findings(life.f, life.f->dir);
    assert_string_equal(findings, "");
    assert_int_equal(fixture_tear_down(&state), 0);
    return was_hit;
}

static void every_call_fails(int number, bool stays)
{
    int n = 1;
    while (life_with_fault(number, stays, n)) {
        n++;
        assert_in_range(n, 1, CALLS_MAX);
    }
    print_message("# %s%s at each of %d calls\n", strerrorname_np(number), stays ? ", lasting" : "",
                  n - 1);
    assert_in_range(n, 50, CALLS_MAX); /* else the faults do not reach the code */
}

static void an_error_at_any_call_loses_nothing(void **state)
{
    (void)state;
    every_call_fails(EIO, false);
}

static void a_lasting_error_from_any_call_on_loses_nothing(void **state)
{
    (void)state;
    every_call_fails(EIO, true);
}

static void a_full_disk_at_any_call_loses_nothing(void **state)
{
    (void)state;
    every_call_fails(ENOSPC, false);
}

static void a_disk_full_from_any_call_on_loses_nothing(void **state)
{
    (void)state;
    every_call_fails(ENOSPC, true);
}

static void reads_go_on_while_nothing_can_be_written(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    for (uint64_t seq = 1; seq <= 5; seq++) {
        assert_ok(fixture_step(f, seq));
    }
    fault_set(&(struct fault){.at = 1, .number = ENOSPC, .stays = true});
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fixture_step(f, 6), ERR_IO);
        assert_non_null(strstr(f->e.text, "No space left on device"));
        assert_int_equal(fixture_facts_check(f, 0), 5);
        fixture_steps_check(f, f->dir, 5);
    }
    fault_clear();
    assert_ok(fixture_step(f, 6));
    fixture_steps_check(f, f->dir, 6);
}

static void a_failed_backup_leaves_nothing_and_the_source_alone(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    for (uint64_t seq = 1; seq <= 5; seq++) {
        assert_ok(fixture_step(f, seq));
    }
    assert_ok(store_snapshot_write(f->dir, 5, str_of("state"), &f->e));
    for (int n = 1;; n++) {
        char partial[80];
        (void)snprintf(partial, sizeof partial, "%s.partial", f->other);
        fault_set(&(struct fault){.at = n, .number = ENOSPC});
        enum err r = store_backup(f->dir, f->other, &f->e);
        bool was_hit = fault_hit();
        fault_clear();
        if (r == ERR_OK && !was_hit) {
            break;
        }
        assert_int_not_equal(access(partial, F_OK), 0);
        if (r != ERR_OK) {
            assert_int_equal(r, ERR_IO);
        }
        if (access(f->other, F_OK) == 0) { /* failed after it was whole: the last flush */
            auto_free(freep) char *findings = fixture_findings(f, f->other);
            assert_string_equal(findings, "");
            char *moved = partial;
            assert_int_equal(rename(f->other, moved), 0);
            (void)snprintf(f->other + strlen(f->other), 3, "x");
        }
        assert_in_range(n, 1, CALLS_MAX);
    }
    fixture_steps_check(f, f->other, 5);
    assert_ok(fixture_step(f, 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_at_any_call_loses_nothing),
        cmocka_unit_test(a_lasting_error_from_any_call_on_loses_nothing),
        cmocka_unit_test(a_full_disk_at_any_call_loses_nothing),
        cmocka_unit_test(a_disk_full_from_any_call_on_loses_nothing),
        store_test(reads_go_on_while_nothing_can_be_written),
        store_test(a_failed_backup_leaves_nothing_and_the_source_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
