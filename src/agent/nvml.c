/* nvml.c - reads NVIDIA GPUs through libnvidia-ml.so.1. The library is loaded at run time where it
 * exists; nothing is linked against it. SPDX-License-Identifier: Apache-2.0 */
#include "agent/nvml.h"

#include "agent/hardware.h"

#include "base/str.h"
#include "core/model/limits.h"

#include <dlfcn.h>

enum { NVML_OK = 0, NVML_NAME_MAX = 96 };

/* The layout is that of nvmlMemory_t in NVIDIA's nvml.h. */
struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

typedef int (*nvml_plain_fn)(void);
typedef int (*nvml_count_fn)(unsigned *count);
typedef int (*nvml_handle_fn)(unsigned index, void **device);
typedef int (*nvml_name_fn)(void *device, char *name, unsigned len);
typedef int (*nvml_uuid_fn)(void *device, char *uuid, unsigned len);
typedef int (*nvml_memory_fn)(void *device, struct nvml_memory *memory);

struct nvml {
    nvml_plain_fn init;
    nvml_plain_fn shutdown;
    nvml_count_fn count;
    nvml_handle_fn handle;
    nvml_name_fn name;
    nvml_memory_fn memory;
    nvml_uuid_fn uuid; /* NULL: an old driver */
};

static bool symbols_load(void *library, struct nvml *ret)
{
    /* POSIX's way to make a function pointer of dlsym()'s pointer. */
    *(void **)(void *)&ret->init = dlsym(library, "nvmlInit_v2");
    *(void **)(void *)&ret->shutdown = dlsym(library, "nvmlShutdown");
    *(void **)(void *)&ret->count = dlsym(library, "nvmlDeviceGetCount_v2");
    *(void **)(void *)&ret->handle = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)(void *)&ret->name = dlsym(library, "nvmlDeviceGetName");
    *(void **)(void *)&ret->memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
    *(void **)(void *)&ret->uuid = dlsym(library, "nvmlDeviceGetUUID");
    return ret->init != NULL && ret->shutdown != NULL && ret->count != NULL &&
           ret->handle != NULL && ret->name != NULL && ret->memory != NULL;
}

/* A device whose UUID is unknown is told by a dash. */
static void serial_add(const struct nvml *nvml, void *device, struct arena *arena,
                       struct hardware *ret)
{
    char uuid[NVML_NAME_MAX] = "-";
    if (nvml->uuid != NULL && nvml->uuid(device, uuid, sizeof uuid) == NVML_OK) {
        uuid[sizeof uuid - 1] = '\0';
        ret->device_serials = arena_fmt(arena, "%s%s%s", ret->device_serials,
                                        ret->device_serials[0] == '\0' ? "" : " ", uuid);
    }
}

static void devices_read(const struct nvml *nvml, struct arena *arena, struct hardware *ret)
{
    unsigned count = 0;
    if (nvml->count(&count) != NVML_OK) {
        return;
    }
    count = count < NODE_DEVICES_MAX ? count : NODE_DEVICES_MAX;
    ret->device_count = count;
    for (unsigned i = 0; i < count; i++) {
        void *device = NULL;
        char name[NVML_NAME_MAX] = "";
        struct nvml_memory memory = {0};
        if (nvml->handle(i, &device) != NVML_OK) {
            continue;
        }
        serial_add(nvml, device, arena, ret);
        if (ret->device_model[0] == '\0' && nvml->name(device, name, sizeof name) == NVML_OK) {
            name[sizeof name - 1] = '\0';
            ret->device_model = arena_str(arena, name);
        }
        int64_t bytes =
            nvml->memory(device, &memory) == NVML_OK ? (int64_t)memory.total : INT64_MAX;
        if (bytes != INT64_MAX &&
            (ret->device_memory_bytes == 0 || bytes < ret->device_memory_bytes)) {
            ret->device_memory_bytes = bytes;
        }
    }
}

void nvml_read(struct arena *arena, struct hardware *ret)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return;
    }
    struct nvml nvml;
    if (symbols_load(library, &nvml) && nvml.init() == NVML_OK) {
        devices_read(&nvml, arena, ret);
        (void)nvml.shutdown();
    }
    (void)dlclose(library);
}
