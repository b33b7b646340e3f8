/* spec_codec.h - specs as bytes: inside facts, and as the blobs of pool, node and task rows.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/account.h"
#include "core/model/quota.h"
#include "core/model/spec.h"

#include <stdint.h>

/* Texts that are NULL are written, and come back, as "". */
void spec_codec_task_encode(const struct task_spec *spec, struct buf *out);
void spec_codec_pool_encode(const struct pool_spec *spec, struct buf *out);
void spec_codec_node_encode(const struct node_spec *spec, struct buf *out);
void spec_codec_account_encode(const struct account_spec *spec,
                               struct buf *out); /* without the parent */
void spec_codec_quota_encode(const struct quota_row *row, struct buf *out);

/* The part of a task that says what an instance asks for, slots to named resources. */
void spec_codec_asks_encode(const struct task_spec *spec, struct buf *out);
void spec_codec_asks_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret);
void spec_codec_asks_copy(struct task_spec *to, const struct task_spec *from);

/* Everything bounded by limits.h; what is wrong marks the reader bad. Pointers go into the arena. */
void spec_codec_task_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret);
void spec_codec_pool_decode(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret);
void spec_codec_account_decode(struct bytes_reader *in, struct arena *arena,
                               struct account_spec *ret);
void spec_codec_node_decode(struct bytes_reader *in, struct arena *arena, struct node_spec *ret);

/* As it was before policies: facts and states of version 1. What is missing has its default. */
void spec_codec_pool_decode_v1(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret);

/* Terms ascend and none is all default; resources are below `resource_count`. */
void spec_codec_quota_decode(struct bytes_reader *in, uint32_t resource_count,
                             struct quota_row *ret);

void spec_codec_labels_put(struct buf *out, const struct label *labels, uint32_t count);
const struct label *spec_codec_labels_get(struct bytes_reader *in, struct arena *arena,
                                          uint32_t *ret_count);
