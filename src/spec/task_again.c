/* task_again.c - from a task object back to what was submitted. The object is turned into a
 * submission, so that there is one reader of tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/task_again.h"

#include "base/amount.h"
#include "spec/task_file.h"

#include <inttypes.h>

static void child_add(struct doc *map, struct arena *arena, const char *key,
                      const struct doc *value)
{
    struct doc *child = arena_dup(arena, value, sizeof *value);
    child->key = str_of(key);
    child->next = map->first;
    map->first = child;
    map->count++;
}

/* Milliseconds as a duration. */
static void duration_add(struct doc *map, struct arena *arena, const char *key,
                         const struct doc *ms_doc)
{
    int64_t ms;
    if (!doc_i64(ms_doc, &ms)) {
        return;
    }
    char text[AMOUNT_TEXT_MAX];
    amount_milli_text(ms, text);
    struct doc value = {.kind = DOC_NUMBER, .text = str_of(arena_str(arena, text))};
    child_add(map, arena, key, &value);
}

static void stale_grace_add(struct doc *map, struct arena *arena, const struct doc *ms_doc)
{
    int64_t ms;
    if (doc_i64(ms_doc, &ms) && ms == STALE_GRACE_NEVER) {
        struct doc value = {.kind = DOC_STRING, .quoted = true, .text = str_of("never")};
        child_add(map, arena, "stale_grace", &value);
        return;
    }
    duration_add(map, arena, "stale_grace", ms_doc);
}

static void instances_add(struct doc *map, struct arena *arena, const struct doc *task)
{
    const struct doc *instances = doc_get(task, "instances");
    uint64_t first = 0;
    uint64_t count = 0;
    bool array = doc_u64(doc_get(task, "array_first"), &first) && first > 0;
    if (!array || !doc_u64(instances, &count)) {
        child_add(map, arena, "instances", instances);
        return;
    }
    const char *range = arena_fmt(arena, "%" PRIu64 "-%" PRIu64, first, first + count - 1);
    struct doc value = {.kind = DOC_STRING, .quoted = true, .text = str_of(range)};
    child_add(map, arena, "array", &value);
}

enum err task_again_read(const struct doc *task, struct arena *arena, struct task_spec *ret,
                         struct error *e)
{
    static const char *const same[] = {
        "name",  "kind",        "project",    "pools",       "command",   "env",
        "image", "workdir",     "devices",    "resources",   "gang",      "priority",
        "tags",  "preemptible", "repeatable", "max_retries", "depends_on"};
    struct doc map = {.kind = DOC_MAP, .line = 1, .column = 1};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const struct doc *value = doc_get(task, same[i]);
        if (value == NULL) {
            return fail_at(e, ERR_CORRUPT, same[i], "the stored task has no '%s'", same[i]);
        }
        child_add(&map, arena, same[i], value);
    }
    static const char *const later[] = {"avoid", "node_labels"}; /* older ones have none */
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        const struct doc *value = doc_get(task, later[i]);
        if (value != NULL) {
            child_add(&map, arena, later[i], value);
        }
    }
    const struct doc *topology = doc_get(task, "topology"); /* older ones have none */
    if (topology != NULL) {
        child_add(&map, arena, "topology", topology);
    }
    const struct doc *groups = doc_get(task, "groups");
    const bool grouped = groups != NULL && groups->kind == DOC_LIST;
    if (grouped) {
        child_add(&map, arena, "groups", groups);
    }
    const struct doc *min_groups = doc_get(task, "min_groups"); /* older ones have none */
    if (grouped && min_groups != NULL) {
        child_add(&map, arena, "min_groups", min_groups);
    }
    bool gang = false;
    const struct doc *least = doc_get(task, "min_instances"); /* older ones have none */
    if (doc_bool(doc_get(task, "gang"), &gang) && gang && least != NULL && !grouped) {
        child_add(&map, arena, "min_instances", least);
    }
    if (doc_get(task, "instances") == NULL) {
        return fail_at(e, ERR_CORRUPT, "instances", "the stored task has no 'instances'");
    }
    if (!grouped) {
        instances_add(&map, arena, task);
    }
    duration_add(&map, arena, "time_limit", doc_get(task, "time_limit_ms"));
    duration_add(&map, arena, "grace", doc_get(task, "grace_ms"));
    stale_grace_add(&map, arena, doc_get(task, "stale_grace_ms")); /* older ones have neither */
    duration_add(&map, arena, "preemption_delay", doc_get(task, "preemption_delay_ms"));
    return task_file_spec_read(&map, arena, ret, e);
}
