/* rollout.c - see rollout.h. SPDX-License-Identifier: Apache-2.0 */
#include "api/rollout.h"

#include "base/amount.h"
#include "core/model/rollout.h"

/* A duration of at least `least` milliseconds. An absent one leaves *ret as it is. */
static bool duration_read(struct call *call, const char *name, int64_t least, int64_t *ret)
{
    struct error e;
    const char *text = call_query(call, name);
    if (text == NULL) {
        return true;
    }
    if (amount_duration(str_of(text), ret, &e) != ERR_OK) {
        call_failf(call, ERR_INVALID, name, "%s: %s", name, e.text);
        return false;
    }
    if (*ret < least) {
        call_failf(call, ERR_INVALID, name, "%s must be at least %lld ms", name, (long long)least);
    }
    return *ret >= least;
}

bool rollout_read(struct call *call, struct submission *submission)
{
    struct rollout_ask ask = {.drain_ms = ROLLOUT_DRAIN_MS_DEFAULT,
                              .within_ms = ROLLOUT_WITHIN_MS_DEFAULT};
    if (!call_query_u64(call, "replaces", INT64_MAX, &ask.from.v) ||
        !call_query_bool(call, "old_first", &ask.old_first) ||
        !duration_read(call, "drain", 0, &ask.drain_ms) ||
        !duration_read(call, "within", 1, &ask.within_ms)) {
        return false;
    }
    if (call_query(call, "replaces") == NULL) {
        return true;
    }
    if (ask.from.v == 0) {
        call_failf(call, ERR_INVALID, "replaces", "replaces must be the number of a task, from 1");
        return false;
    }
    if (submission->count != 1) {
        call_failf(call, ERR_INVALID, "replaces", "one task takes the place of another, not %u",
                   submission->count);
        return false;
    }
    /* The body does not name the task, so the task's id is mixed into the hash of the body. */
    for (size_t i = 0; i < sizeof ask.from.v; i++) {
        submission->body_hash[i] ^= (uint8_t)(ask.from.v >> 8 * i);
    }
    submission->replaces = arena_dup(call_arena(call), &ask, sizeof ask);
    return true;
}
