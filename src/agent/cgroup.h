/* cgroup.h - one cgroup for each attempt, out of a pool: a directory in each tree of the layout
 * (cgroup_layout.h). Whatever a task starts stays in the task's cgroup. So the cgroup holds the
 * limits of the whole task, counts its use, and finds and ends all of its processes. Where there is
 * no tree, strays.h finds the processes that a task left behind.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/cgroup_layout.h"

#include <stdint.h>

struct cgroups;
struct cgroup;

/* What the processes of a cgroup may use together. */
struct cgroup_limits {
    uint64_t cpu_milli;       /* their weight against other tasks, in thousandths of a core */
    uint64_t cpu_limit_milli; /* most of the processors; 0: no limit */
    uint64_t memory_bytes;    /* 0: no limit */
    uint64_t pids;            /* processes and threads; 0: no limit */
};

/* What the processes of a cgroup have used since it was taken. */
struct cgroup_use {
    uint64_t cpu_ms;
    uint64_t memory_bytes; /* now; without files that the kernel only keeps for speed */
    bool memory_known;
};

/* The descriptors through which a process enters a cgroup. The cgroup owns the descriptors. */
struct cgroup_entry {
    int cgroup_fd;       /* for clone3: the process is born in the cgroup; -1: none */
    const int *join_fds; /* before it executes the program, the child writes "0" to each */
    size_t join_count;
};

/* The cgroups are weir-HEX/N below the caller's own cgroup in each tree. Their places are written to
 * the file `cgroups` of the node's directory. NULL: there is no tree that this process may write
 * to. */
struct cgroups *cgroup_new(const char *dir, const char *supervisor_hex);

/* Writes the file with the places of the cgroups again if somebody removed or cut the file. NULL is
 * allowed. */
void cgroup_places_hold(const struct cgroups *groups, const char *dir);

/* Removes the cgroups. Cgroups that still have processes stay. */
void cgroup_free(struct cgroups *groups);

enum cgroup_mode cgroup_mode(const struct cgroups *groups); /* NULL is allowed: none */
/* The controllers that work on this node, as bits. NULL is allowed: none. */
unsigned cgroup_controllers(const struct cgroups *groups);

/* A cgroup without processes, or NULL. */
struct cgroup *cgroup_take(struct cgroups *groups);

/* Sets the limits. Call before the first process enters. Returns the bits of the controllers whose
 * limit the kernel refused. */
unsigned cgroup_limit(struct cgroups *groups, struct cgroup *group,
                      const struct cgroup_limits *limits);

/* Returns the cgroup to the pool. Removes a cgroup that was killed, or for which the pool has no
 * room. The cgroup must have no processes. */
void cgroup_give(struct cgroups *groups, struct cgroup *group);

/* Does not return the cgroup to the pool, because the kernel refused to start a process in it. */
void cgroup_drop(struct cgroups *groups, struct cgroup *group);

/* Returns how a process enters the cgroup. The result is good until the cgroup is given back or
 * dropped. */
struct cgroup_entry cgroup_entry_of(const struct cgroup *group);

/* Are there living processes in the cgroup? */
bool cgroup_populated(const struct cgroups *groups, const struct cgroup *group);

/* Sends SIGKILL to all processes of the cgroup. In mode v1 call again while it is populated. */
void cgroup_kill(const struct cgroups *groups, struct cgroup *group);

void cgroup_limit_use(const struct cgroups *groups, const struct cgroup *group,
                      struct cgroup_use *ret);

/* What a cgroup used between cgroup_take() and the end of its last process. */
struct cgroup_end {
    uint64_t cpu_ms;
    bool exceeded; /* the kernel ended a process, because the cgroup was over its memory */
};

/* Call once, when no process is left. The counters of the kernel go on; the next use of the cgroup begins with what they say now, so
 * that cgroup_take() reads no files. */
void cgroup_limit_end(const struct cgroups *groups, struct cgroup *group, struct cgroup_end *ret);

/* Sends SIGKILL to all processes in the cgroups of a dead supervisor, then removes the empty
 * cgroups. False: some process has not ended yet; call again. */
bool cgroup_end(const char *dir, const char *supervisor_hex);
