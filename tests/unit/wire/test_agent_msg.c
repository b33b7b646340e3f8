/* test_agent_msg.c - the agent protocol: what one side writes the other reads, and what neither
 * wrote is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/agent.h"
#include "wire/attempt_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct arena arena;
static struct buf out;
static struct error e;

static struct str written(void)
{
    return (struct str){buf_text(&out), out.len};
}

static struct attempt_key key_of(uint64_t task, uint32_t index, uint32_t attempt)
{
    return (struct attempt_key){{task}, index, attempt};
}

static void assert_key(struct attempt_key a, struct attempt_key b)
{
    assert_true(a.task.v == b.task.v);
    assert_int_equal(a.index, b.index);
    assert_int_equal(a.attempt, b.attempt);
}

static void attempt_keys_have_one_text(void **state)
{
    (void)state;
    char text[ATTEMPT_KEY_TEXT_MAX];
    struct attempt_key key;
    assert_int_equal(attempt_key_text(key_of(1234, 0, 2), text), 8);
    assert_string_equal(text, "1234.0:2");
    assert_true(attempt_key_parse(str_of(text), &key));
    assert_key(key, key_of(1234, 0, 2));
    (void)attempt_key_text(key_of(UINT64_MAX, UINT32_MAX, UINT32_MAX), text);
    assert_true(attempt_key_parse(str_of(text), &key));
    assert_key(key, key_of(UINT64_MAX, UINT32_MAX, UINT32_MAX));
    const char *bad[] = {
        "",       "1",      "1.0",    "1.0:",  "1.0:0", "0.0:1",          "01.0:1",
        "1.00:1", "1.0:01", "1.0:1 ", "a.0:1", "1:0.1", "1.4294967296:1", "-1.0:1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        key = key_of(7, 7, 7);
        assert_false(attempt_key_parse(str_of(bad[i]), &key));
        assert_key(key, key_of(7, 7, 7));
    }
}

static void a_join_comes_back(void **state)
{
    (void)state;
    struct agent_join join = {"n1", "gpu", "0123", ""};
    agent_join_encode(&join, &out);
    assert_string_equal(buf_text(&out), "{\"name\":\"n1\",\"pool\":\"gpu\",\"machine\":\"0123\"}");
    assert_int_equal(agent_join_decode(written(), &arena, &join, &e), ERR_OK);
    assert_string_equal(join.pool, "gpu");
    assert_int_equal(agent_join_decode(str_of("{\"name\":\"n2\"}"), &arena, &join, &e), ERR_OK);
    assert_string_equal(join.name, "n2");
    assert_string_equal(join.pool, "");
    assert_string_equal(join.machine, "");
    assert_int_equal(agent_join_decode(str_of("{\"name\":\"n 2\"}"), &arena, &join, &e),
                     ERR_INVALID);
    assert_string_equal(e.path, "name");
    buf_clear(&out);
    struct agent_joined joined = {"n1", "weir_node_x", "line\nline\n"};
    agent_joined_encode(&joined, &out);
    struct agent_joined back;
    assert_int_equal(agent_joined_decode(written(), &arena, &back, &e), ERR_OK);
    assert_string_equal(back.credential, "weir_node_x");
    assert_string_equal(back.certificate, "line\nline\n");
    assert_int_equal(agent_joined_decode(str_of("{\"node\":\"n1\"}"), &arena, &back, &e),
                     ERR_INVALID);
}

static const struct label labels[] = {{"gpu.model", "A100"}, {"zone", "a"}};
static const struct named_amount named[] = {{"foo", 7000}, {"bar", 500}};
static const struct agent_attempt attempts[] = {{{{12}, 0, 1}, AGENT_ATTEMPT_RUNNING},
                                                {{{9}, 3, 2}, AGENT_ATTEMPT_ENDED}};

static struct agent_hello hello_sample(void)
{
    return (struct agent_hello){
        .protocol_min = 1,
        .protocol_max = 2,
        .epoch_seen = 4,
        .fact_seen = 5,
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
        .attempt_count = 2,
    };
}

static void a_hello_comes_back(void **state)
{
    (void)state;
    struct agent_hello hello = hello_sample();
    struct agent_hello back;
    agent_hello_encode(&hello, &out);
    assert_int_equal(agent_hello_decode(written(), &arena, &back, &e), ERR_OK);
    assert_int_equal(back.protocol_min, 1);
    assert_int_equal(back.protocol_max, 2);
    assert_true(back.epoch_seen == 4);
    assert_true(back.fact_seen == 5);
    assert_true(back.stop_after_ms == 5000);
    assert_false(back.closing);
    assert_string_equal(back.node.name, "n1");
    assert_string_equal(back.node.pool, "default");
    assert_int_equal(back.node.label_count, 2);
    assert_string_equal(back.node.labels[1].value, "a");
    assert_true(back.node.slots_milli == 2000);
    assert_true(back.node.cpu_milli == 3500);
    assert_true(back.node.memory_bytes == 25264513024);
    assert_int_equal(back.node.device_count, 2);
    assert_int_equal(back.node.resource_count, 2);
    assert_true(back.node.resources[1].milli == 500);
    assert_memory_equal(back.node.supervisor, hello.node.supervisor, 16);
    assert_string_equal(back.node.version, "0.1.0");
    assert_int_equal(back.attempt_count, 2);
    assert_key(back.attempts[1].key, key_of(9, 3, 2));
    assert_int_equal(back.attempts[1].state, AGENT_ATTEMPT_ENDED);
}

static void a_closing_hello_comes_back(void **state)
{
    (void)state;
    struct agent_hello hello = hello_sample();
    struct agent_hello back;
    hello.closing = true;
    agent_hello_encode(&hello, &out);
    assert_int_equal(agent_hello_decode(written(), &arena, &back, &e), ERR_OK);
    assert_true(back.closing);
}

/* The sample hello with `from` replaced by `to`. */
static enum err hello_changed(const char *from, const char *to)
{
    struct agent_hello hello = hello_sample();
    struct agent_hello back;
    struct buf changed;
    buf_clear(&out);
    agent_hello_encode(&hello, &out);
    const char *at = strstr(buf_text(&out), from);
    assert_non_null(at);
    buf_init(&changed, 10000);
    buf_add(&changed, out.data, (size_t)(at - out.data));
    buf_add_str(&changed, to);
    buf_add_str(&changed, at + strlen(from));
    enum err r = agent_hello_decode((struct str){changed.data, changed.len}, &arena, &back, &e);
    buf_done(&changed);
    return r;
}

static void a_malformed_hello_is_refused_by_field(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
        const char *path;
    } cases[] = {
        {"\"hello\"", "\"goodbye\"", "type"},
        {"\"type\":", "\"closing\":1,\"type\":", "closing"},
        {"\"n1\"", "\"n/1\"", "name"},
        {"\"n1\"", "7", "name"},
        {"dead", "DEAD", "supervisor"},
        {"dead", "de", "supervisor"},
        {"\"slots\":2", "\"slots\":2.5", "capacity.slots"},
        {"\"slots\":2", "\"slots\":3", "capacity.slots"},
        {"\"slots\":2", "\"slots\":-2", "slots"},
        {"\"devices\":2", "\"devices\":65", "devices"},
        {"\"foo\":7", "\"foo\":\"7\"", "capacity.resources"},
        {"\"foo\":7", "\"\":7", "capacity.resources"},
        {"\"A100\"", "1", "labels"},
        {"12.0:1", "12.0", "key"},
        {"\"running\"", "\"dancing\"", "attempts"},
        {"\"epoch_seen\":4", "\"epoch_seen\":-4", "epoch_seen"},
        {"\"capacity\":", "\"capability\":", "capacity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(hello_changed(cases[i].from, cases[i].to), ERR_INVALID);
        assert_string_equal(e.path, cases[i].path);
    }
    assert_int_equal(hello_changed("\"type\":", "\"new_field\":{\"a\":[1]},\"type\":"), ERR_OK);
}

static void a_start_comes_back(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "echo \"x\"\n"};
    const char *env[] = {"A=b", "UNI=\xc3\xa9"};
    struct agent_order order = {
        .type = AGENT_START,
        .epoch = 5,
        .incarnation = 3,
        .start =
            {
                .key = key_of(12, 4, 1),
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
                .node = "n1",
                .rank = 1,
                .world_size = 4,
                .master_addr = "10.0.0.1",
                .master_port = 20012,
                .grace_ms = 30000,
                .output_max = 67108864,
            },
    };
    agent_order_encode(&order, &out);
    assert_string_equal(
        buf_text(&out),
        "{\"type\":\"start\",\"epoch\":5,\"incarnation\":3,\"key\":\"12.4:1\",\"task\":12,"
        "\"instance\":104,"
        "\"argv\":[\"sh\",\"-c\",\"echo "
        "\\\"x\\\"\\n\"],\"env\":[\"A=b\",\"UNI=\xc3\xa9\"],\"workdir\":\"/w\","
        "\"job_user\":\"u\",\"slots\":0.5,\"devices\":[0,2],\"cpu\":1.25,\"memory\":1073741824,"
        "\"pool\":"
        "\"default\",\"node\":\"n1\",\"rank\":1,\"world_size\":4,\"master_addr\":\"10.0.0.1\","
        "\"master_port\":20012,\"grace_ms\":30000,\"output_max\":67108864}");
    struct agent_order back;
    assert_int_equal(agent_order_decode(written(), &arena, &back, &e), ERR_OK);
    assert_int_equal(back.type, AGENT_START);
    assert_true(back.epoch == 5);
    assert_int_equal(back.incarnation, 3);
    assert_key(back.start.key, key_of(12, 4, 1));
    assert_int_equal(back.start.instance, 104);
    assert_int_equal(back.start.argv_count, 3);
    assert_string_equal(back.start.argv[2], argv[2]);
    assert_null(back.start.argv[3]);
    assert_string_equal(back.start.env[1], env[1]);
    assert_true(back.start.slots_milli == 500);
    assert_true(back.start.devices == 5);
    assert_true(back.start.cpu_milli == 1250);
    assert_true(back.start.memory_bytes == 1 << 30);
    assert_int_equal(back.start.world_size, 4);
    assert_string_equal(back.start.master_addr, "10.0.0.1");
    assert_int_equal(back.start.master_port, 20012);
    assert_true(back.start.output_max == 67108864);
}

static void the_other_orders_come_back(void **state)
{
    (void)state;
    struct agent_order back;
    struct agent_order order = {.type = AGENT_WELCOME,
                                .epoch = 5,
                                .incarnation = 3,
                                .welcome = {1, "n1", 1700000000000, 10000, 300000, 4194304}};
    agent_order_encode(&order, &out);
    assert_int_equal(agent_order_decode(written(), &arena, &back, &e), ERR_OK);
    assert_int_equal(back.type, AGENT_WELCOME);
    assert_int_equal(back.welcome.protocol, 1);
    assert_string_equal(back.welcome.node, "n1");
    assert_true(back.welcome.now_ms == 1700000000000);
    assert_true(back.welcome.heartbeat_ms == 10000);
    assert_true(back.welcome.lost_after_ms == 300000);
    assert_true(back.welcome.report_bytes_max == 4194304);
    buf_clear(&out);
    order = (struct agent_order){
        .type = AGENT_STOP, .epoch = 5, .stop = {key_of(1, 0, 1), 0, END_KILLED}};
    agent_order_encode(&order, &out);
    assert_string_equal(buf_text(&out), "{\"type\":\"stop\",\"epoch\":5,\"incarnation\":0,\"key\":"
                                        "\"1.0:1\",\"grace_ms\":0,\"cause\":\"killed\"}");
    assert_int_equal(agent_order_decode(written(), &arena, &back, &e), ERR_OK);
    assert_int_equal(back.stop.cause, END_KILLED);
    buf_clear(&out);
    order = (struct agent_order){.type = AGENT_BYE, .epoch = 5, .bye = {"restart"}};
    agent_order_encode(&order, &out);
    assert_int_equal(agent_order_decode(written(), &arena, &back, &e), ERR_OK);
    assert_string_equal(back.bye.why, "restart");
    buf_clear(&out);
    order = (struct agent_order){.type = AGENT_PING, .epoch = 5, .incarnation = 2};
    agent_order_encode(&order, &out);
    assert_int_equal(agent_order_decode(written(), &arena, &back, &e), ERR_OK);
    assert_int_equal(back.type, AGENT_PING);
    assert_int_equal(back.incarnation, 2);
}

static void orders_of_a_newer_server_are_recognised_as_such(void **state)
{
    (void)state;
    struct agent_order back;
    assert_int_equal(
        agent_order_decode(str_of("{\"type\":\"suspend\",\"key\":\"3.0:1\",\"epoch\":2}"), &arena,
                           &back, &e),
        ERR_OK);
    assert_int_equal(back.type, AGENT_OTHER);
    assert_string_equal(back.other.type, "suspend");
    assert_key(back.other.key, key_of(3, 0, 1));
    assert_int_equal(
        agent_order_decode(str_of("{\"type\":\"stop\",\"key\":\"3.0:1\",\"cause\":\"new\"}"),
                           &arena, &back, &e),
        ERR_OK);
    assert_int_equal(back.stop.cause, END_NONE);
}

static void malformed_orders_are_refused(void **state)
{
    (void)state;
    const char *bad[] = {"",
                         "[]",
                         "{}",
                         "{\"type\":7}",
                         "{\"type\":\"start\"}",
                         "{\"type\":\"start\",\"key\":\"1.0:1\"}",
                         "{\"type\":\"start\",\"key\":\"1.0:1\",\"argv\":[]}",
                         "{\"type\":\"start\",\"key\":\"1.0:1\",\"argv\":[1]}",
                         "{\"type\":\"start\",\"key\":\"1.0:1\",\"argv\":[\"x\"],\"devices\":[64]}",
                         "{\"type\":\"start\",\"key\":\"1.0:1\",\"argv\":[\"x\"],\"slots\":\"1\"}",
                         "{\"type\":\"stop\",\"key\":\"1.0:1\",\"grace_ms\":-1}",
                         "{\"type\":\"ping\",\"incarnation\":4294967296}",
                         "{\"type\":\"welcome\",\"node\":\"\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct agent_order back;
        assert_int_equal(agent_order_decode(str_of(bad[i]), &arena, &back, &e), ERR_INVALID);
        assert_true(e.text[0] != '\0');
    }
}

static void a_batch_comes_back(void **state)
{
    (void)state;
    const struct agent_report reports[] = {
        {.type = AGENT_OUTPUT,
         .key = key_of(12, 0, 1),
         .stream = 2,
         .offset = 7,
         .data = {"a\0\xff", 3}},
        {.type = AGENT_STARTED, .key = key_of(12, 0, 1), .at_ms = 99, .pid = 4711},
        {.type = AGENT_ENDED,
         .key = key_of(12, 0, 1),
         .at_ms = 100,
         .exit_code = 137,
         .out_bytes = 6,
         .err_bytes = 1,
         .cpu_ms = 5,
         .memory_peak_bytes = 1048576},
        {.type = AGENT_SPAWN_FAILED,
         .key = key_of(13, 0, 1),
         .exit_code = 2,
         .text = "no such file"},
        {.type = AGENT_LOST, .key = key_of(9, 0, 1)},
        {.type = AGENT_REFUSED, .text = "unknown-type"},
        {.type = AGENT_STARTED, .key = key_of(12, 1, 1), .pid = 1, .workdir_missed = true},
        {.type = AGENT_CHECKPOINT, .key = key_of(12, 0, 1), .at_ms = 1700000000123},
    };
    struct json_out j;
    agent_report_batch_begin(&j, &out,
                             &(struct agent_batch){.epoch = 5, .incarnation = 3, .batch = 17});
    for (size_t i = 0; i < 8; i++) {
        agent_report_batch_add(&j, &reports[i]);
    }
    agent_report_batch_end(&j);
    struct agent_batch back;
    assert_int_equal(agent_report_batch_decode(written(), &arena, &back, &e), ERR_OK);
    assert_true(back.epoch == 5);
    assert_int_equal(back.incarnation, 3);
    assert_true(back.batch == 17);
    assert_int_equal(back.count, 8);
    assert_int_equal(back.reports[7].type, AGENT_CHECKPOINT);
    assert_key(back.reports[7].key, key_of(12, 0, 1));
    assert_true(back.reports[7].at_ms == 1700000000123);
    assert_int_equal(back.reports[0].stream, 2);
    assert_true(back.reports[0].offset == 7);
    assert_true(str_equal(back.reports[0].data, reports[0].data));
    assert_int_equal(back.reports[1].pid, 4711);
    assert_int_equal(back.reports[2].exit_code, 137);
    assert_true(back.reports[2].out_bytes == 6);
    assert_true(back.reports[2].memory_peak_bytes == 1048576);
    assert_int_equal(back.reports[3].exit_code, 2);
    assert_string_equal(back.reports[3].text, "no such file");
    assert_int_equal(back.reports[4].type, AGENT_LOST);
    assert_string_equal(back.reports[5].text, "unknown-type");
    assert_true(back.reports[5].key.task.v == 0);
    assert_false(back.reports[1].workdir_missed);
    assert_true(back.reports[6].workdir_missed);
    struct report told;
    assert_true(agent_report_input(&back.reports[6], 3, &told));
    assert_true(told.workdir_missed);
}

static void reports_become_inputs_of_the_core(void **state)
{
    (void)state;
    struct report report;
    struct agent_report ended = {
        .type = AGENT_ENDED, .key = key_of(1, 2, 3), .at_ms = 4, .exit_code = 5, .out_bytes = 6};
    assert_true(agent_report_input(&ended, 8, &report));
    assert_int_equal(report.type, REPORT_ENDED);
    assert_key(report.key, ended.key);
    assert_int_equal(report.incarnation, 8);
    assert_int_equal(report.exit_code, 5);
    assert_true(report.out_bytes == 6);
    ended.type = AGENT_LOST;
    assert_true(agent_report_input(&ended, 8, &report));
    assert_int_equal(report.type, REPORT_LOST);
    ended.type = AGENT_CHECKPOINT;
    assert_true(agent_report_input(&ended, 8, &report));
    assert_int_equal(report.type, REPORT_CHECKPOINT);
    assert_int_equal(report.at_ms, 4);
    ended.type = AGENT_OUTPUT;
    assert_false(agent_report_input(&ended, 8, &report));
    ended.type = AGENT_REFUSED;
    assert_false(agent_report_input(&ended, 8, &report));
}

static void malformed_batches_are_refused_by_report(void **state)
{
    (void)state;
    static const struct {
        const char *report;
        const char *text;
    } cases[] = {
        {"7", "reports[0]: type: a text within its length is wanted"},
        {"{\"type\":\"ended\"}", "reports[0]: key: an attempt like 12.0:1 is wanted"},
        {"{\"type\":\"output\",\"key\":\"1.0:1\",\"stream\":3,\"data\":\"\"}",
         "reports[0]: stream: a whole number within its range is wanted"},
        {"{\"type\":\"output\",\"key\":\"1.0:1\",\"data\":\"\"}",
         "reports[0]: stream: 1 or 2 is wanted"},
        {"{\"type\":\"output\",\"key\":\"1.0:1\",\"stream\":1,\"data\":\"x\"}",
         "reports[0]: data: base64 is wanted"},
        {"{\"type\":\"ended\",\"key\":\"1.0:1\",\"exit_code\":256}",
         "reports[0]: exit_code: a whole number within its range is wanted"},
    };
    struct agent_batch back;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = arena_fmt(&arena, "{\"epoch\":1,\"reports\":[%s]}", cases[i].report);
        assert_int_equal(agent_report_batch_decode(str_of(text), &arena, &back, &e), ERR_INVALID);
        assert_string_equal(e.text, cases[i].text);
    }
    assert_int_equal(agent_report_batch_decode(str_of("{\"reports\":7}"), &arena, &back, &e),
                     ERR_INVALID);
    const char *newer =
        "{\"epoch\":1,\"incarnation\":1,\"reports\":[{\"type\":\"telemetry\",\"x\":1}]}";
    assert_int_equal(agent_report_batch_decode(str_of(newer), &arena, &back, &e), ERR_OK);
    assert_int_equal(back.reports[0].type, AGENT_REPORT_OTHER);
    assert_int_equal(agent_report_batch_decode(str_of("{\"epoch\":1}"), &arena, &back, &e), ERR_OK);
    assert_int_equal(back.count, 0);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    buf_init(&out, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    buf_done(&out);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(attempt_keys_have_one_text),
        TEST(a_join_comes_back),
        TEST(a_hello_comes_back),
        TEST(a_closing_hello_comes_back),
        TEST(a_malformed_hello_is_refused_by_field),
        TEST(a_start_comes_back),
        TEST(the_other_orders_come_back),
        TEST(orders_of_a_newer_server_are_recognised_as_such),
        TEST(malformed_orders_are_refused),
        TEST(a_batch_comes_back),
        TEST(reports_become_inputs_of_the_core),
        TEST(malformed_batches_are_refused_by_report),
    };
    return cmocka_run_group_tests_name("agent_msg", tests, NULL, NULL);
}
