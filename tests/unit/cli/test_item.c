/* test_item.c - values out of documents, and back to JSON
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/item.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct arena arena;

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

static const struct doc *parsed(const char *text)
{
    struct doc *doc;
    struct error e;
    assert_int_equal(doc_json_parse(&arena, str_of(text), &doc, &e), ERR_OK);
    return doc;
}

static void paths_lead_to_values(void **state)
{
    (void)state;
    const struct doc *doc = parsed("{\"a\":{\"b\":7,\"c\":null},\"t\":true,\"s\":\"x\"}");
    assert_int_equal(item_number(doc, "a.b", -1), 7);
    assert_int_equal(item_number(doc, "a.z", -1), -1);
    assert_string_equal(item_text(doc, "a.b"), "7");
    assert_string_equal(item_text(doc, "a.c"), "");
    assert_string_equal(item_text(doc, "s.deeper"), "");
    assert_string_equal(item_text(doc, "t"), "true");
    assert_true(item_true(doc, "t"));
    assert_false(item_true(doc, "s"));
    assert_null(item_at(doc, "nothing.here"));
}

static void json_comes_back_as_it_was(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        "7",
        "\"a\\\"b\"",
        "[1,[2,[3,[]]],{}]",
        "{\"id\":12,\"big\":18446744073709551615,\"x\":0.125,\"l\":[{\"a\":null},true,\"é\"]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf out;
        buf_init(&out, 1000);
        item_json(&out, parsed(texts[i]));
        assert_string_equal(buf_text(&out), texts[i]);
        buf_done(&out);
    }
}

static void yaml_scalars_become_what_the_field_is(void **state)
{
    (void)state;
    struct doc *doc;
    struct error e;
    const char *yaml = "a: 12\nb: 1.5\nc: yes\nd: \"7\"\ne: 64Gi\nf: 007\ng: [1, x]\n";
    assert_int_equal(doc_yaml_parse(&arena, str_of(yaml), &doc, &e), ERR_OK);
    const char *const expected[] = {
        "{\"a\":12,\"b\":1.5,\"c\":true,\"d\":\"7\",\"e\":\"64Gi\",\"f\":\"007\",\"g\":[1,\"x\"]}",
        "{\"a\":\"12\",\"b\":\"1.5\",\"c\":\"yes\",\"d\":\"7\",\"e\":\"64Gi\",\"f\":\"007\",\"g\":["
        "\"1\",\"x\"]}"};
    for (int text = 0; text < 2; text++) {
        struct buf out;
        struct json_out j;
        buf_init(&out, 1000);
        json_out_init(&j, &out);
        json_out_object(&j);
        for (const struct doc *d = doc->first; d != NULL; d = d->next) {
            item_json_field(&j, d, text == 1);
        }
        json_out_end(&j);
        assert_string_equal(buf_text(&out), expected[text]);
        buf_done(&out);
    }
}

static void numbers_are_ordered_by_size(void **state)
{
    (void)state;
    const struct doc *doc = parsed("[null,-10,-2,0,0.5,0.75,9,10,10.25,100000000000000000000]");
    for (const struct doc *a = doc->first; a != NULL; a = a->next) {
        assert_int_equal(item_order(a, a), 0);
        for (const struct doc *b = a->next; b != NULL; b = b->next) {
            assert_true(item_order(a, b) < 0);
            assert_true(item_order(b, a) > 0);
        }
    }
    assert_true(item_order(NULL, doc->first->next) < 0);
    const struct doc *texts = parsed("[\"a\",\"b\"]");
    assert_true(item_order(texts->first, texts->first->next) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths_lead_to_values, setup, teardown),
        cmocka_unit_test_setup_teardown(json_comes_back_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(yaml_scalars_become_what_the_field_is, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_ordered_by_size, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
