/* test_cgroup_file.c - lists of processes in files like those of cgroups. SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup_file.h"
#include "base/must.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELD_BYTES = 64 * 1024 * 1024 };

static char dir[] = "/tmp/weir-cgroup-file-XXXXXX";
static char list[64];

static void list_write(pid_t first, pid_t second)
{
    FILE *file = fopen(list, "w");
    assert_non_null(file);
    if (first != 0) {
        assert_true(fprintf(file, "%d\n", (int)first) > 0);
    }
    assert_true(fprintf(file, "%d\n", (int)second) > 0);
    assert_int_equal(fclose(file), 0);
}

/* A child that holds memory until a signal ends it, or until this test ends. The memory is volatile, because a
 * compiler may leave out memory that only the child itself reads. */
static pid_t holder_start(void)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        volatile char *const held = malloc(HELD_BYTES);
        for (size_t i = 0; i < HELD_BYTES; i++) {
            held[i] = 1;
        }
        byte = held[HELD_BYTES / 2];
        (void)!write(ready[1], &byte, 1);
        (void)pause();
        _exit(held[0]);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return child;
}

static void memory_of_all_listed_processes_is_added_up(void **state)
{
    (void)state;
    uint64_t one = 0;
    uint64_t both = 0;
    const pid_t child = holder_start();
    list_write(0, getpid());
    assert_true(cgroup_file_memory(dir, "cgroup.procs", &one));
    list_write(getpid(), child);
    assert_true(cgroup_file_memory(dir, "cgroup.procs", &both));
    assert_true(one > 0);
    assert_true(both > one);
    assert_true(both >= HELD_BYTES);

    int status = 0;
    list_write(0, child);
    assert_int_equal(cgroup_file_kill(dir, "cgroup.procs"), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void a_list_that_is_missing_is_no_memory_of_zero(void **state)
{
    (void)state;
    uint64_t sum = 7;
    assert_false(cgroup_file_memory(dir, "missing", &sum));
    assert_int_equal(sum, 7);
    assert_int_equal(cgroup_file_kill(dir, "missing"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_all_listed_processes_is_added_up),
        cmocka_unit_test(a_list_that_is_missing_is_no_memory_of_zero),
    };
    must(mkdtemp(dir) != NULL);
    (void)snprintf(list, sizeof list, "%s/cgroup.procs", dir);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(list);
    (void)rmdir(dir);
    return failed;
}
