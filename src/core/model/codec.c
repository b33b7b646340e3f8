/* codec.c - small readers and writers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/codec.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/model/label.h"
#include "core/model/limits.h"

#include <string.h>

void codec_bad(struct bytes_reader *in)
{
    in->bad = true;
    in->left = 0;
}

int64_t codec_get_range(struct bytes_reader *in, int64_t low, int64_t high)
{
    must(low <= high);
    int64_t value = bytes_get_i64(in);
    if (value < low || value > high) {
        codec_bad(in);
        return low;
    }
    return value;
}

void codec_put_bool(struct buf *out, bool value)
{
    bytes_put_u64(out, value ? 1 : 0);
}

bool codec_get_bool(struct bytes_reader *in)
{
    return bytes_get_max(in, 1) == 1;
}

void codec_put_16(struct buf *out, const uint8_t *bytes)
{
    buf_add(out, bytes, 16);
}

void codec_get_16(struct bytes_reader *in, uint8_t *ret)
{
    memset(ret, 0, 16);
    if (in->left < 16) {
        codec_bad(in);
        return;
    }
    memcpy(ret, in->p, 16);
    in->p += 16;
    in->left -= 16;
}

uint32_t codec_get_count(struct bytes_reader *in, uint32_t max)
{
    uint64_t count = bytes_get_max(in, max);
    if (count > in->left) {
        codec_bad(in);
        return 0;
    }
    return (uint32_t)count;
}

void codec_put_texts(struct buf *out, const char *const *texts, uint32_t count)
{
    bytes_put_u64(out, count);
    for (uint32_t i = 0; i < count; i++) {
        bytes_put_text(out, texts[i]);
    }
}

const char *const *codec_get_texts(struct bytes_reader *in, struct arena *arena, uint32_t count_max,
                                   size_t len_max, uint32_t *ret_count)
{
    uint32_t count = codec_get_count(in, count_max);
    const char **texts = arena_new(arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        texts[i] = bytes_get_text(in, arena, len_max);
    }
    *ret_count = count;
    return texts;
}

void codec_put_tag(struct buf *out, uint64_t tag)
{
    must(tag > 0);
    bytes_put_u64(out, tag);
}

void codec_put_tags_end(struct buf *out)
{
    bytes_put_u64(out, 0);
}

bool codec_get_tag(struct bytes_reader *in, uint64_t max, uint64_t *tag)
{
    if (in->plain) {
        return false;
    }
    const uint64_t next = bytes_get_max(in, max);
    if (next != 0 && next <= *tag) {
        codec_bad(in);
        return false;
    }
    *tag = next;
    return next != 0;
}

/* Tags of a request. */
enum {
    REQUEST_WIDE = 1,
    REQUEST_AVOID = 2,
    REQUEST_LABELS = 3,
    REQUEST_NODES = 4,
    REQUEST_TAG_MAX = REQUEST_NODES
};

static void request_later_put(struct buf *out, const struct request *request)
{
    if (request->wide == WIDE_PARTS) {
        codec_put_tag(out, REQUEST_WIDE);
    }
    if (request->avoid_count > 0) {
        codec_put_tag(out, REQUEST_AVOID);
        bytes_put_u64(out, request->avoid_count);
        for (uint32_t i = 0; i < request->avoid_count; i++) {
            bytes_put_u64(out, request->avoid[i].v);
        }
    }
    if (request->label_count > 0) {
        codec_put_tag(out, REQUEST_LABELS);
        bytes_put_u64(out, request->label_count);
        for (uint32_t i = 0; i < request->label_count; i++) {
            bytes_put_u64(out, request->labels[i].first);
            bytes_put_u64(out, request->labels[i].second);
        }
    }
    if (request->wide == WIDE_NODES) {
        codec_put_tag(out, REQUEST_NODES);
    }
    codec_put_tags_end(out);
}

static void avoid_get(struct bytes_reader *in, struct request *ret)
{
    ret->avoid_count = codec_get_count(in, TASK_AVOID_MAX);
    uint32_t before = 0;
    for (uint32_t i = 0; i < ret->avoid_count && !in->bad; i++) {
        ret->avoid[i].v = (uint32_t)bytes_get_max(in, UINT32_MAX);
        if (ret->avoid[i].v <= before) {
            codec_bad(in);
        }
        before = ret->avoid[i].v;
    }
    if (ret->avoid_count == 0) {
        codec_bad(in);
    }
}

static void labels_get(struct bytes_reader *in, struct request *ret)
{
    ret->label_count = codec_get_count(in, TASK_LABELS_MAX);
    for (uint32_t i = 0; i < ret->label_count && !in->bad; i++) {
        ret->labels[i].first = bytes_get_u64(in);
        ret->labels[i].second = bytes_get_u64(in);
        if (i > 0 && label_mark_compare(ret->labels[i - 1], ret->labels[i]) >= 0) {
            codec_bad(in);
        }
    }
    if (ret->label_count == 0) {
        codec_bad(in);
    }
}

static void request_later_get(struct bytes_reader *in, struct request *ret)
{
    uint64_t tag = 0;
    while (codec_get_tag(in, REQUEST_TAG_MAX, &tag)) {
        if (tag == REQUEST_WIDE) {
            ret->wide = WIDE_PARTS;
        } else if (tag == REQUEST_AVOID) {
            avoid_get(in, ret);
        } else if (tag == REQUEST_LABELS) {
            labels_get(in, ret);
        } else if (ret->wide == WIDE_NOT) {
            ret->wide = WIDE_NODES;
        } else {
            codec_bad(in); /* a task is divided in one way */
        }
    }
}

void codec_put_request(struct buf *out, const struct request *request)
{
    bytes_put_i64(out, request->slots_milli);
    bytes_put_i64(out, request->cpu_milli);
    bytes_put_i64(out, request->memory_bytes);
    bytes_put_i64(out, request->gpu_memory_bytes);
    bytes_put_u64(out, request->device_mask);
    bytes_put_u64(out, request->needs_gpu | (uint64_t)request->share_devices << 1);
    bytes_put_u64(out, request->named_count);
    for (uint32_t i = 0; i < request->named_count; i++) {
        bytes_put_u64(out, request->named[i].resource.v);
        bytes_put_i64(out, request->named[i].milli);
    }
    request_later_put(out, request);
}

void codec_get_request(struct bytes_reader *in, uint32_t resource_count, struct request *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->slots_milli = codec_get_range(in, 0, AMOUNT_MILLI_MAX);
    ret->cpu_milli = codec_get_range(in, -1, AMOUNT_MILLI_MAX);
    ret->memory_bytes = codec_get_range(in, -1, AMOUNT_BYTES_MAX);
    ret->gpu_memory_bytes = codec_get_range(in, 0, AMOUNT_BYTES_MAX);
    ret->device_mask = bytes_get_u64(in);
    const uint64_t gpu = bytes_get_max(in, (uint64_t)NODE_DEVICES_MAX << 1 | 1);
    ret->needs_gpu = (uint32_t)gpu & 1;
    ret->share_devices = (uint32_t)(gpu >> 1);
    ret->named_count = codec_get_count(in, TASK_RESOURCES_MAX);
    uint32_t lowest = RESOURCE_NAMED_FIRST;
    for (uint32_t i = 0; i < ret->named_count; i++) {
        uint64_t resource = bytes_get_u64(in);
        if (resource < lowest || resource >= resource_count) {
            codec_bad(in);
            break;
        }
        ret->named[i].resource.v = (uint16_t)resource;
        ret->named[i].milli = codec_get_range(in, 0, AMOUNT_MILLI_MAX);
        lowest = (uint32_t)resource + 1;
    }
    request_later_get(in, ret);
    if (in->bad) {
        memset(ret, 0, sizeof *ret);
    }
}

void codec_put_labels(struct buf *out, const struct label *labels, uint32_t count)
{
    bytes_put_u64(out, count);
    for (uint32_t i = 0; i < count; i++) {
        bytes_put_text(out, labels[i].key);
        bytes_put_text(out, labels[i].value);
    }
}

const struct label *codec_get_labels(struct bytes_reader *in, struct arena *arena, uint32_t max,
                                     uint32_t *ret_count)
{
    uint32_t count = codec_get_count(in, max);
    struct label *labels = arena_new(arena, struct label, count);
    for (uint32_t i = 0; i < count; i++) {
        labels[i].key = bytes_get_text(in, arena, TEXT_LEN_MAX);
        labels[i].value = bytes_get_text(in, arena, TEXT_LEN_MAX);
    }
    *ret_count = count;
    return labels;
}
