/* test_meter.c - bars, rates and remaining times
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/bar.h"
#include "cli/meter.h"

#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void line_is(uint32_t permille, const char *text, size_t columns, const char *wanted)
{
    struct buf out;
    buf_init(&out, 512);
    bar_line(&out, permille, text, columns);
    assert_string_equal(buf_text(&out), wanted);
    buf_done(&out);
}

static void a_bar_takes_the_room_that_the_text_leaves(void **state)
{
    (void)state;
    line_is(0, "text", 18, "[          ] text");
    line_is(500, "text", 18, "[#####     ] text");
    line_is(1000, "text", 18, "[##########] text");
    line_is(2000, "text", 18, "[##########] text");
    line_is(500, "text", 200, "[###############               ] text");
    line_is(500, "text", 12, "text"); /* less than five characters of bar */
    line_is(500, "text", 4, "tex");
    line_is(500, "日本", 4, "日"); /* no half characters */
    line_is(500, "text", 0, "");
}

static void text_is(const struct meter *meter, uint64_t done, int64_t passed_ms, const char *wanted)
{
    struct buf out;
    buf_init(&out, 512);
    meter_text(&out, meter, done, passed_ms);
    assert_string_equal(buf_text(&out), wanted);
    buf_done(&out);
}

static void the_text_has_rate_and_remaining_time(void **state)
{
    (void)state;
    const struct meter tasks = {.what = "submitted", .total = 9000};
    text_is(&tasks, 3000, 2000, "submitted 3,000 of 9,000, 1,500/s, 4.0s left");
    text_is(&tasks, 9000, 2000, "submitted 9,000 of 9,000, 4,500/s, 0.0s left");
    text_is(&tasks, 0, 0, "submitted 0 of 9,000, 0/s");
    text_is(&tasks, 9001, 2000, "submitted 9,001 of 9,000, 4,500/s, 0.0s left");
    const struct meter bytes = {.what = "copied", .total = (uint64_t)4 << 30, .bytes = true};
    text_is(&bytes, (uint64_t)1 << 30, 4000, "copied 1Gi of 4Gi, 256Mi/s, 12s left");
}

static void a_directory_has_the_bytes_of_its_files(void **state)
{
    (void)state;
    char dir[] = "/tmp/weir-meter-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char path[128];
    (void)snprintf(path, sizeof path, "%s/sub", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/sub/file", dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fputs("12345", file), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(meter_dir_bytes(dir), 5);
    assert_int_equal(meter_dir_bytes(path), 5);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(meter_dir_bytes(path), 0);
    (void)snprintf(path, sizeof path, "%s/sub", dir);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* Reads the terminal until `wanted` is there. */
static void terminal_says(int terminal, const char *wanted)
{
    char text[4096] = "";
    size_t len = 0;
    while (strstr(text, wanted) == NULL) {
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        assert_int_equal(poll(&ready, 1, 60 * 1000), 1);
        assert_true(len + 1 < sizeof text);
        const ssize_t n = read(terminal, text + len, sizeof text - 1 - len);
        assert_true(n > 0);
        len += (size_t)n;
        text[len] = '\0';
    }
}

/* A copy of 10 bytes of which 5 are there: the bar comes by itself, and goes with the watch. */
static void a_watch_shows_how_a_directory_grows(void **state)
{
    (void)state;
    char dir[] = "/tmp/weir-meter-XXXXXX";
    char path[128];
    int terminal;
    int side;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/file", dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fputs("12345", file), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(openpty(&terminal, &side, NULL, NULL, NULL), 0);
    const int before = dup(STDERR_FILENO);
    assert_int_equal(dup2(side, STDERR_FILENO), STDERR_FILENO);
    struct meter_watch *watch = meter_watch_new(dir, 10);
    assert_non_null(watch);
    terminal_says(terminal, "] copied 5 of 10, ");
    meter_watch_free(watch);
    terminal_says(terminal, "\r\x1b[K");
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    (void)close(before);
    (void)close(side);
    (void)close(terminal);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_takes_the_room_that_the_text_leaves),
        cmocka_unit_test(the_text_has_rate_and_remaining_time),
        cmocka_unit_test(a_directory_has_the_bytes_of_its_files),
        cmocka_unit_test(a_watch_shows_how_a_directory_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
