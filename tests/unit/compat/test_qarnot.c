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
    assert_int_equal(doc_json_parse(&rig->kept, str_of(text), &doc, &e), ERR_OK);
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
        "{\"profile\":\"docker-batch\",\"instanceCount\":1}",
        "{\"profile\":\"docker-batch\",\"instanceCount\":0,\"constants\":[{\"key\":\"DOCKER_CMD\","
        "\"value\":"
        "\"x\"}]}",
        "{\"instanceCount\":1,\"constants\":[{\"key\":\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"docker-batch\",\"poolUuid\":\"no\",\"instanceCount\":1,\"constants\":[{"
        "\"key\":"
        "\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"docker-batch\",\"jobUuid\":\"j\",\"instanceCount\":1,\"constants\":[{"
        "\"key\":"
        "\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"docker-batch\",\"resultBucket\":\"b\",\"instanceCount\":1,\"constants\":[{"
        "\"key\":"
        "\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"docker-batch\",\"hardwareConstraints\":[{\"discriminator\":"
        "\"SSDHardwareConstraint\"}]"
        ",\"instanceCount\":1,\"constants\":[{\"key\":\"DOCKER_CMD\",\"value\":\"x\"}]}",
        "{\"profile\":\"docker-batch\",\"retrySettings\":{\"maxTotalRetries\":3},\"instanceCount\":"
        "2,"
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
    assert_int_equal(qarnot_spec_task(rig->core, body, false, &rig->kept, &spec, &e), ERR_OK);
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

static enum err spec_of(struct rig *rig, const char *more, bool buckets, struct task_spec *ret)
{
    struct error e;
    const char *text =
        arena_fmt(&rig->arena,
                  "{\"profile\":\"docker-batch\",\"instanceCount\":1,\"constants\":[{\"key\":"
                  "\"DOCKER_CMD\",\"value\":\"x\"}],%s}",
                  more);
    return qarnot_spec_task(rig->core, parse(rig, text), buckets, &rig->arena, ret, &e);
}

static void buckets_are_named_well_or_refused(void **state)
{
    struct rig *rig = *state;
    static const char *const good[] = {
        "\"resultBucket\":\"out\",\"resultsWhitelist\":\"[0-9]+$\"",
        "\"resourceBuckets\":[\"a\",\"b\"]",
        ("\"advancedResourceBuckets\":[{\"bucketName\":\"a\",\"filtering\":{\"prefixFiltering\":{"
         "\"prefix\":\"x/\"}},\"resourcesTransformation\":{},\"cacheTTLSec\":null}]"),
    };
    static const char *const bad[] = {
        "\"resultBucket\":\"a/b\"",
        "\"resultBucket\":\"..\"",
        "\"resultBucket\":\"o\",\"resultsWhitelist\":\"(\"",
        "\"resultBucket\":\"o\",\"resultsBlacklist\":\"\\\\d\"",
        "\"resourceBuckets\":[7]",
        "\"advancedResourceBuckets\":[{\"bucketName\":\"a\",\"filtering\":{\"other\":{}}}]",
        "\"advancedResourceBuckets\":[{\"bucketName\":null}]",
    };
    struct task_spec spec;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(spec_of(rig, good[i], true, &spec), ERR_OK);
        assert_int_equal(spec.mount_count, 2);
        assert_string_equal(spec.mounts[0], "job:/job");
        assert_string_equal(spec.mounts[1], "buckets:/qarnot");
        assert_int_not_equal(spec_of(rig, good[i], false, &spec), ERR_OK); /* there is no store */
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_not_equal(spec_of(rig, bad[i], true, &spec), ERR_OK);
    }
    assert_int_equal(spec_of(rig, "\"resultBucket\":null", false, &spec), ERR_OK);
    assert_int_equal(spec.mount_count, 1);
}

static void a_resource_may_be_read_below_its_prefix_alone(void **state)
{
    struct rig *rig = *state;
    const struct doc *kept =
        parse(rig, "{\"resourceBuckets\":[\"whole\"],\"advancedResourceBuckets\":[{\"bucketName\":"
                   "\"part\",\"filtering\":{\"prefixFiltering\":{\"prefix\":\"a/\"}}}],"
                   "\"resultBucket\":\"out\"}");
    assert_true(qarnot_buckets_allow(kept, "whole", "any"));
    assert_true(qarnot_buckets_allow(kept, "part", "a/b"));
    assert_false(qarnot_buckets_allow(kept, "part", "b"));
    assert_false(qarnot_buckets_allow(kept, "part", ""));
    assert_false(qarnot_buckets_allow(kept, "out", "any"));
    assert_true(qarnot_buckets_in(kept) && qarnot_buckets_out(kept));
}

/* What Weir keeps beside the body comes back as it was, and the client can neither set nor see it. */
static void what_is_kept_beside_the_body_stays_there(void **state)
{
    struct rig *rig = *state;
    struct error e;
    struct qarnot_extra extra;
    struct buf out;
    struct json_out j;
    const char *text;
    const struct doc *body =
        parse(rig, "{\"name\":\"n\",\"weir\":{\"words\":\"set by the client\"}}");
    assert_int_equal(qarnot_fields_keep(body, NULL, &rig->arena, &text, &e), ERR_OK);
    assert_string_equal(text, "{\"name\":\"n\"}");
    const struct qarnot_extra first = {.refreshed = 2,
                                       .results = 3,
                                       .words = "why",
                                       .periodic = parse(rig, "{\"interval\":9}"),
                                       .snapshot_last = 7,
                                       .snapshot_count = 1,
                                       .snapshots = {{.id = 7,
                                                      .asked_ms = 1000,
                                                      .seen_ms = 2000,
                                                      .config = parse(rig, "{\"bucket\":\"b\"}"),
                                                      .waits = "0-2",
                                                      .bytes = 5,
                                                      .words = ""}}};
    assert_int_equal(qarnot_fields_keep(body, &first, &rig->arena, &text, &e), ERR_OK);
    const struct doc *kept = qarnot_fields_kept(&rig->arena, text);
    qarnot_extra_read(kept, &extra);
    assert_int_equal(extra.refreshed, 2);
    assert_int_equal(extra.results, 3);
    assert_string_equal(extra.words, "why");
    assert_non_null(extra.periodic);
    assert_int_equal(extra.snapshot_last, 7);
    assert_int_equal(extra.snapshot_count, 1);
    assert_int_equal(extra.snapshots[0].id, 7);
    assert_int_equal(extra.snapshots[0].asked_ms, 1000);
    assert_int_equal(extra.snapshots[0].seen_ms, 2000);
    assert_string_equal(extra.snapshots[0].waits, "0-2");
    assert_int_equal(extra.snapshots[0].bytes, 5);
    assert_string_equal(qarnot_buckets_text(extra.snapshots[0].config, "bucket"), "b");
    buf_init(&out, 4096);
    json_out_init(&j, &out);
    json_out_object(&j);
    qarnot_fields_echo(&j, kept, (const char *const[]){NULL});
    json_out_end(&j);
    assert_string_equal(buf_text(&out), "{\"name\":\"n\"}");
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_uuid_leads_back_to_its_number_alone, begin, end),
        cmocka_unit_test(ranges_count_and_name_their_numbers),
        cmocka_unit_test_setup_teardown(settings_that_cannot_be_honoured_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_task_goes_there_and_back, begin, end),
        cmocka_unit_test_setup_teardown(buckets_are_named_well_or_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_resource_may_be_read_below_its_prefix_alone, begin, end),
        cmocka_unit_test_setup_teardown(what_is_kept_beside_the_body_stays_there, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
