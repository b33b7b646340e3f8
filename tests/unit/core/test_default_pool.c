/* test_default_pool.c - where a task goes that names no pool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include <string.h>

static void add_pool(struct rig *rig, const char *name)
{
    struct pool_spec spec;
    query_pool_spec(rig->core, (pool_id){1}, &rig->kept, &spec);
    spec.name = name;
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static enum verdict set(struct rig *rig, const char *gpu, const char *cpu)
{
    struct input in = {.type = INPUT_DEFAULTS_SET};
    in.defaults.pools[POOL_DEFAULT_GPU] = gpu;
    in.defaults.pools[POOL_DEFAULT_CPU] = cpu;
    return rig_do(rig, in);
}

static int begin(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    add_pool(&rig, "gpus");
    add_pool(&rig, "cpus");
    (void)rig_node(&rig, "n1", 1, 5000, 1); /* `foo` is known */
    *state = &rig;
    return 0;
}

static int end(void **state)
{
    rig_done(*state);
    return 0;
}

/* The pool of a new task with this spec, which the stored spec names, too. */
static const char *goes_to(struct rig *rig, struct task_spec spec)
{
    const task_id id = rig_submit(rig, spec);
    const struct task *task = query_task(rig->core, id);
    struct task_spec stored;
    query_task_spec(rig->core, id, &rig->kept, &stored);
    const char *name = query_pool_name(rig->core, task->pool);
    assert_int_equal(stored.pool_count, 1);
    assert_string_equal(stored.pools[0], name);
    return name;
}

static void a_fresh_server_has_one_pool_for_all(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    assert_string_equal(goes_to(rig, spec), "default");
    spec.cpu_milli = 1000;
    assert_string_equal(goes_to(rig, spec), "default");
}

static void slots_decide_which_of_the_two(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(set(rig, "gpus", "cpus"), VERDICT_OK);
    struct task_spec spec = rig_spec();
    assert_string_equal(goes_to(rig, spec), "gpus"); /* names nothing: one slot */
    spec.kind = TASK_TENSORBOARD;
    assert_string_equal(goes_to(rig, spec), "cpus");
    const task_id board = query_task_last(rig->core);
    assert_int_equal(query_task_request(rig->core, query_task(rig->core, board), 0)->slots_milli,
                     0);
    spec = rig_spec();
    spec.cpu_milli = 1000;
    assert_string_equal(goes_to(rig, spec), "cpus");
    spec.slots_milli = 0;
    assert_string_equal(goes_to(rig, spec), "cpus");
    spec.slots_milli = 1000;
    assert_string_equal(goes_to(rig, spec), "gpus");
    spec = rig_spec();
    spec.memory_bytes = 1 << 20;
    assert_string_equal(goes_to(rig, spec), "cpus");
    spec.needs_gpu = true;
    assert_string_equal(goes_to(rig, spec), "gpus");
    spec = rig_spec();
    spec.slots_milli = 0;
    assert_string_equal(goes_to(rig, spec), "cpus");
    struct named_amount foo = {"foo", 1000};
    spec = rig_spec();
    spec.resources = &foo;
    spec.resource_count = 1;
    assert_string_equal(goes_to(rig, spec), "cpus");
}

static void a_named_pool_is_taken(void **state)
{
    struct rig *rig = *state;
    static const char *const named[] = {"default"};
    assert_int_equal(set(rig, "gpus", "cpus"), VERDICT_OK);
    struct task_spec spec = rig_spec();
    spec.pools = named;
    spec.pool_count = 1;
    assert_string_equal(goes_to(rig, spec), "default");
}

static void setting_them_again_changes_nothing(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(set(rig, "default", "default"), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
    assert_int_equal(set(rig, "gpus", "default"), VERDICT_OK);
    assert_int_equal(rig_count(rig, FACT_DEFAULTS_SET), 1);
    assert_int_equal(set(rig, "gpus", "default"), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
}

static void an_unknown_pool_is_refused(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(set(rig, "gpus", "nix"), VERDICT_NOT_FOUND);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_POOL);
    assert_string_equal(rig->facts.refusal.text, "nix");
    assert_string_equal(query_default_pool(rig->core, POOL_DEFAULT_GPU), "default");
}

/* A default pool goes only once another pool is the default. */
static void a_default_pool_is_not_deleted(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(set(rig, "gpus", "cpus"), VERDICT_OK);
    struct input in = {.type = INPUT_POOL_DELETE, .pool = {.now = true}};
    in.pool.pool = query_pool_named(rig->core, "gpus")->id;
    assert_int_equal(rig_do(rig, in), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_DEFAULT_POOL);
    assert_int_equal(set(rig, "default", "cpus"), VERDICT_OK);
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_string_equal(goes_to(rig, rig_spec()), "default");
}

/* A copy goes its own way. */
static void copies_have_their_own(void **state)
{
    struct rig *rig = *state;
    struct core *copy = core_copy(rig->core);
    assert_int_equal(set(rig, "gpus", "cpus"), VERDICT_OK);
    assert_string_equal(query_default_pool(copy, POOL_DEFAULT_GPU), "default");
    core_free(copy);
    assert_string_equal(query_default_pool(rig->core, POOL_DEFAULT_CPU), "cpus");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_fresh_server_has_one_pool_for_all),
        TEST(slots_decide_which_of_the_two),
        TEST(a_named_pool_is_taken),
        TEST(setting_them_again_changes_nothing),
        TEST(an_unknown_pool_is_refused),
        TEST(a_default_pool_is_not_deleted),
        TEST(copies_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
