/* gpu_nodes.c - see gpu_nodes.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/gpu_nodes.h"

#include "agent/amd.h"
#include "agent/taskenv.h"
#include "base/str.h"

enum { SHARED_MAX = 3 };

/* Reads the next number of a list like "0,2", and cuts the number off. False: the list is at its
 * end, or has no number there. */
static bool number_next(struct str *rest, uint64_t *ret)
{
    return rest->p != NULL && rest->len > 0 && str_to_u64(str_cut(*rest, ',', rest), ret);
}

const char *const *gpu_nodes(struct arena *arena, char *const *env)
{
    static const char *const nvidia[] = {"/dev/nvidiactl", "/dev/nvidia-uvm",
                                         "/dev/nvidia-uvm-tools"};
    struct amd_gpus *amd = arena_new(arena, struct amd_gpus, 1);
    const char **paths = arena_new(arena, const char *, NODE_DEVICES_MAX + SHARED_MAX + 1);
    size_t count = 0;
    uint64_t index;
    amd_list(arena, amd);
    const char *granted =
        taskenv_get(env, amd->count > 0 ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES");
    struct str rest = str_of(granted == NULL ? "" : granted);
    while (count < NODE_DEVICES_MAX && number_next(&rest, &index)) {
        if (amd->count == 0) {
            paths[count++] = arena_fmt(arena, "/dev/nvidia%llu", (unsigned long long)index);
        } else if (index < amd->count) {
            paths[count++] = arena_fmt(arena, "/dev/dri/renderD%u", amd->at[index].minor);
        }
    }
    if (count > 0 && amd->count > 0) {
        paths[count++] = "/dev/kfd";
    } else if (count > 0) {
        for (size_t i = 0; i < SHARED_MAX; i++) {
            paths[count++] = nvidia[i];
        }
    }
    paths[count] = NULL;
    return paths;
}
