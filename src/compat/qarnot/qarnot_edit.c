/* qarnot_edit.c - changes of a task that was submitted. The SDK sends the whole task again: what Weir can still change is taken from
 * it, and a change of what the task runs is refused. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "base/doc_make.h"
#include "base/doc_write.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"

static const char *const changeable[] = {"tags",
                                         "labels",
                                         "advancedResourceBuckets",
                                         "resourceBuckets",
                                         "resultBucket",
                                         "resultsWhitelist",
                                         "resultsBlacklist",
                                         "snapshotWhitelist",
                                         "snapshotBlacklist",
                                         "uploadResultsOnCancellation"};

/* A value as text; an empty list or map, null and a value that is not there are the same. */
static const char *value_text(const struct doc *map, const char *key, struct arena *arena)
{
    struct buf out;
    struct json_out j;
    if (!qarnot_fields_given(map, key)) {
        return "";
    }
    buf_init(&out, QARNOT_BODY_MAX);
    json_out_init(&j, &out);
    doc_write(&j, doc_get(map, key));
    const char *text = arena_strn(arena, buf_text(&out), out.len);
    buf_done(&out);
    return text;
}

/* Refuses a body that changes the constants, the number of instances or the ranges of a submitted
 * task. */
static enum err fixed_check(const struct doc *kept, const struct doc *body, struct arena *arena,
                            struct error *e)
{
    static const char *const fixed[] = {"constants", "instanceCount", "advancedRanges"};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (strcmp(value_text(kept, fixed[i], arena), value_text(body, fixed[i], arena)) != 0) {
            return fail_at(e, ERR_INVALID, fixed[i],
                           "a task that was submitted keeps its own; submit another task");
        }
    }
    return ERR_OK;
}

/* What was kept, with the values of the body where they can be changed. */
static const struct doc *merged(const struct doc *kept, const struct doc *body, struct arena *arena)
{
    struct doc *map = doc_make(arena, DOC_MAP, NULL);
    for (const struct doc *d = kept->first; d != NULL; d = d->next) {
        doc_make_put(arena, map, arena_strn(arena, d->key.p, d->key.len), d);
    }
    for (size_t i = 0; i < sizeof changeable / sizeof changeable[0]; i++) {
        doc_make_drop(map, changeable[i]);
        doc_make_put(arena, map, changeable[i], doc_get(body, changeable[i]));
    }
    return map;
}

static enum err change_read(struct call *call, const struct doc *kept, const struct doc *body,
                            const char **ret, struct error *e)
{
    struct qarnot_extra extra;
    struct arena *arena = call_arena(call);
    if (kept->count == 0) {
        return fail(e, ERR_INVALID, "this task was not made through this interface");
    }
    qarnot_extra_read(kept, &extra);
    enum err r = qarnot_fields_check(body, qarnot_buckets_on(call), e);
    r = r == ERR_OK ? fixed_check(kept, body, arena, e) : r;
    return r == ERR_OK ? qarnot_fields_keep(merged(kept, body, arena), &extra, arena, ret, e) : r;
}

static void ended_refuse(struct call *call, task_id id, struct str json)
{
    (void)id;
    if (qarnot_tasks_there(call, json)) {
        call_failf(call, ERR_DENIED, "", "the task has ended and cannot be changed");
    }
}

void qarnot_edit_task(struct call *call)
{
    task_id id;
    const struct doc *body;
    struct error e;
    struct facts facts;
    struct task_spec now;
    struct task_spec spec = {0};
    const struct task_edit edit = {.fields = TASK_EDIT_annotation, .spec = &spec};
    if (!qarnot_tasks_of(call, &id) || !body_read(call, &body)) {
        return;
    }
    if (query_task(call_core(call), id) == NULL) {
        history_read(call, id, ended_refuse);
        return;
    }
    query_task_spec(call_core(call), id, call_arena(call), &now);
    const struct doc *kept = qarnot_fields_kept(call_arena(call), now.annotation);
    if (change_read(call, kept, body, &spec.annotation, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = id, .edit = &edit}};
    if (call_input(call, &in, &facts)) {
        buf_clear(&call->out);
        call_answer(call, 200, NULL);
    }
}
