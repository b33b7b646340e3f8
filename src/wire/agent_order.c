/* agent_order.c - what the server tells an agent to do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"

#include "base/amount.h"
#include "base/must.h"
#include "wire/attempt_key.h"
#include "wire/msg_internal.h"
#include "core/model/limits.h"
#include "core/model/names.h"

#include <string.h>

static const char *const order_names[] = {
    [AGENT_WELCOME] = "welcome", [AGENT_START] = "start", [AGENT_STOP] = "stop",
    [AGENT_PING] = "ping",       [AGENT_BYE] = "bye",
};
enum { ORDER_NAME_COUNT = sizeof order_names / sizeof order_names[0] };

static void key_encode(struct json_out *j, struct attempt_key key)
{
    char text[ATTEMPT_KEY_TEXT_MAX];
    size_t len = attempt_key_text(key, text);
    json_out_key(j, "key");
    json_out_str(j, (struct str){text, len});
}

static void texts_encode(struct json_out *j, const char *key, const char *const *texts,
                         uint32_t count)
{
    json_out_key(j, key);
    json_out_array(j);
    for (uint32_t i = 0; i < count; i++) {
        json_out_text(j, texts[i]);
    }
    json_out_end(j);
}

static void devices_encode(struct json_out *j, uint64_t devices)
{
    json_out_key(j, "devices");
    json_out_array(j);
    for (; devices != 0; devices &= devices - 1) {
        json_out_u64(j, (uint64_t)__builtin_ctzll(devices));
    }
    json_out_end(j);
}

static void welcome_encode(struct json_out *j, const struct agent_welcome *welcome)
{
    json_out_kv_u64(j, "protocol", welcome->protocol);
    json_out_kv_text(j, "node", welcome->node);
    json_out_kv_i64(j, "now_ms", welcome->now_ms);
    json_out_kv_i64(j, "heartbeat_ms", welcome->heartbeat_ms);
    json_out_kv_i64(j, "lost_after_ms", welcome->lost_after_ms);
    json_out_key(j, "limits");
    json_out_object(j);
    json_out_kv_u64(j, "report_bytes", welcome->report_bytes_max);
    json_out_end(j);
}

static void start_encode(struct json_out *j, const struct agent_start *start)
{
    key_encode(j, start->key);
    json_out_kv_u64(j, "task", start->key.task.v);
    json_out_kv_u64(j, "instance", start->instance);
    texts_encode(j, "argv", start->argv, start->argv_count);
    texts_encode(j, "env", start->env, start->env_count);
    json_out_kv_text(j, "workdir", start->workdir);
    json_out_kv_text(j, "job_user", start->job_user);
    json_out_kv_milli(j, "slots", start->slots_milli);
    devices_encode(j, start->devices);
    json_out_kv_milli(j, "cpu", start->cpu_milli);
    json_out_kv_i64(j, "memory", start->memory_bytes);
    json_out_kv_text(j, "pool", start->pool);
    json_out_kv_text(j, "node", start->node);
    json_out_kv_u64(j, "rank", start->rank);
    json_out_kv_u64(j, "world_size", start->world_size);
    json_out_kv_text(j, "master_addr", start->master_addr);
    json_out_kv_u64(j, "master_port", start->master_port);
    json_out_kv_i64(j, "grace_ms", start->grace_ms);
    json_out_kv_u64(j, "output_max", start->output_max);
}

void agent_order_encode(const struct agent_order *order, struct buf *out)
{
    struct json_out j;
    must(order->type != AGENT_OTHER);
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "type", order_names[order->type]);
    json_out_kv_u64(&j, "epoch", order->epoch);
    json_out_kv_u64(&j, "incarnation", order->incarnation);
    switch (order->type) {
    case AGENT_WELCOME:
        welcome_encode(&j, &order->welcome);
        break;
    case AGENT_START:
        start_encode(&j, &order->start);
        break;
    case AGENT_STOP:
        key_encode(&j, order->stop.key);
        json_out_kv_i64(&j, "grace_ms", order->stop.grace_ms);
        json_out_kv_text(&j, "cause", names_end_cause(order->stop.cause));
        break;
    case AGENT_BYE:
        json_out_kv_text(&j, "why", order->bye.why);
        break;
    case AGENT_PING:
    case AGENT_OTHER:
        break;
    }
    json_out_end(&j);
}

static enum agent_order_type type_parse(const char *name)
{
    for (size_t i = 0; i < ORDER_NAME_COUNT; i++) {
        if (strcmp(name, order_names[i]) == 0) {
            return (enum agent_order_type)i;
        }
    }
    return AGENT_OTHER;
}

static void welcome_decode(struct msg *msg, const struct doc *doc, struct agent_welcome *ret)
{
    const struct doc *limits = doc_get(doc, "limits");
    *ret = (struct agent_welcome){
        .protocol = (uint32_t)msg_u64(msg, doc, "protocol", UINT32_MAX, 0),
        .node = msg_name(msg, doc, "node"),
        .now_ms = msg_i64(msg, doc, "now_ms", INT64_MAX, 0),
        .heartbeat_ms = msg_i64(msg, doc, "heartbeat_ms", AMOUNT_MS_MAX, 10000),
        .lost_after_ms = msg_i64(msg, doc, "lost_after_ms", AMOUNT_MS_MAX, 300000),
        .report_bytes_max =
            msg_u64(msg, limits, "report_bytes", UINT32_MAX, AGENT_REPORT_BYTES_MAX),
    };
}

static void start_decode(struct msg *msg, const struct doc *doc, struct agent_start *ret)
{
    *ret = (struct agent_start){
        .key = msg_key(msg, doc),
        .instance = (uint32_t)msg_u64(msg, doc, "instance", UINT32_MAX, 0),
        .workdir = msg_text(msg, doc, "workdir", AGENT_TEXT_MAX, ""),
        .job_user = msg_text(msg, doc, "job_user", TEXT_LEN_MAX, ""),
        .slots_milli = msg_milli(msg, doc, "slots"),
        .devices = msg_devices(msg, doc, "devices"),
        .cpu_milli = msg_milli(msg, doc, "cpu"),
        .memory_bytes = msg_i64(msg, doc, "memory", AMOUNT_BYTES_MAX, 0),
        .pool = msg_text(msg, doc, "pool", NAME_LEN_MAX, ""),
        .node = msg_text(msg, doc, "node", NAME_LEN_MAX, ""),
        .rank = (uint32_t)msg_u64(msg, doc, "rank", UINT32_MAX, 0),
        .world_size = (uint32_t)msg_u64(msg, doc, "world_size", UINT32_MAX, 1),
        .master_addr = msg_text(msg, doc, "master_addr", TEXT_LEN_MAX, ""),
        .master_port = (uint32_t)msg_u64(msg, doc, "master_port", UINT16_MAX, 0),
        .grace_ms = msg_i64(msg, doc, "grace_ms", AMOUNT_MS_MAX, GRACE_MS_DEFAULT),
        .output_max = msg_u64(msg, doc, "output_max", INT64_MAX, INT64_MAX),
    };
    ret->argv = msg_texts(msg, doc, "argv", TASK_ARGS_MAX, &ret->argv_count);
    ret->env = msg_texts(msg, doc, "env", TASK_ENV_MAX, &ret->env_count);
    if (ret->argv_count == 0) {
        msg_bad(msg, "argv", "a list of 1 or more texts");
    }
}

static enum end_cause cause_parse(const char *name)
{
    for (int i = 0; i < END_CAUSE_COUNT; i++) {
        if (strcmp(name, names_end_cause((enum end_cause)i)) == 0) {
            return (enum end_cause)i;
        }
    }
    return END_NONE;
}

static void other_decode(const struct doc *doc, const char *type, struct agent_order *ret)
{
    const struct doc *key = doc_get(doc, "key");
    ret->other.type = type;
    ret->other.key = (struct attempt_key){0};
    if (key != NULL && key->kind == DOC_STRING) {
        (void)attempt_key_parse(key->text, &ret->other.key);
    }
}

enum err agent_order_decode(struct str text, struct arena *arena, struct agent_order *ret,
                            struct error *e)
{
    struct msg msg;
    const struct doc *doc;
    enum err r = msg_parse(&msg, text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    const char *type = msg_text(&msg, doc, "type", NAME_LEN_MAX, NULL);
    struct agent_order order = {
        .type = type_parse(type),
        .epoch = msg_u64(&msg, doc, "epoch", UINT64_MAX, 0),
        .incarnation = (uint32_t)msg_u64(&msg, doc, "incarnation", UINT32_MAX, 0),
    };
    switch (order.type) {
    case AGENT_WELCOME:
        welcome_decode(&msg, doc, &order.welcome);
        break;
    case AGENT_START:
        start_decode(&msg, doc, &order.start);
        break;
    case AGENT_STOP:
        order.stop = (struct agent_stop){
            .key = msg_key(&msg, doc),
            .grace_ms = msg_i64(&msg, doc, "grace_ms", AMOUNT_MS_MAX, 0),
            .cause = cause_parse(msg_text(&msg, doc, "cause", NAME_LEN_MAX, "")),
        };
        break;
    case AGENT_BYE:
        order.bye.why = msg_text(&msg, doc, "why", AGENT_TEXT_MAX, "");
        break;
    case AGENT_OTHER:
        other_decode(doc, type, &order);
        break;
    case AGENT_PING:
        break;
    }
    r = msg_result(&msg);
    if (r == ERR_OK) {
        *ret = order;
    }
    return r;
}
