/* cpu_bind.h - gives a task that holds whole processors hardware threads of its own, near its GPUs. docs/dev/adr/0091-processors-of-a-task.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "core/model/limits.h"

#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum { CPU_NUMA_UNKNOWN = UINT16_MAX };

/* The hardware threads of the machine that this process may use, so ordered that the threads of a core, and then the cores of a NUMA
 * node, stand together. */
struct cpu_layout {
    uint16_t thread[CPU_SETSIZE]; /* the kernel's number */
    uint16_t numa[CPU_SETSIZE];   /* the NUMA node, counted from 0 */
    uint32_t count;
    uint32_t numa_count;
    uint16_t device_numa[NODE_DEVICES_MAX]; /* of each NVIDIA GPU, by its index */
};

/* Reads the layout out of a loaded topology. */
void cpu_bind_layout_read(hwloc_topology_t topology, struct cpu_layout *ret);

/* Loads the topology of this machine; `devices`: with its GPUs, which takes longer. Destroy it with hwloc_topology_destroy(). */
must_use enum err cpu_bind_topology_load(bool devices, hwloc_topology_t *ret, struct error *e);

/* Is this a value of --cpu-binding: none, cores or numa? NULL is allowed: none. */
must_use enum err cpu_bind_check(const char *wanted, struct error *e);

/* The threads of one task. All zero: the task has none of its own. */
struct cpu_hold {
    cpu_set_t threads;
    bool bound;
};

/* Which hardware threads tasks have. */
struct cpu_bind;

/* NULL: tasks are not bound. All functions below accept NULL. */
struct cpu_bind *cpu_bind_new(const char *wanted);
struct cpu_bind *cpu_bind_of(const struct cpu_layout *layout, bool by_numa);
void cpu_bind_free(struct cpu_bind *bind);

/* Takes as many free threads as the amount says, where it is whole. By NUMA: of the node of the first of the task's devices (one bit
 * each), else of the node in which they fit most closely. The hold stays unbound where too few threads are free. */
void cpu_bind_take(struct cpu_bind *bind, uint64_t cpu_milli, uint64_t devices,
                   struct cpu_hold *hold);

/* Gives the threads back. Does nothing for a hold that is unbound. */
void cpu_bind_give(struct cpu_bind *bind, struct cpu_hold *hold);
