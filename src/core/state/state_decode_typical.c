/* state_decode_typical.c - the section of what is usually asked of the pools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "core/model/codec.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/model/typical.h"
#include "core/state/change.h"
#include "core/state/state_codec.h"
#include "core/state/state_decode.h"

/* Far above what is ever counted, far below where sums wrap. */
#define COUNT_MAX ((uint64_t)1 << 32)

static uint64_t rows_get(struct decode *d, uint64_t first_key, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct request request;
        const uint64_t seen = bytes_get_max(&d->in, COUNT_MAX);
        codec_get_request(&d->in, d->core->resource_count, &request);
        if (request.slots_milli <= 0 || !state_decode_request_sound(&request)) {
            codec_bad(&d->in);
        }
        if (d->in.bad) {
            return 0;
        }
        struct typical *row = table_put(&d->core->typicals, first_key + i);
        row->count = seen;
        row->request = request;
        sum += seen;
    }
    return sum;
}

static bool pool_get(struct decode *d, pool_id id)
{
    if (d->in.bad || table_get(&d->core->pools, id.v) == NULL) {
        return false;
    }
    struct pool *pool = change_pool_edit(d->core, id);
    pool->typical_since = bytes_get_max(&d->in, COUNT_MAX);
    pool->typical_counted = codec_get_count(&d->in, TYPICAL_COUNTED_MAX);
    pool->typical_sum = rows_get(d, TYPICAL_KEY(id, 0), pool->typical_counted);
    pool->typical_weighed = codec_get_count(&d->in, TYPICAL_MAX);
    (void)rows_get(d, TYPICAL_WEIGHED_KEY(id, 0), pool->typical_weighed);
    pool->typical_version++;
    return !d->in.bad && pool->typical_counted > 0 &&
           pool->typical_weighed <= pool->typical_counted;
}

bool state_decode_typical(struct decode *d, const struct lasts *lasts)
{
    uint64_t id = 0;
    if (d->version < STATE_VERSION_TYPICAL) {
        return true;
    }
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        id = state_decode_row(d, id, lasts->pools);
        if (!pool_get(d, (pool_id){(uint32_t)id})) {
            return false;
        }
    }
    return !d->in.bad;
}
