/* task_fallback.c - when the next pool of a task opens: `fallback: {after: 5m, on: [no-capacity, lost]}`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/fallback.h"
#include "spec/task_internal.h"

static void after_read(const struct doc_value *v, void *object)
{
    struct task_spec *spec = object;
    int64_t ms;
    if (!fields_value_duration(v, &ms)) {
        return;
    }
    if (ms == 0) {
        fields_problem(v, "it must be longer than 0; without `after` time opens no pool");
        return;
    }
    spec->fallback_after_ms = ms;
}

static void condition_read(const struct doc_value *v, struct task_spec *spec)
{
    const bool word = v->doc->kind == DOC_STRING;
    if (word && str_is(v->doc->text, "no-capacity")) {
        spec->fallback_on |= FALLBACK_ON_NO_CAPACITY;
    } else if (word && str_is(v->doc->text, "lost")) {
        spec->fallback_on |= FALLBACK_ON_LOST;
    } else {
        fields_problem(v, "no-capacity or lost is wanted, not %s%.60s%s", word ? "'" : "",
                       word ? v->doc->text.p : fields_what(v->doc), word ? "'" : "");
    }
}

static void on_read(const struct doc_value *v, void *object)
{
    if (v->doc->kind != DOC_LIST) {
        condition_read(v, object);
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        condition_read(&item, object);
    }
}

static const struct field fallback_fields[] = {
    {.name = "after", .read = after_read},
    {.name = "on", .read = on_read},
    {0},
};

void task_fallback_read(const struct doc_value *v, void *object)
{
    struct task_spec *spec = &((struct task_draft *)object)->spec;
    if (fields_read(v, fallback_fields, spec) && spec->fallback_after_ms == 0 &&
        spec->fallback_on == 0) {
        fields_problem(v, "it names no condition, like {after: 5m} or {on: [no-capacity, lost]}");
    }
}
