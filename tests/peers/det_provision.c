/* det_provision.c - cases of Determined about the loop that brings machines up and down, and about launches that fail.
 *
 * Determined's error is in force after more failures than `launch_error_retries`, for `launch_error_timeout`. Weir has no
 * such settings: it shows the provider's words from the first failure on and asks again later each time. The core's
 * count of failures in a row and the time of the last one say whether the error would be in force.
 * SPDX-License-Identifier: Apache-2.0 */
#include "det_fleet.h"
#include "determined.h"
#include "read.h"

#include "base/must.h"
#include "core/state/elastic.h"

enum { LOST_MS = 10 * 60 * 1000 }; /* what Determined waits for an agent that is gone */

struct error_rule {
    uint64_t retries;
    int64_t timeout_ms;
    uint64_t old; /* of the failures in a row, those that a later one did not follow in time */
};

static bool in_force(const struct det_fleet *fleet, const struct error_rule *rule)
{
    const struct pool *pool = det_fleet_pool(fleet);
    return pool->launch_failures > rule->old + rule->retries &&
           fleet->cluster.now_ms - elastic_failed_ms(pool) < rule->timeout_ms;
}

/* The provider answers every launch that it was asked for: so many come up, the others do not. */
static void provider_answers(struct det_fleet *fleet, uint64_t gives, bool fails)
{
    launch_id after = {0};
    const struct launch *launch;
    while ((launch = query_launch_next(fleet->cluster.core, after)) != NULL) {
        after = launch->id;
        if (launch->state == LAUNCH_ASKED) {
            det_fleet_says(fleet, after,
                           fails       ? PROVIDER_FAILED
                           : gives > 0 ? PROVIDER_RUNNING
                                       : PROVIDER_REQUESTED);
            gives -= gives > 0;
        }
    }
}

/* Asks the provider at the next moment at which the pool asks again, and lets the launches fail. */
static void fails_once(struct det_fleet *fleet)
{
    const int64_t retry_ms = det_fleet_pool(fleet)->launch_retry_ms;
    fleet->cluster.now_ms = retry_ms > fleet->cluster.now_ms ? retry_ms : fleet->cluster.now_ms;
    (void)det_fleet_tick(fleet);
    provider_answers(fleet, 0, true);
}

/* ---- the loop ---- */

/* The agent is connected, with work or without, or gone. An agent that is gone has no work: in Determined its work would
 * not wait for another machine. */
static void agent_set(struct det_fleet *fleet, struct det_machine *machine, bool gone, bool idle)
{
    if (!gone && machine->silent_ms != 0) {
        det_fleet_happens(fleet, machine, DET_BACK);
    }
    if ((gone || idle) != (machine->work.v == 0)) {
        det_fleet_happens(fleet, machine, gone || idle ? DET_RESTS : DET_WORKS);
    }
    if (gone && machine->silent_ms == 0) {
        det_fleet_happens(fleet, machine, DET_SILENT);
    }
}

/* The agents of the step are connected, the others are not. */
static bool agents_set(struct det_fleet *fleet, const struct doc *agents)
{
    const struct doc *instances = reads_get(fleet->trial->test, "instances");
    const struct doc *one = instances->first;
    for (uint32_t i = 0; i < fleet->count; i++, one = one->next) {
        struct det_machine *machine = &fleet->at[i];
        const char *agent = machine->name;
        (void)reads_text(reads_get(one, "agent"), &agent);
        const struct doc *said = reads_get(agents, agent);
        const bool idle = read_is(said, "idle");
        if (said != NULL && !idle && !read_is(said, "busy")) {
            (void)trial_failed(fleet->trial, "'%s' is neither idle nor busy", agent);
            return false;
        }
        if (det_fleet_live(fleet, machine) != NULL) {
            agent_set(fleet, machine, said == NULL, idle);
        }
    }
    return true;
}

static enum outcome tick_compare(struct det_fleet *fleet, const struct doc *expect, uint32_t asked,
                                 const bool *lived)
{
    const struct doc *limits = reads_get(fleet->trial->test, "limits");
    const struct error_rule rule = {det_number(limits, "launch_error_retries", 0),
                                    det_fleet_ms(limits, "launch_error_timeout_s", 0), 0};
    const struct doc *ends = reads_get(expect, "terminate");
    if (det_number(expect, "launch", asked) != asked) {
        return trial_failed(fleet->trial, "%u nodes are asked for", asked);
    }
    for (uint32_t i = 0; ends != NULL && i < fleet->count; i++) {
        const struct det_machine *machine = &fleet->at[i];
        const bool ended = lived[i] && det_fleet_live(fleet, machine) == NULL;
        if (ended != det_fleet_named(ends, machine->name)) {
            return trial_failed(fleet->trial, "'%s' %s", machine->name, ended ? "ends" : "stays");
        }
    }
    const bool error = in_force(fleet, &rule);
    return read_flag(expect, "pool_error", error) == error
               ? CASE_PASSED
               : trial_failed(fleet->trial, "launches %s", error ? "fail" : "do not fail");
}

static enum outcome tick_run(struct det_fleet *fleet, const struct doc *step)
{
    const struct doc *expect = reads_get(step, "expect");
    const bool fails = reads_get(step, "provider") != NULL;
    if (fails && reads_word(fleet->trial, step, "provider", "fails") < 0) {
        return CASE_FAILED;
    }
    bool *lived = arena_new(fleet->trial->arena, bool, fleet->count + 1);
    for (uint32_t i = 0; i < fleet->count; i++) {
        lived[i] = det_fleet_live(fleet, &fleet->at[i]) != NULL;
    }
    for (uint32_t i = 0; i < fleet->count; i++) {
        (void)det_fleet_lost(fleet, &fleet->at[i], fleet->lost_ms);
    }
    const uint64_t gives = det_number(step, "provider_gives", DET_FLEET_MAX);
    uint32_t asked = 0;
    if (fails) {
        fails_once(fleet);
        asked = fleet->cluster.asked_count;
    } else {
        asked = det_fleet_tick(fleet);
        provider_answers(fleet, gives, false);
    }
    return expect == NULL ? CASE_PASSED : tick_compare(fleet, expect, asked, lived);
}

static enum outcome step_run(struct det_fleet *fleet, const struct doc *step)
{
    enum { NEED, TICK, WAIT };
    switch (reads_word(fleet->trial, step, "op", "need|tick|wait")) {
    case NEED:
        det_fleet_need(fleet, det_number(step, "desired_new_instances", 0));
        return agents_set(fleet, reads_get(step, "agents")) ? CASE_PASSED : CASE_FAILED;
    case TICK:
        return tick_run(fleet, step);
    case WAIT:
        fleet->cluster.now_ms += det_fleet_ms(step, "s", 0);
        return CASE_PASSED;
    default:
        return CASE_FAILED;
    }
}

enum outcome det_provision(struct trial *trial)
{
    const struct doc *steps = reads_get(trial->test, "steps");
    struct det_fleet fleet;
    det_fleet_open(&fleet, trial);
    enum outcome outcome =
        det_fleet_add(&fleet, reads_get(trial->test, "instances")) ? CASE_PASSED : CASE_FAILED;
    if (outcome == CASE_PASSED) {
        for (uint32_t i = 0; i < fleet.count; i++) {
            /* an agent works until a step says otherwise */
            det_fleet_event(&fleet, i, DET_JOINED, fleet.at[i].age_ms);
            det_fleet_event(&fleet, i, DET_WORKS, fleet.at[i].age_ms);
        }
        det_fleet_play(&fleet);
        det_fleet_limits(&fleet, reads_get(trial->test, "limits"));
        fleet.lost_ms =
            det_fleet_ms(reads_get(trial->test, "limits"), "max_disconnected_s", LOST_MS);
    }
    for (const struct doc *step = steps->first; step != NULL && outcome == CASE_PASSED;
         step = step->next) {
        outcome = step_run(&fleet, step);
    }
    det_fleet_close(&fleet);
    return outcome;
}

/* ---- launches that fail ---- */

/* The agent of a machine that was asked for joins: a launch has succeeded. */
static void succeeds_once(struct det_fleet *fleet)
{
    struct det_machine machine = {.name = ""};
    fleet->cluster.now_ms++;
    det_fleet_happens(fleet, &machine, DET_LAUNCHED);
    det_fleet_happens(fleet, &machine, DET_JOINED);
    det_fleet_happens(fleet, &machine, DET_WORKS);
}

/* A failure at this very moment: the launch was asked for after the last failure. */
static void fails_now(struct det_fleet *fleet, struct error_rule *rule)
{
    struct det_machine machine = {.name = ""};
    const struct pool *pool = det_fleet_pool(fleet);
    fleet->cluster.now_ms++;
    if (fleet->cluster.now_ms - elastic_failed_ms(pool) > rule->timeout_ms) {
        rule->old = pool->launch_failures;
    }
    det_fleet_happens(fleet, &machine, DET_LAUNCHED);
    det_fleet_says(fleet, machine.launch, PROVIDER_FAILED);
}

enum outcome det_sticky(struct trial *trial)
{
    enum { FAIL, SUCCEED, READ, WAIT };
    const struct doc *steps = reads_get(trial->test, "steps");
    struct error_rule rule = {det_number(trial->test, "retries", 0),
                              det_fleet_ms(trial->test, "timeout_s", 0), 0};
    struct det_fleet fleet;
    enum outcome outcome = CASE_PASSED;
    det_fleet_open(&fleet, trial);
    det_fleet_play(&fleet);
    for (const struct doc *step = steps->first; step != NULL && outcome == CASE_PASSED;
         step = step->next) {
        const int op = reads_word(trial, step, "op", "fail|succeed|read|wait");
        if (op == FAIL) {
            fails_now(&fleet, &rule);
        } else if (op == SUCCEED) {
            succeeds_once(&fleet);
            rule.old = 0;
        } else if (op == WAIT) {
            fleet.cluster.now_ms += det_fleet_ms(step, "s", 0);
        }
        const struct doc *expect = reads_get(step, "expect");
        const bool wanted = expect != NULL && expect->kind != DOC_NULL;
        if (wanted) {
            reads_ignore(step, "expect"); /* its words are the provider's own */
        }
        if (op < 0) {
            outcome = CASE_FAILED;
        } else if (expect != NULL && wanted != in_force(&fleet, &rule)) {
            outcome = trial_failed(trial, "the error is %sin force", wanted ? "not " : "");
        }
    }
    det_fleet_close(&fleet);
    return outcome;
}
