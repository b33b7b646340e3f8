/* codec.h - small readers and writers shared by the codecs of specs, facts and the state.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a number in [low, high]. Any other number marks the reader bad and gives `low`. */
int64_t codec_get_range(struct bytes_reader *in, int64_t low, int64_t high);

void codec_put_bool(struct buf *out, bool value);
bool codec_get_bool(struct bytes_reader *in);

/* Exactly 16 bytes. */
void codec_put_16(struct buf *out, const uint8_t *bytes);
void codec_get_16(struct bytes_reader *in, uint8_t *ret);

/* Reads a count of at most `max` things. Each thing takes at least one byte, so a count above the number of
 * bytes left is bad: a short input cannot ask for much memory. */
uint32_t codec_get_count(struct bytes_reader *in, uint32_t max);

/* Marks the reader bad. A bad reader yields zeroes. */
void codec_bad(struct bytes_reader *in);

void codec_put_texts(struct buf *out, const char *const *texts, uint32_t count);
const char *const *codec_get_texts(struct bytes_reader *in, struct arena *arena, uint32_t count_max,
                                   size_t len_max, uint32_t *ret_count);

/* Fields that were added later stand at the end of an object. Each such field has its tag before it, in
 * ascending order. A field at its default is left out. A 0 ends the tags. With tags an object can get a new
 * field without a new version of everything that contains the object. */
void codec_put_tag(struct buf *out, uint64_t tag);
void codec_put_tags_end(struct buf *out);
/* The next tag, above `*tag` (0 at first) and at most `max`. False: there are no more tags, or the reader is
 * plain (its bytes are older than tags). */
bool codec_get_tag(struct bytes_reader *in, uint64_t max, uint64_t *tag);

/* A resolved request. Reading checks that every amount is in its range and that the named resources ascend
 * and are below `resource_count`. `needs_gpu` is the lowest bit of one number, `share_devices` the bits
 * above. */
void codec_put_request(struct buf *out, const struct request *request);
void codec_get_request(struct bytes_reader *in, uint32_t resource_count, struct request *ret);

/* A list with at most `max` entries. */
void codec_put_labels(struct buf *out, const struct label *labels, uint32_t count);
const struct label *codec_get_labels(struct bytes_reader *in, struct arena *arena, uint32_t max,
                                     uint32_t *ret_count);
