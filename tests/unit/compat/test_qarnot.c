/* test_qarnot.c - UUIDs, ranges, and a task of Qarnot's SDK as one of Weir's and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../core/core_rig.h"
#include "compat/qarnot/qarnot_internal.h"
#include "wire/task_json.h"

#include <string.h>

static int begin(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    *state = &rig;
    return 0;
}

static int end(void **state)
{
    rig_done(*state);
    return 0;
}

static const struct doc *parse(struct rig *rig, const char *text)
{
    struct doc *doc;
    struct error e;
    assert_int_equal(doc_json_parse(&rig->arena, str_of(text), &doc, &e), ERR_OK);
    return doc;
}

static void a_uuid_leads_back_to_its_number_alone(void **state)
{
    const struct rig *rig = *state;
    static const uint64_t ids[] = {0, 1, 2, 255, 65536, 0xffffffffffff};
    char uuid[QARNOT_UUID_MAX];
    char other[QARNOT_UUID_MAX];
    uint64_t back;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        qarnot_uuid(rig->core, QARNOT_TASK, ids[i], uuid);
        assert_int_equal(strlen(uuid), 36);
        assert_int_equal(uuid[14], '8'); /* the version */
        assert_true(strchr("89ab", uuid[19]) != NULL);
        assert_true(qarnot_uuid_parse(rig->core, QARNOT_TASK, uuid, &back));
        assert_int_equal(back, ids[i]);
        /* Another kind, and any other digit, are no UUID of this server. */
        assert_false(qarnot_uuid_parse(rig->core, QARNOT_POOL, uuid, &back));
        for (size_t at = 0; at < 36; at++) {
            memcpy(other, uuid, sizeof other);
            other[at] = uuid[at] == '0' ? '1' : '0';
            assert_false(qarnot_uuid_parse(rig->core, QARNOT_TASK, other, &back));
        }
    }
    assert_false(qarnot_uuid_parse(rig->core, QARNOT_TASK, "None", &back));
    assert_false(qarnot_uuid_parse(rig->core, QARNOT_TASK, "", &back));
}

static void ranges_count_and_name_their_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "a", "1,", "3-1", "1-2-3", "5,4", "1,1", "0-10000", "-1"};
    struct qarnot_ranges ranges;
    struct error e;
    uint32_t index = 9;
    assert_int_equal(qarnot_ranges_read("1,3-8,12-19", &ranges, &e), ERR_OK);
    assert_int_equal(ranges.count, 15);
    assert_int_equal(qarnot_ranges_at("1,3-8,12-19", 0), 1);
    assert_int_equal(qarnot_ranges_at("1,3-8,12-19", 1), 3);
    assert_int_equal(qarnot_ranges_at("1,3-8,12-19", 7), 12);
    assert_int_equal(qarnot_ranges_at("1,3-8,12-19", 14), 19);
    for (uint32_t i = 0; i < ranges.count; i++) {
        assert_true(qarnot_ranges_find(ranges.text, qarnot_ranges_at(ranges.text, i), &index));
        assert_int_equal(index, i);
    }
    assert_false(qarnot_ranges_find("1,3-8", 2, &index));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_not_equal(qarnot_ranges_read(bad[i], &ranges, &e), ERR_OK);
    }
}

static void settings_that_cannot_be_honoured_are_refused(void **state)
{
    struct rig *rig = *state;
    static const char *const bad[] = {
        "{\"profile\":\"p\",\"instanceCount\":1}",
        "{\"profile\":\"p\",\"instanceCount\":0,\"constants\":[{\"key\":\"DOCKER_CMD\",\"value\":"
        "\"x\"}]}",
        "{\"instanceCount\":1,\"constants\":[{\"key\":\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"p\",\"poolUuid\":\"no\",\"instanceCount\":1,\"constants\":[{\"key\":"
        "\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"p\",\"jobUuid\":\"j\",\"instanceCount\":1,\"constants\":[{\"key\":"
        "\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"p\",\"resultBucket\":\"b\",\"instanceCount\":1,\"constants\":[{\"key\":"
        "\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"p\",\"hardwareConstraints\":[{\"discriminator\":\"SSDHardwareConstraint\"}]"
        ",\"instanceCount\":1,\"constants\":[{\"key\":\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"p\",\"retrySettings\":{\"maxTotalRetries\":3},\"instanceCount\":2,"
        "\"constants\":[{\"key\":\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "[]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct task_spec spec;
        struct error e;
        assert_int_not_equal(
            qarnot_spec_task(rig->core, parse(rig, bad[i]), false, &rig->arena, &spec, &e), ERR_OK);
        assert_true(e.text[0] != '\0');
    }
}

static bool has_env(const struct task_spec *spec, const char *text)
{
    bool found = false;
    for (uint32_t i = 0; i < spec->env_count; i++) {
        found = found || strcmp(spec->env[i], text) == 0;
    }
    return found;
}

static void a_task_goes_there_and_back(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec;
    struct error e;
    const struct doc *body = parse(
        rig, "{\"name\":\"n\",\"profile\":\"docker-batch\",\"advancedRanges\":\"2,5-6\",\"tags\":["
             "\"x\"],\"labels\":{\"k\":\"v\"},\"future\":[{\"deep\":null}],\"poolUuid\":null,"
             "\"constants\":[{\"key\":\"DOCKER_CMD\",\"value\":\"echo\"},{\"key\":\"A\",\"value\":"
             "\"b\"},{\"key\":\"PATH\",\"value\":\"/evil\"},{\"key\":\"WEIR_X\",\"value\":\"1\"}],"
             "\"retrySettings\":{\"maxPerInstanceRetries\":2}}");
    assert_int_equal(qarnot_spec_task(rig->core, body, false, &rig->arena, &spec, &e), ERR_OK);
    assert_int_equal(spec.instances, 3);
    assert_int_equal(spec.max_retries, 2);
    assert_true(has_env(&spec, "A=b") && has_env(&spec, "DOCKER_CMD=echo"));
    assert_true(has_env(&spec, "QARNOT_RANGES=2,5-6") && has_env(&spec, "INSTANCE_COUNT=3"));
    assert_false(has_env(&spec, "PATH=/evil") || has_env(&spec, "WEIR_X=1"));
    spec.user = "u";
    (void)rig_submit(rig, spec);

    struct buf out;
    struct json_out j;
    struct task_writer writer;
    buf_init(&out, 1 << 20);
    json_out_init(&j, &out);
    task_json_writer_init(&writer, rig->core, &rig->arena);
    const struct task *task = query_task(rig->core, (task_id){1});
    task_json(&writer, &j, task, TASK_JSON_ATTEMPTS);
    const struct doc *weir = parse(rig, arena_str(&rig->arena, buf_text(&out)));
    buf_clear(&out);
    json_out_init(&j, &out);
    qarnot_json_task(&j, rig->core, weir, &rig->arena);
    const struct doc *back = parse(rig, arena_str(&rig->arena, buf_text(&out)));
    buf_done(&out);
    const char *text = "";
    assert_true(doc_text(doc_get(back, "state"), &text));
    assert_string_equal(text, "Submitted");
    assert_true(doc_text(doc_get(back, "advancedRanges"), &text));
    assert_string_equal(text, "2,5-6");
    assert_true(doc_text(doc_get(doc_get(back, "labels"), "k"), &text));
    assert_string_equal(text, "v");
    assert_int_equal(doc_get(back, "completedInstances")->count, 0);
    assert_true(doc_text(doc_get(back, "creationDate"), &text));
    assert_non_null(doc_get(back, "future"));
    assert_null(doc_get(back, "resultsCount"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_uuid_leads_back_to_its_number_alone, begin, end),
        cmocka_unit_test(ranges_count_and_name_their_numbers),
        cmocka_unit_test_setup_teardown(settings_that_cannot_be_honoured_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_task_goes_there_and_back, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
