/* strays.c - finds processes that tasks left behind, in /proc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/strays.h"

#include "agent/limits.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum {
    STAT_BYTES_MAX = 4096,
    ENVIRON_BYTES_MAX = 1024 * 1024,
    CHILDREN_BYTES_MAX = ORPHANS_MAX * 12
};

/* Reads a whole small file of /proc. The caller frees the text, which ends in NUL. NULL:
 * unreadable. */
static char *file_read(const char *path, size_t max, size_t *ret_len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    char *text = xmalloc(max + 1);
    size_t len = 0;
    for (ssize_t got = 1; got > 0 && len < max;) {
        got = read(fd, text + len, max - len);
        len += got > 0 ? (size_t)got : 0;
    }
    (void)close(fd);
    text[len] = '\0';
    *ret_len = len;
    return text;
}

size_t strays_children(pid_t *out, size_t max)
{
    char path[64];
    size_t len;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    auto_free(freep) char *text = file_read(path, CHILDREN_BYTES_MAX, &len);
    if (text == NULL) {
        return 0;
    }
    size_t count = 0;
    struct str rest = {text, len};
    while (rest.p != NULL && count < max) {
        uint64_t pid;
        if (str_to_u64(str_cut(rest, ' ', &rest), &pid)) {
            out[count++] = (pid_t)pid;
        }
    }
    return count;
}

/* The value of NAME= in a block of NUL-separated entries. */
static struct str value_of(struct str block, const char *name)
{
    size_t len = strlen(name);
    while (block.p != NULL) {
        struct str entry = str_cut(block, '\0', &block);
        if (entry.len > len && memcmp(entry.p, name, len) == 0 && entry.p[len] == '=') {
            return (struct str){entry.p + len + 1, entry.len - len - 1};
        }
    }
    return (struct str){NULL, 0};
}

static char *environ_read(pid_t pid, size_t *ret_len)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    return file_read(path, ENVIRON_BYTES_MAX, ret_len);
}

bool strays_owner(pid_t pid, const char *supervisor_hex, struct attempt_key *ret)
{
    size_t len;
    auto_free(freep) char *text = environ_read(pid, &len);
    if (text == NULL ||
        !str_is(value_of((struct str){text, len}, "WEIR_SUPERVISOR"), supervisor_hex)) {
        return false;
    }
    struct str block = {text, len};
    uint64_t task;
    uint64_t index;
    uint64_t attempt;
    if (!str_to_u64(value_of(block, "WEIR_TASK_ID"), &task) ||
        !str_to_u64(value_of(block, "WEIR_INDEX"), &index) ||
        !str_to_u64(value_of(block, "WEIR_ATTEMPT"), &attempt)) {
        return false;
    }
    *ret = (struct attempt_key){{task}, (uint32_t)index, (uint32_t)attempt};
    return true;
}

bool strays_dying(pid_t pid)
{
    enum { FLAGS_FIELD = 6, FLAG_EXITING = 4 }; /* as in proc(5), counted from the field `state` */
    char path[64];
    size_t len;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    auto_free(freep) char *text = file_read(path, STAT_BYTES_MAX, &len);
    const char *name_end = text == NULL ? NULL : strrchr(text, ')');
    if (name_end == NULL || name_end[1] == '\0') {
        return true;
    }
    struct str rest = str_of(name_end + 2);
    for (int field = 0; field < FLAGS_FIELD && rest.p != NULL; field++) {
        (void)str_cut(rest, ' ', &rest);
    }
    uint64_t flags;
    return rest.p == NULL || !str_to_u64(str_cut(rest, ' ', &rest), &flags) ||
           (flags & FLAG_EXITING) != 0 || name_end[2] == 'Z';
}

size_t strays_end(const char *supervisor_hex)
{
    DIR *entries = opendir("/proc");
    if (entries == NULL) {
        return 0;
    }
    size_t count = 0;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        uint64_t pid;
        size_t len;
        if (!str_to_u64(str_of(entry->d_name), &pid) || (pid_t)pid == getpid()) {
            continue;
        }
        auto_free(freep) char *text = environ_read((pid_t)pid, &len);
        struct str block = {text, text == NULL ? 0 : len};
        if (text != NULL && str_is(value_of(block, "WEIR_SUPERVISOR"), supervisor_hex)) {
            count += kill((pid_t)pid, SIGKILL) == 0;
        }
    }
    (void)closedir(entries);
    return count;
}
