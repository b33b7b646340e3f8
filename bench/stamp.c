/* stamp.c - the task of the latency bench: appends the monotonic clock, in nanoseconds, to a file as its first act.
 *   stamp FILE
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec t;
    char line[32];
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    if (argc != 2) {
        return 2;
    }
    int len = snprintf(line, sizeof line, "%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
    int fd = open(argv[1], O_WRONLY | O_APPEND);
    return fd >= 0 && write(fd, line, (size_t)len) == len ? 0 : 1;
}
