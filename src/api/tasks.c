/* tasks.c - submit, show and edit tasks, and the actions on a task: kill, start, pause, activate,
 * move, retry. SPDX-License-Identifier: Apache-2.0 */
#include "api/uploads.h"
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/history.h"
#include "api/preview.h"
#include "api/rollout.h"
#include "api/spread.h"
#include "api/task_state.h"
#include "io/http_request.h"
#include "spec/edit.h"
#include "spec/object_again.h"
#include "spec/task_file.h"
#include "wire/part_json.h"
#include "wire/task_json.h"

#include <sodium.h>

enum { KEY_LEN_MAX = 255 };

/* ---- POST /tasks ---- */

static bool key_valid(const char *key)
{
    size_t len = strlen(key);
    for (size_t i = 0; i < len; i++) {
        if (key[i] < 0x20 || key[i] > 0x7e) {
            return false;
        }
    }
    return len >= 1 && len <= KEY_LEN_MAX;
}

/* Equal keys of two users must differ: the hash takes in the user's name with its NUL. */
static void key_hash(const char *user, const char *key, uint8_t *ret)
{
    crypto_generichash_state state;
    must(crypto_generichash_init(&state, NULL, 0, 16) == 0);
    must(crypto_generichash_update(&state, (const unsigned char *)user, strlen(user) + 1) == 0);
    must(crypto_generichash_update(&state, (const unsigned char *)key, strlen(key)) == 0);
    must(crypto_generichash_final(&state, ret, 16) == 0);
}

static bool submission_key(struct call *call, struct submission *submission)
{
    const char *key = http_request_header(call->request, "Idempotency-Key");
    if (key == NULL) {
        return true;
    }
    if (!key_valid(key)) {
        call_failf(call, ERR_INVALID, "Idempotency-Key",
                   "Idempotency-Key must be 1 to %d printable characters", KEY_LEN_MAX);
        return false;
    }
    struct str body = http_request_body(call->request);
    submission->has_key = true;
    key_hash(call->name, key, submission->key);
    must(crypto_generichash(submission->body_hash, sizeof submission->body_hash,
                            (const unsigned char *)body.p, body.len, NULL, 0) == 0);
    return true;
}

static bool submission_read(struct call *call, struct submission *submission)
{
    struct error e;
    const struct doc *body;
    const struct task_spec *specs;
    struct arena *arena = call_arena(call);
    if (!body_read(call, &body)) {
        return false;
    }
    if (task_file_specs_read(body, arena, &specs, &submission->count, &e) != ERR_OK) {
        call_fail(call, &e);
        return false;
    }
    struct task_spec *own = arena_dup(arena, specs, sizeof *specs * submission->count);
    for (uint32_t i = 0; i < submission->count; i++) {
        own[i].user = call->name;
    }
    submission->specs = own;
    return true;
}

static void submitted_answer(struct call *call, task_id first, uint32_t count, bool repeated)
{
    const struct core *core = call_core(call);
    struct json_out j;
    call_json(call, &j);
    json_out_object(&j);
    json_out_key(&j, "tasks");
    json_out_array(&j);
    for (uint32_t i = 0; i < count; i++) {
        task_id id = {first.v + i};
        json_out_object(&j);
        json_out_kv_u64(&j, "id", id.v);
        json_out_kv_text(&j, "state", names_task_state(task_state_now(core, id)));
        const struct task *task = query_task(core, id);
        if (task != NULL) { /* an ended task has left the state */
            json_out_put(&j, "instances:%u,array_first:%u", task->instance_count,
                         task->array_first);
            part_json_request(&j, core, query_task_request(core, task, 0));
        }
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_kv_bool(&j, "repeated", repeated);
    json_out_end(&j);
    call_answer_json(call, 201);
}

static void submission_run(struct call *call, struct input *in)
{
    const struct api_host *host = call->api->o.host;
    struct facts facts;
    task_id first = {query_task_last(host->core(host->ctx)).v + 1};
    if (preview_answered(call, in) || !call_input(call, in, &facts)) {
        return;
    }
    if (facts.count > 0 && facts.at[0].type == FACT_SUBMIT_KEY &&
        facts.at[0].submit_key.first.v < first.v) {
        submitted_answer(call, facts.at[0].submit_key.first, facts.at[0].submit_key.count, true);
        return;
    }
    call->api->submitted += in->submit.count;
    submitted_answer(call, first, in->submit.count, false);
}

void tasks_submit(struct call *call)
{
    struct input in = {.type = INPUT_TASK_SUBMIT};
    if (submission_read(call, &in.submit) && submission_key(call, &in.submit) &&
        rollout_read(call, &in.submit) && !spread_refused(call, &in.submit) &&
        uploads_there(call, in.submit.specs, in.submit.count)) {
        submission_run(call, &in);
    }
}

/* ---- one task ---- */

/* Answers with the live task as JSON, or with the ended task from the history. */
static void task_answer(struct call *call, task_id id)
{
    if (query_task(call_core(call), id) == NULL) {
        history_answer(call, id);
        return;
    }
    history_answer_live(call, id);
}

void tasks_show(struct call *call)
{
    task_id id;
    if (call_task_id(call, &id)) {
        task_answer(call, id);
    }
}

/* An ended task cannot be changed: answers 409 for an ended task, and 404 for one that never
 * was. */
static bool task_alive(struct call *call, task_id id)
{
    enum task_state outcome = query_task_outcome(call_core(call), id);
    if (query_task(call_core(call), id) != NULL || outcome == TASK_PENDING) {
        return true;
    }
    call_failf(call, ERR_CONFLICT, "", "the task has ended: it is %s", names_task_state(outcome));
    return false;
}

/* Runs the input `in` for the task that the path names. */
static void task_ask(struct call *call, struct input *in)
{
    struct facts facts;
    if (call_task_id(call, &in->task.task) && task_alive(call, in->task.task) &&
        !preview_answered(call, in) && call_input(call, in, &facts)) {
        task_answer(call, in->task.task);
    }
}

static void task_act(struct call *call, enum input_type type, const struct task_edit *edit)
{
    struct input in = {.type = type, .task = {.edit = edit}};
    task_ask(call, &in);
}

void tasks_kill(struct call *call)
{
    task_act(call, INPUT_TASK_KILL, NULL);
}

void tasks_start(struct call *call)
{
    task_act(call, INPUT_TASK_START, NULL);
}

void tasks_pause(struct call *call)
{
    task_act(call, INPUT_TASK_PAUSE, NULL);
}

void tasks_activate(struct call *call)
{
    task_act(call, INPUT_TASK_ACTIVATE, NULL);
}

/* Asks that the update of which the task is a part turns around, or goes on. */
static void update_act(struct call *call, bool back)
{
    struct input in = {.type = INPUT_ROLLOUT, .task = {.back = back}};
    task_ask(call, &in);
}

void tasks_update_back(struct call *call)
{
    update_act(call, true);
}

void tasks_update_resume(struct call *call)
{
    update_act(call, false);
}

void tasks_edit(struct call *call)
{
    const struct doc *body;
    struct task_edit edit;
    struct error e;
    if (!body_read(call, &body)) {
        return;
    }
    if (edit_task_read(body, call_arena(call), &edit, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    task_act(call, INPUT_TASK_EDIT, &edit);
}

void tasks_move(struct call *call)
{
    static const char *const fields[] = {"ahead_of", "behind", NULL};
    const struct doc *body;
    if (!body_object(call, fields, &body)) {
        return;
    }
    struct input in = {.type = INPUT_TASK_MOVE};
    const struct doc *ahead = doc_get(body, "ahead_of");
    const struct doc *behind = doc_get(body, "behind");
    const struct doc *other = ahead != NULL ? ahead : behind;
    in.task.move.behind = behind != NULL;
    if ((ahead == NULL) == (behind == NULL) || other->kind != DOC_NUMBER ||
        !doc_u64(other, &in.task.move.other.v) || in.task.move.other.v == 0) {
        call_failf(call, ERR_INVALID, behind != NULL ? "behind" : "ahead_of",
                   "either 'ahead_of' or 'behind' is wanted, with the number of another task");
        return;
    }
    task_id id;
    if (!call_task_id(call, &id)) {
        return;
    }
    if (id.v == in.task.move.other.v) {
        call_failf(call, ERR_INVALID, in.task.move.behind ? "behind" : "ahead_of",
                   "a task cannot stand beside itself");
        return;
    }
    task_ask(call, &in);
}

/* ---- POST /tasks/{id}/retry ---- */

/* Drops dependencies that have ended: the new task does not wait for them. */
static void depends_thin_out(const struct core *core, struct task_spec *spec, struct arena *arena)
{
    uint64_t *left = arena_new(arena, uint64_t, spec->depends_count);
    uint64_t any = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        const struct task *task = query_task(core, (task_id){spec->depends_on[i]});
        if (task != NULL && !task_state_ended((enum task_state)task->state)) {
            any |= (spec->depends_any >> i & 1) << count;
            left[count++] = spec->depends_on[i];
        }
    }
    spec->depends_on = left;
    spec->depends_any = any;
    spec->depends_count = count;
}

/* Drops nodes that no longer exist: they need not be avoided. */
static void avoid_thin_out(const struct core *core, struct task_spec *spec, struct arena *arena)
{
    const char **left = arena_new(arena, const char *, spec->avoid_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->avoid_count; i++) {
        if (query_node_named(core, spec->avoid[i]) != NULL) {
            left[count++] = spec->avoid[i];
        }
    }
    spec->avoid = left;
    spec->avoid_count = count;
}

/* Which instances of a task are submitted again. */
struct retry_choice {
    bool failed;  /* the instances that did not complete */
    uint64_t one; /* the instance with this index */
    bool one_given;
};

static bool choice_read(struct call *call, struct retry_choice *ret)
{
    static const char *const fields[] = {"failed", "instance", NULL};
    const struct doc *body;
    *ret = (struct retry_choice){0};
    if (!body_object(call, fields, &body)) {
        return false;
    }
    const struct doc *failed = doc_get(body, "failed");
    const struct doc *one = doc_get(body, "instance");
    ret->one_given = one != NULL;
    const bool well = (failed == NULL || doc_bool(failed, &ret->failed)) &&
                      (one == NULL || doc_u64(one, &ret->one)) && (failed == NULL || one == NULL);
    if (!well) {
        call_failf(call, ERR_INVALID, one != NULL ? "instance" : "failed",
                   "'failed' must be true or false, or 'instance' the index of an instance");
    }
    return well;
}

/* Marks in `again` the instances whose newest attempt did not complete, or that never ran. The newest
 * attempt of an instance comes last. Returns how many instances have an attempt. */
static uint32_t failed_mark(const struct doc *task, bool *again, uint32_t count)
{
    const struct doc *attempts = doc_get(task, "attempts");
    uint64_t last = UINT64_MAX;
    uint32_t tried = 0;
    memset(again, true, count);
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        uint64_t index;
        uint64_t code = 1;
        const struct doc *cause = doc_get(d, "cause");
        if (doc_u64(doc_get(d, "index"), &index) && index < count) {
            (void)doc_u64(doc_get(d, "exit_code"), &code);
            again[index] = code != 0 || cause == NULL || !str_is(cause->text, "exit");
            tried += index != last;
            last = index;
        }
    }
    return tried;
}

/* Replaces the task by one task for each run of neighbouring instances that are submitted again.
 * False: the call was answered. */
static bool choice_apply(struct call *call, const struct doc *task,
                         const struct retry_choice *choice, struct submission *submission)
{
    struct arena *arena = call_arena(call);
    const struct task_spec whole = submission->specs[0];
    const uint32_t count = whole.instances;
    if (choice->one_given && choice->one >= count) {
        call_failf(call, ERR_NOT_FOUND, "instance", "the task has the instances 0 to %u",
                   count - 1);
        return false;
    }
    uint64_t now = count;
    (void)doc_u64(doc_get(task, "instances"), &now);
    if ((whole.gang && count > 1) || whole.group_count > 0 || now != count) {
        call_failf(call, ERR_CONFLICT, "", "a gang is submitted again as a whole");
        return false;
    }
    bool *again = arena_new(arena, bool, count);
    if (!choice->failed) {
        again[choice->one] = true;
    } else if (failed_mark(task, again, count) >= TASK_JSON_ATTEMPTS_MAX) {
        call_failf(call, ERR_LIMIT, "failed", "only the ends of the first %d instances are kept",
                   TASK_JSON_ATTEMPTS_MAX);
        return false;
    }
    struct task_spec *specs = arena_new(arena, struct task_spec, count);
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (again[i] && i > 0 && again[i - 1]) {
            specs[made - 1].instances++;
        } else if (again[i]) {
            specs[made] = whole;
            specs[made].array_first = whole.array_first + i;
            specs[made++].instances = 1;
        }
    }
    if (made == 0) {
        call_failf(call, ERR_CONFLICT, "failed", "every instance completed");
    }
    submission->specs = specs;
    submission->count = made;
    return made > 0;
}

static void retry_submit(struct call *call, task_id id, struct str json)
{
    struct error e;
    struct doc *doc;
    struct retry_choice choice;
    struct task_spec *spec = arena_new(call_arena(call), struct task_spec, 1);
    struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = spec, .count = 1}};
    if (!choice_read(call, &choice)) {
        return;
    }
    if (doc_json_parse(call_arena(call), json, &doc, &e) != ERR_OK ||
        object_again_task(doc, call_arena(call), spec, &e) != ERR_OK) {
        (void)fail_in(&e, "task %llu", (unsigned long long)id.v);
        call_fail(call, &e);
        return;
    }
    if (!submission_key(call, &in.submit)) {
        return;
    }
    /* The body does not name the task, so the task's id is mixed into the hash of the body. */
    for (size_t i = 0; i < sizeof id.v; i++) {
        in.submit.body_hash[i] ^= (uint8_t)(id.v >> 8 * i);
    }
    spec->user = call->name;
    depends_thin_out(call_core(call), spec, call_arena(call));
    avoid_thin_out(call_core(call), spec, call_arena(call));
    if ((choice.failed || choice.one_given) && !choice_apply(call, doc, &choice, &in.submit)) {
        return;
    }
    submission_run(call, &in);
}

void tasks_retry(struct call *call)
{
    task_id id;
    if (!call_task_id(call, &id)) {
        return;
    }
    const struct task *task = query_task(call_core(call), id);
    if (task != NULL && !task_state_ended((enum task_state)task->state)) {
        call_failf(call, ERR_CONFLICT, "", "task %llu has not ended: it is %s",
                   (unsigned long long)id.v, names_task_state((enum task_state)task->state));
        return;
    }
    history_read(call, id, retry_submit);
}
