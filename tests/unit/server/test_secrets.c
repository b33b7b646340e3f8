/* test_secrets.c - the tokens of a data directory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/secrets.h"

#include "scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

static void file_read(const char *dir, const char *name, char *out, size_t size)
{
    char path[SCRATCH_PATH_MAX * 2];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(out, (int)size, file));
    (void)fclose(file);
}

static void the_first_start_makes_a_token_and_the_second_keeps_it(void **state)
{
    (void)state;
    char dir[SCRATCH_PATH_MAX];
    char text[TOKEN_SECRET_MAX + 2];
    struct tokens *tokens = token_set_new();
    struct store_token token;
    struct error e;
    bool made;
    scratch_make(dir);
    assert_int_equal(secrets_ensure(dir, SCOPE_ADMIN, "root", tokens, 5, &token, &made, &e),
                     ERR_OK);
    assert_true(made);
    token_set_put(tokens, &token);
    file_read(dir, "admin.token", text, sizeof text);
    assert_int_equal(text[strlen(text) - 1], '\n');
    text[strlen(text) - 1] = '\0';
    assert_string_equal(token_set_find(tokens, text, 5)->name, "root");
    assert_int_equal(secrets_ensure(dir, SCOPE_ADMIN, "root", tokens, 6, &token, &made, &e),
                     ERR_OK);
    assert_false(made);
    token_set_free(tokens);
    scratch_remove(dir);
}

static void only_the_owner_reads_it(void **state)
{
    (void)state;
    char dir[SCRATCH_PATH_MAX];
    char path[SCRATCH_PATH_MAX * 2];
    struct stat st;
    struct error e;
    scratch_make(dir);
    assert_int_equal(secrets_write_file(dir, "x.token", "hush\n", 0600, &e), ERR_OK);
    (void)snprintf(path, sizeof path, "%s/x.token", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    scratch_remove(dir);
}

static void a_file_with_a_token_nobody_knows_is_replaced(void **state)
{
    (void)state;
    char dir[SCRATCH_PATH_MAX];
    char text[TOKEN_SECRET_MAX + 2];
    struct tokens *tokens = token_set_new();
    struct store_token token;
    struct error e;
    bool made;
    scratch_make(dir);
    assert_int_equal(secrets_write_file(dir, "join.token", "weir_join_00\n", 0600, &e), ERR_OK);
    assert_int_equal(secrets_ensure(dir, SCOPE_JOIN, "default", tokens, 5, &token, &made, &e),
                     ERR_OK);
    assert_true(made);
    file_read(dir, "join.token", text, sizeof text);
    assert_string_not_equal(text, "weir_join_00\n");
    token_set_free(tokens);
    scratch_remove(dir);
}

static void a_directory_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct error e;
    assert_int_equal(secrets_write_file("/nonexistent/dir", "x", "y", 0600, &e), ERR_IO);
    assert_non_null(strstr(e.text, "/nonexistent/dir"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_start_makes_a_token_and_the_second_keeps_it),
        cmocka_unit_test(only_the_owner_reads_it),
        cmocka_unit_test(a_file_with_a_token_nobody_knows_is_replaced),
        cmocka_unit_test(a_directory_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
