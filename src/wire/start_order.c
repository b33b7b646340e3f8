/* start_order.c - fills the start order of an attempt.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/start_order.h"

#include "base/must.h"
#include "core/state/ports.h"

/* Do all instances that have a place have it on one node? */
static bool on_one_node(const struct core *core, const struct task *task, node_id node)
{
    for (uint32_t i = 1; i < task->instance_count; i++) {
        const struct instance *other = query_instance(core, task->id, i);
        if (other->node.v != 0 && other->node.v != node.v) {
            return false;
        }
    }
    return true;
}

/* Instances of a gang meet at the node of instance 0; in a network of their own, inside this network. */
static const char *master_address(const struct core *core, const struct task *task, bool host,
                                  struct arena *arena)
{
    const struct instance *first = query_instance(core, task->id, 0);
    must(first != NULL);
    if (first->node.v == 0) {
        return "";
    }
    if (!host && on_one_node(core, task, first->node)) {
        return "127.0.0.1";
    }
    struct node_spec node;
    query_node_spec(core, first->node, arena, &node);
    return node.address;
}

/* Returns the range of the network, if the network has a way out; "": it has none. */
static const char *way_out(const struct core *core, network_id id, struct arena *arena)
{
    struct network_spec spec = {.outbound = false};
    if (query_network(core, id) != NULL) {
        query_network_spec(core, id, arena, &spec);
    }
    return spec.outbound ? spec.range : "";
}

/* Sets WEIR_GROUP, the index of the instance in its group and the size of the group. */
static void group_env(const struct core *core, const struct task *task, uint32_t index,
                      struct arena *arena, struct task_spec *spec)
{
    enum { OWN = 3 };
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    if (!form_grouped(form) || spec->env_count > TASK_ENV_MAX - OWN) {
        return;
    }
    const struct form_group *leaf = form_leaf(form, index);
    const char **env = arena_new(arena, const char *, spec->env_count + OWN);
    for (uint32_t i = 0; i < spec->env_count; i++) {
        env[i] = spec->env[i];
    }
    const struct group_spec *group = &spec->groups[leaf - form->groups - 1];
    env[spec->env_count++] = arena_fmt(arena, "WEIR_GROUP=%s", group->name);
    env[spec->env_count++] = arena_fmt(arena, "WEIR_GROUP_RANK=%u", index - leaf->first);
    env[spec->env_count++] = arena_fmt(arena, "WEIR_GROUP_SIZE=%u", leaf->count);
    spec->env = env;
}

bool start_order_fill(const struct core *core, const struct effect *effect, struct arena *arena,
                      struct agent_order *ret)
{
    must(effect->type == EFFECT_START);
    const struct task *task = query_task(core, effect->key.task);
    const struct instance *instance =
        task != NULL ? query_instance(core, task->id, effect->key.index) : NULL;
    if (instance == NULL || instance->attempt != effect->key.attempt || instance->node.v == 0) {
        return false;
    }
    struct task_spec spec;
    query_task_spec(core, task->id, arena, &spec);
    group_env(core, task, effect->key.index, arena, &spec);
    const struct request *request = query_instance_request(core, instance);
    const network_id network = query_network_of(core, task);
    const bool host = network.v == NETWORK_ID_HOST.v;
    bool gang = task->gang != 0 && task->instance_count > 1;
    *ret = (struct agent_order){
        .type = AGENT_START,
        .epoch = query_epoch(core),
        .incarnation = instance->incarnation,
        .start =
            {
                .key = effect->key,
                .instance = task->array_first + effect->key.index,
                .argv = spec.argv,
                .argv_count = spec.argv_count,
                .env = spec.env,
                .env_count = spec.env_count,
                .workdir = spec.workdir,
                .image = spec.image,
                .upload = spec.upload,
                .mounts = spec.mounts,
                .mount_count = spec.mount_count,
                .job_user = "",
                .slots_milli = instance->slots_milli,
                .devices = instance->devices,
                .cpu_milli = instance->cpu_milli,
                .memory_bytes = instance->memory_bytes,
                /* Processors that came with the slots are a weight, so that no processor idles.
                 * Memory cannot be taken back, so all of it is a limit. */
                .cpu_limit_milli = request->cpu_milli > 0 ? instance->cpu_milli : 0,
                .memory_limit_bytes = instance->memory_bytes,
                .pool = query_pool_name(core, task->pool),
                .node = query_node_name(core, instance->node),
                .rank = gang ? effect->key.index : 0,
                .world_size = gang ? task->instance_count : 1,
                .master_addr = gang ? master_address(core, task, host, arena) : "",
                .master_port = gang ? ports_master(core, task) : 0,
                .network = host ? "" : query_network_name(core, network),
                .project = host ? "" : query_account_name(core, task->account),
                .user = host ? "" : spec.user,
                .outbound = way_out(core, network, arena),
                .grace_ms = task->grace_ms,
                .output_max = AGENT_STREAM_BYTES_MAX,
                .terminal = task->kind == TASK_SHELL,
            },
    };
    return true;
}
