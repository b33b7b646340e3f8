/* test_bytes.c - the binary coding: what is written is read, anything else is bad.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void numbers_come_back(void **state)
{
    (void)state;
    const uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX};
    const int64_t signs[] = {0, -1, 1, -64, 64, INT64_MIN, INT64_MAX};
    struct buf out;
    buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bytes_put_u64(&out, numbers[i]);
    }
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        bytes_put_i64(&out, signs[i]);
    }
    struct bytes_reader in;
    bytes_reader_init(&in, out.data, out.len);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_true(bytes_get_u64(&in) == numbers[i]);
    }
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        assert_true(bytes_get_i64(&in) == signs[i]);
    }
    assert_true(bytes_reader_ok(&in));
    buf_done(&out);
}

static void small_numbers_take_one_byte(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    bytes_put_u64(&out, 127);
    bytes_put_i64(&out, -64);
    assert_int_equal(out.len, 2);
    bytes_put_u64(&out, UINT64_MAX);
    assert_int_equal(out.len, 12);
    buf_done(&out);
}

static void texts_come_back(void **state)
{
    (void)state;
    struct buf out;
    struct arena arena;
    arena_init(&arena);
    buf_init(&out, 1000);
    bytes_put_text(&out, "hello");
    bytes_put_text(&out, NULL);
    bytes_put_str(&out, (struct str){"a\0b", 3});
    struct bytes_reader in;
    bytes_reader_init(&in, out.data, out.len);
    assert_string_equal(bytes_get_text(&in, &arena, 5), "hello");
    assert_string_equal(bytes_get_text(&in, &arena, 5), "");
    assert_true(str_equal(bytes_get_str(&in, 3), (struct str){"a\0b", 3}));
    assert_true(bytes_reader_ok(&in));
    buf_done(&out);
    arena_done(&arena);
}

static void bad(const char *bytes, size_t len, uint64_t max)
{
    struct bytes_reader in;
    bytes_reader_init(&in, bytes, len);
    assert_true(bytes_get_max(&in, max) == 0);
    assert_false(bytes_reader_ok(&in));
    assert_true(bytes_get_u64(&in) == 0); /* and stays bad */
    assert_true(bytes_get_str(&in, 10).len == 0);
    assert_false(bytes_reader_ok(&in));
}

static void malformed_numbers_are_bad(void **state)
{
    (void)state;
    bad("", 0, UINT64_MAX);
    bad("\x80", 1, UINT64_MAX);
    bad("\x80\x00", 2, UINT64_MAX); /* not the shortest form of 0 */
    bad("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, UINT64_MAX);
    bad("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, UINT64_MAX);
    bad("\x0b", 1, 10);
}

static void malformed_texts_are_bad(void **state)
{
    (void)state;
    struct arena arena;
    struct bytes_reader in;
    arena_init(&arena);
    bytes_reader_init(&in, "\5ab", 3); /* shorter than it says */
    assert_string_equal(bytes_get_text(&in, &arena, 100), "");
    assert_false(bytes_reader_ok(&in));
    bytes_reader_init(&in, "\2ab", 3); /* longer than allowed */
    assert_string_equal(bytes_get_text(&in, &arena, 1), "");
    assert_false(bytes_reader_ok(&in));
    bytes_reader_init(&in, "\3a\0b", 4); /* a NUL inside */
    assert_string_equal(bytes_get_text(&in, &arena, 10), "");
    assert_false(bytes_reader_ok(&in));
    bytes_reader_init(&in, "\1ab", 3); /* something left over */
    assert_string_equal(bytes_get_text(&in, &arena, 10), "a");
    assert_false(bytes_reader_ok(&in));
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),       cmocka_unit_test(small_numbers_take_one_byte),
        cmocka_unit_test(texts_come_back),         cmocka_unit_test(malformed_numbers_are_bad),
        cmocka_unit_test(malformed_texts_are_bad),
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
