/* test_programs.c - programs that providers run: real processes on a real loop.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/calls.h"
#include "provider/programs.h"

#include "base/mem.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_MAX = 512, LONG_MS = 60 * 1000 };

struct bench {
    struct loop *loop;
    struct programs *programs;
    unsigned done;
    size_t out_len;
    char out[TEXT_MAX];
    char problem[TEXT_MAX];
};

static int bench_up(void **state)
{
    struct bench *bench = xcalloc(1, sizeof *bench);
    struct error e;
    assert_int_equal(loop_new(&bench->loop, &e), ERR_OK);
    bench->programs = programs_new(bench->loop);
    *state = bench;
    return 0;
}

static int bench_down(void **state)
{
    struct bench *bench = *state;
    programs_free(bench->programs);
    loop_free(bench->loop);
    free(bench);
    return 0;
}

static void ended(void *ctx, const struct programs_result *result)
{
    struct bench *bench = ctx;
    bench->done++;
    bench->out_len = result->out.len;
    (void)snprintf(bench->out, sizeof bench->out, "%.*s",
                   (int)(result->out.len < TEXT_MAX ? result->out.len : TEXT_MAX - 1),
                   result->out.p);
    (void)str_copy(bench->problem, sizeof bench->problem, result->problem);
}

static void shell_start(struct bench *bench, const char *script, const char *input,
                        int64_t timeout_ms)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    programs_run(bench->programs, &(struct programs_order){.argv = argv,
                                                           .input = str_of(input),
                                                           .timeout_ms = timeout_ms,
                                                           .owner = bench,
                                                           .done = ended,
                                                           .ctx = bench});
}

static void shell(struct bench *bench, const char *script, const char *input, int64_t timeout_ms)
{
    const unsigned before = bench->done;
    shell_start(bench, script, input, timeout_ms);
    assert_int_equal(bench->done, before); /* never inside the call */
    while (bench->done == before) {
        loop_turn(bench->loop, 1000);
    }
    assert_int_equal(programs_count(bench->programs), 0);
}

static void a_program_reads_and_prints(void **state)
{
    struct bench *bench = *state;
    shell(bench, "read line; echo \"got $line\"", "hello\n", LONG_MS);
    assert_string_equal(bench->out, "got hello\n");
    assert_string_equal(bench->problem, "");
    shell(bench, "true", "nobody reads this", LONG_MS);
    assert_string_equal(bench->out, "");
    assert_string_equal(bench->problem, "");
}

static void a_program_sees_little(void **state)
{
    struct bench *bench = *state;
    (void)setenv("WEIR_TEST_SECRET", "x", 1);
    shell(bench, "pwd; echo ${WEIR_TEST_SECRET-none}; ls /proc/self/fd | wc -l", "", LONG_MS);
    /* 0, 1, 2 and the directory that ls reads */
    assert_string_equal(bench->out, "/\nnone\n4\n");
}

static void failures_have_words(void **state)
{
    struct bench *bench = *state;
    shell(bench, "echo first >&2; echo no such zone >&2; exit 3", "", LONG_MS);
    assert_string_equal(bench->problem, "the program ended with exit code 3: no such zone");
    shell(bench, "kill -9 $$", "", LONG_MS);
    assert_string_equal(bench->problem, "the program was ended by signal 9");
    shell(bench, "yes", "", LONG_MS);
    assert_non_null(strstr(bench->problem, "the program wrote more than"));
    shell(bench, "yes | head -c 100000 >&2; echo last >&2; exit 1", "", LONG_MS);
    assert_non_null(strstr(bench->problem, "last"));
    const char *const none[] = {"/nix/nothing", NULL};
    bench->done = 0;
    programs_run(
        bench->programs,
        &(struct programs_order){.argv = none, .timeout_ms = LONG_MS, .done = ended, .ctx = bench});
    while (bench->done == 0) {
        loop_turn(bench->loop, 1000);
    }
    assert_string_equal(bench->problem, "cannot run '/nix/nothing': No such file or directory");
}

/* A program that does not end is killed, with its children, also where it ignores SIGTERM. */
static void time_is_bounded(void **state)
{
    struct bench *bench = *state;
    shell(bench, "trap '' TERM; sleep 600 & echo $!; wait; sleep 600", "", 200);
    assert_non_null(strstr(bench->problem, "the program did not end within 0 s"));
    const long child = strtol(bench->out, NULL, 10);
    assert_true(child > 1);
    for (unsigned i = 0; kill((pid_t)child, 0) == 0 && i < 1000; i++) {
        loop_turn(bench->loop, 10); /* until its new parent has collected it */
    }
}

/* What a program leaves behind does not hold its answer up. */
static void a_background_process_is_ended(void **state)
{
    struct bench *bench = *state;
    shell(bench, "sleep 600 & echo done", "", LONG_MS);
    assert_string_equal(bench->out, "done\n");
    assert_string_equal(bench->problem, "");
}

static void a_few_run_at_once(void **state)
{
    struct bench *bench = *state;
    for (unsigned i = 0; i < 3 * PROGRAMS_AT_ONCE; i++) {
        shell_start(bench, "sleep 0.05", "", LONG_MS);
    }
    assert_int_equal(programs_count(bench->programs), 3 * PROGRAMS_AT_ONCE);
    while (bench->done < 3 * PROGRAMS_AT_ONCE) {
        loop_turn(bench->loop, 1000);
    }
    shell_start(bench, "sleep 600", "", LONG_MS);
    loop_turn(bench->loop, 0);
    shell_start(bench, "sleep 600", "", LONG_MS);
    programs_cancel(bench->programs, bench);
    assert_int_equal(programs_count(bench->programs), 0);
    assert_int_equal(bench->done, 3 * PROGRAMS_AT_ONCE);
}

/* The number of the process that wrote it to the file. */
static pid_t pid_in(const char *path)
{
    while (true) {
        char text[32] = "";
        FILE *file = fopen(path, "re");
        assert_non_null(file);
        const bool read = fgets(text, sizeof text, file) != NULL && strchr(text, '\n') != NULL;
        (void)fclose(file);
        if (read) {
            return (pid_t)strtol(text, NULL, 10);
        }
        (void)poll(NULL, 0, 5);
    }
}

/* A process runs the script as a program, until it is killed itself. */
static noreturn void run_until_killed(const char *script)
{
    void *state;
    (void)bench_up(&state);
    struct bench *bench = state;
    shell_start(bench, script, "", LONG_MS);
    while (true) {
        loop_turn(bench->loop, 1000);
    }
}

/* Otherwise a program of a server that was killed would act beside the programs of the next server. */
static void a_program_ends_with_the_process_that_started_it(void **state)
{
    (void)state;
    char path[] = "/tmp/weir-program.XXXXXX";
    char script[128];
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)snprintf(script, sizeof script, "echo $$ >%s; exec sleep 600", path);
    const pid_t server = fork();
    if (server == 0) {
        run_until_killed(script);
    }
    const pid_t program = pid_in(path);
    struct pollfd ended = {.fd = pidfd_open(program, 0), .events = POLLIN};
    assert_true(ended.fd >= 0);
    assert_int_equal(poll(&ended, 1, 0), 0);
    assert_int_equal(kill(server, SIGKILL), 0);
    assert_int_equal(waitpid(server, NULL, 0), server);
    assert_int_equal(poll(&ended, 1, LONG_MS), 1);
    (void)close(ended.fd);
    (void)close(fd);
    (void)unlink(path);
}

static void ignored_signals_are_as_usual(void **state)
{
    struct bench *bench = *state;
    (void)signal(SIGPIPE, SIG_IGN);
    shell(bench, "kill -PIPE $$; echo still here", "", LONG_MS);
    assert_string_equal(bench->problem, "the program was ended by signal 13");
    assert_string_equal(bench->out, "");
}

/* ---- calls ---- */

struct calls_bench {
    struct loop *loop;
    struct calls *calls;
    struct machine_call *call; /* that is to be answered */
    unsigned made[2];          /* by kind */
    unsigned reports;
    enum provider_says says;
    char words[TEXT_MAX];
};

static void made(void *ctx, struct machine_call *call)
{
    struct calls_bench *bench = ctx;
    bench->call = call;
    bench->made[call->kind]++;
}

static void heard(void *ctx, const struct provider_report *report)
{
    struct calls_bench *bench = ctx;
    bench->reports++;
    bench->says = report->says;
    (void)str_copy(bench->words, sizeof bench->words, report->words);
}

static void calls_up(struct calls_bench *bench)
{
    struct error e;
    *bench = (struct calls_bench){0};
    assert_int_equal(loop_new(&bench->loop, &e), ERR_OK);
    bench->calls = calls_new(&(struct calls_options){
        .loop = bench->loop, .sink = {bench, heard}, .make = made, .ctx = bench});
}

static void calls_down(struct calls_bench *bench)
{
    calls_free(bench->calls);
    loop_free(bench->loop);
}

static void next_call(struct calls_bench *bench)
{
    bench->call = NULL;
    while (bench->call == NULL) {
        loop_turn(bench->loop, 1000);
    }
}

static const struct provider_report gone = {
    .says = PROVIDER_GONE, .name = "", .node = "", .words = ""};

/* Nobody knows what the launch did: it is tried again, fails, and the machine is ended in any case. */
static void an_unclear_launch_ends_its_machine(void **state)
{
    (void)state;
    struct calls_bench bench;
    calls_up(&bench);
    calls_launch(bench.calls, "k", str_of("text"));
    calls_launch(bench.calls, "k", str_of("text")); /* the same order: no second call */
    assert_int_equal(bench.made[CALL_LAUNCH], 1);
    for (unsigned i = 1; i < CALLS_LAUNCH_TRIES; i++) {
        calls_unclear(bench.call, "lost");
        assert_int_equal(bench.reports, 0);
        next_call(&bench);
    }
    calls_unclear(bench.call, "lost");
    assert_int_equal(bench.made[CALL_LAUNCH], CALLS_LAUNCH_TRIES);
    assert_int_equal(bench.reports, 1);
    assert_int_equal(bench.says, PROVIDER_FAILED);
    assert_string_equal(bench.words, "lost");
    assert_int_equal(bench.made[CALL_TERMINATE], 1);
    calls_answered(bench.call, &gone);
    assert_int_equal(bench.reports, 1); /* nobody waits for this end */
    assert_int_equal(calls_count(bench.calls), 0);
    calls_down(&bench);
}

/* A machine that is to end while its launch is under way ends after the launch. */
static void a_terminate_waits_for_the_launch(void **state)
{
    (void)state;
    struct calls_bench bench;
    calls_up(&bench);
    calls_launch(bench.calls, "k", str_of("text"));
    calls_terminate(bench.calls, "k");
    assert_int_equal(bench.made[CALL_TERMINATE], 0);
    const struct provider_report running = {
        .says = PROVIDER_RUNNING, .name = "", .node = "", .words = ""};
    calls_answered(bench.call, &running);
    assert_int_equal(bench.made[CALL_TERMINATE], 1);
    calls_terminate(bench.calls, "k");
    assert_int_equal(bench.made[CALL_TERMINATE], 1);
    calls_unclear(bench.call, "still there");
    assert_string_equal(bench.words, "still there");
    next_call(&bench);
    calls_answered(bench.call, &gone);
    assert_int_equal(bench.says, PROVIDER_GONE);
    assert_int_equal(calls_count(bench.calls), 0);
    calls_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_program_reads_and_prints, bench_up, bench_down),
        cmocka_unit_test_setup_teardown(a_program_sees_little, bench_up, bench_down),
        cmocka_unit_test_setup_teardown(failures_have_words, bench_up, bench_down),
        cmocka_unit_test_setup_teardown(time_is_bounded, bench_up, bench_down),
        cmocka_unit_test_setup_teardown(a_background_process_is_ended, bench_up, bench_down),
        cmocka_unit_test_setup_teardown(a_few_run_at_once, bench_up, bench_down),
        cmocka_unit_test(a_program_ends_with_the_process_that_started_it),
        cmocka_unit_test_setup_teardown(ignored_signals_are_as_usual, bench_up, bench_down),
        cmocka_unit_test(an_unclear_launch_ends_its_machine),
        cmocka_unit_test(a_terminate_waits_for_the_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
