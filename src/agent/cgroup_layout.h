/* cgroup_layout.h - which cgroup hierarchies the machine has, and where this process stands in each.
 *
 *   v2      one unified tree that has the controllers
 *   hybrid  a unified tree without controllers, which finds and ends processes; version 1 has the limits
 *   v1      version 1 alone
 *   none    no tree that this process may use: limits by rlimits, strays through /proc
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/limits.h"

#include <stdbool.h>
#include <stddef.h>

enum cgroup_mode { CGROUP_MODE_NONE, CGROUP_MODE_V1, CGROUP_MODE_HYBRID, CGROUP_MODE_V2 };

/* The controllers that Weir uses. The values are bits, and are sent to the agent. */
enum {
    CGROUP_CPU = 1,
    CGROUP_CPUACCT = 2, /* version 1 only: version 2 accounts without a controller */
    CGROUP_MEMORY = 4,
    CGROUP_PIDS = 8,
};
enum { CGROUP_TREES_MAX = 5, CGROUP_TEXT_MAX = 64 * 1024 };

struct cgroup_tree {
    char path[AGENT_PATH_MAX]; /* the directory of this process's own cgroup */
    unsigned controllers;
    bool unified;
};

struct cgroup_layout {
    struct cgroup_tree trees[CGROUP_TREES_MAX]; /* the unified tree, if there is one, comes first */
    size_t count;
};

/* Reads the texts of /proc/self/mountinfo and /proc/self/cgroup. A controller that is mounted twice
 * counts once. */
void cgroup_layout_of(const char *mountinfo, const char *own, struct cgroup_layout *ret);

/* Reads the files of this process. Trees without a controller that Weir uses are left out. */
void cgroup_layout_read(struct cgroup_layout *ret);

/* The mode that the trees make. A unified tree without controllers and without version 1 is `v2`. */
enum cgroup_mode cgroup_layout_mode(const struct cgroup_layout *layout);

/* The controllers of all trees together. */
unsigned cgroup_layout_controllers(const struct cgroup_layout *layout);

/* "v2", "hybrid", "v1", "none". */
const char *cgroup_layout_mode_name(enum cgroup_mode mode);
