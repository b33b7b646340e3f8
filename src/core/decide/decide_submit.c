/* decide_submit.c - submissions of one or many tasks: all tasks are accepted or none.
 *
 * Only nodes define names of resources. A name that no node has ever brought is refused, also in a pool
 * without nodes. explain_possible() checks whether the pool's nodes have enough of a resource (P9).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/account.h"
#include "core/model/form.h"
#include "core/model/input.h"
#include "core/model/label.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/spec_limits.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/sched/explain/explain.h"
#include "core/state/access.h"
#include "core/state/depends.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

/* Requests of this submission that were found possible. The tasks of a submission have few different
 * requests, so few entries save most checks. */
enum { POSSIBLE_MAX = 16 };
struct possible {
    pool_id pool;
    uint32_t gang_size;
    const struct request *request; /* of the first task that asked so, in the step's arena */
};

struct task_submission {
    struct step *step;
    struct possible possible[POSSIBLE_MAX]; /* a ring buffer */
    uint32_t possible_count;
};

static enum verdict refuse(struct step *step, enum reason_code code, const char *text)
{
    step_refuse(step, code, text);
    return VERDICT_REFUSED;
}

/* ---- requests ---- */

static bool names_nothing(const struct task_spec *spec)
{
    return spec->slots_milli == ASK_NOTHING && spec->cpu_milli == ASK_NOTHING &&
           spec->memory_bytes == ASK_NOTHING && spec->gpu_memory_bytes == 0 &&
           spec->device_mask == 0 && spec->resource_count == 0 && !spec->needs_gpu;
}

static int64_t slots_asked(const struct task_spec *spec)
{
    if (spec->slots_milli != ASK_NOTHING) {
        return spec->slots_milli;
    }
    if (spec->device_mask != 0) {
        return (int64_t)__builtin_popcountll(spec->device_mask) * SLOT_MILLI;
    }
    if (spec->kind == TASK_TENSORBOARD && !spec->needs_gpu) {
        return 0; /* a TensorBoard only reads and draws */
    }
    return names_nothing(spec) || spec->needs_gpu ? SLOT_MILLI : 0;
}

/* Resolves a request for equal parts of several devices or for parts by memory. The devices are chosen by the
 * user, or counted by `gpu_devices`, or one. Without slots the memory is the size of each part. With whole
 * slots the memory is what each device must have. */
static enum verdict shares_resolve(struct step *step, const struct task_spec *spec,
                                   struct request *ret)
{
    must(ret->share_devices == 0);
    const uint32_t chosen = (uint32_t)__builtin_popcountll(spec->device_mask);
    const bool by_memory = spec->slots_milli == ASK_NOTHING && spec->gpu_memory_bytes > 0;
    const bool fraction = spec->slots_milli > 0 && spec->slots_milli < SLOT_MILLI;
    if (chosen > 0 && spec->gpu_devices > 0 && spec->gpu_devices != chosen) {
        return step_refuse_limit(step, "gpu_devices of the chosen devices", chosen);
    }
    if (!by_memory && !fraction) {
        return spec->gpu_devices > 0
                   ? step_refuse_limit(step, "gpu_devices without parts of devices", 0)
                   : VERDICT_OK;
    }
    const uint32_t several = chosen > 0 ? chosen : spec->gpu_devices;
    if (by_memory || several > 1 || chosen > 0) {
        ret->share_devices = several > 0 ? several : 1;
    }
    ret->slots_milli = by_memory ? 0 : spec->slots_milli * (several > 0 ? several : 1);
    return VERDICT_OK;
}

static enum verdict named_resolve(struct step *step, const struct task_spec *spec,
                                  struct request *ret)
{
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        resource_id id;
        if (!query_resource_named(step->core, spec->resources[i].name, &id) ||
            id.v < RESOURCE_NAMED_FIRST) {
            return refuse(step, REASON_UNKNOWN_RESOURCE, spec->resources[i].name);
        }
        must(ret->named_count < TASK_RESOURCES_MAX);
        uint32_t at = ret->named_count++;
        for (; at > 0 && ret->named[at - 1].resource.v > id.v; at--) {
            ret->named[at] = ret->named[at - 1];
        }
        ret->named[at].resource = id;
        ret->named[at].milli = spec->resources[i].milli;
    }
    return VERDICT_OK;
}

enum verdict decide_submit_avoid(struct step *step, const char *const *names, uint32_t count,
                                 struct request *ret)
{
    ret->avoid_count = 0;
    memset(ret->avoid, 0, sizeof ret->avoid);
    for (uint32_t i = 0; i < count; i++) {
        const struct node *node = query_node_named(step->core, names[i]);
        if (node == NULL) {
            return refuse(step, REASON_UNKNOWN_NODE, names[i]);
        }
        uint32_t at = ret->avoid_count;
        while (at > 0 && ret->avoid[at - 1].v >= node->id.v) {
            at--;
        }
        if (at < ret->avoid_count && ret->avoid[at].v == node->id.v) {
            continue;
        }
        must(ret->avoid_count < TASK_AVOID_MAX);
        memmove(&ret->avoid[at + 1], &ret->avoid[at],
                (ret->avoid_count - at) * sizeof ret->avoid[0]);
        ret->avoid[at] = node->id;
        ret->avoid_count++;
    }
    return VERDICT_OK;
}

enum verdict decide_submit_request(struct step *step, const struct task_spec *spec,
                                   struct request *ret)
{
    int64_t slots = slots_asked(spec);
    if (slots > SLOT_MILLI && slots % SLOT_MILLI != 0) {
        return step_refuse_limit(step, "parts of more than one slot", 0);
    }
    ret->slots_milli = slots;
    enum verdict verdict = shares_resolve(step, spec, ret);
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    const int64_t devices = (int64_t)__builtin_popcountll(spec->device_mask) * SLOT_MILLI;
    if (devices > 0 && devices != slots && ret->share_devices == 0) {
        return step_refuse_limit(step, "slots of the chosen devices", devices);
    }
    const bool none = !request_has_slots(ret);
    ret->cpu_milli = spec->cpu_milli == ASK_NOTHING && none ? 0 : spec->cpu_milli;
    ret->memory_bytes = spec->memory_bytes == ASK_NOTHING && none ? 0 : spec->memory_bytes;
    ret->gpu_memory_bytes = spec->gpu_memory_bytes;
    ret->device_mask = spec->device_mask;
    ret->needs_gpu = spec->needs_gpu || spec->device_mask != 0 || spec->gpu_memory_bytes > 0;
    const enum verdict named = named_resolve(step, spec, ret);
    must(spec->node_label_count <= TASK_LABELS_MAX);
    ret->label_count = label_marks(spec->node_labels, spec->node_label_count, ret->labels);
    const bool image = spec->image != NULL && spec->image[0] != '\0';
    if (image && !label_marks_own_add(ret, LABEL_OWN_IMAGE)) {
        return step_refuse_limit(step, "node_labels", TASK_LABELS_MAX - LABEL_OWN_COUNT);
    }
    return named == VERDICT_OK ? decide_submit_avoid(step, spec->avoid, spec->avoid_count, ret)
                               : named;
}

/* ---- pool, dependencies, project ---- */

/* The pool of a task that names none: one with slots goes to the GPU pool, one without to the CPU
 * pool. A TensorBoard needs no slots, whatever it asks for. */
static const char *pool_chosen(const struct core *core, const struct task_spec *spec)
{
    const bool slots = slots_asked(spec) > 0 || spec->needs_gpu;
    const bool gpu = slots && spec->kind != TASK_TENSORBOARD;
    return query_default_pool(core, gpu ? POOL_DEFAULT_GPU : POOL_DEFAULT_CPU);
}

enum verdict decide_submit_pools(struct step *step, const struct task_spec *spec,
                                 const struct pool **ret)
{
    const char *name = spec->pool_count > 0 ? spec->pools[0] : pool_chosen(step->core, spec);
    *ret = query_pool_named(step->core, name);
    if (*ret == NULL) {
        return refuse(step, REASON_UNKNOWN_POOL, name);
    }
    must(!(*ret)->deleted);
    for (uint32_t i = 1; i < spec->pool_count; i++) {
        if (query_pool_named(step->core, spec->pools[i]) == NULL) {
            return refuse(step, REASON_UNKNOWN_POOL, spec->pools[i]);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(spec->pools[i], spec->pools[j]) == 0) {
                return refuse(step, REASON_POOL_TWICE, spec->pools[i]);
            }
        }
    }
    return VERDICT_OK;
}

enum verdict decide_submit_accepts(struct step *step, const struct pool *pool, enum task_kind kind,
                                   account_id account)
{
    struct reason reason = {.smallest = -1};
    if (pool->life.phase != PHASE_OPEN) {
        return decide_life_refuse(step, pool);
    }
    if (access_admits(step->core, pool, kind, account, &reason)) {
        return VERDICT_OK;
    }
    *step_refuse(step, reason.code, reason.text) = reason;
    return VERDICT_REFUSED;
}

enum verdict decide_submit_possible(struct step *step, const struct pool *pool,
                                    const struct request *request, uint32_t gang_size)
{
    struct reason reason = {.smallest = -1};
    if (explain_possible(step->core, pool, request, gang_size, &reason)) {
        return VERDICT_OK;
    }
    *step_refuse(step, reason.code, "") = reason;
    return VERDICT_REFUSED;
}

static enum verdict possible_once(struct task_submission *submit, const struct pool *pool,
                                  const struct request *request, uint32_t gang_size)
{
    must(gang_size > 0);
    uint32_t known = submit->possible_count < POSSIBLE_MAX ? submit->possible_count : POSSIBLE_MAX;
    for (uint32_t i = 0; i < known; i++) {
        const struct possible *entry = &submit->possible[i];
        if (entry->pool.v == pool->id.v && entry->gang_size == gang_size &&
            memcmp(entry->request, request, sizeof *request) == 0) {
            return VERDICT_OK;
        }
    }
    enum verdict verdict = decide_submit_possible(submit->step, pool, request, gang_size);
    if (verdict == VERDICT_OK) {
        submit->possible[submit->possible_count++ % POSSIBLE_MAX] =
            (struct possible){pool->id, gang_size, request};
    }
    return verdict;
}

/* Checks that every dependency exists. `*ret_failed`: a dependency has already ended in a way that does not
 * release the task. */
static enum verdict depends_check(struct step *step, const struct task_spec *spec, bool *ret_failed)
{
    /* a task row has one bit for each dependency */
    must(spec->depends_count <= TASK_DEPENDS_MAX);
    *ret_failed = false;
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        task_id id = {spec->depends_on[i]};
        if (id.v == 0 || id.v > query_task_last(step->core).v) {
            step_refuse(step, REASON_UNKNOWN_TASK, "")->task = id;
            return VERDICT_REFUSED;
        }
        const struct task *task = query_task(step->core, id);
        enum task_state state = task != NULL ? task->state : query_task_outcome(step->core, id);
        *ret_failed = *ret_failed ||
                      (task_state_ended(state) && !depends_freed(key_depends(id, spec, i), state));
    }
    return VERDICT_OK;
}

enum verdict decide_submit_project(struct step *step, const char *name, account_id *ret)
{
    name = name != NULL && name[0] != '\0' ? name : ACCOUNT_DEFAULT_NAME;
    const struct account *project = query_account_named(step->core, ACCOUNT_PROJECT, name);
    if (project == NULL) {
        return refuse(step, REASON_UNKNOWN_PROJECT, name);
    }
    *ret = project->id;
    return VERDICT_OK;
}

static enum verdict spec_check(struct step *step, const struct task_spec *spec)
{
    const char *limit;
    int64_t max;
    if (!spec_limits_task(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    return VERDICT_OK;
}

/* A task whose dependency has failed is accepted and fails at once. No task depends on the new task yet. */
static void task_doomed(struct step *step, task_id id)
{
    struct fact *fact = step_fact(step, FACT_TASK_ENDED);
    fact->task_ended.task = id;
    fact->task_ended.state = TASK_FAILED;
    fact->task_ended.cause = END_DEPENDENCY;
    fact->task_ended.exit_code = EXIT_CODE_WEIR;
    step_fact(step, FACT_TASK_ARCHIVED)->task.task = id;
}

uint32_t decide_submit_gang_size(const struct task_spec *spec)
{
    if (!spec->gang) {
        return 1;
    }
    return spec->min_instances > 0 ? spec->min_instances : spec->instances;
}

/* The spec with the project and the pool that were chosen for it, where it names none: a later
 * look at the task, or a retry of it, shall not choose anew. */
static const struct task_spec *spec_completed(struct step *step, const struct task_spec *spec,
                                              const struct pool *pool)
{
    const bool project_named = spec->project != NULL && spec->project[0] != '\0';
    if (project_named && spec->pool_count > 0) {
        return spec;
    }
    struct task_spec *copy = arena_dup(step->out->arena, spec, sizeof *spec);
    copy->project = project_named ? spec->project : ACCOUNT_DEFAULT_NAME;
    if (spec->pool_count == 0) {
        const char **pools = arena_new(step->out->arena, const char *, 1);
        pools[0] = arena_str(step->out->arena, query_pool_name(step->core, pool->id));
        copy->pools = pools;
        copy->pool_count = 1;
    }
    return copy;
}

static enum verdict submit_one(struct task_submission *submit, const struct task_spec *spec,
                               task_id id)
{
    struct step *step = submit->step;
    enum verdict verdict = spec_check(step, spec);
    const struct pool *pool = NULL;
    account_id account = {0};
    struct request *request = arena_new(step->out->arena, struct request, 1);
    const struct form *form = NULL;
    bool failed = false;
    if (verdict == VERDICT_OK) {
        verdict = decide_submit_project(step, spec->project, &account);
    }
    if (verdict == VERDICT_OK) {
        verdict = decide_submit_pools(step, spec, &pool);
    }
    if (verdict == VERDICT_OK && spec->pool_count < 2) {
        verdict = decide_submit_accepts(step, pool, spec->kind, account);
    }
    if (verdict == VERDICT_OK) {
        verdict = decide_network_request(step, spec, account, pool, request);
    }
    if (verdict == VERDICT_OK && spec->pool_count > 1) {
        pool = decide_fallback_first(step, spec, account, request);
        verdict = decide_submit_accepts(step, pool, spec->kind, account);
    }
    if (verdict == VERDICT_OK) {
        verdict = depends_check(step, spec, &failed);
    }
    if (verdict == VERDICT_OK) {
        spec = decide_spread(step, pool, spec, request);
        verdict = decide_form_resolve(step, spec, request, &form);
        if (verdict == VERDICT_OK) {
            verdict = form != NULL
                          ? decide_form_possible(step, pool, form, spec)
                          : possible_once(submit, pool, request, decide_submit_gang_size(spec));
        }
        if (verdict != VERDICT_OK) {
            decide_spread_refused(step, pool, spec, request);
        }
    }
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    must(pool != NULL);
    must(account.v != 0);
    spec = spec_completed(step, spec, pool);
    struct fact *fact = step_fact(step, FACT_TASK_SUBMITTED);
    fact->task_submitted.task = id;
    fact->task_submitted.pool = pool->id;
    fact->task_submitted.account = account;
    fact->task_submitted.request = request;
    fact->task_submitted.form = form;
    fact->task_submitted.spec = spec;
    if (failed) {
        task_doomed(step, id);
    }
    return VERDICT_OK;
}

/* ---- idempotency keys ---- */

static const struct submit_key *key_find(const struct core *core, const uint8_t *bytes)
{
    struct okey want = key_submit(bytes, 0);
    struct okey key;
    if (!oindex_from(&core->orders[ORDER_SUBMIT_KEY], want, &key) || key.at[0] != want.at[0] ||
        key.at[1] != want.at[1]) {
        return NULL;
    }
    const struct submit_key *row = table_get(&core->keys, key.at[2]);
    must(row != NULL);
    return row;
}

static void key_fact(struct step *step, task_id first, uint32_t count)
{
    const struct submission *submission = &step->in->submit;
    struct fact *fact = step_fact(step, FACT_SUBMIT_KEY);
    memcpy(fact->submit_key.key, submission->key, sizeof submission->key);
    memcpy(fact->submit_key.body_hash, submission->body_hash, sizeof submission->body_hash);
    fact->submit_key.first = first;
    fact->submit_key.count = count;
}

static enum verdict key_seen(struct step *step, const struct submit_key *seen)
{
    if (memcmp(seen->body_hash, step->in->submit.body_hash, sizeof seen->body_hash) != 0) {
        step_refuse(step, REASON_KEY_REUSED, "")->task = seen->first;
        return VERDICT_REFUSED;
    }
    key_fact(step, seen->first, seen->count);
    return VERDICT_REPEATED;
}

/* Makes room for one more key: the oldest keys are dropped before they are a day old. */
static void keys_thin_out(struct step *step)
{
    const struct core *core = step->core;
    if (core->keys.count < SUBMIT_KEYS_MAX) {
        return;
    }
    const struct submit_key *oldest = table_get(&core->keys, table_next(&core->keys, 0));
    must(oldest != NULL);
    step_fact(step, FACT_SUBMIT_KEYS_EXPIRED)->keys_expired.before_ms = oldest->time_ms + 1;
}

static enum verdict room_check(struct step *step)
{
    const struct submission *submission = &step->in->submit;
    must(step->core->tasks.count <= step->core->instances.count); /* no task is without instances */
    if (submission->count > SUBMIT_TASKS_MAX) {
        return step_refuse_limit(step, "tasks of one submission", SUBMIT_TASKS_MAX);
    }
    uint64_t instances = step->core->instances.count;
    for (uint32_t i = 0; i < submission->count; i++) {
        instances += submission->specs[i].instances;
    }
    if (step->core->tasks.count + submission->count > PENDING_TASKS_MAX ||
        instances > PENDING_TASKS_MAX) {
        return step_refuse_limit(step, "tasks that have not ended", PENDING_TASKS_MAX);
    }
    return VERDICT_OK;
}

enum verdict decide_submit(struct step *step)
{
    const struct submission *submission = &step->in->submit;
    const struct submit_key *seen =
        submission->has_key ? key_find(step->core, submission->key) : NULL;
    if (seen != NULL) {
        return key_seen(step, seen);
    }
    enum verdict verdict = room_check(step);
    verdict = verdict == VERDICT_OK ? decide_rollout_check(step) : verdict;
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    struct task_submission *submit = arena_new(step->out->arena, struct task_submission, 1);
    submit->step = step;
    task_id first = {query_task_last(step->core).v + 1};
    for (uint32_t i = 0; i < submission->count; i++) {
        verdict = submit_one(submit, &submission->specs[i], (task_id){first.v + i});
        if (verdict != VERDICT_OK) {
            step->out->refused_index = i;
            return verdict;
        }
    }
    must(step->out->count >= submission->count); /* one fact at least for each task */
    decide_rollout_begin(step, first);
    if (submission->has_key) {
        keys_thin_out(step);
        key_fact(step, first, submission->count);
    }
    return VERDICT_OK;
}
