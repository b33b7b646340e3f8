/* home.c - GET /home: is all well, and what of mine runs? Pools with their slots by condition, the caller's
 * tasks, and what needs attention, in one answer. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "base/mem.h"
#include "core/model/names.h"
#include "core/state/membership.h"
#include "wire/life_text.h"
#include "wire/task_json.h"

enum {
    HOME_SCAN_MAX = 20000,  /* tasks looked at, for the caller's and for the oldest */
    HOME_QUEUE_MAX = 1000,  /* tasks of a queue looked at, the first ones */
    HOME_TASKS_MAX = 12,    /* of the caller, in the answer */
    HOME_NOTES_MAX = 50,    /* of what needs attention */
    HOME_CLAIMS_MAX = 2000, /* waiting instances of one holder that are looked at */
    CERT_SOON_DAYS = 14,
};

/* The slots of a pool, in thousandths, by condition. Their sum is all slots but those that are coming. */
struct home_pool {
    const struct pool *row;
    int64_t used;
    int64_t reserved; /* promised to tasks that wait for the rest of their places */
    int64_t free;
    int64_t broken;   /* not held, and on nodes that are silent, lost or out of service */
    int64_t draining; /* not held, and on nodes that take no more work */
    int64_t coming;
    uint32_t nodes[NODE_STATE_COUNT];
    uint32_t nodes_troubled;
    uint32_t nodes_draining;
    uint32_t silent_stay; /* silent nodes that stay: see struct pool_figures */
    uint32_t draining_stay;
    const struct task *oldest;
};

/* ---- pools ---- */

static int64_t reserved_slots(const struct core *core, const struct pool *pool)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < pool->reserved_count; i++) {
        const struct task *task = query_task(core, pool->reserved[i].task);
        const uint32_t count = task != NULL ? task->instance_count : 0;
        for (uint32_t k = 0; k < count && k < HOME_CLAIMS_MAX; k++) {
            const struct claim *claim = query_instance_claim(core, task->id, k);
            sum += claim != NULL ? claim->slots_milli : 0;
        }
    }
    return sum;
}

static int64_t coming_slots(const struct pool *pool)
{
    return (int64_t)pool_node_slots(pool) * SLOT_MILLI * pool->launch_starting;
}

static void pool_sum(const struct core *core, struct home_pool *sum)
{
    const struct node *node = NULL;
    while ((node = query_pool_node_next(core, sum->row->id,
                                        node != NULL ? node->id : (node_id){0})) != NULL) {
        const int64_t free = node->slots_free > 0 ? node->slots_free : 0;
        const bool goes = query_launch_goes(core, node);
        sum->nodes[node->state]++;
        sum->nodes_troubled += node->troubled ? 1 : 0;
        sum->nodes_draining += node->draining ? 1 : 0;
        sum->silent_stay += node->state == NODE_SILENT && !goes ? 1 : 0;
        sum->draining_stay += node->draining && !goes ? 1 : 0;
        sum->used += node->slots_milli - free;
        if (node->state != NODE_UP || node->troubled) {
            sum->broken += free;
        } else if (!node_takes_work(node)) {
            sum->draining += free;
        } else {
            sum->free += free;
        }
    }
    sum->reserved = reserved_slots(core, sum->row);
    sum->reserved = sum->reserved < sum->free ? sum->reserved : sum->free;
    sum->free -= sum->reserved;
    sum->coming = coming_slots(sum->row);
}

static void pool_json(struct json_out *j, const struct core *core, const struct home_pool *sum,
                      struct arena *arena)
{
    const struct pool *row = sum->row;
    struct pool_spec spec;
    const struct pool_figures away = {.silent_stay = sum->silent_stay,
                                      .draining_stay = sum->draining_stay};
    query_pool_spec(core, row->id, arena, &spec);
    json_out_put(j, "{name:%s,title:%s,provider:%s,paused:%i,", query_pool_name(core, row->id),
                 spec.title, names_pool_provider((enum pool_provider)row->provider),
                 row->paused != 0);
    life_text_json(j, row, &away);
    json_out_put(j,
                 "slots:{total:%.3ld,used:%.3ld,reserved:%.3ld,free:%.3ld,draining:%.3ld,"
                 "broken:%.3ld,coming:%.3ld}",
                 row->slots_milli, sum->used, sum->reserved, sum->free, sum->draining, sum->broken,
                 sum->coming);
    json_out_put(j, "nodes:{total:%u,up:%u,silent:%u,lost:%u,troubled:%u,draining:%u,coming:%u}",
                 row->node_count, sum->nodes[NODE_UP], sum->nodes[NODE_SILENT],
                 sum->nodes[NODE_LOST], sum->nodes_troubled, sum->nodes_draining,
                 row->launch_starting);
    json_out_put(j, "waiting:%u,running:%u,oldest_wait:%td,oldest_task:%zu}", row->pending_count,
                 row->running_count, sum->oldest != NULL ? sum->oldest->queued_ms : 0,
                 (size_t)(sum->oldest != NULL ? sum->oldest->id.v : 0));
}

/* Finds the task that has waited longest in the queue of the pool, among the first of the queue. A task that only
 * waits for others, or for a moment, is not in the queue and not counted as waiting. */
static const struct task *oldest_find(const struct core *core, pool_id pool, size_t *looked)
{
    const struct task *oldest = NULL;
    task_id id = query_queue_behind(core, pool, (struct queue_place){{0}});
    for (size_t i = 0; id.v != 0 && i < HOME_QUEUE_MAX && *looked < HOME_SCAN_MAX; i++) {
        ++*looked;
        const struct task *task = query_task_in(core, pool, id);
        if (oldest == NULL || task->queued_ms < oldest->queued_ms) {
            oldest = task;
        }
        id = query_queue_behind(core, pool, query_queue_place(task));
    }
    return oldest;
}

/* ---- the caller's tasks ---- */

static void mine_json(struct json_out *j, struct call *call)
{
    const struct core *core = call_core(call);
    struct task_writer writer;
    const struct task *found[HOME_TASKS_MAX];
    size_t count = 0;
    uint64_t states[TASK_STATE_COUNT] = {0};
    const struct task *task = query_task_prev(core, (task_id){0});
    size_t looked = 0;
    for (; task != NULL && looked < HOME_SCAN_MAX; looked++) {
        if (strcmp(query_usage_user_name(core, task->user), call->name) == 0) {
            states[task->state]++;
            if (count < HOME_TASKS_MAX) {
                found[count++] = task;
            }
        }
        task = query_task_prev(core, task->id);
    }
    task_json_writer_init(&writer, core, call_arena(call));
    writer.keep = call_arena(call);
    json_out_put(j, "mine:{whole:%i,waiting:%lu,running:%lu,staged:%lu,paused:%lu,items:[",
                 task == NULL, states[TASK_PENDING],
                 states[TASK_STARTING] + states[TASK_RUNNING] + states[TASK_STOPPING],
                 states[TASK_STAGED], states[TASK_PAUSED]);
    for (size_t i = 0; i < count; i++) {
        task_json_short(&writer, j, found[i], 0);
    }
    json_out_put(j, "]}");
}

/* ---- what needs attention ---- */

struct notes {
    struct json_out *j;
    struct arena *arena;
    size_t count;
};

/* `kind` is what the note is about: "pool", "nodes", "server". */
static void note(struct notes *notes, const char *level, const char *kind, const char *pool,
                 const char *message)
{
    if (notes->count++ < HOME_NOTES_MAX) {
        json_out_put(notes->j, "{level:%s,kind:%s,pool:%s,message:%s}", level, kind, pool, message);
    }
}

static void nodes_note(struct notes *notes, const char *level, const char *pool, uint32_t count,
                       const char *what)
{
    if (count > 0) {
        note(notes, level, "nodes", pool,
             arena_fmt(notes->arena, "%u node%s of pool '%s' %s %s", count, count == 1 ? "" : "s",
                       pool, count == 1 ? "is" : "are", what));
    }
}

static void pool_notes(struct notes *notes, const struct core *core, const struct home_pool *sum)
{
    const struct pool *row = sum->row;
    const char *name = query_pool_name(core, row->id);
    const char *refusal = query_pool_refusal(row);
    if (row->life.health == HEALTH_UNAVAILABLE && row->task_count > 0) {
        note(notes, "error", "pool", name,
             arena_fmt(notes->arena, "pool '%s' is unavailable and has %u tasks", name,
                       row->task_count));
    }
    if (refusal[0] != '\0') {
        note(notes, "warn", "pool", name,
             arena_fmt(notes->arena, "the provider of pool '%s' brings no node up: %s", name,
                       refusal));
    }
    if (row->paused && row->pending_count > 0) {
        note(notes, "warn", "pool", name,
             arena_fmt(notes->arena, "pool '%s' is paused, and %u tasks wait in it", name,
                       row->pending_count));
    }
    nodes_note(notes, "error", name, sum->nodes[NODE_LOST], "lost");
    nodes_note(notes, "warn", name, sum->nodes[NODE_SILENT], "silent");
    nodes_note(notes, "warn", name, sum->nodes_troubled, "out of service");
}

static void server_notes(struct notes *notes, struct call *call)
{
    const struct api_host *host = call->api->o.host;
    const struct http_tls *tls = call->api->o.tls;
    struct error e;
    if (host->writable(host->ctx, &e) != ERR_OK) {
        note(notes, "error", "server", "", e.text);
    }
    const uint64_t contested = membership_contested_count(call_core(call));
    if (contested > 0) {
        note(notes, "warn", "nodes", "",
             arena_fmt(notes->arena, "the selectors of several pools match %llu nodes",
                       (unsigned long long)contested));
    }
    const int64_t left_ms = tls != NULL ? http_tls_facts(tls)->until_ms - call_now_ms(call) : 0;
    if (tls != NULL && left_ms < (int64_t)CERT_SOON_DAYS * 24 * 60 * 60 * 1000) {
        note(notes, "warn", "server", "",
             "the server's certificate ends within two weeks; `weir tls init --renew` makes the "
             "next one");
    }
}

void home_show(struct call *call)
{
    const struct core *core = call_core(call);
    struct arena *arena = call_arena(call);
    struct home_pool *pools = arena_new(arena, struct home_pool, POOLS_MAX);
    const struct pool *row = NULL;
    size_t count = 0;
    size_t looked = 0;
    while (count < POOLS_MAX &&
           (row = query_pool_next(core, row != NULL ? row->id : (pool_id){0})) != NULL) {
        if (!row->deleted) {
            pools[count] = (struct home_pool){.row = row};
            pools[count].oldest = oldest_find(core, row->id, &looked);
            pool_sum(core, &pools[count++]);
        }
    }
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{seq:%lu,time:%td,name:%s,scope:%s,pools:[", query_seq(core),
                 call_now_ms(call), call->name, token_scope_name(call->scope));
    for (size_t i = 0; i < count; i++) {
        pool_json(&j, core, &pools[i], arena);
    }
    json_out_put(&j, "]");
    mine_json(&j, call);
    json_out_put(&j, "attention:[");
    struct notes notes = {.j = &j, .arena = arena};
    server_notes(&notes, call);
    for (size_t i = 0; i < count; i++) {
        pool_notes(&notes, core, &pools[i]);
    }
    json_out_put(&j, "],attention_more:%lu}",
                 notes.count > HOME_NOTES_MAX ? notes.count - HOME_NOTES_MAX : (size_t)0);
    call_answer_json(call, 200);
}
