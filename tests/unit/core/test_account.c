/* test_account.c - departments, projects, quotas: the tree, the rest, usage, and what is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include <string.h>

static const pool_id pool = {1};

static enum verdict try_account(struct rig *rig, struct account_spec spec, account_id id)
{
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.account = id;
    in.account.spec = &spec;
    return rig_do(rig, in);
}

static account_id add(struct rig *rig, enum account_kind kind, const char *name, const char *parent)
{
    struct account_spec spec = {.kind = kind, .name = name, .parent = parent};
    assert_int_equal(try_account(rig, spec, (account_id){0}), VERDICT_OK);
    return query_account_named(rig->core, kind, name)->id;
}

static enum verdict move(struct rig *rig, account_id id, const char *parent)
{
    struct account_spec spec = {.parent = parent};
    return try_account(rig, spec, id);
}

static enum verdict drop(struct rig *rig, account_id id)
{
    struct input in = {.type = INPUT_ACCOUNT_DELETE};
    in.account.account = id;
    return rig_do(rig, in);
}

static enum verdict try_quota(struct rig *rig, account_id account, struct quota_amount amount)
{
    struct quota_spec spec = {.amounts = &amount,
                              .amount_count = 1,
                              .rules.rank = QUOTA_RANK_DEFAULT,
                              .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                              .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = account;
    in.quota.pool = pool;
    in.quota.spec = &spec;
    return rig_do(rig, in);
}

static struct quota_amount of(const char *resource, int64_t guaranteed, int64_t limit)
{
    return (struct quota_amount){.resource = resource,
                                 .guaranteed = guaranteed,
                                 .limit = limit,
                                 .weight = QUOTA_WEIGHT_DEFAULT};
}

static void guarantee(struct rig *rig, account_id account, int64_t slots)
{
    assert_int_equal(try_quota(rig, account, of("slots", slots * 1000, QUOTA_UNLIMITED)),
                     VERDICT_OK);
}

/* Whole slots guaranteed; -1: unlimited. */
static int64_t guaranteed(const struct rig *rig, account_id account)
{
    struct quota quota;
    query_quota(rig->core, account, pool, &quota);
    int64_t slots = quota.guaranteed.at[DIM_SLOTS];
    return slots == QUOTA_UNLIMITED ? -1 : slots / 1000;
}

static struct usage usage_of(const struct rig *rig, account_id account)
{
    struct usage usage;
    query_usage(rig->core, account, pool, &usage);
    return usage;
}

static task_id submit_to(struct rig *rig, const char *project, unsigned slots)
{
    struct task_spec spec = rig_spec();
    spec.project = project;
    spec.slots_milli = (int64_t)slots * 1000;
    return rig_submit(rig, spec);
}

/* ---- the tree ---- */

static void two_accounts_are_there_from_the_beginning(void **state)
{
    struct rig *rig = *state;
    const struct account *project = query_account_named(rig->core, ACCOUNT_PROJECT, "default");
    assert_non_null(project);
    assert_int_equal(project->id.v, ACCOUNT_DEFAULT_PROJECT.v);
    assert_int_equal(project->parent.v, ACCOUNT_DEFAULT_DEPARTMENT.v);
    assert_int_equal(project->depth, 2);
    assert_int_equal(drop(rig, project->id), VERDICT_CONFLICT);
    assert_int_equal(drop(rig, project->parent), VERDICT_CONFLICT);
    (void)add(rig, ACCOUNT_DEPARTMENT, "ml", "");
    assert_int_equal(move(rig, project->id, "ml"), VERDICT_CONFLICT);
}

static void a_project_without_a_department_is_in_default(void **state)
{
    struct rig *rig = *state;
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "");
    assert_int_equal(query_account(rig->core, vision)->parent.v, ACCOUNT_DEFAULT_DEPARTMENT.v);
    account_id ml = add(rig, ACCOUNT_DEPARTMENT, "ml", "");
    assert_int_equal(query_account(rig->core, ml)->parent.v, 0);
    assert_int_equal(query_account(rig->core, ml)->depth, 1);
}

static void names_are_unique_within_a_kind(void **state)
{
    struct rig *rig = *state;
    (void)add(rig, ACCOUNT_PROJECT, "x", "");
    (void)add(rig, ACCOUNT_DEPARTMENT, "x", "");
    struct account_spec again = {.kind = ACCOUNT_PROJECT, .name = "x"};
    assert_int_equal(try_account(rig, again, (account_id){0}), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_EXISTS);
}

static void unknown_departments_and_cycles_are_refused(void **state)
{
    struct rig *rig = *state;
    account_id a = add(rig, ACCOUNT_DEPARTMENT, "a", "");
    account_id b = add(rig, ACCOUNT_DEPARTMENT, "b", "a");
    (void)add(rig, ACCOUNT_DEPARTMENT, "c", "b");
    assert_int_equal(move(rig, a, "nowhere"), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_DEPARTMENT);
    assert_string_equal(rig->facts.refusal.text, "nowhere");
    assert_int_equal(move(rig, a, "c"), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_CYCLE);
    assert_int_equal(move(rig, a, "a"), VERDICT_REFUSED);
    assert_int_equal(move(rig, b, ""), VERDICT_OK);
    assert_int_equal(query_account_named(rig->core, ACCOUNT_DEPARTMENT, "c")->depth, 2);
    assert_int_equal(move(rig, a, "c"), VERDICT_OK);
    assert_int_equal(query_account(rig->core, a)->depth, 3);
}

static void the_tree_has_a_greatest_depth(void **state)
{
    struct rig *rig = *state;
    static const char *const names[] = {"", "1", "2", "3", "4", "5", "6", "7", "8"};
    for (int i = 1; i <= 8; i++) {
        (void)add(rig, ACCOUNT_DEPARTMENT, names[i], names[i - 1]);
    }
    struct account_spec deep = {.kind = ACCOUNT_PROJECT, .name = "p", .parent = "8"};
    assert_int_equal(try_account(rig, deep, (account_id){0}), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_LIMIT);
    (void)add(rig, ACCOUNT_DEPARTMENT, "top", "");
    assert_int_equal(move(rig, query_account_named(rig->core, ACCOUNT_DEPARTMENT, "1")->id, "top"),
                     VERDICT_REFUSED);
}

static void only_what_is_empty_is_deleted(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 0, 1);
    account_id ml = add(rig, ACCOUNT_DEPARTMENT, "ml", "");
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "ml");
    task_id task = submit_to(rig, "vision", 1);
    assert_int_equal(drop(rig, ml), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_NOT_EMPTY);
    assert_int_equal(drop(rig, vision), VERDICT_CONFLICT);
    assert_int_equal(rig->facts.refusal.code, REASON_IN_USE);
    assert_int_equal(rig->facts.refusal.need, 1);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, task), VERDICT_OK);
    guarantee(rig, vision, 2);
    assert_int_equal(drop(rig, vision), VERDICT_OK);
    assert_null(query_account(rig->core, vision));
    assert_int_equal(drop(rig, ml), VERDICT_OK);
    account_id again = add(rig, ACCOUNT_PROJECT, "vision", "");
    assert_true(again.v > vision.v);
    assert_int_equal(guaranteed(rig, again), 0);
}

static void tasks_go_to_projects_that_exist(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.project = "nobody";
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_PROJECT);
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "");
    task_id task = submit_to(rig, "vision", 1);
    assert_int_equal(query_task(rig->core, task)->account.v, vision.v);
    task = rig_submit(rig, rig_spec());
    assert_int_equal(query_task(rig->core, task)->account.v, ACCOUNT_DEFAULT_PROJECT.v);
}

static void an_edit_that_changes_nothing_is_no_fact(void **state)
{
    struct rig *rig = *state;
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "");
    assert_int_equal(move(rig, vision, "default"), VERDICT_OK);
    assert_int_equal(rig->facts.count, 0);
    guarantee(rig, vision, 1);
    guarantee(rig, vision, 1);
    assert_int_equal(rig->facts.count, 0);
}

/* ---- guarantees ---- */

static void default_is_guaranteed_the_rest(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 10, 0, 1);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_DEPARTMENT), 10);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_PROJECT), 10);
    account_id ml = add(rig, ACCOUNT_DEPARTMENT, "ml", "");
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "ml");
    account_id beside = add(rig, ACCOUNT_PROJECT, "beside", "");
    assert_int_equal(guaranteed(rig, vision), 0);
    guarantee(rig, vision, 3);
    guarantee(rig, beside, 2);
    assert_int_equal(guaranteed(rig, vision), 3);
    assert_int_equal(guaranteed(rig, ml), 3); /* those below it together */
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_DEPARTMENT), 7);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_PROJECT), 5);
    guarantee(rig, ml, 4); /* set: what is below no longer says */
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_DEPARTMENT), 6);
    guarantee(rig, ml, 40);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_DEPARTMENT), 0); /* never below 0 */
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_PROJECT), 0);
    guarantee(rig, ACCOUNT_DEFAULT_PROJECT, 1);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_PROJECT), 1);
    assert_false(query_quota_computed(rig->core, ACCOUNT_DEFAULT_PROJECT, pool, (resource_id){0}));
    assert_int_equal(try_quota(rig, ml, of("slots", QUOTA_UNLIMITED, QUOTA_UNLIMITED)), VERDICT_OK);
    assert_int_equal(guaranteed(rig, ml), -1);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_DEPARTMENT), 0);
}

static void the_rest_follows_the_pool(void **state)
{
    struct rig *rig = *state;
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "");
    guarantee(rig, vision, 3);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_PROJECT), 0);
    node_id node = rig_node(rig, "n", 8, 0, 1);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_PROJECT), 5);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_PROJECT), 5); /* joined and not removed */
    assert_int_equal(rig_on_node(rig, INPUT_NODE_REMOVE, node), VERDICT_OK);
    assert_int_equal(guaranteed(rig, ACCOUNT_DEFAULT_PROJECT), 0);
}

static void what_nobody_set_has_its_default(void **state)
{
    struct rig *rig = *state;
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "");
    struct quota quota;
    query_quota(rig->core, vision, pool, &quota);
    assert_true(quota.guaranteed.at[DIM_SLOTS] == 0);
    assert_true(quota.guaranteed.at[DIM_CPU] == QUOTA_UNLIMITED);
    assert_true(quota.guaranteed.at[DIM_MEMORY] == QUOTA_UNLIMITED);
    assert_true(quota.limit.at[DIM_SLOTS] == QUOTA_UNLIMITED);
    assert_int_equal(quota.weight[DIM_SLOTS], 1000);
    assert_int_equal(quota.rules.rank, 100);
    assert_true(quota.rules.reclaim_min_runtime_ms == QUOTA_INHERIT);
}

/* ---- refusals ---- */

static void a_malformed_quota_changes_nothing(void **state)
{
    struct rig *rig = *state;
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "");
    guarantee(rig, vision, 2);
    struct core *before = core_copy(rig->core);
    assert_int_equal(try_quota(rig, vision, of("slots", -3, -1)), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_LIMIT);
    assert_int_equal(try_quota(rig, vision, of("slots", 1, -2)), VERDICT_REFUSED);
    assert_int_equal(try_quota(rig, vision, of("slots", INT64_MAX, -1)), VERDICT_REFUSED);
    assert_int_equal(try_quota(rig, vision, of("nothing", 1, -1)), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_UNKNOWN_RESOURCE);
    assert_string_equal(rig->facts.refusal.text, "nothing");
    struct quota_amount heavy = of("slots", 1, -1);
    heavy.weight = QUOTA_WEIGHT_MAX + 1;
    assert_int_equal(try_quota(rig, vision, heavy), VERDICT_REFUSED);
    assert_int_equal(try_quota(rig, (account_id){99}, of("slots", 1, -1)), VERDICT_NOT_FOUND);
    struct quota_spec spec = {.rules.rank = QUOTA_RANK_DEFAULT};
    struct input in = {.type = INPUT_QUOTA_SET, .quota = {vision, {99}, &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_NOT_FOUND);
    struct quota_amount twice[] = {of("slots", 1, -1), of("slots", 2, -1)};
    spec.amounts = twice;
    spec.amount_count = 2;
    in.quota.pool = pool;
    assert_int_equal(rig_do(rig, in), VERDICT_REFUSED);
    assert_same_state(before, rig->core);
    core_free(before);
}

/* ---- usage ---- */

static void usage_follows_the_tasks_up_the_tree(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 0, 1);
    account_id ml = add(rig, ACCOUNT_DEPARTMENT, "ml", "");
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "ml");
    struct task_spec spec = rig_spec();
    spec.project = "vision";
    spec.preemptible = false;
    spec.slots_milli = 3000;
    guarantee(rig, vision, 3);
    task_id runs = rig_submit(rig, spec);
    (void)submit_to(rig, "vision", 2);
    struct usage usage = usage_of(rig, ml);
    assert_true(usage.wanted.at[DIM_SLOTS] == 5000);
    assert_true(usage.wanted.at[DIM_CPU] == 0); /* comes with the slots */
    assert_int_equal(usage.pending_count, 2);
    rig_pass(rig);
    usage = usage_of(rig, ml);
    assert_true(usage.allocated.at[DIM_SLOTS] == 3000);
    assert_true(usage.fixed.at[DIM_SLOTS] == 3000);
    assert_true(usage.allocated.at[DIM_CPU] == 6000);
    assert_true(usage.wanted.at[DIM_SLOTS] == 2000);
    assert_true(quota_demand(&usage, DIM_SLOTS) == 5000);
    assert_int_equal(usage.running_count, 1);
    assert_int_equal(usage.pending_count, 1);
    struct usage own = usage_of(rig, vision);
    assert_memory_equal(&own, &usage, sizeof usage);
    rig_report(rig, runs, 0, REPORT_STARTED, 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, runs), VERDICT_OK);
    usage = usage_of(rig, ml);
    assert_true(usage.leaving.at[DIM_SLOTS] == 3000);
    rig_report(rig, runs, 0, REPORT_ENDED, 0);
    usage = usage_of(rig, ml);
    assert_true(usage.allocated.at[DIM_SLOTS] == 0);
    assert_true(usage.leaving.at[DIM_SLOTS] == 0);
}

static void staged_and_paused_tasks_are_no_demand(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.stage = true;
    task_id staged = rig_submit(rig, spec);
    task_id paused = rig_submit(rig, rig_spec());
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, paused), VERDICT_OK);
    assert_true(usage_of(rig, ACCOUNT_DEFAULT_PROJECT).wanted.at[DIM_SLOTS] == 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_START, staged), VERDICT_OK);
    assert_true(usage_of(rig, ACCOUNT_DEFAULT_PROJECT).wanted.at[DIM_SLOTS] == 1000);
}

static void a_project_that_moves_takes_its_usage_along(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 0, 1);
    account_id ml = add(rig, ACCOUNT_DEPARTMENT, "ml", "");
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "");
    (void)submit_to(rig, "vision", 1);
    (void)submit_to(rig, "vision", 4);
    rig_pass(rig);
    assert_int_equal(move(rig, vision, "ml"), VERDICT_OK);
    struct usage usage = usage_of(rig, ml);
    assert_true(quota_demand(&usage, DIM_SLOTS) == 5000);
    assert_int_equal(query_account(rig->core, ml)->task_count, 2);
    usage = usage_of(rig, ACCOUNT_DEFAULT_DEPARTMENT);
    assert_true(quota_demand(&usage, DIM_SLOTS) == 0);
}

static void a_quota_below_use_leaves_overhang(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 0, 1);
    (void)submit_to(rig, "default", 3);
    rig_pass(rig);
    assert_int_equal(try_quota(rig, ACCOUNT_DEFAULT_PROJECT, of("slots", 1000, 2000)), VERDICT_OK);
    struct quota quota;
    query_quota(rig->core, ACCOUNT_DEFAULT_PROJECT, pool, &quota);
    struct usage usage = usage_of(rig, ACCOUNT_DEFAULT_PROJECT);
    assert_true(quota_overhang(&quota, &usage, DIM_SLOTS) == 1000);
    assert_true(quota_borrowed(&quota, &usage, DIM_SLOTS) == 2000);
    assert_true(quota_overhang(&quota, &usage, DIM_CPU) == 0);
}

static void a_resource_is_accounted_while_a_quota_names_it(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 9000, 1);
    struct named_amount foo = {"foo", 2000};
    struct task_spec spec = rig_spec();
    spec.resources = &foo;
    spec.resource_count = 1;
    (void)rig_submit(rig, spec);
    (void)rig_submit(rig, spec);
    rig_pass(rig);
    (void)rig_submit(rig, spec);
    assert_int_equal(query_dim_count(rig->core), 3);
    account_id vision = add(rig, ACCOUNT_PROJECT, "vision", "");
    assert_int_equal(try_quota(rig, vision, of("foo", 1000, 5000)), VERDICT_OK);
    uint32_t dim;
    resource_id resource;
    assert_true(query_resource_named(rig->core, "foo", &resource));
    assert_true(query_dim_of(rig->core, resource, &dim));
    struct usage usage = usage_of(rig, ACCOUNT_DEFAULT_PROJECT);
    assert_true(usage.allocated.at[dim] == 4000);
    assert_true(usage.wanted.at[dim] == 2000);
    struct quota quota;
    query_quota(rig->core, vision, pool, &quota);
    assert_true(quota.limit.at[dim] == 5000);
    assert_int_equal(try_quota(rig, vision, of("foo", QUOTA_UNSET, QUOTA_UNLIMITED)), VERDICT_OK);
    assert_int_equal(query_dim_count(rig->core), 3);
}

static void what_a_user_holds_is_counted_by_pool(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 0, 1);
    struct task_spec spec = rig_spec();
    spec.user = "ann";
    task_id first = rig_submit(rig, spec);
    (void)rig_submit(rig, spec);
    (void)rig_submit(rig, rig_spec());
    rig_pass(rig);
    user_id ann = query_task(rig->core, first)->user;
    assert_string_equal(query_usage_user_name(rig->core, ann), "ann");
    assert_true(query_usage_user_slots(rig->core, ann, pool) == 2000);
    rig_run(rig, first, 0, 0);
    assert_true(query_usage_user_slots(rig->core, ann, pool) == 1000);
}

/* Far more is asked than fits any number; nothing wraps and it all goes away again. */
static void sums_do_not_wrap(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.instances = TASK_INSTANCES_MAX;
    spec.memory_bytes = (int64_t)1 << 56;
    task_id task = rig_submit(rig, spec);
    assert_true(usage_of(rig, ACCOUNT_DEFAULT_PROJECT).wanted.at[DIM_MEMORY] == QUOTA_SUM_MAX);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, task), VERDICT_OK);
    assert_true(usage_of(rig, ACCOUNT_DEFAULT_PROJECT).wanted.at[DIM_MEMORY] == 0);
}

static int setup(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
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

#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(two_accounts_are_there_from_the_beginning),
        RIG_TEST(a_project_without_a_department_is_in_default),
        RIG_TEST(names_are_unique_within_a_kind),
        RIG_TEST(unknown_departments_and_cycles_are_refused),
        RIG_TEST(the_tree_has_a_greatest_depth),
        RIG_TEST(only_what_is_empty_is_deleted),
        RIG_TEST(tasks_go_to_projects_that_exist),
        RIG_TEST(an_edit_that_changes_nothing_is_no_fact),
        RIG_TEST(default_is_guaranteed_the_rest),
        RIG_TEST(the_rest_follows_the_pool),
        RIG_TEST(what_nobody_set_has_its_default),
        RIG_TEST(a_malformed_quota_changes_nothing),
        RIG_TEST(usage_follows_the_tasks_up_the_tree),
        RIG_TEST(staged_and_paused_tasks_are_no_demand),
        RIG_TEST(a_project_that_moves_takes_its_usage_along),
        RIG_TEST(a_quota_below_use_leaves_overhang),
        RIG_TEST(a_resource_is_accounted_while_a_quota_names_it),
        RIG_TEST(what_a_user_holds_is_counted_by_pool),
        RIG_TEST(sums_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
