/* test_idle.c - whose rule holds for a task that does nothing: that of its project, of a department above, or of
 * the pool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

#include "core/model/pool.h"

enum { MINUTE_MS = 60000 };

/* The pool ends tasks after ten minutes, without a warning. */
static void pool_ends(struct pool_spec *spec)
{
    spec->idle_after_ms = 10 * MINUTE_MS;
    spec->idle_action = IDLE_END;
}

static enum verdict try_rule(struct org *org, account_id account, int64_t warn_ms, int64_t after_ms,
                             enum account_idle action)
{
    struct account_spec spec;
    query_account_spec(org->rig.core, account, &org->rig.kept, &spec);
    spec.idle_warn_ms = warn_ms;
    spec.idle_after_ms = after_ms;
    spec.idle_action = action;
    return rig_do(&org->rig, (struct input){.type = INPUT_ACCOUNT_SET,
                                            .account = {.account = account, .spec = &spec}});
}

static void set_rule(struct org *org, account_id account, int64_t warn_ms, int64_t after_ms,
                     enum account_idle action)
{
    assert_int_equal(try_rule(org, account, warn_ms, after_ms, action), VERDICT_OK);
}

/* An hour is over, so that the tasks may have done nothing for a long time. */
static void begin(struct org *org, account_id *ret_ml, account_id *ret_nlp)
{
    org_init(org);
    org_nodes(org, 1, 4);
    org->rig.now_ms += 60 * (int64_t)MINUTE_MS;
    *ret_ml = org_add(org, ACCOUNT_DEPARTMENT, "ml", "");
    *ret_nlp = org_add(org, ACCOUNT_PROJECT, "nlp", "ml");
    org_pool(org, pool_ends);
}

static task_id run_in(struct org *org, const char *project)
{
    const task_id task = org_submit(org, (struct org_task){.project = project, .slots = 1});
    org_settle(org);
    assert_true(org_runs(org, task));
    return task;
}

/* Checks what the last input did to the task, and by whose rule. */
static void said(const struct org *org, enum idle_step step, account_id account)
{
    assert_int_equal(rig_count(&org->rig, FACT_TASK_IDLE), 1);
    const struct fact *fact = rig_fact(&org->rig, FACT_TASK_IDLE);
    assert_int_equal(fact->task_idle.step, step);
    assert_int_equal(fact->task_idle.account.v, account.v);
    assert_int_equal(rig_count(&org->rig, FACT_ATTEMPT_STOPPING), step == IDLE_WARNED ? 0 : 1);
}

static void the_rule_of_a_project_replaces_that_of_the_pool(void **state)
{
    (void)state;
    struct org org;
    account_id ml;
    account_id nlp;
    begin(&org, &ml, &nlp);
    set_rule(&org, nlp, 20 * MINUTE_MS, 30 * MINUTE_MS, ACCOUNT_IDLE_PAUSE);
    const task_id own = run_in(&org, "nlp");
    const task_id other = run_in(&org, "default");
    org_idle(&org, other, 10 * MINUTE_MS, 0);
    said(&org, IDLE_ENDED, (account_id){0});
    assert_int_equal(rig_fact(&org.rig, FACT_ATTEMPT_STOPPING)->attempt_stopping.cause, END_IDLE);
    org_idle(&org, own, 20 * MINUTE_MS - 1, 0); /* longer than the pool allows */
    assert_int_equal(org.rig.facts.count, 0);
    org_idle(&org, own, 20 * MINUTE_MS, 0);
    said(&org, IDLE_WARNED, nlp);
    assert_int_equal(rig_fact(&org.rig, FACT_TASK_IDLE)->task_idle.until_ms,
                     org.rig.now_ms + 10 * MINUTE_MS);
    org_idle(&org, own, 30 * MINUTE_MS, org.rig.now_ms - 10 * MINUTE_MS);
    said(&org, IDLE_PAUSED, nlp);
    assert_int_equal(rig_fact(&org.rig, FACT_TASK_IDLE)->task_idle.until_ms, org.rig.now_ms);
    assert_int_equal(rig_fact(&org.rig, FACT_ATTEMPT_STOPPING)->attempt_stopping.cause,
                     END_IDLE_PAUSED);
    org_done(&org);
}

static void a_change_holds_for_running_tasks(void **state)
{
    (void)state;
    struct org org;
    account_id ml;
    account_id nlp;
    begin(&org, &ml, &nlp);
    set_rule(&org, nlp, 0, 0, ACCOUNT_IDLE_NONE);
    const task_id task = run_in(&org, "nlp");
    org_idle(&org, task, 50 * MINUTE_MS, 0);
    assert_int_equal(org.rig.facts.count, 0); /* neither warned nor ended, whatever the pool says */
    set_rule(&org, nlp, 20 * MINUTE_MS, 0, ACCOUNT_IDLE_NONE);
    org_idle(&org, task, 50 * MINUTE_MS, 0);
    said(&org, IDLE_WARNED, nlp);
    assert_int_equal(rig_fact(&org.rig, FACT_TASK_IDLE)->task_idle.until_ms, 0);
    org_idle(&org, task, 50 * MINUTE_MS, org.rig.now_ms);
    assert_int_equal(org.rig.facts.count, 0);
    set_rule(&org, nlp, 0, 0, ACCOUNT_IDLE_INHERIT);
    org_idle(&org, task, 10 * MINUTE_MS - 1, 0);
    assert_int_equal(org.rig.facts.count, 0);
    org_idle(&org, task, 10 * MINUTE_MS, 0);
    said(&org, IDLE_ENDED, (account_id){0});
    org_done(&org);
}

/* Returns the rule for the tasks of the account in the pool of the organisation. */
static struct idle_rule rule_of(const struct org *org, account_id account)
{
    return query_account_idle(org->rig.core, account, org_pool_id);
}

static void the_nearest_rule_above_holds(void **state)
{
    (void)state;
    struct org org;
    account_id ml;
    account_id nlp;
    begin(&org, &ml, &nlp);
    assert_int_equal(rule_of(&org, nlp).account.v, 0);
    assert_true(rule_of(&org, nlp).after_ms == 10 * MINUTE_MS);
    set_rule(&org, ml, 0, 5 * MINUTE_MS, ACCOUNT_IDLE_END);
    assert_int_equal(rule_of(&org, nlp).account.v, ml.v);
    assert_int_equal(rule_of(&org, nlp).action, IDLE_END);
    const task_id task = run_in(&org, "nlp");
    org_idle(&org, task, 5 * MINUTE_MS, 0);
    said(&org, IDLE_ENDED, ml);
    set_rule(&org, nlp, 0, 0, ACCOUNT_IDLE_NONE);
    assert_int_equal(rule_of(&org, nlp).account.v, nlp.v);
    assert_true(rule_of(&org, nlp).after_ms == 0);
    assert_int_equal(rule_of(&org, ACCOUNT_DEFAULT_PROJECT).account.v, 0);
    org_done(&org);
}

/* The state that is stored has the rules, and decides the same afterwards. */
static void rules_are_stored(void **state)
{
    (void)state;
    struct org org;
    account_id ml;
    account_id nlp;
    struct error e;
    size_t len;
    begin(&org, &ml, &nlp);
    set_rule(&org, nlp, 20 * MINUTE_MS, 30 * MINUTE_MS, ACCOUNT_IDLE_END);
    char *bytes = rig_bytes(org.rig.core, &len);
    struct core *again = NULL;
    assert_int_equal(core_decode((struct str){bytes, len}, &again, &e), ERR_OK);
    free(bytes);
    const struct idle_rule rule = query_account_idle(again, nlp, org_pool_id);
    assert_int_equal(rule.account.v, nlp.v);
    assert_true(rule.warn_ms == 20 * MINUTE_MS);
    assert_true(rule.after_ms == 30 * MINUTE_MS);
    assert_int_equal(rule.action, IDLE_END);
    core_free(again);
    org_done(&org);
}

static void rules_that_contradict_themselves_are_refused(void **state)
{
    (void)state;
    static const struct {
        int64_t warn_ms;
        int64_t after_ms;
        enum account_idle action;
        const char *field;
    } bad[] = {
        {1, 0, ACCOUNT_IDLE_INHERIT, "idle_warn"}, {0, 1, ACCOUNT_IDLE_INHERIT, "idle_after"},
        {0, 1, ACCOUNT_IDLE_NONE, "idle_after"},   {1, 0, ACCOUNT_IDLE_PAUSE, "idle_after"},
        {0, 0, ACCOUNT_IDLE_END, "idle_after"},    {5, 5, ACCOUNT_IDLE_PAUSE, "idle_warn"},
    };
    struct org org;
    account_id ml;
    account_id nlp;
    begin(&org, &ml, &nlp);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(try_rule(&org, nlp, bad[i].warn_ms, bad[i].after_ms, bad[i].action),
                         VERDICT_REFUSED);
        assert_int_equal(org.rig.facts.refusal.code, REASON_LIMIT);
        assert_string_equal(org.rig.facts.refusal.text, bad[i].field);
        assert_int_equal(rule_of(&org, nlp).account.v, 0);
    }
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_of_a_project_replaces_that_of_the_pool),
        cmocka_unit_test(a_change_holds_for_running_tasks),
        cmocka_unit_test(the_nearest_rule_above_holds),
        cmocka_unit_test(rules_are_stored),
        cmocka_unit_test(rules_that_contradict_themselves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
