/* port_owner.c - see port_owner.h. The kernel lists the listeners of the node in /proc/net/tcp and tcp6,
 * each with the number (inode) of its socket; /proc/PID/fd names the sockets of a process by that number.
 * A process belongs to the attempt when it is in the cgroup of the attempt. Where the supervisor made no
 * cgroups, a process of the same user belongs to the attempt when its session or its WEIR_ names say so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/port_owner.h"

#include "agent/strays.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LISTENERS_MAX = 64, /* sockets that share the port (SO_REUSEPORT) */
    LISTEN_STATE = 0x0A,
    TABLE_LINE_MAX = 512,
    CGROUP_TEXT_MAX = 4096,
    LINK_MAX = 64,
};

struct listeners {
    unsigned long long inodes[LISTENERS_MAX];
    size_t count;
    bool more; /* than there is room for */
};

/* As the kernel writes addresses: words of four bytes in the order of the machine. */
static bool takes_loopback(const char *address)
{
    static const char *const taken[] = {"00000000", "0100007F", "00000000000000000000000000000000",
                                        "0000000000000000FFFF00000100007F"};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (strcmp(address, taken[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void listeners_read(const char *path, uint16_t port, struct listeners *ret)
{
    char line[TABLE_LINE_MAX];
    FILE *table = fopen(path, "re");
    while (table != NULL && fgets(line, sizeof line, table) != NULL) {
        char address[33];
        unsigned at;
        unsigned state;
        unsigned long long inode;
        if (sscanf(line, " %*u: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %llu",
                   address, &at, &state, &inode) != 4 ||
            at != port || state != LISTEN_STATE || !takes_loopback(address)) {
            continue;
        }
        if (ret->count == LISTENERS_MAX) {
            ret->more = true;
        } else {
            ret->inodes[ret->count++] = inode;
        }
    }
    if (table != NULL) {
        (void)fclose(table);
    }
}

/* ---- whose process ---- */

static size_t cgroup_text(pid_t pid, char *ret, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    FILE *file = fopen(path, "re");
    size_t len = file == NULL ? 0 : fread(ret, 1, size - 1, file);
    if (file != NULL) {
        (void)fclose(file);
    }
    ret[len] = '\0';
    return len;
}

struct search {
    const struct port_owner *owner;
    struct listeners listeners;
    char cgroup[CGROUP_TEXT_MAX]; /* of the attempt's first process */
    bool by_cgroup;               /* the supervisor made a cgroup for the attempt */
    uid_t uid;
};

static bool uid_of(pid_t pid, uid_t *ret)
{
    char path[64];
    struct stat st;
    (void)snprintf(path, sizeof path, "/proc/%d", (int)pid);
    bool known = stat(path, &st) == 0;
    *ret = known ? st.st_uid : 0;
    return known;
}

static bool is_of_attempt(const struct search *search, pid_t pid)
{
    char text[CGROUP_TEXT_MAX];
    struct attempt_key key;
    uid_t uid;
    const struct attempt_key *ours = &search->owner->key;
    if (pid == search->owner->pid) {
        return true;
    }
    if (search->by_cgroup) {
        return cgroup_text(pid, text, sizeof text) > 0 && strcmp(text, search->cgroup) == 0;
    }
    return uid_of(pid, &uid) && uid == search->uid &&
           (getsid(pid) == search->owner->pid ||
            (strays_owner(pid, search->owner->supervisor_hex, &key) && key.task.v == ours->task.v &&
             key.index == ours->index && key.attempt == ours->attempt));
}

/* ---- whose socket ---- */

/* Takes the listeners that the process has open off the list. */
static void listeners_strike(struct listeners *listeners, pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *fds = opendir(path);
    for (struct dirent *fd = NULL; fds != NULL && (fd = readdir(fds)) != NULL;) {
        char text[LINK_MAX];
        unsigned long long inode;
        ssize_t len = readlinkat(dirfd(fds), fd->d_name, text, sizeof text - 1);
        text[len > 0 ? len : 0] = '\0';
        if (sscanf(text, "socket:[%llu]", &inode) != 1) {
            continue;
        }
        for (size_t i = 0; i < listeners->count; i++) {
            if (listeners->inodes[i] == inode) {
                listeners->inodes[i] = listeners->inodes[--listeners->count];
                break;
            }
        }
    }
    if (fds != NULL) {
        (void)closedir(fds);
    }
}

static void search_run(struct search *search)
{
    const struct port_owner *owner = search->owner;
    char own_name[64];
    (void)snprintf(own_name, sizeof own_name, "/weir-%.40s/", owner->supervisor_hex);
    (void)cgroup_text(owner->pid, search->cgroup, sizeof search->cgroup);
    search->by_cgroup = strstr(search->cgroup, own_name) != NULL;
    if (!uid_of(owner->pid, &search->uid)) {
        return;
    }
    DIR *entries = opendir("/proc");
    for (struct dirent *entry = NULL;
         entries != NULL && search->listeners.count > 0 && (entry = readdir(entries)) != NULL;) {
        uint64_t pid;
        if (str_to_u64(str_of(entry->d_name), &pid) && is_of_attempt(search, (pid_t)pid)) {
            listeners_strike(&search->listeners, (pid_t)pid);
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
}

must_use enum err port_owner_check(uint16_t port, const struct port_owner *owner, struct error *e)
{
    auto_free(freep) struct search *search = xcalloc(1, sizeof *search);
    search->owner = owner;
    listeners_read("/proc/thread-self/net/tcp", port, &search->listeners);
    if (search->listeners.count == 0) { /* the kernel prefers a listener of IPv4 */
        listeners_read("/proc/thread-self/net/tcp6", port, &search->listeners);
    }
    if (search->listeners.count == 0) {
        return fail(e, ERR_UNREACHABLE, "nothing listens on port %u of the task's node", port);
    }
    search_run(search);
    if (search->listeners.count > 0 || search->listeners.more) {
        return fail(e, ERR_CONFLICT,
                    "a process that is not the task's listens on port %u of the task's node; "
                    "submit the task again, and it gets another port",
                    port);
    }
    return ERR_OK;
}
