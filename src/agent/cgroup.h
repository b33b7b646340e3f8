/* cgroup.h - one cgroup (v2) for each attempt, out of a pool. Whatever a task starts stays in the
 * task's cgroup, and one write ends all of it. Cgroups are used where the unified tree exists and
 * is writable; elsewhere strays.h finds the processes that a task left behind.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct cgroups;
struct cgroup;

/* The cgroups are weir-HEX/N below the caller's own cgroup. NULL: there is no cgroup2 tree, or this
 * process may not write to the tree. */
struct cgroups *cgroup_new(const char *supervisor_hex);

/* Removes the cgroups. Cgroups that still have processes stay. */
void cgroup_free(struct cgroups *groups);

/* A cgroup without processes, or NULL. */
struct cgroup *cgroup_take(struct cgroups *groups);

/* Returns the cgroup to the pool. Removes a cgroup that was killed, or for which the pool has no
 * room. The cgroup must have no processes. */
void cgroup_give(struct cgroups *groups, struct cgroup *group);

/* Does not return the cgroup to the pool, because the kernel refused to start a process in it. */
void cgroup_drop(struct cgroups *groups, struct cgroup *group);

/* The descriptor that clone3 needs to start a process in the cgroup. */
int cgroup_fd(const struct cgroup *group);

/* Are there living processes in the cgroup? */
bool cgroup_populated(const struct cgroup *group);

/* Sends SIGKILL to all processes of the cgroup. */
void cgroup_kill(struct cgroup *group);

/* Sends SIGKILL to all processes in the cgroups of a dead supervisor, then removes the empty
 * cgroups. False: some process has not ended yet; call again. */
bool cgroup_end(const char *supervisor_hex);
