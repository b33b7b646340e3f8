/* losses.c - see losses.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/model/losses.h"

#include "base/hash.h"
#include "base/must.h"

enum { SPREAD_PARTS = 1024, DOUBLINGS_MAX = 16 };

uint32_t losses_next(const struct instance *instance, int64_t now_ms)
{
    must(now_ms >= 0);
    const bool counts =
        instance->losses > 0 && now_ms - instance->losses_since_ms < LOSSES_WINDOW_MS;
    return counts && instance->losses < UINT32_MAX ? instance->losses + 1 : 1;
}

void losses_count(struct instance *instance, int64_t now_ms)
{
    const uint32_t count = losses_next(instance, now_ms);
    must(count > 0);
    if (count == 1) {
        instance->losses_since_ms = now_ms;
    }
    instance->losses = count;
}

int64_t losses_wait_ms(task_id task, uint32_t index, uint32_t count)
{
    must(count > 0);
    if (count == 1) {
        return 0; /* most losses are the node's fault, and another node takes the task at once */
    }
    const uint32_t doublings = count - 2 < DOUBLINGS_MAX ? count - 2 : DOUBLINGS_MAX;
    const int64_t least_ms = (int64_t)LOSSES_WAIT_MS << doublings;
    const uint64_t mix = hash_u64(hash_u64(task.v) ^ ((uint64_t)index << 32 | count));
    const int64_t wait_ms = least_ms + least_ms * (int64_t)(mix % SPREAD_PARTS) / SPREAD_PARTS;
    return wait_ms < LOSSES_WAIT_MS_MAX ? wait_ms : LOSSES_WAIT_MS_MAX;
}
