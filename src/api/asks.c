/* asks.c - see asks.h. SPDX-License-Identifier: Apache-2.0 */
#include "api/asks.h"

#include "api/api_internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "io/http_request.h"

struct ask_wait {
    struct asks *asks;
    struct call *call;
    struct loop_timer *timer;
    ask_then_fn then;
    uint64_t id;
    char node[NAME_LEN_MAX + 1];
};

struct asks {
    struct api *api;
    struct map *waits; /* by id */
    uint64_t last;
    size_t count;
};

struct asks *asks_new(struct api *api)
{
    struct asks *asks = xcalloc(1, sizeof *asks);
    asks->api = api;
    asks->waits = map_new();
    return asks;
}

static void wait_free(struct ask_wait *wait)
{
    (void)map_remove(wait->asks->waits, &wait->id, sizeof wait->id);
    wait->asks->count--;
    loop_timer_free(wait->timer);
    free(wait);
}

void asks_free(struct asks *asks)
{
    if (asks != NULL) {
        must(asks->count == 0);
        map_free(asks->waits);
        free(asks);
    }
}

static void wait_due(void *ctx)
{
    struct ask_wait *wait = ctx;
    struct call *call = wait->call;
    const char *node = arena_str(call_arena(call), wait->node);
    call_resume(call);
    wait_free(wait);
    call_failf(call, ERR_TIMEOUT, "", "node '%s' has not answered within %d s", node,
               ASK_WAIT_MS / 1000);
}

static void wait_gone(struct call *call, void *ctx)
{
    (void)call;
    wait_free(ctx);
}

void asks_send(struct call *call, const char *node, struct agent_ask *ask, ask_then_fn then)
{
    struct asks *asks = call->api->asks;
    const struct api_host *host = call->api->o.host;
    if (asks->count >= ASKS_MAX) {
        call_failf(call, ERR_BUSY, "", "%d questions to nodes are under way; try again", ASKS_MAX);
        return;
    }
    ask->id = ++asks->last;
    struct agent_order order = {.type = AGENT_ASK, .ask = *ask};
    if (!host->agent_order(host->ctx, node, &order)) {
        call_failf(call, ERR_CONFLICT, "",
                   "node '%s' is not connected; its files can be read when "
                   "its agent is back",
                   node);
        return;
    }
    struct ask_wait *wait = xcalloc(1, sizeof *wait);
    *wait = (struct ask_wait){.asks = asks, .call = call, .then = then, .id = ask->id};
    must(str_copy(wait->node, sizeof wait->node, node));
    wait->timer = loop_timer_new(call->api->o.loop, wait_due, wait);
    loop_timer_set(wait->timer, loop_now_ms(call->api->o.loop) + ASK_WAIT_MS);
    (void)map_put(asks->waits, &wait->id, sizeof wait->id, wait);
    asks->count++;
    call_park(call, wait_gone, wait);
}

void asks_answer(struct call *call)
{
    struct asks *asks = call->api->asks;
    uint64_t id = 0;
    if (!call_query_u64(call, "ask", INT64_MAX, &id)) {
        return;
    }
    struct ask_wait *wait = map_get(asks->waits, &id, sizeof id);
    /* A node answers only questions that were put to that node. */
    if (wait == NULL || strcmp(wait->node, call->name) != 0) {
        call_failf(call, ERR_NOT_FOUND, "ask", "nobody waits for the answer %llu",
                   (unsigned long long)id);
        return;
    }
    struct call *asker = wait->call;
    ask_then_fn then = wait->then;
    call_resume(asker);
    wait_free(wait);
    then(asker, http_request_body(call->request));
    buf_clear(&call->out);
    buf_add_str(&call->out, "{}");
    call_answer_json(call, 200);
}
