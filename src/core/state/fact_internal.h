/* fact_internal.h - bodies of facts, by type. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/claim.h"
#include "core/model/ids.h"
#include "core/state/fact.h"

#include <stdint.h>

struct fact_codec {
    void (*put)(const struct fact *fact, struct buf *out);
    void (*get)(struct bytes_reader *in, struct arena *arena, struct fact *ret);
    /* Of types whose body has changed: how version 1 is read. NULL: as the newest. */
    void (*get_v1)(struct bytes_reader *in, struct arena *arena, struct fact *ret);
    /* The version from which on the objects in it end with the fields that came later (codec_put_tag());
     * 0: there are none in it. */
    uint32_t tags_from;
    /* Above those: the newest version, where it differs otherwise; ret->version tells them apart. */
    uint32_t newest;
};

/* By fact_type; entry 0 is empty. */
extern const struct fact_codec fact_codecs[FACT_TYPE_MAX + 1];

/* Bodies that have a file of their own. */
void fact_edit_task_put(const struct fact *fact, struct buf *out);
void fact_edit_task_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void fact_edit_moved_put(const struct fact *fact, struct buf *out);
void fact_edit_moved_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void fact_edit_released_put(const struct fact *fact, struct buf *out);
void fact_edit_released_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void fact_sched_claim_dropped_put(const struct fact *fact, struct buf *out);
void fact_sched_claim_dropped_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void fact_sched_evicted_put(const struct fact *fact, struct buf *out);
void fact_sched_evicted_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void fact_sched_wake_put(const struct fact *fact, struct buf *out);
void fact_sched_wake_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void fact_sched_checkpoint_put(const struct fact *fact, struct buf *out);
void fact_sched_checkpoint_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void fact_sched_history_put(const struct fact *fact, struct buf *out);
void fact_sched_history_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);

/* Why somebody was told to leave: in facts and in the state. */
void fact_sched_eviction_put(const struct eviction *why, struct buf *out);
void fact_sched_eviction_get(struct bytes_reader *in, struct eviction *why);

/* An attempt's key; index and attempt in their ranges. */
void fact_put_key(struct buf *out, struct attempt_key key);
struct attempt_key fact_get_key(struct bytes_reader *in);
