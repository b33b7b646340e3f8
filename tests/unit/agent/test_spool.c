/* test_spool.c - the spool's records, segments and torn ends; frames; keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/frame.h"
#include "agent/keyring.h"
#include "agent/open_attempts.h"
#include "agent/spool_reader.h"
#include "base/mem.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char dir[64];
    struct attempt_key open[4];
    size_t open_count;
};

static size_t open_list(void *ctx, struct attempt_key *open)
{
    const struct place *place = ctx;
    memcpy(open, place->open, place->open_count * sizeof *open);
    return place->open_count;
}

static int set_up(void **state)
{
    static struct place place;
    place = (struct place){.dir = "/tmp/weir-test-XXXXXX"};
    assert_non_null(mkdtemp(place.dir));
    *state = &place;
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

static int tear_down(void **state)
{
    const struct place *place = *state;
    return nftw(place->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct spool *spool_open(struct place *place, unsigned char id)
{
    struct spool_options options = {
        .dir = place->dir, .id = {id}, .open_list = open_list, .ctx = place};
    struct spool *spool;
    assert_int_equal(spool_new(&options, &spool, NULL), ERR_OK);
    return spool;
}

static struct record output_of(uint64_t task, const char *data, size_t len)
{
    return (struct record){.type = RECORD_OUTPUT,
                           .key = {{task}, 0, 1},
                           .stream = 2,
                           .offset = 77,
                           .data = {data, len}};
}

static void every_record_comes_back_as_written(void **state)
{
    struct spool *spool = spool_open(*state, 7);
    const struct place *place = *state;
    const struct record records[] = {
        {.type = RECORD_ACCEPTED, .key = {{1}, 2, 3}},
        {.type = RECORD_STARTED, .key = {{1}, 2, 3}, .at_ms = 5, .pid = 6, .workdir_used = true},
        output_of(1, "a\0b", 3),
        {.type = RECORD_ENDED,
         .key = {{UINT64_MAX}, UINT32_MAX, UINT32_MAX},
         .exit_code = 137,
         .out_bytes = 1,
         .err_bytes = UINT64_MAX,
         .cpu_ms = 3,
         .memory_peak = 4},
        {.type = RECORD_SPAWN_FAILED, .key = {{9}, 0, 1}, .error_number = 2, .message = {"no", 2}},
        {.type = RECORD_LOST, .key = {{10}, 0, 1}},
        {.type = RECORD_CHECKPOINT, .key = {{11}, 2, 3}, .at_ms = 1700000000123},
    };
    enum { COUNT = sizeof records / sizeof records[0] };
    for (size_t i = 0; i < COUNT; i++) {
        spool_put(spool, &records[i]);
    }
    assert_int_equal(spool_flush(spool, NULL), ERR_OK);
    struct spool_reader *reader = spool_reader_new(place->dir, 1);
    struct record got;
    assert_true(spool_reader_next(reader, &got));
    assert_int_equal(got.type, RECORD_SEGMENT);
    assert_int_equal(got.id[0], 7);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(spool_reader_next(reader, &got));
        assert_int_equal(got.type, records[i].type);
        assert_memory_equal(&got.key, &records[i].key, sizeof got.key);
        assert_int_equal(got.exit_code, records[i].exit_code);
        assert_int_equal(got.err_bytes, records[i].err_bytes);
        assert_int_equal(got.pid, records[i].pid);
        assert_int_equal(got.at_ms, records[i].at_ms);
        assert_int_equal(got.offset, records[i].offset);
        assert_int_equal(got.data.len, records[i].data.len);
        assert_true(got.data.len == 0 || memcmp(got.data.p, records[i].data.p, got.data.len) == 0);
        assert_int_equal(got.message.len, records[i].message.len);
    }
    assert_false(spool_reader_next(reader, &got));
    assert_int_equal(spool_position_compare(spool_reader_at(reader), spool_end(spool)), 0);
    spool_reader_free(reader);
    spool_free(spool);
}

static void segments_roll_and_go_when_acknowledged(void **state)
{
    struct place *place = *state;
    struct spool *spool = spool_open(place, 1);
    auto_free(freep) char *data = xcalloc(1, READ_CHUNK);
    place->open_count = 2;
    place->open[0] = (struct attempt_key){{5}, 0, 1};
    place->open[1] = (struct attempt_key){{6}, 0, 1};
    enum { CHUNKS = 3 * SPOOL_SEGMENT_BYTES / READ_CHUNK };
    for (int i = 0; i < CHUNKS; i++) {
        struct record record = output_of((uint64_t)i + 1, data, READ_CHUNK);
        spool_put(spool, &record);
    }
    assert_int_equal(spool_flush(spool, NULL), ERR_OK);
    struct spool_reader *reader = spool_reader_new(place->dir, 1);
    struct record got;
    uint64_t outputs = 0;
    size_t segments = 0;
    while (spool_reader_next(reader, &got)) {
        if (got.type == RECORD_SEGMENT) {
            segments++;
            assert_int_equal(got.open_count, segments == 1 ? 0 : 2);
        } else {
            assert_int_equal(got.key.task.v, ++outputs);
        }
    }
    assert_int_equal(outputs, CHUNKS);
    assert_true(segments >= 3);
    uint64_t low;
    uint64_t high;
    spool_ack(spool, spool_reader_at(reader));
    spool_range(place->dir, &low, &high);
    assert_int_equal(low, high);
    assert_int_equal(spool_bytes(spool), 0);
    spool_ack(spool, (struct spool_position){1, 5});        /* older: no effect */
    spool_ack(spool, (struct spool_position){high + 9, 0}); /* never written: no effect */
    assert_int_equal(spool_acked(spool).segment, high);
    spool_reader_free(reader);
    spool_free(spool);
}

/* Cut the segment at every length: whole records before the cut come, nothing else does. */
static void a_torn_end_loses_only_what_was_torn(void **state)
{
    struct place *place = *state;
    struct spool *spool = spool_open(place, 1);
    struct record record = output_of(1, "hello world", 11);
    struct spool_position ends[4];
    ends[0] = spool_end(spool);
    for (int i = 1; i < 4; i++) {
        spool_put(spool, &record);
        ends[i] = spool_end(spool);
    }
    assert_int_equal(spool_flush(spool, NULL), ERR_OK);
    spool_free(spool);
    char path[AGENT_PATH_MAX];
    spool_path(place->dir, 1, path);
    struct spool *next = spool_open(place, 2);
    for (uint64_t cut = ends[3].offset; cut >= ends[0].offset; cut--) {
        assert_int_equal(truncate(path, (off_t)cut), 0);
        size_t whole = 0;
        while (whole < 3 && ends[whole + 1].offset <= cut) {
            whole++;
        }
        struct spool_reader *reader = spool_reader_new(place->dir, 1);
        struct record got;
        assert_true(spool_reader_next(reader, &got));
        for (size_t i = 0; i < whole; i++) {
            assert_true(spool_reader_next(reader, &got));
            assert_int_equal(got.type, RECORD_OUTPUT);
        }
        assert_true(spool_reader_next(reader, &got)); /* on to the next supervisor's segment */
        assert_int_equal(got.type, RECORD_SEGMENT);
        assert_int_equal(got.id[0], 2);
        assert_false(spool_reader_next(reader, &got));
        spool_reader_free(reader);
    }
    spool_free(next);
}

static void a_changed_byte_is_noticed(void **state)
{
    struct buf out;
    (void)state;
    buf_init(&out, 4096);
    struct record record = {.type = RECORD_STARTED, .key = {{3}, 0, 1}, .pid = 8};
    record_encode(&out, &record);
    struct arena arena;
    arena_init(&arena);
    struct record got;
    for (size_t i = 0; i < out.len; i++) {
        out.data[i] = (char)(out.data[i] ^ 0x20);
        long len = record_decode(out.data, out.len, &arena, &got);
        assert_true(len <= 0);
        out.data[i] = (char)(out.data[i] ^ 0x20);
    }
    assert_int_equal(record_decode(out.data, out.len, &arena, &got), out.len);
    arena_done(&arena);
    buf_done(&out);
}

static void a_start_order_comes_back_and_every_cut_is_incomplete(void **state)
{
    (void)state;
    const char *const argv[] = {"python", "train.py"};
    const char *const env[] = {"A=1"};
    const uint32_t devices[] = {0, 5};
    struct frame frame = {.type = FRAME_START,
                          .version = FRAME_VERSION,
                          .start = {.key = {{12}, 3, 1},
                                    .instance = 4,
                                    .argv = argv,
                                    .argv_count = 2,
                                    .env = env,
                                    .env_count = 1,
                                    .workdir = "/w",
                                    .pool = "p",
                                    .node = "n",
                                    .devices = devices,
                                    .device_count = 2,
                                    .master_addr = "10.0.0.1",
                                    .master_port = 29500,
                                    .network = "network/lab",
                                    .outbound = "10.77.0.0/24",
                                    .output_max = 99}};
    struct buf out;
    buf_init(&out, 4096);
    frame_put(&out, &frame);
    struct arena arena;
    arena_init(&arena);
    struct frame got;
    for (size_t len = 0; len < out.len; len++) {
        assert_int_equal(frame_get(out.data, len, &arena, &got), 0);
    }
    assert_int_equal(frame_get(out.data, out.len, &arena, &got), out.len);
    assert_int_equal(got.start.key.index, 3);
    assert_string_equal(got.start.argv[1], "train.py");
    assert_string_equal(got.start.env[0], "A=1");
    assert_int_equal(got.start.devices[1], 5);
    assert_int_equal(got.start.master_port, 29500);
    assert_string_equal(got.start.network, "network/lab");
    assert_string_equal(got.start.outbound, "10.77.0.0/24");
    assert_int_equal(frame_get("\xff\xff\xff\x7f....", 8, &arena, &got), -1); /* over the limit */
    assert_int_equal(frame_get("\1\0\0\0\77", 5, &arena, &got), -1);          /* no such type */
    assert_int_equal(frame_get("\0\0\0\0", 4, &arena, &got), -1);             /* empty */
    out.data[FRAME_HEAD_LEN + 5] = 0x7f; /* more arguments than there are */
    assert_true(frame_get(out.data, out.len, &arena, &got) <= 0 || got.start.argv_count <= 2);
    arena_done(&arena);
    buf_done(&out);
}

static void the_keyring_forgets_the_oldest_only(void **state)
{
    (void)state;
    struct keyring *ring = keyring_new();
    for (uint64_t i = 1; i <= RECENT_KEYS_MAX + 1; i++) {
        keyring_add(ring, &(struct attempt_key){{i}, 0, 1});
    }
    assert_false(keyring_has(ring, &(struct attempt_key){{1}, 0, 1}));
    assert_true(keyring_has(ring, &(struct attempt_key){{2}, 0, 1}));
    assert_true(keyring_has(ring, &(struct attempt_key){{RECENT_KEYS_MAX + 1}, 0, 1}));
    assert_false(keyring_has(ring, &(struct attempt_key){{2}, 0, 2}));
    keyring_free(ring);
}

static void what_a_supervisor_left_open_is_in_the_book(void **state)
{
    (void)state;
    struct open_attempts *book = open_attempts_new();
    const struct attempt_key running = {{1}, 0, 1};
    struct record head = {.type = RECORD_SEGMENT, .id = {1}, .open = &running, .open_count = 1};
    assert_false(open_attempts_crosses(book, &head));
    open_attempts_note(book, &head);
    for (int again = 0; again < 2; again++) { /* a stretch read twice changes nothing */
        open_attempts_note(book, &(struct record){.type = RECORD_ACCEPTED, .key = {{2}, 0, 1}});
        open_attempts_note(book, &(struct record){.type = RECORD_STARTED, .key = {{2}, 0, 1}});
        open_attempts_note(book, &(struct record){.type = RECORD_ENDED, .key = {{2}, 0, 1}});
        open_attempts_note(book, &(struct record){.type = RECORD_ACCEPTED, .key = {{3}, 0, 1}});
    }
    assert_false(open_attempts_crosses(book, &head));
    head.id[0] = 2;
    assert_true(open_attempts_crosses(book, &head));
    struct attempt_key key;
    uint64_t sum = 0;
    while (open_attempts_take(book, &key)) {
        sum = sum * 10 + key.task.v;
    }
    assert_int_equal(sum, 13);
    open_attempts_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define IN_PLACE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        IN_PLACE(every_record_comes_back_as_written),
        IN_PLACE(segments_roll_and_go_when_acknowledged),
        IN_PLACE(a_torn_end_loses_only_what_was_torn),
        cmocka_unit_test(a_changed_byte_is_noticed),
        cmocka_unit_test(a_start_order_comes_back_and_every_cut_is_incomplete),
        cmocka_unit_test(the_keyring_forgets_the_oldest_only),
        cmocka_unit_test(what_a_supervisor_left_open_is_in_the_book),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
