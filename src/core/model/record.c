/* record.c - the codec and the bounds of structs that a table describes.
 *
 * record_read() and record_write() call themselves for a struct within a struct. The tables bound the depth,
 * not the bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/record.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/model/codec.h"
#include "core/model/spec.h"

static const void *member_of(const struct record_field *field, const void *object)
{
    return (const char *)object + field->offset;
}

static void *member_edit(const struct record_field *field, void *object)
{
    return (char *)object + field->offset;
}

/* How the bytes of a value are made. Several types share a form. */
enum byte_form { FORM_NUMBER, FORM_TEXT, FORM_LIST, FORM_ID16, FORM_PART, FORM_OWN };

static enum byte_form form_of(const struct record_field *field)
{
    switch ((enum record_type)field->type) {
    case RECORD_TEXT:
        return FORM_TEXT;
    case RECORD_TEXTS:
    case RECORD_LABELS:
    case RECORD_AMOUNTS:
    case RECORD_ROWS:
        return FORM_LIST;
    case RECORD_ID16:
        return FORM_ID16;
    case RECORD_KEY:
    case RECORD_PART:
        return FORM_PART;
    case RECORD_OWN:
        return FORM_OWN;
    case RECORD_UINT:
    case RECORD_BOOL:
    case RECORD_WORD:
    case RECORD_BITS:
    case RECORD_MILLI:
    case RECORD_INT:
    case RECORD_MEMORY:
    case RECORD_MS:
    case RECORD_TIME:
        break;
    }
    return FORM_NUMBER;
}

const char *record_text(const struct record_field *field, const void *object)
{
    must(field->type == RECORD_TEXT);
    const char *text;
    memcpy(&text, member_of(field, object), sizeof text);
    return text != NULL ? text : "";
}

struct attempt_key record_key(const struct record_field *field, const void *object)
{
    must(field->type == RECORD_KEY);
    return *(const struct attempt_key *)member_of(field, object);
}

const void *record_list(const struct record_field *field, const void *object)
{
    must(field->count_offset != 0);
    const void *list;
    memcpy(&list, member_of(field, object), sizeof list);
    return list;
}

uint32_t record_count(const struct record_field *field, const void *object)
{
    uint32_t count;
    memcpy(&count, (const char *)object + field->count_offset, sizeof count);
    return count;
}

/* The value of an unsigned member of any size. */
static uint64_t unsigned_of(const struct record_field *field, const void *object)
{
    const void *member = member_of(field, object);
    switch (field->size) {
    case 1:
        return *(const uint8_t *)member;
    case 2:
        return *(const uint16_t *)member;
    case 4:
        return *(const uint32_t *)member;
    default:
        must(field->size == sizeof(uint64_t));
        return *(const uint64_t *)member;
    }
}

static int64_t signed_of(const struct record_field *field, const void *object)
{
    const void *member = member_of(field, object);
    must(field->size == sizeof(int32_t) || field->size == sizeof(int64_t));
    return field->size == sizeof(int32_t) ? *(const int32_t *)member : *(const int64_t *)member;
}

/* Is the number kept, and written, without a sign? */
static bool is_unsigned(const struct record_field *field)
{
    return field->type == RECORD_UINT || field->type == RECORD_WORD || field->type == RECORD_BOOL ||
           field->type == RECORD_BITS ||
           (field->type == RECORD_MILLI && field->size == sizeof(uint32_t));
}

void record_set(const struct record_field *field, void *object, int64_t value)
{
    void *member = member_edit(field, object);
    switch (field->size) {
    case 1:
        *(uint8_t *)member = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)member = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)member = (uint32_t)value;
        break;
    default:
        must(field->size == sizeof(int64_t));
        *(int64_t *)member = value;
    }
}

#define IN(object, kind, member, most) RECORD_NUMBER(kind, object, member, #member, 0, most)
static const struct record_field key_fields[] = {
    IN(struct attempt_key, RECORD_UINT, task, RECORD_ANY),
    IN(struct attempt_key, RECORD_UINT, index, TASK_INSTANCES_MAX - 1),
    IN(struct attempt_key, RECORD_UINT, attempt, RECORD_ANY),
};
static const struct record_field amount_fields[] = {
    IN(struct named_amount, RECORD_TEXT, name, NAME_LEN_MAX),
    IN(struct named_amount, RECORD_MILLI, milli, AMOUNT_MILLI_MAX),
};
static const struct record_table key_table = RECORD_TABLE(struct attempt_key, key_fields);
static const struct record_table amount_table = RECORD_TABLE(struct named_amount, amount_fields);

/* The fields of the structs that a member consists of. */
static const struct record_table *part_of(const struct record_field *field)
{
    return field->type == RECORD_KEY       ? &key_table
           : field->type == RECORD_AMOUNTS ? &amount_table
                                           : field->part;
}

static void list_put(const struct record_field *field, const void *object, struct buf *out)
{
    const void *list = record_list(field, object);
    const uint32_t count = record_count(field, object);
    if (field->type == RECORD_TEXTS) {
        codec_put_texts(out, list, count);
    } else if (field->type == RECORD_LABELS) {
        codec_put_labels(out, list, count);
    } else {
        const struct record_table *part = part_of(field);
        bytes_put_u64(out, count);
        for (uint32_t i = 0; i < count; i++) {
            record_write(part, (const char *)list + (size_t)i * part->size, out);
        }
    }
}

void record_put_field(const struct record_field *field, const void *object, struct buf *out)
{
    if (is_unsigned(field)) { /* most fields */
        bytes_put_u64(out, unsigned_of(field, object));
        return;
    }
    switch (form_of(field)) {
    case FORM_NUMBER:
        bytes_put_i64(out, signed_of(field, object));
        break;
    case FORM_TEXT:
        bytes_put_text(out, record_text(field, object));
        break;
    case FORM_LIST:
        list_put(field, object, out);
        break;
    case FORM_ID16:
        codec_put_16(out, member_of(field, object));
        break;
    case FORM_PART:
        record_write(part_of(field), member_of(field, object), out);
        break;
    case FORM_OWN:
        field->put(object, out);
        break;
    }
}

bool record_bytes_most(const struct record_field *field, const void *object, size_t *ret)
{
    enum { NUMBER_BYTES_MAX = 10 }; /* the most bytes of a number, a length or a count */
    const enum byte_form form = form_of(field);
    size_t most = NUMBER_BYTES_MAX;
    if (form == FORM_TEXT) {
        most += strlen(record_text(field, object));
    } else if (form == FORM_LIST && record_count(field, object) > 0) {
        if (field->type != RECORD_TEXTS) {
            return false;
        }
        const char *const *texts = record_list(field, object);
        for (uint32_t i = 0; i < record_count(field, object); i++) {
            most += NUMBER_BYTES_MAX + strlen(texts[i]);
        }
    } else if (form != FORM_NUMBER && form != FORM_LIST) {
        return false;
    }
    *ret = most;
    return true;
}

uint64_t record_high(const struct record_field *field)
{
    const uint64_t room =
        field->size == sizeof(uint64_t) ? UINT64_MAX : ((uint64_t)1 << (field->size * 8)) - 1;
    return field->type == RECORD_BOOL  ? 1
           : field->high == RECORD_ANY ? room
                                       : (uint64_t)field->high;
}

static void unsigned_get(const struct record_field *field, const struct record_source *from,
                         void *object)
{
    /* RECORD_ANY becomes UINT64_MAX */
    uint64_t high = field->type == RECORD_BOOL ? 1 : (uint64_t)field->high;
    if (field->bound_at != 0 && from->bounds != NULL) {
        high = *(const uint64_t *)((const char *)from->bounds + field->bound_at - 1);
    }
    const uint64_t value = bytes_get_u64(from->in);
    const bool fits = field->size == sizeof value || value >> (field->size * 8) == 0;
    if (value > high || value < (uint64_t)field->low || !fits) {
        codec_bad(from->in);
        return;
    }
    record_set(field, object, (int64_t)value);
}

/* Reads a list of structs. */
static void *rows_get(const struct record_field *field, const struct record_source *from,
                      uint32_t *ret_count)
{
    const struct record_table *part = part_of(field);
    const uint32_t count = codec_get_count(from->in, (uint32_t)field->high);
    char *rows = arena_alloc(from->arena, (size_t)count * part->size);
    for (uint32_t i = 0; i < count; i++) {
        record_read(part, from, rows + (size_t)i * part->size);
    }
    *ret_count = count;
    return rows;
}

static void list_get(const struct record_field *field, const struct record_source *from,
                     void *object)
{
    const uint32_t most = (uint32_t)field->high;
    uint32_t count = 0;
    const void *list;
    if (field->type == RECORD_TEXTS) {
        list = codec_get_texts(from->in, from->arena, most, field->length_max, &count);
    } else if (field->type == RECORD_LABELS) {
        list = codec_get_labels(from->in, from->arena, most, &count);
    } else {
        list = rows_get(field, from, &count);
    }
    if (count < (uint32_t)field->low) {
        codec_bad(from->in);
    }
    memcpy(member_edit(field, object), &list, sizeof list);
    memcpy((char *)object + field->count_offset, &count, sizeof count);
}

static void text_get(const struct record_field *field, const struct record_source *from,
                     void *object)
{
    const char *text = bytes_get_text(from->in, from->arena, (size_t)field->high);
    if ((int64_t)strlen(text) < field->low) {
        codec_bad(from->in);
    }
    memcpy(member_edit(field, object), &text, sizeof text);
}

static void field_read(const struct record_field *field, const struct record_source *from,
                       void *object)
{
    switch (form_of(field)) {
    case FORM_NUMBER:
        if (is_unsigned(field)) {
            unsigned_get(field, from, object);
        } else {
            record_set(field, object, codec_get_range(from->in, field->low, field->high));
        }
        break;
    case FORM_TEXT:
        text_get(field, from, object);
        break;
    case FORM_LIST:
        list_get(field, from, object);
        break;
    case FORM_ID16:
        codec_get_16(from->in, member_edit(field, object));
        break;
    case FORM_PART:
        record_read(part_of(field), from, member_edit(field, object));
        break;
    case FORM_OWN:
        field->read != NULL ? field->read(from, object) : field->get(from->in, from->arena, object);
        break;
    }
}

void record_get_field(const struct record_field *field, struct bytes_reader *in,
                      struct arena *arena, void *object)
{
    field_read(field, RECORD_NOW(in, arena), object);
}

void record_read(const struct record_table *table, const struct record_source *from, void *object)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct record_field *field = &table->fields[i];
        if (field->since <= from->version) {
            field_read(field, from, object);
        } else if (field->before != 0) {
            record_set(field, object, field->before);
        }
    }
}

void record_write(const struct record_table *table, const void *object, struct buf *out)
{
    for (uint32_t i = 0; i < table->count; i++) {
        record_put_field(&table->fields[i], object, out);
    }
}

void record_copy_field(const struct record_field *field, void *to, const void *from)
{
    if (field->type == RECORD_OWN) {
        field->copy(to, from);
        return;
    }
    for (uint32_t i = 0; field->type == RECORD_PART && i < field->part->count; i++) {
        record_copy_field(&field->part->fields[i], member_edit(field, to), member_of(field, from));
    }
    memcpy(member_edit(field, to), member_of(field, from), field->size);
    if (field->count_offset != 0) {
        memcpy((char *)to + field->count_offset, (const char *)from + field->count_offset,
               sizeof(uint32_t));
    }
}

bool record_has_bounds(const struct record_field *field)
{
    const enum byte_form form = form_of(field);
    return form == FORM_NUMBER || form == FORM_TEXT || form == FORM_LIST;
}

int64_t record_value(const struct record_field *field, const void *object)
{
    if (is_unsigned(field)) { /* most fields */
        return (int64_t)unsigned_of(field, object);
    }
    must(record_has_bounds(field));
    if (field->type == RECORD_TEXT) {
        return (int64_t)strlen(record_text(field, object));
    }
    if (field->count_offset != 0) {
        return record_count(field, object);
    }
    return signed_of(field, object);
}

bool record_table_bounded(const struct record_table *table, const void *object,
                          const char **ret_limit, int64_t *ret_max)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct record_field *field = &table->fields[i];
        if (record_has_bounds(field) && !record_bounded(field, object, ret_limit, ret_max)) {
            return false;
        }
    }
    return true;
}

bool record_bounded(const struct record_field *field, const void *object, const char **ret_limit,
                    int64_t *ret_max)
{
    const int64_t value = record_value(field, object);
    if (value >= field->low && value <= field->high && field->type != RECORD_TEXTS) {
        return true; /* nearly always */
    }
    *ret_limit = field->name;
    *ret_max = value < field->low ? field->low : field->high;
    if (field->high == RECORD_ANY && is_unsigned(field)) {
        /* `value` is negative for numbers above INT64_MAX */
        return unsigned_of(field, object) >= (uint64_t)field->low;
    }
    if (value < field->low || (field->high != RECORD_ANY && value > field->high)) {
        return false;
    }
    if (field->type != RECORD_TEXTS) {
        return true;
    }
    const char *const *texts = record_list(field, object);
    *ret_max = field->length_max;
    for (uint32_t i = 0; i < record_count(field, object); i++) {
        if (strlen(texts[i]) > field->length_max) {
            return false;
        }
    }
    return true;
}
