/* fact_launch.c - bodies of the facts about nodes that providers are asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "core/model/codec.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/state/fact.h"
#include "core/state/fact_internal.h"

static void head_put(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->launch.launch.v);
    bytes_put_u64(out, fact->launch.pool.v);
}

static void head_get(struct bytes_reader *in, struct fact *ret)
{
    ret->launch.launch.v = bytes_get_u64(in);
    ret->launch.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->launch.name = "";
    ret->launch.words = "";
}

void fact_launch_asked_put(const struct fact *fact, struct buf *out)
{
    head_put(fact, out);
}

void fact_launch_asked_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    head_get(in, ret);
}

void fact_launch_changed_put(const struct fact *fact, struct buf *out)
{
    head_put(fact, out);
    bytes_put_u64(out, fact->launch.state);
    bytes_put_u64(out, fact->launch.node.v);
    bytes_put_text(out, fact->launch.name);
    bytes_put_text(out, fact->launch.words);
}

void fact_launch_changed_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    head_get(in, ret);
    ret->launch.state = (enum launch_state)bytes_get_max(in, LAUNCH_STATE_COUNT - 1);
    ret->launch.node.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->launch.name = bytes_get_text(in, arena, TEXT_LEN_MAX);
    ret->launch.words = bytes_get_text(in, arena, TEXT_LEN_MAX);
    if (ret->launch.state == LAUNCH_ASKED) {
        codec_bad(in);
    }
}

void fact_launch_ended_put(const struct fact *fact, struct buf *out)
{
    head_put(fact, out);
    codec_put_bool(out, fact->launch.failed);
    bytes_put_text(out, fact->launch.words);
}

void fact_launch_ended_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    head_get(in, ret);
    ret->launch.failed = codec_get_bool(in);
    ret->launch.words = bytes_get_text(in, arena, TEXT_LEN_MAX);
}
