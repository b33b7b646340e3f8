/* state_json.c - writes pools, nodes, departments, projects and quotas, and the whole state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/state_json.h"

#include "core/sched/keep/budget.h"
#include "core/sched/order/shares.h"
#include "core/state/history.h"
#include "core/state/membership.h"
#include "wire/attempt_key.h"
#include "wire/flavor_json.h"
#include "wire/life_text.h"
#include "wire/object_json.h"
#include "wire/part_json.h"
#include "wire/quota_warn.h"
#include "wire/task_json.h"

/* ---- pools ---- */

/* Writes the fields that users set. */
static void pool_spec_json(struct json_out *j, const struct pool_spec *spec)
{
    json_out_put(j, "name:%s", spec->name);
    object_json_fields(j, &pool_object, GROUP_TOP, spec);
    object_json_accepts(j, spec->accepts);
    part_json_texts(j, "topology", spec->topology, spec->topology_count);
    part_json_labels(j, "selector", spec->selector, spec->selector_count);
    part_json_texts(j, "for", spec->guests, spec->guest_count);
    json_out_key(j, "slots_per_node");
    if (spec->slots_per_node > 0) {
        json_out_u64(j, spec->slots_per_node - 1);
    } else {
        json_out_null(j); /* all that a node has */
    }
    json_out_put(j, "scheduler:{");
    object_json_fields(j, &pool_object, GROUP_SCHEDULER, spec);
    json_out_key(j, "history");
    if (spec->history_half_life_ms == 0 && spec->history_window_ms == 0) {
        json_out_null(j); /* shares of the pool do not depend on past use */
    } else {
        json_out_object(j);
        object_json_fields(j, &pool_object, GROUP_HISTORY, spec);
        json_out_end(j);
    }
    json_out_put(j, "},provider:{");
    object_json_fields(j, &pool_object, GROUP_PROVIDER, spec);
    json_out_put(j, "},spec:");
    object_json_pool(j, spec);
}

/* Writes a budget in slot-hours: what it has now, the most that it saves up, and what it gets and pays in an hour. */
static void budget_json(struct json_out *j, const char *key, const struct budget_look *look)
{
    json_out_key(j, key);
    json_out_object(j);
    json_out_kv_milli(j, "level", part_json_slot_hours(look->level));
    json_out_kv_milli(j, "most", part_json_slot_hours(look->most));
    json_out_kv_milli(j, "gets", look->fill);
    json_out_kv_milli(j, "pays", look->pays);
    json_out_end(j);
}

/* Writes how many nodes of the pool the selectors of other pools match, too, and the names of the first ones. */
static void contested_json(struct json_out *j, const struct core *core, const struct pool *pool)
{
    const struct node *node = NULL;
    json_out_put(j, "contested:{count:%u,nodes:[", pool->contested_count);
    for (uint32_t i = 0; i < STATE_JSON_CONTESTED_MAX; i++) {
        node = membership_contested_next(core, pool->id, node != NULL ? node->id : (node_id){0});
        if (node == NULL) {
            break;
        }
        json_out_text(j, query_node_name(core, node->id));
    }
    json_out_put(j, "]}");
}

/* Writes the replacement of the pool's nodes: the one under way, or how the last one ended. */
static void replacement_json(struct json_out *j, const struct pool *pool)
{
    const struct replacement *row = &pool->replacement;
    json_out_key(j, "replacement");
    if (row->since_ms == 0) {
        json_out_null(j);
        return;
    }
    json_out_put(j, "{at_once:%u,total:%u,begun:%u,busy:%s,since:%td,ended:%s}", row->at_once,
                 row->total, row->begun, names_busy((enum busy)row->busy), row->since_ms,
                 query_pool_replaced(pool));
}

void state_json_pool(struct json_out *j, const struct core *core, const struct pool *pool,
                     bool private, struct arena *arena)
{
    /* null: the pool has no slots, or slots of several types */
    static const char *const slot_types[] = {
        [SLOTS_CPU] = "cpu", [SLOTS_GPU] = "gpu", [SLOTS_MIXED] = NULL};
    struct pool_spec spec;
    struct pool_figures figures;
    query_pool_figures(core, pool->id, &figures);
    query_pool_spec(core, pool->id, arena, &spec);
    spec.ec2_user_data = private ? spec.ec2_user_data : "";
    json_out_object(j);
    pool_spec_json(j, &spec);
    life_text_json(j, pool, &figures);
    json_out_put(j, "nodes:{total:%u,up:%u,silent:%u,draining:%u,lost:%u},", figures.nodes_total,
                 figures.nodes_up, figures.nodes_silent, figures.nodes_draining,
                 figures.nodes_lost);
    json_out_put(j, "slots:{total:%.3ld,free:%.3ld,used:%.3ld},", pool->slots_milli,
                 pool->slots_free, figures.slots_used);
    json_out_kv_text(j, "slot_type", slot_types[figures.slot_type]);
    json_out_put(j, "aux:{total:%lu,free:%lu,used:%lu},tasks:{pending:%u,running:%u},",
                 figures.aux_total, figures.aux_free, figures.aux_used, pool->pending_count,
                 pool->running_count);
    json_out_put(j, "reserved_task:%zu", pool->reserved[0].task.v);
    part_json_reservations(j, pool->reserved, pool->reserved_count);
    const struct budget_look idle = budget_look_idle(pool, query_time_ms(core));
    const struct budget_look loss = budget_look_loss(pool, query_time_ms(core));
    json_out_put(j, "budgets:{");
    budget_json(j, "idle", &idle);
    budget_json(j, "loss", &loss);
    json_out_put(j, "},launches:{live:%u,starting:%u,ending:%u,leaving:%u,failed:%u,refusal:%s",
                 pool->launch_live, pool->launch_starting,
                 pool->launch_count - pool->launch_live - pool->launch_leaving,
                 pool->launch_leaving, pool->launch_failures, query_pool_refusal(pool));
    json_out_put(j, "retry_at:%td},", pool->launch_retry_ms);
    flavor_json_market(j, core, pool, arena);
    contested_json(j, core, pool);
    replacement_json(j, pool);
    json_out_put(j, "created_at:%td}", pool->created_ms);
}

/* ---- nodes ---- */

static void total_free_json(struct json_out *j, const char *key, resource_id resource,
                            int64_t total, int64_t free)
{
    json_out_key(j, key);
    json_out_object(j);
    part_json_amount(j, "total", resource, total);
    part_json_amount(j, "free", resource, free);
    json_out_end(j);
}

static void node_resources_json(struct json_out *j, const struct core *core,
                                const struct node *node)
{
    json_out_put(j, "resources:{");
    total_free_json(j, "slots", (resource_id){RESOURCE_SLOTS}, node->slots_milli, node->slots_free);
    total_free_json(j, "cpu", (resource_id){RESOURCE_CPU}, node->cpu_milli, node->cpu_free);
    total_free_json(j, "memory", (resource_id){RESOURCE_MEMORY}, node->memory_bytes,
                    node->memory_free);
    for (uint32_t i = 0; i < node->named_count; i++) {
        total_free_json(j, query_resource_name(core, node->named[i].resource),
                        node->named[i].resource, node->named[i].milli, node->named_free[i]);
    }
    json_out_put(j, "},devices:[");
    for (uint32_t i = 0; i < node->device_count; i++) {
        json_out_put(j, "{index:%u,free:%.3ld,out:%i}", i, (int64_t)node->device_free[i],
                     (int)(node->devices_out >> i & 1));
    }
    json_out_end(j);
}

/* Writes whether the node's labels choose its pool, the pool to which the node goes when it is empty (null: it stays), and
 * the pools whose selectors match. */
static void node_pool_json(struct json_out *j, const struct core *core, const struct node *node)
{
    json_out_kv_bool(j, "follows_labels", node->follows_labels);
    json_out_kv_text(j, "pool_next",
                     node->pool_next.v != 0 ? query_pool_name(core, node->pool_next) : NULL);
    json_out_put(j, "selected_by:[");
    if (node->selector_matches > 0) {
        pool_id pool = {0};
        while ((pool = membership_match_next(core, node, pool)).v != 0) {
            json_out_text(j, query_pool_name(core, pool));
        }
    }
    json_out_end(j);
}

void state_json_node(struct json_out *j, const struct core *core, const struct node *node,
                     struct arena *arena)
{
    struct node_spec spec;
    struct attempt_key key = {0};
    query_node_spec(core, node->id, arena, &spec);
    const struct launch *launch = query_launch(core, node->launch);
    const char *why = launch != NULL ? query_launch_words(launch) : "";
    why = why[0] != '\0' ? why : "its machine ends";
    json_out_put(j,
                 "{name:%s,pool:%s,state:%s,draining:%i,drain_by:%td,leaving:%s,locked:%i,spare:%i",
                 query_node_name(core, node->id), query_pool_name(core, node->pool),
                 names_node_state((enum node_state)node->state), node->draining, node->drain_by_ms,
                 query_launch_goes(core, node) ? why : "", node->locked, node->spare);
    json_out_put(j, "trouble:%s,device_trouble:%s,unprevented:%s,limits:%s", spec.trouble,
                 spec.device_trouble, spec.unprevented, spec.limits);
    part_json_labels(j, "labels", spec.labels, spec.label_count);
    node_pool_json(j, core, node);
    node_resources_json(j, core, node);
    json_out_put(j, "aux:{max:%u,used:%u},incarnation:%u,address:%s,version:%s,tasks:[",
                 node->aux_max, node->aux_used, node->incarnation, spec.address, spec.version);
    for (uint32_t i = 0; i < STATE_JSON_NODE_TASKS_MAX; i++) {
        if (query_node_instance_next(core, node->id, &key) == NULL) {
            break;
        }
        char text[ATTEMPT_KEY_TEXT_MAX];
        (void)attempt_key_text(key, text);
        json_out_text(j, text);
    }
    json_out_put(j, "]}");
}

/* ---- departments and projects ---- */

/* Writes the parent: the department of a project, or the department above a department. At the
 * top the parent is null. */
static void parent_json(struct json_out *j, const struct core *core, const struct account *account)
{
    json_out_kv_text(j, account->kind == ACCOUNT_PROJECT ? "department" : "parent",
                     account->parent.v != 0 ? query_account_name(core, account->parent) : NULL);
}

void state_json_account(struct json_out *j, const struct core *core, const struct account *account,
                        struct arena *arena)
{
    struct account_spec spec;
    query_account_spec(core, account->id, arena, &spec);
    json_out_put(j, "{name:%s", spec.name);
    parent_json(j, core, account);
    object_json_fields(j, &account_object, GROUP_TOP, &spec);
    json_out_kv_u64(j, "tasks", account->task_count);
    if (account->kind == ACCOUNT_DEPARTMENT) {
        json_out_put(j, "children:%u", account->child_count);
    }
    json_out_end(j);
}

/* ---- quotas ---- */

static void whose_json(struct json_out *j, const struct core *core, account_id id, pool_id pool)
{
    const struct account *account = query_account(core, id);
    json_out_put(j, "kind:%s,account:%s", names_account_kind(account->kind),
                 query_account_name(core, id));
    parent_json(j, core, account);
    json_out_put(j, "pool:%s", query_pool_name(core, pool));
}

/* Writes the quota, and leaves its object open. */
static void quota_open(struct json_out *j, const struct core *core, account_id account,
                       pool_id pool, struct arena *arena)
{
    struct quota_spec spec;
    query_quota_spec(core, account, pool, arena, &spec);
    json_out_object(j);
    whose_json(j, core, account, pool);
    json_out_put(j, "resources:{");
    for (uint32_t i = 0; i < spec.amount_count; i++) {
        const struct quota_amount *amount = &spec.amounts[i];
        resource_id resource = {0};
        (void)query_resource_named(core, amount->resource, &resource);
        json_out_key(j, amount->resource);
        json_out_object(j);
        /* The list of quotas shows the effective amount of a guarantee that nobody set. */
        if (amount->guaranteed != QUOTA_UNSET) {
            part_json_bound(j, "guaranteed", resource, amount->guaranteed);
        }
        part_json_bound(j, "limit", resource, amount->limit);
        json_out_kv_milli(j, "weight", amount->weight);
        json_out_end(j);
    }
    json_out_end(j);
    object_json_fields(j, &quota_object, GROUP_TOP, &spec.rules);
}

void state_json_quota(struct json_out *j, const struct core *core, account_id account, pool_id pool,
                      struct arena *arena)
{
    quota_open(j, core, account, pool, arena);
    json_out_end(j);
}

void state_json_quota_set(struct json_out *j, const struct core *core, account_id account,
                          pool_id pool, struct arena *arena)
{
    const char *warnings[QUOTA_WARN_MAX];
    quota_open(j, core, account, pool, arena);
    part_json_texts(j, "warnings", warnings, quota_warn(core, account, pool, arena, warnings));
    json_out_end(j);
}

/* Writes the part of the pool that the account used in the past, 0 to 1; null: shares of the
 * pool do not depend on past use. */
static void history_json(struct json_out *j, const struct core *core, account_id account,
                         pool_id pool, uint32_t dim)
{
    enum { PARTS = HISTORY_FULL / 1000 };
    const struct pool *row = query_pool(core, pool);
    json_out_key(j, "history");
    if (row == NULL || (row->history_half_life_ms == 0 && row->history_window_ms == 0)) {
        json_out_null(j);
    } else {
        json_out_milli(j, history_used(core, account, pool, dim) / PARTS);
    }
}

void state_json_quota_line(struct json_out *j, const struct core *core, account_id account,
                           pool_id pool, uint32_t dim)
{
    resource_id resource = query_dim_resource(core, dim);
    struct quota quota;
    struct usage usage;
    query_quota(core, account, pool, &quota);
    query_usage(core, account, pool, &usage);
    const int64_t demand = query_usage_demand(core, account, pool, dim);
    json_out_object(j);
    whose_json(j, core, account, pool);
    json_out_put(j, "resource:%s", query_resource_name(core, resource));
    part_json_bound(j, "guaranteed", resource, quota.guaranteed.at[dim]);
    json_out_put(j, "computed:%i", query_quota_computed(core, account, pool, resource));
    part_json_bound(j, "limit", resource, quota.limit.at[dim]);
    json_out_put(j, "weight:%.3ld,rank:%u", (int64_t)quota.weight[dim], quota.rules.rank);
    part_json_bound(j, "share", resource, shares_shown(core, account, pool, dim));
    history_json(j, core, account, pool, dim);
    part_json_bound(j, "allocated", resource, usage.allocated.at[dim]);
    part_json_bound(j, "fixed", resource, usage.fixed.at[dim]);
    part_json_bound(j, "leaving", resource, usage.leaving.at[dim]);
    part_json_bound(j, "borrowed", resource, quota_borrowed(&quota, &usage, dim));
    part_json_bound(j, "demand", resource, demand);
    part_json_bound(j, "above_limit", resource, quota_demand(&usage, dim) - demand);
    part_json_bound(j, "overhang", resource, quota_overhang(&quota, &usage, dim));
    json_out_put(j, "pending:%u,running:%u}", usage.pending_count, usage.running_count);
}

bool state_json_quota_line_matters(const struct core *core, account_id account, pool_id pool,
                                   uint32_t dim)
{
    struct quota quota;
    query_quota(core, account, pool, &quota);
    return dim == DIM_SLOTS || quota.guaranteed.at[dim] != QUOTA_UNLIMITED ||
           quota.limit.at[dim] != QUOTA_UNLIMITED || quota.weight[dim] != QUOTA_WEIGHT_DEFAULT;
}

/* ---- the whole state ---- */

static void accounts_json(struct json_out *j, const struct core *core, enum account_kind kind,
                          struct arena *arena)
{
    json_out_put(j, kind == ACCOUNT_PROJECT ? "projects:[" : "departments:[");
    for (const struct account *account = query_account_next(core, (account_id){0}); account != NULL;
         account = query_account_next(core, account->id)) {
        if (account->kind == kind) {
            state_json_account(j, core, account, arena);
            arena_clear(arena);
        }
    }
    json_out_end(j);
}

static void quotas_json(struct json_out *j, const struct core *core, struct arena *arena)
{
    account_id account = {0};
    pool_id pool = {0};
    json_out_put(j, "quotas:[");
    while (query_quota_next(core, &account, &pool)) {
        state_json_quota(j, core, account, pool, arena);
        arena_clear(arena);
    }
    json_out_end(j);
}

static void tasks_json(struct json_out *j, const struct core *core, struct arena *arena)
{
    struct task_writer writer;
    task_json_writer_init(&writer, core, arena);
    json_out_put(j, "tasks:[");
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        task_json(&writer, j, task, TASK_JSON_ATTEMPTS | TASK_JSON_PLACES | TASK_JSON_NO_ENV);
        arena_clear(arena);
    }
    json_out_end(j);
}

void state_json(const struct core *core, int64_t now_ms, struct buf *out)
{
    struct arena arena;
    struct json_out j;
    arena_init(&arena);
    json_out_init(&j, out);
    json_out_put(&j, "{version:%u,seq:%lu,time:%td,defaults:{gpu_pool:%s,cpu_pool:%s},pools:[",
                 STATE_JSON_VERSION, query_seq(core), now_ms,
                 query_default_pool(core, POOL_DEFAULT_GPU),
                 query_default_pool(core, POOL_DEFAULT_CPU));
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        state_json_pool(&j, core, pool, false, &arena);
        arena_clear(&arena);
    }
    json_out_put(&j, "],flavors:[");
    for (const struct flavor *flavor = query_flavor_next(core, (flavor_id){0}); flavor != NULL;
         flavor = query_flavor_next(core, flavor->id)) {
        flavor_json(&j, core, flavor, &arena);
        arena_clear(&arena);
    }
    json_out_put(&j, "],nodes:[");
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        state_json_node(&j, core, node, &arena);
        arena_clear(&arena);
    }
    json_out_end(&j);
    accounts_json(&j, core, ACCOUNT_DEPARTMENT, &arena);
    accounts_json(&j, core, ACCOUNT_PROJECT, &arena);
    quotas_json(&j, core, &arena);
    tasks_json(&j, core, &arena);
    json_out_end(&j);
    arena_done(&arena);
}
