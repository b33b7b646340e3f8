/* test_rmtree.c - removing trees whose owner does not want that. SPDX-License-Identifier: Apache-2.0 */
#include "base/rmtree.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEPTH = 3000, FILES = 10 };
#define EXCHANGE 2U /* RENAME_EXCHANGE */

static char dir[64];
static int at; /* dir, opened */

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/weir-rmtree-XXXXXX");
    assert_non_null(mkdtemp(dir));
    at = open(dir, O_RDONLY | O_DIRECTORY);
    return at < 0;
}

static int teardown(void **state)
{
    (void)state;
    rmtree(dir);
    (void)close(at);
    return access(dir, F_OK) == 0;
}

static void file_make(int parent, const char *name)
{
    const int fd = openat(parent, name, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
}

static bool is_there(const char *name)
{
    return faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void a_tree_deeper_than_any_path_goes(void **state)
{
    (void)state;
    int parent = dup(at);
    for (unsigned i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(parent, "deep", 0700), 0);
        file_make(parent, "file");
        const int next = openat(parent, "deep", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        (void)close(parent);
        parent = next;
    }
    (void)close(parent);
    rmtree_below(dir);
    assert_false(is_there("deep"));
    assert_false(is_there("file"));
    assert_int_equal(access(dir, F_OK), 0);
}

static void closed_directories_go_and_links_are_not_followed(void **state)
{
    (void)state;
    assert_int_equal(mkdirat(at, "kept", 0700), 0);
    assert_int_equal(mkdirat(at, "tree", 0700), 0);
    assert_int_equal(mkdirat(at, "tree/closed", 0700), 0);
    assert_int_equal(mkdirat(at, "tree/closed/within", 0700), 0);
    file_make(at, "kept/file");
    file_make(at, "tree/closed/within/file");
    assert_int_equal(symlinkat("../kept", at, "tree/link"), 0);
    assert_int_equal(symlinkat("../../kept", at, "tree/closed/link"), 0);
    assert_int_equal(fchmodat(at, "tree/closed/within", 0, 0), 0);
    assert_int_equal(fchmodat(at, "tree/closed", 0, 0), 0);
    char path[128];
    (void)snprintf(path, sizeof path, "%s/tree", dir);
    rmtree(path);
    assert_false(is_there("tree"));
    assert_true(is_there("kept/file"));
    (void)snprintf(path, sizeof path, "%s/link", dir);
    assert_int_equal(symlinkat("kept", at, "link"), 0);
    rmtree(path);
    assert_false(is_there("link"));
    assert_true(is_there("kept/file"));
}

/* The linker puts this in the place of unlinkat(): before the file of this name goes, its directory is
 * exchanged for a link, as the owner of the files could do at any moment. */
static const char *exchange_at;

int __real_unlinkat(int parent, const char *name, int flags);
int __wrap_unlinkat(int parent, const char *name, int flags);

int __wrap_unlinkat(int parent, const char *name, int flags)
{
    if (exchange_at != NULL && strcmp(name, exchange_at) == 0) {
        exchange_at = NULL; /* fails where the directory was taken away from its owner already */
        (void)syscall(SYS_renameat2, at, "tree/own/a", at, "tree/own/b", EXCHANGE);
    }
    return __real_unlinkat(parent, name, flags);
}

static void an_exchanged_directory_leads_nowhere(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "0", "7"};
    char path[128];
    char name[64];
    (void)snprintf(path, sizeof path, "%s/tree", dir);
    assert_int_equal(mkdirat(at, "kept", 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(mkdirat(at, "tree", 0700), 0);
        assert_int_equal(mkdirat(at, "tree/own", 0700), 0);
        assert_int_equal(mkdirat(at, "tree/own/a", 0700), 0);
        for (unsigned k = 0; k < FILES; k++) {
            (void)snprintf(name, sizeof name, "kept/%u", k);
            file_make(at, name);
            (void)snprintf(name, sizeof name, "tree/own/a/%u", k);
            file_make(at, name);
        }
        assert_int_equal(symlinkat("../../kept", at, "tree/own/b"), 0);
        exchange_at = names[i];
        rmtree(path);
        for (unsigned k = 0; k < FILES; k++) {
            (void)snprintf(name, sizeof name, "kept/%u", k);
            assert_true(is_there(name));
        }
        assert_false(is_there("tree"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tree_deeper_than_any_path_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(closed_directories_go_and_links_are_not_followed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_exchanged_directory_leads_nowhere, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
