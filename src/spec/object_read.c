/* object_read.c - reads the fields that tables of object.h describe, by kind of value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "base/must.h"
#include "spec/object_read.h"
#include "spec/fields.h"
#include "spec/resources_text.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_TEXT_MAX = 160 };

bool object_read_milli(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       int64_t *ret)
{
    struct error e;
    if (doc->kind != DOC_NUMBER && doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "a number is wanted, not %s", fields_what(doc));
        return false;
    }
    if (amount_milli(doc->text, ret, &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
        return false;
    }
    return true;
}

/* Lists the words of a field for a message: "experiment, command, shell or service". */
static const char *words_of(const struct record_field *record, char text[WORDS_TEXT_MAX])
{
    size_t used = 0;
    text[0] = '\0';
    for (int64_t value = 0; value <= record->high && used < WORDS_TEXT_MAX; value++) {
        const char *between = value == 0 ? "" : value == record->high ? " or " : ", ";
        int len = snprintf(text + used, WORDS_TEXT_MAX - used, "%s%s", between,
                           record->word((unsigned)value));
        must(len >= 0);
        used += (size_t)len;
    }
    return text;
}

/* Reads one of the field's words. A field with the words on and off also accepts true and false. */
static void word_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct record_field *record, void *object)
{
    char words[WORDS_TEXT_MAX];
    const bool is_switch = strcmp(record->word(0), "on") == 0;
    if (is_switch && doc->kind == DOC_BOOL) {
        record_set(record, object, !doc->yes);
        return;
    }
    if (doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "%s is wanted, not %s", words_of(record, words),
                       fields_what(doc));
        return;
    }
    for (int64_t value = 0; value <= record->high; value++) {
        if (str_is(doc->text, record->word((unsigned)value))) {
            record_set(record, object, value);
            return;
        }
    }
    fields_problem(in, place, doc, "%s is wanted, not '%.40s'", words_of(record, words),
                   doc->text.p);
}

/* Reads a duration, or one of the words that stand for -1 and -2. */
static void duration_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct object_field *row, void *object)
{
    struct str rest = str_of(row->words);
    int64_t ms = 0;
    while (doc->kind == DOC_STRING && rest.p != NULL) {
        ms--;
        if (str_equal(str_cut(rest, ' ', &rest), doc->text)) {
            record_set(&row->record, object, ms);
            return;
        }
    }
    if (fields_value_duration(in, place, doc, &ms)) {
        record_set(&row->record, object, ms);
    }
}

/* Reads a text; where the row names what the text is called after, the text must be a name. */
static void text_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct object_field *row, void *object)
{
    const struct record_field *record = &row->record;
    const struct field field = {
        .offset = record->offset, .min = record->low, .max = record->high, .note = row->what};
    (row->what != NULL ? fields_name : fields_text)(in, place, doc, &field, object);
}

/* Reads a list of names where the row says what they name, else a list of texts that are not
 * empty. */
static void texts_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct object_field *row, void *object)
{
    const struct record_field *record = &row->record;
    if (doc->kind != DOC_LIST || doc->count > record->high) {
        fields_problem(in, place, doc, "a list of at most %d %s is wanted, not %s",
                       (int)record->high, row->what != NULL ? "names" : "texts",
                       doc->kind == DOC_LIST ? "a longer one" : fields_what(doc));
        return;
    }
    const char **texts = arena_new(in->arena, const char *, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next, count++) {
        struct doc_place at = {.up = place, .index = count};
        if (row->what != NULL) {
            if (!fields_value_name(in, &at, item, row->what, &texts[count])) {
                return;
            }
        } else if (!fields_value_text(in, &at, item, record->length_max, &texts[count])) {
            return;
        } else if (texts[count][0] == '\0') {
            fields_problem(in, &at, item, "it is empty");
            return;
        }
    }
    memcpy((char *)object + record->offset, &texts, sizeof texts);
    memcpy((char *)object + record->count_offset, &count, sizeof count);
}

bool object_read_labels(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        uint32_t max, const struct label **ret, uint32_t *ret_count)
{
    if (doc->kind != DOC_MAP || doc->count > max) {
        fields_problem(in, place, doc,
                       "a map of at most %u labels is wanted, like {gpu.model: A100}, not %s", max,
                       doc->kind == DOC_MAP ? "a larger one" : fields_what(doc));
        return false;
    }
    struct label *labels = arena_new(in->arena, struct label, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next, count++) {
        struct doc_place at = {.up = place, .key = item->key.p};
        struct error e;
        labels[count].key = item->key.p;
        if (!fields_value_text(in, &at, item, TEXT_LEN_MAX, &labels[count].value)) {
            return false;
        }
        if (resources_text_label_check(item->key, str_of(labels[count].value), &e) != ERR_OK) {
            fields_problem(in, &at, item, "%s", e.text);
            return false;
        }
        in->text_bytes += item->key.len + 1;
    }
    *ret = labels;
    *ret_count = count;
    return true;
}

static void labels_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct record_field *record, void *object)
{
    const struct label *labels;
    uint32_t count;
    if (object_read_labels(in, place, doc, (uint32_t)record->high, &labels, &count)) {
        memcpy((char *)object + record->offset, &labels, sizeof labels);
        memcpy((char *)object + record->count_offset, &count, sizeof count);
    }
}

static void number_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct record_field *record, void *object)
{
    uint64_t value;
    if (fields_value_u64(in, place, doc, (uint64_t)record->low, (uint64_t)record->high, &value)) {
        record_set(record, object, (int64_t)value);
    }
}

/* Reads a number. A row with a word stores 0 for the word, and its numbers must be above 0. */
static void amount_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct object_field *row, void *object)
{
    const struct record_field *record = &row->record;
    int64_t milli;
    if (row->words != NULL && doc->kind == DOC_STRING && str_is(doc->text, row->words)) {
        record_set(record, object, 0);
        return;
    }
    if (!object_read_milli(in, place, doc, &milli)) {
        return;
    }
    if (row->words != NULL && milli == 0) {
        fields_problem(in, place, doc, "a number above 0 or '%s' is wanted, not 0", row->words);
    } else if (milli > record->high) {
        fields_problem(in, place, doc, "it is at most %d", (int)(record->high / 1000));
    } else {
        record_set(record, object, milli);
    }
}

void object_read_field(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    const struct record_field *record = &field->row->record;
    void *at = (char *)object + field->offset;
    switch ((enum record_type)record->type) {
    case RECORD_TEXT:
        text_read(in, place, doc, field->row, at);
        break;
    case RECORD_WORD:
        word_read(in, place, doc, record, at);
        break;
    case RECORD_UINT:
        number_read(in, place, doc, record, at);
        break;
    case RECORD_MILLI:
        amount_read(in, place, doc, field->row, at);
        break;
    case RECORD_BOOL:
        if (!doc_bool(doc, (bool *)((char *)at + record->offset))) {
            fields_problem(in, place, doc, "true or false is wanted, not %s", fields_what(doc));
        }
        break;
    case RECORD_MS:
        duration_read(in, place, doc, field->row, at);
        break;
    case RECORD_TEXTS:
        texts_read(in, place, doc, field->row, at);
        break;
    case RECORD_LABELS:
        labels_read(in, place, doc, record, at);
        break;
    case RECORD_INT:
    case RECORD_BITS:
    case RECORD_PART:
    case RECORD_ROWS:
    case RECORD_MEMORY:
    case RECORD_TIME:
    case RECORD_AMOUNTS:
    case RECORD_ID16:
    case RECORD_KEY:
    case RECORD_OWN:
        must(false); /* a field of such a type has a reader of its own */
    }
}
