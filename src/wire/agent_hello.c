/* agent_hello.c - the messages by which an agent introduces itself: join and hello.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"

#include "base/amount.h"
#include "wire/record_json.h"
#include "core/model/limits.h"

static const char name_wanted[] = "a name";
static const char text_wanted[] = "a text within its length";

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

static const char *attempt_state_word(unsigned state)
{
    static const char *const words[] = {"starting", "running", "ended"};
    return state <= AGENT_ATTEMPT_ENDED ? words[state] : NULL;
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
    RECORD_JSON_ROW(agent_join, pool, "pool", TEXT, 0, NAME_LEN_MAX, .sparse = true));
static const struct record_table joined_table = RECORD_JSON_TABLE(agent_joined,
    RECORD_JSON_ROW(agent_joined, node, "node", TEXT, 1, NAME_LEN_MAX, .required = name_wanted, .json = &record_json_name),
    RECORD_JSON_ROW(agent_joined, credential, "credential", TEXT, 0, AGENT_CREDENTIAL_MAX, .required = text_wanted));
static const struct record_table capacity_table = RECORD_JSON_TABLE(node_spec,
    RECORD_JSON_ROW(node_spec, slots_milli, "slots", MILLI, 0, AMOUNT_MILLI_MAX),
    RECORD_JSON_ROW(node_spec, cpu_milli, "cpu", MILLI, 0, AMOUNT_MILLI_MAX),
    RECORD_JSON_ROW(node_spec, memory_bytes, "memory", MEMORY, 0, AMOUNT_BYTES_MAX),
    RECORD_JSON_ROW(node_spec, device_count, "devices", UINT, 0, NODE_DEVICES_MAX),
    RECORD_JSON_ROW(node_spec, gpu_memory_bytes, "gpu_memory", MEMORY, 0, AMOUNT_BYTES_MAX),
    RECORD_JSON_ROW(node_spec, resources, "resources", AMOUNTS, 0, NODE_RESOURCES_MAX,
               RECORD_JSON_COUNT(node_spec, resource_count), .json = RECORD_JSON_FORM(.get = resources_get)));
static const struct record_table attempt_table = RECORD_JSON_TABLE(agent_attempt,
    RECORD_JSON_ROW(agent_attempt, key, "key", KEY, 0, 0, .required = "an attempt like 12.0:1"),
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
    RECORD_JSON_ROW(agent_hello, node.address, "address", TEXT, 0, TEXT_LEN_MAX),
    RECORD_JSON_ROW(agent_hello, node.labels, "labels", LABELS, 0, NODE_LABELS_MAX, RECORD_JSON_COUNT(agent_hello, node.label_count),
               .length_max = TEXT_LEN_MAX),
    RECORD_JSON_ROW(agent_hello, stop_after_ms, "stop_after_ms", MS, 0, AMOUNT_MS_MAX),
    RECORD_JSON_ROW(agent_hello, closing, "closing", BOOL, 0, 1, .sparse = true),
    RECORD_JSON_ROW(agent_hello, node, "capacity", PART, 0, 0, .part = &capacity_table, .required = "a map",
               .json = RECORD_JSON_FORM(.get = capacity_get)),
    RECORD_JSON_ROW(agent_hello, attempts, "attempts", ROWS, 0, AGENT_ATTEMPTS_MAX, RECORD_JSON_COUNT(agent_hello, attempt_count),
               .part = &attempt_table));
/* clang-format on */

void agent_hello_join_encode(const struct agent_join *join, struct buf *out)
{
    record_json_encode(&join_table, join, out);
}

enum err agent_hello_join_decode(struct str text, struct arena *arena, struct agent_join *ret,
                                 struct error *e)
{
    return record_json_decode(&join_table, text, arena, ret, e);
}

void agent_hello_joined_encode(const struct agent_joined *joined, struct buf *out)
{
    record_json_encode(&joined_table, joined, out);
}

enum err agent_hello_joined_decode(struct str text, struct arena *arena, struct agent_joined *ret,
                                   struct error *e)
{
    return record_json_decode(&joined_table, text, arena, ret, e);
}

void agent_hello_encode(const struct agent_hello *hello, struct buf *out)
{
    record_json_encode(&hello_table, hello, out);
}

enum err agent_hello_decode(struct str text, struct arena *arena, struct agent_hello *ret,
                            struct error *e)
{
    return record_json_decode(&hello_table, text, arena, ret, e);
}
