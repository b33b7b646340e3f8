/* archive.c - see archive.h. The row is made at once, because the next fact drops the task from the
 * core. SPDX-License-Identifier: Apache-2.0 */
#include "server/archive.h"

#include "core/model/instance.h"
#include "store/store_usage.h"
#include "wire/task_json.h"

enum { ARCHIVE_BYTES_MAX = 4 * 1024 * 1024 };

static struct str text_keep(struct batch *batch, const char *text)
{
    struct str kept = str_of(text);
    kept.p = arena_dup(&batch->arena, kept.p, kept.len + 1);
    return kept;
}

static enum store_use_end attempt_ending(const struct instance *instance)
{
    const enum end_cause cause = (enum end_cause)instance->cause;
    if (cause == END_PREEMPTED) {
        return USE_TRY_EVICTED;
    }
    if (instance_lost(cause) || cause == END_LOSSES) {
        return USE_TRY_NODE_LOST;
    }
    return instance_failed(cause, instance->exit_code) ? USE_TRY_BAD : USE_TRY;
}

/* Work since the start or the last checkpoint is lost where it must be done again, or where the node, the
 * scheduler or another instance of the gang ended the attempt. */
static int64_t lost_from_ms(const struct instance *instance, bool again, int64_t end_ms)
{
    const enum end_cause cause = (enum end_cause)instance->cause;
    const bool lost = again || cause == END_PREEMPTED || instance_lost(cause) ||
                      cause == END_LOSSES || cause == END_GANG;
    const int64_t from_ms =
        instance->checkpoint_ms > 0 ? instance->checkpoint_ms : instance->started_ms;
    return lost && from_ms > 0 && from_ms < end_ms ? from_ms : end_ms;
}

/* The pool is that of the node: a task that was moved has another pool already. */
static void attempt_use(const struct core *core, const struct fact *ended, const struct task *task,
                        struct batch *batch)
{
    const struct attempt_key key = ended->attempt_ended.report.key;
    const struct instance *instance = query_instance(core, task->id, key.index);
    must(instance != NULL);
    const struct node *node = query_node(core, instance->node);
    must(node != NULL);
    /* An agent's clock may differ from the server's. */
    int64_t end_ms = instance->ended_ms < ended->time_ms ? instance->ended_ms : ended->time_ms;
    end_ms = end_ms > instance->allocated_ms ? end_ms : instance->allocated_ms;
    const int64_t used = store_usage_amount(instance->slots_milli, end_ms - instance->allocated_ms);
    struct store_use use = {
        .task = key.task.v,
        .index = key.index,
        .attempt = key.attempt,
        .ending = attempt_ending(instance),
        .begin_ms = instance->allocated_ms,
        .end_ms = end_ms,
        .lost_from_ms = lost_from_ms(instance, ended->attempt_ended.again, end_ms),
        .submitted_ms = task->submitted_ms,
        .slots_milli = instance->slots_milli,
        /* A task without a time limit asks for what it uses. */
        .asked = task->time_limit_ms > 0 ? 0 : used,
        .kind = task->kind,
        .pool = text_keep(batch, query_pool_name(core, node->pool)),
        .user = text_keep(batch, query_usage_user_name(core, task->user)),
        .project = text_keep(batch, query_account_name(core, task->account)),
        .node = text_keep(batch, query_node_name(core, instance->node)),
    };
    vec_push(&batch->uses, use);
}

void archive_attempt(const struct core *core, const struct fact *ended, struct batch *batch)
{
    const struct attempt_key key = ended->attempt_ended.report.key;
    const struct task *task = query_task(core, key.task);
    must(task != NULL);
    attempt_use(core, ended, task, batch);
    /* An instance of a gang that has ended begins again when the gang breaks. */
    if (!ended->attempt_ended.again && task->gang == 0) {
        return;
    }
    struct buf out;
    struct json_out j;
    struct task_writer writer;
    buf_init(&out, ARCHIVE_BYTES_MAX);
    json_out_init(&j, &out);
    task_json_writer_init(&writer, core, &batch->arena);
    task_json_attempt_ended(&writer, &j, task, key.index);
    must(!out.full);
    struct store_attempt row = {.task = key.task.v,
                                .index = key.index,
                                .attempt = key.attempt,
                                .ended_ms = batch->uses.at[batch->uses.count - 1].end_ms,
                                .json = {arena_dup(&batch->arena, out.data, out.len), out.len}};
    batch->bytes += out.len;
    buf_done(&out);
    vec_push(&batch->attempts, row);
}

static enum store_use_end task_ending(enum task_state state)
{
    switch (state) {
    case TASK_COMPLETED:
        return USE_COMPLETED;
    case TASK_FAILED:
        return USE_FAILED;
    case TASK_KILLED:
        return USE_KILLED;
    case TASK_UNAVAILABLE:
        return USE_UNAVAILABLE;
    case TASK_UNKNOWN:
    case TASK_STAGED:
    case TASK_PENDING:
    case TASK_PAUSED:
    case TASK_STARTING:
    case TASK_RUNNING:
    case TASK_STOPPING:
        break;
    }
    return USE_UNKNOWN;
}

static void amount_add(int64_t *sum, int64_t amount)
{
    *sum = *sum < STORE_USAGE_AMOUNT_MAX - amount ? *sum + amount : STORE_USAGE_AMOUNT_MAX;
}

/* Slots times milliseconds that the instances without a place have waited. */
static int64_t waited_of(const struct core *core, const struct task *task, int64_t now_ms)
{
    int64_t waited = 0;
    uint32_t left = task->waiting_count;
    for (uint32_t i = task->waiting_from; i < task->instance_count && left > 0; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        must(instance != NULL);
        if (instance->state == INSTANCE_WAITING) {
            const int64_t slots_milli = query_task_request(core, task, i)->slots_milli;
            const int64_t from_ms = instance->attempt > 0 ? instance->ended_ms : task->submitted_ms;
            amount_add(&waited, store_usage_amount(slots_milli, now_ms - from_ms));
            left--;
        }
    }
    return waited;
}

/* The parts of a use that belong to the task as a whole. */
static struct store_use task_part(const struct core *core, const struct task *task, int64_t at_ms,
                                  struct batch *batch)
{
    return (struct store_use){
        .task = task->id.v,
        .index = -1,
        .begin_ms = at_ms,
        .end_ms = at_ms,
        .lost_from_ms = at_ms,
        .kind = task->kind,
        .pool = text_keep(batch, query_pool_name(core, task->pool)),
        .user = text_keep(batch, query_usage_user_name(core, task->user)),
        .project = text_keep(batch, query_account_name(core, task->account)),
    };
}

void archive_waits_end(const struct core *core, const struct fact *fact, struct batch *batch)
{
    const bool killed = fact->type == FACT_TASK_KILL_ASKED;
    const struct task *task = query_task(core, killed ? fact->task.task : fact->task_ended.task);
    must(task != NULL);
    if (task->waiting_count > 0) {
        struct store_use use = task_part(core, task, fact->time_ms, batch);
        use.attempt = killed ? 1 : 2; /* 0 is the end of the task */
        use.waited = waited_of(core, task, fact->time_ms);
        vec_push(&batch->uses, use);
    }
}

/* The end of the task, with what its instances asked for by their time limit. */
static void task_use(const struct core *core, const struct task *task, struct batch *batch)
{
    struct store_use use = task_part(core, task, task->ended_ms, batch);
    use.ending = task_ending((enum task_state)task->state);
    for (uint32_t i = 0; i < task->instance_count && task->time_limit_ms > 0; i++) {
        const int64_t slots_milli = query_task_request(core, task, i)->slots_milli;
        amount_add(&use.asked, store_usage_amount(slots_milli, task->time_limit_ms));
    }
    vec_push(&batch->uses, use);
}

void archive_task(const struct core *core, task_id id, struct batch *batch)
{
    const struct task *task = query_task(core, id);
    must(task != NULL);
    struct task_spec spec;
    struct buf out;
    struct json_out j;
    struct task_writer writer;
    query_task_spec(core, id, &batch->arena, &spec);
    buf_init(&out, ARCHIVE_BYTES_MAX);
    json_out_init(&j, &out);
    task_json_writer_init(&writer, core, &batch->arena);
    task_json_spec(&writer, &j, task, &spec, TASK_JSON_ATTEMPTS);
    must(!out.full);
    struct store_history row = {
        .task = id.v,
        .submitted_ms = task->submitted_ms,
        .ended_ms = task->ended_ms,
        .state = task->state,
        .kind = task->kind,
        .pool = text_keep(batch, query_pool_name(core, task->pool)),
        .user = str_of(spec.user),
        .project = str_of(spec.project),
        .name = str_of(spec.name),
        .json = {arena_dup(&batch->arena, out.data, out.len), out.len},
    };
    batch->bytes += out.len;
    buf_done(&out);
    vec_push(&batch->history, row);
    task_use(core, task, batch);
}
