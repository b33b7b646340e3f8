/* cgroup.c - the pool of cgroups.
 *
 * Groups are made when first needed and kept: making one costs more than starting a task. A task is
 * born in its group (clone3), because moving a running process takes a lock of the whole machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup.h"

#include "agent/limits.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS_BYTES_MAX = 256, LINE_BYTES_MAX = 4096 };

struct cgroup {
    unsigned number;
    int dir_fd;
    int events_fd;
    bool killed;
};

struct cgroups {
    char base[AGENT_PATH_MAX];
    unsigned count;
    VEC(struct cgroup *) ready;
};

/* The mount point of the cgroup2 file system, as /proc/self/mountinfo tells. */
static bool mount_find(char *out)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (file == NULL) {
        return false;
    }
    char line[LINE_BYTES_MAX];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        const char *type = strstr(line, " - cgroup2 ");
        struct str rest = str_of(line);
        for (int field = 0; type != NULL && field < 4; field++) {
            (void)str_cut(rest, ' ', &rest);
        }
        if (type != NULL && rest.p != NULL) {
            struct str point = str_cut(rest, ' ', &rest);
            (void)snprintf(out, AGENT_PATH_MAX, "%.*s", (int)point.len, point.p);
            found = true;
        }
    }
    (void)fclose(file);
    return found;
}

/* Our own group in it: the line "0::/path" of /proc/self/cgroup. */
static bool own_find(char *out)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL) {
        return false;
    }
    char line[LINE_BYTES_MAX];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::/", 4) == 0) {
            struct str path = str_trim(str_of(line + 3));
            (void)snprintf(out, AGENT_PATH_MAX, "%.*s", path.len > 1 ? (int)path.len : 0, path.p);
            found = true;
        }
    }
    (void)fclose(file);
    return found;
}

static bool base_find(const char *hex, char *out)
{
    char mount[AGENT_PATH_MAX];
    char own[AGENT_PATH_MAX];
    if (!mount_find(mount) || !own_find(own)) {
        return false;
    }
    int len = snprintf(out, AGENT_PATH_MAX, "%s%s/weir-%s", mount, own, hex);
    return len > 0 && len < AGENT_PATH_MAX - 32;
}

struct cgroups *cgroup_new(const char *supervisor_hex)
{
    struct cgroups *groups = xcalloc(1, sizeof *groups);
    if (!base_find(supervisor_hex, groups->base) || mkdir(groups->base, 0755) != 0) {
        free(groups);
        return NULL;
    }
    struct cgroup *first = cgroup_take(groups);
    if (first == NULL) {
        cgroup_free(groups);
        return NULL;
    }
    cgroup_give(groups, first);
    return groups;
}

static void group_free(const struct cgroups *groups, struct cgroup *group)
{
    char path[AGENT_PATH_MAX + 32];
    (void)snprintf(path, sizeof path, "%s/%u", groups->base, group->number);
    if (group->dir_fd >= 0) {
        (void)close(group->dir_fd);
    }
    if (group->events_fd >= 0) {
        (void)close(group->events_fd);
    }
    (void)rmdir(path);
    free(group);
}

void cgroup_free(struct cgroups *groups)
{
    if (groups == NULL) {
        return;
    }
    for (size_t i = 0; i < groups->ready.count; i++) {
        group_free(groups, groups->ready.at[i]);
    }
    vec_done(&groups->ready);
    (void)rmdir(groups->base);
    free(groups);
}

struct cgroup *cgroup_take(struct cgroups *groups)
{
    if (groups->ready.count > 0) {
        return groups->ready.at[--groups->ready.count];
    }
    char path[AGENT_PATH_MAX + 32];
    struct cgroup *group = xcalloc(1, sizeof *group);
    group->number = groups->count++;
    group->events_fd = -1;
    (void)snprintf(path, sizeof path, "%s/%u", groups->base, group->number);
    (void)mkdir(path, 0755);
    group->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group->dir_fd >= 0) {
        group->events_fd = openat(group->dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
    }
    if (group->events_fd < 0 || faccessat(group->dir_fd, "cgroup.kill", W_OK, AT_EACCESS) != 0) {
        group_free(groups, group);
        return NULL;
    }
    return group;
}

void cgroup_give(struct cgroups *groups, struct cgroup *group)
{
    /* Since Linux 6.11 each use of cgroup.kill is counted, and a child that is born into another
     * group than its parent's dies at once where the two counts differ. */
    if (!group->killed && groups->ready.count < CGROUPS_READY_MAX) {
        vec_push(&groups->ready, group);
    } else {
        group_free(groups, group);
    }
}

void cgroup_drop(struct cgroups *groups, struct cgroup *group)
{
    group_free(groups, group);
}

int cgroup_fd(const struct cgroup *group)
{
    return group->dir_fd;
}

bool cgroup_populated(const struct cgroup *group)
{
    char text[EVENTS_BYTES_MAX];
    ssize_t len = pread(group->events_fd, text, sizeof text - 1, 0);
    if (len <= 0) {
        return false;
    }
    text[len] = '\0';
    return strstr(text, "populated 1") != NULL;
}

void cgroup_kill(struct cgroup *group)
{
    group->killed = true;
    int fd = openat(group->dir_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "1", 1);
        (void)close(fd);
    }
}

bool cgroup_end(const char *supervisor_hex)
{
    char base[AGENT_PATH_MAX];
    if (!base_find(supervisor_hex, base)) {
        return true;
    }
    int dir_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return true;
    }
    struct cgroup whole = {.dir_fd = dir_fd, .events_fd = -1};
    cgroup_kill(&whole);
    DIR *entries = fdopendir(dir_fd);
    must(entries != NULL);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            (void)unlinkat(dir_fd, entry->d_name, AT_REMOVEDIR);
        }
    }
    (void)closedir(entries);
    return rmdir(base) == 0 || errno != EBUSY;
}
