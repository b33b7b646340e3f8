/* session.c - the agent's side of the server: when to connect, and which orders to follow.
 *
 * Holds (README.md): A7 orders of another incarnation or a lower epoch are refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/session.h"

#include "agent/agent_internal.h"
#include "agent/before.h"
#include "agent/box_order.h"
#include "agent/health.h"
#include "agent/keeper.h"
#include "agent/tunnel.h"

#include "base/log.h"
#include "base/mem.h"
#include "wire/attempt_key.h"

#include <sys/random.h>
#include <unistd.h>

enum {
    BACKOFF_MS_MIN = 100,
    BACKOFF_MS_LOCAL_MAX = 5000, /* a server on this node is back soon or not at all */
    BACKOFF_MS_MAX = 30000,
    BACKOFF_DOUBLINGS_MAX = 16,
};

static void connect_due(void *ctx)
{
    struct agent *agent = ctx;
    if (!agent->streaming) {
        keeper_list(agent, LISTING_HELLO);
    }
}

/* Why the node is out of service; "": it is in service. */
static const char *trouble_of(const struct agent *agent)
{
    return agent->crash_trouble[0] != '\0'            ? agent->crash_trouble
           : agent->upkeep_trouble[0] != '\0'         ? agent->upkeep_trouble
           : before_trouble(agent->before)[0] != '\0' ? before_trouble(agent->before)
                                                      : health_trouble(agent->health);
}

void session_trouble(struct agent *agent)
{
    const char *trouble = trouble_of(agent);
    if (strcmp(trouble, agent->trouble_told) == 0) {
        return;
    }
    if (trouble[0] != '\0') {
        log_error("the node takes no tasks", kv_str("why", trouble));
    } else {
        log_info("the node takes tasks again");
    }
    if (agent->stream != NULL) {
        session_restart(agent);
    }
}

void session_devices(struct agent *agent)
{
    if (agent->gpu_faults.out != 0) {
        log_error("a device is out of service", kv_str("why", agent->gpu_faults.why));
    } else {
        log_info("all devices are in service");
    }
    if (agent->stream != NULL) {
        session_restart(agent);
    }
}

void session_listed(struct agent *agent)
{
    if (agent->streaming || health_unknown(agent->health)) {
        return;
    }
    (void)str_copy(agent->trouble_told, sizeof agent->trouble_told, trouble_of(agent));
    struct stream_hello hello = {.closing = keeper_closing(agent),
                                 .trouble = agent->trouble_told,
                                 .devices = agent->gpu_faults,
                                 .attempts = agent->attempts.at,
                                 .attempt_count = agent->attempts.count};
    memcpy(hello.supervisor, agent->speaking_id, sizeof hello.supervisor);
    agent->streaming = true;
    stream_connect(agent->stream, &hello);
}

static void cut_off_due(void *ctx)
{
    struct agent *agent = ctx;
    log_warn("cut off from the server for too long, stopping the tasks");
    keeper_list(agent, LISTING_CUT_OFF);
}

static void cut_off_begin(struct agent *agent)
{
    if (agent->options.stop_after_ms > 0 && !loop_timer_armed(agent->cut_off_timer)) {
        loop_timer_set(agent->cut_off_timer,
                       loop_now_ms(agent->loop) + agent->options.stop_after_ms);
    }
}

void session_begin(struct agent *agent)
{
    agent->connect_timer = loop_timer_new(agent->loop, connect_due, agent);
    agent->cut_off_timer = loop_timer_new(agent->loop, cut_off_due, agent);
    cut_off_begin(agent);
    loop_timer_set(agent->connect_timer, loop_now_ms(agent->loop));
}

void session_end(struct agent *agent)
{
    loop_timer_free(agent->connect_timer);
    loop_timer_free(agent->cut_off_timer);
    tunnel_session(&agent->tunnels, NULL, NULL);
}

void session_restart(struct agent *agent)
{
    if (agent->streaming) {
        agent->failures = 0;
        agent->parting = true;
        stream_stop(agent->stream);
    } else {
        loop_timer_set(agent->connect_timer, loop_now_ms(agent->loop));
    }
}

static void welcome(struct agent *agent, const struct inbox_message *message)
{
    const struct agent_order *order = &message->order;
    agent->welcomed = true;
    agent->failures = 0;
    agent->epoch = order->epoch;
    agent->incarnation = order->incarnation;
    loop_timer_off(agent->cut_off_timer);
    struct reporter_session session = {.url = message->url,
                                       .credential = message->credential,
                                       .epoch = order->epoch,
                                       .incarnation = order->incarnation,
                                       .report_bytes = order->welcome.report_bytes_max};
    reporter_session(agent->reporter, &session);
    tunnel_session(&agent->tunnels, message->url, message->credential);
    asker_session(agent->asker, message->url, message->credential);
    free(agent->site_url);
    agent->site_url = xstrdup(message->url);
    box_order_site(&agent->options, agent->site_url);
    log_info("the server welcomes us", kv_str("node", order->welcome.node),
             kv_str("server", message->url), kv_u64("epoch", order->epoch),
             kv_u64("incarnation", order->incarnation));
    if (!agent->ready_told && !keeper_closing(agent)) {
        agent->ready_told = true;
        agent_options_supervisor_ready(agent->options.ready_fd, "ready");
    }
}

/* Is the order for our current epoch and incarnation? Reports any other order as refused. */
static bool order_is_current(struct agent *agent, const struct agent_order *order,
                             const struct attempt_key *key)
{
    const char *why = order->epoch < agent->epoch                ? "stale-epoch"
                      : order->incarnation != agent->incarnation ? "stale-incarnation"
                                                                 : NULL;
    if (why != NULL) {
        reporter_tell(agent->reporter, AGENT_REFUSED, key, why);
    }
    return why == NULL;
}

static void order_take(struct agent *agent, const struct inbox_message *message)
{
    const struct agent_order *order = &message->order;
    switch (order->type) {
    case AGENT_WELCOME:
        welcome(agent, message);
        break;
    case AGENT_START:
        /* A start of a stream that is being stopped may be meant for a supervisor that is dead: the
         * server takes the attempt for lost when the agent speaks for the next supervisor. */
        if (!agent->parting && order_is_current(agent, order, &order->start.key) &&
            box_order_ready(agent, &order->start)) {
            keeper_start(agent, &order->start);
        }
        break;
    case AGENT_STOP:
        if (order_is_current(agent, order, &order->stop.key)) {
            keeper_stop(agent, &order->stop.key, order->stop.grace_ms);
        }
        break;
    case AGENT_PING:
        reporter_ping(agent->reporter);
        asker_sweep(agent->asker);
        break;
    case AGENT_ASK:
        asker_take(agent->asker, &order->ask);
        break;
    case AGENT_BYE:
        log_info("the server goes away", kv_str("why", order->bye.why));
        break;
    case AGENT_TUNNEL:
        if (order_is_current(agent, order, &order->tunnel.key)) {
            tunnel_open(&agent->tunnels, &agent->options, &order->tunnel);
        }
        break;
    case AGENT_OTHER:
        log_warn("an order of an unknown type", kv_str("type", order->other.type));
        reporter_tell(agent->reporter, AGENT_REFUSED, &order->other.key, "unknown-order");
        break;
    }
}

static bool is_local(const char *url)
{
    return url == NULL || strstr(url, "://127.") != NULL || strstr(url, "://localhost") != NULL ||
           strstr(url, "://[::1]") != NULL;
}

/* Exponential with full jitter: the wait is a random part of the whole range, so that a thousand
 * agents do not come back together. */
static int64_t back_off_ms(const struct agent *agent, const char *url)
{
    unsigned doublings =
        agent->failures < BACKOFF_DOUBLINGS_MAX ? agent->failures : BACKOFF_DOUBLINGS_MAX;
    int64_t max = is_local(url) ? BACKOFF_MS_LOCAL_MAX : BACKOFF_MS_MAX;
    int64_t range = (int64_t)BACKOFF_MS_MIN << doublings;
    range = range < max ? range : max;
    uint32_t random = 0;
    (void)!getrandom(&random, sizeof random, 0);
    return (int64_t)(random % (uint32_t)range);
}

static void stream_ended(struct agent *agent, const struct inbox_message *message)
{
    agent->streaming = false;
    agent->parting = false;
    if (message->refused) {
        /* The tasks stay with their supervisor. An agent that may join takes the tasks over. */
        log_error("the server does not let this node in, ending", kv_error(&message->error));
        agent->refused = true;
        loop_stop(agent->loop);
        return;
    }
    if (agent->welcomed) {
        agent->welcomed = false;
        reporter_session(agent->reporter, NULL);
    } else {
        agent->failures++;
    }
    cut_off_begin(agent);
    int64_t wait_ms = back_off_ms(agent, message->url);
    if (message->error.code != ERR_OK) {
        log_warn("not connected, trying again", kv_error(&message->error),
                 kv_u64("in_ms", (uint64_t)wait_ms));
    }
    loop_timer_set(agent->connect_timer, loop_now_ms(agent->loop) + wait_ms);
}

void session_take(struct agent *agent, struct inbox_message *message)
{
    switch (message->type) {
    case INBOX_ORDER:
        order_take(agent, message);
        break;
    case INBOX_STREAM_ENDED:
        stream_ended(agent, message);
        break;
    case INBOX_ACKED:
        keeper_ack(agent, message->at);
        break;
    case INBOX_STALE:
        log_warn("the server refuses the reports as stale, connecting again");
        session_restart(agent);
        break;
    case INBOX_DAMAGED:
        keeper_renew(agent);
        break;
    case INBOX_CROSSED:
        keeper_crossed(agent, message->supervisor);
        session_restart(agent);
        break;
    }
    inbox_message_free(message);
}
