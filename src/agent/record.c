/* record.c - encoding of the spool's records.
 *
 * Surprising: the fields of an OUTPUT record stand behind its data, so that a pipe can be read
 * straight into the spool's buffer before the length is known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/record.h"

#include "agent/attempt_bytes.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"

#include <string.h>

enum { RECORD_TAIL_LEN = 2 };

static void u32_set(char *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (char)(unsigned char)(value >> (8 * i));
    }
}

static uint32_t u32_of(const char *at)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++) {
        value |= (uint32_t)(unsigned char)at[i] << (8 * i);
    }
    return value;
}

static void head_fill(struct buf *out, size_t head)
{
    if (out->full) {
        return;
    }
    size_t len = out->len - head - RECORD_HEAD_LEN;
    must(len <= SPOOL_RECORD_MAX);
    const char *body = out->data + head + RECORD_HEAD_LEN;
    u32_set(out->data + head, (uint32_t)len);
    u32_set(out->data + head + 4, (uint32_t)hash_bytes(body, len));
}

static void fields_put(struct buf *out, const struct record *record)
{
    switch (record->type) {
    case RECORD_SEGMENT:
        bytes_put_str(out, (struct str){(const char *)record->id, SUPERVISOR_ID_LEN});
        bytes_put_u64(out, record->open_count);
        for (size_t i = 0; i < record->open_count; i++) {
            attempt_bytes_put(out, &record->open[i]);
        }
        break;
    case RECORD_STARTED:
        attempt_bytes_put(out, &record->key);
        bytes_put_i64(out, record->at_ms);
        bytes_put_u64(out, record->pid);
        bytes_put_u64(out, record->workdir_used ? 1 : 0);
        break;
    case RECORD_ENDED:
        attempt_bytes_put(out, &record->key);
        bytes_put_i64(out, record->at_ms);
        bytes_put_i64(out, record->exit_code);
        bytes_put_u64(out, record->out_bytes);
        bytes_put_u64(out, record->err_bytes);
        bytes_put_u64(out, record->cpu_ms);
        bytes_put_u64(out, record->memory_peak);
        bytes_put_u64(out, record->out_of_memory ? 1 : 0);
        bytes_put_u64(out, record->out_of_disk ? 1 : 0);
        break;
    case RECORD_SPAWN_FAILED:
        attempt_bytes_put(out, &record->key);
        bytes_put_i64(out, record->at_ms);
        bytes_put_i64(out, record->error_number);
        bytes_put_str(out, record->message);
        break;
    case RECORD_CHECKPOINT:
        attempt_bytes_put(out, &record->key);
        bytes_put_i64(out, record->at_ms);
        break;
    case RECORD_ACCEPTED:
    case RECORD_LOST:
        attempt_bytes_put(out, &record->key);
        break;
    case RECORD_OUTPUT:
    case RECORD_NONE:
        must(false);
        break;
    }
}

void record_encode(struct buf *out, const struct record *record)
{
    if (record->type == RECORD_OUTPUT) {
        char *room = record_output_begin(out, record->data.len);
        memcpy(room, record->data.p, record->data.len);
        record_output_end(out, record, record->data.len);
        return;
    }
    size_t head = out->len;
    buf_add(out, "\0\0\0\0\0\0\0", RECORD_HEAD_LEN);
    bytes_put_u64(out, (uint64_t)record->type);
    fields_put(out, record);
    head_fill(out, head);
}

char *record_output_begin(struct buf *out, size_t len)
{
    static const char zeroes[RECORD_HEAD_LEN];
    if (out->len + RECORD_HEAD_LEN + 1 + len + 1 > out->room) {
        size_t room = out->room * 2 > out->len + len + 64 ? out->room * 2 : out->len + len + 64;
        out->data = xrealloc(out->data, room, 1);
        out->room = room;
    }
    buf_add(out, zeroes, RECORD_HEAD_LEN);
    bytes_put_u64(out, RECORD_OUTPUT);
    return out->data + out->len;
}

void record_output_end(struct buf *out, const struct record *record, size_t len)
{
    must(out->len >= RECORD_HEAD_LEN + 1);
    size_t head = out->len - RECORD_HEAD_LEN - 1;
    if (len == 0) {
        out->len = head;
        return;
    }
    out->len += len;
    size_t fields = out->len;
    attempt_bytes_put(out, &record->key);
    bytes_put_u64(out, record->stream);
    bytes_put_u64(out, record->offset);
    size_t fields_len = out->len - fields;
    char tail[RECORD_TAIL_LEN] = {(char)(fields_len & 0xff), (char)(fields_len >> 8)};
    buf_add(out, tail, RECORD_TAIL_LEN);
    must(!out->full);
    head_fill(out, head);
}

static bool output_get(const char *body, size_t len, struct record *ret)
{
    if (len < 1 + RECORD_TAIL_LEN) {
        return false;
    }
    const unsigned char *tail = (const unsigned char *)body + len - RECORD_TAIL_LEN;
    size_t fields_len = (size_t)tail[0] | (size_t)tail[1] << 8;
    if (fields_len > len - 1 - RECORD_TAIL_LEN) {
        return false;
    }
    size_t data_len = len - 1 - RECORD_TAIL_LEN - fields_len;
    struct bytes_reader in;
    bytes_reader_init(&in, body + 1 + data_len, fields_len);
    ret->key = attempt_bytes_get(&in);
    ret->stream = (unsigned)bytes_get_max(&in, 2);
    ret->offset = bytes_get_u64(&in);
    ret->data = (struct str){body + 1, data_len};
    return bytes_reader_ok(&in) && ret->stream >= 1;
}

static void segment_get(struct bytes_reader *in, struct arena *arena, struct record *ret)
{
    struct str id = bytes_get_str(in, SUPERVISOR_ID_LEN);
    if (id.len != SUPERVISOR_ID_LEN) {
        in->bad = true;
        return;
    }
    memcpy(ret->id, id.p, SUPERVISOR_ID_LEN);
    ret->open_count = (size_t)bytes_get_max(in, ATTEMPTS_MAX);
    struct attempt_key *open = arena_new(arena, struct attempt_key, ret->open_count + 1);
    for (size_t i = 0; i < ret->open_count; i++) {
        open[i] = attempt_bytes_get(in);
    }
    ret->open = open;
}

static void fields_get(struct bytes_reader *in, struct arena *arena, struct record *ret)
{
    switch (ret->type) {
    case RECORD_SEGMENT:
        segment_get(in, arena, ret);
        break;
    case RECORD_STARTED:
        ret->key = attempt_bytes_get(in);
        ret->at_ms = bytes_get_i64(in);
        ret->pid = bytes_get_u64(in);
        ret->workdir_used = bytes_get_max(in, 1) != 0;
        break;
    case RECORD_ENDED:
        ret->key = attempt_bytes_get(in);
        ret->at_ms = bytes_get_i64(in);
        ret->exit_code = (int)bytes_get_i64(in);
        ret->out_bytes = bytes_get_u64(in);
        ret->err_bytes = bytes_get_u64(in);
        ret->cpu_ms = bytes_get_u64(in);
        ret->memory_peak = bytes_get_u64(in);
        /* Supervisors of earlier versions do not write `out_of_memory` and `out_of_disk`. */
        ret->out_of_memory = in->left > 0 && bytes_get_max(in, 1) != 0;
        ret->out_of_disk = in->left > 0 && bytes_get_max(in, 1) != 0;
        break;
    case RECORD_SPAWN_FAILED:
        ret->key = attempt_bytes_get(in);
        ret->at_ms = bytes_get_i64(in);
        ret->error_number = (int)bytes_get_i64(in);
        ret->message = bytes_get_str(in, SPOOL_RECORD_MAX);
        break;
    case RECORD_CHECKPOINT:
        ret->key = attempt_bytes_get(in);
        ret->at_ms = bytes_get_i64(in);
        break;
    case RECORD_ACCEPTED:
    case RECORD_LOST:
        ret->key = attempt_bytes_get(in);
        break;
    case RECORD_OUTPUT:
    case RECORD_NONE:
        in->bad = true;
        break;
    }
}

long record_decode(const char *data, size_t len, struct arena *arena, struct record *ret)
{
    if (len < RECORD_HEAD_LEN) {
        return 0;
    }
    size_t body_len = u32_of(data);
    if (body_len == 0 || body_len > SPOOL_RECORD_MAX) {
        return -1;
    }
    if (len - RECORD_HEAD_LEN < body_len) {
        return 0;
    }
    const char *body = data + RECORD_HEAD_LEN;
    if (u32_of(data + 4) != (uint32_t)hash_bytes(body, body_len)) {
        return -1;
    }
    *ret = (struct record){0};
    long whole = (long)(RECORD_HEAD_LEN + body_len);
    if (body[0] == RECORD_OUTPUT) {
        ret->type = RECORD_OUTPUT;
        return output_get(body, body_len, ret) ? whole : -1;
    }
    struct bytes_reader in;
    bytes_reader_init(&in, body, body_len);
    ret->type = (enum record_kind)bytes_get_max(&in, RECORD_TYPE_LAST);
    fields_get(&in, arena, ret);
    return bytes_reader_ok(&in) ? whole : -1;
}
