/* test_kill.c - a server that dies at any moment: what it had acknowledged is there.
 *
 * A child commits and tells each acknowledged number through a pipe; it is killed after a seeded
 * number of them, at whatever instruction it has reached. WEIR_SEED= repeats a run's numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/hash.h"
#include "base/mem.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 25, ACKNOWLEDGED_MAX = 60 };

/* Steps, with a snapshot every 16th and the work of retention every 8th. */
static void child_run(struct fixture *f, int out)
{
    fixture_open(f);
    for (uint64_t seq = store_commit_last_seq(f->store) + 1;; seq++) {
        bool more;
        bool ok = fixture_step(f, seq) == ERR_OK && write(out, &seq, sizeof seq) == sizeof seq;
        if (ok && seq % 16 == 0) {
            ok = store_snapshot_write(f->dir, seq, str_of("state"), &f->e) == ERR_OK &&
                 store_prune_snapshot_taken(f->store, seq, &f->e) == ERR_OK;
        }
        if (ok && seq % 8 == 0) {
            ok = store_prune(f->store, 0, &more, &f->e) == ERR_OK;
        }
        if (!ok) {
            _exit(1);
        }
    }
}

/* The last number the child acknowledged before it died. */
static uint64_t round_run(struct fixture *f, uint64_t acknowledged_before, uint64_t kill_after)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        child_run(f, ends[1]);
    }
    (void)close(ends[1]);
    uint64_t last = acknowledged_before;
    uint64_t seq;
    for (uint64_t count = 0; read(ends[0], &seq, sizeof seq) == sizeof seq; count++) {
        last = seq;
        if (count == kill_after) {
            assert_int_equal(kill(child, SIGKILL), 0);
        }
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    (void)close(ends[0]);
    return last;
}

/* Snapshot and facts behind it reach the last fact, whose output is complete. */
static uint64_t state_check(struct fixture *f)
{
    struct arena arena;
    struct str bytes;
    uint64_t snapshot;
    arena_init(&arena);
    fixture_open(f);
    assert_ok(store_snapshot_load(f->store, UINT64_MAX, &arena, &snapshot, &bytes, &f->e));
    assert_int_equal(snapshot % 16, 0);
    uint64_t last = fixture_facts_check(f, snapshot);
    assert_int_equal(last, store_commit_last_seq(f->store));
    fixture_steps_check(f, f->dir, last);
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    assert_string_equal(findings, "");
    fixture_close(f);
    arena_done(&arena);
    return last;
}

static void what_was_acknowledged_survives_kill_9(void **state)
{
    struct fixture *f = *state;
    const char *text = getenv("WEIR_SEED");
    uint64_t seed = 20261115;
    if (text != NULL) {
        assert_true(str_to_u64(str_of(text), &seed));
    }
    print_message("# WEIR_SEED=%" PRIu64 "\n", seed);
    uint64_t last = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t kill_after = hash_u64(seed + round) % ACKNOWLEDGED_MAX;
        uint64_t acknowledged = round_run(f, last, kill_after);
        last = state_check(f);
        assert_true(last >= acknowledged);
        assert_true(last <= acknowledged + 1); /* at most the one whose answer was cut off */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(what_was_acknowledged_survives_kill_9),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
