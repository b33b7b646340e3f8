/* agent_order.c - the orders of the server to an agent.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"

#include "base/amount.h"
#include "base/must.h"
#include "wire/attempt_key.h"
#include "wire/record_json.h"
#include "core/model/limits.h"
#include "core/model/names.h"

static const char *cause_word(unsigned cause)
{
    return names_end_cause((enum end_cause)cause);
}

static const char *type_word(unsigned type)
{
    static const char *const words[] = {
        [AGENT_WELCOME] = "welcome", [AGENT_START] = "start", [AGENT_STOP] = "stop",
        [AGENT_PING] = "ping",       [AGENT_BYE] = "bye",
    };
    return words[type];
}

/* clang-format off */
static const struct record_table order_table = RECORD_JSON_TABLE(agent_order,
    RECORD_JSON_ROW(agent_order, type, "type", WORD, 0, AGENT_BYE, .word = type_word, .otherwise = AGENT_OTHER,
               .required = "a text within its length"),
    RECORD_JSON_ROW(agent_order, epoch, "epoch", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_order, incarnation, "incarnation", UINT, 0, RECORD_ANY));
static const struct record_table limits_table = RECORD_JSON_TABLE(agent_welcome,
    RECORD_JSON_ROW(agent_welcome, report_bytes_max, "report_bytes", UINT, 0, UINT32_MAX, .otherwise = AGENT_REPORT_BYTES_MAX));

/* The fields of each type of order, beside the fields that every order has. */
static const struct record_table type_tables[] = {
    [AGENT_WELCOME] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, welcome.protocol, "protocol", UINT, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, welcome.node, "node", TEXT, 1, NAME_LEN_MAX, .required = "a name", .json = &record_json_name),
        RECORD_JSON_ROW(agent_order, welcome.now_ms, "now_ms", INT, 0, INT64_MAX),
        RECORD_JSON_ROW(agent_order, welcome.heartbeat_ms, "heartbeat_ms", MS, 0, AMOUNT_MS_MAX, .otherwise = 10000),
        RECORD_JSON_ROW(agent_order, welcome.lost_after_ms, "lost_after_ms", MS, 0, AMOUNT_MS_MAX, .otherwise = 300000),
        RECORD_JSON_ROW(agent_order, welcome, "limits", PART, 0, 0, .part = &limits_table)),
    [AGENT_START] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, start.key, "key", KEY, 0, 0, .required = "an attempt like 12.0:1"),
        RECORD_JSON_ROW(agent_order, start.key.task, "task", UINT, 1, RECORD_ANY, .json = &record_json_unread),
        RECORD_JSON_ROW(agent_order, start.instance, "instance", UINT, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, start.argv, "argv", TEXTS, 1, TASK_ARGS_MAX, RECORD_JSON_COUNT(agent_order, start.argv_count),
            .length_max = AGENT_ORDER_BYTES_MAX, .required = "a list of 1 or more texts"),
        RECORD_JSON_ROW(agent_order, start.env, "env", TEXTS, 0, TASK_ENV_MAX, RECORD_JSON_COUNT(agent_order, start.env_count),
            .length_max = AGENT_ORDER_BYTES_MAX),
        RECORD_JSON_ROW(agent_order, start.workdir, "workdir", TEXT, 0, AGENT_TEXT_MAX),
        RECORD_JSON_ROW(agent_order, start.job_user, "job_user", TEXT, 0, TEXT_LEN_MAX),
        RECORD_JSON_ROW(agent_order, start.slots_milli, "slots", MILLI, 0, AMOUNT_MILLI_MAX),
        RECORD_JSON_ROW(agent_order, start.devices, "devices", BITS, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, start.cpu_milli, "cpu", MILLI, 0, AMOUNT_MILLI_MAX),
        RECORD_JSON_ROW(agent_order, start.memory_bytes, "memory", MEMORY, 0, AMOUNT_BYTES_MAX),
        RECORD_JSON_ROW(agent_order, start.pool, "pool", TEXT, 0, NAME_LEN_MAX),
        RECORD_JSON_ROW(agent_order, start.node, "node", TEXT, 0, NAME_LEN_MAX),
        RECORD_JSON_ROW(agent_order, start.rank, "rank", UINT, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, start.world_size, "world_size", UINT, 0, RECORD_ANY, .otherwise = 1),
        RECORD_JSON_ROW(agent_order, start.master_addr, "master_addr", TEXT, 0, TEXT_LEN_MAX),
        RECORD_JSON_ROW(agent_order, start.master_port, "master_port", UINT, 0, UINT16_MAX),
        RECORD_JSON_ROW(agent_order, start.grace_ms, "grace_ms", MS, 0, AMOUNT_MS_MAX, .otherwise = GRACE_MS_DEFAULT),
        RECORD_JSON_ROW(agent_order, start.output_max, "output_max", UINT, 0, INT64_MAX, .otherwise = INT64_MAX)),
    [AGENT_STOP] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, stop.key, "key", KEY, 0, 0, .required = "an attempt like 12.0:1"),
        RECORD_JSON_ROW(agent_order, stop.grace_ms, "grace_ms", MS, 0, AMOUNT_MS_MAX),
        RECORD_JSON_ROW(agent_order, stop.cause, "cause", WORD, 0, END_CAUSE_COUNT - 1, .word = cause_word)),
    [AGENT_BYE] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, bye.why, "why", TEXT, 0, AGENT_TEXT_MAX)),
    [AGENT_OTHER] = {0},
};
/* clang-format on */

void agent_order_encode(const struct agent_order *order, struct buf *out)
{
    struct json_out j;
    must(order->type != AGENT_OTHER);
    json_out_init(&j, out);
    json_out_object(&j);
    record_json_put(&j, &order_table, order);
    record_json_put(&j, &type_tables[order->type], order);
    json_out_end(&j);
}

/* Reads an order of a type that only a newer server knows: the type and, if the order has one,
 * the attempt key. */
static void other_get(const struct doc *doc, struct agent_order *ret)
{
    const struct doc *key = doc_get(doc, "key");
    ret->other.type = doc_get(doc, "type")->text.p;
    if (key != NULL && key->kind == DOC_STRING) {
        (void)attempt_key_parse(key->text, &ret->other.key);
    }
}

enum err agent_order_decode(struct str text, struct arena *arena, struct agent_order *ret,
                            struct error *e)
{
    struct record_json in;
    const struct doc *doc;
    struct agent_order order = {0};
    enum err r = record_json_parse(&in, text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    record_json_get(&in, &order_table, doc, &order);
    record_json_get(&in, &type_tables[order.type], doc, &order);
    if (in.bad) {
        return ERR_INVALID;
    }
    if (order.type == AGENT_OTHER) {
        other_get(doc, &order);
    }
    *ret = order;
    return ERR_OK;
}
