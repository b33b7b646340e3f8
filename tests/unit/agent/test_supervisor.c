/* test_supervisor.c - a real supervisor and real processes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup.h"
#include "rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_up(void **state)
{
    static struct rig rig;
    rig_up(&rig);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    rig_down(*state);
    return 0;
}

static void exit_codes_and_signals_are_told(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1, "exit 7");
    rig_start(rig, 2, 1, "kill -9 $$");
    rig_start(rig, 3, 1, "exit 0");
    int codes[4] = {0, -1, -1, -1};
    for (int ended = 0; ended < 3;) {
        struct record record = rig_next(rig);
        if (record.type == RECORD_ENDED) {
            codes[record.key.task.v] = record.exit_code;
            ended++;
        }
    }
    assert_int_equal(codes[1], 7);
    assert_int_equal(codes[2], 128 + SIGKILL);
    assert_int_equal(codes[3], 0);
}

static void output_is_complete_on_both_streams(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1,
              "i=0; while [ $i -lt 16 ]; do head -c 65536 /dev/zero | tr '\\0' '\\377';"
              " head -c 65536 /dev/zero >&2; i=$((i+1)); done");
    struct record record = rig_ended(rig, 1);
    assert_int_equal(record.exit_code, 0);
    assert_int_equal(record.out_bytes, 1024 * 1024);
    assert_int_equal(record.err_bytes, 1024 * 1024);
    assert_int_equal(rig->out.len, 1024 * 1024);
    assert_int_equal(rig->err.len, 1024 * 1024);
    for (size_t i = 0; i < rig->out.len; i++) {
        assert_int_equal((unsigned char)rig->out.data[i], 0xff);
        assert_int_equal(rig->err.data[i], 0);
    }
}

static void output_over_several_segments_is_whole(void **state)
{
    struct rig *rig = *state;
    enum { BYTES = 20 * 1024 * 1024 };
    rig_start(rig, 1, 1, "head -c 20971520 /dev/zero");
    rig_start(rig, 2, 1, "echo between >&2; head -c 1000 /dev/zero");
    bool ended[3] = {false};
    while (!ended[1] || !ended[2]) {
        struct record record = rig_next(rig);
        if (record.type == RECORD_ENDED) {
            ended[record.key.task.v] = true;
            assert_int_equal(record.out_bytes, record.key.task.v == 1 ? BYTES : 1000);
        }
    }
    assert_int_equal(rig->out.len, BYTES + 1000);
    uint64_t low;
    uint64_t high;
    spool_range(rig->dir, &low, &high);
    assert_true(high >= 3);
    rig_ack(rig);
    rig_start(rig, 3, 1, "true");
    (void)rig_ended(rig, 3);
    spool_range(rig->dir, &low, &high);
    assert_int_equal(low, high);
}

static void output_over_its_limit_is_dropped_with_one_line(void **state)
{
    struct rig *rig = *state;
    const char *const argv[] = {"sh", "-c", "yes | head -c 300000; echo done >&2"};
    struct start_order order = {.key = {{1}, 0, 1},
                                .argv = argv,
                                .argv_count = 3,
                                .workdir = "",
                                .pool = "p",
                                .node = "n",
                                .master_addr = "",
                                .output_max = 1000};
    rig_order(rig, &order);
    struct record record = rig_ended(rig, 1);
    assert_int_equal(record.exit_code, 0);
    assert_int_equal(record.out_bytes, rig->out.len);
    assert_true(rig->out.len > 1000);
    assert_true(rig->out.len < 1200);
    assert_non_null(strstr(rig->out.data + 1000, "over its limit of 1000 bytes"));
    assert_string_equal(rig->err.data, "done\n");
}

static void a_task_that_ends_on_sigterm_needs_no_kill(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1, "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.01; done");
    rig_output_wait(rig, 3);
    rig_stop(rig, 1, 1, 60000);
    assert_int_equal(rig_ended(rig, 1).exit_code, 3);
    assert_string_equal(rig->out.data, "up\nbye\n");
}

static void a_task_that_ignores_sigterm_is_killed_after_its_grace(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1, "trap '' TERM; echo up; while :; do sleep 1; done");
    rig_output_wait(rig, 3);
    rig_stop(rig, 1, 1, 50);
    assert_int_equal(rig_ended(rig, 1).exit_code, 128 + SIGKILL);
}

static void double_forked_children_are_ended_before_the_end(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1,
              "setsid sh -c 'setsid sleep 1000 >/dev/null 2>&1 & echo $!; exec sleep 1000' &"
              " setsid -f sleep 1001; (sleep 1002 &) ; sleep 0.2; exit 5");
    struct record record = rig_ended(rig, 1);
    assert_int_equal(record.exit_code, 5);
    int pid = (int)strtol(rig->out.data, NULL, 10);
    assert_true(pid > 0);
    assert_false(rig_alive(pid));
}

static void a_stray_that_hides_its_environment_ends_too(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1, "env -i setsid sleep 1000 & echo $!; sleep 0.2");
    struct record record = rig_ended(rig, 1);
    assert_int_equal(record.exit_code, 0);
    int pid = (int)strtol(rig->out.data, NULL, 10);
    while (rig_alive(pid)) { /* without cgroups it may outlive the record, never the supervisor */
        rig_start(rig, (uint64_t)rig->out.len + 2, 1, "echo again");
        (void)rig_ended(rig, (uint64_t)rig->out.len + 2);
    }
}

/* The kernel would kill whatever is born into it. */
static void a_group_that_was_killed_is_not_used_again(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1, "setsid sleep 1000 >/dev/null 2>&1 & exit 4");
    assert_int_equal(rig_ended(rig, 1).exit_code, 4);
    rig_start(rig, 2, 1, "true");
    assert_int_equal(rig_ended(rig, 2).exit_code, 0);
}

static void a_program_that_is_not_there_fails_by_name(void **state)
{
    struct rig *rig = *state;
    const char *const argv[] = {"no-such-program"};
    struct start_order order = {.key = {{1}, 0, 1},
                                .argv = argv,
                                .argv_count = 1,
                                .workdir = "",
                                .pool = "p",
                                .node = "n",
                                .master_addr = ""};
    rig_order(rig, &order);
    struct record record = rig_next(rig);
    assert_int_equal(record.type, RECORD_SPAWN_FAILED);
    assert_int_equal(record.error_number, 2);
    char message[256];
    (void)snprintf(message, sizeof message, "%.*s", (int)record.message.len, record.message.p);
    assert_non_null(strstr(message, "no-such-program"));
}

static void repeated_orders_start_once(void **state)
{
    struct rig *rig = *state;
    char script[256];
    char path[128];
    (void)snprintf(path, sizeof path, "%s/job/marks", rig->dir);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(chmod(path, 01777), 0);
    (void)snprintf(script, sizeof script, "mktemp %s/XXXXXX >/dev/null; sleep 0.1; echo ran", path);
    rig_start(rig, 1, 1, script);
    rig_start(rig, 1, 1, script);
    (void)rig_ended(rig, 1);
    rig_start(rig, 1, 1, script); /* over, not acknowledged */
    rig_ack(rig);
    rig_start(rig, 1, 1, script); /* acknowledged: still known, but its outcome is not */
    struct record record = rig_next(rig);
    assert_int_equal(record.type, RECORD_LOST);
    rig_start(rig, 1, 2, "echo second");
    (void)rig_ended(rig, 1);
    assert_string_equal(rig->out.data, "ran\nsecond\n");
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
}

static void a_new_agent_finds_what_ran_and_what_ended(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1, "exit 4");
    assert_int_equal(rig_ended(rig, 1).exit_code, 4);
    rig_start(rig, 2, 1, "while [ ! -e go ]; do sleep 0.01; done; echo late");
    assert_int_equal(rig_next(rig).type, RECORD_STARTED);
    rig_reconnect(rig);
    assert_int_equal(rig->attempts, 2);
    assert_int_equal(rig->attempts_ended, 1);
    rig_ack(rig);
    rig_start(rig, 1, 1, "exit 4"); /* its answer shows that the acknowledgement was taken */
    assert_int_equal(rig_next(rig).type, RECORD_LOST);
    rig_reconnect(rig);
    assert_int_equal(rig->attempts, 1);
    char path[128];
    (void)snprintf(path, sizeof path, "%s/job/2/0/go", rig->dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(rig_ended(rig, 2).exit_code, 0);
    assert_string_equal(rig->out.data, "late\n");
}

static void a_killed_supervisor_takes_its_tasks_along(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1, "echo $$; exec sleep 1000");
    struct record record = rig_next(rig);
    int pid = (int)record.pid;
    assert_true(rig_alive(pid));
    assert_int_equal(kill((pid_t)rig->hello.pid, SIGKILL), 0);
    rig_wait_gone(rig);
    while (rig_alive(pid)) {
        usleep(1000);
    }
}

/* The end of a machine or of a batch job sends SIGTERM to tasks and supervisor at once. A task is not to blame for its end then: neither
 * a task that dies before the supervisor hears of it, nor a task that answers with an exit code of its own. */
static void tasks_of_a_node_that_is_ended_are_lost(void **state)
{
    static const char *const scripts[] = {
        "exec sleep 1000", "trap 'exit 143' TERM; echo up; while :; do sleep 0.01; done",
        "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done"};
    struct rig *rig = *state;
    pid_t first = 0;
    for (uint64_t task = 1; task <= 3; task++) {
        rig_start(rig, task, 1, scripts[task - 1]);
        const struct record record = rig_next(rig);
        assert_int_equal(record.type, RECORD_STARTED);
        first = task == 1 ? (pid_t)record.pid : first;
    }
    rig_output_wait(rig, strlen("up\nup\n"));
    assert_int_equal(kill(first, SIGTERM), 0);
    while (rig_alive(first)) {
        usleep(1000);
    }
    assert_int_equal(kill((pid_t)rig->hello.pid, SIGTERM), 0);
    for (unsigned lost = 0; lost < 3; lost++) {
        assert_int_equal(rig_next(rig).type, RECORD_LOST);
    }
}

static void a_task_that_somebody_else_ends_has_ended(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1, "exec sleep 1000");
    assert_int_equal(kill((pid_t)rig_next(rig).pid, SIGTERM), 0);
    assert_int_equal(rig_ended(rig, 1).exit_code, 128 + SIGTERM);
}

static void a_cgroup_removed_by_somebody_else_does_no_harm(void **state)
{
    struct rig *rig = *state;
    char hex[SUPERVISOR_HEX_LEN + 1];
    for (size_t i = 0; i < SUPERVISOR_ID_LEN; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", rig->hello.id[i]);
    }
    rig_start(rig, 1, 1, "true");
    (void)rig_ended(rig, 1);
    (void)cgroup_end(rig->dir, hex);
    rig_start(rig, 2, 1, "echo still");
    assert_int_equal(rig_ended(rig, 2).exit_code, 0);
    assert_string_equal(rig->out.data, "still\n");
}

static void a_task_has_three_descriptors_and_is_never_root(void **state)
{
    struct rig *rig = *state;
    rig_start(rig, 1, 1,
              "i=0; while [ $i -lt 200 ]; do [ -e /proc/$$/fd/$i ] && echo -n \"$i \"; i=$((i+1)); "
              "done; readlink /proc/$$/fd/0; id -u; id -g; umask;"
              " grep NoNewPrivs /proc/$$/status; ulimit -c");
    (void)rig_ended(rig, 1);
    char want[256];
    uid_t uid = geteuid() == 0 ? 65534 : geteuid();
    gid_t gid = geteuid() == 0 ? 65534 : getegid();
    (void)snprintf(want, sizeof want, "0 1 2 /dev/null\n%u\n%u\n0022\nNoNewPrivs:\t1\n0\n", uid,
                   gid);
    assert_string_equal(rig->out.data, want);
}

static void among_many_tasks_each_has_only_its_own_streams(void **state)
{
    enum { OTHERS = 40 };
    struct rig *rig = *state;
    for (uint64_t task = 1; task <= OTHERS;
         task++) { /* so that new descriptors have high numbers */
        rig_start(rig, task, 1, "exec sleep 60");
        assert_int_equal(rig_next(rig).type, RECORD_STARTED);
    }
    rig_start(rig, OTHERS + 1, 1,
              "i=0; while [ $i -lt 500 ]; do [ -e /proc/$$/fd/$i ] && echo -n \"$i \"; i=$((i+1)); "
              "done; readlink /proc/$$/fd/0; echo wrong >&2");
    assert_int_equal(rig_ended(rig, OTHERS + 1).exit_code, 0);
    assert_string_equal(rig->out.data, "0 1 2 /dev/null\n");
    assert_string_equal(rig->err.data, "wrong\n");
}

static void the_working_directory_is_used_where_it_can_be_entered(void **state)
{
    struct rig *rig = *state;
    const char *const argv[] = {"pwd"};
    struct start_order order = {.key = {{1}, 0, 1},
                                .argv = argv,
                                .argv_count = 1,
                                .workdir = "/usr",
                                .pool = "p",
                                .node = "n",
                                .master_addr = ""};
    rig_order(rig, &order);
    assert_true(rig_next(rig).workdir_used);
    (void)rig_ended(rig, 1);
    order.workdir = "/no/such/place";
    order.key.task.v = 2;
    rig_order(rig, &order);
    assert_false(rig_next(rig).workdir_used);
    (void)rig_ended(rig, 2);
    order.workdir = ""; /* nothing was asked, so nothing was missed */
    order.key.task.v = 3;
    rig_order(rig, &order);
    assert_true(rig_next(rig).workdir_used);
    (void)rig_ended(rig, 3);
    char want[256];
    (void)snprintf(want, sizeof want, "/usr\n%s/job/2/0\n%s/job/3/0\n", rig->dir, rig->dir);
    assert_string_equal(rig->out.data, want);
}

int main(int argc, char **argv)
{
    int code;
    if (rig_role(argc, argv, &code)) {
        return code;
    }
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(exit_codes_and_signals_are_told),
        TEST(output_is_complete_on_both_streams),
        TEST(output_over_several_segments_is_whole),
        TEST(output_over_its_limit_is_dropped_with_one_line),
        TEST(a_task_that_ends_on_sigterm_needs_no_kill),
        TEST(a_task_that_ignores_sigterm_is_killed_after_its_grace),
        TEST(double_forked_children_are_ended_before_the_end),
        TEST(a_stray_that_hides_its_environment_ends_too),
        TEST(a_group_that_was_killed_is_not_used_again),
        TEST(a_program_that_is_not_there_fails_by_name),
        TEST(repeated_orders_start_once),
        TEST(a_new_agent_finds_what_ran_and_what_ended),
        TEST(a_killed_supervisor_takes_its_tasks_along),
        TEST(tasks_of_a_node_that_is_ended_are_lost),
        TEST(a_task_that_somebody_else_ends_has_ended),
        TEST(a_cgroup_removed_by_somebody_else_does_no_harm),
        TEST(a_task_has_three_descriptors_and_is_never_root),
        TEST(among_many_tasks_each_has_only_its_own_streams),
        TEST(the_working_directory_is_used_where_it_can_be_entered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
