/* frame.c - encoding of the messages between agent and supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/frame.h"

#include "agent/attempt_bytes.h"
#include "agent/cgroup_layout.h"
#include "agent/confine.h"
#include "agent/texts.h"
#include "base/bytes.h"
#include "base/must.h"
#include "core/model/limits.h"

#include <limits.h>
#include <string.h>

static void position_put(struct buf *out, const struct spool_position *at)
{
    bytes_put_u64(out, at->segment);
    bytes_put_u64(out, at->offset);
}

static struct spool_position position_get(struct bytes_reader *in)
{
    struct spool_position at;
    at.segment = bytes_get_u64(in);
    at.offset = bytes_get_u64(in);
    return at;
}

/* The members of START since version 3: pairs of a number and a text, in any order. A supervisor
 * skips numbers that it does not know. */
enum start_tag {
    START_CPU = 1,
    START_CPU_LIMIT = 2,
    START_MEMORY_LIMIT = 3,
    START_NETWORK = 4,
    START_OUTBOUND = 5,
};
enum { START_TAGS_MAX = 64 };

static void tag_u64_put(struct buf *out, enum start_tag tag, uint64_t value)
{
    struct buf text;
    buf_init(&text, 16);
    bytes_put_u64(&text, value);
    bytes_put_u64(out, tag);
    bytes_put_str(out, (struct str){buf_text(&text), text.len});
    buf_done(&text);
}

static void tags_put(struct buf *out, const struct start_order *order)
{
    bytes_put_u64(out, 5);
    bytes_put_u64(out, START_NETWORK);
    bytes_put_text(out, order->network == NULL ? "" : order->network);
    bytes_put_u64(out, START_OUTBOUND);
    bytes_put_text(out, order->outbound == NULL ? "" : order->outbound);
    tag_u64_put(out, START_CPU, order->cpu_milli);
    tag_u64_put(out, START_CPU_LIMIT, order->cpu_limit_milli);
    tag_u64_put(out, START_MEMORY_LIMIT, order->memory_limit);
}

static uint64_t tag_u64_get(struct bytes_reader *in, struct str value)
{
    struct bytes_reader number;
    bytes_reader_init(&number, value.p, value.len);
    const uint64_t ret = bytes_get_u64(&number);
    in->bad = in->bad || !bytes_reader_ok(&number);
    return ret;
}

static void tags_get(struct bytes_reader *in, struct arena *arena, struct start_order *order)
{
    order->network = "";
    order->outbound = "";
    const uint64_t count = in->left > 0 ? bytes_get_max(in, START_TAGS_MAX) : 0;
    for (uint64_t i = 0; i < count && !in->bad; i++) {
        const uint64_t tag = bytes_get_u64(in);
        const struct str value = bytes_get_str(in, TASK_SPEC_BYTES_MAX);
        if (tag == START_CPU) {
            order->cpu_milli = tag_u64_get(in, value);
        } else if (tag == START_CPU_LIMIT) {
            order->cpu_limit_milli = tag_u64_get(in, value);
        } else if (tag == START_MEMORY_LIMIT) {
            order->memory_limit = tag_u64_get(in, value);
        } else if (tag == START_NETWORK) {
            order->network = arena_strn(arena, value.p, value.len);
        } else if (tag == START_OUTBOUND) {
            order->outbound = arena_strn(arena, value.p, value.len);
        }
    }
}

static void start_put(struct buf *out, const struct start_order *order)
{
    attempt_bytes_put(out, &order->key);
    bytes_put_u64(out, order->instance);
    texts_put(out, order->argv, order->argv_count);
    texts_put(out, order->env, order->env_count);
    bytes_put_text(out, order->workdir);
    bytes_put_text(out, order->pool);
    bytes_put_text(out, order->node);
    bytes_put_u64(out, order->slots_milli);
    bytes_put_u64(out, order->device_count);
    for (size_t i = 0; i < order->device_count; i++) {
        bytes_put_u64(out, order->devices[i]);
    }
    bytes_put_u64(out, order->rank);
    bytes_put_u64(out, order->world_size);
    bytes_put_text(out, order->master_addr);
    bytes_put_u64(out, order->master_port);
    bytes_put_u64(out, order->output_max);
}

static void start_get(struct bytes_reader *in, struct arena *arena, struct start_order *order)
{
    order->key = attempt_bytes_get(in);
    order->instance = bytes_get_u64(in);
    order->argv = texts_get(in, arena, TASK_ARGS_MAX + 8, &order->argv_count);
    order->env = texts_get(in, arena, TASK_ENV_MAX, &order->env_count);
    order->workdir = bytes_get_text(in, arena, TASK_SPEC_BYTES_MAX);
    order->pool = bytes_get_text(in, arena, TEXT_LEN_MAX);
    order->node = bytes_get_text(in, arena, TEXT_LEN_MAX);
    order->slots_milli = bytes_get_u64(in);
    order->device_count = (size_t)bytes_get_max(in, NODE_DEVICES_MAX);
    uint32_t *devices = arena_new(arena, uint32_t, order->device_count + 1);
    for (size_t i = 0; i < order->device_count; i++) {
        devices[i] = (uint32_t)bytes_get_max(in, UINT32_MAX);
    }
    order->devices = devices;
    order->rank = bytes_get_u64(in);
    order->world_size = bytes_get_u64(in);
    order->master_addr = bytes_get_text(in, arena, TEXT_LEN_MAX);
    order->master_port = bytes_get_max(in, UINT16_MAX);
    order->output_max = bytes_get_u64(in);
    if (order->argv_count == 0) {
        in->bad = true;
    }
}

static void body_put(struct buf *out, const struct frame *frame)
{
    bytes_put_u64(out, (uint64_t)frame->type);
    switch (frame->type) {
    case FRAME_HELLO:
        bytes_put_u64(out, frame->version);
        bytes_put_str(out, (struct str){(const char *)frame->id, sizeof frame->id});
        bytes_put_u64(out, frame->pid);
        position_put(out, &frame->acked);
        position_put(out, &frame->at);
        if (frame->version >= FRAME_VERSION_LIMITS) {
            bytes_put_u64(out, frame->cgroup_mode);
            bytes_put_u64(out, frame->cgroup_controllers);
        }
        if (frame->version >= FRAME_VERSION_CONFINE) {
            bytes_put_u64(out, frame->confine);
        }
        break;
    case FRAME_ATTEMPT:
        attempt_bytes_put(out, &frame->key);
        bytes_put_u64(out, frame->ended ? 1 : 0);
        break;
    case FRAME_GROWN:
        position_put(out, &frame->at);
        bytes_put_u64(out, frame->starts);
        break;
    case FRAME_ACK:
        position_put(out, &frame->at);
        break;
    case FRAME_START:
        start_put(out, &frame->start);
        if (frame->version >= FRAME_VERSION_LIMITS) {
            tags_put(out, &frame->start);
        }
        break;
    case FRAME_STOP:
        attempt_bytes_put(out, &frame->key);
        bytes_put_i64(out, frame->grace_ms);
        break;
    case FRAME_TROUBLE:
        bytes_put_text(out, frame->trouble);
        break;
    case FRAME_USE:
        attempt_bytes_put(out, &frame->key);
        bytes_put_i64(out, frame->use.at_ms);
        bytes_put_u64(out, frame->use.cpu_ms);
        bytes_put_u64(out, frame->use.memory_bytes);
        bytes_put_u64(out, frame->use.memory_peak);
        bytes_put_u64(out, frame->use.devices);
        break;
    case FRAME_NONE:
    case FRAME_READY:
    case FRAME_LIST:
    case FRAME_RENEW:
    case FRAME_BYE:
        break;
    }
}

void frame_put(struct buf *out, const struct frame *frame)
{
    must(frame->type != FRAME_NONE);
    size_t head = out->len;
    buf_add(out, "\0\0\0\0", FRAME_HEAD_LEN);
    body_put(out, frame);
    if (out->full) {
        return;
    }
    size_t len = out->len - head - FRAME_HEAD_LEN;
    for (unsigned i = 0; i < FRAME_HEAD_LEN; i++) {
        out->data[head + i] = (char)(unsigned char)(len >> (8 * i));
    }
}

static void body_get(struct bytes_reader *in, struct arena *arena, struct frame *frame)
{
    frame->type = (enum frame_type)bytes_get_max(in, FRAME_USE);
    switch (frame->type) {
    case FRAME_HELLO: {
        frame->version = bytes_get_u64(in);
        struct str id = bytes_get_str(in, SUPERVISOR_ID_LEN);
        if (id.len == SUPERVISOR_ID_LEN) {
            memcpy(frame->id, id.p, SUPERVISOR_ID_LEN);
        } else {
            in->bad = true;
        }
        frame->pid = bytes_get_u64(in);
        frame->acked = position_get(in);
        frame->at = position_get(in);
        if (frame->version >= FRAME_VERSION_LIMITS) {
            frame->cgroup_mode = bytes_get_max(in, CGROUP_MODE_V2);
            frame->cgroup_controllers = bytes_get_u64(in);
        }
        if (frame->version >= FRAME_VERSION_CONFINE) {
            frame->confine = bytes_get_max(in, CONFINE_ALL);
        }
        break;
    }
    case FRAME_ATTEMPT:
        frame->key = attempt_bytes_get(in);
        frame->ended = bytes_get_max(in, 1) != 0;
        break;
    case FRAME_GROWN:
        frame->at = position_get(in);
        frame->starts = bytes_get_u64(in);
        break;
    case FRAME_ACK:
        frame->at = position_get(in);
        break;
    case FRAME_START:
        start_get(in, arena, &frame->start);
        tags_get(in, arena, &frame->start);
        break;
    case FRAME_STOP:
        frame->key = attempt_bytes_get(in);
        frame->grace_ms = bytes_get_i64(in);
        break;
    case FRAME_NONE:
        in->bad = true;
        break;
    case FRAME_TROUBLE:
        frame->trouble = bytes_get_text(in, arena, ERROR_TEXT_MAX);
        break;
    case FRAME_USE:
        frame->key = attempt_bytes_get(in);
        frame->use.at_ms = bytes_get_i64(in);
        frame->use.cpu_ms = bytes_get_u64(in);
        frame->use.memory_bytes = bytes_get_u64(in);
        frame->use.memory_peak = bytes_get_u64(in);
        frame->use.devices = bytes_get_u64(in);
        break;
    case FRAME_READY:
    case FRAME_LIST:
    case FRAME_RENEW:
    case FRAME_BYE:
        break;
    }
}

long frame_get(const char *data, size_t len, struct arena *arena, struct frame *ret)
{
    if (len < FRAME_HEAD_LEN) {
        return 0;
    }
    size_t body = 0;
    for (unsigned i = 0; i < FRAME_HEAD_LEN; i++) {
        body |= (size_t)(unsigned char)data[i] << (8 * i);
    }
    if (body == 0 || body > FRAME_BYTES_MAX) {
        return -1;
    }
    if (len < FRAME_HEAD_LEN + body) {
        return 0;
    }
    struct bytes_reader in;
    bytes_reader_init(&in, data + FRAME_HEAD_LEN, body);
    *ret = (struct frame){0};
    body_get(&in, arena, ret);
    return bytes_reader_ok(&in) ? (long)(FRAME_HEAD_LEN + body) : -1;
}
