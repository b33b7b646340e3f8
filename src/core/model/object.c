/* object.c - codec, defaults, limits and edits of the objects that users describe.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/object.h"

#include "base/must.h"
#include "core/model/codec.h"

enum { OBJECT_BYTES_MAX = TASK_SPEC_STORED_MAX }; /* a task is the largest object */

/* A switch with a tag has no value in the bytes: the tag alone says that the switch does not have its
 * default. */
static bool tag_is_value(const struct object_field *field)
{
    return field->record.size == sizeof(bool) && field->record.high == 1;
}

void object_init(const struct object *object, void *spec)
{
    memset(spec, 0, object->size);
    for (uint32_t i = 0; i < object->count; i++) {
        const struct object_field *field = &object->fields[i];
        if (field->record.type == RECORD_TEXT) {
            const char *text = field->otherwise_text != NULL ? field->otherwise_text : "";
            memcpy((char *)spec + field->record.offset, &text, sizeof text);
        } else if (field->otherwise != 0) {
            record_set(&field->record, spec, field->otherwise);
        }
    }
}

bool object_default(const struct object_field *field, const void *spec)
{
    if (field->record.type == RECORD_OWN || field->record.type == RECORD_PART) {
        return field->said != NULL && !field->said(spec);
    }
    if (field->record.type == RECORD_TEXT) {
        const char *text = field->otherwise_text != NULL ? field->otherwise_text : "";
        return strcmp(record_text(&field->record, spec), text) == 0;
    }
    return record_value(&field->record, spec) == field->otherwise;
}

void object_encode(const struct object *object, const void *spec, struct buf *out)
{
    for (uint32_t i = 0; i < object->count; i++) {
        const struct object_field *field = &object->fields[i];
        if (field->tag == TAG_HEAD) {
            record_put_field(&field->record, spec, out);
        } else if (field->tag != TAG_NONE && !object_default(field, spec)) {
            codec_put_tag(out, field->tag);
            if (!tag_is_value(field)) {
                record_put_field(&field->record, spec, out);
            }
        }
    }
    codec_put_tags_end(out);
}

/* Fields of which record_bytes_most() knows no bound are written to `out`. */
static size_t bytes_most(const struct object *object, const void *spec, struct buf *out)
{
    enum { TAG_BYTES_MAX = 2 };
    size_t most = TAG_BYTES_MAX; /* the end of the tags */
    for (uint32_t i = 0; i < object->count; i++) {
        const struct object_field *field = &object->fields[i];
        size_t bytes = 0;
        if (field->tag == TAG_NONE) {
            continue;
        }
        if (!record_bytes_most(&field->record, spec, &bytes) &&
            (field->tag == TAG_HEAD || !object_default(field, spec))) {
            record_put_field(&field->record, spec, out);
        }
        most += TAG_BYTES_MAX + bytes;
    }
    return most + out->len;
}

bool object_fits(const struct object *object, const void *spec, size_t max)
{
    struct buf out;
    buf_init(&out, max);
    bool fits = bytes_most(object, spec, &out) <= max && !out.full;
    if (!fits) {
        buf_clear(&out);
        object_encode(object, spec, &out);
        fits = !out.full;
    }
    buf_done(&out);
    return fits;
}

/* The row with this tag; NULL: there is none. */
static const struct object_field *tag_find(const struct object *object, uint64_t tag)
{
    for (uint32_t i = 0; i < object->count; i++) {
        if (object->fields[i].tag == tag) {
            return &object->fields[i];
        }
    }
    return NULL;
}

static void tags_get(const struct object *object, struct bytes_reader *in, struct arena *arena,
                     void *spec)
{
    uint64_t tag = 0;
    while (codec_get_tag(in, TAG_NONE - 1, &tag)) {
        const struct object_field *field = tag_find(object, tag);
        if (field == NULL) {
            codec_bad(in); /* a tag that was never used */
            return;
        }
        if (tag_is_value(field)) {
            record_set(&field->record, spec, !field->otherwise);
            continue;
        }
        record_get_field(&field->record, in, arena, spec);
        if (!in->bad && field->record.type != RECORD_OWN && object_default(field, spec)) {
            codec_bad(in); /* a field at its default must be left out */
        }
    }
}

void object_decode(const struct object *object, uint32_t heads, struct bytes_reader *in,
                   struct arena *arena, void *spec)
{
    const struct object_field *fields = object->fields;
    must(object->count < OBJECT_WHOLE);
    object_init(object, spec);
    for (uint32_t i = 0; i < heads && i < object->count && fields[i].tag == TAG_HEAD; i++) {
        record_get_field(&fields[i].record, in, arena, spec);
    }
    if (heads == OBJECT_WHOLE) {
        tags_get(object, in, arena, spec);
    }
}

bool object_bounded(const struct object *object, const void *spec, const char **ret_limit,
                    int64_t *ret_max)
{
    for (uint32_t i = 0; i < object->count; i++) {
        const struct record_field *record = &object->fields[i].record;
        if (record_has_bounds(record) && !record_bounded(record, spec, ret_limit, ret_max)) {
            return false;
        }
    }
    return true;
}

bool object_equal(const struct object *object, const void *one, const void *other)
{
    struct buf bytes[2];
    buf_init(&bytes[0], OBJECT_BYTES_MAX);
    buf_init(&bytes[1], OBJECT_BYTES_MAX);
    object_encode(object, one, &bytes[0]);
    object_encode(object, other, &bytes[1]);
    const bool equal = bytes[0].len == bytes[1].len && !bytes[0].full && !bytes[1].full &&
                       memcmp(bytes[0].data, bytes[1].data, bytes[0].len) == 0;
    buf_done(&bytes[0]);
    buf_done(&bytes[1]);
    return equal;
}

const struct object_field *object_find(const struct object *object, const char *name)
{
    for (uint32_t i = 0; i < object->count; i++) {
        if (strcmp(object->fields[i].record.name, name) == 0) {
            return &object->fields[i];
        }
    }
    return NULL;
}

struct str object_word(const struct object_field *field, int64_t value)
{
    struct str rest = str_of(field->words);
    struct str word = {0};
    for (; value < 0 && rest.p != NULL; value++) {
        word = str_cut(rest, ' ', &rest);
    }
    return word;
}

bool object_word_find(const struct object_field *field, struct str word, int64_t *ret)
{
    for (int64_t value = field->record.low; value < 0; value++) {
        if (str_equal(object_word(field, value), word)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

void object_edit(const struct object *object, uint32_t mask, void *to, const void *from)
{
    for (uint32_t i = 0; i < object->count; i++) {
        const struct object_field *field = &object->fields[i];
        const bool kept = field->record.type != RECORD_OWN || field->record.copy != NULL;
        if (kept && field->edit != EDIT_NEVER && (mask >> field->bit & 1) != 0) {
            record_copy_field(&field->record, to, from);
        }
    }
}

const struct object_field *object_at_rest(const struct object *object, uint32_t mask)
{
    for (uint32_t i = 0; i < object->count; i++) {
        const struct object_field *field = &object->fields[i];
        if (field->edit == EDIT_AT_REST && (mask >> field->bit & 1) != 0) {
            return field;
        }
    }
    return NULL;
}

uint32_t object_edit_bits(const struct object *object)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < object->count; i++) {
        const bool can = object->fields[i].edit != EDIT_NEVER;
        bits |= can ? (uint32_t)1 << object->fields[i].bit : 0;
    }
    return bits;
}
