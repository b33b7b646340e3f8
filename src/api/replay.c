/* replay.c - see replay.h. SPDX-License-Identifier: Apache-2.0 */
#include "api/replay.h"

enum err replay_fact(void *ctx, const struct store_fact *stored, struct error *e)
{
    struct replay *replay = ctx;
    if (stored->seq != query_seq(replay->core) + 1) {
        return fail(e, ERR_CORRUPT, "fact %llu follows fact %llu", (unsigned long long)stored->seq,
                    (unsigned long long)query_seq(replay->core));
    }
    struct fact fact;
    arena_clear(&replay->arena);
    if (fact_decode(stored->body, &replay->arena, &fact, e) != ERR_OK) {
        return fail_in(e, "fact %llu", (unsigned long long)stored->seq);
    }
    core_apply(replay->core, &fact);
    replay->count++;
    return ERR_OK;
}
