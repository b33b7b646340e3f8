/* cgroup.c - the pool of cgroups.
 *
 * A cgroup is made when it is first needed, and kept, because making a cgroup costs more than
 * starting a task. In the unified tree a task is born in its cgroup (clone3), because moving a
 * running process takes a lock of the whole node. In trees of version 1 the child enters its cgroup
 * by itself: a thread that writes "0" to `tasks` does not need that lock.
 *
 * The files that every task needs stay open as long as the cgroup exists, because the kernel needs
 * more time to find a cgroup by its path than to write to an open file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup_internal.h"

#include "agent/dirs.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS_BYTES_MAX = 256 };

void cgroup_path(const struct cgroup_tree *tree, const struct cgroup *group, char *out)
{
    (void)snprintf(out, CGROUP_PATH_MAX, "%s/%u", tree->path, group->number);
}

const struct cgroup_tree *cgroup_tree_of(const struct cgroups *groups, unsigned controller)
{
    for (size_t i = 0; i < groups->layout.count; i++) {
        if ((groups->layout.trees[i].controllers & controller) != 0) {
            return &groups->layout.trees[i];
        }
    }
    return NULL;
}

static bool unified(const struct cgroups *groups)
{
    return groups->layout.count > 0 && groups->layout.trees[0].unified;
}

static void tree_drop(struct cgroup_layout *layout, size_t at)
{
    layout->count--;
    memmove(&layout->trees[at], &layout->trees[at + 1],
            (layout->count - at) * sizeof layout->trees[0]);
}

/* Gives the cgroups below `path` the controllers that they may have. Returns these. */
static unsigned controllers_enable(const char *path, unsigned wanted)
{
    static const struct {
        const char *text;
        unsigned bit;
    } each[] = {{"+cpu", CGROUP_CPU}, {"+memory", CGROUP_MEMORY}, {"+pids", CGROUP_PIDS}};
    unsigned enabled = 0;
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        if ((wanted & each[i].bit) != 0 &&
            cgroup_file_write(path, "cgroup.subtree_control", each[i].text)) {
            enabled |= each[i].bit;
        }
    }
    return enabled;
}

/* A cgroup that gives controllers to cgroups below may not have processes of its own (version 2). So
 * this process and the agent that started it go to a leaf. */
static void leaf_enter(const char *path)
{
    char leaf[CGROUP_PATH_MAX];
    char pid[STR_U64_MAX + 1];
    (void)snprintf(leaf, sizeof leaf, "%s/weir.leaf", path);
    (void)mkdir(leaf, 0755);
    const pid_t movers[] = {getpid(), getppid()};
    for (size_t i = 0; i < sizeof movers / sizeof movers[0]; i++) {
        if (movers[i] > 1) {
            pid[str_u64(pid, (uint64_t)movers[i])] = '\0';
            (void)cgroup_file_write(leaf, "cgroup.procs", pid);
        }
    }
}

/* All tasks together weigh as much as one busy process on each core. The kernel's own default is the
 * weight of one process for all of them. */
static void weight_set(const struct cgroup_tree *tree, const char *base)
{
    enum { SHARES_OF_CORE = 1024, SHARES_MAX = 262144, WEIGHT_OF_CORE = 100, WEIGHT_MAX = 10000 };
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t cores = online > 0 ? (uint64_t)online : 1;
    const uint64_t shares = cores * (tree->unified ? WEIGHT_OF_CORE : SHARES_OF_CORE);
    const uint64_t most = tree->unified ? WEIGHT_MAX : SHARES_MAX;
    char text[STR_U64_MAX + 1];
    text[str_u64(text, shares < most ? shares : most)] = '\0';
    (void)cgroup_file_write(base, tree->unified ? "cpu.weight" : "cpu.shares", text);
}

/* Makes the directory weir-HEX in one tree. False: this process may not. */
static bool tree_begin(struct cgroup_tree *tree, const char *hex)
{
    char base[CGROUP_PATH_MAX];
    (void)snprintf(base, sizeof base, "%s/weir-%s", tree->path, hex);
    if (mkdir(base, 0755) != 0) {
        return false;
    }
    if (tree->unified && tree->controllers != 0) {
        unsigned enabled = controllers_enable(tree->path, tree->controllers);
        if (enabled != tree->controllers) {
            leaf_enter(tree->path);
            enabled = controllers_enable(tree->path, tree->controllers);
        }
        tree->controllers = controllers_enable(base, enabled);
    }
    if ((tree->controllers & CGROUP_CPU) != 0) {
        weight_set(tree, base);
    }
    (void)str_copy(tree->path, sizeof tree->path, base);
    return true;
}

static void places_put(const struct cgroups *groups, struct buf *out)
{
    buf_init(out, (size_t)CGROUP_TREES_MAX * CGROUP_PATH_MAX);
    for (size_t i = 0; i < groups->layout.count; i++) {
        buf_addf(out, "%s\n", groups->layout.trees[i].path);
    }
}

/* Writes where the cgroups are, so that the next agent finds them, in whatever cgroup it runs. */
static void places_write(const struct cgroups *groups, const char *dir)
{
    struct buf text;
    struct error e;
    places_put(groups, &text);
    if (dirs_write(dir, CGROUPS_FILE, (struct str){buf_text(&text), text.len}, &e) != ERR_OK) {
        log_warn("the places of the cgroups cannot be written", kv_error(&e));
    }
    buf_done(&text);
}

void cgroup_places_hold(const struct cgroups *groups, const char *dir)
{
    char path[CGROUP_PATH_MAX];
    struct stat info;
    struct buf text;
    if (groups == NULL) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/" CGROUPS_FILE, dir);
    places_put(groups, &text);
    if (stat(path, &info) != 0 || (size_t)info.st_size != text.len) {
        places_write(groups, dir);
    }
    buf_done(&text);
}

struct cgroups *cgroup_new(const char *dir, const char *supervisor_hex)
{
    struct cgroups *groups = xcalloc(1, sizeof *groups);
    cgroup_layout_read(&groups->layout);
    /* `off`: strays are found through /proc only. `v1`: the unified tree is not used. */
    const char *wanted = getenv("WEIR_CGROUPS");
    if (wanted != NULL && strcmp(wanted, "off") == 0) {
        groups->layout.count = 0;
    } else if (wanted != NULL && strcmp(wanted, "v1") == 0 && unified(groups)) {
        tree_drop(&groups->layout, 0);
    }
    for (size_t i = groups->layout.count; i-- > 0;) {
        /* A unified tree accounts for the processors already. */
        const bool spare = unified(groups) && groups->layout.trees[i].controllers == CGROUP_CPUACCT;
        if (spare || !tree_begin(&groups->layout.trees[i], supervisor_hex)) {
            tree_drop(&groups->layout, i);
        }
    }
    struct cgroup *first = groups->layout.count == 0 ? NULL : cgroup_take(groups);
    if (first == NULL) {
        cgroup_free(groups);
        return NULL;
    }
    cgroup_give(groups, first);
    places_write(groups, dir);
    return groups;
}

enum cgroup_mode cgroup_mode(const struct cgroups *groups)
{
    return groups == NULL ? CGROUP_MODE_NONE : cgroup_layout_mode(&groups->layout);
}

unsigned cgroup_controllers(const struct cgroups *groups)
{
    return groups == NULL ? 0 : cgroup_layout_controllers(&groups->layout);
}

static void fd_close(int fd)
{
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void group_free(const struct cgroups *groups, struct cgroup *group)
{
    char path[CGROUP_PATH_MAX];
    fd_close(group->dir_fd);
    fd_close(group->events_fd);
    fd_close(group->cpu_fd);
    fd_close(group->oom_fd);
    for (size_t i = 0; i < group->join_count; i++) {
        fd_close(group->join_fds[i]);
    }
    for (size_t i = 0; i < groups->layout.count; i++) {
        cgroup_path(&groups->layout.trees[i], group, path);
        (void)rmdir(path);
    }
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
    for (size_t i = 0; i < groups->layout.count; i++) {
        (void)rmdir(groups->layout.trees[i].path);
    }
    free(groups);
}

/* Opens the files through which each task enters the cgroup, and the files that tell what each task
 * has used. */
static bool files_open(const struct cgroups *groups, struct cgroup *group)
{
    char path[CGROUP_PATH_MAX];
    for (size_t i = 0; i < groups->layout.count; i++) {
        const struct cgroup_tree *tree = &groups->layout.trees[i];
        cgroup_path(tree, group, path);
        if (tree->unified) {
            continue;
        }
        const int fd = cgroup_file_open(path, "tasks", O_WRONLY);
        if (fd < 0) {
            return false;
        }
        group->join_fds[group->join_count++] = fd;
    }
    cgroup_limit_files(groups, group);
    return true;
}

/* Makes the directories of a cgroup in all trees. */
static bool group_make(const struct cgroups *groups, struct cgroup *group)
{
    char path[CGROUP_PATH_MAX];
    for (size_t i = 0; i < groups->layout.count; i++) {
        cgroup_path(&groups->layout.trees[i], group, path);
        if (mkdir(path, 0755) != 0 && errno != EEXIST) {
            return false;
        }
    }
    if (!files_open(groups, group)) {
        return false;
    }
    if (!unified(groups)) {
        return true;
    }
    cgroup_path(&groups->layout.trees[0], group, path);
    group->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group->dir_fd >= 0) {
        group->events_fd = openat(group->dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
    }
    return group->events_fd >= 0 && faccessat(group->dir_fd, "cgroup.kill", W_OK, AT_EACCESS) == 0;
}

struct cgroup *cgroup_take(struct cgroups *groups)
{
    struct cgroup *group;
    if (groups->ready.count > 0) {
        group = groups->ready.at[--groups->ready.count];
    } else {
        group = xcalloc(1, sizeof *group);
        group->number = groups->count++;
        group->dir_fd = -1;
        group->events_fd = -1;
        group->cpu_fd = -1;
        group->oom_fd = -1;
        if (!group_make(groups, group)) {
            group_free(groups, group);
            return NULL;
        }
    }
    return group;
}

void cgroup_give(struct cgroups *groups, struct cgroup *group)
{
    /* A killed cgroup is never used again. Since Linux 6.11 the kernel counts each use of
     * cgroup.kill, and a child dies at once when it is born into a cgroup whose count differs from
     * the count of the parent's cgroup. */
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

struct cgroup_entry cgroup_entry_of(const struct cgroup *group)
{
    return (struct cgroup_entry){
        .cgroup_fd = group->dir_fd, .join_fds = group->join_fds, .join_count = group->join_count};
}

bool cgroup_populated(const struct cgroups *groups, const struct cgroup *group)
{
    char text[EVENTS_BYTES_MAX];
    if (!unified(groups)) {
        char path[CGROUP_PATH_MAX];
        cgroup_path(&groups->layout.trees[0], group, path);
        return cgroup_file_read(path, "cgroup.procs", text, sizeof text) && text[0] != '\0';
    }
    ssize_t len = pread(group->events_fd, text, sizeof text - 1, 0);
    if (len <= 0) {
        return false;
    }
    text[len] = '\0';
    return strstr(text, "populated 1") != NULL;
}

void cgroup_kill(const struct cgroups *groups, struct cgroup *group)
{
    group->killed = true;
    if (unified(groups)) {
        const int fd = openat(group->dir_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);
        if (fd >= 0) {
            (void)!write(fd, "1", 1);
            (void)close(fd);
        }
        return;
    }
    char path[CGROUP_PATH_MAX];
    const struct cgroup_tree *pids = cgroup_tree_of(groups, CGROUP_PIDS);
    if (pids != NULL) { /* no process can be made while the others are killed one by one */
        cgroup_path(pids, group, path);
        (void)cgroup_file_write(path, "pids.max", "0");
    }
    cgroup_path(&groups->layout.trees[0], group, path);
    (void)cgroup_file_kill(path, "cgroup.procs");
}
