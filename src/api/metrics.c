/* metrics.c - GET /metrics, in the text form of Prometheus. docs/user/metrics.md describes every
 * metric. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/events.h"
#include "api/handlers.h"
#include "base/mem.h"
#include "wire/use_table.h"

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct buf *out, const char *name, const char *type, const char *help,
                uint64_t value)
{
    head(out, name, type, help);
    buf_addf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void tasks_by_state(struct buf *out, const struct core *core, bool ended, const char *name,
                           const char *type, const char *help)
{
    head(out, name, type, help);
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        if (task_state_ended((enum task_state)state) == ended) {
            buf_addf(out, "%s{state=\"%s\"} %llu\n", name, names_task_state((enum task_state)state),
                     (unsigned long long)query_task_count(core, (enum task_state)state));
        }
    }
}

static void tasks_and_nodes(struct buf *out, const struct core *core)
{
    tasks_by_state(out, core, false, "weir_tasks", "gauge", "Tasks that have not ended, by state.");
    tasks_by_state(out, core, true, "weir_tasks_ended_total", "counter",
                   "Tasks that ended, by state.");
    uint64_t counts[NODE_STATE_COUNT] = {0};
    const struct node *node = NULL;
    while ((node = query_node_next(core, node != NULL ? node->id : (node_id){0})) != NULL) {
        counts[node->state]++;
    }
    head(out, "weir_nodes", "gauge", "Nodes, by state; removed nodes do not count.");
    for (unsigned state = 0; state < NODE_REMOVED; state++) {
        buf_addf(out, "weir_nodes{state=\"%s\"} %llu\n", names_node_state((enum node_state)state),
                 (unsigned long long)counts[state]);
    }
}

/* Pool names are letters, digits, '-', '_' and '.', so nothing needs escaping. */
static void pools(struct buf *out, const struct core *core)
{
    static const struct {
        const char *name;
        const char *help;
    } gauges[] = {
        {"weir_pool_slots", "Slots of the nodes of a pool."},
        {"weir_pool_slots_free", "Free slots of a pool, on nodes that may take work."},
        {"weir_pool_tasks_pending", "Tasks of a pool with at least one waiting instance."},
        {"weir_pool_tasks_active",
         "Tasks of a pool with at least one instance that holds a place."},
    };
    for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++) {
        head(out, gauges[i].name, "gauge", gauges[i].help);
        const struct pool *pool = NULL;
        while ((pool = query_pool_next(core, pool != NULL ? pool->id : (pool_id){0})) != NULL) {
            const int64_t values[] = {pool->slots_milli / SLOT_MILLI, pool->slots_free / SLOT_MILLI,
                                      pool->pending_count, pool->running_count};
            if (!pool->deleted) {
                buf_addf(out, "%s{pool=\"%s\"} %lld\n", gauges[i].name,
                         query_pool_name(core, pool->id), (long long)values[i]);
            }
        }
    }
}

/* What the running tasks of each pool hold, and what they use by the last word of their nodes. */
static void uses(struct buf *out, const struct core *core, const struct use_table *table)
{
    enum { HELD_CPU, USED_CPU, HELD_MEMORY, USED_MEMORY, USED_GPU, SUMS };
    static const struct {
        const char *name;
        const char *help;
        bool milli;
    } gauges[SUMS] = {
        [HELD_CPU] = {"weir_pool_cpu_held_cores", "Cores that measured tasks of a pool hold.",
                      true},
        [USED_CPU] = {"weir_pool_cpu_used_cores", "Cores that these tasks use.", true},
        [HELD_MEMORY] = {"weir_pool_memory_held_bytes", "Memory that these tasks hold.", false},
        [USED_MEMORY] = {"weir_pool_memory_used_bytes", "Memory that these tasks use.", false},
        [USED_GPU] = {"weir_pool_gpu_used", "How many GPUs these tasks keep busy.", true},
    };
    int64_t(*sums)[SUMS] = xcalloc(POOLS_MAX + 1, sizeof *sums);
    size_t cursor = 0;
    for (const struct attempt_use *use = use_table_next(table, &cursor); use != NULL;
         use = use_table_next(table, &cursor)) {
        const struct instance *instance = query_instance_live(core, use->key);
        const struct task *task = instance == NULL ? NULL : query_task(core, use->key.task);
        if (task == NULL || task->pool.v > POOLS_MAX) {
            continue;
        }
        int64_t *sum = sums[task->pool.v];
        sum[HELD_CPU] += instance->cpu_milli;
        sum[USED_CPU] += use->cpu_milli > 0 ? use->cpu_milli : 0;
        sum[HELD_MEMORY] += instance->memory_bytes;
        sum[USED_MEMORY] += use->memory_bytes;
        sum[USED_GPU] += use->gpu_milli > 0 ? use->gpu_milli : 0;
    }
    for (size_t i = 0; i < SUMS; i++) {
        head(out, gauges[i].name, "gauge", gauges[i].help);
        const struct pool *pool = NULL;
        while ((pool = query_pool_next(core, pool != NULL ? pool->id : (pool_id){0})) != NULL) {
            const int64_t value = pool->id.v <= POOLS_MAX ? sums[pool->id.v][i] : 0;
            if (!pool->deleted) {
                buf_addf(out, "%s{pool=\"%s\"} %lld", gauges[i].name,
                         query_pool_name(core, pool->id),
                         (long long)(gauges[i].milli ? value / SLOT_MILLI : value));
                if (gauges[i].milli) {
                    buf_addf(out, ".%03lld", (long long)(value % SLOT_MILLI));
                }
                buf_add_char(out, '\n');
            }
        }
    }
    free(sums);
}

static void requests(struct buf *out, const struct api *api)
{
    head(out, "weir_http_answers_total", "counter", "HTTP answers, by class of their status.");
    for (unsigned class = 2; class < STATUS_CLASSES; class ++) {
        buf_addf(out, "weir_http_answers_total{class=\"%uxx\"} %llu\n", class,
                 (unsigned long long)api->answers[class]);
    }
    one(out, "weir_tasks_submitted_total", "counter", "Tasks accepted since the start.",
        api->submitted);
    one(out, "weir_event_streams", "gauge", "Open event streams.",
        events_streams_count(api->events));
}

static void store_numbers(struct buf *out, const struct host_numbers *numbers)
{
    one(out, "weir_store_commits_total", "counter", "Successful commits.", numbers->commits);
    one(out, "weir_store_commit_failures_total", "counter", "Failed commits.",
        numbers->commit_failures);
    one(out, "weir_store_output_refused_total", "counter",
        "Pieces of output that the store refused.", numbers->logs_refused);
    head(out, "weir_store_commit_seconds_total", "counter", "Time spent in commits.");
    buf_addf(out, "weir_store_commit_seconds_total %llu.%06llu\n",
             (unsigned long long)(numbers->commit_us_total / 1000000),
             (unsigned long long)(numbers->commit_us_total % 1000000));
    one(out, "weir_store_facts_total", "counter", "Number of the last fact on disk.",
        numbers->seq_committed);
    one(out, "weir_store_facts_waiting", "gauge", "Facts that are decided and not on disk yet.",
        numbers->facts_waiting);
    one(out, "weir_http_requests_waiting", "gauge", "HTTP requests that wait for a commit.",
        numbers->holds_waiting);
    one(out, "weir_store_snapshots_total", "counter", "Snapshots written since the start.",
        numbers->snapshots);
    one(out, "weir_http_connections", "gauge", "Open connections.", numbers->connections);
    one(out, "weir_agents_connected", "gauge", "Agents with an open stream.",
        numbers->agents_connected);
    one(out, "weir_agent_reports_total", "counter", "Reports received from agents since the start.",
        numbers->reports);
    one(out, "weir_scheduler_passes_total", "counter", "Scheduling passes that decided something.",
        numbers->passes);
    one(out, "weir_scheduler_pass_tries_total", "counter",
        "All scheduling passes, also those that decided nothing.", numbers->pass_tries);
}

void metrics_show(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    struct host_numbers numbers;
    struct error e;
    host->numbers(host->ctx, &numbers);
    buf_clear(&call->out);
    head(&call->out, "weir_build_info", "gauge", "The build, as a label; always 1.");
    buf_addf(&call->out, "weir_build_info{version=\"%s\"} 1\n", WEIR_VERSION);
    one(&call->out, "weir_writable", "gauge",
        "1 while the server can store changes, 0 while it cannot.",
        host->writable(host->ctx, &e) == ERR_OK ? 1 : 0);
    one(&call->out, "weir_epoch", "gauge",
        "How many times a server has started on this data directory.",
        query_epoch(call_core(call)));
    tasks_and_nodes(&call->out, call_core(call));
    pools(&call->out, call_core(call));
    uses(&call->out, call_core(call), host->uses == NULL ? NULL : host->uses(host->ctx));
    requests(&call->out, call->api);
    store_numbers(&call->out, &numbers);
    call_answer(call, 200, "text/plain; version=0.0.4");
}
