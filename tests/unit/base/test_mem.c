/* test_mem.c - memory that cannot be had is not called a bug. SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
/* Else the sanitizer ends the process in its own words. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

static void take_too_much(unsigned how)
{
    volatile size_t size = (size_t)1 << 62;
    if (how == 0) {
        (void)mem_malloc(size);
    } else if (how == 1) {
        (void)mem_calloc(1, size);
    } else {
        (void)mem_realloc(NULL, 1, size);
    }
}

static void out_of_memory_says_so(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        int ends[2];
        char said[512] = "";
        int status;
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)dup2(ends[1], STDERR_FILENO);
            (void)signal(SIGABRT, SIG_DFL);
            take_too_much(how);
            _exit(0);
        }
        (void)close(ends[1]);
        size_t len = 0;
        for (ssize_t got = 1; got > 0 && len<sizeof said - 1; len += got> 0 ? (size_t)got : 0) {
            got = read(ends[0], said + len, sizeof said - 1 - len);
        }
        (void)close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGABRT);
        assert_non_null(strstr(said, "out of memory"));
        assert_null(strstr(said, "bug"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(out_of_memory_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
