/* cluster.c - a core that is set up as a case describes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"

#include "base/must.h"
#include "core/model/fit.h"

enum { PASSES_MAX = 1000, WORK_MAX = 1000000, START_MS = 1000 };

enum verdict cluster_do(struct cluster *cluster, struct input in)
{
    fact_list_init(&cluster->facts, cluster->arena);
    in.now_ms = cluster->now_ms;
    in.actor = "user:peers";
    in.cause = "";
    const enum verdict verdict = core_decide(cluster->core, &in, &cluster->facts);
    for (size_t i = 0; verdict == VERDICT_OK && i < cluster->facts.count; i++) {
        cluster->started_count += cluster->facts.at[i].type == FACT_ALLOCATED;
        cluster->stopped_count += cluster->facts.at[i].type == FACT_EVICTED;
        cluster->claimed_count += cluster->facts.at[i].type == FACT_CLAIMED;
        cluster->asked_count += cluster->facts.at[i].type == FACT_LAUNCH_ASKED;
        core_apply(cluster->core, &cluster->facts.at[i]);
    }
    core_check(cluster->core);
    return verdict;
}

static void must_do(struct cluster *cluster, struct input in)
{
    must(cluster_do(cluster, in) == VERDICT_OK);
}

void cluster_init(struct cluster *cluster, struct arena *arena)
{
    *cluster = (struct cluster){.core = core_new(), .arena = arena, .now_ms = START_MS};
    must_do(cluster, (struct input){.type = INPUT_SERVER_START, .server = {.server_uuid = {1}}});
    struct pool_spec pool = cluster_pool(cluster);
    pool.turn_ms = 0; /* the peers' rule: shares count at once */
    pool.patience_ms = (int64_t)365 * 24 * 60 * 60 * 1000; /* the peers keep no places */
    cluster_pool_set(cluster, &pool);
}

void cluster_done(struct cluster *cluster)
{
    core_free(cluster->core);
}

struct pool_spec cluster_pool(struct cluster *cluster)
{
    struct pool_spec spec;
    const struct pool *pool = query_pool_named(cluster->core, POOL_DEFAULT_NAME);
    query_pool_spec(cluster->core, pool->id, cluster->arena, &spec);
    return spec;
}

void cluster_pool_set(struct cluster *cluster, const struct pool_spec *spec)
{
    const struct pool *pool = query_pool_named(cluster->core, spec->name);
    struct input in = {.type = pool == NULL ? INPUT_POOL_CREATE : INPUT_POOL_EDIT};
    in.pool.spec = spec;
    in.pool.pool = pool == NULL ? (pool_id){0} : pool->id;
    must_do(cluster, in);
}

node_id cluster_node(struct cluster *cluster, struct node_spec spec)
{
    if (spec.pool == NULL) {
        spec.pool = POOL_DEFAULT_NAME;
    }
    if (query_pool_named(cluster->core, spec.pool) == NULL) {
        struct pool_spec pool = cluster_pool(cluster);
        pool.name = spec.pool;
        cluster_pool_set(cluster, &pool);
    }
    spec.supervisor[0] = (uint8_t)++cluster->node_count;
    spec.supervisor[1] = (uint8_t)(cluster->node_count >> 8);
    spec.boot_id = "boot";
    spec.address = "127.0.0.1";
    spec.version = "1";
    must_do(cluster, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &spec}});
    return query_node_named(cluster->core, spec.name)->id;
}

bool cluster_account(struct cluster *cluster, enum account_kind kind, const char *name,
                     const char *parent)
{
    const struct account_spec spec = {.kind = kind, .name = name, .parent = parent};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    return cluster_do(cluster, in) == VERDICT_OK;
}

void cluster_quota(struct cluster *cluster, account_id account, const struct quota_spec *spec)
{
    for (const struct pool *pool = query_pool_next(cluster->core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(cluster->core, pool->id)) {
        struct input in = {.type = INPUT_QUOTA_SET};
        in.quota.account = account;
        in.quota.pool = pool->id;
        in.quota.spec = spec;
        must_do(cluster, in);
    }
}

struct task_spec cluster_task(const char *name)
{
    static const char *const argv[] = {"true"};
    return (struct task_spec){.kind = TASK_EXPERIMENT,
                              .name = name,
                              .user = "peers",
                              .project = "",
                              .image = "",
                              .workdir = "",
                              .argv = argv,
                              .argv_count = 1,
                              .cpu_milli = ASK_NOTHING,
                              .memory_bytes = ASK_NOTHING,
                              .instances = 1,
                              .preemptible = true,
                              .repeatable = true,
                              .stage = true,
                              .priority = PRIORITY_DEFAULT,
                              .grace_ms = GRACE_MS_DEFAULT,
                              .stale_grace_ms = STALE_GRACE_POOL,
                              .preemption_delay_ms = PREEMPTION_DELAY_POOL};
}

task_id cluster_stage(struct cluster *cluster, struct task_spec spec)
{
    struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = &spec, .count = 1}};
    return cluster_do(cluster, in) == VERDICT_OK ? query_task_last(cluster->core) : (task_id){0};
}

void cluster_queue(struct cluster *cluster, task_id task)
{
    must_do(cluster, (struct input){.type = INPUT_TASK_START, .task = {.task = task}});
}

void cluster_pass(struct cluster *cluster)
{
    pool_id pool;
    cluster->now_ms++; /* what started in this very moment would be protected */
    for (int turn = 0; query_pass_due(cluster->core, cluster->now_ms, &pool); turn++) {
        must(turn < PASSES_MAX);
        must_do(cluster, (struct input){.type = INPUT_PASS, .pass = {pool, WORK_MAX}});
        if (cluster->facts.count == 0) {
            core_pass_idle(cluster->core, pool);
        }
    }
}

static void report(struct cluster *cluster, const struct instance *instance, enum report_type type,
                   int32_t exit_code)
{
    const struct report one = {.type = type,
                               .key = {instance->task, instance->index, instance->attempt},
                               .incarnation = instance->incarnation,
                               .at_ms = cluster->now_ms,
                               .exit_code = exit_code};
    must_do(cluster, (struct input){.type = INPUT_REPORT, .report = {instance->node, &one, 1}});
}

/* Sends the same report for every instance of the task whose state is among these bits. */
static void report_all(struct cluster *cluster, task_id task, unsigned states,
                       enum report_type type)
{
    const struct task *row = query_task(cluster->core, task);
    const uint32_t count = row == NULL ? 0 : row->instance_count;
    for (uint32_t i = 0; i < count && query_task(cluster->core, task) != NULL; i++) {
        const struct instance *instance = query_instance(cluster->core, task, i);
        if ((states >> instance->state & 1u) != 0) {
            report(cluster, instance, type, 0);
        }
    }
}

void cluster_started(struct cluster *cluster, task_id task)
{
    report_all(cluster, task, 1u << INSTANCE_STARTING, REPORT_STARTED);
}

void cluster_stopped(struct cluster *cluster, task_id task, uint32_t index)
{
    const struct instance *instance = query_instance(cluster->core, task, index);
    if (instance != NULL && instance->state == INSTANCE_STOPPING) {
        report(cluster, instance, REPORT_ENDED, 0);
    }
}

void cluster_ended(struct cluster *cluster, task_id task)
{
    const unsigned holding =
        1u << INSTANCE_STARTING | 1u << INSTANCE_RUNNING | 1u << INSTANCE_STOPPING;
    report_all(cluster, task, holding, REPORT_ENDED);
}

void cluster_failed(struct cluster *cluster, task_id task, uint32_t index)
{
    report(cluster, query_instance(cluster->core, task, index), REPORT_ENDED, 1);
}

void cluster_remove(struct cluster *cluster, node_id node)
{
    static const enum input_type steps[] = {INPUT_NODE_SILENT, INPUT_NODE_LOST, INPUT_NODE_REMOVE};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        must_do(cluster, (struct input){.type = steps[i], .node = {.node = node}});
    }
}

static struct fact recorded(const struct cluster *cluster, enum fact_type type)
{
    return (struct fact){
        .type = type, .version = 1, .time_ms = cluster->now_ms, .actor = "scheduler", .cause = ""};
}

bool cluster_runs(struct cluster *cluster, task_id task, uint32_t index, node_id node,
                  uint64_t devices)
{
    const struct node *here = query_node(cluster->core, node);
    const struct task *row = query_task(cluster->core, task);
    const struct request *request = query_task_request(cluster->core, row, index);
    struct space place;
    struct grant grant;
    space_now(here, &place);
    if (fit_count(&place, request, 1) == 0) {
        return false;
    }
    fit_grant(&place, request, &grant);
    const struct attempt_key key = {task, index, 1};
    struct fact fact = recorded(cluster, FACT_ALLOCATED);
    fact.allocated.key = key;
    fact.allocated.node = node;
    fact.allocated.incarnation = here->incarnation;
    fact.allocated.devices = devices != 0 ? devices : grant.devices;
    fact.allocated.slots_milli = grant.slots_milli;
    fact.allocated.cpu_milli = grant.cpu_milli;
    fact.allocated.memory_bytes = grant.memory_bytes;
    core_apply(cluster->core, &fact);
    fact = recorded(cluster, FACT_ATTEMPT_STARTED);
    fact.attempt_started.key = key;
    fact.attempt_started.at_ms = cluster->now_ms;
    core_apply(cluster->core, &fact);
    return true;
}

void cluster_stopping(struct cluster *cluster, task_id task, uint32_t index, bool stuck)
{
    struct fact fact = recorded(cluster, FACT_ATTEMPT_STOPPING);
    fact.attempt_stopping.key = (struct attempt_key){task, index, 1};
    fact.attempt_stopping.cause = END_PREEMPTED;
    fact.attempt_stopping.deadline_ms = stuck ? 0 : cluster->now_ms + GRACE_MS_DEFAULT;
    core_apply(cluster->core, &fact);
}

uint32_t cluster_active(const struct cluster *cluster, task_id task)
{
    const struct task *row = query_task(cluster->core, task);
    return row == NULL ? 0 : row->active_count;
}
