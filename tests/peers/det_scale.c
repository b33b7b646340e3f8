/* det_scale.c - cases of Determined about how many machines a pool asks for, and which agents have no work.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/determined/det_resolve.h"
#include "det_fleet.h"
#include "determined.h"
#include "read.h"

#include <string.h>

enum { AUX_DEFAULT = 100 };

/* A group with a cap is a project with a limit. Determined caps only what waits, so running tasks of the group are not
 * part of the translation. */
static bool group_open(struct cluster *cluster, const struct doc *group)
{
    int64_t most;
    const char *name = "";
    (void)reads_text(reads_get(group, "id"), &name);
    reads_ignore(group,
                 "priority"); /* the order of tasks does not change how many nodes they need */
    reads_ignore(group, "weight");
    if (!read_scaled(reads_get(group, "max_slots"), 1, &most)) {
        return true;
    }
    if (!cluster_account(cluster, ACCOUNT_PROJECT, name, "default")) {
        return false;
    }
    const struct quota_amount amount = {
        .resource = "slots", .guaranteed = 0, .limit = most * SLOT_MILLI, .weight = 1};
    const struct quota_spec quota = {.amounts = &amount, .amount_count = 1};
    const struct account *account = query_account_named(cluster->core, ACCOUNT_PROJECT, name);
    cluster_quota(cluster, account->id, &quota);
    return true;
}

static bool has_cap(const struct doc *groups, const char *name)
{
    for (const struct doc *group = groups == NULL ? NULL : groups->first; group != NULL;
         group = group->next) {
        if (read_is(reads_get(group, "id"), name)) {
            return reads_get(group, "max_slots") != NULL;
        }
    }
    return false;
}

/* Queues a waiting task of the case. A refused task, which no node could run, waits nowhere. */
static void task_open(struct cluster *cluster, const struct doc *groups, const struct doc *task)
{
    bool runs = read_flag(task, "allocated", false);
    runs |= reads_get(task, "allocated_on") != NULL;
    struct task_spec spec = cluster_task("t");
    const char *group = "";
    (void)reads_text(reads_get(task, "id"), &spec.name);
    (void)reads_text(reads_get(task, "group"), &group);
    (void)read_flag(task, "preemptible", true); /* says nothing about a task that waits */
    spec.slots_milli = (int64_t)det_number(task, "slots", 0) * SLOT_MILLI;
    spec.project = has_cap(groups, group) ? group : "";
    const task_id id = runs ? (task_id){0} : cluster_stage(cluster, spec);
    if (id.v != 0) {
        cluster_queue(cluster, id);
    }
}

/* How many machines a pool without any asks for. Determined counts the waiting tasks alone, whatever is free. */
static uint32_t desired(struct trial *trial, const struct doc *tasks, uint64_t slots, uint64_t aux)
{
    struct det_fleet fleet;
    det_fleet_open(&fleet, trial);
    struct pool_spec pool = cluster_pool(&fleet.cluster);
    pool.node_slots = (uint32_t)slots;
    pool.aux_tasks = (uint32_t)aux;
    cluster_pool_set(&fleet.cluster, &pool);
    const struct doc *groups = reads_get(trial->test, "groups");
    for (const struct doc *group = groups == NULL ? NULL : groups->first; group != NULL;
         group = group->next) {
        must(group_open(&fleet.cluster, group));
    }
    for (const struct doc *task = tasks->first; task != NULL; task = task->next) {
        task_open(&fleet.cluster, groups, task);
    }
    const uint32_t asked = det_fleet_tick(&fleet);
    det_fleet_close(&fleet);
    return asked;
}

enum outcome det_desired(struct trial *trial)
{
    const struct doc *expect = reads_get(trial->test, "expect");
    const struct doc *tasks = reads_get(trial->test, "tasks");
    for (const struct doc *one = expect->first; one != NULL; one = one->next) {
        const uint64_t slots = det_number(one, "slots_per_instance", 0);
        const uint64_t aux = det_number(one, "max_zero_slot_per_instance", 0);
        const uint64_t wanted = det_number(one, "instances", UINT64_MAX);
        const uint32_t asked = desired(trial, tasks, slots, aux);
        if (asked != wanted) {
            return trial_failed(trial, "%u nodes of %u slots, each with %u tasks without slots",
                                asked, (unsigned)slots, (unsigned)aux);
        }
    }
    return CASE_PASSED;
}

/* ---- what the pool tells ---- */

/* Does a task of the case run on this agent? */
static bool agent_works(const struct doc *tasks, const struct doc *agent)
{
    const char *name = "";
    (void)reads_text(reads_get(agent, "id"), &name);
    for (const struct doc *task = tasks->first; task != NULL; task = task->next) {
        if (read_is(reads_get(task, "allocated_on"), name)) {
            return true;
        }
    }
    return det_number(agent, "slots_used", 0) + det_number(agent, "zero_slot_used", 0) > 0;
}

/* The agents and tasks that are there at one moment of a case. */
struct scene {
    struct doc *agents;
    struct doc *tasks;
};

/* Joins the agents, gives work to those that have some, and says which have none in the core's view. */
static enum outcome idle_compare(struct trial *trial, const struct scene *scene,
                                 const struct doc *expect)
{
    const struct doc *idle = reads_get(expect, "idle_agents");
    const struct doc *all = reads_get(expect, "agents");
    struct det_fleet fleet;
    enum outcome outcome = CASE_PASSED;
    det_fleet_open(&fleet, trial);
    must(det_fleet_add(&fleet, scene->agents));
    const struct doc *agent = scene->agents->first;
    for (uint32_t i = 0; i < fleet.count; i++, agent = agent->next) {
        det_fleet_event(&fleet, i, DET_JOINED, 0);
        if (agent_works(scene->tasks, agent)) {
            det_fleet_event(&fleet, i, DET_WORKS, 0);
        }
    }
    det_fleet_play(&fleet);
    for (uint32_t i = 0; i < fleet.count && outcome == CASE_PASSED; i++) {
        const struct det_machine *machine = &fleet.at[i];
        const bool rests = det_fleet_live(&fleet, machine)->idle_ms != 0;
        const struct doc *said = all == NULL ? NULL : reads_get(all, machine->name);
        const bool wanted =
            all != NULL ? read_is(said, "idle") : det_fleet_named(idle, machine->name);
        if ((all != NULL || idle != NULL) && rests != wanted) {
            outcome = trial_failed(trial, "'%s' is %s", machine->name, rests ? "idle" : "busy");
        }
    }
    det_fleet_close(&fleet);
    return outcome;
}

static enum outcome scene_compare(struct trial *trial, const struct scene *scene,
                                  const struct doc *expect)
{
    const struct doc *first = scene->agents->first;
    for (const struct doc *agent = first; agent != NULL; agent = agent->next) {
        (void)det_number(agent, "slots", 0); /* every busy agent is full in the translation */
        (void)det_number(agent, "max_zero_slot", 0);
    }
    const uint64_t slots = det_number(trial->test, "slots_per_instance",
                                      first == NULL ? 1 : det_number(first, "slots", 1));
    const uint64_t aux = det_number(trial->test, "max_zero_slot_per_instance", AUX_DEFAULT);
    const uint32_t asked = desired(trial, scene->tasks, slots, aux);
    if (asked != det_number(expect, "desired_new_instances", asked)) {
        return trial_failed(trial, "%u nodes are asked for", asked);
    }
    return idle_compare(trial, scene, expect);
}

static void scene_add(struct arena *arena, struct doc *into, const struct doc *list)
{
    for (const struct doc *one = list == NULL ? NULL : list->first; one != NULL; one = one->next) {
        det_resolve_put(arena, into, NULL, one);
    }
}

/* The list without what is named. */
static struct doc *scene_without(struct arena *arena, const struct doc *list,
                                 const struct doc *names)
{
    struct doc *rest = det_resolve_empty(arena, DOC_LIST);
    for (const struct doc *one = list->first; one != NULL; one = one->next) {
        const char *name = "";
        (void)reads_text(reads_get(one, "id"), &name);
        if (!det_fleet_named(names, name)) {
            det_resolve_put(arena, rest, NULL, one);
        }
    }
    return rest;
}

static enum outcome scene_step(struct trial *trial, struct scene *scene, const struct doc *step)
{
    enum { COMPARE, ADD, REMOVE };
    const struct doc *agents = reads_get(step, "agents");
    const struct doc *tasks = reads_get(step, "tasks");
    switch (reads_word(trial, step, "op", "scaling_info|add|remove")) {
    case COMPARE:
        break;
    case ADD:
        scene_add(trial->arena, scene->agents, agents);
        scene_add(trial->arena, scene->tasks, tasks);
        break;
    case REMOVE:
        scene->agents = scene_without(trial->arena, scene->agents, agents);
        scene->tasks = scene_without(trial->arena, scene->tasks, tasks);
        break;
    default:
        return CASE_FAILED;
    }
    const struct doc *expect = reads_get(step, "expect");
    return expect == NULL ? CASE_PASSED : scene_compare(trial, scene, expect);
}

enum outcome det_scaling(struct trial *trial)
{
    const struct doc *expect = reads_get(trial->test, "expect");
    const struct doc *steps = reads_get(trial->test, "steps");
    struct scene scene = {det_resolve_empty(trial->arena, DOC_LIST),
                          det_resolve_empty(trial->arena, DOC_LIST)};
    scene_add(trial->arena, scene.agents, reads_get(trial->test, "agents"));
    scene_add(trial->arena, scene.tasks, reads_get(trial->test, "tasks"));
    enum outcome outcome = expect == NULL ? CASE_PASSED : scene_compare(trial, &scene, expect);
    const struct doc *step = steps == NULL ? NULL : steps->first;
    for (; step != NULL && outcome == CASE_PASSED; step = step->next) {
        outcome = scene_step(trial, &scene, step);
    }
    return outcome;
}

/* ---- bounds ---- */

/* So many machines are there, some of them on their way, the others with work. */
static void machines_open(struct det_fleet *fleet, uint64_t count, uint64_t starting)
{
    fleet->at = arena_new(fleet->trial->arena, struct det_machine, count);
    for (uint64_t i = 0; i < count; i++) {
        struct det_machine *machine = &fleet->at[fleet->count++];
        *machine = (struct det_machine){.name = ""};
        det_fleet_happens(fleet, machine, DET_LAUNCHED);
        if (i >= starting) {
            det_fleet_happens(fleet, machine, DET_JOINED);
            det_fleet_happens(fleet, machine, DET_WORKS);
        }
    }
}

enum outcome det_launch(struct trial *trial)
{
    const uint64_t count = det_number(trial->test, "instances", 0);
    const uint64_t starting = det_number(trial->test, "recently_launched", 0);
    const struct doc *expect = reads_get(trial->test, "expect");
    struct det_fleet fleet;
    det_fleet_open(&fleet, trial);
    det_fleet_play(&fleet);
    machines_open(&fleet, count, starting);
    det_fleet_need(&fleet, det_number(trial->test, "desired_new_instances", 0));
    det_fleet_limits(&fleet, reads_get(trial->test, "limits"));
    const uint32_t asked = det_fleet_tick(&fleet);
    det_fleet_close(&fleet);
    return asked == det_number(expect, "launch", UINT64_MAX)
               ? CASE_PASSED
               : trial_failed(trial, "%u nodes are asked for", asked);
}
