/* recover.c - snapshot + replay. Applying is total on what core_decide() produced, so the only
 * failures are those of reading.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/recover.h"

struct replay {
    struct core *core;
    struct arena arena;
    uint64_t count;
};

static enum err replay_fact(void *ctx, const struct store_fact *stored, struct error *e)
{
    struct replay *replay = ctx;
    if (stored->seq != core_seq(replay->core) + 1) {
        return fail(e, ERR_CORRUPT, "fact %llu follows fact %llu", (unsigned long long)stored->seq,
                    (unsigned long long)core_seq(replay->core));
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

static enum err snapshot_read(struct store *store, struct core **ret, uint64_t *ret_seq,
                              struct error *e)
{
    struct arena arena;
    struct str bytes = {0};
    arena_init(&arena);
    enum err r = store_snapshot_load(store, &arena, ret_seq, &bytes, e);
    if (r == ERR_OK && *ret_seq == 0) {
        *ret = core_new();
    } else if (r == ERR_OK) {
        r = core_decode(bytes, ret, e);
    }
    arena_done(&arena);
    return r;
}

enum err recover_core(struct store *store, struct core **ret, struct recovered *ret_what,
                      struct error *e)
{
    struct replay replay = {0};
    uint64_t seq = 0;
    enum err r = snapshot_read(store, &replay.core, &seq, e);
    if (r != ERR_OK) {
        return fail_in(e, "snapshot");
    }
    must(core_seq(replay.core) == seq);
    arena_init(&replay.arena);
    r = store_facts_after(store, seq, replay_fact, &replay, e);
    arena_done(&replay.arena);
    if (r != ERR_OK) {
        core_free(replay.core);
        return r;
    }
    *ret = replay.core;
    *ret_what = (struct recovered){.snapshot_seq = seq, .facts = replay.count};
    return ERR_OK;
}
