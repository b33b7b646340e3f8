/* fact.c - facts as bytes: head, then the body of the type (fact_bodies.c).
 *
 *   type  version  time_ms  actor  cause  body…           docs/dev/formats/facts.md
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/fact.h"

#include "core/model/codec.h"
#include "core/model/limits.h"
#include "core/state/fact_internal.h"

#include <string.h>

static const char *const fact_names[FACT_TYPE_MAX + 1] = {
    [FACT_SERVER_STARTED] = "server-started",
    [FACT_RESOURCE_DEFINED] = "resource-defined",
    [FACT_POOL_SET] = "pool-set",
    [FACT_POOL_DELETED] = "pool-deleted",
    [FACT_NODE_SET] = "node-set",
    [FACT_NODE_STATE] = "node-state",
    [FACT_NODE_EDITED] = "node-edited",
    [FACT_TASK_SUBMITTED] = "task-submitted",
    [FACT_SUBMIT_KEY] = "submit-key",
    [FACT_TASK_QUEUED] = "task-queued",
    [FACT_TASK_PAUSED] = "task-paused",
    [FACT_TASK_EDITED] = "task-edited",
    [FACT_TASK_KILL_ASKED] = "task-kill-asked",
    [FACT_PASS] = "pass",
    [FACT_ALLOCATED] = "allocated",
    [FACT_HEAD_BLOCKED] = "head-blocked",
    [FACT_RESERVED] = "reserved",
    [FACT_ATTEMPT_STARTED] = "attempt-started",
    [FACT_ATTEMPT_STOPPING] = "attempt-stopping",
    [FACT_ATTEMPT_ENDED] = "attempt-ended",
    [FACT_TASK_ENDED] = "task-ended",
    [FACT_TASK_ARCHIVED] = "task-archived",
    [FACT_SUBMIT_KEYS_EXPIRED] = "submit-keys-expired",
    [FACT_ACCOUNT_SET] = "account-set",
    [FACT_ACCOUNT_DELETED] = "account-deleted",
    [FACT_QUOTA_SET] = "quota-set",
    [FACT_CLAIMED] = "claimed",
    [FACT_CLAIM_DROPPED] = "claim-dropped",
    [FACT_EVICTED] = "evicted",
    [FACT_POOL_WAKE] = "pool-wake",
    [FACT_HISTORY_TICKED] = "history-ticked",
    [FACT_ATTEMPT_CHECKPOINT] = "attempt-checkpoint",
    [FACT_TASK_MOVED] = "task-moved",
    [FACT_DEPENDENTS_RELEASED] = "dependents-released",
};

const char *fact_type_name(enum fact_type type)
{
    must((unsigned)type > 0);
    must((unsigned)type <= FACT_TYPE_MAX);
    return fact_names[type];
}

static uint32_t version_newest(enum fact_type type)
{
    const struct fact_codec *codec = &fact_codecs[type];
    const uint32_t changed = codec->get_v1 != NULL ? 2 : 1;
    const uint32_t tagged = codec->tags_from > changed ? codec->tags_from : changed;
    return codec->newest > tagged ? codec->newest : tagged;
}

void fact_list_init(struct facts *facts, struct arena *arena)
{
    *facts = (struct facts){.arena = arena};
}

/* A text of the input, cut where it is too long for a fact. */
static const char *text_fit(struct facts *facts, const char *text, size_t max)
{
    if (text == NULL) {
        return "";
    }
    return strlen(text) <= max ? text : arena_strn(facts->arena, text, max);
}

struct fact *fact_list_add(struct facts *facts, const struct input *in, enum fact_type type)
{
    if (facts->count == facts->room) {
        /* In the arena: a half-used array is left behind at each doubling. */
        size_t room = facts->room > 0 ? facts->room * 2 : 4;
        struct fact *at = arena_new(facts->arena, struct fact, room);
        if (facts->count > 0) {
            memcpy(at, facts->at, facts->count * sizeof *at);
        }
        facts->at = at;
        facts->room = room;
    }
    struct fact *fact = &facts->at[facts->count++];
    *fact = (struct fact){.type = type,
                          .version = version_newest(type),
                          .time_ms = in->now_ms,
                          .actor = text_fit(facts, in->actor, ACTOR_LEN_MAX),
                          .cause = text_fit(facts, in->cause, TEXT_LEN_MAX)};
    return fact;
}

void fact_put_key(struct buf *out, struct attempt_key key)
{
    bytes_put_u64(out, key.task.v);
    bytes_put_u64(out, key.index);
    bytes_put_u64(out, key.attempt);
}

struct attempt_key fact_get_key(struct bytes_reader *in)
{
    struct attempt_key key;
    key.task.v = bytes_get_u64(in);
    key.index = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX - 1);
    key.attempt = (uint32_t)bytes_get_max(in, UINT32_MAX);
    return key;
}

void fact_encode(const struct fact *fact, struct buf *out)
{
    must((unsigned)fact->type > 0);
    must((unsigned)fact->type <= FACT_TYPE_MAX);
    bytes_put_u64(out, fact->type);
    bytes_put_u64(out, version_newest(fact->type));
    bytes_put_i64(out, fact->time_ms);
    bytes_put_text(out, fact->actor);
    bytes_put_text(out, fact->cause);
    fact_codecs[fact->type].put(fact, out);
}

enum err fact_decode(struct str bytes, struct arena *arena, struct fact *ret, struct error *e)
{
    struct bytes_reader in;
    bytes_reader_init(&in, bytes.p, bytes.len);
    struct fact fact = {0};
    uint64_t type = bytes_get_max(&in, FACT_TYPE_MAX);
    uint64_t version = bytes_get_u64(&in);
    if (in.bad || type == 0) {
        return fail(e, ERR_CORRUPT, "fact: no known type");
    }
    fact.type = (enum fact_type)type;
    uint32_t newest = version_newest(fact.type);
    if (version == 0 || version > newest) {
        return fail(e, ERR_CORRUPT, "fact '%s': version %llu is not known here, only 1 to %u",
                    fact_type_name(fact.type), (unsigned long long)version, newest);
    }
    fact.version = (uint32_t)version;
    fact.time_ms = codec_get_range(&in, 0, TIME_MS_MAX);
    fact.actor = bytes_get_text(&in, arena, ACTOR_LEN_MAX);
    fact.cause = bytes_get_text(&in, arena, TEXT_LEN_MAX);
    if (in.bad) {
        return fail(e, ERR_CORRUPT, "fact '%s': time, actor or cause", fact_type_name(fact.type));
    }
    const struct fact_codec *codec = &fact_codecs[fact.type];
    in.plain = version < codec->tags_from;
    (version == 1 && codec->get_v1 != NULL ? codec->get_v1 : codec->get)(&in, arena, &fact);
    if (!bytes_reader_ok(&in)) {
        return fail(e, ERR_CORRUPT, "fact '%s': body is %s", fact_type_name(fact.type),
                    in.bad ? "cut off or out of range" : "followed by more");
    }
    *ret = fact;
    return ERR_OK;
}
