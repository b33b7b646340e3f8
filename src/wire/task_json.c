/* task_json.c - writes the task object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/task_json.h"
#include "wire/explain_json.h"
#include "wire/fallback_json.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/model/instance.h"
#include "core/sched/explain/explain.h"
#include "wire/attempt_key.h"
#include "wire/object_json.h"
#include "wire/part_json.h"
#include "wire/reason_text.h"

#include <string.h>

static const char *const instance_state_names[] = {
    [INSTANCE_WAITING] = "waiting", [INSTANCE_STARTING] = "starting",
    [INSTANCE_RUNNING] = "running", [INSTANCE_STOPPING] = "stopping",
    [INSTANCE_ENDED] = "ended",     [INSTANCE_HELD] = "held",
};

void task_json_writer_init(struct task_writer *writer, const struct core *core, struct arena *arena)
{
    *writer = (struct task_writer){.core = core, .arena = arena};
}

/* The first tasks of a pool's queue, in order. */
struct task_places {
    struct task_places *next;
    pool_id pool;
    uint32_t count;
    task_id at[TASK_JSON_POSITION_MAX];
};

static struct task_places *places_walk(struct task_writer *writer, pool_id pool)
{
    struct task_places *places = arena_new(writer->keep, struct task_places, 1);
    places->pool = pool;
    places->next = writer->places;
    writer->places = places;
    task_id id = query_queue_next(writer->core, pool, (task_id){0});
    while (id.v != 0 && places->count < TASK_JSON_POSITION_MAX) {
        places->at[places->count++] = id;
        id = query_queue_next(writer->core, pool, id);
    }
    return places;
}

static uint32_t position_of(struct task_writer *writer, const struct task *task)
{
    if (!task->queued || writer->keep == NULL) {
        return query_queue_position(writer->core, task->id, TASK_JSON_POSITION_MAX);
    }
    struct task_places *places = writer->places;
    while (places != NULL && places->pool.v != task->pool.v) {
        places = places->next;
    }
    places = places != NULL ? places : places_walk(writer, task->pool);
    uint32_t before = 0;
    while (before < places->count && places->at[before].v != task->id.v) {
        before++;
    }
    return before < places->count ? before + 1 : TASK_JSON_POSITION_MAX;
}

struct task_reason {
    struct explain_group group;
    struct reason reason;
};

/* Says why the task waits. Tasks of one group share a reason, which is computed once. */
static struct reason reason_of(struct task_writer *writer, const struct task *task)
{
    struct explain_group group;
    const bool shared = writer->keep != NULL && explain_group(writer->core, task, &group);
    for (uint32_t i = 0; shared && i < writer->kept_count; i++) {
        if (memcmp(&writer->kept[i].group, &group, sizeof group) == 0) {
            return writer->kept[i].reason;
        }
    }
    struct explanation why;
    explain_task_in(writer->core, task->id, task->pool, &why);
    if (shared && writer->kept == NULL) {
        writer->kept = arena_new(writer->keep, struct task_reason, TASK_JSON_REASONS_KEPT);
    }
    if (shared && writer->kept_count < TASK_JSON_REASONS_KEPT) {
        writer->kept[writer->kept_count].group = group;
        writer->kept[writer->kept_count++].reason = why.reason;
    }
    return why.reason;
}

/* Writes the fields that stay as they were submitted. */
static void asked_json(struct task_writer *writer, struct json_out *j, const struct task *task,
                       const struct task_spec *spec, bool env)
{
    const struct core *core = writer->core;
    const char *pool = query_pool_name(core, task->pool);
    const struct shape *shape = query_task_shape(core, task->shape);
    must(shape != NULL);
    object_json_fields(j, &task_object, GROUP_TOP, spec);
    json_out_put(j, "user:%s,pool:%s", spec->user, pool);
    part_json_texts(j, "pools", spec->pool_count > 0 ? spec->pools : &pool,
                    spec->pool_count > 0 ? spec->pool_count : 1);
    fallback_json(j, core, task, false);
    part_json_texts(j, "command", spec->argv, spec->argv_count);
    part_json_env(j, spec);
    part_json_request(j, core, &shape->request);
    part_json_devices(j, "devices", spec->device_mask);
    json_out_put(j, "instances:%u,array_first:%u,gang:%i,min_instances:%u", task->instance_count,
                 task->array_first, task->gang, task->gang != 0 ? task->min_count : 1);
    part_json_topology(j, &spec->topology);
    part_json_groups(j, spec);
    json_out_put(j, "preemptible:%i", spec->preemptible);
    part_json_depends(j, spec);
    json_out_key(j, "spec");
    object_json_task(j, spec, env);
}

static void number_or_null(struct json_out *j, const char *key, bool known, int64_t value)
{
    json_out_key(j, key);
    if (known) {
        json_out_i64(j, value);
    } else {
        json_out_null(j);
    }
}

static void counts_json(struct json_out *j, const struct task *task)
{
    json_out_put(j, "counts:{waiting:%u,active:%u,ended:%u,failed:%u,lost:%u,preempted:%u}",
                 task->waiting_count, task->active_count, task->ended_count, task->failed_count,
                 task->lost_count, task->preempted_count);
}

/* Writes the update of which the task is a part, and the first task of those that replaced each other. */
static void update_json(struct json_out *j, const struct core *core, const struct task *task)
{
    const struct rollout *rollout = query_task_rollout(core, task->rollout);
    number_or_null(j, "origin", task->origin.v != 0, (int64_t)task->origin.v);
    json_out_key(j, "update");
    if (rollout == NULL) {
        json_out_null(j);
        return;
    }
    const struct task *to = query_task(core, rollout->to);
    uint32_t ready = 0;
    for (uint32_t i = 0; to != NULL && i < to->instance_count; i++) {
        ready += query_task_takes(core, to, query_instance(core, to->id, i));
    }
    json_out_put(j, "{from:%lu,to:%lu,phase:%s,why:%s,ready:%u,instances:%u,until:%td,since:%td}",
                 rollout->from.v, rollout->to.v,
                 names_rollout_phase((enum rollout_phase)rollout->phase),
                 names_rollout_why((enum rollout_why)rollout->why), ready,
                 to != NULL ? to->instance_count : 0, rollout->until_ms, rollout->since_ms);
}

/* Writes the fields that change while the task lives. */
static void course_json(struct json_out *j, const struct task *task)
{
    json_out_put(j, "submitted_at:%td,queued_at:%td,started_at:%td,ended_at:%td,running_since:%td",
                 task->submitted_ms, task->queued_ms, task->started_ms, task->ended_ms,
                 task->running_ms);
    json_out_put(j, "ran_ms:%ld,cpu_ms:%ld,memory_peak:%ld", task->ran_ms, task->cpu_ms,
                 task->memory_peak_bytes);
    /* A program that could not be started has the code a shell would give. */
    bool has_code = task->started_ms != 0 || task->cause == END_SPAWN || task->cause == END_LOSSES;
    number_or_null(j, "exit_code", has_code && task_state_ended((enum task_state)task->state),
                   task->exit_code);
    json_out_put(j, "cause:%s", names_end_cause((enum end_cause)task->cause));
    counts_json(j, task);
}

/* Says why the program could not be started, or that it was over its memory; else null. An agent that
 * reports such an end gives the limit as the peak. */
static void message_json(struct json_out *j, const char *program, const struct instance *instance)
{
    struct error e;
    const bool said = instance->cause == END_SPAWN || instance->cause == END_MEMORY ||
                      instance->cause == END_DISK || instance->cause == END_IDLE ||
                      instance->cause == END_UNHEALTHY;
    if (instance->cause == END_SPAWN) {
        (void)fail_errno(&e, ERR_IO, instance->exit_code, "cannot execute '%s'", program);
    } else if (instance->cause == END_MEMORY) {
        char bytes[AMOUNT_TEXT_MAX];
        amount_bytes_text(instance->memory_peak_bytes, bytes);
        (void)fail(&e, ERR_LIMIT, "killed: used more than its %s of memory", bytes);
    } else if (instance->cause == END_DISK) {
        (void)fail(&e, ERR_LIMIT, "killed: used more disk than its node allows a task");
    } else if (instance->cause == END_IDLE) {
        (void)fail(
            &e, ERR_LIMIT,
            "ended: held its place and did nothing for longer than its pool or project allows");
    } else if (instance->cause == END_UNHEALTHY) {
        (void)fail(&e, ERR_CONFLICT, "ended: its health check failed too often in a row");
    }
    json_out_kv_text(j, "message", said ? e.text : NULL);
}

/* Says for whom the attempt was evicted; null where it was not. Only the last eviction of a task is
 * in the state, so an attempt must be written before its instance is evicted again. */
static void why_json(struct json_out *j, const struct core *core, const struct instance *instance)
{
    const struct eviction_note *note = query_task_eviction(core, instance->task);
    const bool evicted =
        instance->cause == END_PREEMPTED && note != NULL && note->at_ms >= instance->allocated_ms;
    struct buf text;
    buf_init(&text, REASON_TEXT_MAX);
    if (evicted) {
        explain_json_eviction_text(core, &note->why, &text);
    }
    json_out_kv_text(j, "why", evicted ? buf_text(&text) : NULL);
    buf_done(&text);
}

/* What a running attempt holds and uses: null where nobody said so yet, and after its end. */
static void use_json(struct json_out *j, const struct use_table *uses,
                     const struct instance *instance, bool ended)
{
    const struct attempt_key key = {instance->task, instance->index, instance->attempt};
    const struct attempt_use *use = ended ? NULL : use_table_get(uses, key);
    json_out_put(j, "holds:{slots:%.3ld,cpu:%.3ld,memory:%ld}", instance->slots_milli,
                 instance->cpu_milli, instance->memory_bytes);
    json_out_key(j, "use");
    if (use == NULL) {
        json_out_null(j);
        return;
    }
    json_out_put(j, "{at:%td,cpu_ms:%ld,memory:%ld,memory_peak:%ld", use->heard_ms, use->cpu_ms,
                 use->memory_bytes, use->memory_peak_bytes);
    json_out_key(j, "cpu");
    if (use->cpu_milli >= 0) {
        json_out_milli(j, use->cpu_milli);
    } else {
        json_out_null(j);
    }
    json_out_key(j, "gpu");
    if (use->gpu_milli >= 0) {
        json_out_milli(j, use->gpu_milli);
    } else {
        json_out_null(j);
    }
    number_or_null(j, "gpu_memory", use->gpu_memory_bytes >= 0, use->gpu_memory_bytes);
    json_out_end(j);
}

/* `state` is the state of the attempt. An attempt may have ended while its instance waits for the next attempt. */
static void attempt_json(const struct task_writer *writer, struct json_out *j,
                         const struct task *task, const struct instance *instance,
                         enum instance_state state, const char *program)
{
    const struct core *core = writer->core;
    const bool ended = state == INSTANCE_ENDED;
    char key[ATTEMPT_KEY_TEXT_MAX];
    (void)attempt_key_text((struct attempt_key){task->id, instance->index, instance->attempt}, key);
    json_out_put(j, "{key:%s,index:%u,instance:%lu,attempt:%u,state:%s", key, instance->index,
                 (uint64_t)task->array_first + instance->index, instance->attempt,
                 instance_state_names[state]);
    json_out_kv_text(j, "node",
                     instance->node.v != 0 ? query_node_name(core, instance->node) : NULL);
    part_json_devices(j, "devices", instance->devices);
    json_out_put(j, "cause:%s", names_end_cause((enum end_cause)instance->cause));
    number_or_null(j, "exit_code", ended && instance->started_ms != 0, instance->exit_code);
    message_json(j, program, instance);
    why_json(j, core, instance);
    json_out_put(j,
                 "workdir_used:%i,allocated_at:%td,started_at:%td,checkpoint_at:%td,ended_at:%td",
                 instance->workdir_missed == 0, instance->allocated_ms, instance->started_ms,
                 instance->checkpoint_ms, instance->ended_ms);
    /* What the attempt used is unknown until it has ended, and where nobody saw the end. */
    const bool healthy = !ended && task->checked && instance->state == INSTANCE_RUNNING;
    json_out_kv_text(j, "health",
                     healthy ? names_service_health((enum service_health)instance->health) : NULL);
    const bool known = instance->cpu_ms != 0 || instance->memory_peak_bytes != 0;
    number_or_null(j, "cpu_ms", known, instance->cpu_ms);
    number_or_null(j, "memory_peak", known, instance->memory_peak_bytes);
    use_json(j, writer->uses, instance, ended);
    /* The last member: attempts_merge() brings it up to date. */
    json_out_kv_bool(j, "again", instance_again(instance));
    json_out_end(j);
}

static void attempts_json(const struct task_writer *writer, struct json_out *j,
                          const struct task *task, const char *program, bool places)
{
    const struct core *core = writer->core;
    json_out_put(j, "attempts:[");
    uint32_t written = 0;
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        must(instance != NULL);
        const bool holds = instance_active(instance);
        if (instance->attempt > 0 && ((places && holds) || written < TASK_JSON_ATTEMPTS_MAX)) {
            attempt_json(writer, j, task, instance, (enum instance_state)instance->state, program);
            written++;
        }
    }
    json_out_end(j);
}

void task_json_attempt_ended(struct task_writer *writer, struct json_out *j,
                             const struct task *task, uint32_t index)
{
    const struct instance *instance = query_instance(writer->core, task->id, index);
    must(instance != NULL);
    struct task_spec spec;
    query_task_spec(writer->core, task->id, writer->arena, &spec);
    attempt_json(writer, j, task, instance, INSTANCE_ENDED,
                 spec.argv_count > 0 ? spec.argv[0] : "");
}

void task_json(struct task_writer *writer, struct json_out *j, const struct task *task,
               unsigned parts)
{
    struct task_spec spec;
    query_task_spec(writer->core, task->id, writer->arena, &spec);
    if ((parts & TASK_JSON_NO_ENV) != 0) {
        spec.env_count = 0;
    }
    task_json_spec(writer, j, task, &spec, parts);
}

void task_json_spec(struct task_writer *writer, struct json_out *j, const struct task *task,
                    const struct task_spec *spec, unsigned parts)
{
    const bool reasons = (parts & TASK_JSON_REASON) != 0;
    json_out_put(j, "{id:%lu,state:%s", task->id.v, names_task_state((enum task_state)task->state));
    asked_json(writer, j, task, spec, (parts & TASK_JSON_NO_ENV) == 0);
    course_json(j, task);
    update_json(j, writer->core, task);
    explain_json_evicted(j, writer->core, task);
    struct reason reason = {.code = REASON_NONE}; /* written as null */
    if (reasons) {
        reason = reason_of(writer, task);
    }
    json_out_put(j, "position:%zu,reason:", (uint64_t)(reasons ? position_of(writer, task) : 0));
    reason_text_json(j, writer->core, &reason);
    if ((parts & TASK_JSON_ATTEMPTS) != 0) {
        attempts_json(writer, j, task, spec->argv_count > 0 ? spec->argv[0] : "",
                      (parts & TASK_JSON_PLACES) != 0);
    }
    json_out_end(j);
}

void task_json_short(struct task_writer *writer, struct json_out *j, const struct task *task,
                     uint32_t position)
{
    struct task_spec spec;
    const struct shape *shape = query_task_shape(writer->core, task->shape);
    must(shape != NULL);
    query_task_spec(writer->core, task->id, writer->arena, &spec);
    struct reason reason = reason_of(writer, task);
    json_out_put(j, "{id:%lu,name:%s", task->id.v, spec.name);
    part_json_texts(j, "command", spec.argv, spec.argv_count);
    json_out_put(j, "pool:%s,user:%s,project:%s,state:%s,priority:%u,position:%zu",
                 query_pool_name(writer->core, task->pool), spec.user, spec.project,
                 names_task_state((enum task_state)task->state), task->priority,
                 (uint64_t)position);
    part_json_request(j, writer->core, &shape->request);
    json_out_put(j, "instances:%u", task->instance_count);
    counts_json(j, task);
    json_out_put(j, "submitted_at:%td,cause:%s", task->submitted_ms,
                 names_end_cause((enum end_cause)task->cause));
    explain_json_evicted(j, writer->core, task);
    json_out_put(j, "reason:");
    reason_text_json(j, writer->core, &reason);
    json_out_end(j);
}
