/* fact_edit.c - the body of task-edited: a user changed fields of a task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/object.h"
#include "core/model/limits.h"
#include "core/state/fact_internal.h"

/* Older versions of the fact task-edited know fewer fields of a task. These are the fields, bit by bit, that versions 2 to 6 know. */
enum {
    EDIT_BITS_V2 = (1 << 10) - 1,
    EDIT_BITS_V3 = (1 << 12) - 1,
    EDIT_BITS_V4 = (1 << 15) - 1,
    EDIT_BITS_V5 = (1 << 16) - 1,
    EDIT_BITS_V6 = (1 << 17) - 1,
    EDIT_BITS_MAX = 32
};

/* The row of the field with this bit in a mask of edits; NULL: there is none. */
static const struct object_field *field_of_bit(uint32_t bit)
{
    for (uint32_t i = 0; i < task_object.count; i++) {
        const struct object_field *field = &task_object.fields[i];
        if (field->edit != EDIT_NEVER && field->bit == bit) {
            return field;
        }
    }
    return NULL;
}

/* Does the resolved request follow the field with this bit? The request follows the resources if the edit
 * sets them, else the labels. */
static bool request_behind(uint32_t fields, uint32_t bit)
{
    const uint32_t last = (fields & TASK_EDIT_resources) != 0 ? TASK_EDIT_resources
                          : (fields & TASK_EDIT_REQUEST) != 0 ? TASK_EDIT_node_labels
                                                              : 0;
    return (uint32_t)1 << bit == last;
}

/* Only the fields that the edit sets are written, by ascending bit. A name is followed by the id to which the
 * name was resolved. */
void fact_edit_task_put(const void *object, struct buf *out)
{
    const struct fact *fact = object;
    const struct task_edit *edit = &fact->task_edited.edit;
    bytes_put_u64(out, fact->task_edited.task.v);
    bytes_put_u64(out, edit->fields);
    for (uint32_t bit = 0; bit < EDIT_BITS_MAX; bit++) {
        const uint32_t mask = edit->fields & (uint32_t)1 << bit;
        if (mask == TASK_EDIT_pools) {
            record_put_field(&field_of_bit(bit)->record, edit->spec, out);
            bytes_put_u64(out, fact->task_edited.pool.v);
        } else if (mask != 0) {
            record_put_field(&field_of_bit(bit)->record, edit->spec, out);
        }
        if (mask == TASK_EDIT_project) {
            bytes_put_u64(out, fact->task_edited.account.v);
        }
        if (request_behind(edit->fields, bit)) {
            codec_put_request(out, fact->task_edited.request);
        }
    }
}

/* Before version 6 an edit set one pool. */
static void pool_get(struct bytes_reader *in, struct arena *arena, struct task_spec *spec,
                     struct fact *ret)
{
    if (ret->version < 6) {
        const char **pools = arena_new(arena, const char *, 1);
        pools[0] = bytes_get_text(in, arena, NAME_LEN_MAX);
        spec->pools = pools;
        spec->pool_count = 1;
    } else {
        record_get_field(&task_object_fields[TASK_FIELD_pools].record, in, arena, spec);
    }
    ret->task_edited.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
}

void fact_edit_task_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    struct fact *ret = object;
    struct task_spec *spec = arena_new(arena, struct task_spec, 1);
    const uint32_t newest = object_edit_bits(&task_object);
    const uint32_t known = ret->version < 3    ? EDIT_BITS_V2
                           : ret->version == 3 ? EDIT_BITS_V3
                           : ret->version == 4 ? EDIT_BITS_V4
                           : ret->version == 5 ? EDIT_BITS_V5
                           : ret->version == 6 ? EDIT_BITS_V6
                                               : newest;
    object_init(&task_object, spec);
    ret->task_edited.task.v = bytes_get_u64(in);
    const uint32_t fields = (uint32_t)bytes_get_max(in, known);
    for (uint32_t bit = 0; bit < EDIT_BITS_MAX && !in->bad; bit++) {
        const uint32_t mask = fields & (uint32_t)1 << bit;
        const struct object_field *field = mask != 0 ? field_of_bit(bit) : NULL;
        if (mask == TASK_EDIT_pools) {
            pool_get(in, arena, spec, ret);
        } else if (field != NULL) {
            record_get_field(&field->record, in, arena, spec);
        } else if (mask != 0) {
            codec_bad(in);
        }
        if (mask == TASK_EDIT_project) {
            ret->task_edited.account.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
        }
        if (request_behind(fields, bit)) {
            struct request *request = arena_new(arena, struct request, 1);
            codec_get_request(in, RESOURCES_MAX, request);
            ret->task_edited.request = request;
        }
    }
    ret->task_edited.edit = (struct task_edit){.fields = fields, .spec = spec};
}
