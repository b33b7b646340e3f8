/* record_json.c - structs to and from JSON objects, by the tables of their fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/record_json.h"
#include "base/name.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/model/spec.h"
#include "wire/attempt_key.h"
#include "wire/part_json.h"

#include <string.h>

enum { ID_BYTES = 16 };

static void *member(const struct record_field *field, void *object)
{
    return (char *)object + field->offset;
}

static const void *member_of(const struct record_field *field, const void *object)
{
    return (const char *)object + field->offset;
}

/* ---- writing ---- */

static void id_put(struct json_out *j, const char *name, const uint8_t *id)
{
    char text[2 * ID_BYTES + 1];
    str_hex(text, id, ID_BYTES);
    json_out_kv_text(j, name, text);
}

static void key_put(struct json_out *j, const char *name, struct attempt_key key)
{
    char text[ATTEMPT_KEY_TEXT_MAX];
    json_out_key(j, name);
    json_out_str(j, (struct str){text, attempt_key_text(key, text)});
}

static void amounts_put(struct json_out *j, const struct record_field *field, const void *object)
{
    const struct named_amount *amounts = record_list(field, object);
    json_out_key(j, field->name);
    json_out_object(j);
    for (uint32_t i = 0; i < record_count(field, object); i++) {
        json_out_kv_milli(j, amounts[i].name, amounts[i].milli);
    }
    json_out_end(j);
}

static void part_put(struct json_out *j, const struct record_table *part, const void *object)
{
    json_out_object(j);
    record_json_put(j, part, object);
    json_out_end(j);
}

static void rows_put(struct json_out *j, const struct record_field *field, const void *object)
{
    const char *rows = record_list(field, object);
    json_out_key(j, field->name);
    json_out_array(j);
    for (uint32_t i = 0; i < record_count(field, object); i++) {
        part_put(j, field->part, rows + (size_t)i * field->part->size);
    }
    json_out_end(j);
}

static void value_put(struct json_out *j, const struct record_field *field, const void *object)
{
    const char *name = field->name;
    switch ((enum record_type)field->type) {
    case RECORD_UINT:
        json_out_kv_u64(j, name, (uint64_t)record_value(field, object));
        break;
    case RECORD_INT:
    case RECORD_MEMORY:
    case RECORD_MS:
        json_out_kv_i64(j, name, record_value(field, object));
        break;
    case RECORD_BOOL:
        json_out_kv_bool(j, name, record_value(field, object) != 0);
        break;
    case RECORD_MILLI:
        json_out_kv_milli(j, name, record_value(field, object));
        break;
    case RECORD_TIME:
        json_out_kv_time(j, name, record_value(field, object));
        break;
    case RECORD_WORD:
        json_out_kv_text(j, name, field->word((unsigned)record_value(field, object)));
        break;
    case RECORD_TEXT:
        json_out_kv_text(j, name, record_text(field, object));
        break;
    case RECORD_TEXTS:
        part_json_texts(j, name, record_list(field, object), record_count(field, object));
        break;
    case RECORD_LABELS:
        part_json_labels(j, name, record_list(field, object), record_count(field, object));
        break;
    case RECORD_AMOUNTS:
        amounts_put(j, field, object);
        break;
    case RECORD_ID16:
        id_put(j, name, member_of(field, object));
        break;
    case RECORD_KEY:
        key_put(j, name, record_key(field, object));
        break;
    case RECORD_BITS:
        part_json_devices(j, name, (uint64_t)record_value(field, object));
        break;
    case RECORD_PART:
        json_out_key(j, name);
        part_put(j, field->part, member_of(field, object));
        break;
    case RECORD_ROWS:
        rows_put(j, field, object);
        break;
    case RECORD_OWN:
        must(field->type != RECORD_OWN);
        break;
    }
}

static bool left_out(const struct record_field *field, const void *object)
{
    if (!field->sparse) {
        return false;
    }
    return field->type == RECORD_KEY ? record_key(field, object).task.v == 0
                                     : record_value(field, object) == field->otherwise;
}

void record_json_put_field(struct json_out *j, const struct record_field *field, const void *object)
{
    if (!left_out(field, object)) {
        const bool own = field->json != NULL && field->json->put != NULL;
        (own ? field->json->put : value_put)(j, field, object);
    }
}

void record_json_put(struct json_out *j, const struct record_table *table, const void *object)
{
    for (size_t i = 0; i < table->count; i++) {
        record_json_put_field(j, &table->fields[i], object);
    }
}

void record_json_encode(const struct record_table *table, const void *object, struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    record_json_put(&j, table, object);
    json_out_end(&j);
}

/* ---- reading ---- */

enum err record_json_parse(struct record_json *in, struct str text, struct arena *arena,
                           const struct doc **ret, struct error *e)
{
    struct doc *doc;
    *in = (struct record_json){.arena = arena, .error = e};
    enum err r = doc_json_parse(arena, text, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    *ret = doc;
    return doc->kind == DOC_MAP ? ERR_OK : fail(e, ERR_INVALID, "one JSON object is wanted");
}

void record_json_bad(struct record_json *in, const char *key, const char *wanted)
{
    if (!in->bad) {
        in->bad = true;
        (void)fail_at(in->error, ERR_INVALID, key, "%s: %s is wanted", key, wanted);
    }
}

/* Notes a value that is missing or below the least value of its row. */
static void too_little(struct record_json *in, const struct record_field *field, const char *wanted)
{
    record_json_bad(in, field->name, field->required != NULL ? field->required : wanted);
}

static bool number_of(const struct record_field *field, const struct doc *value, uint64_t *ret)
{
    bool yes;
    int64_t milli;
    if (field->type == RECORD_BOOL && doc_bool(value, &yes)) {
        *ret = yes;
        return true;
    }
    if (field->type == RECORD_MILLI && value->kind == DOC_NUMBER &&
        amount_milli(value->text, &milli, NULL) == ERR_OK) {
        *ret = (uint64_t)milli;
        return true;
    }
    return field->type != RECORD_BOOL && field->type != RECORD_MILLI && doc_u64(value, ret);
}

/* Reads numbers of 0 or more, amounts and booleans. */
static void number_get(struct record_json *in, const struct record_field *field,
                       const struct doc *value, void *object)
{
    const char *wanted = field->type == RECORD_BOOL    ? "true or false"
                         : field->type == RECORD_MILLI ? "an amount"
                                                       : "a whole number within its range";
    uint64_t number = (uint64_t)field->otherwise;
    must(field->low >= 0);
    if (value != NULL && (!number_of(field, value, &number) || number > record_high(field))) {
        record_json_bad(in, field->name, wanted);
    } else if (number < (uint64_t)field->low) {
        too_little(in, field, wanted);
    } else {
        record_set(field, object, (int64_t)number);
    }
}

/* Reads a text of at most `max` bytes. "": the text is missing, or the reading has failed. */
static struct str text_of(struct record_json *in, const char *key, const struct doc *value,
                          size_t max)
{
    if (value != NULL && (value->kind != DOC_STRING || value->text.len > max)) {
        record_json_bad(in, key, "a text within its length");
        value = NULL;
    }
    return value != NULL ? value->text : str_of("");
}

static void text_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    const struct str text = text_of(in, field->name, value, (size_t)field->high);
    if (text.len < (size_t)field->low) {
        too_little(in, field, "a text within its length");
    }
    memcpy(member(field, object), &text.p, sizeof text.p);
}

/* Reads a word. A missing or unknown word becomes `otherwise`, because the other side may be
 * newer. */
static void word_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    const struct str text = text_of(in, field->name, value, NAME_LEN_MAX);
    int64_t found = field->otherwise;
    for (int64_t i = 0; i <= field->high; i++) {
        found = str_is(text, field->word((unsigned)i)) ? i : found;
    }
    record_set(field, object, found);
}

const struct doc *record_json_list(struct record_json *in, const struct record_field *field,
                                   const struct doc *value, int64_t max)
{
    if (value != NULL && (value->kind != DOC_LIST || value->count > max)) {
        record_json_bad(in, field->name, "a list within its length");
        return NULL;
    }
    return value != NULL && value->count > 0 ? value : NULL;
}

static void list_set(const struct record_field *field, void *object, const void *list,
                     uint32_t count)
{
    memcpy(member(field, object), &list, sizeof list);
    memcpy((char *)object + field->count_offset, &count, sizeof count);
}

/* Reads a list and ends it with NULL, as execve() needs. */
static void texts_get(struct record_json *in, const struct record_field *field,
                      const struct doc *value, void *object)
{
    const struct doc *list = record_json_list(in, field, value, field->high);
    const char **texts = arena_new(in->arena, const char *, list != NULL ? list->count + 1 : 1);
    uint32_t count = 0;
    for (const struct doc *item = list != NULL ? list->first : NULL; item != NULL;
         item = item->next) {
        if (!doc_text(item, &texts[count++]) || item->text.len > field->length_max) {
            record_json_bad(in, field->name, "a list of texts");
        }
    }
    if (count < (uint32_t)field->low) {
        too_little(in, field, "a list within its length");
    }
    list_set(field, object, texts, count);
}

/* Reads labels and named amounts: a map whose keys are texts or names. */
static void map_get(struct record_json *in, const struct record_field *field,
                    const struct doc *value, void *object)
{
    const bool amounts = field->type == RECORD_AMOUNTS;
    if (value != NULL && (value->kind != DOC_MAP || value->count > (uint32_t)field->high)) {
        record_json_bad(in, field->name, "a map within its size");
        return;
    }
    const uint32_t most = value != NULL ? value->count : 0;
    struct named_amount *named = arena_new(in->arena, struct named_amount, amounts ? most : 0);
    struct label *labels = arena_new(in->arena, struct label, amounts ? 0 : most);
    const struct doc *item = most > 0 ? value->first : NULL;
    for (uint32_t i = 0; item != NULL; item = item->next, i++) {
        if (amounts) {
            named[i].name = item->key.p;
            if (name_check(item->key, "it", NULL) != ERR_OK || item->kind != DOC_NUMBER ||
                amount_milli(item->text, &named[i].milli, NULL) != ERR_OK) {
                record_json_bad(in, field->name, "a map of names and amounts");
            }
            continue;
        }
        labels[i].key = item->key.p;
        if (item->key.len == 0 || item->key.len > field->length_max ||
            !doc_text(item, &labels[i].value) || item->text.len > field->length_max) {
            record_json_bad(in, field->name, "a map of texts");
        }
    }
    list_set(field, object, amounts ? (const void *)named : labels, most);
}

static void id_get(struct record_json *in, const struct record_field *field,
                   const struct doc *value, void *object)
{
    if (!str_unhex(text_of(in, field->name, value, 2 * ID_BYTES), member(field, object),
                   ID_BYTES)) {
        record_json_bad(in, field->name, "32 hex digits");
    }
}

static void key_get(struct record_json *in, const struct record_field *field,
                    const struct doc *value, void *object)
{
    if (value != NULL &&
        (value->kind != DOC_STRING || !attempt_key_parse(value->text, member(field, object)))) {
        record_json_bad(in, field->name, "an attempt like 12.0:1");
    }
}

static void bits_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    const struct doc *list = record_json_list(in, field, value, NODE_DEVICES_MAX);
    uint64_t mask = 0;
    for (const struct doc *item = list != NULL ? list->first : NULL; item != NULL;
         item = item->next) {
        uint64_t device;
        if (!doc_u64(item, &device) || device >= NODE_DEVICES_MAX) {
            record_json_bad(in, field->name, "a list of device indices");
            return;
        }
        mask |= (uint64_t)1 << device;
    }
    record_set(field, object, (int64_t)mask);
}

static void part_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    if (field->required != NULL && value->kind != DOC_MAP) {
        record_json_bad(in, field->name, field->required);
    }
    record_json_get(in, field->part, value, member(field, object));
}

static void rows_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    const struct doc *list = record_json_list(in, field, value, field->high);
    const uint32_t count = list != NULL ? list->count : 0;
    char *rows = arena_alloc(in->arena, (size_t)count * field->part->size);
    const struct doc *item = list != NULL ? list->first : NULL;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        record_json_get(in, field->part, item, rows + (size_t)i * field->part->size);
    }
    list_set(field, object, rows, count);
}

void record_json_value(struct record_json *in, const struct record_field *field,
                       const struct doc *value, void *object)
{
    static void (*const readers[])(struct record_json *, const struct record_field *,
                                   const struct doc *, void *) = {
        [RECORD_UINT] = number_get,  [RECORD_INT] = number_get,    [RECORD_BOOL] = number_get,
        [RECORD_MILLI] = number_get, [RECORD_MEMORY] = number_get, [RECORD_MS] = number_get,
        [RECORD_WORD] = word_get,    [RECORD_TEXT] = text_get,     [RECORD_TEXTS] = texts_get,
        [RECORD_LABELS] = map_get,   [RECORD_AMOUNTS] = map_get,   [RECORD_ID16] = id_get,
        [RECORD_KEY] = key_get,      [RECORD_BITS] = bits_get,     [RECORD_PART] = part_get,
        [RECORD_ROWS] = rows_get,    [RECORD_OWN] = NULL,
    };
    must(readers[field->type] != NULL);
    readers[field->type](in, field, value, object);
}

void record_json_get(struct record_json *in, const struct record_table *table,
                     const struct doc *map, void *object)
{
    for (size_t i = 0; i < table->count && !in->bad; i++) {
        const struct record_field *field = &table->fields[i];
        const struct doc *value = doc_get(map, field->name);
        const bool own = field->json != NULL && field->json->get != NULL;
        if (value == NULL && field->required != NULL) {
            record_json_bad(in, field->name, field->required);
        } else {
            (own ? field->json->get : record_json_value)(in, field, value, object);
        }
    }
}

enum err record_json_decode(const struct record_table *table, struct str text, struct arena *arena,
                            void *ret, struct error *e)
{
    struct record_json in;
    const struct doc *doc;
    enum err r = record_json_parse(&in, text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    void *object = arena_alloc(arena, table->size);
    record_json_get(&in, table, doc, object);
    if (in.bad) {
        return ERR_INVALID;
    }
    memcpy(ret, object, table->size);
    return ERR_OK;
}

/* ---- forms ---- */

static void name_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    must(field->required != NULL);
    if (value->kind != DOC_STRING || name_check(value->text, "it", NULL) != ERR_OK) {
        record_json_bad(in, field->name, field->required);
        return;
    }
    text_get(in, field, value, object);
}

static void not_put(struct json_out *j, const struct record_field *field, const void *object)
{
    json_out_kv_bool(j, field->name, record_value(field, object) == 0);
}

static void not_get(struct record_json *in, const struct record_field *field,
                    const struct doc *value, void *object)
{
    record_json_value(in, field, value, object);
    if (value != NULL) {
        record_set(field, object, record_value(field, object) == 0);
    }
}

static void nothing_put(struct json_out *j, const struct record_field *field, const void *object)
{
    (void)j, (void)field, (void)object;
}

static void nothing_get(struct record_json *in, const struct record_field *field,
                        const struct doc *value, void *object)
{
    (void)in, (void)field, (void)value, (void)object;
}

const struct record_json_form record_json_unread = {.get = nothing_get};
const struct record_json_form record_json_unwritten = {.put = nothing_put};
const struct record_json_form record_json_name = {.get = name_get};
const struct record_json_form record_json_not = {.put = not_put, .get = not_get};
