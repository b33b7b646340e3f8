/* amd.c - see amd.h. These files under /sys are read:
 *
 *   class/kfd/kfd/topology/nodes/N/gpu_id        0: N is a processor, else N is a GPU
 *   class/kfd/kfd/topology/nodes/N/properties    one property a line, like "drm_render_minor 128"
 *   class/drm/renderD128/device/                 product_name, mem_info_vram_total, mem_info_vram_used,
 *                                                gpu_busy_percent
 *
 * A GPU has the name of its product. Where the driver does not know the product, the GPU has the name of its chip from
 * the topology. SPDX-License-Identifier: Apache-2.0 */
#include "agent/amd.h"

#include "agent/dirs.h"
#include "base/str.h"

#include <stdlib.h>
#include <unistd.h>

enum { NODES_OF_MACHINE_MAX = 1024 };

static const char *root_of(void)
{
    const char *root = getenv(AMD_ROOT_ENV);
    return root == NULL ? "" : root;
}

/* Returns the first line of a file, without blanks around the line; "": there is no such file. */
static struct str line_read(const char *dir, const char *name, struct arena *arena)
{
    struct str text;
    struct error e;
    if (dirs_read(dir, name, arena, &text, &e) != ERR_OK) {
        return (struct str){"", 0};
    }
    return str_trim(str_cut(text, '\n', &(struct str){0}));
}

static bool number_read(const char *dir, const char *name, struct arena *arena, uint64_t *ret)
{
    return str_to_u64(line_read(dir, name, arena), ret);
}

/* Reads a number from the file `properties`, whose lines are like "drm_render_minor 128". False:
 * the file has no such property. */
static bool property_read(const char *dir, const char *name, struct arena *arena, uint64_t *ret)
{
    struct str text;
    struct error e;
    bool found = false;
    if (dirs_read(dir, "properties", arena, &text, &e) != ERR_OK) {
        return false;
    }
    while (!found && text.p != NULL) {
        struct str value = str_cut(text, '\n', &text);
        const struct str key = str_cut(value, ' ', &value);
        found = str_is(key, name) && value.p != NULL && str_to_u64(str_trim(value), ret);
    }
    return found;
}

static const char *device_dir(const struct amd_gpu *gpu, struct arena *arena)
{
    return arena_fmt(arena, "%s/sys/class/drm/renderD%u/device", root_of(), gpu->minor);
}

static void gpu_read(const char *node, uint64_t minor, struct arena *arena, struct amd_gpu *ret)
{
    uint64_t number;
    *ret = (struct amd_gpu){.minor = (uint32_t)minor, .serial = ""};
    const char *device = device_dir(ret, arena);
    struct str name = line_read(device, "product_name", arena);
    if (name.len == 0) {
        name = line_read(node, "name", arena);
    }
    ret->name =
        name.len > 0 && name.len <= TEXT_LEN_MAX ? arena_strn(arena, name.p, name.len) : "AMD GPU";
    if (property_read(node, "unique_id", arena, &number) && number != 0) {
        ret->serial = arena_fmt(arena, "GPU-%016llx", (unsigned long long)number);
    }
    if (number_read(device, "mem_info_vram_total", arena, &number) && number <= INT64_MAX) {
        ret->memory_bytes = (int64_t)number;
    }
}

void amd_list(struct arena *arena, struct amd_gpus *ret)
{
    ret->count = 0;
    if (access(arena_fmt(arena, "%s/sys/module/nvidia", root_of()), F_OK) == 0) {
        return;
    }
    for (uint32_t i = 0; i < NODES_OF_MACHINE_MAX && ret->count < NODE_DEVICES_MAX; i++) {
        const char *node = arena_fmt(arena, "%s/sys/class/kfd/kfd/topology/nodes/%u", root_of(), i);
        uint64_t id;
        uint64_t minor;
        if (access(node, F_OK) != 0) {
            return;
        }
        if (number_read(node, "gpu_id", arena, &id) && id != 0 &&
            property_read(node, "drm_render_minor", arena, &minor) && minor > 0 &&
            minor <= UINT32_MAX) {
            gpu_read(node, minor, arena, &ret->at[ret->count++]);
        }
    }
}

void amd_read(struct arena *arena, struct hardware *ret)
{
    struct amd_gpus *gpus = arena_new(arena, struct amd_gpus, 1);
    amd_list(arena, gpus);
    for (uint32_t i = 0; i < gpus->count; i++) {
        const struct amd_gpu *gpu = &gpus->at[i];
        if (gpu->memory_bytes > 0 &&
            (ret->device_memory_bytes == 0 || gpu->memory_bytes < ret->device_memory_bytes)) {
            ret->device_memory_bytes = gpu->memory_bytes;
        }
        ret->device_serials = arena_fmt(arena, "%s%s%s", ret->device_serials, i == 0 ? "" : " ",
                                        gpu->serial[0] == '\0' ? "-" : gpu->serial);
    }
    if (gpus->count > 0) {
        ret->device_count = gpus->count;
        ret->device_model = gpus->at[0].name;
    }
}

bool amd_sample(const struct amd_gpu *gpu, struct gpu_sample *ret)
{
    struct arena arena;
    uint64_t busy;
    uint64_t memory;
    arena_init(&arena);
    const char *device = device_dir(gpu, &arena);
    const bool used = number_read(device, "mem_info_vram_used", &arena, &memory);
    const bool known = number_read(device, "gpu_busy_percent", &arena, &busy) && busy <= 100;
    *ret = (struct gpu_sample){.known = used && known,
                               .busy_percent = known ? (uint32_t)busy : 0,
                               .memory_bytes = used ? memory : 0};
    arena_done(&arena);
    return used;
}
