/* agent_hello.c - how an agent introduces itself: join and hello.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"

#include "base/amount.h"
#include "base/name.h"
#include "wire/attempt_key.h"
#include "wire/msg_internal.h"
#include "core/model/limits.h"

#include <string.h>

enum { SUPERVISOR_HEX = 32 };

static const char *const attempt_state_names[] = {
    [AGENT_ATTEMPT_STARTING] = "starting",
    [AGENT_ATTEMPT_RUNNING] = "running",
    [AGENT_ATTEMPT_ENDED] = "ended",
};

void agent_hello_join_encode(const struct agent_join *join, struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "name", join->name);
    if (join->pool[0] != '\0') {
        json_out_kv_text(&j, "pool", join->pool);
    }
    json_out_end(&j);
}

enum err agent_hello_join_decode(struct str text, struct arena *arena, struct agent_join *ret,
                                 struct error *e)
{
    struct msg msg;
    const struct doc *doc;
    enum err r = msg_parse(&msg, text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    struct agent_join join = {
        .name = msg_name(&msg, doc, "name"),
        .pool = doc_get(doc, "pool") != NULL ? msg_text(&msg, doc, "pool", NAME_LEN_MAX, "") : "",
    };
    r = msg_result(&msg);
    if (r == ERR_OK) {
        *ret = join;
    }
    return r;
}

void agent_hello_joined_encode(const struct agent_joined *joined, struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "node", joined->node);
    json_out_kv_text(&j, "credential", joined->credential);
    json_out_end(&j);
}

enum err agent_hello_joined_decode(struct str text, struct arena *arena, struct agent_joined *ret,
                                   struct error *e)
{
    struct msg msg;
    const struct doc *doc;
    enum err r = msg_parse(&msg, text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    struct agent_joined joined = {
        .node = msg_name(&msg, doc, "node"),
        .credential = msg_text(&msg, doc, "credential", AGENT_CREDENTIAL_MAX, NULL),
    };
    r = msg_result(&msg);
    if (r == ERR_OK) {
        *ret = joined;
    }
    return r;
}

static void supervisor_text(const uint8_t *id, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SUPERVISOR_HEX / 2; i++) {
        out[2 * i] = digits[id[i] >> 4];
        out[2 * i + 1] = digits[id[i] & 15];
    }
    out[SUPERVISOR_HEX] = '\0';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void supervisor_read(struct msg *msg, const struct doc *doc, uint8_t *ret)
{
    const char *text = msg_text(msg, doc, "supervisor", SUPERVISOR_HEX, NULL);
    bool good = strlen(text) == SUPERVISOR_HEX;
    for (size_t i = 0; good && i < SUPERVISOR_HEX / 2; i++) {
        int high = hex_value(text[2 * i]);
        int low = hex_value(text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        ret[i] = (uint8_t)(good ? high * 16 + low : 0);
    }
    if (!good) {
        msg_bad(msg, "supervisor", "32 hex digits");
    }
}

static void capacity_encode(struct json_out *j, const struct node_spec *node)
{
    json_out_key(j, "capacity");
    json_out_object(j);
    json_out_kv_milli(j, "slots", node->slots_milli);
    json_out_kv_milli(j, "cpu", node->cpu_milli);
    json_out_kv_i64(j, "memory", node->memory_bytes);
    json_out_kv_u64(j, "devices", node->device_count);
    json_out_kv_i64(j, "gpu_memory", node->gpu_memory_bytes);
    json_out_key(j, "resources");
    json_out_object(j);
    for (uint32_t i = 0; i < node->resource_count; i++) {
        json_out_kv_milli(j, node->resources[i].name, node->resources[i].milli);
    }
    json_out_end(j);
    json_out_end(j);
}

static void attempts_encode(struct json_out *j, const struct agent_hello *hello)
{
    json_out_key(j, "attempts");
    json_out_array(j);
    for (uint32_t i = 0; i < hello->attempt_count; i++) {
        char key[ATTEMPT_KEY_TEXT_MAX];
        (void)attempt_key_text(hello->attempts[i].key, key);
        json_out_object(j);
        json_out_kv_text(j, "key", key);
        json_out_kv_text(j, "state", attempt_state_names[hello->attempts[i].state]);
        json_out_end(j);
    }
    json_out_end(j);
}

void agent_hello_encode(const struct agent_hello *hello, struct buf *out)
{
    const struct node_spec *node = &hello->node;
    char supervisor[SUPERVISOR_HEX + 1];
    struct json_out j;
    supervisor_text(node->supervisor, supervisor);
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "type", "hello");
    json_out_kv_u64(&j, "protocol_min", hello->protocol_min);
    json_out_kv_u64(&j, "protocol_max", hello->protocol_max);
    json_out_kv_text(&j, "build", node->version);
    json_out_kv_text(&j, "name", node->name);
    json_out_kv_text(&j, "pool", node->pool);
    json_out_kv_text(&j, "boot_id", node->boot_id);
    json_out_kv_text(&j, "supervisor", supervisor);
    json_out_kv_u64(&j, "epoch_seen", hello->epoch_seen);
    json_out_kv_text(&j, "address", node->address);
    json_out_key(&j, "labels");
    json_out_object(&j);
    for (uint32_t i = 0; i < node->label_count; i++) {
        json_out_kv_text(&j, node->labels[i].key, node->labels[i].value);
    }
    json_out_end(&j);
    json_out_kv_i64(&j, "stop_after_ms", hello->stop_after_ms);
    if (hello->closing) {
        json_out_kv_bool(&j, "closing", true);
    }
    capacity_encode(&j, node);
    attempts_encode(&j, hello);
    json_out_end(&j);
}

static void labels_decode(struct msg *msg, const struct doc *doc, struct node_spec *node)
{
    const struct doc *map = doc_get(doc, "labels");
    if (map == NULL) {
        return;
    }
    if (map->kind != DOC_MAP || map->count > NODE_LABELS_MAX) {
        msg_bad(msg, "labels", "a map within its size");
        return;
    }
    struct label *labels = arena_new(msg->arena, struct label, map->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = map->first; item != NULL; item = item->next) {
        const char *value;
        if (item->key.len == 0 || item->key.len > TEXT_LEN_MAX || !doc_text(item, &value) ||
            item->text.len > TEXT_LEN_MAX) {
            msg_bad(msg, "labels", "a map of texts");
            return;
        }
        labels[count++] = (struct label){item->key.p, value};
    }
    node->labels = labels;
    node->label_count = count;
}

static void named_decode(struct msg *msg, const struct doc *capacity, struct node_spec *node)
{
    const struct doc *map = doc_get(capacity, "resources");
    if (map == NULL) {
        return;
    }
    if (map->kind != DOC_MAP || map->count > NODE_RESOURCES_MAX) {
        msg_bad(msg, "capacity.resources", "a map within its size");
        return;
    }
    struct named_amount *named = arena_new(msg->arena, struct named_amount, map->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = map->first; item != NULL; item = item->next) {
        int64_t milli;
        if (name_check(item->key, "it", NULL) != ERR_OK || item->kind != DOC_NUMBER ||
            amount_milli(item->text, &milli, NULL) != ERR_OK) {
            msg_bad(msg, "capacity.resources", "a map of names and amounts");
            return;
        }
        named[count++] = (struct named_amount){item->key.p, milli};
    }
    node->resources = named;
    node->resource_count = count;
}

static void capacity_decode(struct msg *msg, const struct doc *doc, struct node_spec *node)
{
    const struct doc *capacity = doc_get(doc, "capacity");
    if (capacity == NULL || capacity->kind != DOC_MAP) {
        msg_bad(msg, "capacity", "a map");
        return;
    }
    node->slots_milli = msg_milli(msg, capacity, "slots");
    node->cpu_milli = msg_milli(msg, capacity, "cpu");
    node->memory_bytes = msg_i64(msg, capacity, "memory", AMOUNT_BYTES_MAX, 0);
    node->device_count = (uint32_t)msg_u64(msg, capacity, "devices", NODE_DEVICES_MAX, 0);
    node->gpu_memory_bytes = msg_i64(msg, capacity, "gpu_memory", AMOUNT_BYTES_MAX, 0);
    named_decode(msg, capacity, node);
    if (node->slots_milli % 1000 != 0) {
        msg_bad(msg, "capacity.slots", "a whole number");
    }
    if (node->device_count > 0 && node->slots_milli != (int64_t)node->device_count * 1000) {
        msg_bad(msg, "capacity.slots", "the number of devices");
    }
}

static bool attempt_state_parse(const struct doc *doc, enum agent_attempt_state *ret)
{
    const char *name;
    if (!doc_text(doc, &name)) {
        return false;
    }
    for (size_t i = 0; i < sizeof attempt_state_names / sizeof attempt_state_names[0]; i++) {
        if (strcmp(name, attempt_state_names[i]) == 0) {
            *ret = (enum agent_attempt_state)i;
            return true;
        }
    }
    return false;
}

static void attempts_decode(struct msg *msg, const struct doc *doc, struct agent_hello *hello)
{
    const struct doc *list = msg_list(msg, doc, "attempts", AGENT_ATTEMPTS_MAX);
    if (list == NULL) {
        return;
    }
    struct agent_attempt *attempts = arena_new(msg->arena, struct agent_attempt, list->count);
    uint32_t count = 0;
    for (const struct doc *item = list->first; item != NULL; item = item->next) {
        attempts[count].key = msg_key(msg, item);
        if (!attempt_state_parse(doc_get(item, "state"), &attempts[count].state)) {
            msg_bad(msg, "attempts", "a state: starting, running or ended");
        }
        count++;
    }
    hello->attempts = attempts;
    hello->attempt_count = count;
}

enum err agent_hello_decode(struct str text, struct arena *arena, struct agent_hello *ret,
                            struct error *e)
{
    struct msg msg;
    const struct doc *doc;
    enum err r = msg_parse(&msg, text, arena, &doc, e);
    if (r != ERR_OK) {
        return r;
    }
    struct agent_hello hello = {
        .protocol_min = (uint32_t)msg_u64(&msg, doc, "protocol_min", UINT32_MAX, 0),
        .protocol_max = (uint32_t)msg_u64(&msg, doc, "protocol_max", UINT32_MAX, 0),
        .epoch_seen = msg_u64(&msg, doc, "epoch_seen", UINT64_MAX, 0),
        .stop_after_ms = msg_i64(&msg, doc, "stop_after_ms", AMOUNT_MS_MAX, 0),
        .node =
            {
                .name = msg_name(&msg, doc, "name"),
                .pool = msg_text(&msg, doc, "pool", NAME_LEN_MAX, ""),
                .boot_id = msg_text(&msg, doc, "boot_id", TEXT_LEN_MAX, NULL),
                .address = msg_text(&msg, doc, "address", TEXT_LEN_MAX, ""),
                .version = msg_text(&msg, doc, "build", TEXT_LEN_MAX, ""),
            },
    };
    if (!str_is(str_of(msg_text(&msg, doc, "type", NAME_LEN_MAX, NULL)), "hello")) {
        msg_bad(&msg, "type", "'hello'");
    }
    const struct doc *closing = doc_get(doc, "closing");
    if (closing != NULL && !doc_bool(closing, &hello.closing)) {
        msg_bad(&msg, "closing", "true or false");
    }
    supervisor_read(&msg, doc, hello.node.supervisor);
    labels_decode(&msg, doc, &hello.node);
    capacity_decode(&msg, doc, &hello.node);
    attempts_decode(&msg, doc, &hello);
    r = msg_result(&msg);
    if (r == ERR_OK) {
        *ret = hello;
    }
    return r;
}
