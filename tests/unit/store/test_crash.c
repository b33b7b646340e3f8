/* test_crash.c - power is lost at any point of a store's life: what was acknowledged is there, whole
 * and in order, whatever became of the writes that were not flushed. WEIR_SEED= varies those.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/hash.h"
#include "base/mem.h"
#include "crash_disk.h"

#include <inttypes.h>
#include <sys/stat.h>

enum { STEPS = 20, IMAGES_PER_POINT = 3, POINTS_MIN = 100 };

static void life_run(struct fixture *f)
{
    bool more;
    fixture_open(f);
    for (uint64_t seq = 1; seq <= STEPS; seq++) {
        assert_ok(fixture_step(f, seq));
        crash_disk_acknowledge(seq);
        if (seq % 5 == 0) {
            assert_ok(store_snapshot_write(f->dir, seq, str_of("state"), &f->e));
            assert_ok(store_prune_snapshot_taken(f->store, seq, &f->e));
            assert_ok(store_prune(f->store, 0, &more, &f->e));
        }
        if (seq == STEPS / 2) {
            fixture_close(f); /* moves the write-ahead log into the database */
            fixture_open(f);
        }
    }
    fixture_close(f);
}

static void image_check(struct fixture *image, uint64_t acknowledged)
{
    struct arena arena;
    struct str bytes;
    uint64_t snapshot;
    arena_init(&arena);
    fixture_open(image);
    assert_ok(store_snapshot_load(image->store, UINT64_MAX, &arena, &snapshot, &bytes, &image->e));
    uint64_t last = fixture_facts_check(image, snapshot);
    assert_int_equal(last, store_commit_last_seq(image->store));
    assert_in_range(last, acknowledged, acknowledged + 1);
    fixture_steps_check(image, image->dir, last);
    assert_ok(fixture_step(image, last + 1));
    fixture_steps_check(image, image->dir, last + 1);
    auto_free(freep) char *findings = fixture_findings(image, image->dir);
    assert_string_equal(findings, "");
    arena_done(&arena);
}

static void point_check(size_t at, uint64_t seed)
{
    void *state;
    char path[128];
    assert_int_equal(fixture_set_up(&state), 0);
    struct fixture *image = state;
    assert_int_equal(mkdir(image->dir, 0711), 0);
    fixture_path(image, "log", path);
    assert_int_equal(mkdir(path, 0700), 0);
    fixture_path(image, "snapshot", path);
    assert_int_equal(mkdir(path, 0700), 0);
    image_check(image, crash_disk_image(at, seed, image->dir));
    assert_int_equal(fixture_tear_down(&state), 0);
}

static void what_was_acknowledged_survives_a_power_cut(void **state)
{
    struct fixture *f = *state;
    const char *text = getenv("WEIR_SEED");
    uint64_t seed = 20261115;
    if (text != NULL) {
        assert_true(str_to_u64(str_of(text), &seed));
    }
    crash_disk_watch(f->dir);
    life_run(f);
    crash_disk_stop();
    print_message("# WEIR_SEED=%" PRIu64 ", %zu operations\n", seed, crash_disk_count());
    assert_true(crash_disk_count() > POINTS_MIN);
    for (size_t at = 0; at <= crash_disk_count(); at++) {
        for (uint64_t i = 0; i < IMAGES_PER_POINT; i++) {
            point_check(at, hash_u64(seed + i));
        }
    }
    crash_disk_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(what_was_acknowledged_survives_a_power_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
