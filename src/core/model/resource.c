/* resource.c - parts of a device by its memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/resource.h"

#include "base/must.h"
#include "core/model/vector.h"

int64_t resource_gpu_share(int64_t bytes, int64_t total_bytes)
{
    must(bytes >= 0);
    if (bytes >= total_bytes) {
        return SLOT_MILLI;
    }
    const __int128 milli = (__int128)bytes * SLOT_MILLI;
    return (int64_t)((milli + total_bytes - 1) / total_bytes);
}

int64_t resource_gpu_memory(const struct request *request)
{
    int64_t bytes;
    if (!request_by_memory(request)) {
        return 0;
    }
    return __builtin_mul_overflow(request->gpu_memory_bytes, (int64_t)request->share_devices,
                                  &bytes)
               ? QUOTA_SUM_MAX
               : bytes;
}
