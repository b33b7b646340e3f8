/* map_json.c - see map_json.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/map_json.h"

#include "base/json_out.h"
#include "base/map.h"
#include "base/vec.h"
#include "core/model/names.h"

/* Numbers that were seen, in order, and the position of each. */
struct seen {
    struct map *at; /* number -> position + 1 */
    VEC(uint64_t) numbers;
};

struct map_writer {
    const struct core *core;
    struct json_out *j;
    struct seen pools;
    struct seen tasks;
    struct seen users;
    struct seen projects;
};

static void seen_init(struct seen *seen)
{
    *seen = (struct seen){.at = map_new()};
}

static void seen_done(struct seen *seen)
{
    map_free(seen->at);
    vec_done(&seen->numbers);
}

static uint64_t seen_position(struct seen *seen, uint64_t number)
{
    const uintptr_t known = (uintptr_t)map_get(seen->at, &number, sizeof number);
    if (known != 0) {
        return known - 1;
    }
    vec_push(&seen->numbers, number);
    (void)map_put(seen->at, &number, sizeof number, (void *)(uintptr_t)seen->numbers.count);
    return seen->numbers.count - 1;
}

static unsigned flags_of(const struct node *node)
{
    return (node->state == NODE_SILENT ? MAP_NODE_SILENT : 0U) |
           (node->state == NODE_LOST ? MAP_NODE_LOST : 0U) |
           (node->draining ? MAP_NODE_DRAINING : 0U) | (node->troubled ? MAP_NODE_TROUBLED : 0U) |
           (node->overhang ? MAP_NODE_OVERHANG : 0U) | (node->locked ? MAP_NODE_LOCKED : 0U) |
           (node->claim_count > 0 ? MAP_NODE_KEPT : 0U) |
           (node->devices_out != 0 ? MAP_NODE_DEVICES_OUT : 0U);
}

static void occupant_write(struct map_writer *w, const struct instance *instance)
{
    struct json_out *j = w->j;
    const uint64_t high = instance->devices >> 32;
    json_out_array(j);
    json_out_u64(j, seen_position(&w->tasks, instance->task.v));
    json_out_u64(j, instance->index);
    json_out_u64(j, instance->state);
    json_out_milli(j, instance->slots_milli);
    if (instance->devices != 0) {
        json_out_u64(j, instance->devices & UINT32_MAX);
    }
    if (high != 0) {
        json_out_u64(j, high);
    }
    json_out_end(j);
}

static void node_write(struct map_writer *w, const struct node *node)
{
    struct json_out *j = w->j;
    struct attempt_key cursor = {0};
    const struct instance *instance;
    json_out_array(j);
    json_out_u64(j, node->id.v);
    json_out_text(j, query_node_name(w->core, node->id));
    json_out_u64(j, seen_position(&w->pools, node->pool.v));
    json_out_u64(j, flags_of(node));
    json_out_milli(j, node->slots_milli);
    json_out_milli(j, node->slots_free);
    json_out_u64(j, node->device_count);
    json_out_array(j);
    for (size_t i = 0; i < MAP_JSON_OCCUPANTS_MAX &&
                       (instance = query_node_instance_next(w->core, node->id, &cursor)) != NULL;
         i++) {
        occupant_write(w, instance);
    }
    json_out_end(j);
    if (node->devices_out != 0) {
        json_out_u64(j, node->devices_out & UINT32_MAX);
        json_out_u64(j, node->devices_out >> 32);
    }
    json_out_end(j);
}

static const struct node *node_next(const struct core *core, const struct map_json_ask *ask,
                                    node_id after)
{
    return ask->pool.v != 0 ? query_pool_node_next(core, ask->pool, after)
                            : query_node_next(core, after);
}

/* Writes "nodes":[…]. Returns the last node when there are more. */
static uint32_t nodes_write(struct map_writer *w, const struct map_json_ask *ask)
{
    node_id last = ask->after;
    const struct node *node = NULL;
    json_out_key(w->j, "nodes");
    json_out_array(w->j);
    for (size_t i = 0; i < ask->name_count; i++) {
        node = query_node_named(w->core, ask->names[i]);
        if (node != NULL) {
            node_write(w, node);
        }
    }
    node = NULL;
    for (size_t i = 0;
         ask->names == NULL && (node = node_next(w->core, ask, last)) != NULL && i < ask->limit;
         i++) {
        last = node->id;
        node_write(w, node);
    }
    json_out_end(w->j);
    return node != NULL && ask->names == NULL ? last.v : 0;
}

static void gone_write(struct map_writer *w, const struct map_json_ask *ask)
{
    json_out_key(w->j, "gone");
    json_out_array(w->j);
    for (size_t i = 0; i < ask->name_count; i++) {
        if (query_node_named(w->core, ask->names[i]) == NULL) {
            json_out_text(w->j, ask->names[i]);
        }
    }
    json_out_end(w->j);
}

/* The nodes on their way. They are few, so that each answer has all of them. */
static void ghosts_write(struct map_writer *w, const struct map_json_ask *ask)
{
    const struct launch *launch = NULL;
    size_t count = 0;
    json_out_key(w->j, "ghosts");
    json_out_array(w->j);
    while (count < MAP_JSON_GHOSTS_MAX &&
           (launch = query_launch_next(w->core, launch != NULL ? launch->id : (launch_id){0})) !=
               NULL) {
        if (launch->node.v != 0 || launch->state == LAUNCH_ENDING ||
            (ask->pool.v != 0 && launch->pool.v != ask->pool.v)) {
            continue;
        }
        count++;
        json_out_array(w->j);
        json_out_u64(w->j, launch->id.v);
        json_out_u64(w->j, seen_position(&w->pools, launch->pool.v));
        json_out_text(w->j, names_launch_state((enum launch_state)launch->state));
        json_out_text(w->j, query_launch_zone(launch));
        json_out_time(w->j, launch->asked_ms);
        json_out_end(w->j);
    }
    json_out_end(w->j);
}

static void task_write(struct map_writer *w, uint64_t number)
{
    const struct task *task = query_task(w->core, (task_id){number});
    must(task != NULL); /* its instance holds a place */
    json_out_array(w->j);
    json_out_u64(w->j, task->id.v);
    json_out_u64(w->j, seen_position(&w->users, task->user.v));
    json_out_u64(w->j, seen_position(&w->projects, task->account.v));
    json_out_text(w->j, names_task_kind((enum task_kind)task->kind));
    json_out_u64(w->j, task->instance_count);
    json_out_u64(w->j, task->gang);
    json_out_end(w->j);
}

static void pool_write(struct map_writer *w, uint64_t number)
{
    json_out_text(w->j, query_pool_name(w->core, (pool_id){(uint32_t)number}));
}

static void user_write(struct map_writer *w, uint64_t number)
{
    json_out_text(w->j, query_usage_user_name(w->core, (user_id){(uint32_t)number}));
}

static void project_write(struct map_writer *w, uint64_t number)
{
    json_out_text(w->j, query_account_name(w->core, (account_id){(uint32_t)number}));
}

/* Writes a list of names to which nodes and tasks refer by position. `write` writes one of them.
 * Writing the tasks adds users and projects to their lists, so map_json() writes the tasks before
 * the users and projects. */
static void seen_write(struct map_writer *w, const char *key, const struct seen *seen,
                       void (*write)(struct map_writer *w, uint64_t number))
{
    json_out_key(w->j, key);
    json_out_array(w->j);
    for (size_t i = 0; i < seen->numbers.count; i++) {
        write(w, seen->numbers.at[i]);
    }
    json_out_end(w->j);
}

void map_json(const struct core *core, const struct map_json_ask *ask, int64_t now_ms,
              struct buf *out)
{
    struct json_out j;
    struct map_writer w = {.core = core, .j = &j};
    json_out_init(&j, out);
    seen_init(&w.pools);
    seen_init(&w.tasks);
    seen_init(&w.users);
    seen_init(&w.projects);
    json_out_put(&j, "{seq:%lu,time:%td", query_seq(core), now_ms);
    const uint32_t next = nodes_write(&w, ask);
    ghosts_write(&w, ask);
    gone_write(&w, ask);
    seen_write(&w, "tasks", &w.tasks, task_write);
    seen_write(&w, "pools", &w.pools, pool_write);
    seen_write(&w, "users", &w.users, user_write);
    seen_write(&w, "projects", &w.projects, project_write);
    json_out_put(&j, "next:%zu}", (size_t)next);
    seen_done(&w.pools);
    seen_done(&w.tasks);
    seen_done(&w.users);
    seen_done(&w.projects);
}
