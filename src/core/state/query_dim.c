/* query_dim.c - the accounted resources, and requests measured in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/vector.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

uint32_t query_dim_count(const struct core *core)
{
    return core->dim_count;
}

resource_id query_dim_resource(const struct core *core, uint32_t dim)
{
    must(dim < core->dim_count);
    return core->dims[dim];
}

bool query_dim_of(const struct core *core, resource_id resource, uint32_t *ret)
{
    for (uint32_t dim = 0; dim < core->dim_count; dim++) {
        if (core->dims[dim].v == resource.v) {
            *ret = dim;
            return true;
        }
    }
    return false;
}

void query_dim_grant(const struct core *core, const struct request *request, int64_t slots_milli,
                     int64_t cpu_milli, int64_t memory_bytes, struct vector *ret)
{
    *ret = (struct vector){.at = {[DIM_SLOTS] = slots_milli,
                                  [DIM_CPU] = cpu_milli > 0 ? cpu_milli : 0,
                                  [DIM_MEMORY] = memory_bytes > 0 ? memory_bytes : 0}};
    uint32_t at = 0; /* both ascend */
    for (uint32_t dim = DIM_NAMED_FIRST; dim < core->dim_count; dim++) {
        while (at < request->named_count && request->named[at].resource.v < core->dims[dim].v) {
            at++;
        }
        if (at < request->named_count && request->named[at].resource.v == core->dims[dim].v) {
            ret->at[dim] = request->named[at].milli;
        }
    }
}

void query_dim_request(const struct core *core, const struct request *request, struct vector *ret)
{
    query_dim_grant(core, request, request->slots_milli, request->cpu_milli, request->memory_bytes,
                    ret);
}

/* The memory of the pool's largest or smallest devices; 0: nobody knows. */
static int64_t gpu_memory_end(const struct core *core, pool_id pool, bool largest)
{
    const struct oindex *order = &core->orders[ORDER_GPU_MEMORY];
    const struct okey before = {{pool.v, 0, 0, 0}};
    const struct okey behind = {{(uint64_t)pool.v + 1, 0, 0, 0}};
    struct okey key;
    const bool found =
        largest ? oindex_prev(order, behind, &key) : oindex_next(order, before, &key);
    return found && key.at[0] == pool.v ? (int64_t)key.at[1] : 0;
}

int64_t query_dim_slots(const struct core *core, pool_id pool, const struct request *request,
                        enum slots_bound bound)
{
    if (!request_by_memory(request)) {
        return request->slots_milli;
    }
    const int64_t total = gpu_memory_end(core, pool, bound == SLOTS_LEAST);
    return (int64_t)request->share_devices * resource_gpu_share(request->gpu_memory_bytes, total);
}

int64_t query_dim_gpu_slots(const struct core *core, pool_id pool, int64_t bytes)
{
    const int64_t total = bytes == 0 ? 0 : gpu_memory_end(core, pool, false);
    if (total == 0) {
        return 0;
    }
    const __int128 milli = ((__int128)bytes * SLOT_MILLI + total - 1) / total;
    return milli < QUOTA_SUM_MAX ? (int64_t)milli : QUOTA_SUM_MAX;
}
