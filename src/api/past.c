/* past.c - see past.h.
 *
 * The state is rebuilt on the reader's thread. The state that was asked for last is kept for a minute, because the next question
 * is mostly about the same moment or one soon after it. SPDX-License-Identifier: Apache-2.0 */
#include "api/past.h"

#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/replay.h"
#include "api/route.h"
#include "base/mem.h"
#include "base/time_text.h"

enum { KEEP_MS = 60000 };

struct pasts {
    struct api *api;
    struct core *last; /* the state that was asked for last; NULL: none */
    struct loop_timer *timer;
};

struct past_work {
    struct call_work base;
    struct core *near; /* the state that was asked for last, or NULL */
    struct core *core; /* the answer */
    int64_t at_ms;
};

static void last_drop(void *ctx)
{
    struct pasts *pasts = ctx;
    core_free(steal(pasts->last));
}

struct pasts *past_new(struct api *api)
{
    struct pasts *pasts = xcalloc(1, sizeof *pasts);
    pasts->api = api;
    return pasts;
}

void past_free(struct pasts *pasts)
{
    if (pasts != NULL) {
        loop_timer_free(pasts->timer);
        core_free(pasts->last);
        free(pasts);
    }
}

static void last_keep(struct pasts *pasts, const struct core *core)
{
    struct loop *loop = pasts->api->o.loop;
    core_free(pasts->last);
    pasts->last = core_copy(core);
    if (pasts->timer == NULL) {
        pasts->timer = loop_timer_new(loop, last_drop, pasts);
    }
    loop_timer_set(pasts->timer, loop_now_ms(loop) + KEEP_MS);
}

/* ---- on the reader's thread ---- */

/* The state of the newest snapshot up to fact `seq`. *ret stays NULL where there is none that can be used. */
static enum err snapshot_core(struct store_reader *reader, uint64_t seq, struct core **ret,
                              struct error *e)
{
    struct arena arena;
    struct str bytes;
    uint64_t found;
    arena_init(&arena);
    enum err r = store_past_snapshot(reader, seq, &arena, &found, &bytes, e);
    r = r == ERR_OK && found != 0 ? core_decode(bytes, ret, e) : r;
    arena_done(&arena);
    return r;
}

static enum err too_far(int64_t at_ms, uint64_t facts, struct error *e)
{
    char at[TIME_TEXT_MAX];
    time_text(at_ms, at);
    return fail_at(
        e, ERR_NOT_FOUND, "at",
        "%llu facts lie between %s and the nearest earlier state on disk, and at most %d are "
        "applied for one question; later moments are nearer to one",
        (unsigned long long)facts, at, PAST_FACTS_MAX);
}

/* Applies the facts behind the state, up to fact `seq`. */
static enum err facts_apply(struct past_work *own, struct store_reader *reader, uint64_t seq,
                            struct error *e)
{
    struct replay replay = {.core = own->core};
    const uint64_t from = query_seq(own->core);
    if (seq - from > PAST_FACTS_MAX) {
        return too_far(own->at_ms, seq - from, e);
    }
    arena_init(&replay.arena);
    enum err r = seq == from ? ERR_OK
                             : store_reader_facts(reader, from, (size_t)(seq - from), replay_fact,
                                                  &replay, e);
    arena_done(&replay.arena);
    return r == ERR_NOT_FOUND
               ? fail_at(
                     e, r, "at",
                     "the state of that time can no longer be rebuilt: the facts that lead to it "
                     "are not kept; later moments can be read")
               : r;
}

static enum err past_find(struct past_work *own, struct store_reader *reader, uint64_t *ret_seq,
                          struct error *e)
{
    int64_t from_ms;
    char from[TIME_TEXT_MAX];
    char at[TIME_TEXT_MAX];
    enum err r = store_past_moment(reader, own->at_ms, ret_seq, &from_ms, e);
    if (r != ERR_OK || *ret_seq != 0) {
        return r;
    }
    time_text(own->at_ms, at);
    time_text(from_ms, from);
    return from_ms == INT64_MAX
               ? fail_at(e, ERR_NOT_FOUND, "at", "this server has no facts of the time before now")
               : fail_at(e, ERR_NOT_FOUND, "at",
                         "the facts of %s are not kept, or the server was not there yet: what is "
                         "kept begins at %s",
                         at, from);
}

static void work_run(struct work *work, struct store_reader *reader)
{
    struct past_work *own = (struct past_work *)work;
    struct error *e = &own->base.error;
    uint64_t seq;
    struct error
        unused; /* a snapshot that cannot be read is passed over, because facts may do without */
    enum err r = past_find(own, reader, &seq, e);
    if (r == ERR_OK && snapshot_core(reader, seq, &own->core, &unused) != ERR_OK) {
        own->core = NULL;
    }
    const uint64_t found = own->core != NULL ? query_seq(own->core) : 0;
    if (r == ERR_OK && own->near != NULL && query_seq(own->near) <= seq &&
        query_seq(own->near) >= found) {
        core_free(own->core);
        own->core = steal(own->near);
    }
    own->core = own->core != NULL ? own->core : core_new();
    own->base.err = r == ERR_OK ? facts_apply(own, reader, seq, e) : r;
}

/* ---- on the loop ---- */

static void work_answer(struct call_work *base)
{
    struct past_work *own = (struct past_work *)base;
    struct call *call = base->call;
    last_keep(call->api->pasts, own->core);
    call->past = steal(own->core);
    call->past_ms = own->at_ms;
    call_run(call);
}

static void work_free(struct call_work *base)
{
    struct past_work *own = (struct past_work *)base;
    core_free(own->near);
    core_free(own->core);
    free(own);
}

static const struct call_work_kind past_kind = {
    .run = work_run,
    .answer = work_answer,
    .free = work_free,
    .reads = true,
    .busy = "too many reads are under way; try again",
};

bool past_awaited(struct call *call)
{
    int64_t at_ms = 0;
    if (call->past != NULL || !route_takes(call->route, "at") || call_query(call, "at") == NULL) {
        return false;
    }
    if (!call_query_time(call, "at", &at_ms)) {
        return true;
    }
    if (at_ms > call_now_ms(call)) {
        call_failf(call, ERR_INVALID, "at", "'at' is a moment that is still to come");
        return true;
    }
    struct past_work *own = xcalloc(1, sizeof *own);
    const struct core *last = call->api->pasts->last;
    own->base.kind = &past_kind;
    own->near = last != NULL ? core_copy(last) : NULL;
    own->at_ms = at_ms;
    call_work_send_stored(call, &own->base);
    return true;
}
