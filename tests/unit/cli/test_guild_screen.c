/* test_guild_screen.c - what `weir guild` shows of things that happen together
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_screen.h"

#include "base/must.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SHOWN_MAX = 4096 };

/* Both outputs go into a pipe while the calls are made. */
struct capture {
    int pipe[2];
    int kept[2];
};

static void capture_begin(struct capture *c)
{
    must(pipe(c->pipe) == 0);
    for (int i = 0; i < 2; i++) {
        c->kept[i] = dup(STDOUT_FILENO + i);
        must(dup2(c->pipe[1], STDOUT_FILENO + i) >= 0);
    }
    guild_screen_open();
}

static const char *capture_end(struct capture *c)
{
    static char shown[SHOWN_MAX];
    guild_screen_close();
    for (int i = 0; i < 2; i++) {
        must(dup2(c->kept[i], STDOUT_FILENO + i) >= 0);
        must(close(c->kept[i]) == 0);
    }
    must(close(c->pipe[1]) == 0);
    const ssize_t n = read(c->pipe[0], shown, sizeof shown - 1);
    must(close(c->pipe[0]) == 0);
    shown[n > 0 ? n : 0] = '\0';
    return shown;
}

static void line(const char *text)
{
    guild_screen_line(str_of(text));
}

/* Run 2 ends a moment before run 1, long after both have written. */
static void ends_are_shown_in_the_order_of_staging(void **state)
{
    struct capture c;
    (void)state;
    capture_begin(&c);
    guild_screen_ended(2);
    line("2 completed\n");
    guild_screen_ended(1);
    line("1 completed\n");
    line("3 started\n");
    guild_screen_started(3);
    guild_screen_output(3, 0, str_of("out of 3\n"));
    const char *shown = capture_end(&c);
    assert_string_equal(shown, "1 completed\n3 started\n2 completed\nout of 3\n");
}

static void lines_are_shown_at_once_while_no_run_ends(void **state)
{
    struct capture c;
    (void)state;
    capture_begin(&c);
    line("first\n");
    assert_int_equal(guild_screen_due_ms(), -1);
    guild_screen_ended(1);
    line("1 completed\n");
    assert_true(guild_screen_due_ms() >= 0);
    guild_screen_flush();
    line("last\n");
    assert_int_equal(guild_screen_due_ms(), -1);
    assert_string_equal(capture_end(&c), "first\n1 completed\nlast\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_shown_in_the_order_of_staging),
        cmocka_unit_test(lines_are_shown_at_once_while_no_run_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
