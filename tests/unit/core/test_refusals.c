/* test_refusals.c - what is refused, and for what: objects that are not there, amounts that contradict each other, edits beyond a limit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reason_rig.h"

#include "base/amount.h"

#include <stdlib.h>

bool seen[REASON_COUNT];

static void what_is_not_there_is_named(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    const struct account_spec account = {
        .kind = ACCOUNT_PROJECT, .name = "a", .parent = "", .title = "", .description = ""};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.account.v = 99;
    in.account.spec = &account;
    (void)refuses(&org, in, REASON_UNKNOWN_OBJECT);
    in = (struct input){.type = INPUT_ACCOUNT_DELETE};
    in.account.account.v = 99;
    (void)refuses(&org, in, REASON_UNKNOWN_OBJECT);
    const struct pool_spec pool = {.name = "p", .title = "", .description = ""};
    in = (struct input){.type = INPUT_POOL_EDIT, .pool = {.pool = {99}, .spec = &pool}};
    (void)refuses(&org, in, REASON_UNKNOWN_OBJECT);
    in = (struct input){.type = INPUT_POOL_DELETE, .pool = {.pool = {99}}};
    (void)refuses(&org, in, REASON_UNKNOWN_OBJECT);
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = true};
    in = (struct input){.type = INPUT_NODE_EDIT, .node = {.node = {99}, .edit = &edit}};
    (void)refuses(&org, in, REASON_UNKNOWN_OBJECT);
    org_done(&org);
}

static void tasks_that_are_not_there_are_named(void **state)
{
    (void)state;
    static const enum input_type types[] = {INPUT_TASK_START, INPUT_TASK_PAUSE, INPUT_TASK_ACTIVATE,
                                            INPUT_TASK_KILL};
    struct org org;
    org_init(&org);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct input in = {.type = types[i], .task = {.task = {99}}};
        (void)refuses(&org, in, REASON_UNKNOWN_OBJECT);
    }
    assert_int_equal(query_queue_next(org.rig.core, org_pool_id, (task_id){99}).v, 0);
    assert_int_equal(query_task_outcome(org.rig.core, (task_id){99}), TASK_PENDING);
    assert_null(query_instance(org.rig.core, (task_id){99}, 0));
    assert_null(query_instance_claim(org.rig.core, (task_id){99}, 0));
    assert_null(query_task_eviction(org.rig.core, (task_id){99}));
    org_done(&org);
}

/* Number 0, the number after the last, and one that was never given. */
static const uint32_t nobody[] = {0, 2, 99};

static void every_input_about_a_task_needs_the_task(void **state)
{
    (void)state;
    static const enum input_type types[] = {INPUT_TASK_START, INPUT_TASK_PAUSE, INPUT_TASK_ACTIVATE,
                                            INPUT_TASK_KILL,  INPUT_TASK_MOVE,  INPUT_TASK_EDIT,
                                            INPUT_TASK_ADOPT};
    const struct task_spec spec = rig_spec();
    const struct task_edit edit = {.fields = TASK_EDIT_priority, .spec = &spec};
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 1);
    const task_id ended = rig_submit(&org.rig, rig_spec());
    rig_pass(&org.rig);
    rig_run(&org.rig, ended, 0, 0);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct input in = {.type = types[i]};
        in.task.edit = &edit;
        for (size_t j = 0; j < sizeof nobody / sizeof nobody[0]; j++) {
            in.task.task.v = nobody[j];
            assert_int_equal(rig_do(&org.rig, in), VERDICT_NOT_FOUND);
            assert_int_equal(org.rig.facts.refusal.code, REASON_UNKNOWN_OBJECT);
            assert_string_equal(org.rig.facts.refusal.text, "task");
            assert_int_equal(org.rig.facts.refusal.task.v, nobody[j]);
        }
        in.task.task = ended;
        assert_int_equal(rig_do(&org.rig, in), VERDICT_CONFLICT);
        assert_int_equal(org.rig.facts.refusal.code, REASON_WRONG_STATE);
    }
    org_done(&org);
}

static void every_input_about_a_node_needs_the_node(void **state)
{
    (void)state;
    static const enum input_type types[] = {INPUT_NODE_SILENT, INPUT_NODE_LOST, INPUT_NODE_EDIT,
                                            INPUT_NODE_REMOVE};
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = true};
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 1);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct input in = {.type = types[i]};
        in.node.edit = &edit;
        for (size_t j = 0; j < sizeof nobody / sizeof nobody[0]; j++) {
            in.node.node.v = nobody[j];
            assert_int_equal(rig_do(&org.rig, in), VERDICT_NOT_FOUND);
        }
    }
    const struct report report = {.type = REPORT_STARTED, .key = {{1}, 0, 1}};
    struct input in = {.type = INPUT_REPORT, .report = {.reports = &report, .count = 1}};
    for (size_t j = 0; j < sizeof nobody / sizeof nobody[0]; j++) {
        in.report.node.v = nobody[j];
        assert_int_equal(rig_do(&org.rig, in), VERDICT_NOT_FOUND);
    }
    org_done(&org);
}

static void a_staged_task_of_a_deleted_pool_does_not_start(void **state)
{
    (void)state;
    static const char *const pools[] = {"other"};
    struct org org;
    org_init(&org);
    pool_new(&org, "other");
    struct task_spec spec = rig_spec();
    spec.stage = true;
    spec.pools = pools;
    spec.pool_count = 1;
    const task_id task = rig_submit(&org.rig, spec);
    struct input in = {.type = INPUT_POOL_DELETE, .pool = {.now = true}};
    in.pool.pool = query_pool_named(org.rig.core, "other")->id;
    in.pool.force = true;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    in = (struct input){.type = INPUT_TASK_START, .task = {.task = task}};
    assert_string_equal(refuses(&org, in, REASON_UNKNOWN_POOL).text, "other");
    org_done(&org);
}

static void quota_refused(struct org *org, struct quota_spec spec, const char *text, int64_t most)
{
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = ACCOUNT_DEFAULT_PROJECT;
    in.quota.pool = org_pool_id;
    in.quota.spec = &spec;
    const struct reason why = refuses(org, in, REASON_LIMIT);
    assert_string_equal(why.text, text);
    assert_int_equal(why.available, most);
}

static void quotas_have_limits(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    struct quota_spec spec = {.rules.rank = QUOTA_RANK_MAX + 1,
                              .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                              .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    quota_refused(&org, spec, "rank", QUOTA_RANK_MAX);
    spec.rules.rank = QUOTA_RANK_MAX;
    spec.rules.preempt_min_runtime_ms = AMOUNT_MS_MAX + 1;
    quota_refused(&org, spec, "preempt_min_runtime", AMOUNT_MS_MAX);
    spec.rules.preempt_min_runtime_ms = AMOUNT_MS_MAX;
    spec.rules.reclaim_min_runtime_ms = AMOUNT_MS_MAX + 1;
    quota_refused(&org, spec, "reclaim_min_runtime", AMOUNT_MS_MAX);
    spec.rules.reclaim_min_runtime_ms = QUOTA_INHERIT - 1;
    quota_refused(&org, spec, "reclaim_min_runtime", QUOTA_INHERIT);
    spec.rules.reclaim_min_runtime_ms = AMOUNT_MS_MAX;
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = ACCOUNT_DEFAULT_PROJECT;
    in.quota.pool = org_pool_id;
    in.quota.spec = &spec;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    org_done(&org);
}

static void edits_have_the_limits_of_what_is_new(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 4);
    struct pool_spec pool = {
        .name = "default", .title = "", .description = "", .patience_ms = AMOUNT_MS_MAX + 1};
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.pool = org_pool_id, .spec = &pool}};
    assert_string_equal(refuses(&org, in, REASON_LIMIT).text, "patience");
    const struct label label = {"", "v"};
    const struct node_edit edit = {.fields = NODE_EDIT_LABELS, .labels = &label, .label_count = 1};
    in = (struct input){.type = INPUT_NODE_EDIT, .node = {.node = {1}, .edit = &edit}};
    assert_string_equal(refuses(&org, in, REASON_LIMIT).text, "label length");
    org_done(&org);
}

/* The pool would turn away tasks that it has: not without force. */
static void kinds_in_use_stay(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 4);
    pool_new(&org, "other");
    struct task_spec spec = rig_spec();
    const task_id command = rig_submit(&org.rig, spec);
    spec.kind = TASK_SHELL;
    (void)rig_submit(&org.rig, spec);
    struct pool_spec pool = {.name = "default",
                             .title = "",
                             .description = "",
                             .aux_tasks = 100,
                             .accepts = 1u << TASK_SHELL};
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.pool = org_pool_id, .spec = &pool}};
    assert_int_equal(refuses(&org, in, REASON_IN_USE).need, 1);
    in.pool.force = true;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    in.pool.force = false;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK); /* nothing changes for them */
    pool.accepts = 0;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    pool.accepts = 1u << TASK_SHELL | 1u << TASK_COMMAND;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    assert_non_null(query_task(org.rig.core, command));
    org_done(&org);
}

static void amounts_that_contradict_each_other(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    (void)gpu_node(&org, "g", 4);
    struct task_spec spec = rig_spec();
    spec.slots_milli = 1500;
    assert_string_equal(refuses_task(&org, spec, REASON_LIMIT).text, "parts of more than one slot");
    spec = rig_spec();
    spec.device_mask = 0x3;
    spec.slots_milli = 3 * SLOT_MILLI;
    struct reason why = refuses_task(&org, spec, REASON_LIMIT);
    assert_string_equal(why.text, "slots of the chosen devices");
    assert_int_equal(why.available, 2 * SLOT_MILLI);
    spec.slots_milli = 500;
    spec.gpu_devices = 3;
    why = refuses_task(&org, spec, REASON_LIMIT);
    assert_string_equal(why.text, "gpu_devices of the chosen devices");
    assert_int_equal(why.available, 2);
    spec = rig_spec();
    spec.slots_milli = 2 * SLOT_MILLI;
    spec.gpu_devices = 2;
    assert_string_equal(refuses_task(&org, spec, REASON_LIMIT).text,
                        "gpu_devices without parts of devices");
    org_done(&org);
}

static void a_submission_has_a_size(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    struct task_spec *specs = calloc(SUBMIT_TASKS_MAX + 1, sizeof *specs);
    assert_non_null(specs);
    struct input in = {.type = INPUT_TASK_SUBMIT,
                       .submit = {.specs = specs, .count = SUBMIT_TASKS_MAX + 1}};
    const struct reason why = refuses(&org, in, REASON_LIMIT);
    assert_string_equal(why.text, "tasks of one submission");
    assert_int_equal(why.available, SUBMIT_TASKS_MAX);
    free(specs);
    org_done(&org);
}

/* What was asked of accounts, pools and nodes can be read again. */
static void what_was_set_is_read_again(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    (void)org_add(&org, ACCOUNT_DEPARTMENT, "ml", "");
    const struct account_spec account = {.kind = ACCOUNT_PROJECT,
                                         .name = "vision",
                                         .parent = "ml",
                                         .title = "V",
                                         .description = "d"};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &account;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    struct account_spec read;
    query_account_spec(org.rig.core,
                       query_account_named(org.rig.core, ACCOUNT_PROJECT, "vision")->id,
                       &org.rig.kept, &read);
    assert_int_equal(read.kind, ACCOUNT_PROJECT);
    assert_string_equal(read.name, "vision");
    assert_string_equal(read.parent, "ml");
    assert_string_equal(read.title, "V");
    assert_string_equal(read.description, "d");
    query_account_spec(org.rig.core,
                       query_account_named(org.rig.core, ACCOUNT_DEPARTMENT, "ml")->id,
                       &org.rig.kept, &read);
    assert_string_equal(read.parent, "");
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_named),
        cmocka_unit_test(tasks_that_are_not_there_are_named),
        cmocka_unit_test(every_input_about_a_task_needs_the_task),
        cmocka_unit_test(every_input_about_a_node_needs_the_node),
        cmocka_unit_test(a_staged_task_of_a_deleted_pool_does_not_start),
        cmocka_unit_test(quotas_have_limits),
        cmocka_unit_test(edits_have_the_limits_of_what_is_new),
        cmocka_unit_test(kinds_in_use_stay),
        cmocka_unit_test(amounts_that_contradict_each_other),
        cmocka_unit_test(a_submission_has_a_size),
        cmocka_unit_test(what_was_set_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
