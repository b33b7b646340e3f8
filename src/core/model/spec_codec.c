/* spec_codec.c - specs as bytes. The tables of object.h have the fields. This file has the checks between
 * fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/spec_codec.h"

#include "base/amount.h"
#include "core/model/codec.h"
#include "core/model/object.h"
#include "core/model/limits.h"
#include "core/model/resource.h"
#include "core/model/spec_limits.h"
#include "core/model/vector.h"

#include <string.h>

enum { POOL_HEADS_V1 = 7 }; /* the rows from name to aux_tasks, before pools had policies */

void spec_codec_task_encode(const struct task_spec *spec, struct buf *out)
{
    object_encode(&task_object, spec, out);
}

void spec_codec_task_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret)
{
    object_decode(&task_object, OBJECT_WHOLE, in, arena, ret);
    if (ret->topology.required == NULL) {
        ret->topology = (struct topology_spec){"", ""};
    }
}

void spec_codec_pool_encode(const struct pool_spec *spec, struct buf *out)
{
    object_encode(&pool_object, spec, out);
}

void spec_codec_pool_decode(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret)
{
    object_decode(&pool_object, OBJECT_WHOLE, in, arena, ret);
    if (!spec_limits_levels_differ(ret)) {
        codec_bad(in);
    }
}

void spec_codec_pool_decode_v1(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret)
{
    object_decode(&pool_object, POOL_HEADS_V1, in, arena, ret);
    ret->placement = PLACEMENT_PACK;
}

void spec_codec_node_encode(const struct node_spec *spec, struct buf *out)
{
    object_encode(&node_object, spec, out);
}

void spec_codec_node_decode(struct bytes_reader *in, struct arena *arena, struct node_spec *ret)
{
    object_decode(&node_object, OBJECT_WHOLE, in, arena, ret);
    if (ret->device_count > 0 && ret->slots_milli != (int64_t)ret->device_count * 1000) {
        codec_bad(in);
    }
}

void spec_codec_account_encode(const struct account_spec *spec, struct buf *out)
{
    object_encode(&account_object, spec, out);
}

void spec_codec_account_decode(struct bytes_reader *in, struct arena *arena,
                               struct account_spec *ret)
{
    const char *field;
    object_decode(&account_object, OBJECT_WHOLE, in, arena, ret);
    if (spec_limits_account_idle(ret, &field) != NULL) {
        codec_bad(in);
    }
}

void spec_codec_flavor_encode(const struct flavor_spec *spec, struct buf *out)
{
    object_encode(&flavor_object, spec, out);
}

void spec_codec_flavor_decode(struct bytes_reader *in, struct arena *arena, struct flavor_spec *ret)
{
    const char *limit;
    int64_t max;
    object_decode(&flavor_object, OBJECT_WHOLE, in, arena, ret);
    if (!in->bad && !spec_limits_flavor(ret, &limit, &max)) {
        codec_bad(in);
    }
}

void spec_codec_network_encode(const struct network_spec *spec, struct buf *out)
{
    object_encode(&network_object, spec, out);
}

void spec_codec_network_decode(struct bytes_reader *in, struct arena *arena,
                               struct network_spec *ret)
{
    const char *limit;
    int64_t max;
    object_decode(&network_object, OBJECT_WHOLE, in, arena, ret);
    if (!in->bad && !spec_limits_network(ret, &limit, &max)) {
        codec_bad(in);
    }
}

void spec_codec_quota_encode(const struct quota_row *row, struct buf *out)
{
    object_encode(&quota_object, &row->rules, out);
    bytes_put_u64(out, row->term_count);
    for (uint32_t i = 0; i < row->term_count; i++) {
        bytes_put_u64(out, row->terms[i].resource.v);
        bytes_put_i64(out, row->terms[i].guaranteed);
        bytes_put_i64(out, row->terms[i].limit);
        bytes_put_u64(out, row->terms[i].weight);
    }
}

void spec_codec_quota_decode(struct bytes_reader *in, uint32_t resource_count,
                             struct quota_row *ret)
{
    memset(ret, 0, sizeof *ret);
    object_decode(&quota_object, OBJECT_WHOLE, in, NULL, &ret->rules);
    ret->term_count = codec_get_count(in, QUOTA_DIMS_MAX);
    for (uint32_t i = 0; i < ret->term_count; i++) {
        struct quota_term *term = &ret->terms[i];
        term->resource.v = (uint16_t)bytes_get_max(in, resource_count - 1);
        int64_t max = term->resource.v == RESOURCE_MEMORY ? AMOUNT_BYTES_MAX : AMOUNT_MILLI_MAX;
        term->guaranteed = codec_get_range(in, QUOTA_UNSET, max);
        term->limit = codec_get_range(in, QUOTA_UNLIMITED, max);
        term->weight = (uint32_t)bytes_get_max(in, QUOTA_WEIGHT_MAX);
        if (quota_term_default(term) ||
            (i > 0 && term->resource.v <= ret->terms[i - 1].resource.v)) {
            codec_bad(in);
        }
    }
}
