/* preview_json.c - see preview_json.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/preview_json.h"

#include "wire/part_json.h"
#include "wire/quota_warn.h"
#include "wire/reason_text.h"

enum { MS_PER_SECOND = 1000 };

/* Opens the object of a task. A new task is only in the state after the change, an ended task may be only in the state before. */
static void task_json_open(struct json_out *j, const struct preview *preview, task_id id,
                           struct arena *arena)
{
    const bool after = query_task(preview->after, id) != NULL;
    struct task_spec spec;
    query_task_spec(after ? preview->after : preview->before, id, arena, &spec);
    json_out_put(j, "{task:%lu,name:%s,user:%s,project:%s", id.v, spec.name, spec.user,
                 spec.project);
}

static void stops_json(struct json_out *j, const struct preview *preview, struct arena *arena)
{
    json_out_put(j, "stops_total:%u,stops:[", preview->stop_total);
    for (uint32_t i = 0; i < preview->stop_count; i++) {
        const struct preview_stop *stop = &preview->stops[i];
        task_json_open(j, preview, stop->task, arena);
        json_out_put(
            j, "instances:%u,cause:%s,later:%i,at:%td,lost_ms:%ld,work_lost:{slot_seconds:%.3ld}}",
            stop->instances, names_end_cause(stop->cause), stop->later, stop->at_ms, stop->lost_ms,
            stop->slots_lost / MS_PER_SECOND);
    }
    json_out_end(j);
}

static void ends_json(struct json_out *j, const struct preview *preview, struct arena *arena)
{
    json_out_put(j, "ends_total:%u,ends:[", preview->end_total);
    for (uint32_t i = 0; i < preview->end_count; i++) {
        task_json_open(j, preview, preview->ends[i].task, arena);
        json_out_put(j, "state:%s}", names_task_state(preview->ends[i].state));
    }
    json_out_end(j);
}

static void starts_json(struct json_out *j, const struct preview *preview, struct arena *arena)
{
    json_out_put(j, "starts_total:%u,starts:[", preview->start_total);
    for (uint32_t i = 0; i < preview->start_count; i++) {
        const struct preview_start *start = &preview->starts[i];
        task_json_open(j, preview, start->task, arena);
        json_out_put(j, "instances:%u,now:%i,places:[", start->instances, start->now);
        for (uint32_t k = 0; k < start->place_count; k++) {
            json_out_put(j, "{node:%s,instances:%u",
                         query_node_name(preview->after, start->places[k].node),
                         start->places[k].instances);
            part_json_devices(j, "devices", start->places[k].devices);
            json_out_end(j);
        }
        json_out_put(j, "]}");
    }
    json_out_end(j);
}

static void waits_json(struct json_out *j, const struct preview *preview, struct arena *arena)
{
    json_out_put(j, "waits_total:%u,waits:[", preview->wait_total);
    for (uint32_t i = 0; i < preview->wait_count; i++) {
        const struct preview_wait *wait = &preview->waits[i];
        task_json_open(j, preview, wait->task, arena);
        json_out_key(j, "reason");
        reason_text_json(j, preview->after, &wait->why.reason);
        if (wait->first.v == 0) {
            json_out_kv_text(j, "first", NULL);
        } else {
            json_out_put(j, "first:{task:%lu,others:%u,at:%td}", wait->first.v, wait->first_others,
                         wait->first_ms);
        }
        json_out_end(j);
    }
    json_out_end(j);
}

/* What so many nodes of the pool cost in an hour, by the price of its flavor; 0: the price is not known. */
static void price_json(struct json_out *j, const struct core *core, pool_id id, uint32_t nodes,
                       struct arena *arena)
{
    const struct pool *pool = query_pool(core, id);
    struct flavor_spec spec = {.currency = ""};
    int64_t price;
    if (pool != NULL && pool->flavor.v != 0) {
        query_flavor_spec(core, pool->flavor, arena, &spec);
    }
    if (__builtin_mul_overflow(spec.price_milli, (int64_t)nodes, &price)) {
        price = 0;
    }
    json_out_put(j, "price:%.3ld,currency:%s}", price, spec.currency);
}

/* The machines that pools would ask for, and those that would end. */
static void machines_json(struct json_out *j, const struct preview *preview, struct arena *arena)
{
    const struct core *core = preview->after;
    json_out_put(j, "launches_total:%u,launches:[", preview->launch_total);
    for (uint32_t i = 0; i < preview->launch_count; i++) {
        const struct preview_launch *launch = &preview->launches[i];
        json_out_put(j, "{pool:%s,nodes:%u,", query_pool_name(core, launch->pool), launch->nodes);
        price_json(j, core, launch->pool, launch->nodes, arena);
    }
    json_out_end(j);
    json_out_put(j, "node_ends_total:%u,node_ends:[", preview->machine_end_total);
    for (uint32_t i = 0; i < preview->machine_end_count; i++) {
        const struct preview_machine_end *end = &preview->machine_ends[i];
        json_out_put(j, "{pool:%s,node:%s,now:%i,replaced:%i,", query_pool_name(core, end->pool),
                     end->node.v == 0 ? NULL : query_node_name(core, end->node), !end->later,
                     end->replaced);
        price_json(j, core, end->pool, 1, arena);
    }
    json_out_end(j);
}

/* Writes the ids of the tasks that the change would submit, and the request of each task with
 * several instances, for at most PREVIEW_WAITS_MAX tasks. */
static void submitted_json(struct json_out *j, const struct preview *preview, struct arena *arena)
{
    uint32_t listed = 0;
    json_out_put(j, "submitted:{first:%lu,count:%u,several:[", preview->submitted.v,
                 preview->submitted_count);
    for (uint32_t i = 0; i < preview->submitted_count && listed < PREVIEW_WAITS_MAX; i++) {
        const task_id id = {preview->submitted.v + i};
        struct task_spec spec;
        if (query_task(preview->after, id) == NULL) {
            continue;
        }
        query_task_spec(preview->after, id, arena, &spec);
        if (spec.instances > 1) {
            listed++;
            json_out_put(j, "{task:%lu,instances:%u", id.v, spec.instances);
            part_json_asks(j, &spec);
            json_out_end(j);
        }
    }
    json_out_put(j, "]}");
}

void preview_json(struct json_out *j, const struct preview *preview, struct arena *arena)
{
    json_out_put(j, "{changes:%i,cut:%i,refused:%u", preview->changes, preview->cut,
                 preview->refused);
    if (preview->submitted.v == 0) {
        json_out_kv_text(j, "submitted", NULL);
    } else {
        submitted_json(j, preview, arena);
    }
    stops_json(j, preview, arena);
    ends_json(j, preview, arena);
    starts_json(j, preview, arena);
    waits_json(j, preview, arena);
    machines_json(j, preview, arena);
    const char *warnings[QUOTA_WARN_MAX];
    const uint32_t warned = preview->quota_account.v == 0
                                ? 0
                                : quota_warn(preview->after, preview->quota_account,
                                             preview->quota_pool, arena, warnings);
    part_json_texts(j, "warnings", warnings, warned);
    json_out_end(j);
}
