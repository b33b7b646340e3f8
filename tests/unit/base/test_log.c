/* test_log.c - log lines: form, level, quoting and holding back what repeats.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/doc.h"
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#undef fail /* ours, not cmocka's */

static char text[64 * 1024];
static int saved;
static int memory;

/* Standard error goes into memory between begin and end; `text` then has it. */
static void capture_begin(void)
{
    memory = memfd_create("stderr", 0);
    assert_true(memory >= 0);
    saved = dup(STDERR_FILENO);
    assert_true(saved >= 0);
    assert_true(dup2(memory, STDERR_FILENO) >= 0);
}

static void capture_end(void)
{
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    ssize_t len = pread(memory, text, sizeof text - 1, 0);
    assert_true(len >= 0);
    text[len] = '\0';
    (void)close(saved);
    (void)close(memory);
}

static size_t lines(void)
{
    size_t count = 0;
    for (const char *p = text; *p != '\0'; p++) {
        count += *p == '\n';
    }
    return count;
}

static void a_text_line_has_phrase_and_fields(void **state)
{
    (void)state;
    struct error e;
    (void)fail(&e, ERR_IO, "disk full");
    capture_begin();
    log_setup(LOG_INFO, 0, "server");
    log_info("task started", kv_u64("task", 7), kv_str("node", "n1"), kv_i64("delta", -3));
    log_warn("commit failed, retrying", kv_error(&e));
    log_info("plain");
    capture_end();
    assert_string_equal(text, "server: task started task=7 node=\"n1\" delta=-3\n"
                              "server: warn: commit failed, retrying error=\"disk full\"\n"
                              "server: plain\n");
}

static void levels_above_the_set_one_are_silent(void **state)
{
    (void)state;
    capture_begin();
    log_setup(LOG_WARN, 0, "server");
    log_info("not shown");
    log_debug("not shown either");
    log_error("only this");
    log_setup(LOG_DEBUG, 0, "server");
    log_debug("and this");
    capture_end();
    assert_string_equal(text, "server: error: only this\nserver: and this\n");
}

static void repeated_warnings_are_held_back_by_phrase(void **state)
{
    (void)state;
    capture_begin();
    log_setup(LOG_INFO, 0, "server");
    for (int i = 0; i < 100; i++) {
        log_warn("provider poll failed", kv_i64("n", i));
        log_info("not limited", kv_i64("n", i));
        log_warn_always("what was asked stays as it is", kv_i64("n", i));
    }
    log_warn("another phrase");
    capture_end();
    assert_int_equal(lines(), 202);
    assert_non_null(strstr(text, "provider poll failed n=0\n"));
    assert_null(strstr(text, "provider poll failed n=1"));
    assert_non_null(strstr(text, "another phrase\n"));
}

static void control_characters_cannot_forge_a_line(void **state)
{
    (void)state;
    capture_begin();
    log_setup(LOG_INFO, 0, "server");
    log_info("user said", kv_str("text", "x\nserver: forged"), kv_str("none", NULL));
    capture_end();
    assert_int_equal(lines(), 1);
    assert_non_null(strstr(text, "\"x\\nserver: forged\""));
}

static void a_json_line_is_json_however_long(void **state)
{
    (void)state;
    char big[20000];
    memset(big, '\x01', sizeof big - 1); /* six bytes each when quoted */
    big[sizeof big - 1] = '\0';
    capture_begin();
    log_setup(LOG_INFO, 1, "agent");
    log_info("task started", kv_u64("task", 7), kv_str("big", big), kv_i64("after", -1));
    capture_end();
    assert_int_equal(lines(), 1);
    struct arena arena;
    struct doc *doc;
    struct error e;
    const char *value;
    int64_t after = 0;
    arena_init(&arena);
    assert_int_equal(doc_json_parse(&arena, str_of(text), &doc, &e), ERR_OK);
    assert_true(doc_text(doc_get(doc, "message"), &value));
    assert_string_equal(value, "task started");
    assert_true(doc_text(doc_get(doc, "who"), &value));
    assert_string_equal(value, "agent");
    assert_true(doc_text(doc_get(doc, "level"), &value));
    assert_string_equal(value, "info");
    assert_true(doc_text(doc_get(doc, "time"), &value));
    assert_int_equal(strlen(value), strlen("2026-11-15T12:00:00.000Z"));
    assert_true(doc_i64(doc_get(doc, "after"), &after));
    assert_int_equal(after, -1);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_line_has_phrase_and_fields),
        cmocka_unit_test(levels_above_the_set_one_are_silent),
        cmocka_unit_test(repeated_warnings_are_held_back_by_phrase),
        cmocka_unit_test(control_characters_cannot_forge_a_line),
        cmocka_unit_test(a_json_line_is_json_however_long),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
