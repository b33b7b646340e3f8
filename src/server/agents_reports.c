/* agents_reports.c - takes the reports of agents. Output goes to the log segments, all other
 * reports go to the core, in one commit, which is acknowledged afterwards. An agent may report only
 * on its own attempts. SPDX-License-Identifier: Apache-2.0 */
#include "io/http_request.h"
#include "server/agents_internal.h"

/* A piece of output that passes the bounds of the wire is never refused by the store. */
_Static_assert((uint64_t)AGENT_OFFSET_MAX + AGENT_REPORT_BYTES_MAX <= STORE_LOG_OFFSET_MAX,
               "the store takes every offset that an agent may report");

/* Takes output of attempts that are, or last were, on this node. The store recognises repeated
 * pieces. Pieces of attempts that ended long ago are acknowledged and dropped. */
static bool output_welcome(const struct core *core, const struct node *node, struct attempt_key key)
{
    if (query_task(core, key.task) == NULL) {
        return false;
    }
    const struct instance *instance = query_instance(core, key.task, key.index);
    return instance != NULL && instance->attempt == key.attempt &&
           (instance->node.v == node->id.v || instance->node.v == 0);
}

static void output_take(struct agents *agents, const struct agent_report *report)
{
    struct store_log log = {
        .task = report->key.task.v,
        .index = report->key.index,
        .attempt = report->key.attempt,
        .stream = report->stream,
        .offset = report->offset,
        .time_ms = ledger_now_ms(agents->o.ledger),
        .data = report->data,
    };
    ledger_log(agents->o.ledger, &log);
}

/* Stores the reason why a program could not be started as the attempt's standard error, where the
 * user looks. Such an attempt has no other output. */
static void spawn_failure_take(struct agents *agents, struct call *call,
                               const struct agent_report *report)
{
    if (report->text == NULL || report->text[0] == '\0') {
        return;
    }
    struct agent_report said = *report;
    said.stream = 2;
    said.offset = 0;
    said.data = str_of(arena_fmt(call_arena(call), "weir: %s\n", report->text));
    output_take(agents, &said);
}

/* Keeps what an attempt uses, until it has ended. */
static void use_take(struct agents *agents, const struct agent_report *report)
{
    if (report->type == AGENT_ENDED || report->type == AGENT_LOST) {
        use_table_drop(agents->uses, report->key);
    } else if (report->type == AGENT_USE &&
               query_instance_live(ledger_core(agents->o.ledger), report->key) != NULL) {
        const struct attempt_use use = {.key = report->key,
                                        .heard_ms = ledger_now_ms(agents->o.ledger),
                                        .at_ms = report->at_ms,
                                        .cpu_ms = report->cpu_ms,
                                        .memory_bytes = report->memory_bytes,
                                        .memory_peak_bytes = report->memory_peak_bytes,
                                        .gpu_milli = report->gpu_known ? report->gpu_milli : -1,
                                        .gpu_memory_bytes =
                                            report->gpu_known ? report->gpu_memory_bytes : -1};
        use_table_put(agents->uses, &use);
        agents_idle(agents, report->key);
    }
}

static void batch_take(struct agents *agents, struct call *call, const struct node *node,
                       const struct agent_batch *batch)
{
    const struct core *core = ledger_core(agents->o.ledger);
    struct report *reports = arena_new(call_arena(call), struct report, batch->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct agent_report *report = &batch->reports[i];
        if (report->type == AGENT_OUTPUT) {
            if (report->data.len > 0 && output_welcome(core, node, report->key)) {
                output_take(agents, report);
            }
            continue;
        }
        use_take(agents, report);
        if (report->type == AGENT_SPAWN_FAILED && output_welcome(core, node, report->key)) {
            spawn_failure_take(agents, call, report);
        }
        if (agent_report_input(report, batch->incarnation, &reports[count])) {
            count++;
        }
    }
    agents->reports += batch->count;
    if (count == 0 || batch->incarnation != node->incarnation) {
        return;
    }
    struct input in = {
        .type = INPUT_REPORT,
        .actor = call->actor,
        .cause = "",
        .report = {.node = node->id, .reports = reports, .count = count},
    };
    struct facts facts;
    fact_list_init(&facts, call_arena(call));
    /* A report that the core refuses (an attempt that the core no longer knows) is acknowledged all
     * the same, because the agent has nothing more to report about it. */
    (void)ledger_input(agents->o.ledger, &in, &facts);
}

/* The supervisor of this incarnation is dead. Until the next supervisor says hello the node must
 * get no starts, because each of them would be lost. */
static void supervisor_gone(struct agents *agents, const struct node *node,
                            const struct agent_batch *batch)
{
    bool lost = false;
    for (uint32_t i = 0; i < batch->count && !lost; i++) {
        lost = batch->reports[i].type == AGENT_LOST;
    }
    struct agent_link *link = agents_link_of(agents, node->id);
    if (lost && batch->incarnation == node->incarnation && link != NULL && link->stream != NULL) {
        agents_link_cut(link, "the supervisor of the node is gone");
    }
}

void agents_reports(struct agents *agents, struct call *call)
{
    struct agent_batch batch;
    struct error e;
    if (agent_report_batch_decode(http_request_body(call->request), call_arena(call), &batch, &e) !=
        ERR_OK) {
        call_fail(call, &e);
        return;
    }
    const struct core *core = ledger_core(agents->o.ledger);
    const struct node *node = query_node_named(core, call->name);
    if (node == NULL || batch.epoch != query_epoch(core) || batch.incarnation > node->incarnation) {
        call_conflict(call, "stale",
                      "the report is of another epoch or incarnation; say hello again");
        return;
    }
    struct agent_link *link = agents_link_of(agents, node->id);
    if (link != NULL) {
        link->heard_ms = loop_now_ms(agents->o.loop);
    }
    batch_take(agents, call, node, &batch);
    supervisor_gone(agents, query_node_named(core, call->name), &batch);
    buf_clear(&call->out);
    buf_add_str(&call->out, "{\"acked\":true}");
    call_answer_json(call, 200);
}
