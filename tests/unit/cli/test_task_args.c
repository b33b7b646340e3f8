/* test_task_args.c - what the flags of run and submit say
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WORDS_MAX = 16 };

/* The task object of a command line; NULL with the error in `e`. */
static const char *task_of(struct cli *cli, const char *yaml, char *const *words, struct error *e)
{
    static struct buf out;
    int count = 0;
    while (words[count] != NULL) {
        count++;
    }
    char name[] = "submit";
    char *names[] = {name};
    int used;
    const struct command *command = command_find(1, names, &used);
    assert_int_equal(args_parse(command, count, words, &cli->args, e), ERR_OK);
    arena_init(&cli->arena);
    struct task_args task;
    const char *json = NULL;
    if (task_args_read(cli, &task, e) == ERR_OK) {
        struct doc *doc = NULL;
        if (yaml != NULL) {
            assert_int_equal(doc_yaml_parse(&cli->arena, str_of(yaml), &doc, e), ERR_OK);
        }
        buf_done(&out);
        buf_init(&out, 10000);
        task_args_json(&task, doc, &out);
        json = buf_text(&out);
    }
    arena_done(&cli->arena);
    args_done(&cli->args);
    return json;
}

#define TASK(yaml, ...) task_of(&(struct cli){0}, (yaml), (char *[]){__VA_ARGS__, NULL}, &e)
#define W(text) ((char[]){text})

static void flags_become_fields(void **state)
{
    (void)state;
    struct error e;
    assert_string_equal(TASK(NULL, W("--"), W("echo"), W("a \"b\"")),
                        "{\"command\":[\"echo\",\"a \\\"b\\\"\"]}");
    assert_string_equal(
        TASK(NULL, W("--slots"), W("2"), W("--memory"), W("1Gi"), W("-r"), W("foo=5 bar=0.5"),
             W("true")),
        "{\"command\":[\"true\"],\"resources\":{\"slots\":2,\"memory\":1073741824,\"foo\":5,"
        "\"bar\":0.5}}");
    assert_string_equal(TASK(NULL, W("--pool"), W("a,b"), W("--after"), W("1,2"), W("--no-preempt"),
                             W("--time"), W("2h"), W("--no-repeat"), W("x")),
                        "{\"pools\":[\"a\",\"b\"],\"depends_on\":[1,2],\"repeatable\":false,"
                        "\"time_limit\":\"2h\",\"preemptible\":false,\"command\":[\"x\"]}");
    assert_string_equal(TASK(NULL, W("-e"), W("A=1=2"), W("-e"), W("B="), W("x")),
                        "{\"env\":{\"A\":\"1=2\",\"B\":\"\"},\"command\":[\"x\"]}");
}

static void flags_win_over_the_file(void **state)
{
    (void)state;
    struct error e;
    assert_string_equal(
        TASK("name: 12\ncommand: [sleep, 5]\npriority: 7\npool: old\nresources: {slots: 4, foo: "
             "2}\n",
             W("--pool"), W("new"), W("--slots"), W("1"), W("--priority"), W("9"), W("-f"), W("x")),
        "{\"name\":\"12\",\"command\":[\"sleep\",\"5\"],\"pools\":[\"new\"],\"priority\":9,"
        "\"resources\":{\"foo\":2,\"slots\":1}}");
}

static void malformed_amounts_name_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *flag;
        const char *value;
    } bad[] = {
        {"--resources", "foo"},
        {"--resources", "foo=-1"},
        {"--resources", "foo=NaN"},
        {"--resources", "foo=1e99"},
        {"--resources", "=5"},
        {"--resources", "foo=1 foo=2"},
        {"--resources", "foo=0.1234"},
        {"--resources", "foo="},
        {"--slots", "-1"},
        {"--slots", "two"},
        {"--gpus", "inf"},
        {"--cpu", ""},
        {"--memory", "64Q"},
        {"--devices", "0,0"},
        {"--devices", "0,x"},
        {"--array", "9-1"},
        {"--array", "a"},
        {"--after", "x"},
        {"--after", "0"},
        {"--env", "=v"},
        {"--stale-grace", "soon"},
        {"--preemption-delay", "never"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error e = {0};
        char flag[32];
        char value[32];
        assert_true(str_copy(flag, sizeof flag, bad[i].flag));
        assert_true(str_copy(value, sizeof value, bad[i].value));
        const char *json = TASK(NULL, flag, value, W("true"));
        if (json != NULL || e.code != ERR_USAGE || strstr(e.text, bad[i].flag) == NULL) {
            fail_msg("%s '%s': %s", bad[i].flag, bad[i].value, json == NULL ? e.text : json);
        }
    }
}

static void a_name_twice_is_seen_across_flags(void **state)
{
    (void)state;
    struct error e = {0};
    assert_null(TASK(NULL, W("--slots"), W("1"), W("--resources"), W("slots=2"), W("true")));
    assert_non_null(strstr(e.text, "'slots'"));
    assert_null(TASK(NULL, W("--preemptible"), W("--no-preempt"), W("true")));
    assert_non_null(strstr(e.text, "exclude each other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_become_fields),
        cmocka_unit_test(flags_win_over_the_file),
        cmocka_unit_test(malformed_amounts_name_their_place),
        cmocka_unit_test(a_name_twice_is_seen_across_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
