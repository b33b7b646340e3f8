/* test_http_url.c - request targets: what is taken, what is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { PARAMS_MAX = 4 };

static enum err parse(const char *target, struct arena *arena, struct http_url *url)
{
    return http_url_parse(target, PARAMS_MAX, arena, url, NULL);
}

static void paths_are_decoded(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/", "/"},
        {"/a/b", "/a/b"},
        {"/a%2eb%20c+d", "/a.b c+d"},
        {"/%E2%82%AC", "/\xe2\x82\xac"},
        {"*", "*"},
        {"http://host:80/x?y", "/x"},
        {"https://host", "/"},
        {"http://host?q", "/"},
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct http_url url;
        assert_int_equal(parse(cases[i][0], &arena, &url), ERR_OK);
        assert_string_equal(url.path, cases[i][1]);
    }
    arena_done(&arena);
}

static void queries_are_taken_apart(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct http_url url;
    assert_int_equal(parse("/?a=1&&b=x%3Dy+z=2&c&=", &arena, &url), ERR_LIMIT);
    assert_int_equal(parse("/?a=1&b=x%3Dy+z=2&c&=", &arena, &url), ERR_OK);
    assert_int_equal(url.param_count, 4);
    assert_string_equal(url.params[0].name, "a");
    assert_string_equal(url.params[0].value, "1");
    assert_string_equal(url.params[1].value, "x=y z=2");
    assert_string_equal(url.params[2].name, "c");
    assert_string_equal(url.params[2].value, "");
    assert_string_equal(url.params[3].name, "");
    assert_int_equal(parse("/?", &arena, &url), ERR_OK);
    assert_int_equal(url.param_count, 0);
    arena_done(&arena);
}

static void malformed_targets_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",     "a",       "/%",      "/%4",        "/%4g",    "/%g4",
        "/%00", "/\x80",   "/%c0%af", "/%ed%a0%80", "/a\tb",   "/a\x7f",
        "/?%",  "/?a=%zz", "/?a=%ff", "/?\xff=1",   "ftp://x", "/a b",
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct http_url url;
        assert_int_equal(parse(cases[i], &arena, &url), ERR_INVALID);
    }
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_decoded),
        cmocka_unit_test(queries_are_taken_apart),
        cmocka_unit_test(malformed_targets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
