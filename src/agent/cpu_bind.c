/* cpu_bind.c - see cpu_bind.h. NVML counts GPUs in the order of their addresses on the PCI bus; so does this file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/cpu_bind.h"

#include "base/log.h"
#include "base/mem.h"

#include <string.h>

enum { PCI_NVIDIA = 0x10de, PCI_DISPLAY = 0x0300, PCI_3D = 0x0302, MILLI = 1000 };

struct cpu_bind {
    struct cpu_layout layout;
    bool by_numa;
    bool taken[CPU_SETSIZE]; /* by place in the layout */
};

must_use enum err cpu_bind_check(const char *wanted, struct error *e)
{
    return wanted == NULL || strcmp(wanted, "none") == 0 || strcmp(wanted, "cores") == 0 ||
                   strcmp(wanted, "numa") == 0
               ? ERR_OK
               : fail(e, ERR_USAGE, "--cpu-binding must be none, cores or numa, not '%.64s'",
                      wanted);
}

/* ---- the layout ---- */

/* The number of the NUMA node next to these processors. */
static uint16_t numa_of(hwloc_topology_t topology, hwloc_const_cpuset_t processors)
{
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL) {
        if (hwloc_bitmap_intersects(node->cpuset, processors)) {
            return (uint16_t)node->logical_index;
        }
    }
    return CPU_NUMA_UNKNOWN;
}

static bool is_gpu(const struct hwloc_pcidev_attr_s *device)
{
    return device->vendor_id == PCI_NVIDIA &&
           (device->class_id == PCI_DISPLAY || device->class_id == PCI_3D);
}

void cpu_bind_layout_read(hwloc_topology_t topology, struct cpu_layout *ret)
{
    memset(ret, 0, sizeof *ret);
    memset(ret->device_numa, 0xff, sizeof ret->device_numa);
    const int nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    ret->numa_count = nodes > 0 ? (uint32_t)nodes : 1;
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, object)) != NULL &&
           ret->count < CPU_SETSIZE) {
        if (object->os_index < CPU_SETSIZE) {
            ret->thread[ret->count] = (uint16_t)object->os_index;
            ret->numa[ret->count++] = numa_of(topology, object->cpuset);
        }
    }
    uint32_t devices = 0;
    object = NULL;
    while ((object = hwloc_get_next_pcidev(topology, object)) != NULL &&
           devices < NODE_DEVICES_MAX) {
        if (is_gpu(&object->attr->pcidev)) {
            const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, object);
            ret->device_numa[devices++] =
                near == NULL ? CPU_NUMA_UNKNOWN : numa_of(topology, near->cpuset);
        }
    }
}

must_use enum err cpu_bind_topology_load(bool devices, hwloc_topology_t *ret, struct error *e)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) {
        return fail(e, ERR_IO, "cannot look at the machine's hardware");
    }
    if (devices) {
        (void)hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    }
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return fail(e, ERR_IO, "cannot look at the machine's hardware");
    }
    *ret = topology;
    return ERR_OK;
}

/* ---- who has which ---- */

struct cpu_bind *cpu_bind_of(const struct cpu_layout *layout, bool by_numa)
{
    struct cpu_bind *bind = xcalloc(1, sizeof *bind);
    bind->layout = *layout;
    bind->by_numa = by_numa;
    return bind;
}

struct cpu_bind *cpu_bind_new(const char *wanted)
{
    hwloc_topology_t topology;
    struct cpu_layout layout;
    struct error e;
    if (wanted == NULL || strcmp(wanted, "none") == 0) {
        return NULL;
    }
    if (cpu_bind_topology_load(true, &topology, &e) != ERR_OK) {
        log_warn("tasks are not bound to processors", kv_error(&e));
        return NULL;
    }
    cpu_bind_layout_read(topology, &layout);
    hwloc_topology_destroy(topology);
    return cpu_bind_of(&layout, strcmp(wanted, "numa") == 0);
}

void cpu_bind_free(struct cpu_bind *bind)
{
    free(bind);
}

static uint32_t free_count(const struct cpu_bind *bind, uint16_t numa)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < bind->layout.count; i++) {
        count += !bind->taken[i] && bind->layout.numa[i] == numa ? 1 : 0;
    }
    return count;
}

/* The NUMA node that the task shall have; CPU_NUMA_UNKNOWN: any, because no single one has so many free threads. */
static uint16_t numa_choose(const struct cpu_bind *bind, uint64_t wanted, uint64_t devices)
{
    uint16_t best = CPU_NUMA_UNKNOWN;
    uint32_t best_free = UINT32_MAX;
    if (devices != 0) {
        const uint16_t near = bind->layout.device_numa[__builtin_ctzll(devices)];
        if (near != CPU_NUMA_UNKNOWN && free_count(bind, near) >= wanted) {
            return near;
        }
    }
    for (uint16_t numa = 0; numa < bind->layout.numa_count; numa++) {
        const uint32_t count = free_count(bind, numa);
        if (count >= wanted && count < best_free) {
            best = numa;
            best_free = count;
        }
    }
    return best;
}

void cpu_bind_take(struct cpu_bind *bind, uint64_t cpu_milli, uint64_t devices,
                   struct cpu_hold *hold)
{
    uint64_t wanted = cpu_milli / MILLI;
    uint32_t all = 0;
    *hold = (struct cpu_hold){.bound = false};
    if (bind == NULL || wanted == 0 || cpu_milli % MILLI != 0) {
        return;
    }
    for (uint32_t i = 0; i < bind->layout.count; i++) {
        all += bind->taken[i] ? 0 : 1;
    }
    if (wanted > all) {
        return;
    }
    const uint16_t numa =
        bind->by_numa ? numa_choose(bind, wanted, devices) : (uint16_t)CPU_NUMA_UNKNOWN;
    for (uint32_t i = 0; i < bind->layout.count && wanted > 0; i++) {
        if (!bind->taken[i] && (numa == CPU_NUMA_UNKNOWN || bind->layout.numa[i] == numa)) {
            bind->taken[i] = true;
            CPU_SET(bind->layout.thread[i], &hold->threads);
            wanted--;
        }
    }
    hold->bound = true;
}

void cpu_bind_give(struct cpu_bind *bind, struct cpu_hold *hold)
{
    for (uint32_t i = 0; bind != NULL && hold->bound && i < bind->layout.count; i++) {
        if (CPU_ISSET(bind->layout.thread[i], &hold->threads)) {
            bind->taken[i] = false;
        }
    }
    hold->bound = false;
}
