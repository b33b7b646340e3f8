/* fact_edit.c - bodies of the facts about what users change of tasks, and of what that sets free.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "core/model/codec.h"
#include "core/model/input.h"
#include "core/model/limits.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/task.h"
#include "core/state/fact_internal.h"

enum { EDIT_FIELDS_V2 = EDIT_AVOID * 2 - 1 };

/* The request stands with the resources, where they change, too. */
static bool request_alone(uint32_t fields)
{
    return (fields & EDIT_REQUEST) != 0 && (fields & EDIT_RESOURCES) == 0;
}

/* Only the fields that the edit sets are written. */
void fact_edit_task_put(const struct fact *fact, struct buf *out)
{
    const struct task_edit *edit = &fact->task_edited.edit;
    bytes_put_u64(out, fact->task_edited.task.v);
    bytes_put_u64(out, edit->fields);
    if (edit->fields & EDIT_PRIORITY) {
        bytes_put_u64(out, edit->priority);
    }
    if (edit->fields & EDIT_TIME_LIMIT) {
        bytes_put_i64(out, edit->time_limit_ms);
    }
    if (edit->fields & EDIT_RETRIES) {
        bytes_put_u64(out, edit->max_retries);
    }
    if (edit->fields & EDIT_GRACE) {
        bytes_put_i64(out, edit->grace_ms);
    }
    if (edit->fields & EDIT_NAME) {
        bytes_put_text(out, edit->name);
    }
    if (edit->fields & EDIT_TAGS) {
        codec_put_texts(out, edit->tags, edit->tag_count);
    }
    if (edit->fields & EDIT_POOL) {
        bytes_put_text(out, edit->pool);
        bytes_put_u64(out, fact->task_edited.pool.v);
    }
    if (edit->fields & EDIT_RESOURCES) {
        spec_codec_asks_encode(edit->asks, out);
        codec_put_request(out, fact->task_edited.request);
    }
    if (edit->fields & EDIT_PROJECT) {
        bytes_put_text(out, edit->project);
        bytes_put_u64(out, fact->task_edited.account.v);
    }
    if (edit->fields & EDIT_AVOID) {
        codec_put_texts(out, edit->avoid, edit->avoid_count);
    }
    if (edit->fields & EDIT_LABELS) {
        spec_codec_labels_put(out, edit->node_labels, edit->node_label_count);
    }
    if (request_alone(edit->fields)) {
        codec_put_request(out, fact->task_edited.request);
    }
    if (edit->fields & EDIT_TOPOLOGY) {
        bytes_put_text(out, edit->topology.required);
        bytes_put_text(out, edit->topology.preferred);
    }
}

static void get_resources(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    struct task_spec *asks = arena_new(arena, struct task_spec, 1);
    struct request *request = arena_new(arena, struct request, 1);
    spec_codec_asks_decode(in, arena, asks);
    codec_get_request(in, RESOURCES_MAX, request);
    ret->task_edited.edit.asks = asks;
    ret->task_edited.request = request;
}

/* On which nodes, and how close together. */
static void get_nodes(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    struct task_edit *edit = &ret->task_edited.edit;
    if (edit->fields & EDIT_AVOID) {
        edit->avoid = codec_get_texts(in, arena, TASK_AVOID_MAX, NAME_LEN_MAX, &edit->avoid_count);
    }
    if (edit->fields & EDIT_LABELS) {
        edit->node_labels = spec_codec_labels_get(in, arena, &edit->node_label_count);
        if (edit->node_label_count > TASK_LABELS_MAX) {
            codec_bad(in);
        }
    }
    if (request_alone(edit->fields)) {
        struct request *request = arena_new(arena, struct request, 1);
        codec_get_request(in, RESOURCES_MAX, request);
        ret->task_edited.request = request;
    }
    if (edit->fields & EDIT_TOPOLOGY) {
        edit->topology.required = bytes_get_text(in, arena, NAME_LEN_MAX);
        edit->topology.preferred = bytes_get_text(in, arena, NAME_LEN_MAX);
    }
}

void fact_edit_task_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    struct task_edit *edit = &ret->task_edited.edit;
    ret->task_edited.task.v = bytes_get_u64(in);
    edit->fields = (uint32_t)bytes_get_max(in, ret->version < 3 ? EDIT_FIELDS_V2 : EDIT_FIELDS_ALL);
    if (edit->fields & EDIT_PRIORITY) {
        edit->priority = (uint32_t)bytes_get_max(in, PRIORITY_MAX);
        if (edit->priority < PRIORITY_MIN) {
            codec_bad(in);
        }
    }
    if (edit->fields & EDIT_TIME_LIMIT) {
        edit->time_limit_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
    }
    if (edit->fields & EDIT_RETRIES) {
        edit->max_retries = (uint32_t)bytes_get_max(in, RETRIES_MAX);
    }
    if (edit->fields & EDIT_GRACE) {
        edit->grace_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
    }
    if (edit->fields & EDIT_NAME) {
        edit->name = bytes_get_text(in, arena, TEXT_LEN_MAX);
    }
    if (edit->fields & EDIT_TAGS) {
        edit->tags = codec_get_texts(in, arena, TASK_TAGS_MAX, TEXT_LEN_MAX, &edit->tag_count);
    }
    if (edit->fields & EDIT_POOL) {
        edit->pool = bytes_get_text(in, arena, NAME_LEN_MAX);
        ret->task_edited.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    }
    if (edit->fields & EDIT_RESOURCES) {
        get_resources(in, arena, ret);
    }
    if (edit->fields & EDIT_PROJECT) {
        edit->project = bytes_get_text(in, arena, NAME_LEN_MAX);
        ret->task_edited.account.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    }
    get_nodes(in, arena, ret);
}

void fact_edit_moved_put(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->task_moved.task.v);
    bytes_put_u64(out, fact->task_moved.other.v);
    codec_put_bool(out, fact->task_moved.behind);
    bytes_put_u64(out, fact->task_moved.rank_count);
    for (uint32_t i = 0; i < fact->task_moved.rank_count; i++) {
        bytes_put_u64(out, fact->task_moved.ranks[i].task.v);
        bytes_put_i64(out, fact->task_moved.ranks[i].rank);
    }
}

void fact_edit_moved_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->task_moved.task.v = bytes_get_u64(in);
    ret->task_moved.other.v = bytes_get_u64(in);
    ret->task_moved.behind = codec_get_bool(in);
    ret->task_moved.rank_count = codec_get_count(in, MOVE_TASKS_MAX + 1);
    struct task_rank *ranks = arena_new(arena, struct task_rank, ret->task_moved.rank_count);
    for (uint32_t i = 0; i < ret->task_moved.rank_count; i++) {
        ranks[i].task.v = bytes_get_u64(in);
        ranks[i].rank = codec_get_range(in, -RANK_FRONT, RANK_FRONT);
    }
    ret->task_moved.ranks = ranks;
}

void fact_edit_released_put(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->released.task.v);
    bytes_put_u64(out, fact->released.count);
}

void fact_edit_released_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->released.task.v = bytes_get_u64(in);
    ret->released.count = (uint32_t)bytes_get_max(in, UINT32_MAX);
}
