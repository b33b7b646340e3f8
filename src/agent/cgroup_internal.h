/* cgroup_internal.h - private to cgroup.c (the pool), cgroup_limit.c (limits and use), cgroup_end.c
 * (what a dead supervisor left). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/cgroup.h"
#include "agent/cgroup_file.h"
#include "base/vec.h"

#include <stdint.h>

#define CGROUPS_FILE "cgroups"

struct cgroup {
    unsigned number;
    int dir_fd;    /* the directory in the unified tree; -1: there is no such tree */
    int events_fd; /* its file cgroup.events; -1 likewise */
    int cpu_fd;    /* the file with the processor time that was used; -1: there is none */
    int oom_fd;    /* the file that counts processes ended for lack of memory; -1: there is none */
    int join_fds[CGROUP_TREES_MAX]; /* the files `tasks` of the cgroup in the trees of version 1 */
    size_t join_count;
    bool killed;
    struct cgroup_limits limits; /* what is set in the kernel */
    uint64_t cpu_ms_before;      /* what earlier tasks used of this cgroup */
    uint64_t oom_kills_before;
};

struct cgroups {
    struct cgroup_layout layout; /* the paths are those of the directories weir-HEX */
    unsigned count;
    VEC(struct cgroup *) ready;
};

enum { CGROUP_PATH_MAX = AGENT_PATH_MAX + 64 };

/* The directory of the cgroup in one tree. */
void cgroup_path(const struct cgroup_tree *tree, const struct cgroup *group, char *out);

/* The tree that has the controller, or NULL. */
const struct cgroup_tree *cgroup_tree_of(const struct cgroups *groups, unsigned controller);

/* Opens the files that cgroup_limit_end() reads: processor time used, and processes ended for lack
 * of memory. */
void cgroup_limit_files(const struct cgroups *groups, struct cgroup *group);
