/* hardware.c - cores by hwloc, memory by the kernel. SPDX-License-Identifier: Apache-2.0 */
#include "agent/hardware.h"
#include "agent/nvml.h"

#include <hwloc.h>
#include <sys/utsname.h>
#include <unistd.h>

must_use enum err hardware_read(int64_t fake_gpus, struct arena *arena, struct hardware *ret,
                                struct error *e)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) {
        return fail(e, ERR_IO, "cannot look at the machine's hardware");
    }
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return fail(e, ERR_IO, "cannot look at the machine's hardware");
    }
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    struct hardware hardware = {.device_model = "", .arch = ""};
    hardware.threads = threads > 0 ? (uint32_t)threads : 1;
    hardware.cores = cores > 0 ? (uint32_t)cores : hardware.threads;
    /* The kernel's own figure: hwloc adds up what the firmware's tables say of each NUMA node, which
     * on virtual machines with a balloon is what they had at that moment. */
    hardware.memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    hwloc_topology_destroy(topology);
    struct utsname system;
    if (uname(&system) == 0) {
        hardware.arch = arena_str(arena, system.machine);
    }
    if (fake_gpus < 0) {
        nvml_read(arena, &hardware);
    } else if (fake_gpus > 0) {
        hardware.device_count = (uint32_t)fake_gpus;
        hardware.device_model = "fake";
    }
    *ret = hardware;
    return ERR_OK;
}
