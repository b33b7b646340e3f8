/* cgroup_file.c - see cgroup_file.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup_file.h"

#include "agent/limits.h"
#include "base/mem.h"
#include "base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROCS_BYTES_MAX = 1024 * 1024, MEMORY_PROCS_MAX = 1024 };

int cgroup_file_open(const char *dir, const char *name, int flags)
{
    char path[AGENT_PATH_MAX + 128];
    const int len = snprintf(path, sizeof path, "%s/%s", dir, name);
    return len > 0 && len < (int)sizeof path ? open(path, flags | O_CLOEXEC) : -1;
}

bool cgroup_file_read(const char *dir, const char *name, char *out, size_t size)
{
    const int fd = cgroup_file_open(dir, name, O_RDONLY);
    if (fd < 0) {
        return false;
    }
    size_t len = 0;
    ssize_t got = 1;
    while (got > 0 && len < size - 1) {
        got = read(fd, out + len, size - 1 - len);
        len += got > 0 ? (size_t)got : 0;
    }
    (void)close(fd);
    out[len] = '\0';
    return got >= 0;
}

bool cgroup_file_again(int fd, char *out, size_t size)
{
    const ssize_t got = fd < 0 ? -1 : pread(fd, out, size - 1, 0);
    out[got > 0 ? got : 0] = '\0';
    return got >= 0;
}

bool cgroup_file_write(const char *dir, const char *name, const char *text)
{
    const int fd = cgroup_file_open(dir, name, O_WRONLY);
    if (fd < 0) {
        return false;
    }
    const size_t len = strlen(text);
    const bool done = write(fd, text, len) == (ssize_t)len;
    (void)close(fd);
    return done;
}

bool cgroup_file_key(const char *text, const char *key, uint64_t *ret)
{
    struct str rest = str_of(text);
    while (rest.p != NULL && rest.len > 0) {
        struct str value;
        const struct str line = str_cut(rest, '\n', &rest);
        if (str_is(str_cut(line, ' ', &value), key) && value.p != NULL) {
            return str_to_u64(str_trim(value), ret);
        }
    }
    return false;
}

/* Calls `each` with the processes of the list, `most` of them at most. Returns how many; -1: the list
 * cannot be read. */
static ssize_t procs_walk(const char *dir, const char *name, ssize_t most,
                          void (*each)(pid_t pid, void *context), void *context)
{
    auto_free(freep) char *text = xmalloc(PROCS_BYTES_MAX);
    if (!cgroup_file_read(dir, name, text, PROCS_BYTES_MAX)) {
        return -1;
    }
    ssize_t count = 0;
    struct str rest = str_of(text);
    while (rest.p != NULL && rest.len > 0 && count < most) {
        uint64_t pid;
        if (str_to_u64(str_cut(rest, '\n', &rest), &pid) && pid > 1) {
            each((pid_t)pid, context);
            count++;
        }
    }
    return count;
}

static void process_kill(pid_t pid, void *context)
{
    (void)context;
    (void)kill(pid, SIGKILL);
}

size_t cgroup_file_kill(const char *dir, const char *name)
{
    const ssize_t count = procs_walk(dir, name, SSIZE_MAX, process_kill, NULL);
    return count > 0 ? (size_t)count : 0;
}

/* The second number of proc(5)'s statm is the resident memory in pages. */
static void process_memory_add(pid_t pid, void *context)
{
    uint64_t *sum = context;
    char dir[32];
    char text[128];
    uint64_t pages = 0;
    (void)snprintf(dir, sizeof dir, "/proc/%d", (int)pid);
    if (cgroup_file_read(dir, "statm", text, sizeof text)) {
        struct str rest = str_of(text);
        (void)str_cut(rest, ' ', &rest);
        if (rest.p != NULL && str_to_u64(str_cut(rest, ' ', &rest), &pages)) {
            *sum += pages * (uint64_t)sysconf(_SC_PAGESIZE);
        }
    }
}

bool cgroup_file_memory(const char *dir, const char *name, uint64_t *ret)
{
    uint64_t sum = 0;
    if (procs_walk(dir, name, MEMORY_PROCS_MAX, process_memory_add, &sum) < 0) {
        return false;
    }
    *ret = sum;
    return true;
}
