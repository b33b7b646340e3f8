/* test_agent_golden.c - the agent protocol byte for byte: agent_messages.golden says what each message
 * is read as.
 *
 * A case is two lines: a letter and a message, then `= ` and what the message read is written as, or
 * `! ` and the path and text of the error. The messages of sample() stand first in the file, as written.
 * `test_agent_golden FILE write` prints the file anew, for what FILE has as messages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LINE_MAX_BYTES = 1 << 20 };

static const char *golden_path;

static const struct label labels[] = {{"gpu.model", "A \"100\""}, {"zone", ""}};
static const struct named_amount named[] = {{"foo", 7000}, {"bar", 500}};
static const struct agent_attempt attempts[] = {{{{12}, 0, 1}, AGENT_ATTEMPT_RUNNING},
                                                {{{9}, 3, 2}, AGENT_ATTEMPT_ENDED},
                                                {{{1}, 0, 7}, AGENT_ATTEMPT_STARTING}};
static const char *const argv[] = {"sh", "-c", "echo \"x\"\n"};
static const char *const env[] = {"A=b", "UNI=\xc3\xa9"};

/* Every member has a value of its own, so that no two can be mixed up. */
static const struct agent_hello hello = {
    .protocol_min = 11,
    .protocol_max = 12,
    .epoch_seen = UINT64_MAX,
    .stop_after_ms = 5000,
    .node =
        {
            .name = "n1",
            .pool = "default",
            .labels = labels,
            .label_count = 2,
            .slots_milli = 2000,
            .cpu_milli = 3500,
            .memory_bytes = 25264513024,
            .gpu_memory_bytes = 1 << 30,
            .device_count = 2,
            .resources = named,
            .resource_count = 2,
            .supervisor = {0xde, 0xad, [15] = 0x0f},
            .boot_id = "boot",
            .address = "127.0.0.1",
            .version = "0.1.0",
        },
    .attempts = attempts,
    .attempt_count = 3,
};
static const struct agent_order orders[] = {
    {.type = AGENT_WELCOME,
     .epoch = 5,
     .incarnation = 3,
     .welcome = {21, "n1", 1700000000000, 10001, 300002, 4194303}},
    {.type = AGENT_START,
     .epoch = UINT64_MAX,
     .incarnation = UINT32_MAX,
     .start = {.key = {{12}, 4, 1},
               .instance = 104,
               .argv = argv,
               .argv_count = 3,
               .env = env,
               .env_count = 2,
               .workdir = "/w",
               .job_user = "u",
               .slots_milli = 500,
               .devices = 5,
               .cpu_milli = 1250,
               .memory_bytes = 1 << 30,
               .pool = "default",
               .node = "n2",
               .rank = 1,
               .world_size = 4,
               .master_addr = "10.0.0.1",
               .master_port = 20012,
               .grace_ms = 30001,
               .output_max = 67108864}},
    {.type = AGENT_STOP, .epoch = 6, .incarnation = 4, .stop = {{{1}, 2, 3}, 77, END_KILLED}},
    {.type = AGENT_STOP, .epoch = 6, .incarnation = 4, .stop = {{{1}, 2, 3}, 0, END_NONE}},
    {.type = AGENT_PING, .epoch = 7, .incarnation = 5},
    {.type = AGENT_PING, .epoch = 7, .incarnation = 5, .fact = UINT64_MAX},
    {.type = AGENT_BYE, .epoch = 8, .incarnation = 6, .bye = {"restart"}},
};
enum { ORDER_COUNT = sizeof orders / sizeof orders[0] };

/* Members that a type does not write are set as well. */
#define REPORT(kind, ...)                                                                          \
    {                                                                                              \
        .type = (kind), .key = {{31}, 32, 33}, .at_ms = 34, .pid = 35, .exit_code = 36,            \
        .stream = 2, .offset = 37, .data = {"a\0\xff", 3}, .out_bytes = 38, .err_bytes = 39,       \
        .cpu_ms = 40, .memory_peak_bytes = 41, .text = "why", __VA_ARGS__                          \
    }
static const struct agent_report reports[] = {
    REPORT(AGENT_OUTPUT, ),
    REPORT(AGENT_STARTED, ),
    REPORT(AGENT_STARTED, .workdir_missed = true),
    REPORT(AGENT_ENDED, ),
    REPORT(AGENT_SPAWN_FAILED, ),
    {.type = AGENT_SPAWN_FAILED, .key = {{31}, 32, 33}},
    REPORT(AGENT_LOST, ),
    REPORT(AGENT_REFUSED, ),
    {.type = AGENT_REFUSED},
    REPORT(AGENT_CHECKPOINT, ),
};

static void batch_write(const struct agent_batch *batch, struct buf *out)
{
    struct json_out j;
    agent_report_batch_begin(&j, out, batch);
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->reports[i].type != AGENT_REPORT_OTHER) {
            agent_report_batch_add(&j, &batch->reports[i]);
        }
    }
    agent_report_batch_end(&j);
}

/* Sample `index` with the letter of its message. False: there is none. */
static bool sample(size_t index, struct buf *out)
{
    struct agent_hello closing = hello;
    closing.closing = true;
    switch (index) {
    case 0:
        buf_add_str(out, "j ");
        agent_join_encode(&(struct agent_join){"n1", "gpu", "0123", ""}, out);
        return true;
    case 1:
        buf_add_str(out, "j ");
        agent_join_encode(&(struct agent_join){"n1", "", "", ""}, out);
        return true;
    case 2:
        buf_add_str(out, "a ");
        agent_joined_encode(&(struct agent_joined){"n1", "weir_node_x", ""}, out);
        return true;
    case 3:
    case 4:
        buf_add_str(out, "h ");
        agent_hello_encode(index == 3 ? &hello : &closing, out);
        return true;
    case 5:
        buf_add_str(out, "r ");
        batch_write(&(struct agent_batch){.epoch = 51,
                                          .incarnation = 52,
                                          .batch = 53,
                                          .reports = reports,
                                          .count = sizeof reports / sizeof reports[0]},
                    out);
        return true;
    default:
        if (index - 6 < ORDER_COUNT) {
            buf_add_str(out, "o ");
            agent_order_encode(&orders[index - 6], out);
            return true;
        }
        return false;
    }
}

/* Reads the message and writes it again. */
static enum err message_again(char letter, struct str text, struct arena *arena, struct buf *out,
                              struct error *e)
{
    struct agent_join join;
    struct agent_joined joined;
    struct agent_hello said;
    struct agent_order order;
    struct agent_batch batch;
    enum err r = ERR_OK;
    if (letter == 'j' && (r = agent_join_decode(text, arena, &join, e)) == ERR_OK) {
        agent_join_encode(&join, out);
    } else if (letter == 'a' && (r = agent_joined_decode(text, arena, &joined, e)) == ERR_OK) {
        agent_joined_encode(&joined, out);
    } else if (letter == 'h' && (r = agent_hello_decode(text, arena, &said, e)) == ERR_OK) {
        agent_hello_encode(&said, out);
    } else if (letter == 'r' && (r = agent_report_batch_decode(text, arena, &batch, e)) == ERR_OK) {
        batch_write(&batch, out);
    } else if (letter == 'o' && (r = agent_order_decode(text, arena, &order, e)) == ERR_OK) {
        if (order.type == AGENT_OTHER) {
            buf_addf(out, "other %s %llu", order.other.type,
                     (unsigned long long)order.other.key.task.v);
        } else {
            agent_order_encode(&order, out);
        }
    }
    return r;
}

/* The second line of the case whose first is `line`. */
static void outcome(const char *line, struct buf *out)
{
    struct arena arena;
    struct error e = {0};
    arena_init(&arena);
    buf_add_str(out, "= ");
    if (message_again(line[0], str_of(line + 2), &arena, out, &e) != ERR_OK) {
        buf_clear(out);
        buf_addf(out, "! %s | %s", e.path, e.text);
    }
    arena_done(&arena);
}

static bool line_read(FILE *file, char *line)
{
    if (fgets(line, LINE_MAX_BYTES, file) == NULL) {
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static void messages_are_read_and_written_as_ever(void **state)
{
    (void)state;
    FILE *file = fopen(golden_path, "re");
    assert_non_null(file);
    char *line = malloc(LINE_MAX_BYTES);
    struct buf out;
    buf_init(&out, LINE_MAX_BYTES);
    bool sampled = true;
    size_t cases = 0;
    for (; line_read(file, line); cases++) {
        buf_clear(&out);
        sampled = sampled && sample(cases, &out);
        if (sampled) {
            assert_string_equal(line, buf_text(&out));
        }
        buf_clear(&out);
        outcome(line, &out);
        assert_true(line_read(file, line));
        assert_string_equal(line, buf_text(&out));
    }
    assert_true(cases > 6 + ORDER_COUNT);
    buf_done(&out);
    free(line);
    (void)fclose(file);
}

/* Prints the golden file anew: the samples as they are written now, and the messages of the file. */
static int golden_write(void)
{
    FILE *file = fopen(golden_path, "re");
    char *line = malloc(LINE_MAX_BYTES);
    struct buf out;
    buf_init(&out, LINE_MAX_BYTES);
    for (size_t i = 0; sample(i, &out); i++) {
        struct buf second;
        buf_init(&second, LINE_MAX_BYTES);
        outcome(buf_text(&out), &second);
        (void)printf("%s\n%s\n", buf_text(&out), buf_text(&second));
        buf_done(&second);
        buf_clear(&out);
    }
    while (file != NULL && line_read(file, line)) {
        if (strchr("jahro", line[0]) != NULL) {
            buf_clear(&out);
            outcome(line, &out);
            (void)printf("%s\n%s\n", line, buf_text(&out));
        }
    }
    buf_done(&out);
    free(line);
    return file != NULL && fclose(file) == 0 ? 0 : 1;
}

int main(int argc, char **args)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read_and_written_as_ever),
    };
    golden_path = argc > 1 ? args[1] : "";
    if (argc > 2 && strcmp(args[2], "write") == 0) {
        return golden_write();
    }
    return cmocka_run_group_tests_name("agent_golden", tests, NULL, NULL);
}
