/* cgroup.h - one cgroup (v2) for each attempt, out of a pool: whatever a task starts stays in it,
 * and all of it ends by one write. Used where the unified tree is there and writable; elsewhere
 * strays.h finds what a task left behind. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct cgroups;
struct cgroup;

/* Below the caller's own cgroup: weir-HEX/N. NULL where there is no such tree, or not for us. */
struct cgroups *cgroup_new(const char *supervisor_hex);

/* Removes the groups; those still populated stay. */
void cgroup_free(struct cgroups *groups);

/* A group without processes, or NULL. */
struct cgroup *cgroup_take(struct cgroups *groups);

/* Back into the pool, unless it was killed; must be empty of processes. */
void cgroup_give(struct cgroups *groups, struct cgroup *group);

/* Not back into the pool: the kernel would not have it. */
void cgroup_drop(struct cgroups *groups, struct cgroup *group);

/* The descriptor to be born into it with. */
int cgroup_fd(const struct cgroup *group);

/* Are there living processes in it? */
bool cgroup_populated(const struct cgroup *group);

/* SIGKILL to all of it. */
void cgroup_kill(struct cgroup *group);

/* All groups of a dead supervisor: SIGKILL to everything in them, then remove what is empty. False:
 * something in them takes its time to die; call again. */
bool cgroup_end(const char *supervisor_hex);
