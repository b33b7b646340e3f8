/* recover.c - loads a snapshot and replays the facts after it. Applying a stored fact cannot fail,
 * so only reading can. A snapshot that cannot be used costs time and no state, as long as the facts
 * since an older snapshot are kept. SPDX-License-Identifier: Apache-2.0 */
#include "server/recover.h"

#include "api/replay.h"
#include "base/log.h"

/* The state of the newest snapshot below `before`; an empty state and *ret_seq 0 when there is
 * none. ERR_CORRUPT: the snapshot *ret_seq cannot be used. */
static enum err snapshot_core(struct store *store, uint64_t before, struct core **ret,
                              uint64_t *ret_seq, struct error *e)
{
    struct arena arena;
    struct str bytes = {0};
    arena_init(&arena);
    enum err r = store_snapshot_load(store, before, &arena, ret_seq, &bytes, e);
    if (r == ERR_OK && *ret_seq == 0) {
        *ret = core_new();
    } else if (r == ERR_OK) {
        r = core_decode(bytes, ret, e);
        if (r == ERR_OK && query_seq(*ret) != *ret_seq) {
            r = fail(e, ERR_CORRUPT, "the snapshot holds the state after fact %llu",
                     (unsigned long long)query_seq(*ret));
            core_free(*ret);
        }
        r = r == ERR_OK ? r
                        : fail_in(e, "snapshot '%s'", store_snapshot_path(store, *ret_seq, &arena));
    }
    arena_done(&arena);
    return r;
}

/* Uses an older snapshot, or none, where the newest snapshot cannot be used: with more facts the
 * state is the same. *ret_first is the fault of the newest snapshot, or ERR_OK. */
static enum err snapshot_usable(struct store *store, struct core **ret, uint64_t *ret_seq,
                                struct error *ret_first, struct error *e)
{
    uint64_t before = UINT64_MAX;
    for (;;) {
        enum err r = snapshot_core(store, before, ret, ret_seq, e);
        if (r != ERR_CORRUPT || *ret_seq == 0) {
            return r;
        }
        log_error("snapshot passed over, the one before it is tried", kv_error(e));
        if (before == UINT64_MAX) {
            *ret_first = *e;
        }
        before = *ret_seq;
    }
}

enum err recover_core(struct store *store, struct core **ret, struct recovered *ret_what,
                      struct error *e)
{
    struct replay replay = {0};
    struct error first = {.code = ERR_OK};
    uint64_t seq = 0;
    enum err r = snapshot_usable(store, &replay.core, &seq, &first, e);
    if (r != ERR_OK) {
        return fail_in(e, "snapshot");
    }
    arena_init(&replay.arena);
    r = store_facts_after(store, seq, replay_fact, &replay, e);
    arena_done(&replay.arena);
    if (r != ERR_OK) {
        core_free(replay.core);
    }
    if (r == ERR_CORRUPT && first.code != ERR_OK) {
        log_error("no older state can be rebuilt", kv_error(e));
        return fail(e, ERR_CORRUPT,
                    "%.130s; the facts before it are gone: `weir db check` says more, `weir db "
                    "restore` brings a backup back",
                    first.text);
    }
    if (r != ERR_OK) {
        return r;
    }
    *ret = replay.core;
    *ret_what = (struct recovered){.snapshot_seq = seq, .facts = replay.count};
    return ERR_OK;
}
