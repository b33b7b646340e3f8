/* test_options.c - the command line of `weir server`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/server_options.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct arena arena;
static struct server_options options;
static struct error e;

#define READ(...)                                                                                  \
    read_words((const char *[]){"server", __VA_ARGS__},                                            \
               (int)(sizeof(const char *[]){"server", __VA_ARGS__} / sizeof(char *)))

static enum err read_words(const char **words, int count)
{
    char *argv[16] = {NULL};
    arena_clear(&arena);
    for (int i = 0; i < count; i++) {
        argv[i] = arena_str(&arena, words[i]);
    }
    return server_options_read(count, argv, &arena, &options, &e);
}

static void a_directory_is_enough(void **state)
{
    (void)state;
    assert_int_equal(READ("--dir", "/d"), ERR_OK);
    assert_string_equal(options.dir, "/d");
    assert_string_equal(options.address, "127.0.0.1");
    assert_int_equal(options.ready_fd, -1);
    assert_false(options.insecure_listen);
}

static void every_option_is_read(void **state)
{
    (void)state;
    assert_int_equal(READ("--dir", "/d", "--listen", "[::1]:7", "--ready-fd", "5"), ERR_OK);
    assert_string_equal(options.address, "::1");
    assert_int_equal(options.port, 7);
    assert_int_equal(options.ready_fd, 5);
}

static void other_machines_are_let_in_only_on_demand(void **state)
{
    (void)state;
    assert_int_equal(READ("--dir", "/d", "--listen", "0.0.0.0:80"), ERR_USAGE);
    assert_non_null(strstr(e.text, "--insecure-listen"));
    assert_int_equal(READ("--dir", "/d", "--listen", "0.0.0.0:80", "--insecure-listen"), ERR_OK);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    assert_int_equal(READ("--listen", "127.0.0.1:1"), ERR_USAGE);
    assert_non_null(strstr(e.text, "no data directory"));
    assert_int_equal(READ("--dir", "/d", "--colour"), ERR_USAGE);
    assert_non_null(strstr(e.text, "--colour"));
    assert_int_equal(READ("--dir", "/d", "more"), ERR_USAGE);
    assert_non_null(strstr(e.text, "more"));
    assert_int_equal(READ("--dir", "/d", "--ready-fd", "x"), ERR_USAGE);
    assert_int_not_equal(READ("--dir", "/d", "--listen", "127.0.0.1:x"), ERR_OK);
    assert_int_not_equal(READ("--config", "/nonexistent/weir.yaml"), ERR_OK);
    assert_non_null(strstr(e.text, "/nonexistent/weir.yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_is_enough),
        cmocka_unit_test(every_option_is_read),
        cmocka_unit_test(other_machines_are_let_in_only_on_demand),
        cmocka_unit_test(mistakes_are_named),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
