/* fact_codec.h - bodies of facts, by type. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fact.h"
#include "core/model/codec.h"

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
void task_edited_put(const struct fact *fact, struct buf *out);
void task_edited_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void task_moved_put(const struct fact *fact, struct buf *out);
void task_moved_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void released_put(const struct fact *fact, struct buf *out);
void released_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void claim_dropped_put(const struct fact *fact, struct buf *out);
void claim_dropped_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void evicted_put(const struct fact *fact, struct buf *out);
void evicted_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void pool_wake_put(const struct fact *fact, struct buf *out);
void pool_wake_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void attempt_checkpoint_put(const struct fact *fact, struct buf *out);
void attempt_checkpoint_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
void history_ticked_put(const struct fact *fact, struct buf *out);
void history_ticked_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);

void defaults_set_put(const struct fact *fact, struct buf *out);
void defaults_set_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);

/* Why somebody was told to leave: in facts and in the state. */
void eviction_put(const struct eviction *why, struct buf *out);
void eviction_get(struct bytes_reader *in, struct eviction *why);

/* An attempt's key; index and attempt in their ranges. */
void codec_put_key(struct buf *out, struct attempt_key key);
struct attempt_key codec_get_key(struct bytes_reader *in);
