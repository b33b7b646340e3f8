/* state_decode_launch.c - the section of launches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "core/model/codec.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state_codec.h"
#include "core/state/state_decode.h"

/* A row through the facts that would have made it. */
static bool launch_get(struct decode *d, uint64_t id)
{
    struct fact fact = {0};
    fact.launch.launch.v = id;
    fact.launch.pool.v = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
    fact.launch.state = (enum launch_state)bytes_get_max(&d->in, LAUNCH_STATE_COUNT - 1);
    fact.launch.node.v = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
    const int64_t asked_ms = state_decode_time(d);
    const int64_t changed_ms = state_decode_time(d);
    fact.launch.name = bytes_get_text(&d->in, &d->arena, TEXT_LEN_MAX);
    fact.launch.words = bytes_get_text(&d->in, &d->arena, TEXT_LEN_MAX);
    const bool joined = fact.launch.node.v != 0;
    const bool fresh = fact.launch.state == LAUNCH_ASKED;
    if (d->in.bad || query_pool(d->core, fact.launch.pool) == NULL || changed_ms < asked_ms ||
        (joined && table_get(&d->core->nodes, fact.launch.node.v) == NULL) ||
        (joined && fact.launch.state < LAUNCH_RUNNING) ||
        (fresh &&
         (changed_ms != asked_ms || fact.launch.name[0] != '\0' || fact.launch.words[0] != '\0'))) {
        return false;
    }
    d->core->launches.last = id - 1;
    fact.time_ms = asked_ms;
    change_launch_asked(d->core, &fact);
    fact.time_ms = changed_ms;
    if (!fresh) {
        change_launch_changed(d->core, &fact);
    }
    return true;
}

bool state_decode_launch(struct decode *d)
{
    if (d->version < STATE_VERSION_LAUNCHES) {
        return true;
    }
    const uint64_t last = bytes_get_max(&d->in, ROW_MAX);
    uint64_t id = 0;
    for (uint32_t left = codec_get_count(&d->in, LAUNCHES_MAX); left > 0 && !d->in.bad; left--) {
        id = state_decode_row(d, id, last);
        if (!launch_get(d, id)) {
            return false;
        }
        arena_clear(&d->arena);
    }
    d->core->launches.last = last;
    return !d->in.bad;
}
