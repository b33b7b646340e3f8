/* det_fleet.c - see det_fleet.h. SPDX-License-Identifier: Apache-2.0 */
#include "det_fleet.h"

#include "determined.h"
#include "read.h"

#include "base/must.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

enum { MOMENT_MS = 1000 * 1000 * 1000, EVENTS_PER_MACHINE = 8, NAME_MAX = 32 };

const struct pool *det_fleet_pool(const struct det_fleet *fleet)
{
    return query_pool_named(fleet->cluster.core, POOL_DEFAULT_NAME);
}

void det_fleet_open(struct det_fleet *fleet, struct trial *trial)
{
    *fleet = (struct det_fleet){.trial = trial, .now_ms = MOMENT_MS};
    cluster_init(&fleet->cluster, trial->arena);
    struct pool_spec pool = cluster_pool(&fleet->cluster);
    pool.provider = POOL_LOCAL;
    pool.nodes_max = DET_FLEET_MAX;
    pool.node_slots = 1;
    pool.node_idle_ms = MOMENT_MS;
    pool.max_starting_ms = 0;
    pool.policy = POLICY_PRIORITY;
    pool.uneven_off = true;
    cluster_pool_set(&fleet->cluster, &pool);
    fleet->waiting = arena_new(trial->arena, task_id, DET_FLEET_MAX);
}

void det_fleet_close(struct det_fleet *fleet)
{
    cluster_done(&fleet->cluster);
}

int64_t det_fleet_ms(const struct doc *map, const char *key, int64_t missing)
{
    int64_t ms = missing;
    (void)read_scaled(map == NULL ? NULL : reads_get(map, key), 1000, &ms);
    return ms;
}

void det_fleet_limits(struct det_fleet *fleet, const struct doc *limits)
{
    struct pool_spec pool = cluster_pool(&fleet->cluster);
    pool.nodes_min = (uint32_t)det_number(limits, "min_instances", 0);
    pool.nodes_max = (uint32_t)det_number(limits, "max_instances", DET_FLEET_MAX);
    pool.node_idle_ms = det_fleet_ms(limits, "max_idle_s", pool.node_idle_ms);
    pool.max_starting_ms = det_fleet_ms(limits, "max_starting_s", pool.max_starting_ms);
    cluster_pool_set(&fleet->cluster, &pool);
}

bool det_fleet_add(struct det_fleet *fleet, const struct doc *instances)
{
    fleet->at = arena_new(fleet->trial->arena, struct det_machine, instances->count);
    fleet->events =
        arena_new(fleet->trial->arena, struct det_event, instances->count * EVENTS_PER_MACHINE);
    for (const struct doc *one = instances->first; one != NULL; one = one->next) {
        struct det_machine *machine = &fleet->at[fleet->count++];
        *machine = (struct det_machine){.age_ms = det_fleet_ms(one, "age_s", 0)};
        if (!reads_text(reads_get(one, "id"), &machine->name)) {
            (void)trial_failed(fleet->trial, "an instance has no id");
            return false;
        }
        det_fleet_event(fleet, fleet->count - 1, DET_LAUNCHED, machine->age_ms);
    }
    return true;
}

void det_fleet_event(struct det_fleet *fleet, uint32_t machine, enum det_happens what,
                     int64_t ago_ms)
{
    must(fleet->event_count < fleet->count * EVENTS_PER_MACHINE);
    fleet->events[fleet->event_count++] =
        (struct det_event){.at_ms = fleet->now_ms - ago_ms, .machine = machine, .what = what};
}

static int by_time(const void *left, const void *right)
{
    const struct det_event *a = left;
    const struct det_event *b = right;
    if (a->at_ms != b->at_ms) {
        return a->at_ms < b->at_ms ? -1 : 1;
    }
    if (a->machine != b->machine) {
        return a->machine < b->machine ? -1 : 1;
    }
    return a->what < b->what ? -1 : a->what > b->what;
}

void det_fleet_play(struct det_fleet *fleet)
{
    if (fleet->event_count > 0) {
        sort_items(fleet->events, fleet->event_count, sizeof fleet->events[0], by_time);
    }
    for (uint32_t i = 0; i < fleet->event_count; i++) {
        fleet->cluster.now_ms = fleet->events[i].at_ms;
        det_fleet_happens(fleet, &fleet->at[fleet->events[i].machine], fleet->events[i].what);
    }
    fleet->cluster.now_ms = fleet->now_ms;
}

static void must_do(struct det_fleet *fleet, struct input in)
{
    must(cluster_do(&fleet->cluster, in) == VERDICT_OK);
}

void det_fleet_says(struct det_fleet *fleet, launch_id launch, enum provider_says says)
{
    const struct provider_answer answer = {
        .launch = launch, .says = says, .name = "", .node = "", .words = "no machine"};
    must_do(fleet, (struct input){.type = INPUT_PROVIDER, .provider = {&answer, 1}});
}

static void machine_launch(struct det_fleet *fleet, struct det_machine *machine)
{
    struct input in = {.type = INPUT_LAUNCH_ASK};
    in.launch.pool = det_fleet_pool(fleet)->id;
    in.launch.count = 1;
    must_do(fleet, in);
    machine->launch = fleet->cluster.facts.at[0].launch.launch;
}

/* The agent joins under the name that its launch gives, again where it was gone. */
static void machine_join(struct det_fleet *fleet, struct det_machine *machine)
{
    char name[NAME_MAX];
    (void)snprintf(name, sizeof name, "%s-%llu", POOL_DEFAULT_NAME,
                   (unsigned long long)machine->launch.v);
    const struct pool *pool = det_fleet_pool(fleet);
    struct node_spec spec = {.name = arena_str(fleet->trial->arena, name),
                             .slots_milli = (int64_t)pool->node_slots * SLOT_MILLI};
    machine->node = cluster_node(&fleet->cluster, spec);
    machine->silent_ms = 0;
}

static struct task_spec whole_node(const struct det_fleet *fleet)
{
    struct task_spec spec = cluster_task("t");
    spec.slots_milli = (int64_t)det_fleet_pool(fleet)->node_slots * SLOT_MILLI;
    return spec;
}

static void machine_work(struct det_fleet *fleet, struct det_machine *machine)
{
    machine->work = cluster_stage(&fleet->cluster, whole_node(fleet));
    must(machine->work.v != 0);
    cluster_queue(&fleet->cluster, machine->work);
    must(cluster_runs(&fleet->cluster, machine->work, 0, machine->node, 0));
}

void det_fleet_happens(struct det_fleet *fleet, struct det_machine *machine, enum det_happens what)
{
    switch (what) {
    case DET_LAUNCHED:
        machine_launch(fleet, machine);
        break;
    case DET_UP:
        det_fleet_says(fleet, machine->launch, PROVIDER_RUNNING);
        break;
    case DET_JOINED:
    case DET_BACK:
        machine_join(fleet, machine);
        break;
    case DET_WORKS:
        machine_work(fleet, machine);
        break;
    case DET_RESTS:
        cluster_ended(&fleet->cluster, machine->work);
        machine->work.v = 0;
        break;
    case DET_SILENT:
        must_do(fleet, (struct input){.type = INPUT_NODE_SILENT, .node = {.node = machine->node}});
        machine->silent_ms = fleet->cluster.now_ms;
        break;
    case DET_GONE:
        det_fleet_says(fleet, machine->launch, PROVIDER_GONE);
        break;
    }
}

struct det_machine *det_fleet_find(struct det_fleet *fleet, const char *name)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        if (strcmp(fleet->at[i].name, name) == 0) {
            return &fleet->at[i];
        }
    }
    return NULL;
}

void det_fleet_need(struct det_fleet *fleet, uint64_t count)
{
    must(count <= DET_FLEET_MAX);
    while (fleet->waiting_count > count) {
        const task_id task = fleet->waiting[--fleet->waiting_count];
        must_do(fleet, (struct input){.type = INPUT_TASK_KILL, .task = {.task = task}});
    }
    while (fleet->waiting_count < count) {
        const task_id task = cluster_stage(&fleet->cluster, whole_node(fleet));
        must(task.v != 0);
        cluster_queue(&fleet->cluster, task);
        fleet->waiting[fleet->waiting_count++] = task;
    }
}

uint32_t det_fleet_tick(struct det_fleet *fleet)
{
    struct cluster *cluster = &fleet->cluster;
    do {
        must_do(fleet, (struct input){.type = INPUT_TICK});
    } while (cluster->facts.count > 0); /* the server ticks until no deadline is due */
    cluster->asked_count = 0;
    cluster_pass(cluster);
    return cluster->asked_count;
}

const struct launch *det_fleet_live(const struct det_fleet *fleet,
                                    const struct det_machine *machine)
{
    const struct launch *launch = query_launch(fleet->cluster.core, machine->launch);
    return launch == NULL || launch->state == LAUNCH_ENDING ? NULL : launch;
}

bool det_fleet_lost(struct det_fleet *fleet, const struct det_machine *machine, int64_t after_ms)
{
    struct cluster *cluster = &fleet->cluster;
    const struct node *node = query_node(cluster->core, machine->node);
    if (det_fleet_live(fleet, machine) == NULL || node == NULL || node->state != NODE_SILENT ||
        cluster->now_ms - machine->silent_ms <= after_ms) {
        return false;
    }
    must_do(fleet, (struct input){.type = INPUT_NODE_LOST, .node = {.node = machine->node}});
    return det_fleet_live(fleet, machine) == NULL;
}

bool det_fleet_named(const struct doc *list, const char *name)
{
    for (const struct doc *one = list == NULL ? NULL : list->first; one != NULL; one = one->next) {
        if (read_is(one, name)) {
            return true;
        }
    }
    return false;
}
