/* cgroup_limit.c - limits and use of a cgroup, in the files of version 1 and of version 2.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup_internal.h"

#include "base/str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    PERIOD_US = 100000,
    US_PER_MS = 1000,
    NS_PER_MS = 1000000,
    SHARES_OF_CORE = 1024, /* of version 1; a weight of 100 in version 2 */
    WEIGHT_OF_CORE = 100,
    WEIGHT_MAX = 10000,
    CPU_MILLI_MIN = 100, /* tasks that hold no processor weigh as much as a tenth of one */
    QUOTA_US_MIN = 1000, /* the kernel takes no less */
};

static uint64_t at_least(uint64_t value, uint64_t least)
{
    return value < least ? least : value;
}

static bool number_write(const char *path, const char *name, uint64_t value)
{
    char text[STR_U64_MAX + 1];
    text[str_u64(text, value)] = '\0';
    return cgroup_file_write(path, name, text);
}

static bool cpu_set(const struct cgroup_tree *tree, const char *path,
                    const struct cgroup_limits *limits)
{
    char text[64];
    const uint64_t quota =
        at_least(limits->cpu_limit_milli * (PERIOD_US / 1000), (uint64_t)QUOTA_US_MIN);
    if (tree->unified) {
        const uint64_t weight = at_least(limits->cpu_milli, CPU_MILLI_MIN) * WEIGHT_OF_CORE / 1000;
        (void)number_write(path, "cpu.weight", weight < WEIGHT_MAX ? weight : WEIGHT_MAX);
        (void)snprintf(text, sizeof text, "%" PRIu64 " %d", quota, PERIOD_US);
        return cgroup_file_write(path, "cpu.max", limits->cpu_limit_milli == 0 ? "max" : text);
    }
    (void)number_write(path, "cpu.shares",
                       at_least(limits->cpu_milli, CPU_MILLI_MIN) * SHARES_OF_CORE / 1000);
    (void)snprintf(text, sizeof text, "%" PRIu64, quota);
    return cgroup_file_write(path, "cpu.cfs_quota_us", limits->cpu_limit_milli == 0 ? "-1" : text);
}

/* With version 1 the limit of memory with swap may never be below that of memory. */
static bool memory_set(const struct cgroup_tree *tree, const char *path, uint64_t bytes)
{
    if (tree->unified) {
        if (bytes == 0) {
            return cgroup_file_write(path, "memory.max", "max");
        }
        (void)cgroup_file_write(path, "memory.oom.group", "1");
        (void)cgroup_file_write(path, "memory.swap.max", "0");
        return number_write(path, "memory.max", bytes);
    }
    (void)cgroup_file_write(path, "memory.memsw.limit_in_bytes", "-1");
    if (bytes == 0) {
        return cgroup_file_write(path, "memory.limit_in_bytes", "-1");
    }
    if (!number_write(path, "memory.limit_in_bytes", bytes)) {
        return false;
    }
    (void)number_write(path, "memory.memsw.limit_in_bytes", bytes);
    return true;
}

static bool pids_set(const char *path, uint64_t pids)
{
    return pids == 0 ? cgroup_file_write(path, "pids.max", "max")
                     : number_write(path, "pids.max", pids);
}

unsigned cgroup_limit(struct cgroups *groups, struct cgroup *group,
                      const struct cgroup_limits *limits)
{
    char path[CGROUP_PATH_MAX];
    unsigned refused = 0;
    struct cgroup_limits *now = &group->limits;
    const struct cgroup_tree *tree = cgroup_tree_of(groups, CGROUP_CPU);
    if (tree != NULL &&
        (limits->cpu_milli != now->cpu_milli || limits->cpu_limit_milli != now->cpu_limit_milli)) {
        cgroup_path(tree, group, path);
        refused |= cpu_set(tree, path, limits) ? 0 : CGROUP_CPU;
    }
    tree = cgroup_tree_of(groups, CGROUP_MEMORY);
    if (tree != NULL && limits->memory_bytes != now->memory_bytes) {
        cgroup_path(tree, group, path);
        refused |= memory_set(tree, path, limits->memory_bytes) ? 0 : CGROUP_MEMORY;
    }
    tree = cgroup_tree_of(groups, CGROUP_PIDS);
    if (tree != NULL && limits->pids != now->pids) {
        cgroup_path(tree, group, path);
        refused |= pids_set(path, limits->pids) ? 0 : CGROUP_PIDS;
    }
    *now = *limits;
    if (refused != 0) { /* so that the next task sets them anew */
        now->cpu_milli = UINT64_MAX;
        now->memory_bytes = UINT64_MAX;
        now->pids = UINT64_MAX;
    }
    return refused;
}

void cgroup_limit_files(const struct cgroups *groups, struct cgroup *group)
{
    char path[CGROUP_PATH_MAX];
    const bool unified = groups->layout.trees[0].unified;
    const struct cgroup_tree *tree =
        unified ? &groups->layout.trees[0] : cgroup_tree_of(groups, CGROUP_CPUACCT);
    if (tree != NULL) {
        cgroup_path(tree, group, path);
        group->cpu_fd = cgroup_file_open(path, unified ? "cpu.stat" : "cpuacct.usage", O_RDONLY);
    }
    tree = cgroup_tree_of(groups, CGROUP_MEMORY);
    if (tree != NULL) {
        cgroup_path(tree, group, path);
        group->oom_fd = cgroup_file_open(
            path, tree->unified ? "memory.events" : "memory.oom_control", O_RDONLY);
    }
}

static uint64_t cpu_ms_read(const struct cgroups *groups, const struct cgroup *group)
{
    char text[CGROUP_LINE_MAX];
    uint64_t number = 0;
    if (!cgroup_file_again(group->cpu_fd, text, sizeof text)) {
        return 0;
    }
    if (groups->layout.trees[0].unified) {
        return cgroup_file_key(text, "usage_usec", &number) ? number / US_PER_MS : 0;
    }
    return str_to_u64(str_trim(str_of(text)), &number) ? number / NS_PER_MS : 0;
}

static uint64_t oom_kills_read(const struct cgroup *group)
{
    char text[CGROUP_LINE_MAX];
    uint64_t kills = 0;
    return cgroup_file_again(group->oom_fd, text, sizeof text) &&
                   cgroup_file_key(text, "oom_kill", &kills)
               ? kills
               : 0;
}

/* Memory that the processes themselves asked for. Pages of files are left out: the kernel gives them
 * up before anybody is short of memory. Where no tree counts memory (a version 2 tree whose owner
 * passes no controllers down), the memory of the processes is added up. */
static bool memory_read(const struct cgroups *groups, const struct cgroup *group, uint64_t *ret)
{
    char path[CGROUP_PATH_MAX];
    char text[CGROUP_LINE_MAX];
    uint64_t own = 0;
    uint64_t shared = 0;
    const struct cgroup_tree *tree = cgroup_tree_of(groups, CGROUP_MEMORY);
    if (tree == NULL) {
        cgroup_path(&groups->layout.trees[0], group, path);
        return cgroup_file_memory(path, "cgroup.procs", ret);
    }
    cgroup_path(tree, group, path);
    if (!cgroup_file_read(path, "memory.stat", text, sizeof text)) {
        return false;
    }
    (void)cgroup_file_key(text, tree->unified ? "shmem" : "total_shmem", &shared);
    if (!cgroup_file_key(text, tree->unified ? "anon" : "total_rss", &own)) {
        return false;
    }
    *ret = own + shared;
    return true;
}

static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

void cgroup_limit_use(const struct cgroups *groups, const struct cgroup *group,
                      struct cgroup_use *ret)
{
    *ret = (struct cgroup_use){.cpu_ms = since(cpu_ms_read(groups, group), group->cpu_ms_before)};
    ret->memory_known = memory_read(groups, group, &ret->memory_bytes);
}

void cgroup_limit_end(const struct cgroups *groups, struct cgroup *group, struct cgroup_end *ret)
{
    const uint64_t cpu_ms = cpu_ms_read(groups, group);
    const uint64_t kills =
        group->limits.memory_bytes == 0 ? group->oom_kills_before : oom_kills_read(group);
    ret->cpu_ms = since(cpu_ms, group->cpu_ms_before);
    ret->exceeded = kills > group->oom_kills_before;
    group->cpu_ms_before = cpu_ms;
    group->oom_kills_before = kills;
}
