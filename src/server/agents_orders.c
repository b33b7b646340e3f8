/* agents_orders.c - turns effects of the core into orders of the protocol, and reconciles a node
 * that comes back (P11). SPDX-License-Identifier: Apache-2.0 */
#include "server/agents_internal.h"

#include "core/model/instance.h"
#include "wire/start_order.h"

void agents_orders_add(const struct agents *agents, struct agent_order *order, uint32_t incarnation,
                       struct buf *out)
{
    order->epoch = query_epoch(ledger_core(agents->o.ledger));
    order->fact = ledger_seq_committed(agents->o.ledger);
    order->incarnation = incarnation;
    agent_order_encode(order, out);
    buf_add_char(out, '\n');
}

void agents_orders_welcome(const struct agents *agents, const struct agent_hello *hello,
                           const struct node *node, struct buf *out)
{
    struct agent_order order = {
        .type = AGENT_WELCOME,
        .welcome =
            {
                .protocol = AGENT_PROTOCOL_MAX < hello->protocol_max ? AGENT_PROTOCOL_MAX
                                                                     : hello->protocol_max,
                .node = hello->node.name,
                .now_ms = ledger_now_ms(agents->o.ledger),
                .heartbeat_ms = agents->o.heartbeat_ms,
                .lost_after_ms = agents->o.lost_after_ms,
                .report_bytes_max = AGENT_REPORT_BYTES_MAX,
            },
    };
    agents_orders_add(agents, &order, node->incarnation, out);
}

void agents_orders_bye(const struct agents *agents, const struct agent_link *link, const char *why,
                       struct buf *out)
{
    struct agent_order order = {.type = AGENT_BYE, .bye = {.why = why}};
    agents_orders_add(agents, &order, link->incarnation, out);
}

void agents_orders_ping(const struct agents *agents, const struct agent_link *link, struct buf *out)
{
    struct agent_order order = {.type = AGENT_PING};
    agents_orders_add(agents, &order, link->incarnation, out);
}

static void stop_add(const struct agents *agents, const struct effect *effect, struct buf *out)
{
    struct agent_order order = {
        .type = AGENT_STOP,
        .stop = {.key = effect->key, .grace_ms = effect->grace_ms, .cause = effect->cause},
    };
    agents_orders_add(agents, &order, effect->incarnation, out);
}

/* The instance, if the attempt still holds its place on this node. Memory may be ahead of the
 * effect: the attempt may have ended meanwhile. If that end is never stored, reconciliation orders
 * the attempt again. */
static const struct instance *instance_holding(const struct core *core, const struct effect *effect)
{
    if (query_task(core, effect->key.task) == NULL) {
        return NULL;
    }
    const struct instance *instance = query_instance(core, effect->key.task, effect->key.index);
    if (instance == NULL || instance->attempt != effect->key.attempt ||
        instance->node.v != effect->node.v || instance->incarnation != effect->incarnation ||
        !instance_active(instance)) {
        return NULL;
    }
    return instance;
}

void agents_orders_effect(struct agents *agents, const struct core *core,
                          const struct effect *effect, struct buf *out)
{
    if (instance_holding(core, effect) == NULL) {
        return;
    }
    if (effect->type == EFFECT_START) {
        struct agent_order order;
        arena_clear(&agents->arena);
        if (start_order_fill(core, effect, &agents->arena, &order)) {
            agents_orders_add(agents, &order, effect->incarnation, out);
        }
    } else {
        must(effect->type == EFFECT_STOP);
        stop_add(agents, effect, out);
    }
}

/* ---- a node that comes back ---- */

/* The attempts that the supervisor knows, by key. */
static struct map *keys_of_hello(const struct agent_hello *hello)
{
    struct map *keys = map_new();
    for (uint32_t i = 0; i < hello->attempt_count; i++) {
        uint64_t id[3] = {hello->attempts[i].key.task.v, hello->attempts[i].key.index,
                          hello->attempts[i].key.attempt};
        (void)map_put(keys, id, sizeof id, keys);
    }
    return keys;
}

static bool keys_have(const struct map *keys, struct attempt_key key)
{
    uint64_t id[3] = {key.task.v, key.index, key.attempt};
    return map_get(keys, id, sizeof id) != NULL;
}

/* An attempt is lost when the state says that it ran here and the supervisor does not know it. An
 * attempt that was only ordered is ordered again instead. */
static bool is_lost(const struct map *keys, const struct instance *instance)
{
    struct attempt_key key = {instance->task, instance->index, instance->attempt};
    return (instance->state == INSTANCE_RUNNING || instance->state == INSTANCE_STOPPING) &&
           !keys_have(keys, key);
}

static void report_lost(struct agents *agents, const struct map *keys, node_id node)
{
    VEC(struct report) reports = {0};
    const struct core *core = ledger_core(agents->o.ledger);
    struct attempt_key cursor = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(core, node, &cursor)) != NULL) {
        if (is_lost(keys, instance)) {
            struct report report = {
                .type = REPORT_UNKNOWN,
                .key = {instance->task, instance->index, instance->attempt},
                .incarnation = instance->incarnation,
                .at_ms = ledger_now_ms(agents->o.ledger),
            };
            vec_push(&reports, report);
        }
    }
    if (reports.count > 0) {
        struct facts facts;
        struct input in = {
            .type = INPUT_REPORT,
            .actor = "server",
            .cause = "reconcile",
            .report = {.node = node, .reports = reports.at, .count = (uint32_t)reports.count},
        };
        arena_clear(&agents->arena);
        fact_list_init(&facts, &agents->arena);
        (void)ledger_input(agents->o.ledger, &in, &facts);
    }
    vec_done(&reports);
}

static bool allocated_here(const struct core *core, struct attempt_key key, const struct node *node)
{
    struct effect effect = {.node = node->id, .incarnation = node->incarnation, .key = key};
    return instance_holding(core, &effect) != NULL;
}

void agents_orders_reconcile(struct agents *agents, const struct agent_hello *hello, node_id node,
                             struct buf *out)
{
    struct map *keys = keys_of_hello(hello);
    report_lost(agents, keys, node);
    map_free(keys);
    const struct core *core = ledger_core(agents->o.ledger);
    struct effects held = {0};
    core_orders_for(core, node, &held);
    for (size_t i = 0; i < held.count; i++) {
        agents_orders_effect(agents, core, &held.at[i], out);
    }
    effect_done(&held);
    const struct node *row = query_node(core, node);
    for (uint32_t i = 0; i < hello->attempt_count; i++) {
        if (!allocated_here(core, hello->attempts[i].key, row)) {
            struct effect stop = {
                .incarnation = row->incarnation,
                .key = hello->attempts[i].key,
                .cause = END_NODE_LOST,
            };
            stop_add(agents, &stop, out);
        }
    }
}
