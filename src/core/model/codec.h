/* codec.h - small readers and writers shared by the codecs of specs, facts and the state.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/resource.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number in [low, high]; anything else is bad and read as `low`. */
int64_t codec_get_range(struct bytes_reader *in, int64_t low, int64_t high);

void codec_put_bool(struct buf *out, bool value);
bool codec_get_bool(struct bytes_reader *in);

/* Exactly 16 bytes. */
void codec_put_16(struct buf *out, const uint8_t *bytes);
void codec_get_16(struct bytes_reader *in, uint8_t *ret);

/* A count of at most `max` things of at least one byte each, so that a short input cannot ask for
 * much memory. */
uint32_t codec_get_count(struct bytes_reader *in, uint32_t max);

/* From now on the reader yields zeroes. */
void codec_bad(struct bytes_reader *in);

void codec_put_texts(struct buf *out, const char *const *texts, uint32_t count);
const char *const *codec_get_texts(struct bytes_reader *in, struct arena *arena, uint32_t count_max,
                                   size_t len_max, uint32_t *ret_count);

/* Fields that came later end an object: each with its tag, ascending, those at their default left out; a 0 closes them. So an
 * object grows without a new version of everything that holds it. */
void codec_put_tag(struct buf *out, uint64_t tag);
void codec_put_tags_end(struct buf *out);
/* The next tag: above `*tag` (0 at first), at most `max`; false: that was all, or the reader is plain. */
bool codec_get_tag(struct bytes_reader *in, uint64_t max, uint64_t *tag);

/* A resolved request (the number of shared devices stands above the bit that says it needs any); read with every amount in its range and names ascending below
 * `resource_count`. */
void codec_put_request(struct buf *out, const struct request *request);
void codec_get_request(struct bytes_reader *in, uint32_t resource_count, struct request *ret);
