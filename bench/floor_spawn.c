/* floor_spawn.c - how many processes a second this computer starts and reaps: the limit for process
 * tasks.
 *
 *   floor_spawn THREADS IN_FLIGHT SECONDS PROGRAM      prints one number, starts per second
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS_MAX = 16, IN_FLIGHT_MAX = 256 };

extern char **environ;

struct worker {
    pthread_t thread;
    const char *program;
    unsigned in_flight;
    int64_t until_ns;
    uint64_t started;
};

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what, int number)
{
    errno = number;
    perror(what);
    exit(1);
}

static void reap(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            die("waitpid", errno);
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        die("child failed", ECHILD);
    }
}

static void *work(void *ctx)
{
    struct worker *worker = ctx;
    pid_t ring[IN_FLIGHT_MAX];
    uint64_t reaped = 0;
    char *argv[] = {(char *)(uintptr_t)worker->program, NULL};
    while (now_ns() < worker->until_ns) {
        while (worker->started - reaped < worker->in_flight) {
            int r = posix_spawn(&ring[worker->started % worker->in_flight], worker->program, NULL,
                                NULL, argv, environ);
            if (r != 0) {
                die("posix_spawn", r);
            }
            worker->started++;
        }
        reap(ring[reaped++ % worker->in_flight]);
    }
    while (reaped < worker->started) {
        reap(ring[reaped++ % worker->in_flight]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        (void)fprintf(stderr, "usage: floor_spawn THREADS IN_FLIGHT SECONDS PROGRAM\n");
        return 2;
    }
    unsigned threads = (unsigned)strtoul(argv[1], NULL, 10);
    unsigned in_flight = (unsigned)strtoul(argv[2], NULL, 10);
    if (threads == 0 || threads > THREADS_MAX || in_flight == 0 || in_flight > IN_FLIGHT_MAX) {
        return 2;
    }
    struct worker workers[THREADS_MAX] = {0};
    int64_t begin = now_ns();
    int64_t seconds = (int64_t)strtoul(argv[3], NULL, 10);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){
            .program = argv[4], .in_flight = in_flight, .until_ns = begin + seconds * 1000000000};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            die("pthread_create", EAGAIN);
        }
    }
    uint64_t started = 0;
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        started += workers[i].started;
    }
    (void)printf("%lld\n", (long long)((int64_t)started * 1000000000 / (now_ns() - begin)));
    return 0;
}
