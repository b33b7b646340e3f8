/* test_texts.c - what the programs of providers print, and what they are told.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/programs.h"
#include "provider/exec/exec_answer.h"
#include "provider/slurm/slurm_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void list_reads(const char *text, int count)
{
    struct arena arena;
    struct exec_machines machines;
    struct error e;
    arena_init(&arena);
    const enum err r = exec_answer_list(str_of(text), &arena, &machines, &e);
    assert_int_equal(r == ERR_OK ? (int)machines.count : -1, count);
    arena_done(&arena);
}

static void lists_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    list_reads("{\"machines\":[]}", 0);
    list_reads(
        "{\"machines\":[{\"key\":\"a\",\"state\":\"running\"},{\"key\":\"b\",\"state\":\"gone\"}]}",
        2);
    list_reads("{\"machines\":[{\"key\":\"a\",\"state\":\"running\"},{\"key\":\"b\"}]}", -1);
    list_reads("{\"machines\":[{\"state\":\"running\"}]}", -1);
    list_reads("{\"machines\":[{\"key\":\"\",\"state\":\"running\"}]}", -1);
    list_reads("{\"machines\":[{\"key\":\"a\\u001b\",\"state\":\"running\"}]}", -1);
    list_reads("{\"machines\":{}}", -1);
    list_reads("{\"machines\":[],\"more\":1}", -1);
    list_reads("[]", -1);
    list_reads("", -1);
    list_reads("{\"machines\":[]} {}", -1);
}

static void machine_says(const char *text, const char *problem)
{
    struct arena arena;
    struct exec_machine machine;
    struct error e = {0};
    arena_init(&arena);
    const enum err r = exec_answer_machine(str_of(text), &arena, &machine, &e);
    if (problem == NULL) {
        assert_int_equal(r, ERR_OK);
    } else {
        assert_string_equal(e.text, problem);
    }
    arena_done(&arena);
}

static void answers_say_what_is_wrong(void **state)
{
    (void)state;
    machine_says("{\"state\":\"starting\",\"name\":\"vm\",\"words\":\"soon\"}\n", NULL);
    machine_says(" \n", "the program printed nothing");
    machine_says("{\"state\":7}",
                 "the program's answer: 'state' must be starting, running, ending, failed or gone");
    machine_says("{\"name\":\"x\"}", "the program's answer: 'state' is missing");
    machine_says("{\"state\":\"gone\",\"key\":\"x\"}", "the program's answer: 'key' is no field");
    machine_says("{\"state\":\"gone\",\"words\":1}",
                 "the program's answer: 'words' must be a text");
}

static int64_t span(const char *text)
{
    int64_t ms = -1;
    return slurm_text_span(str_of(text), &ms) ? ms : -1;
}

static void times_of_slurm(void **state)
{
    (void)state;
    assert_int_equal(span("0:05"), 5000);
    assert_int_equal(span("10:00"), 600000);
    assert_int_equal(span("1:00:01"), 3601000);
    assert_int_equal(span("2-01:00:00"), (int64_t)49 * 3600 * 1000);
    static const char *const none[] = {"UNLIMITED", "INVALID", "NOT_SET", "",   "5",  "-1:00",
                                       "1:2:3:4",   "1::2",    ":",       "1-", "a:b"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_int_equal(span(none[i]), -1);
    }
}

static void jobs_of_slurm(void **state)
{
    (void)state;
    struct arena arena;
    struct slurm_jobs jobs;
    struct error e;
    arena_init(&arena);
    const char *text = "12|RUNNING|59:00|1:00:00|None|weir-b-2\n"
                       "11|PENDING|1:00:00|1:00:00|Resources|weir-a-1\n"
                       "13|RUNNING|9:00|1:00:00|None|weir-c-3\n"
                       "14|RUNNING|1:00|1:00:00|None|weir-d-4\n"
                       "9|PENDING|1:00|2:00|Priority|weir-a-1\n"
                       "15_3|RUNNING|1:00|1:00:00|None|weir-e-5\n"
                       "16|RUNNING|1:00|1:00:00|None|somebody's | job\n"
                       "17|COMPLETING|UNLIMITED|UNLIMITED|None|weir-f-6\n";
    assert_int_equal(slurm_text_jobs(str_of(text), &arena, &jobs, &e), ERR_OK);
    assert_int_equal(jobs.count, 6);
    assert_int_equal(jobs.at[0].id, 9); /* the older one of a key comes first */
    assert_int_equal(jobs.at[1].id, 11);
    assert_string_equal(jobs.at[1].words, "Slurm: Resources");
    assert_int_equal(jobs.at[1].says, PROVIDER_REQUESTED);
    assert_int_equal(jobs.at[2].says, PROVIDER_RUNNING);
    assert_int_equal(jobs.at[2].stay, PROVIDER_STAYS);
    assert_int_equal(jobs.at[3].stay, PROVIDER_DRAINS);
    assert_int_equal(jobs.at[4].stay, PROVIDER_ENDS);
    assert_int_equal(jobs.at[5].stay, PROVIDER_STAYS);
    assert_int_equal(slurm_text_jobs(str_of("12|RUNNING|x\n"), &arena, &jobs, &e), ERR_INVALID);
    assert_int_equal(slurm_text_jobs(str_of(""), &arena, &jobs, &e), ERR_OK);
    assert_int_equal(jobs.count, 0);
    arena_done(&arena);
}

/* The token is in the script, which sbatch reads from its standard input, and in no argument. */
static void a_job_is_described(void **state)
{
    (void)state;
    static const char *const flags[] = {"--exclusive"};
    const struct pool_spec settings = {.partition = "gpu",
                                       .account = "",
                                       .qos = "",
                                       .flags = flags,
                                       .flag_count = 1,
                                       .job_limit_ms = 90 * 60 * 1000};
    const struct provider_order order = {.key = "weir-0-7",
                                         .pool = "p",
                                         .node = "p-7",
                                         .slots = 2,
                                         .memory_bytes = (int64_t)1 << 30,
                                         .flavor = "fast",
                                         .zone = "hall-1",
                                         .server = "http://h:1",
                                         .join_token = "secret'token",
                                         .settings = &settings};
    struct buf text;
    struct str script;
    const char *argv[PROGRAM_WORDS_MAX + 1];
    buf_init(&text, PROGRAM_INPUT_MAX);
    slurm_text_order(&text, &order, "/opt/it's/weir");
    slurm_text_order_split((struct str){text.data, text.len}, argv, PROGRAM_WORDS_MAX, &script);
    static const char *const wanted[] = {"sbatch",
                                         "--parsable",
                                         "--nodes=1",
                                         "--ntasks=1",
                                         "--no-requeue",
                                         "--output=/dev/null",
                                         "--error=/dev/null",
                                         "--chdir=/",
                                         "--job-name=weir-0-7",
                                         "--comment=weir pool p",
                                         "--partition=hall-1",
                                         "--constraint=fast",
                                         "--time=90",
                                         "--cpus-per-task=2",
                                         "--mem=1024M",
                                         "--exclusive"};
    const size_t count = sizeof wanted / sizeof wanted[0];
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(argv[i], wanted[i]);
    }
    assert_null(argv[count]);
    assert_non_null(strstr(script.p, "<<'WEIR_TOKEN_ENDS'\nsecret'token\nWEIR_TOKEN_ENDS\n"));
    assert_non_null(strstr(script.p, "'/opt/it'\\''s/weir' agent "));
    assert_int_equal(strncmp(script.p, "#!/bin/sh\n", 10), 0);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_whole_or_not_at_all),
        cmocka_unit_test(answers_say_what_is_wrong),
        cmocka_unit_test(times_of_slurm),
        cmocka_unit_test(jobs_of_slurm),
        cmocka_unit_test(a_job_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
