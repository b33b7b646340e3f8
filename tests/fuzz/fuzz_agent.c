/* fuzz_agent.c - the agent protocol, both directions. The first byte chooses the message. An
 * accepted message is encoded and decoded again, and both encodings must be equal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "wire/agent.h"
#include "core/model/limits.h"

#include <string.h>

enum { OUT_MAX = 64 << 20 };

/* Decodes `text` and, if that succeeds, encodes the message into `out`. */
typedef bool (*again_fn)(struct str text, struct arena *arena, struct buf *out);

static bool hello_again(struct str text, struct arena *arena, struct buf *out)
{
    struct agent_hello hello;
    struct error e = {0};
    if (agent_hello_decode(text, arena, &hello, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return false;
    }
    must(hello.node.device_count <= NODE_DEVICES_MAX);
    must(hello.attempt_count <= AGENT_ATTEMPTS_MAX);
    agent_hello_encode(&hello, out);
    return true;
}

static bool order_again(struct str text, struct arena *arena, struct buf *out)
{
    struct agent_order order;
    struct error e = {0};
    if (agent_order_decode(text, arena, &order, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return false;
    }
    if (order.type == AGENT_OTHER) {
        return false;
    }
    if (order.type == AGENT_START) {
        must(order.start.argv[order.start.argv_count] == NULL);
    }
    agent_order_encode(&order, out);
    return true;
}

static bool batch_again(struct str text, struct arena *arena, struct buf *out)
{
    struct agent_batch batch;
    struct error e = {0};
    if (agent_report_batch_decode(text, arena, &batch, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return false;
    }
    struct json_out j;
    agent_report_batch_begin(&j, out, &batch);
    for (uint32_t i = 0; i < batch.count; i++) {
        struct report report;
        if (batch.reports[i].type != AGENT_REPORT_OTHER) {
            agent_report_batch_add(&j, &batch.reports[i]);
        }
        if (agent_report_input(&batch.reports[i], batch.incarnation, &report)) {
            must(report.key.task.v != 0);
        }
    }
    agent_report_batch_end(&j);
    return true;
}

static bool join_again(struct str text, struct arena *arena, struct buf *out)
{
    struct agent_join join;
    struct error e = {0};
    if (agent_join_decode(text, arena, &join, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return false;
    }
    agent_join_encode(&join, out);
    return true;
}

static bool joined_again(struct str text, struct arena *arena, struct buf *out)
{
    struct agent_joined joined;
    struct error e = {0};
    if (agent_joined_decode(text, arena, &joined, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return false;
    }
    agent_joined_encode(&joined, out);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        char letter;
        again_fn again;
    } messages[] = {
        {'h', hello_again}, {'o', order_again},  {'r', batch_again},
        {'j', join_again},  {'a', joined_again},
    };
    struct arena arena;
    struct buf first;
    struct buf second;
    arena_init(&arena);
    buf_init(&first, OUT_MAX);
    buf_init(&second, OUT_MAX);
    for (size_t i = 0; size > 0 && i < sizeof messages / sizeof messages[0]; i++) {
        if (data[0] != (uint8_t)messages[i].letter) {
            continue;
        }
        if (messages[i].again((struct str){(const char *)data + 1, size - 1}, &arena, &first)) {
            must(messages[i].again((struct str){first.data, first.len}, &arena, &second));
            must(first.len == second.len);
            must(memcmp(first.data, second.data, first.len) == 0);
        }
    }
    buf_done(&first);
    buf_done(&second);
    arena_done(&arena);
    return 0;
}
