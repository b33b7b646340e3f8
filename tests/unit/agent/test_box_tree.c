/* test_box_tree.c - files below a directory: nothing leads out of it. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_tree.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char home[32];

static int begin(void **state)
{
    static struct box_tree tree;
    struct error e;
    (void)snprintf(home, sizeof home, "/tmp/weir-tree-XXXXXX");
    assert_non_null(mkdtemp(home));
    assert_int_equal(box_tree_open(home, &tree, &e), ERR_OK);
    *state = &tree;
    return 0;
}

static int end(void **state)
{
    char command[64];
    box_tree_close(*state);
    (void)snprintf(command, sizeof command, "rm -r %s", home);
    return system(command);
}

static enum err put(const struct box_tree *tree, const char *path, const char *text)
{
    struct arena arena;
    struct box_tree_file file;
    struct stat info;
    struct error e;
    arena_init(&arena);
    enum err r = box_tree_create(tree, path, &arena, &file, &e);
    if (r == ERR_OK && file.fd >= 0) {
        assert_int_equal(write(file.fd, text, strlen(text)), (ssize_t)strlen(text));
    }
    const enum err ended = box_tree_end(&file, r == ERR_OK, &info, &e);
    arena_done(&arena);
    return r == ERR_OK ? ended : r;
}

struct seen {
    char names[256];
    size_t bytes;
};

static enum err see(void *ctx, const char *path, int fd, const struct stat *info, struct error *e)
{
    struct seen *seen = ctx;
    (void)fd;
    (void)e;
    const size_t len = strlen(seen->names);
    (void)snprintf(seen->names + len, sizeof seen->names - len, "%s ", path);
    seen->bytes += (size_t)info->st_size;
    return ERR_OK;
}

static void files_go_below_the_directory(void **state)
{
    const struct box_tree *tree = *state;
    struct seen seen = {.names = ""};
    struct error e;
    assert_int_equal(put(tree, "a/b/c", "one"), ERR_OK);
    assert_int_equal(put(tree, "a/b/c", "three"), ERR_OK); /* the second counts */
    assert_int_equal(put(tree, "empty/", ""), ERR_OK);
    assert_int_equal(faccessat(tree->fd, "empty", F_OK, 0), 0);
    assert_int_equal(box_tree_walk(tree, see, &seen, &e), ERR_OK);
    assert_string_equal(seen.names, "a/b/c ");
    assert_int_equal(seen.bytes, 5);
}

static void no_path_and_no_link_leads_out(void **state)
{
    static const char *const bad[] = {"../x", "a/../../x", "/etc/x", "a//b", "./x", ".."};
    const struct box_tree *tree = *state;
    struct seen seen = {.names = ""};
    struct error e;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_not_equal(put(tree, bad[i], "x"), ERR_OK);
    }
    assert_int_equal(symlinkat("/tmp", tree->fd, "out"), 0);
    assert_int_equal(symlinkat("/etc/passwd", tree->fd, "file"), 0);
    assert_int_not_equal(put(tree, "out/weir-test", "x"), ERR_OK);
    assert_int_equal(box_tree_walk(tree, see, &seen, &e), ERR_OK);
    assert_string_equal(seen.names, "");                /* neither link was followed */
    assert_int_equal(put(tree, "file", "own"), ERR_OK); /* takes the link's place */
    assert_int_equal(box_tree_walk(tree, see, &seen, &e), ERR_OK);
    assert_string_equal(seen.names, "file ");
    assert_int_equal(seen.bytes, 3);
}

static void a_file_that_is_not_whole_does_not_appear(void **state)
{
    const struct box_tree *tree = *state;
    struct box_tree_file file;
    struct arena arena;
    struct stat info;
    struct seen seen = {.names = ""};
    struct error e;
    arena_init(&arena);
    assert_int_equal(box_tree_create(tree, "part", &arena, &file, &e), ERR_OK);
    assert_int_equal(write(file.fd, "x", 1), 1);
    assert_int_equal(box_tree_end(&file, false, &info, &e), ERR_OK);
    assert_int_equal(box_tree_walk(tree, see, &seen, &e), ERR_OK);
    assert_string_equal(seen.names, "");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_go_below_the_directory, begin, end),
        cmocka_unit_test_setup_teardown(no_path_and_no_link_leads_out, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_is_not_whole_does_not_appear, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
