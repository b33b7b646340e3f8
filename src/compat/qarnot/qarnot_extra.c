/* qarnot_extra.c - what Weir keeps of a task or pool beside the SDK's body: snapshots, and how far files were moved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/doc_write.h"
#include "base/time_text.h"
#include "compat/qarnot/qarnot_internal.h"

static uint64_t number_of(const struct doc *map, const char *key)
{
    uint64_t value = 0;
    (void)doc_u64(doc_get(map, key), &value);
    return value;
}

static int64_t time_of(const struct doc *map, const char *key)
{
    int64_t ms = 0;
    (void)time_text_parse(str_of(qarnot_buckets_text(map, key)), &ms);
    return ms;
}

static const struct doc *map_of(const struct doc *map, const char *key)
{
    const struct doc *value = doc_get(map, key);
    return value != NULL && value->kind == DOC_MAP ? value : NULL;
}

void qarnot_extra_read(const struct doc *kept, struct qarnot_extra *ret)
{
    static const struct doc empty = {.kind = DOC_MAP};
    const struct doc *extra = map_of(kept, QARNOT_EXTRA);
    *ret = (struct qarnot_extra){.words = ""};
    if (extra == NULL) {
        return;
    }
    (void)doc_bool(doc_get(extra, "job"), &ret->job);
    ret->refreshed = number_of(extra, "refreshed");
    ret->results = number_of(extra, "results");
    ret->periodic = map_of(extra, "periodic");
    ret->words = qarnot_buckets_text(extra, "words");
    ret->snapshot_last = number_of(extra, "last");
    const struct doc *list = doc_get(extra, "snapshots");
    const bool is_list = list != NULL && list->kind == DOC_LIST;
    for (const struct doc *d = is_list ? list->first : NULL;
         d != NULL && ret->snapshot_count < QARNOT_SNAPSHOTS_MAX; d = d->next) {
        if (d->kind == DOC_MAP) {
            const struct doc *config = map_of(d, "config");
            ret->snapshots[ret->snapshot_count++] =
                (struct qarnot_snapshot){.id = number_of(d, "id"),
                                         .asked_ms = time_of(d, "asked"),
                                         .seen_ms = time_of(d, "seen"),
                                         .config = config != NULL ? config : &empty,
                                         .waits = qarnot_buckets_text(d, "waits"),
                                         .bytes = number_of(d, "bytes"),
                                         .words = qarnot_buckets_text(d, "words")};
        }
    }
}

void qarnot_extra_write(struct json_out *j, const struct qarnot_extra *extra)
{
    json_out_key(j, QARNOT_EXTRA);
    json_out_put(j, "{refreshed:%lu,results:%lu,words:%s,last:%lu", extra->refreshed,
                 extra->results, extra->words, extra->snapshot_last);
    if (extra->job) {
        json_out_kv_bool(j, "job", true);
    }
    if (extra->periodic != NULL) {
        json_out_key(j, "periodic");
        doc_write(j, extra->periodic);
    }
    json_out_put(j, "snapshots:[");
    for (uint32_t i = 0; i < extra->snapshot_count; i++) {
        const struct qarnot_snapshot *s = &extra->snapshots[i];
        json_out_put(j, "{id:%lu,asked:%td,seen:%td,bytes:%lu,words:%s,waits:%s,config:", s->id,
                     s->asked_ms, s->seen_ms, s->bytes, s->words, s->waits);
        doc_write(j, s->config);
        json_out_end(j);
    }
    json_out_put(j, "]}");
}

bool qarnot_extra_put(struct call *call, task_id task, const struct qarnot_extra *extra)
{
    struct task_spec now;
    struct error e;
    struct facts facts;
    struct task_spec next = {0};
    const struct task_edit edit = {.fields = TASK_EDIT_annotation, .spec = &next};
    query_task_spec(call_core(call), task, call_arena(call), &now);
    if (strcmp(now.annotation, QARNOT_DELETED) == 0) {
        return true; /* nobody will ask */
    }
    const struct doc *kept = qarnot_fields_kept(call_arena(call), now.annotation);
    if (qarnot_fields_keep(kept, extra, call_arena(call), &next.annotation, &e) != ERR_OK) {
        call_fail(call, &e);
        return false;
    }
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = task, .edit = &edit}};
    return call_input(call, &in, &facts);
}
