/* test_resources_text.c - the short texts of the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/resources_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct arena arena;
static struct error e;

static void amounts_are_read_by_name(void **state)
{
    (void)state;
    struct resources_text texts;
    assert_int_equal(resources_text_parse(str_of(" foo=5 bar=0.5,slots=2 memory=4Gi  cpu=3 gpu=1 "
                                                 "gpu_memory=16Gi"),
                                          16, &arena, &texts, &e),
                     ERR_OK);
    assert_true(texts.slots_milli == 2000);
    assert_true(texts.gpu_milli == 1000);
    assert_true(texts.cpu_milli == 3000);
    assert_true(texts.memory_bytes == (int64_t)4 << 30);
    assert_true(texts.gpu_memory_bytes == (int64_t)16 << 30);
    assert_int_equal(texts.named_count, 2);
    assert_string_equal(texts.named[0].name, "foo");
    assert_true(texts.named[0].milli == 5000);
    assert_string_equal(texts.named[1].name, "bar");
    assert_true(texts.named[1].milli == 500);
    assert_int_equal(resources_text_parse(str_of(""), 16, &arena, &texts, &e), ERR_OK);
    assert_true(texts.slots_milli == ASK_NOTHING);
    assert_int_equal(texts.named_count, 0);
}

static void wrong_amounts_quote_the_item(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"foo", "resources 'foo': an amount is missing; write it as foo=1"},
        {"a=1 foo=-1", "resources 'foo=-1': an amount is a number of 0 or more with at most three "
                       "decimal places, like 2 or 0.5, not '-1'"},
        {"foo=NaN", "resources 'foo=NaN': an amount is a number of 0 or more with at most three "
                    "decimal places, like 2 or 0.5, not 'NaN'"},
        {"foo=1e99", "resources 'foo=1e99': an amount is a number of 0 or more with at most three "
                     "decimal places, like 2 or 0.5, not '1e99'"},
        {"foo=", "resources 'foo=': an amount is a number of 0 or more with at most three decimal "
                 "places, like 2 or 0.5, not ''"},
        {"=5", "resources '=5': the name of a resource is empty"},
        {"foo=1 foo=2", "resources 'foo=2': the name 'foo' comes twice"},
        {"cpu=1 cpu=1", "resources 'cpu=1': the name 'cpu' comes twice"},
        {"a=1 b=1 c=1", "resources 'c=1': more than 2 named resources"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct resources_text texts;
        assert_int_equal(resources_text_parse(str_of(cases[i].text), 2, &arena, &texts, &e),
                         ERR_INVALID);
        assert_string_equal(e.text, cases[i].message);
    }
}

static void arrays_are_read(void **state)
{
    (void)state;
    uint32_t first = 0;
    uint32_t count = 0;
    assert_int_equal(resources_text_array(str_of("0-99"), &first, &count, &e), ERR_OK);
    assert_int_equal(first, 0);
    assert_int_equal(count, 100);
    assert_int_equal(resources_text_array(str_of("7"), &first, &count, &e), ERR_OK);
    assert_int_equal(first, 7);
    assert_int_equal(count, 1);
    const char *bad_arrays[] = {"", "9-3", "a-b", "1-", "-1", "1-2-3", "0-10000", "0-99999999999"};
    for (size_t i = 0; i < sizeof bad_arrays / sizeof bad_arrays[0]; i++) {
        assert_int_equal(resources_text_array(str_of(bad_arrays[i]), &first, &count, &e),
                         ERR_INVALID);
    }
}

static void environment_and_labels_are_pairs(void **state)
{
    (void)state;
    struct label label;
    assert_int_equal(resources_text_env_name(str_of("A b"), &e), ERR_OK);
    assert_int_equal(resources_text_env_name(str_of(""), &e), ERR_INVALID);
    assert_int_equal(resources_text_env_name(str_of("A=b"), &e), ERR_INVALID);
    assert_int_equal(resources_text_env_name(str_of("A\n"), &e), ERR_INVALID);
    assert_int_equal(resources_text_label(str_of("gpu.model=A 100"), &arena, &label, &e), ERR_OK);
    assert_string_equal(label.key, "gpu.model");
    assert_string_equal(label.value, "A 100");
    assert_int_equal(resources_text_label(str_of("k="), &arena, &label, &e), ERR_OK);
    assert_int_equal(resources_text_label(str_of("k"), &arena, &label, &e), ERR_INVALID);
    assert_int_equal(resources_text_label(str_of("a b=c"), &arena, &label, &e), ERR_INVALID);
    assert_int_equal(resources_text_label(str_of("k=a\nb"), &arena, &label, &e), ERR_INVALID);
    assert_int_equal(resources_text_label(str_of("k=\xff"), &arena, &label, &e), ERR_INVALID);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(amounts_are_read_by_name),
        TEST(wrong_amounts_quote_the_item),
        TEST(arrays_are_read),
        TEST(environment_and_labels_are_pairs),
    };
    return cmocka_run_group_tests_name("resources_text", tests, NULL, NULL);
}
