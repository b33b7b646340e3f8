/* cgroup_file.c - see cgroup_file.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup_file.h"

#include "agent/limits.h"
#include "base/mem.h"
#include "base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROCS_BYTES_MAX = 1024 * 1024 };

static int file_open(const char *dir, const char *name, int flags)
{
    char path[AGENT_PATH_MAX + 128];
    const int len = snprintf(path, sizeof path, "%s/%s", dir, name);
    return len > 0 && len < (int)sizeof path ? open(path, flags | O_CLOEXEC) : -1;
}

bool cgroup_file_read(const char *dir, const char *name, char *out, size_t size)
{
    const int fd = file_open(dir, name, O_RDONLY);
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

bool cgroup_file_write(const char *dir, const char *name, const char *text)
{
    const int fd = file_open(dir, name, O_WRONLY);
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

size_t cgroup_file_kill(const char *dir, const char *name)
{
    auto_free(freep) char *text = xmalloc(PROCS_BYTES_MAX);
    if (!cgroup_file_read(dir, name, text, PROCS_BYTES_MAX)) {
        return 0;
    }
    size_t count = 0;
    struct str rest = str_of(text);
    while (rest.p != NULL && rest.len > 0) {
        uint64_t pid;
        if (str_to_u64(str_cut(rest, '\n', &rest), &pid) && pid > 1) {
            (void)kill((pid_t)pid, SIGKILL);
            count++;
        }
    }
    return count;
}
