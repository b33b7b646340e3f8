/* det_machines.c - cases of Determined about the classes of machines, and which machines end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "det_fleet.h"
#include "determined.h"
#include "read.h"

#include "base/must.h"

#include <stdlib.h>

enum { LONG_MS = 3600 * 1000, STARTING_MS = 20 * 60 * 1000 };
enum { IS_RUNNING, IS_STOPPED, IS_STARTING, IS_ORDERED }; /* the words of `state` */

/* A case without machines has empty lists, which say nothing. */
static void lists_note(const struct doc *map, const char *const *names)
{
    for (; *names != NULL; names++) {
        (void)reads_get(map, *names);
    }
}

/* ---- classes ---- */

/* Plays what happened to a machine: an agent that joined runs a task until it has no work, and may be gone for a while. */
static void history_play(struct det_fleet *fleet, uint32_t index, const struct doc *instance)
{
    const struct doc *test = fleet->trial->test;
    const struct doc *before = reads_get(test, "previously");
    const struct det_machine *machine = &fleet->at[index];
    const char *name = machine->name;
    const int64_t gone_ms = det_fleet_ms(reads_get(before, "disconnected_for_s"), name, 0);
    const int64_t rests_ms = det_fleet_ms(reads_get(before, "idle_for_s"), name, 0);
    const bool connected = det_fleet_named(reads_get(test, "connected"), name);
    const bool rests = det_fleet_named(reads_get(test, "idle_agents"), name);
    const int64_t starting_ms = det_fleet_ms(reads_get(test, "limits"), "max_starting_s", 0);
    const int state =
        reads_word(fleet->trial, instance, "state", "running|stopped|starting|pending_spot");
    if (state == IS_STOPPED) {
        det_fleet_event(fleet, index, DET_GONE, 0);
        return;
    }
    if (state == IS_ORDERED) {
        return; /* there is no machine yet */
    }
    if (!connected && machine->age_ms < starting_ms) {
        det_fleet_event(fleet, index, DET_UP, 0); /* the agent has not joined yet */
        return;
    }
    det_fleet_event(fleet, index, DET_JOINED, machine->age_ms);
    if (!rests || rests_ms < machine->age_ms) {
        det_fleet_event(fleet, index, DET_WORKS, machine->age_ms);
    }
    if (rests_ms > 0 && rests_ms < machine->age_ms) {
        det_fleet_event(fleet, index, DET_RESTS, rests_ms);
    } else if (rests && rests_ms == 0) {
        det_fleet_event(fleet, index, DET_RESTS, 0);
    }
    if (!connected) {
        det_fleet_event(fleet, index, DET_SILENT, gone_ms);
    } else if (gone_ms > 0) {
        det_fleet_event(fleet, index, DET_SILENT, gone_ms);
        det_fleet_event(fleet, index, DET_BACK, 0); /* with another supervisor: its work is lost */
        if (!rests) {
            det_fleet_event(fleet, index, DET_WORKS, 0);
        }
    }
}

enum class { STOPPED, STARTING, ORDERED, SILENT, LONG_SILENT, RESTS, LONG_RESTS, CLASS_COUNT };

static const char *const CLASS_NAMES[CLASS_COUNT + 1] = {
    "stopped",           "recently_launched", "pending_spot", "disconnected_for_s",
    "long_disconnected", "idle_for_s",        "long_idle",    NULL};

/* Since when the machine is in the class; -1: the machine is not in the class. */
static int64_t class_since(const struct det_fleet *fleet, const struct det_machine *machine,
                           enum class class)
{
    const struct launch *launch = det_fleet_live(fleet, machine);
    const struct node *node = query_node(fleet->cluster.core, machine->node);
    const int64_t idle_ms = det_fleet_pool(fleet)->node_idle_ms;
    const int64_t now_ms = fleet->now_ms;
    if (launch == NULL || class == STOPPED) {
        /* A machine that the provider no longer has leaves no row, a lost machine is told to end. */
        const bool gone = query_launch(fleet->cluster.core, machine->launch) == NULL;
        return class == STOPPED && gone ? now_ms : -1;
    }
    const bool silent = node != NULL && node->state == NODE_SILENT;
    switch (class) {
    case STARTING:
        return launch->node.v == 0 ? launch->asked_ms : -1;
    case ORDERED:
        return launch->state < LAUNCH_RUNNING && node == NULL ? launch->asked_ms : -1;
    case SILENT:
    case LONG_SILENT:
        return silent ? machine->silent_ms : -1;
    case RESTS:
        return launch->idle_ms != 0 ? launch->idle_ms : -1;
    case LONG_RESTS:
        return launch->idle_ms != 0 && now_ms - launch->idle_ms > idle_ms ? launch->idle_ms : -1;
    case STOPPED:
    case CLASS_COUNT:
        break;
    }
    must(false);
    return -1;
}

static enum outcome class_compare(struct det_fleet *fleet, enum class class,
                                  const struct doc *expect)
{
    const struct doc *wanted = reads_get(expect, CLASS_NAMES[class]);
    const int64_t lost_ms =
        det_fleet_ms(reads_get(fleet->trial->test, "limits"), "max_disconnected_s", 0);
    for (uint32_t i = 0; wanted != NULL && i < fleet->count; i++) {
        const struct det_machine *machine = &fleet->at[i];
        const int64_t since_ms = class_since(fleet, machine, class);
        const bool in =
            class == LONG_SILENT ? det_fleet_lost(fleet, machine, lost_ms) : since_ms >= 0;
        int64_t for_ms = -1;
        const bool timed = wanted->kind == DOC_MAP;
        const bool named = timed ? read_scaled(reads_get(wanted, machine->name), 1000, &for_ms)
                                 : det_fleet_named(wanted, machine->name);
        if (in != named || (timed && in && fleet->now_ms - since_ms != for_ms)) {
            return trial_failed(fleet->trial, "'%s' is %sof the class %s", machine->name,
                                in ? "" : "not ", CLASS_NAMES[class]);
        }
    }
    return CASE_PASSED;
}

enum outcome det_states(struct trial *trial)
{
    const struct doc *instances = reads_get(trial->test, "instances");
    const struct doc *expect = reads_get(trial->test, "expect");
    struct det_fleet fleet;
    enum outcome outcome = CASE_PASSED;
    det_fleet_open(&fleet, trial);
    if (!det_fleet_add(&fleet, instances)) {
        det_fleet_close(&fleet);
        return CASE_FAILED;
    }
    static const char *const lists[] = {"connected", "idle_agents", "previously", NULL};
    static const char *const before[] = {"disconnected_for_s", "idle_for_s", NULL};
    lists_note(trial->test, lists);
    lists_note(reads_get(trial->test, "previously"), before);
    lists_note(expect, CLASS_NAMES);
    uint32_t index = 0;
    for (const struct doc *one = instances->first; one != NULL; one = one->next) {
        history_play(&fleet, index++, one);
    }
    det_fleet_play(&fleet);
    det_fleet_limits(&fleet, reads_get(trial->test, "limits"));
    static const enum class order[] = {STOPPED, STARTING,   ORDERED,    SILENT,
                                       RESTS,   LONG_RESTS, LONG_SILENT};
    for (size_t i = 0; i < CLASS_COUNT && outcome == CASE_PASSED; i++) {
        outcome = class_compare(&fleet, order[i], expect);
    }
    det_fleet_close(&fleet);
    return outcome;
}

/* ---- which machines end ---- */

static bool in_class(const struct trial *trial, const char *class, const char *name)
{
    return det_fleet_named(reads_get(reads_get(trial->test, "classes"), class), name);
}

/* Brings a machine into the class that the case gives. A machine of no class works. Where the pool has more machines than
 * its maximum a young one has not joined: Weir ends no machine that works. */
static void class_play(struct det_fleet *fleet, uint32_t index, bool above)
{
    const struct trial *trial = fleet->trial;
    const struct det_machine *machine = &fleet->at[index];
    const char *name = machine->name;
    const bool rests = in_class(trial, "idle", name);
    const bool rests_long = in_class(trial, "long_idle", name);
    const bool silent = in_class(trial, "disconnected", name);
    const bool silent_long = in_class(trial, "long_disconnected", name);
    const bool pending = in_class(trial, "pending_spot", name);
    if (in_class(trial, "stopped", name)) {
        det_fleet_event(fleet, index, DET_GONE, 0);
        return;
    }
    const bool young =
        machine->age_ms < STARTING_MS && !rests && !rests_long && !silent && !silent_long;
    if (!pending && young && above) {
        det_fleet_event(fleet, index, DET_UP, 0);
    }
    if (pending || (young && above)) {
        return;
    }
    const int64_t joined_ms = rests_long || silent_long ? LONG_MS + 2 : 0;
    det_fleet_event(fleet, index, DET_JOINED, joined_ms);
    if (!rests && !rests_long) {
        det_fleet_event(fleet, index, DET_WORKS, joined_ms);
    }
    if (silent || silent_long) {
        /* In Determined the work of an agent that is gone keeps no machine. */
        det_fleet_event(fleet, index, DET_RESTS, silent_long ? LONG_MS + 1 : 0);
        det_fleet_event(fleet, index, DET_SILENT, silent_long ? LONG_MS + 1 : 0);
    }
}

static bool ended(struct det_fleet *fleet, const struct det_machine *machine)
{
    return det_fleet_live(fleet, machine) == NULL;
}

enum outcome det_terminate(struct trial *trial)
{
    const struct doc *limits = reads_get(trial->test, "limits");
    const struct doc *expect = reads_get(reads_get(trial->test, "expect"), "terminate");
    static const char *const lists[] = {
        "stopped", "long_idle", "long_disconnected", "idle", "disconnected", "pending_spot", NULL};
    struct det_fleet fleet;
    det_fleet_open(&fleet, trial);
    lists_note(reads_get(trial->test, "classes"), lists);
    if (!det_fleet_add(&fleet, reads_get(trial->test, "instances"))) {
        det_fleet_close(&fleet);
        return CASE_FAILED;
    }
    for (uint32_t i = 0; i < fleet.count; i++) {
        /* what was long without work or gone is at least so old */
        fleet.events[i].at_ms -= 2 * LONG_MS;
        class_play(&fleet, i, fleet.count > det_number(limits, "max_instances", DET_FLEET_MAX));
    }
    det_fleet_play(&fleet);
    struct pool_spec pool = cluster_pool(&fleet.cluster);
    pool.node_idle_ms = LONG_MS;
    cluster_pool_set(&fleet.cluster, &pool);
    det_fleet_limits(&fleet, limits);
    for (uint32_t i = 0; i < fleet.count; i++) {
        (void)det_fleet_lost(&fleet, &fleet.at[i], LONG_MS);
    }
    (void)det_fleet_tick(&fleet);
    enum outcome outcome = CASE_PASSED;
    for (uint32_t i = 0; i < fleet.count && outcome == CASE_PASSED; i++) {
        if (ended(&fleet, &fleet.at[i]) != det_fleet_named(expect, fleet.at[i].name)) {
            outcome = trial_failed(trial, "'%s' %s", fleet.at[i].name,
                                   ended(&fleet, &fleet.at[i]) ? "ends" : "stays");
        }
    }
    det_fleet_close(&fleet);
    return outcome;
}
