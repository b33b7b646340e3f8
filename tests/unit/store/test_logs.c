/* test_logs.c - output: segments, duplicates, filters, torn tails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/logstore.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static void log_expect(struct fixture *f, uint64_t task, const char *text)
{
    auto_free(freep) char *found = fixture_log_text(f, task);
    assert_string_equal(found, text);
}

static void output_comes_back_in_order_of_arrival(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_log(f, 7, 0, "one "));
    assert_ok(fixture_log(f, 8, 0, "other"));
    assert_ok(fixture_log(f, 7, 4, "two"));
    log_expect(f, 7, "one |two");
    fixture_close(f);
    fixture_open(f);
    assert_ok(fixture_log(f, 7, 7, " three"));
    log_expect(f, 7, "one |two| three");
    log_expect(f, 9, "");
}

static void a_repeated_piece_is_left_out(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "abc"));
    assert_ok(fixture_log(f, 1, 0, "abc"));
    assert_ok(fixture_log(f, 1, 3, "def"));
    assert_ok(fixture_log(f, 1, 0, "abc"));
    assert_ok(fixture_log(f, 1, 1, "bcd"));
    log_expect(f, 1, "abc|def");
    fixture_close(f); /* the cache of stream ends is gone */
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "abc"));
    assert_ok(fixture_log(f, 1, 3, "def"));
    assert_ok(fixture_log(f, 1, 4, "ef"));
    log_expect(f, 1, "abc|def");
}

static void an_overlapping_piece_is_trimmed(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "abc"));
    assert_ok(fixture_log(f, 1, 0, "abcde"));
    assert_ok(fixture_log(f, 1, 2, "cdefg"));
    log_expect(f, 1, "abc|de|fg");
    fixture_close(f);
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "abcdefghi")); /* not in the cache: refused by its key */
    assert_ok(fixture_log(f, 1, 7, "hijk"));
    log_expect(f, 1, "abc|de|fg|hi|jk");
    assert_ok(fixture_log(f, 1, 11, ""));
    assert_ok(fixture_log(f, 1, 20, "after a hole"));
    log_expect(f, 1, "abc|de|fg|hi|jk|after a hole");
}

static void duplicates_within_one_batch_are_left_out(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    struct store_log logs[] = {
        {.task = 1, .attempt = 1, .stream = 1, .offset = 0, .data = str_of("ab")},
        {.task = 1, .attempt = 1, .stream = 1, .offset = 0, .data = str_of("abc")},
        {.task = 1, .attempt = 1, .stream = 2, .offset = 0, .data = str_of("ERR")},
        {.task = 1, .attempt = 1, .stream = 1, .offset = 3, .data = str_of("d")},
    };
    struct store_batch batch = {.logs = logs, .log_count = 4};
    assert_ok(store_commit(f->store, &batch, &f->e));
    log_expect(f, 1, "ab|c|ERR|d");
}

static void a_large_piece_is_split_and_segments_roll_over(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    size_t size = 3 * 1024 * 1024;
    auto_free(freep) char *data = xmalloc(size);
    for (size_t i = 0; i < size; i++) {
        data[i] = (char)('a' + i % 23);
    }
    struct store_log log = {.task = 1, .attempt = 1, .stream = 1, .data = {data, size}};
    struct store_batch batch = {.logs = &log, .log_count = 1};
    for (int i = 0; i < 45; i++, log.offset += size) {
        assert_ok(store_commit(f->store, &batch, &f->e));
    }
    assert_true(fixture_exists(f, "log/00000003.seg"));
    assert_false(fixture_exists(f, "log/00000004.seg"));
    char path[128];
    struct stat status;
    fixture_path(f, "log/00000001.seg", path);
    assert_int_equal(stat(path, &status), 0);
    assert_in_range(status.st_size, LOG_SEGMENT_BYTES - LOG_RECORD_BYTES_MAX - LOG_RECORD_HEAD,
                    LOG_SEGMENT_BYTES);
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    assert_string_equal(findings, "");
}

struct collected {
    struct buf text;
    uint64_t last;
};

static void piece_collect(void *ctx, const struct store_log_piece *piece)
{
    struct collected *out = ctx;
    buf_addf(&out->text, "%u:%u.%u@%d=%.*s ", piece->index, piece->attempt, piece->stream,
             (int)piece->offset, (int)piece->data.len, piece->data.p);
    assert_true(piece->number > out->last);
    out->last = piece->number;
}

static void pieces_expect(struct fixture *f, const struct store_log_filter *filter,
                          uint64_t *ret_last, const char *text)
{
    struct collected out = {.last = 0};
    struct store_reader *reader;
    struct arena arena;
    arena_init(&arena);
    buf_init(&out.text, 10000);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    assert_ok(store_reader_logs(reader, filter, &arena, piece_collect, &out, &f->e));
    assert_string_equal(buf_text(&out.text), text);
    if (ret_last != NULL) {
        *ret_last = out.last;
    }
    store_reader_close(reader);
    buf_done(&out.text);
    arena_done(&arena);
}

static void filters_choose_instance_attempt_and_stream(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    struct store_log logs[] = {
        {.task = 1, .index = 0, .attempt = 1, .stream = 1, .data = str_of("a")},
        {.task = 1, .index = 1, .attempt = 1, .stream = 2, .data = str_of("b")},
        {.task = 1, .index = 0, .attempt = 2, .stream = 1, .data = str_of("c")},
        {.task = 1, .index = 0, .attempt = 2, .stream = 2, .data = str_of("d")},
        {.task = 2, .index = 0, .attempt = 1, .stream = 1, .data = str_of("e")},
    };
    struct store_batch batch = {.logs = logs, .log_count = 5};
    assert_ok(store_commit(f->store, &batch, &f->e));
    struct store_log_filter filter = {.task = 1, .index = -1, .attempt = -1, .bytes_max = 100};
    pieces_expect(f, &filter, NULL, "0:1.1@0=a 1:1.2@0=b 0:2.1@0=c 0:2.2@0=d ");
    filter.attempt = 0;
    pieces_expect(f, &filter, NULL, "1:1.2@0=b 0:2.1@0=c 0:2.2@0=d ");
    filter.stream = 2;
    pieces_expect(f, &filter, NULL, "1:1.2@0=b 0:2.2@0=d ");
    filter.index = 0;
    pieces_expect(f, &filter, NULL, "0:2.2@0=d ");
    filter.attempt = 1;
    filter.stream = 0;
    pieces_expect(f, &filter, NULL, "0:1.1@0=a ");
}

static void reading_goes_on_behind_a_page(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    for (uint64_t i = 0; i < 5; i++) {
        assert_ok(fixture_log(f, 1, i * 3, "xyz"));
    }
    struct store_log_filter filter = {.task = 1, .index = -1, .attempt = -1, .bytes_max = 7};
    pieces_expect(f, &filter, &filter.after, "0:1.1@0=xyz 0:1.1@3=xyz ");
    pieces_expect(f, &filter, &filter.after, "0:1.1@6=xyz 0:1.1@9=xyz ");
    pieces_expect(f, &filter, &filter.after, "0:1.1@12=xyz ");
    pieces_expect(f, &filter, NULL, "");
    filter.after = 0;
    filter.bytes_max = 1; /* smaller than any piece: still one, or a reader would never move */
    pieces_expect(f, &filter, NULL, "0:1.1@0=xyz ");
}

static void bytes_behind_the_index_are_written_over(void **state)
{
    struct fixture *f = *state;
    char path[128];
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "kept"));
    fixture_close(f);
    fixture_path(f, "log/00000001.seg", path);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs("torn tail of a record that no transaction named", file) >= 0);
    (void)fclose(file);
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 4, " and more"));
    log_expect(f, 1, "kept| and more");
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    assert_string_equal(findings, "");
}

static void a_cut_segment_is_left_and_the_next_begun(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "first"));
    assert_ok(fixture_log(f, 2, 0, "second"));
    fixture_close(f);
    fixture_truncate(f, "log/00000001.seg", 16 + 45 + 20);
    fixture_open(f);
    assert_ok(fixture_log(f, 3, 0, "third"));
    log_expect(f, 1, "first");
    log_expect(f, 3, "third");
    assert_true(fixture_exists(f, "log/00000002.seg"));
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    assert_non_null(strstr(findings, "00000001.seg' at byte 61: the file ends inside the record "
                                     "(task 2.0:1, stream 1, offset 0)"));
}

static void a_flipped_bit_is_found_when_read(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "precious"));
    fixture_flip(f, "log/00000001.seg", 16 + 40 + 3);
    struct store_reader *reader;
    struct arena arena;
    struct collected out = {.last = 0};
    arena_init(&arena);
    buf_init(&out.text, 100);
    assert_ok(store_reader_open(f->dir, &reader, &f->e));
    struct store_log_filter filter = {.task = 1, .index = -1, .attempt = -1, .bytes_max = 100};
    assert_int_equal(store_reader_logs(reader, &filter, &arena, piece_collect, &out, &f->e),
                     ERR_CORRUPT);
    assert_non_null(strstr(f->e.text, "00000001.seg' at byte 16: the checksum differs"));
    store_reader_close(reader);
    buf_done(&out.text);
    arena_done(&arena);
}

static void an_offset_out_of_range_is_refused(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(fixture_log(f, 1, STORE_LOG_OFFSET_MAX, "x"), ERR_INVALID);
    assert_int_equal(fixture_log(f, 1, UINT64_MAX, "x"), ERR_INVALID);
    assert_ok(fixture_log(f, 1, 0, "fine"));
    log_expect(f, 1, "fine");
}

static void history_put(struct fixture *f, uint64_t task, int64_t ended_ms)
{
    struct store_history row = {.task = task, .ended_ms = ended_ms, .json = str_of("{}")};
    struct store_batch batch = {.history = &row, .history_count = 1};
    assert_ok(store_commit(f->store, &batch, &f->e));
}

static void prune_all(struct fixture *f, int64_t now_ms)
{
    bool more = true;
    for (int calls = 0; more; calls++) {
        assert_ok(store_prune(f->store, now_ms, &more, &f->e));
        assert_in_range(calls, 0, 100);
    }
}

static void output_goes_with_its_task_and_empty_segments_go(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    size_t size = LOG_RECORD_BYTES_MAX;
    auto_free(freep) char *data = xcalloc(1, size);
    struct store_log log = {.task = 1, .attempt = 1, .stream = 1, .data = {data, size}};
    struct store_batch batch = {.logs = &log, .log_count = 1};
    for (size_t i = 0; i < LOG_SEGMENT_BYTES / size + 10; i++, log.offset += size) {
        assert_ok(store_commit(f->store, &batch, &f->e));
    }
    assert_ok(fixture_log(f, 2, 0, "stays"));
    history_put(f, 1, 100);
    history_put(f, 2, 5000);
    assert_true(fixture_exists(f, "log/00000002.seg"));
    prune_all(f, 1101);
    assert_false(fixture_exists(f, "log/00000001.seg"));
    log_expect(f, 1, "");
    log_expect(f, 2, "stays");
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    assert_string_equal(findings, "");
    assert_ok(fixture_log(f, 3, 0, "goes on"));
    log_expect(f, 3, "goes on");
}

static void a_task_with_more_output_than_a_call_takes_goes_in_several(void **state)
{
    struct fixture *f = *state;
    enum { PIECES = 5000 };
    fixture_open(f);
    static struct store_log logs[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        logs[i] = (struct store_log){
            .task = 1, .attempt = 1, .stream = 1, .offset = i, .data = str_of("x")};
    }
    struct store_batch batch = {.logs = logs, .log_count = PIECES};
    assert_ok(store_commit(f->store, &batch, &f->e));
    history_put(f, 1, 100);
    bool more = false;
    assert_ok(store_prune(f->store, 2000, &more, &f->e));
    assert_true(more);
    prune_all(f, 2000);
    log_expect(f, 1, "");
    auto_free(freep) char *findings = fixture_findings(f, f->dir);
    assert_string_equal(findings, "");
}

static void a_segment_left_by_a_crash_is_removed_at_the_next_start(void **state)
{
    struct fixture *f = *state;
    char path[128];
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 0, "first"));
    fixture_close(f);
    fixture_truncate(f, "log/00000001.seg", 3);
    fixture_open(f);
    assert_ok(fixture_log(f, 1, 5, "second")); /* in segment 2 */
    history_put(f, 1, 100);
    prune_all(f, 5000);
    assert_false(fixture_exists(f, "log/00000001.seg"));
    fixture_path(f, "log/00000001.seg", path);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    fixture_close(f);
    fixture_open(f);
    assert_false(fixture_exists(f, "log/00000001.seg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(output_comes_back_in_order_of_arrival),
        store_test(a_repeated_piece_is_left_out),
        store_test(an_overlapping_piece_is_trimmed),
        store_test(duplicates_within_one_batch_are_left_out),
        store_test(a_large_piece_is_split_and_segments_roll_over),
        store_test(filters_choose_instance_attempt_and_stream),
        store_test(reading_goes_on_behind_a_page),
        store_test(bytes_behind_the_index_are_written_over),
        store_test(a_cut_segment_is_left_and_the_next_begun),
        store_test(a_flipped_bit_is_found_when_read),
        store_test(an_offset_out_of_range_is_refused),
        store_test(output_goes_with_its_task_and_empty_segments_go),
        store_test(a_task_with_more_output_than_a_call_takes_goes_in_several),
        store_test(a_segment_left_by_a_crash_is_removed_at_the_next_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
