/* test_submit.c - what is accepted, what is refused and why.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

static int setup(void **state)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_init(rig);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    free(*state);
    return 0;
}

static void a_task_that_names_nothing_gets_one_slot(void **state)
{
    struct rig *rig = *state;
    task_id id = rig_submit(rig, rig_spec());
    assert_int_equal(id.v, 1);
    const struct request *request =
        &query_task_shape(rig->core, query_task(rig->core, id)->shape)->request;
    assert_int_equal(request->slots_milli, 1000);
    assert_int_equal(request->cpu_milli, -1);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    assert_int_equal(query_queue_position(rig->core, id, 10), 1);
}

static void a_task_that_names_only_a_resource_has_no_slots(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 7000, 1);
    struct named_amount foo = {"foo", 5000};
    struct task_spec spec = rig_spec();
    spec.resources = &foo;
    spec.resource_count = 1;
    task_id id = rig_submit(rig, spec);
    const struct request *request =
        &query_task_shape(rig->core, query_task(rig->core, id)->shape)->request;
    assert_int_equal(request->slots_milli, 0);
    assert_int_equal(request->cpu_milli, 0);
    assert_int_equal(request->named_count, 1);
    rig_pass(rig);
    assert_int_equal(query_node_named(rig->core, "n1")->aux_used, 1);
}

static void an_undefined_resource_name_is_refused_by_name(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 7000, 1);
    struct named_amount bar = {"bar", 1000};
    struct task_spec spec = rig_spec();
    spec.resources = &bar;
    spec.resource_count = 1;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_RESOURCE);
    assert_string_equal(rig->facts.refusal.text, "bar");
    bar.name = "cpu"; /* has its own field */
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_RESOURCE);
}

static void what_can_never_run_is_refused(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 2, 0, 1);
    struct task_spec spec = rig_spec();
    spec.slots_milli = 3000;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_TOO_LARGE);
    spec.slots_milli = 2000;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_OK);
}

static void unknown_names_and_kinds_are_refused(void **state)
{
    struct rig *rig = *state;
    const char *const pools[] = {"nowhere", "default"};
    struct task_spec spec = rig_spec();
    spec.pools = pools;
    spec.pool_count = 1;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_POOL);
    assert_string_equal(rig->facts.refusal.text, "nowhere");
    const char *const second[] = {"default", "nowhere"};
    spec.pools = second;
    spec.pool_count = 2;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_POOL);
    assert_string_equal(rig->facts.refusal.text, "nowhere");
    spec = rig_spec();
    spec.project = "vision";
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_PROJECT);
    spec = rig_spec();
    spec.image = "debian";
    rig_node(rig, "n1", 2, 0, 1);
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_NO_IMAGE);
    const uint64_t depends[] = {7};
    spec = rig_spec();
    spec.depends_on = depends;
    spec.depends_count = 1;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_TASK);
    assert_int_equal(rig->facts.refusal.task.v, 7);

    struct pool_spec services = {.name = "serve", .accepts = 1U << TASK_SERVICE};
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &services}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    const char *const serve[] = {"serve"};
    spec = rig_spec();
    spec.pools = serve;
    spec.pool_count = 1;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_KIND_NOT_ACCEPTED);
}

static void limits_are_named(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.instances = TASK_INSTANCES_MAX + 1;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_LIMIT);
    assert_string_equal(rig->facts.refusal.text, "instances");
    assert_int_equal(rig->facts.refusal.available, TASK_INSTANCES_MAX);
    spec = rig_spec();
    spec.priority = 0;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.available, PRIORITY_MIN);
    struct named_amount twice[] = {{"foo", 1000}, {"foo", 2000}};
    spec = rig_spec();
    spec.resources = twice;
    spec.resource_count = 2;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_LIMIT);
}

static void all_tasks_of_a_submission_or_none(void **state)
{
    struct rig *rig = *state;
    struct task_spec specs[3] = {rig_spec(), rig_spec(), rig_spec()};
    specs[2].project = "vision";
    struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = specs, .count = 3}};
    assert_int_equal(rig_do(rig, in), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refused_index, 2);
    assert_int_equal(query_task_last(rig->core).v, 0);
    specs[2].project = specs[1].project;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(query_task_last(rig->core).v, 3);
    assert_int_equal(query_task_count(rig->core, TASK_PENDING), 3);
}

static void a_key_seen_before_repeats_or_is_refused(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    struct input in = {
        .type = INPUT_TASK_SUBMIT,
        .submit = {.specs = &spec, .count = 1, .has_key = true, .key = {9, 1}, .body_hash = {4}}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_do(rig, in), VERDICT_REPEATED);
    assert_int_equal(rig->facts.at[0].type, FACT_SUBMIT_KEY);
    assert_int_equal(rig->facts.at[0].submit_key.first.v, 1);
    assert_int_equal(rig->facts.at[0].submit_key.count, 1);
    in.submit.body_hash[0] = 5;
    assert_int_equal(rig_do(rig, in), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_KEY_REUSED);
    assert_int_equal(query_task_last(rig->core).v, 1);
}

static void keys_expire_after_a_day(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    struct input in = {
        .type = INPUT_TASK_SUBMIT,
        .submit = {.specs = &spec, .count = 1, .has_key = true, .key = {9}, .body_hash = {4}}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    int64_t day = (int64_t)24 * 60 * 60 * 1000;
    assert_int_equal(query_deadline(rig->core), rig->now_ms + day);
    rig->now_ms += day - 1;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
    rig->now_ms += 1;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(rig_count(rig, FACT_SUBMIT_KEYS_EXPIRED), 1);
    assert_true(query_deadline(rig->core) == INT64_MAX);
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(query_task_last(rig->core).v, 2);
}

static void only_keys_of_a_day_ago_expire(void **state)
{
    struct rig *rig = *state;
    const int64_t hour = (int64_t)60 * 60 * 1000;
    struct task_spec spec = rig_spec();
    struct input old = {
        .type = INPUT_TASK_SUBMIT,
        .submit = {.specs = &spec, .count = 1, .has_key = true, .key = {1}, .body_hash = {4}}};
    struct input young = old;
    young.submit.key[0] = 2;
    assert_int_equal(rig_do(rig, old), VERDICT_OK);
    rig->now_ms += 1;
    assert_int_equal(rig_do(rig, young), VERDICT_OK);
    rig->now_ms += 24 * hour - 1;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(rig_do(rig, young), VERDICT_REPEATED);
    assert_int_equal(rig_do(rig, old), VERDICT_OK);
}

/* Two keys whose bits would overlap if a byte were shifted by less than eight. */
static void every_bit_of_a_key_counts(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    uint64_t tasks = 0;
    for (unsigned bit = 0; bit < 128; bit++) {
        struct input in = {.type = INPUT_TASK_SUBMIT,
                           .submit = {.specs = &spec, .count = 1, .has_key = true}};
        in.submit.key[bit / 8] = (uint8_t)(1u << bit % 8);
        assert_int_equal(rig_do(rig, in), VERDICT_OK);
        assert_int_equal(query_task_last(rig->core).v, ++tasks);
    }
}

static void the_spec_names_the_project_and_the_pool_that_were_chosen(void **state)
{
    struct rig *rig = *state;
    const char *const pools[] = {"default"};
    const struct account_spec project = {.name = "p", .kind = ACCOUNT_PROJECT};
    struct input in = {.type = INPUT_ACCOUNT_SET, .account = {.spec = &project}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    static const struct {
        const char *project, *chosen;
        uint32_t pools;
    } cases[] = {{"p", "p", 0}, {"p", "p", 1}, {NULL, "default", 0}, {"", "default", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct task_spec spec = rig_spec();
        spec.project = cases[i].project;
        spec.pools = pools;
        spec.pool_count = cases[i].pools;
        /* The fact borrows the spec, which must live as long as the fact is looked at. */
        const struct input submit = {.type = INPUT_TASK_SUBMIT,
                                     .submit = {.specs = &spec, .count = 1}};
        assert_int_equal(rig_do(rig, submit), VERDICT_OK);
        const struct task_spec *kept = rig_fact(rig, FACT_TASK_SUBMITTED)->task_submitted.spec;
        assert_string_equal(kept->project, cases[i].chosen);
        assert_int_equal(kept->pool_count, 1);
        assert_string_equal(kept->pools[0], "default");
    }
}

/* A step without the rig's look at all bytes, for a state that is large. */
static enum verdict step_plain(struct rig *rig, struct input in)
{
    in.now_ms = rig->now_ms;
    fact_list_init(&rig->facts, &rig->arena);
    enum verdict verdict = core_decide(rig->core, &in, &rig->facts);
    for (size_t i = 0; verdict == VERDICT_OK && i < rig->facts.count; i++) {
        core_apply(rig->core, &rig->facts.at[i]);
    }
    return verdict;
}

static void over_the_limit_the_oldest_keys_go_early(void **state)
{
    struct rig *rig = *state;
    struct fact fact = {.type = FACT_SUBMIT_KEY, .version = 1, .actor = "", .cause = ""};
    for (uint32_t i = 0; i < SUBMIT_KEYS_MAX; i++) {
        fact.time_ms = rig->now_ms + i / 10;
        memcpy(fact.submit_key.key, &i, sizeof i);
        core_apply(rig->core, &fact);
    }
    rig->now_ms = fact.time_ms;
    struct task_spec spec = rig_spec();
    struct input in = {.type = INPUT_TASK_SUBMIT,
                       .submit = {.specs = &spec, .count = 1, .has_key = true, .key = {[15] = 1}}};
    assert_int_equal(step_plain(rig, in), VERDICT_OK);
    assert_int_equal(rig_fact(rig, FACT_SUBMIT_KEYS_EXPIRED)->keys_expired.before_ms, 1001);
    assert_int_equal(step_plain(rig, in), VERDICT_REPEATED);
    in.submit.key[15] = 0; /* the oldest: forgotten, so it is new */
    assert_int_equal(step_plain(rig, in), VERDICT_OK);
}

static void staged_tasks_wait_for_their_start(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 1, 0, 1);
    struct task_spec spec = rig_spec();
    spec.stage = true;
    task_id id = rig_submit(rig, spec);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_STAGED);
    assert_int_equal(rig_task(rig, INPUT_TASK_START, id), VERDICT_OK);
    assert_int_equal(rig_task(rig, INPUT_TASK_START, id), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_WRONG_STATE);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
    task_id missing = {99};
    assert_int_equal(rig_task(rig, INPUT_TASK_START, missing), VERDICT_NOT_FOUND);
}

static void the_queue_is_priority_then_submission(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    task_id a = rig_submit(rig, spec);
    task_id b = rig_submit(rig, spec);
    spec.priority = 90;
    task_id c = rig_submit(rig, spec);
    pool_id pool = query_pool_named(rig->core, "default")->id;
    assert_int_equal(query_queue_next(rig->core, pool, (task_id){0}).v, c.v);
    assert_int_equal(query_queue_next(rig->core, pool, c).v, a.v);
    assert_int_equal(query_queue_next(rig->core, pool, a).v, b.v);
    assert_int_equal(query_queue_next(rig->core, pool, b).v, 0);
    assert_int_equal(query_queue_position(rig->core, b, 100), 3);
    assert_int_equal(query_queue_position(rig->core, b, 2), 2);
    struct task_edit edit = {.fields = TASK_EDIT_priority,
                             .spec = &(struct task_spec){.priority = 95}};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = b, .edit = &edit}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(query_queue_position(rig->core, b, 100), 1);
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, b), VERDICT_OK);
    assert_int_equal(query_queue_position(rig->core, b, 100), 0);
    assert_int_equal(query_queue_next(rig->core, pool, (task_id){0}).v, c.v);
    assert_int_equal(rig_task(rig, INPUT_TASK_ACTIVATE, b), VERDICT_OK);
    assert_int_equal(query_queue_position(rig->core, b, 100), 1);
}

int main(void)
{
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_task_that_names_nothing_gets_one_slot),
        RIG_TEST(a_task_that_names_only_a_resource_has_no_slots),
        RIG_TEST(an_undefined_resource_name_is_refused_by_name),
        RIG_TEST(what_can_never_run_is_refused),
        RIG_TEST(unknown_names_and_kinds_are_refused),
        RIG_TEST(limits_are_named),
        RIG_TEST(all_tasks_of_a_submission_or_none),
        RIG_TEST(a_key_seen_before_repeats_or_is_refused),
        RIG_TEST(keys_expire_after_a_day),
        RIG_TEST(only_keys_of_a_day_ago_expire),
        RIG_TEST(every_bit_of_a_key_counts),
        RIG_TEST(the_spec_names_the_project_and_the_pool_that_were_chosen),
        RIG_TEST(over_the_limit_the_oldest_keys_go_early),
        RIG_TEST(staged_tasks_wait_for_their_start),
        RIG_TEST(the_queue_is_priority_then_submission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
