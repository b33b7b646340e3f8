/* spec_codec.h - specs as bytes: inside facts, and as the blobs of pool, node and task rows.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/account.h"
#include "core/model/flavor.h"
#include "core/model/network.h"
#include "core/model/quota.h"
#include "core/model/spec.h"

#include <stdint.h>

/* A text that is NULL is written as "", and reading gives "". */
void spec_codec_task_encode(const struct task_spec *spec, struct buf *out);
void spec_codec_pool_encode(const struct pool_spec *spec, struct buf *out);
void spec_codec_node_encode(const struct node_spec *spec, struct buf *out);
void spec_codec_account_encode(const struct account_spec *spec,
                               struct buf *out); /* the parent is not written */
void spec_codec_flavor_encode(const struct flavor_spec *spec, struct buf *out);
void spec_codec_network_encode(const struct network_spec *spec, struct buf *out);
void spec_codec_quota_encode(const struct quota_row *row, struct buf *out);

/* Reading checks every field against limits.h. A field out of bounds marks the reader bad. All pointers of
 * the result are in the arena. */
void spec_codec_task_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret);
void spec_codec_pool_decode(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret);
void spec_codec_account_decode(struct bytes_reader *in, struct arena *arena,
                               struct account_spec *ret);
void spec_codec_flavor_decode(struct bytes_reader *in, struct arena *arena,
                              struct flavor_spec *ret);
void spec_codec_network_decode(struct bytes_reader *in, struct arena *arena,
                               struct network_spec *ret);
void spec_codec_node_decode(struct bytes_reader *in, struct arena *arena, struct node_spec *ret);

/* Reads a pool of version 1, as facts and states had it before pools had policies. Fields that version 1
 * lacks get their defaults; the placement is `pack`. */
void spec_codec_pool_decode_v1(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret);

/* Reading checks that the terms ascend, that no term says only the defaults, and that resources are below
 * `resource_count`. */
void spec_codec_quota_decode(struct bytes_reader *in, uint32_t resource_count,
                             struct quota_row *ret);
