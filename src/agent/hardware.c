/* hardware.c - reads cores by hwloc, memory from the kernel. SPDX-License-Identifier: Apache-2.0 */
#include "agent/hardware.h"

#include "agent/amd.h"
#include "agent/cpu_bind.h"
#include "agent/dirs.h"
#include "agent/nvml.h"
#include "core/model/limits.h"

#include <dirent.h>
#include <hwloc.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Is there an adapter in the kernel's list? */
static bool infiniband_read(void)
{
    DIR *dir = opendir("/sys/class/infiniband");
    const struct dirent *entry = NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL && entry->d_name[0] == '.') {
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return entry != NULL;
}

/* One line of the firmware's description of the machine; "": there is none. */
static const char *firmware_read(const char *name, struct arena *arena)
{
    struct str text;
    struct error e;
    if (dirs_read("/sys/class/dmi/id", name, arena, &text, &e) != ERR_OK) {
        return "";
    }
    const struct str line = str_trim(str_cut(text, '\n', &(struct str){0}));
    return line.len <= TEXT_LEN_MAX ? arena_strn(arena, line.p, line.len) : "";
}

/* The machines of EC2 have the instance type as the name of the product. */
static const char *instance_type_read(struct arena *arena)
{
    const bool ec2 = strcmp(firmware_read("sys_vendor", arena), "Amazon EC2") == 0;
    return ec2 ? firmware_read("product_name", arena) : "";
}

must_use enum err hardware_read(int64_t fake_gpus, struct arena *arena, struct hardware *ret,
                                struct error *e)
{
    hwloc_topology_t topology;
    const enum err r = cpu_bind_topology_load(false, &topology, e);
    if (r != ERR_OK) {
        return r;
    }
    const int numa = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    struct hardware hardware = {.device_model = "", .device_serials = "", .arch = ""};
    hardware.threads = threads > 0 ? (uint32_t)threads : 1;
    hardware.numa_nodes = numa > 0 ? (uint32_t)numa : 1;
    hardware.cores = cores > 0 ? (uint32_t)cores : hardware.threads;
    /* The memory is the kernel's own figure. hwloc adds up what the firmware says of each NUMA
     * node, and on a virtual machine with a balloon the firmware's figure is the memory of the
     * moment. */
    hardware.memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    hwloc_topology_destroy(topology);
    struct utsname system;
    if (uname(&system) == 0) {
        hardware.arch = arena_str(arena, system.machine);
    }
    hardware.infiniband = infiniband_read();
    hardware.instance_type = instance_type_read(arena);
    if (fake_gpus < 0) {
        nvml_read(arena, &hardware);
        if (hardware.device_count == 0) {
            amd_read(arena, &hardware);
        }
    } else if (fake_gpus > 0) {
        hardware.device_count = (uint32_t)fake_gpus;
        hardware.device_model = "fake";
    }
    *ret = hardware;
    return ERR_OK;
}
