/* qarnot_jobs.c - the SDK's jobs: groups of tasks that share a pool and end together.
 *
 * Surprising: a job is a staged task of Weir that is never started. So it has a number, a name, the job's settings as its annotation, and
 * an end, without a table of its own. The tasks of the job carry a tag of Weir with the job's UUID.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "base/time_text.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"
#include "spec/task_file.h"
#include "wire/task_json.h"

#define JOB_TAG "qarnot-job"

enum { SPEC_BYTES_MAX = 128 * 1024, JOB_TASKS_MAX = 10000 };

const char *qarnot_jobs_tag(struct arena *arena, const char *uuid)
{
    return arena_fmt(arena, JOB_TAG ":%s", uuid);
}

const struct doc *qarnot_jobs_find(const struct core *core, const char *uuid, struct arena *arena)
{
    uint64_t id;
    struct task_spec spec;
    struct qarnot_extra extra;
    if (!qarnot_uuid_parse(core, QARNOT_JOB, uuid, &id)) {
        return NULL;
    }
    const struct task *task = query_task(core, (task_id){id});
    if (task == NULL || task->state != TASK_STAGED || task->kill_asked) {
        return NULL;
    }
    query_task_spec(core, task->id, arena, &spec);
    const struct doc *kept = qarnot_fields_kept(arena, spec.annotation);
    qarnot_extra_read(kept, &extra);
    return extra.job ? kept : NULL;
}

/* The job that the path names. False: the call was answered with 404. */
static bool job_of(struct call *call, task_id *ret)
{
    const struct core *core = call_core(call);
    if (qarnot_uuid_parse(core, QARNOT_JOB, call->params[0], &ret->v) && ret->v > 0 &&
        ret->v <= query_task_last(core).v) {
        return true;
    }
    call_failf(call, ERR_NOT_FOUND, "", "no job %.60s", call->params[0]);
    return false;
}

static struct task_filter members_of(struct call *call, task_id id)
{
    char uuid[QARNOT_UUID_MAX];
    qarnot_uuid(call_core(call), QARNOT_JOB, id.v, uuid);
    return (struct task_filter){.tag = qarnot_jobs_tag(call_arena(call), uuid)};
}

/* Does a task of the job wait or run? Looks at all live tasks. */
static bool any_lives(struct call *call, task_id id)
{
    const struct core *core = call_core(call);
    const struct task_filter filter = members_of(call, id);
    struct arena texts;
    bool any = false;
    arena_init(&texts);
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL && !any;
         task = query_task_next(core, task->id)) {
        arena_clear(&texts);
        any = task_filter_matches(&filter, core, task, &texts);
    }
    arena_done(&texts);
    return any;
}

/* ---- create ---- */

static enum err job_check(const struct core *core, const struct doc *body, const char **ret_pool,
                          struct error *e)
{
    const char *uuid = "";
    *ret_pool = NULL;
    enum err r = qarnot_fields_check(body, false, e);
    if (r == ERR_OK && qarnot_fields_given(body, "maxWallTime")) {
        return fail_at(e, ERR_INVALID, "maxWallTime",
                       "Weir limits the time of a task, not that of a job");
    }
    if (r != ERR_OK || !doc_text(doc_get(body, "poolUuid"), &uuid)) {
        return r;
    }
    const struct pool *pool = qarnot_pools_find(core, uuid);
    if (pool == NULL || pool->life.phase != PHASE_OPEN) {
        return fail_at(e, ERR_INVALID, "poolUuid",
                       pool == NULL ? "no pool %.60s" : "the pool %.60s is closed", uuid);
    }
    *ret_pool = query_pool_name(core, pool->id);
    return ERR_OK;
}

/* The staged task that stands for the job. */
static enum err job_spec(const struct core *core, const struct doc *body, struct arena *arena,
                         struct task_spec *ret, struct error *e)
{
    struct buf out;
    struct json_out j;
    struct doc *doc;
    const char *pool;
    const char *annotation;
    const char *name = "";
    enum err r = job_check(core, body, &pool, e);
    r = r == ERR_OK ? qarnot_fields_keep(body, &(struct qarnot_extra){.job = true, .words = ""},
                                         arena, &annotation, e)
                    : r;
    if (r != ERR_OK) {
        return r;
    }
    (void)doc_text(doc_get(body, "name"), &name);
    buf_init(&out, SPEC_BYTES_MAX);
    json_out_init(&j, &out);
    json_out_put(&j, "{name:%s,description:%s,stage:%i,command:[%s],tags:[%s],annotation:%s", name,
                 "A job of Qarnot's SDK: a group of tasks. It is never started itself.", true,
                 "/bin/true", JOB_TAG, annotation);
    if (pool != NULL) {
        json_out_put(&j, "pools:[%s]", pool);
    }
    json_out_end(&j);
    r = doc_json_parse(arena, str_of(arena_strn(arena, buf_text(&out), out.len)), &doc, e);
    buf_done(&out);
    return r == ERR_OK ? task_file_spec_read(doc, arena, ret, e) : r;
}

void qarnot_jobs_create(struct call *call)
{
    const struct doc *body;
    struct qarnot_created created;
    struct task_spec spec;
    struct error e;
    if (!body_read(call, &body)) {
        return;
    }
    if (job_spec(call_core(call), body, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    qarnot_tasks_submit(call, &spec, &created);
    qarnot_tasks_created_answer(call, QARNOT_JOB, &created);
}

/* ---- show ---- */

static void job_write(struct call *call, struct json_out *j, const struct doc *task,
                      const struct doc *kept)
{
    static const char *const computed[] = {
        "uuid",         "shortname", "name",        "state",           "creationDate",
        "lastModified", "poolUuid",  "maxWallTime", "useDependencies", NULL};
    char uuid[QARNOT_UUID_MAX];
    const char *pool = NULL;
    const char *shortname = uuid;
    uint64_t id = 0;
    bool depends = false;
    (void)doc_u64(doc_get(task, "id"), &id);
    (void)doc_text(doc_get(kept, "poolUuid"), &pool);
    (void)doc_text(doc_get(kept, "shortname"), &shortname);
    (void)doc_bool(doc_get(kept, "useDependencies"), &depends);
    qarnot_uuid(call_core(call), QARNOT_JOB, id, uuid);
    const bool active = strcmp(qarnot_buckets_text(task, "state"), "staged") == 0;
    const char *began = qarnot_buckets_text(task, "submitted_at");
    const char *ended = qarnot_buckets_text(task, "ended_at");
    json_out_object(j);
    json_out_put(j, "uuid:%s,shortname:%s,name:%s,state:%s,creationDate:%s,lastModified:%s", uuid,
                 shortname, qarnot_buckets_text(task, "name"),
                 active                           ? "Active"
                 : any_lives(call, (task_id){id}) ? "Terminating"
                                                  : "Completed",
                 began, *ended != '\0' ? ended : began);
    json_out_kv_text(j, "poolUuid", pool);
    json_out_kv_text(j, "maxWallTime", NULL);
    json_out_kv_bool(j, "useDependencies", depends);
    qarnot_fields_echo(j, kept, computed);
    json_out_end(j);
}

/* Writes the job. False: the task stands for no job, or the job was deleted. */
static bool job_row(struct call *call, struct json_out *j, struct str json)
{
    struct error e;
    struct doc *task;
    struct arena arena;
    struct qarnot_extra extra;
    arena_init(&arena);
    bool well = doc_json_parse(&arena, json, &task, &e) == ERR_OK && !qarnot_tasks_deleted(task);
    if (well) {
        const struct doc *kept =
            qarnot_fields_kept(&arena, qarnot_buckets_text(task, "annotation"));
        qarnot_extra_read(kept, &extra);
        well = extra.job && qarnot_fields_filter_matches(call->data, doc_get(kept, "tags"));
        if (well) {
            job_write(call, j, task, kept);
        }
    }
    arena_done(&arena);
    return well;
}

static void job_answer(struct call *call, task_id id, struct str json)
{
    struct json_out j;
    (void)id;
    call_json(call, &j);
    call->data = NULL;
    if (job_row(call, &j, json)) {
        call_answer_json(call, 200);
    } else {
        call_failf(call, ERR_NOT_FOUND, "", "no job %.60s", call->params[0]);
    }
}

void qarnot_jobs_show(struct call *call)
{
    task_id id;
    if (job_of(call, &id)) {
        qarnot_tasks_read(call, id, job_answer);
    }
}

void qarnot_jobs_list(struct call *call)
{
    static const struct task_list_form form = {.parts = TASK_JSON_NO_ENV,
                                               .begin = qarnot_tasks_page_begin,
                                               .row = job_row,
                                               .end = qarnot_tasks_page_end};
    qarnot_tasks_page(call, &(struct task_filter){.tag = JOB_TAG}, &form);
}

static void tasks_begin(struct json_out *j)
{
    json_out_array(j);
}

/* The SDK reads no pages here: tasks beyond the first ones are left out. */
static void tasks_end(struct json_out *j, uint64_t next)
{
    (void)next;
    json_out_end(j);
}

void qarnot_jobs_tasks(struct call *call)
{
    static const struct task_list_form form = {.parts = TASK_JSON_ATTEMPTS | TASK_JSON_NO_ENV,
                                               .begin = tasks_begin,
                                               .row = qarnot_tasks_row,
                                               .end = tasks_end};
    const struct page page = {.arena = call_arena(call), .limit = JOB_TASKS_MAX};
    task_id id;
    if (job_of(call, &id)) {
        const struct task_filter filter = members_of(call, id);
        task_list_ask(call, &filter, &page, &form, NULL);
    }
}

/* ---- end ---- */

static void empty_answer(struct call *call)
{
    buf_clear(&call->out);
    call_answer(call, 200, NULL);
}

/* Ends the job: its tasks are cancelled, and it takes no more. */
void qarnot_jobs_terminate(struct call *call)
{
    task_id id;
    struct facts facts;
    if (!job_of(call, &id)) {
        return;
    }
    const struct task_filter filter = members_of(call, id);
    qarnot_tasks_kill(call, &filter);
    struct input in = {.type = INPUT_TASK_KILL, .task = {.task = id}};
    if (query_task(call_core(call), id) == NULL || call_input(call, &in, &facts)) {
        empty_answer(call);
    }
}

/* The SDK writes the switch as Python does: True. */
void qarnot_jobs_delete(struct call *call)
{
    task_id id;
    const char *force = call_query(call, "force");
    if (!job_of(call, &id)) {
        return;
    }
    if (any_lives(call, id)) {
        if (force == NULL || strcasecmp(force, "true") != 0) {
            call_failf(call, ERR_DENIED, "", "the job still contains running tasks");
            return;
        }
        const struct task_filter filter = members_of(call, id);
        qarnot_tasks_kill(call, &filter);
    }
    qarnot_tasks_remove(call, id);
}
