/* agent.c - the messages between server and agent, each by the table of its fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"

#include "base/amount.h"
#include "base/base64.h"
#include "base/must.h"
#include "core/model/limits.h"
#include "core/model/names.h"
#include "core/model/network.h"
#include "wire/attempt_key.h"
#include "wire/record_json.h"

enum { EXIT_CODE_MAX = 255, ERRNO_MAX = 4095 };

static const char name_wanted[] = "a name";
static const char text_wanted[] = "a text within its length";
static const char key_wanted[] = "an attempt like 12.0:1";

/* Makes a function that gives the word of a number; NULL beyond the last word. */
#define WORDS(function, ...)                                                                       \
    static const char *function(unsigned value)                                                    \
    {                                                                                              \
        static const char *const words[] = {__VA_ARGS__};                                          \
        return value < sizeof words / sizeof words[0] ? words[value] : NULL;                       \
    }
WORDS(attempt_state_word, [AGENT_ATTEMPT_STARTING] = "starting",
      [AGENT_ATTEMPT_RUNNING] = "running", [AGENT_ATTEMPT_ENDED] = "ended")
WORDS(order_word, [AGENT_WELCOME] = "welcome", [AGENT_START] = "start", [AGENT_STOP] = "stop",
      [AGENT_PING] = "ping", [AGENT_BYE] = "bye", [AGENT_ASK] = "ask", [AGENT_TUNNEL] = "tunnel")
WORDS(report_word, [AGENT_OUTPUT] = "output", [AGENT_STARTED] = "started", [AGENT_ENDED] = "ended",
      [AGENT_SPAWN_FAILED] = "spawn_failed", [AGENT_LOST] = "lost", [AGENT_REFUSED] = "refused",
      [AGENT_CHECKPOINT] = "checkpoint", [AGENT_USE] = "use")

static const char *cause_word(unsigned cause)
{
    return names_end_cause((enum end_cause)cause);
}

/* Makes the functions that append a message to a buffer and read it. */
#define MESSAGE(name, table)                                                                       \
    void agent_##name##_encode(const struct agent_##name *message, struct buf *out)                \
    {                                                                                              \
        record_json_encode(&(table), message, out);                                                \
    }                                                                                              \
    enum err agent_##name##_decode(struct str text, struct arena *arena, struct agent_##name *ret, \
                                   struct error *e)                                                \
    {                                                                                              \
        return record_json_decode(&(table), text, arena, ret, e);                                  \
    }

/* ---- join and hello: how an agent introduces itself ---- */

static void type_put(struct json_out *j, const struct record_field *field, const void *object)
{
    (void)object;
    json_out_kv_text(j, field->name, "hello");
}

static void type_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    (void)object;
    if (value->kind != DOC_STRING || value->text.len > NAME_LEN_MAX) {
        record_json_bad(in, field->name, field->required);
    } else if (!str_is(value->text, "hello")) {
        record_json_bad(in, field->name, "'hello'");
    }
}

/* Reads named resources. An error gives the full path of the bad entry. */
static void resources_get(struct record_json *in, const struct record_field *field,
                          const struct doc *value, void *object)
{
    struct record_field full = *field;
    full.name = "capacity.resources";
    record_json_value(in, &full, value, object);
}

static void capacity_get(struct record_json *in, const struct record_field *field,
                         const struct doc *value, void *object)
{
    const struct node_spec *node = &((const struct agent_hello *)object)->node;
    record_json_value(in, field, value, object);
    if (node->slots_milli % 1000 != 0) {
        record_json_bad(in, "capacity.slots", "a whole number");
    }
    if (node->device_count > 0 && node->slots_milli != (int64_t)node->device_count * 1000) {
        record_json_bad(in, "capacity.slots", "the number of devices");
    }
}

static void state_get(struct record_json *in, const struct record_field *field,
                      const struct doc *value, void *object)
{
    const bool word = value != NULL && value->kind == DOC_STRING && value->text.len <= NAME_LEN_MAX;
    record_json_value(in, field, word ? value : NULL, object);
    if (record_value(field, object) == field->otherwise) {
        record_json_bad(in, "attempts", "a state: starting, running or ended");
    }
}

/* clang-format off */
static const struct record_table join_table = RECORD_JSON_TABLE(agent_join,
    RECORD_JSON_ROW(agent_join, name, "name", TEXT, 1, NAME_LEN_MAX, .required = name_wanted, .json = &record_json_name),
    RECORD_JSON_ROW(agent_join, pool, "pool", TEXT, 0, NAME_LEN_MAX, .sparse = true),
    RECORD_JSON_ROW(agent_join, machine, "machine", TEXT, 0, AGENT_MACHINE_LEN, .sparse = true),
    RECORD_JSON_ROW(agent_join, request, "request", TEXT, 0, AGENT_PEM_MAX, .sparse = true));
static const struct record_table joined_table = RECORD_JSON_TABLE(agent_joined,
    RECORD_JSON_ROW(agent_joined, node, "node", TEXT, 1, NAME_LEN_MAX, .required = name_wanted, .json = &record_json_name),
    RECORD_JSON_ROW(agent_joined, credential, "credential", TEXT, 0, AGENT_CREDENTIAL_MAX, .required = text_wanted),
    RECORD_JSON_ROW(agent_joined, certificate, "certificate", TEXT, 0, AGENT_PEM_MAX, .sparse = true));
static const struct record_table certify_table = RECORD_JSON_TABLE(agent_certify,
    RECORD_JSON_ROW(agent_certify, request, "request", TEXT, 1, AGENT_PEM_MAX, .required = text_wanted));
static const struct record_table certified_table = RECORD_JSON_TABLE(agent_certified,
    RECORD_JSON_ROW(agent_certified, certificate, "certificate", TEXT, 1, AGENT_PEM_MAX, .required = text_wanted),
    RECORD_JSON_ROW(agent_certified, renew_ms, "renew_ms", MS, 0, AMOUNT_MS_MAX));
static const struct record_table capacity_table = RECORD_JSON_TABLE(node_spec,
    RECORD_JSON_ROW(node_spec, slots_milli, "slots", MILLI, 0, AMOUNT_MILLI_MAX),
    RECORD_JSON_ROW(node_spec, cpu_milli, "cpu", MILLI, 0, AMOUNT_MILLI_MAX),
    RECORD_JSON_ROW(node_spec, memory_bytes, "memory", MEMORY, 0, AMOUNT_BYTES_MAX),
    RECORD_JSON_ROW(node_spec, device_count, "devices", UINT, 0, NODE_DEVICES_MAX),
    RECORD_JSON_ROW(node_spec, gpu_memory_bytes, "gpu_memory", MEMORY, 0, AMOUNT_BYTES_MAX),
    RECORD_JSON_ROW(node_spec, resources, "resources", AMOUNTS, 0, NODE_RESOURCES_MAX,
               RECORD_JSON_COUNT(node_spec, resource_count), .json = RECORD_JSON_FORM(.get = resources_get)));
static const struct record_table attempt_table = RECORD_JSON_TABLE(agent_attempt,
    RECORD_JSON_ROW(agent_attempt, key, "key", KEY, 0, 0, .required = key_wanted),
    RECORD_JSON_ROW(agent_attempt, state, "state", WORD, 0, AGENT_ATTEMPT_ENDED, .word = attempt_state_word,
               .otherwise = AGENT_ATTEMPT_ENDED + 1, .json = RECORD_JSON_FORM(.get = state_get)));
static const struct record_table hello_table = RECORD_JSON_TABLE(agent_hello,
    RECORD_JSON_ROW(agent_hello, closing, "type", OWN, 0, 0, .required = text_wanted, .json = RECORD_JSON_FORM(.put = type_put, .get = type_get)),
    RECORD_JSON_ROW(agent_hello, protocol_min, "protocol_min", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_hello, protocol_max, "protocol_max", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_hello, node.version, "build", TEXT, 0, TEXT_LEN_MAX),
    RECORD_JSON_ROW(agent_hello, node.name, "name", TEXT, 1, NAME_LEN_MAX, .required = name_wanted, .json = &record_json_name),
    RECORD_JSON_ROW(agent_hello, node.pool, "pool", TEXT, 0, NAME_LEN_MAX),
    RECORD_JSON_ROW(agent_hello, node.boot_id, "boot_id", TEXT, 0, TEXT_LEN_MAX, .required = text_wanted),
    RECORD_JSON_ROW(agent_hello, node.supervisor, "supervisor", ID16, 0, 0, .required = text_wanted),
    RECORD_JSON_ROW(agent_hello, epoch_seen, "epoch_seen", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_hello, fact_seen, "fact_seen", UINT, 0, RECORD_ANY, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node.address, "address", TEXT, 0, TEXT_LEN_MAX),
    RECORD_JSON_ROW(agent_hello, node.labels, "labels", LABELS, 0, NODE_LABELS_MAX, RECORD_JSON_COUNT(agent_hello, node.label_count),
               .length_max = TEXT_LEN_MAX),
    RECORD_JSON_ROW(agent_hello, stop_after_ms, "stop_after_ms", MS, 0, AMOUNT_MS_MAX),
    RECORD_JSON_ROW(agent_hello, closing, "closing", BOOL, 0, 1, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node.trouble, "trouble", TEXT, 0, TEXT_LEN_MAX, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node.devices_out, "devices_out", BITS, 0, RECORD_ANY, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node.devices_lost, "devices_lost", BITS, 0, RECORD_ANY, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node.device_trouble, "device_trouble", TEXT, 0, TEXT_LEN_MAX, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node.unprevented, "unprevented", TEXT, 0, TEXT_LEN_MAX, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node.limits, "limits", TEXT, 0, TEXT_LEN_MAX, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node, "capacity", PART, 0, 0, .part = &capacity_table, .required = "a map",
               .json = RECORD_JSON_FORM(.get = capacity_get)),
    RECORD_JSON_ROW(agent_hello, attempts, "attempts", ROWS, 0, AGENT_ATTEMPTS_MAX, RECORD_JSON_COUNT(agent_hello, attempt_count),
               .part = &attempt_table));
/* clang-format on */

MESSAGE(join, join_table)
MESSAGE(joined, joined_table)
MESSAGE(certify, certify_table)
MESSAGE(certified, certified_table)
MESSAGE(hello, hello_table)

/* ---- orders ---- */

/* clang-format off */
static const struct record_table order_table = RECORD_JSON_TABLE(agent_order,
    RECORD_JSON_ROW(agent_order, type, "type", WORD, 0, AGENT_TUNNEL, .word = order_word, .otherwise = AGENT_OTHER,
               .required = text_wanted),
    RECORD_JSON_ROW(agent_order, epoch, "epoch", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_order, incarnation, "incarnation", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_order, fact, "fact", UINT, 0, RECORD_ANY, .sparse = true));
static const struct record_table limits_table = RECORD_JSON_TABLE(agent_welcome,
    RECORD_JSON_ROW(agent_welcome, report_bytes_max, "report_bytes", UINT, 0, UINT32_MAX, .otherwise = AGENT_REPORT_BYTES_MAX));

/* The fields of each type of order, beside the fields that every order has. */
static const struct record_table order_tables[] = {
    [AGENT_WELCOME] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, welcome.protocol, "protocol", UINT, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, welcome.node, "node", TEXT, 1, NAME_LEN_MAX, .required = name_wanted, .json = &record_json_name),
        RECORD_JSON_ROW(agent_order, welcome.now_ms, "now_ms", INT, 0, INT64_MAX),
        RECORD_JSON_ROW(agent_order, welcome.heartbeat_ms, "heartbeat_ms", MS, 0, AMOUNT_MS_MAX, .otherwise = 10000),
        RECORD_JSON_ROW(agent_order, welcome.lost_after_ms, "lost_after_ms", MS, 0, AMOUNT_MS_MAX, .otherwise = 300000),
        RECORD_JSON_ROW(agent_order, welcome, "limits", PART, 0, 0, .part = &limits_table)),
    [AGENT_START] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, start.key, "key", KEY, 0, 0, .required = key_wanted),
        RECORD_JSON_ROW(agent_order, start.key.task, "task", UINT, 1, RECORD_ANY, .json = &record_json_unread),
        RECORD_JSON_ROW(agent_order, start.instance, "instance", UINT, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, start.argv, "argv", TEXTS, 1, TASK_ARGS_MAX, RECORD_JSON_COUNT(agent_order, start.argv_count),
            .length_max = AGENT_ORDER_BYTES_MAX, .required = "a list of 1 or more texts"),
        RECORD_JSON_ROW(agent_order, start.env, "env", TEXTS, 0, TASK_ENV_MAX, RECORD_JSON_COUNT(agent_order, start.env_count),
            .length_max = AGENT_ORDER_BYTES_MAX),
        RECORD_JSON_ROW(agent_order, start.workdir, "workdir", TEXT, 0, AGENT_TEXT_MAX),
        RECORD_JSON_ROW(agent_order, start.image, "image", TEXT, 0, AGENT_TEXT_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.upload, "upload", TEXT, 0, TEXT_LEN_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.mounts, "mounts", TEXTS, 0, TASK_MOUNTS_MAX, RECORD_JSON_COUNT(agent_order, start.mount_count), .length_max = AGENT_TEXT_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.job_user, "job_user", TEXT, 0, TEXT_LEN_MAX),
        RECORD_JSON_ROW(agent_order, start.slots_milli, "slots", MILLI, 0, AMOUNT_MILLI_MAX),
        RECORD_JSON_ROW(agent_order, start.devices, "devices", BITS, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, start.cpu_milli, "cpu", MILLI, 0, AMOUNT_MILLI_MAX),
        RECORD_JSON_ROW(agent_order, start.memory_bytes, "memory", MEMORY, 0, AMOUNT_BYTES_MAX),
        RECORD_JSON_ROW(agent_order, start.cpu_limit_milli, "cpu_limit", MILLI, 0, AMOUNT_MILLI_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.memory_limit_bytes, "memory_limit", MEMORY, 0, AMOUNT_BYTES_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.pool, "pool", TEXT, 0, NAME_LEN_MAX),
        RECORD_JSON_ROW(agent_order, start.node, "node", TEXT, 0, NAME_LEN_MAX),
        RECORD_JSON_ROW(agent_order, start.rank, "rank", UINT, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, start.world_size, "world_size", UINT, 0, RECORD_ANY, .otherwise = 1),
        RECORD_JSON_ROW(agent_order, start.master_addr, "master_addr", TEXT, 0, TEXT_LEN_MAX),
        RECORD_JSON_ROW(agent_order, start.master_port, "master_port", UINT, 0, UINT16_MAX),
        RECORD_JSON_ROW(agent_order, start.network, "network", TEXT, 0, NAME_LEN_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.project, "project", TEXT, 0, NAME_LEN_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.user, "user", TEXT, 0, TEXT_LEN_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.outbound, "outbound", TEXT, 0, NETWORK_RANGE_LEN_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, start.grace_ms, "grace_ms", MS, 0, AMOUNT_MS_MAX, .otherwise = GRACE_MS_DEFAULT),
        RECORD_JSON_ROW(agent_order, start.output_max, "output_max", UINT, 0, INT64_MAX, .otherwise = INT64_MAX),
        RECORD_JSON_ROW(agent_order, start.terminal, "terminal", BOOL, 0, 1, .sparse = true)),
    [AGENT_STOP] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, stop.key, "key", KEY, 0, 0, .required = key_wanted),
        RECORD_JSON_ROW(agent_order, stop.grace_ms, "grace_ms", MS, 0, AMOUNT_MS_MAX),
        RECORD_JSON_ROW(agent_order, stop.cause, "cause", WORD, 0, END_CAUSE_COUNT - 1, .word = cause_word)),
    [AGENT_BYE] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, bye.why, "why", TEXT, 0, AGENT_TEXT_MAX)),
    [AGENT_TUNNEL] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, tunnel.key, "key", KEY, 0, 0, .required = key_wanted),
        RECORD_JSON_ROW(agent_order, tunnel.id, "tunnel", TEXT, 1, AGENT_TUNNEL_ID_LEN, .required = text_wanted),
        RECORD_JSON_ROW(agent_order, tunnel.what, "what", TEXT, 1, AGENT_TUNNEL_WHAT_MAX, .required = text_wanted),
        RECORD_JSON_ROW(agent_order, tunnel.argv, "argv", TEXTS, 0, TASK_ARGS_MAX, RECORD_JSON_COUNT(agent_order, tunnel.argv_count),
            .length_max = AGENT_ORDER_BYTES_MAX),
        RECORD_JSON_ROW(agent_order, tunnel.terminal, "terminal", TEXT, 0, NAME_LEN_MAX),
        RECORD_JSON_ROW(agent_order, tunnel.term, "term", TEXT, 0, NAME_LEN_MAX),
        RECORD_JSON_ROW(agent_order, tunnel.port, "port", UINT, 0, UINT16_MAX)),
    [AGENT_ASK] = RECORD_JSON_TABLE(agent_order,
        RECORD_JSON_ROW(agent_order, ask.id, "ask", UINT, 1, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, ask.what, "what", TEXT, 1, NAME_LEN_MAX, .required = text_wanted),
        RECORD_JSON_ROW(agent_order, ask.task, "task", UINT, 1, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, ask.instance, "instance", UINT, 0, RECORD_ANY),
        RECORD_JSON_ROW(agent_order, ask.path, "path", TEXT, 0, AGENT_TEXT_MAX),
        RECORD_JSON_ROW(agent_order, ask.after, "after", TEXT, 0, AGENT_TEXT_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, ask.offset, "offset", UINT, 0, INT64_MAX, .sparse = true),
        RECORD_JSON_ROW(agent_order, ask.limit, "limit", UINT, 0, INT64_MAX)),
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
    record_json_put(&j, &order_tables[order->type], order);
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
    record_json_get(&in, &order_tables[order.type], doc, &order);
    if (in.bad) {
        return ERR_INVALID;
    }
    if (order.type == AGENT_OTHER) {
        other_get(doc, &order);
    }
    *ret = order;
    return ERR_OK;
}

/* ---- reports ---- */

static void data_put(struct json_out *j, const struct record_field *field, const void *object)
{
    json_out_key(j, field->name);
    json_out_raw(j, (struct str){"\"", 1}); /* base64 needs no escapes: straight into the buffer */
    base64_add(j->out, ((const struct agent_report *)object)->data);
    buf_add_char(j->out, '"');
}

static void data_get(struct record_json *in, const struct record_field *field,
                     const struct doc *value, void *object)
{
    if (value->kind != DOC_STRING || value->text.len > (size_t)field->high ||
        !base64_decode(in->arena, value->text, &((struct agent_report *)object)->data)) {
        record_json_bad(in, field->name, field->required);
    }
}

/* Begins the list and leaves it open, because the caller adds reports one by one. */
static void reports_put(struct json_out *j, const struct record_field *field, const void *object)
{
    (void)object;
    json_out_key(j, field->name);
    json_out_array(j);
}

static void reports_get(struct record_json *in, const struct record_field *field,
                        const struct doc *value, void *object);

/* clang-format off */
static const struct record_table report_table = RECORD_JSON_TABLE(agent_report,
    RECORD_JSON_ROW(agent_report, type, "type", WORD, 0, AGENT_USE, .word = report_word, .otherwise = AGENT_REPORT_OTHER,
               .required = text_wanted));
static const struct record_table batch_table = RECORD_JSON_TABLE(agent_batch,
    RECORD_JSON_ROW(agent_batch, epoch, "epoch", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_batch, incarnation, "incarnation", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_batch, batch, "batch", UINT, 0, RECORD_ANY),
    RECORD_JSON_ROW(agent_batch, reports, "reports", OWN, 0, AGENT_REPORTS_MAX, RECORD_JSON_COUNT(agent_batch, count),
               .json = RECORD_JSON_FORM(.put = reports_put, .get = reports_get)));

/* The fields of each type of report, beside `type`. */
static const struct record_table report_tables[] = {
    [AGENT_OUTPUT] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, stream, "stream", UINT, 1, 2, .required = "1 or 2"),
        RECORD_JSON_ROW(agent_report, offset, "offset", UINT, 0, AGENT_OFFSET_MAX),
        RECORD_JSON_ROW(agent_report, data, "data", OWN, 0, AGENT_REPORT_BYTES_MAX, .required = "base64",
            .json = RECORD_JSON_FORM(.put = data_put, .get = data_get))),
    [AGENT_STARTED] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, TIME_MS_MAX),
        RECORD_JSON_ROW(agent_report, pid, "pid", UINT, 0, INT32_MAX),
        RECORD_JSON_ROW(agent_report, workdir_missed, "workdir_used", BOOL, 0, 1, .sparse = true, .json = &record_json_not)),
    [AGENT_ENDED] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, TIME_MS_MAX),
        RECORD_JSON_ROW(agent_report, exit_code, "exit_code", INT, 0, EXIT_CODE_MAX, .otherwise = EXIT_CODE_MAX),
        RECORD_JSON_ROW(agent_report, out_bytes, "out_bytes", UINT, 0, AGENT_NUMBER_MAX),
        RECORD_JSON_ROW(agent_report, err_bytes, "err_bytes", UINT, 0, AGENT_NUMBER_MAX),
        RECORD_JSON_ROW(agent_report, cpu_ms, "cpu_ms", MS, 0, AGENT_NUMBER_MAX),
        RECORD_JSON_ROW(agent_report, memory_peak_bytes, "memory_peak", MEMORY, 0, AMOUNT_BYTES_MAX),
        RECORD_JSON_ROW(agent_report, out_of_memory, "out_of_memory", BOOL, 0, 1, .sparse = true),
        RECORD_JSON_ROW(agent_report, out_of_disk, "out_of_disk", BOOL, 0, 1, .sparse = true)),
    [AGENT_SPAWN_FAILED] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, TIME_MS_MAX, .json = &record_json_unwritten),
        RECORD_JSON_ROW(agent_report, exit_code, "errno", INT, 0, ERRNO_MAX),
        RECORD_JSON_ROW(agent_report, text, "message", TEXT, 0, AGENT_TEXT_MAX)),
    [AGENT_LOST] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted)),
    [AGENT_REFUSED] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true),
        RECORD_JSON_ROW(agent_report, text, "why", TEXT, 0, AGENT_TEXT_MAX)),
    [AGENT_CHECKPOINT] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, TIME_MS_MAX)),
    [AGENT_USE] = RECORD_JSON_TABLE(agent_report,
        RECORD_JSON_ROW(agent_report, key, "key", KEY, 0, 0, .sparse = true, .required = key_wanted),
        RECORD_JSON_ROW(agent_report, at_ms, "at_ms", INT, 0, TIME_MS_MAX),
        RECORD_JSON_ROW(agent_report, cpu_ms, "cpu_ms", MS, 0, AGENT_NUMBER_MAX),
        RECORD_JSON_ROW(agent_report, memory_bytes, "memory", MEMORY, 0, AMOUNT_BYTES_MAX),
        RECORD_JSON_ROW(agent_report, memory_peak_bytes, "memory_peak", MEMORY, 0, AMOUNT_BYTES_MAX),
        RECORD_JSON_ROW(agent_report, gpu_known, "gpu_known", BOOL, 0, 1, .sparse = true),
        RECORD_JSON_ROW(agent_report, gpu_milli, "gpu", MILLI, 0, AMOUNT_MILLI_MAX),
        RECORD_JSON_ROW(agent_report, gpu_memory_bytes, "gpu_memory", MEMORY, 0, AMOUNT_BYTES_MAX)),
    [AGENT_REPORT_OTHER] = {0},
};
/* clang-format on */

void agent_report_batch_begin(struct json_out *j, struct buf *out, const struct agent_batch *batch)
{
    json_out_init(j, out);
    json_out_object(j);
    record_json_put(j, &batch_table, batch);
}

void agent_report_batch_add(struct json_out *j, const struct agent_report *report)
{
    must(report->type != AGENT_REPORT_OTHER);
    json_out_object(j);
    record_json_put(j, &report_table, report);
    record_json_put(j, &report_tables[report->type], report);
    json_out_end(j);
}

void agent_report_batch_end(struct json_out *j)
{
    json_out_end(j);
    json_out_end(j);
}

/* Reads reports up to the first bad one. The bad report is the last one counted. */
static void reports_get(struct record_json *in, const struct record_field *field,
                        const struct doc *value, void *object)
{
    struct agent_batch *batch = object;
    const struct doc *list = record_json_list(in, field, value, field->high);
    const struct doc *item = list != NULL ? list->first : NULL;
    struct agent_report *reports =
        arena_new(in->arena, struct agent_report, list != NULL ? list->count : 0);
    for (; item != NULL && !in->bad; item = item->next) {
        struct agent_report *report = &reports[batch->count++];
        *report = (struct agent_report){.text = "", .data = {"", 0}};
        record_json_get(in, &report_table, item, report);
        record_json_get(in, &report_tables[report->type], item, report);
    }
    batch->reports = reports;
    if (in->bad && batch->count > 0) {
        (void)fail_in(in->error, "%s[%u]", field->name, batch->count - 1);
    }
}

enum err agent_report_batch_decode(struct str text, struct arena *arena, struct agent_batch *ret,
                                   struct error *e)
{
    return record_json_decode(&batch_table, text, arena, ret, e);
}

bool agent_report_input(const struct agent_report *report, uint32_t incarnation, struct report *ret)
{
    static const enum report_type types[] = {
        [AGENT_STARTED] = REPORT_STARTED,           [AGENT_ENDED] = REPORT_ENDED,
        [AGENT_SPAWN_FAILED] = REPORT_SPAWN_FAILED, [AGENT_LOST] = REPORT_LOST,
        [AGENT_CHECKPOINT] = REPORT_CHECKPOINT,
    };
    if (report->type == AGENT_OUTPUT || report->type == AGENT_REFUSED ||
        report->type == AGENT_USE || report->type == AGENT_REPORT_OTHER) {
        return false;
    }
    *ret = (struct report){
        .type = types[report->type],
        .key = report->key,
        .incarnation = incarnation,
        .at_ms = report->at_ms,
        .workdir_missed = report->workdir_missed,
        .exit_code = report->exit_code,
        .out_bytes = report->out_bytes,
        .err_bytes = report->err_bytes,
        .cpu_ms = report->cpu_ms,
        .memory_peak_bytes = report->memory_peak_bytes,
        .out_of_memory = report->out_of_memory,
        .out_of_disk = report->out_of_disk,
    };
    return true;
}
