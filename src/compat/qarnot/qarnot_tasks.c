/* qarnot_tasks.c - the SDK's tasks. A live task is written from the state, an ended one from the history; both as Weir's own JSON,
 * which qarnot_json.c puts into the SDK's words. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/history.h"
#include "api/http_status.h"
#include "api/task_list.h"
#include "api/task_state.h"
#include "base/doc_write.h"
#include "base/log.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"
#include "wire/error_json.h"
#include "wire/task_json.h"

#include <inttypes.h>

enum {
    BULK_MAX = 10000, /* tasks of one POST */
};

/* ---- one task ---- */

bool qarnot_tasks_deleted(const struct doc *task)
{
    const char *annotation = "";
    (void)doc_text(doc_get(task, "annotation"), &annotation);
    return strcmp(annotation, QARNOT_DELETED) == 0;
}

/* Answers with the task, given as the API has it. */
static void task_answer(struct call *call, task_id id, struct str json)
{
    struct error e;
    struct doc *doc;
    struct json_out j;
    struct arena arena;
    (void)id;
    arena_init(&arena);
    if (doc_json_parse(&arena, json, &doc, &e) != ERR_OK) { /* a task with very many attempts */
        call_fail(call, &e);
    } else if (qarnot_tasks_deleted(doc)) {
        call_failf(call, ERR_NOT_FOUND, "", "the task %.60s was deleted", call->params[0]);
    } else {
        call_json(call, &j);
        qarnot_json_task(&j, call_core(call), doc, &arena);
        call_answer_json(call, 200);
    }
    arena_done(&arena);
}

void qarnot_tasks_read(struct call *call, task_id id, history_fn then)
{
    struct buf out;
    struct json_out j;
    struct task_writer writer;
    const struct task *task = query_task(call_core(call), id);
    if (task == NULL) {
        history_read(call, id, then);
        return;
    }
    buf_init(&out, ANSWER_BYTES_MAX);
    json_out_init(&j, &out);
    task_json_writer_init(&writer, call_core(call), call_arena(call));
    task_json(&writer, &j, task, TASK_JSON_ATTEMPTS | TASK_JSON_NO_ENV);
    then(call, id, (struct str){buf_text(&out), out.len});
    buf_done(&out);
}

/* Did the SDK delete the task while it ran? */
static bool is_deleted(struct call *call, task_id id)
{
    struct task_spec spec;
    if (query_task(call_core(call), id) == NULL) {
        return false;
    }
    query_task_spec(call_core(call), id, call_arena(call), &spec);
    return strcmp(spec.annotation, QARNOT_DELETED) == 0;
}

bool qarnot_tasks_of(struct call *call, task_id *ret)
{
    const struct core *core = call_core(call);
    if (qarnot_uuid_parse(core, QARNOT_TASK, call->params[0], &ret->v) && ret->v > 0 &&
        ret->v <= query_task_last(core).v && !is_deleted(call, *ret)) {
        return true;
    }
    call_failf(call, ERR_NOT_FOUND, "", "no task %.60s", call->params[0]);
    return false;
}

void qarnot_tasks_show(struct call *call)
{
    task_id id;
    if (qarnot_tasks_of(call, &id)) {
        qarnot_tasks_read(call, id, task_answer);
    }
}

static void empty_answer(struct call *call)
{
    buf_clear(&call->out);
    call_answer(call, 200, NULL);
}

/* ---- create ---- */

static void refusal_text(struct call *call, const struct facts *facts, struct qarnot_created *ret)
{
    struct buf out;
    struct doc *doc;
    struct error e;
    buf_init(&out, ERROR_TEXT_MAX * 16);
    error_json_refusal(call_core(call), facts, false, call_arena(call), &out);
    const char *text = arena_str(call_arena(call), buf_text(&out));
    buf_done(&out);
    ret->message = "refused";
    if (doc_json_parse(call_arena(call), str_of(text), &doc, &e) == ERR_OK) {
        (void)doc_text(doc_get(doc_get(doc, "error"), "message"), &ret->message);
    }
}

void qarnot_tasks_submit(struct call *call, struct task_spec *spec, struct qarnot_created *ret)
{
    const struct api_host *host = call->api->o.host;
    struct facts facts;
    spec->user = call->name;
    const task_id id = {query_task_last(call_core(call)).v + 1};
    struct input in = {.type = INPUT_TASK_SUBMIT,
                       .actor = call->actor,
                       .cause = call->cause,
                       .submit = {.specs = spec, .count = 1}};
    *ret = (struct qarnot_created){.status = 200, .message = ""};
    fact_list_init(&facts, call_arena(call));
    const enum verdict verdict = host->input(host->ctx, &in, &facts);
    if (verdict != VERDICT_OK) {
        ret->message = qarnot_fields_full(call_arena(call), &facts, "tasks");
        ret->status = ret->message != NULL ? http_status_of(ERR_DENIED)
                                           : http_status_of_refusal(verdict, &facts.refusal);
        if (ret->message == NULL) {
            refusal_text(call, &facts, ret);
        }
        return;
    }
    call->api->submitted++;
    ret->id = id;
}

static void create_one(struct call *call, const struct doc *body, struct qarnot_created *ret)
{
    struct task_spec spec;
    struct error e;
    if (qarnot_spec_task(call_core(call), body, qarnot_buckets_on(call), call_arena(call), &spec,
                         &e) == ERR_OK) {
        qarnot_tasks_submit(call, &spec, ret);
        return;
    }
    *ret = (struct qarnot_created){
        .status = http_status_of(e.code),
        .message = qarnot_fields_words(call_arena(call), e.path, e.text),
    };
}

/* The SDK wants an answer for each task, in order, and status 200 for the whole. */
static void create_many(struct call *call, const struct doc *list)
{
    struct json_out j;
    struct buf out;
    buf_init(&out, ANSWER_BYTES_MAX);
    json_out_init(&j, &out);
    json_out_array(&j);
    for (const struct doc *d = list->first; d != NULL; d = d->next) {
        struct qarnot_created created;
        char uuid[QARNOT_UUID_MAX] = "";
        create_one(call, d, &created);
        if (created.id.v != 0) {
            qarnot_uuid(call_core(call), QARNOT_TASK, created.id.v, uuid);
        }
        json_out_put(&j, "{statusCode:%u,uuid:%s,message:%s}",
                     created.status == 404 ? 400 : created.status, uuid, created.message);
    }
    json_out_end(&j);
    buf_done(&call->out);
    call->out = out;
    call_answer_json(call, 200);
}

void qarnot_tasks_created_answer(struct call *call, enum qarnot_kind kind,
                                 const struct qarnot_created *created)
{
    char uuid[QARNOT_UUID_MAX];
    struct json_out j;
    call_json(call, &j);
    if (created->id.v == 0) {
        json_out_put(&j, "{error:{message:%s}}", created->message);
        call_answer_json(call, created->status);
        return;
    }
    qarnot_uuid(call_core(call), kind, created->id.v, uuid);
    json_out_put(&j, "{uuid:%s}", uuid);
    call_answer_json(call, 200);
}

void qarnot_tasks_create(struct call *call)
{
    const struct doc *body;
    struct qarnot_created created;
    if (!body_read(call, &body)) {
        return;
    }
    if (body->kind == DOC_LIST && body->count > BULK_MAX) {
        call_failf(call, ERR_LIMIT, "", "at most %d tasks can be submitted in one call", BULK_MAX);
        return;
    }
    if (body->kind == DOC_LIST) {
        create_many(call, body);
        return;
    }
    create_one(call, body, &created);
    qarnot_tasks_created_answer(call, QARNOT_TASK, &created);
}

/* ---- change ---- */

bool qarnot_tasks_there(struct call *call, struct str json)
{
    struct arena arena;
    struct doc *doc;
    struct error e;
    arena_init(&arena);
    const bool there =
        doc_json_parse(&arena, json, &doc, &e) != ERR_OK || !qarnot_tasks_deleted(doc);
    arena_done(&arena);
    if (!there) {
        call_failf(call, ERR_NOT_FOUND, "", "the task %.60s was deleted", call->params[0]);
    }
    return there;
}

/* An ended task stays as it is. */
static void ended_same(struct call *call, task_id id, struct str json)
{
    (void)id;
    if (qarnot_tasks_there(call, json)) {
        empty_answer(call);
    }
}

/* The nodes of a task that runs see the higher count, and fetch the resources again. */
void qarnot_tasks_refresh(struct call *call)
{
    task_id id;
    struct task_spec spec;
    struct qarnot_extra extra;
    if (!qarnot_tasks_of(call, &id)) {
        return;
    }
    if (query_task(call_core(call), id) == NULL) {
        history_read(call, id, ended_same);
        return;
    }
    query_task_spec(call_core(call), id, call_arena(call), &spec);
    const struct doc *kept = qarnot_fields_kept(call_arena(call), spec.annotation);
    qarnot_extra_read(kept, &extra);
    extra.refreshed++;
    if (!qarnot_buckets_in(kept) || qarnot_extra_put(call, id, &extra)) {
        empty_answer(call);
    }
}

/* The SDK aborts after every run() with a time limit, also where the task has succeeded. */
void qarnot_tasks_abort(struct call *call)
{
    task_id id;
    struct facts facts;
    if (!qarnot_tasks_of(call, &id)) {
        return;
    }
    struct input in = {.type = INPUT_TASK_KILL, .task = {.task = id}};
    if (query_task(call_core(call), id) == NULL) {
        history_read(call, id, ended_same);
    } else if (call_input(call, &in, &facts)) {
        empty_answer(call);
    }
}

/* Whether the task is in the history was read a moment ago. */
static void ended_delete(struct call *call, task_id id, struct str json)
{
    const struct api_host *host = call->api->o.host;
    struct error e;
    if (!qarnot_tasks_there(call, json)) {
        return;
    }
    if (host->writable(host->ctx, &e) != ERR_OK) {
        call_busy(call, 503, &e);
        return;
    }
    host->forget(host->ctx, id);
    empty_answer(call);
}

/* A live task ends first. Its annotation says that it was deleted, so it is not shown here any more. */
void qarnot_tasks_remove(struct call *call, task_id id)
{
    struct facts facts;
    struct task_spec change = {.annotation = QARNOT_DELETED};
    const struct task_edit edit = {.fields = TASK_EDIT_annotation, .spec = &change};
    if (query_task(call_core(call), id) == NULL) {
        history_read(call, id, ended_delete);
        return;
    }
    struct input mark = {.type = INPUT_TASK_EDIT, .task = {.task = id, .edit = &edit}};
    struct input kill = {.type = INPUT_TASK_KILL, .task = {.task = id}};
    if (call_input(call, &mark, &facts) && call_input(call, &kill, &facts)) {
        empty_answer(call);
    }
}

void qarnot_tasks_delete(struct call *call)
{
    task_id id;
    if (qarnot_tasks_of(call, &id)) {
        qarnot_tasks_remove(call, id);
    }
}

void qarnot_tasks_kill(struct call *call, const struct task_filter *filter)
{
    const struct api_host *host = call->api->o.host;
    struct facts facts;
    struct arena texts;
    arena_init(&texts);
    const struct task *task = query_task_next(call_core(call), (task_id){0});
    while (task != NULL) {
        const task_id id = task->id;
        arena_clear(&texts);
        if (!task->kill_asked && task_filter_matches(filter, call_core(call), task, &texts)) {
            struct input in = {.type = INPUT_TASK_KILL,
                               .actor = call->actor,
                               .cause = call->cause,
                               .task = {.task = id}};
            fact_list_init(&facts, call_arena(call));
            (void)host->input(host->ctx, &in, &facts); /* a task that ends by itself is as well */
        }
        task = query_task_next(call_core(call), id);
    }
    arena_done(&texts);
}

/* ---- the list ---- */

void qarnot_tasks_page_begin(struct json_out *j)
{
    json_out_put(j, "{data:[");
}

bool qarnot_tasks_row(struct call *call, struct json_out *j, struct str json)
{
    struct error e;
    struct doc *doc;
    struct arena arena;
    struct qarnot_extra extra;
    const char *annotation = "";
    arena_init(&arena);
    if (doc_json_parse(&arena, json, &doc, &e) != ERR_OK) {
        log_error("a task is left out of a list", kv_error(&e));
        arena_done(&arena);
        return false;
    }
    (void)doc_text(doc_get(doc, "annotation"), &annotation);
    const struct doc *kept = qarnot_fields_kept(&arena, annotation);
    qarnot_extra_read(kept, &extra);
    const bool wanted = !qarnot_tasks_deleted(doc) && !extra.job &&
                        qarnot_fields_filter_matches(call->data, doc_get(kept, "tags"));
    if (wanted) {
        qarnot_json_task(j, call_core(call), doc, &arena);
    }
    arena_done(&arena);
    return wanted;
}

void qarnot_tasks_page_end(struct json_out *j, uint64_t next)
{
    char token[32];
    (void)snprintf(token, sizeof token, "%" PRIu64, next);
    json_out_end(j);
    json_out_kv_text(j, "nextToken", next > 0 ? token : NULL);
    json_out_kv_bool(j, "isTruncated", next > 0);
    json_out_end(j);
}

void qarnot_tasks_page(struct call *call, const struct task_filter *filter,
                       const struct task_list_form *form)
{
    const struct doc *body;
    struct error e;
    struct page page = {.arena = call_arena(call)};
    if (!body_read(call, &body)) {
        return;
    }
    if (qarnot_fields_page(body, &page.after, &page.limit, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    task_list_ask(call, filter, &page, form, (void *)(uintptr_t)doc_get(body, "filter"));
}

void qarnot_tasks_list(struct call *call)
{
    static const struct task_list_form form = {.parts = TASK_JSON_ATTEMPTS | TASK_JSON_NO_ENV,
                                               .begin = qarnot_tasks_page_begin,
                                               .row = qarnot_tasks_row,
                                               .end = qarnot_tasks_page_end};
    qarnot_tasks_page(call, &(struct task_filter){0}, &form);
}
