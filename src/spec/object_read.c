/* object_read.c - reads the fields that tables of object.h describe, by kind of value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "base/must.h"
#include "spec/object_read.h"
#include "spec/fields.h"
#include "spec/resources_text.h"

#include <stdio.h>
#include <string.h>

const char *object_read_words(const struct record_field *record, char text[OBJECT_READ_WORDS_MAX])
{
    size_t used = 0;
    text[0] = '\0';
    for (int64_t value = 0; value <= record->high && used < OBJECT_READ_WORDS_MAX; value++) {
        const char *between = value == 0 ? "" : value == record->high ? " or " : ", ";
        int len = snprintf(text + used, OBJECT_READ_WORDS_MAX - used, "%s%s", between,
                           record->word((unsigned)value));
        must(len >= 0);
        used += (size_t)len;
    }
    return text;
}

/* Reads one of the field's words. A field with the words on and off also accepts true and false. */
static void word_read(const struct doc_value *v, const struct record_field *record, void *object)
{
    char words[OBJECT_READ_WORDS_MAX];
    const bool on_first = strcmp(record->word(0), "on") == 0;
    const bool off_first = strcmp(record->word(0), "off") == 0;
    if ((on_first || off_first) && v->doc->kind == DOC_BOOL) {
        record_set(record, object, v->doc->yes == off_first);
        return;
    }
    if (v->doc->kind != DOC_STRING) {
        fields_wanted(v, object_read_words(record, words));
        return;
    }
    for (int64_t value = 0; value <= record->high; value++) {
        if (str_is(v->doc->text, record->word((unsigned)value))) {
            record_set(record, object, value);
            return;
        }
    }
    fields_problem(v, "%s is wanted, not '%.40s'", object_read_words(record, words),
                   v->doc->text.p);
}

/* Reads a duration, or a word of the row that stands for a negative number. */
static void duration_read(const struct doc_value *v, const struct object_field *row, void *object)
{
    int64_t ms;
    if ((v->doc->kind == DOC_STRING && object_word_find(row, v->doc->text, &ms)) ||
        fields_value_duration(v, &ms)) {
        record_set(&row->record, object, ms);
    }
}

/* Reads a text; where the row names what the text is called after, the text must be a name. */
static void text_read(const struct doc_value *v, const struct object_field *row, void *object)
{
    const struct record_field *record = &row->record;
    const struct field field = {
        .offset = record->offset, .min = record->low, .max = record->high, .note = row->what};
    struct doc_value text = *v;
    text.field = &field;
    if (row->words != NULL) {
        fields_lines(&text, object);
        return;
    }
    if (record->low == 0 && row->otherwise_text == NULL && v->doc->kind == DOC_STRING &&
        v->doc->text.len == 0) {
        fields_text(&text, object); /* a name that may be left out may be empty */
        return;
    }
    (row->what != NULL ? fields_name : fields_text)(&text, object);
}

static void list_set(const struct record_field *record, void *object, const void *list,
                     uint32_t count)
{
    memcpy((char *)object + record->offset, &list, sizeof list);
    memcpy((char *)object + record->count_offset, &count, sizeof count);
}

/* Reads a list of names where the row says what they name, else a list of texts that are not
 * empty. */
static void texts_read(const struct doc_value *v, const struct object_field *row, void *object)
{
    const bool named = row->what != NULL;
    if (!fields_bounded(v, DOC_LIST, row->record.high, named ? "names" : "texts", "")) {
        return;
    }
    const char **texts = arena_new(v->in->arena, const char *, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        const char **text = &texts[item.index];
        if (!(named ? fields_value_name(&item, row->what, text)
                    : fields_value_text(&item, row->record.length_max, text))) {
            return;
        }
        if ((*text)[0] == '\0') {
            fields_problem(&item, "it is empty");
            return;
        }
    }
    list_set(&row->record, object, texts, v->doc->count);
}

bool object_read_labels(const struct doc_value *v, uint32_t max, bool removable,
                        const struct label **ret, uint32_t *ret_count)
{
    if (!fields_bounded(v, DOC_MAP, max, "labels", removable ? "" : ", like {gpu.model: A100}")) {
        return false;
    }
    struct label *labels = arena_new(v->in->arena, struct label, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        struct label *label = &labels[item.index];
        struct error e;
        label->key = item.key;
        if (!(removable && item.doc->kind == DOC_NULL) &&
            !fields_value_text(&item, TEXT_LEN_MAX, &label->value)) {
            return false;
        }
        if (!fields_ok(&item, resources_text_label_check(item.doc->key, str_of(label->value), &e),
                       &e)) {
            return false;
        }
        v->in->text_bytes += item.doc->key.len + 1;
    }
    *ret = labels;
    *ret_count = v->doc->count;
    return true;
}

static void labels_read(const struct doc_value *v, const struct record_field *record, void *object)
{
    const struct label *labels;
    uint32_t count;
    if (object_read_labels(v, (uint32_t)record->high, false, &labels, &count)) {
        list_set(record, object, labels, count);
    }
}

static void number_read(const struct doc_value *v, const struct record_field *record, void *object)
{
    uint64_t value;
    if (fields_value_u64(v, (uint64_t)record->low, (uint64_t)record->high, &value)) {
        record_set(record, object, (int64_t)value);
    }
}

/* A part in percent, with or without its sign: 2 or 2%. */
static bool percent_read(const struct doc_value *v, int64_t *ret)
{
    struct doc plain = *v->doc;
    struct doc_value at = *v;
    if (plain.kind == DOC_STRING && plain.text.len > 1 && plain.text.p[plain.text.len - 1] == '%') {
        plain.text.len--;
    }
    at.doc = &plain;
    return fields_value_amount(&at, amount_milli, "a number", ret);
}

/* Reads a number. A row with a word stores 0 for the word, and its numbers must be above 0. */
static void amount_read(const struct doc_value *v, const struct object_field *row, void *object)
{
    const struct record_field *record = &row->record;
    int64_t milli;
    if (row->words != NULL && v->doc->kind == DOC_STRING && str_is(v->doc->text, row->words)) {
        record_set(record, object, 0);
        return;
    }
    const bool percent = row->what != NULL && row->what[0] == '%';
    if (percent ? !percent_read(v, &milli)
                : !fields_value_amount(v, amount_milli, "a number", &milli)) {
        return;
    }
    if (row->words != NULL && milli == 0) {
        fields_problem(v, "a number above 0 or '%s' is wanted, not 0", row->words);
    } else if (milli > record->high) {
        fields_problem(v, "it is at most %d", (int)(record->high / 1000));
    } else {
        record_set(record, object, milli);
    }
}

void object_read_field(const struct doc_value *v, void *object)
{
    const struct object_field *row = v->field->row;
    void *at = (char *)object + v->field->offset;
    switch ((enum record_type)row->record.type) {
    case RECORD_TEXT:
        text_read(v, row, at);
        break;
    case RECORD_WORD:
        word_read(v, &row->record, at);
        break;
    case RECORD_UINT:
        number_read(v, &row->record, at);
        break;
    case RECORD_MILLI:
        amount_read(v, row, at);
        break;
    case RECORD_BOOL:
        (void)fields_value_bool(v, (bool *)((char *)at + row->record.offset));
        break;
    case RECORD_MS:
        duration_read(v, row, at);
        break;
    case RECORD_MEMORY:
        (void)fields_value_amount(v, amount_bytes, "a size like 64Gi or a number of bytes",
                                  (int64_t *)(void *)((char *)at + row->record.offset));
        break;
    case RECORD_TEXTS:
        texts_read(v, row, at);
        break;
    case RECORD_LABELS:
        labels_read(v, &row->record, at);
        break;
    case RECORD_INT:
    case RECORD_BITS:
    case RECORD_PART:
    case RECORD_ROWS:
    case RECORD_TIME:
    case RECORD_AMOUNTS:
    case RECORD_ID16:
    case RECORD_KEY:
    case RECORD_OWN:
        must(false); /* a field of such a type has a reader of its own */
    }
}

void object_read_guests(const struct doc_value *v, const char *const **ret_names,
                        uint32_t *ret_count)
{
    if (!fields_bounded(v, DOC_LIST, POOL_GUESTS_MAX, "projects and departments", ", like [nlp]")) {
        return;
    }
    const char **guests = arena_new(v->in->arena, const char *, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        if (!fields_value_text(&item, GUEST_LEN_MAX, &guests[item.index])) {
            return;
        }
    }
    *ret_names = guests;
    *ret_count = v->doc->count;
}
