/* determined.c - Determined's agents and tasks as Weir's nodes and tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "determined.h"

#include "read.h"

#include <string.h>

enum { GIB = 1 << 30, PRIORITY_MIDDLE = 42, ANYWHERE_SLOTS = 1000 };

/* The only agent of a case that has none. */
#define DET_ANYWHERE "anywhere"

uint64_t det_number(const struct doc *map, const char *key, uint64_t missing)
{
    uint64_t number = missing;
    (void)reads_u64(reads_get(map, key), &number);
    return number;
}

static bool runs_on(struct det_case *det, task_id task, node_id node)
{
    cluster_queue(&det->cluster, task);
    bool fits = true;
    const uint32_t count = query_task(det->cluster.core, task)->instance_count;
    for (uint32_t i = 0; i < count && fits; i++) {
        fits = cluster_runs(&det->cluster, task, i, node, 0);
    }
    return fits;
}

/* Fills `count` zero-slot places, or `slots` slots, of a node with a task that is not part of
 * the case. */
static bool fill(struct det_case *det, node_id node, uint64_t count, uint64_t slots)
{
    if (count == 0) {
        return true;
    }
    struct task_spec spec = cluster_task("filler");
    const char *pool =
        query_pool_name(det->cluster.core, query_node(det->cluster.core, node)->pool);
    spec.pools = &pool;
    spec.pool_count = 1;
    spec.slots_milli = (int64_t)slots * SLOT_MILLI;
    spec.instances = (uint32_t)count;
    spec.preemptible = false;
    const task_id task = cluster_stage(&det->cluster, spec);
    return task.v != 0 && runs_on(det, task, node);
}

static bool agent_join(struct det_case *det, const struct doc *agent, uint64_t aux_max)
{
    struct node_spec spec = {.name = ""};
    (void)reads_text(reads_get(agent, "id"), &spec.name);
    (void)reads_text(reads_get(agent, "label"), &spec.pool);
    if (spec.pool != NULL && spec.pool[0] == '\0') {
        spec.pool = NULL;
    }
    const uint64_t slots = det_number(agent, "slots", 0);
    spec.slots_milli = (int64_t)slots * SLOT_MILLI;
    spec.cpu_milli = spec.slots_milli;
    spec.memory_bytes = (int64_t)slots * GIB;
    const node_id node = cluster_node(&det->cluster, spec);
    const uint64_t aux_filled =
        aux_max - det_number(agent, "max_zero_slot", 0) + det_number(agent, "zero_slot_used", 0);
    const uint64_t slots_used = det_number(agent, "slots_used", 0);
    reads_ignore(agent, "slot_type"); /* every slot of a pool is equal */
    return fill(det, node, aux_filled, 0) && fill(det, node, slots_used > 0, slots_used);
}

/* Sets the pool as the case has it. False: a word that Weir has no setting for. */
static bool pool_open(struct det_case *det, uint64_t aux_max)
{
    static const enum pool_policy policies[] = {POLICY_PRIORITY, POLICY_FAIR_SHARE,
                                                POLICY_ROUND_ROBIN};
    struct trial *trial = det->trial;
    const struct doc *test = trial->test;
    const struct doc *scheduler = reads_get(test, "scheduler");
    const int type = reads_word(trial, scheduler, "type", "priority|fair_share|round_robin");
    const int fitting = reads_word(trial, test, "fitting_policy", "best|worst");
    if (type < 0 || fitting < 0) {
        return false;
    }
    struct pool_spec pool = cluster_pool(&det->cluster);
    pool.aux_tasks = (uint32_t)aux_max;
    pool.policy = policies[type];
    det->by_group = pool.policy != POLICY_PRIORITY;
    det->capped = pool.policy == POLICY_FAIR_SHARE;
    pool.preemption_off = !read_flag(scheduler, "preemption", pool.policy == POLICY_FAIR_SHARE);
    pool.placement = fitting == 1 ? PLACEMENT_SPREAD : PLACEMENT_PACK;
    pool.uneven_off = !read_flag(test, "allow_heterogeneous_fits", false);
    pool.victims = VICTIMS_YOUNGEST;
    pool.consolidation_max = 0; /* Determined moves no task */
    cluster_pool_set(&det->cluster, &pool);
    return true;
}

/* Reads what a case says about itself. Weir's nodes are never over-full (P1), so running tasks
 * hold their places also where they do not in the source; determined.h says what then counts. */
static void about_read(struct det_case *det)
{
    const struct doc *test = det->trial->test;
    const bool same = read_flag(test, "same_when_occupied", false);
    (void)read_flag(test, "oversubscribed_in_source", false);
    det->looks_empty = read_flag(test, "agents_look_empty_in_source", false) && !same;
    /* Weights and caps count where groups share, priorities where they do not, as in Determined. */
    const struct doc *groups = reads_get(det->trial->test, "groups");
    for (const struct doc *group = groups == NULL ? NULL : groups->first; group != NULL;
         group = group->next) {
        const char *id;
        (void)reads_text(reads_get(group, "id"), &id);
        (void)read_milli(reads_get(group, "weight"), 0);
        (void)read_milli(reads_get(group, "max_slots"), 0);
        (void)det_number(group, "priority", 0);
    }
}

/* May the task be preempted in the translation? A waiting task that may not be preempted once it
 * runs has no better right to start. In Weir it would need a guarantee to start at all, and with
 * the guarantee it would take from others. So in a single pass it waits as a preemptible task. */
static bool det_preemptible(const struct det_case *det, const struct doc *task)
{
    const bool waits = det->by_group && reads_get(task, "allocated_on") == NULL;
    const bool once = reads_get(det->trial->test, "steps") == NULL;
    return read_flag(task, "preemptible", true) || (waits && once);
}

/* Sums the slots of tasks of a list that this group owns and that are not preemptible. */
static int64_t fixed_in(const struct det_case *det, const struct doc *list, const char *owner)
{
    uint64_t slots = 0;
    for (const struct doc *task = list == NULL ? NULL : list->first; task != NULL;
         task = task->next) {
        const char *id = "";
        (void)reads_text(reads_get(task, "id"), &id);
        (void)reads_text(reads_get(task, "group"), &id);
        if (strcmp(id, owner) == 0 && !det_preemptible(det, task)) {
            slots += det_number(task, "slots", 0);
        }
    }
    return (int64_t)slots * SLOT_MILLI;
}

/* Sums fixed_in() over the whole case. */
static int64_t fixed_slots(const struct det_case *det, const char *owner)
{
    const struct doc *test = det->trial->test;
    const struct doc *steps = reads_get(test, "steps");
    int64_t slots = fixed_in(det, reads_get(test, "tasks"), owner);
    for (const struct doc *step = steps == NULL ? NULL : steps->first; step != NULL;
         step = step->next) {
        slots += read_is(reads_get(step, "op"), "add")
                     ? fixed_in(det, reads_get(step, "tasks"), owner)
                     : 0;
    }
    return slots;
}

/* Makes a group a project that borrows by its weight, up to its cap. The guarantee is the amount
 * that the group's non-preemptible tasks hold, because Determined serves these tasks first too. */
static bool group_open(struct det_case *det, const char *name, const struct doc *group)
{
    int64_t weight = QUOTA_WEIGHT_DEFAULT;
    (void)read_scaled(reads_get(group, "weight"), QUOTA_WEIGHT_DEFAULT, &weight);
    const struct doc *cap = det->capped ? reads_get(group, "max_slots") : NULL;
    const struct quota_amount slots = {
        .resource = "slots",
        .guaranteed = fixed_slots(det, name),
        .limit = cap == NULL ? QUOTA_UNLIMITED : read_milli(cap, 0),
        .weight = (uint32_t)weight,
    };
    const struct quota_spec quota = {.amounts = &slots,
                                     .amount_count = 1,
                                     .rules.rank = QUOTA_RANK_DEFAULT,
                                     .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                                     .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    if (query_account_named(det->cluster.core, ACCOUNT_PROJECT, name) != NULL) {
        return true;
    }
    if (!cluster_account(&det->cluster, ACCOUNT_PROJECT, name, "")) {
        return false;
    }
    cluster_quota(&det->cluster, query_account_named(det->cluster.core, ACCOUNT_PROJECT, name)->id,
                  &quota);
    return true;
}

enum outcome det_open(struct det_case *det, struct trial *trial)
{
    *det = (struct det_case){.trial = trial};
    cluster_init(&det->cluster, trial->arena);
    const struct doc *agents = reads_get(trial->test, "agents");
    uint64_t aux_max = 0;
    for (const struct doc *agent = agents == NULL ? NULL : agents->first; agent != NULL;
         agent = agent->next) {
        const uint64_t own = det_number(agent, "max_zero_slot", 0);
        aux_max = own > aux_max ? own : aux_max;
    }
    about_read(det);
    if (!pool_open(det, aux_max)) {
        return CASE_FAILED;
    }
    for (const struct doc *agent = agents == NULL ? NULL : agents->first; agent != NULL;
         agent = agent->next) {
        if (!agent_join(det, agent, aux_max)) {
            return trial_skipped(trial, "more is in use than the agents have");
        }
    }
    return CASE_PASSED;
}

void det_join_anywhere(struct det_case *det)
{
    const struct node_spec spec = {.name = DET_ANYWHERE,
                                   .slots_milli = (int64_t)ANYWHERE_SLOTS * SLOT_MILLI,
                                   .cpu_milli = (int64_t)ANYWHERE_SLOTS * SLOT_MILLI,
                                   .memory_bytes = (int64_t)ANYWHERE_SLOTS * GIB};
    struct pool_spec pool = cluster_pool(&det->cluster);
    pool.aux_tasks = ANYWHERE_SLOTS;
    cluster_pool_set(&det->cluster, &pool);
    (void)cluster_node(&det->cluster, spec);
}

void det_close(struct det_case *det)
{
    cluster_done(&det->cluster);
}

const struct doc *det_group(const struct det_case *det, const char *name)
{
    const struct doc *groups = reads_get(det->trial->test, "groups");
    for (const struct doc *group = groups == NULL ? NULL : groups->first; group != NULL;
         group = group->next) {
        if (read_is(reads_get(group, "id"), name)) {
            return group;
        }
    }
    return NULL;
}

/* Sets the nodes to avoid, where the case names agents to avoid. A task that already runs on such
 * an agent goes on there. */
static void avoid_set(const struct det_case *det, const struct doc *task, struct task_spec *spec)
{
    const struct doc *list = reads_get(task, "blocked_agents");
    if (list == NULL || list->count == 0) {
        return;
    }
    const char **names = arena_new(det->trial->arena, const char *, list->count);
    for (const struct doc *one = list->first; one != NULL; one = one->next) {
        names[spec->avoid_count] = "";
        (void)reads_text(one, &names[spec->avoid_count]);
        const bool here = read_is(reads_get(task, "allocated_on"), names[spec->avoid_count]);
        spec->avoid_count += !here;
    }
    spec->avoid = names;
}

static enum outcome det_task_stage(struct det_case *det, struct det_task *task)
{
    struct task_spec spec = cluster_task(task->name);
    const struct doc *group = det_group(det, task->group);
    const uint64_t slots = det_number(task->doc, "slots", 0);
    const char *pool = NULL;
    const char *owner = task->group[0] != '\0' ? task->group : task->name;
    if (det->by_group && owner[0] != '\0') {
        spec.project = owner;
        if (!group_open(det, owner, group)) {
            return trial_skipped(det->trial, "project '%s' is refused", owner);
        }
    }
    spec.slots_milli = (int64_t)slots * SLOT_MILLI;
    spec.priority = (uint32_t)(DET_PRIORITY_TOP - det_number(group, "priority", PRIORITY_MIDDLE));
    spec.preemptible = det_preemptible(det, task->doc);
    if (reads_text(reads_get(task->doc, "label"), &pool) && pool[0] != '\0') {
        spec.pools = &pool;
        spec.pool_count = 1;
    }
    if (read_flag(task->doc, "single_agent", false)) {
        /* A wide task is divided over nodes only if it names nothing but slots. */
        spec.cpu_milli = 0;
    }
    avoid_set(det, task->doc, &spec);
    task->task = cluster_stage(&det->cluster, spec);
    return CASE_PASSED;
}

/* Returns what the order of submission goes by. With positions in the queue the running tasks came
 * first, and moves then put the tasks in order: see positions_set(). */
static uint64_t place_in_age(const struct det_case *det, const struct doc *task)
{
    const bool moved = reads_get(det->trial->test, "queue_positions") != NULL;
    return moved ? reads_get(task, "allocated_on") == NULL : det_number(task, "submitted", 0);
}

/* Sorts tasks by age: the order of the list, except for tasks with a time of submission. */
static const struct doc **by_age(struct det_case *det, const struct doc *list)
{
    const struct doc **order = arena_new(det->trial->arena, const struct doc *, list->count);
    uint32_t count = 0;
    for (const struct doc *one = list->first; one != NULL; one = one->next) {
        uint32_t at = count++;
        const uint64_t when = place_in_age(det, one);
        for (; at > 0 && place_in_age(det, order[at - 1]) > when; at--) {
            order[at] = order[at - 1];
        }
        order[at] = one;
    }
    return order;
}

static enum outcome task_run(struct det_case *det, struct det_task *task)
{
    const char *agent = read_flag(task->doc, "allocated", false) ? DET_ANYWHERE : NULL;
    (void)read_flag(task->doc, "occupies", true); /* see about_read() */
    (void)reads_text(reads_get(task->doc, "allocated_on"), &agent);
    if (agent == NULL) {
        return CASE_PASSED;
    }
    const struct node *node = query_node_named(det->cluster.core, agent);
    node = node != NULL ? node : query_node_named(det->cluster.core, DET_ANYWHERE);
    if (node == NULL || task->task.v == 0) {
        return trial_failed(det->trial, "'%s' cannot run on '%s'", task->name, agent);
    }
    task->ran = runs_on(det, task->task, node->id);
    task->beyond = !task->ran;
    return CASE_PASSED;
}

static uint64_t position_of(const struct det_case *det, const struct det_task *task)
{
    return det_number(reads_get(det->trial->test, "queue_positions"), task->group, 0);
}

static bool stands_too_early(const struct det_case *det, const struct det_task *other,
                             const struct det_task *task)
{
    const struct task *a = query_task(det->cluster.core, other->task);
    const struct task *b = query_task(det->cluster.core, task->task);
    return a != NULL && b != NULL && a->priority == b->priority && a->rank < b->rank &&
           position_of(det, other) > position_of(det, task);
}

/* Moves tasks of one priority, as a user would, until they stand as their groups' positions say.
 * Tasks of one group stay in the order of submission. */
static enum outcome positions_set(struct det_case *det)
{
    const struct doc *positions = reads_get(det->trial->test, "queue_positions");
    for (const struct doc *one = positions == NULL ? NULL : positions->first; one != NULL;
         one = one->next) {
        if (det_group(det, one->key.p) == NULL) {
            return trial_failed(det->trial, "'queue_positions' names '%s', which is no group",
                                one->key.p);
        }
        (void)det_number(positions, one->key.p, 0);
    }
    for (uint32_t i = 0; positions != NULL && i < det->task_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const struct det_task *task = &det->tasks[i];
            const struct det_task *other = &det->tasks[j];
            struct input in = {.type = INPUT_TASK_MOVE};
            in.task.task = task->task;
            in.task.move = (struct task_move){other->task, false};
            if (stands_too_early(det, other, task) && cluster_do(&det->cluster, in) != VERDICT_OK) {
                return trial_failed(det->trial, "a move to the place of 'queue_positions' fails");
            }
        }
    }
    return CASE_PASSED;
}

enum outcome det_tasks(struct det_case *det, const struct doc *list)
{
    struct det_task *all =
        arena_new(det->trial->arena, struct det_task, det->task_count + list->count);
    for (uint32_t i = 0; i < det->task_count; i++) {
        all[i] = det->tasks[i];
    }
    det->tasks = all;
    const struct doc **order = by_age(det, list);
    enum outcome outcome = CASE_PASSED;
    for (uint32_t i = 0; i < list->count && outcome == CASE_PASSED; i++) {
        struct det_task *task = &det->tasks[det->task_count++];
        *task = (struct det_task){.name = "", .group = "", .doc = order[i]};
        (void)reads_text(reads_get(order[i], "id"), &task->name);
        (void)reads_text(reads_get(order[i], "group"), &task->group);
        outcome = det_task_stage(det, task);
        outcome = outcome == CASE_PASSED ? task_run(det, task) : outcome;
        det_queue(det);
    }
    return outcome == CASE_PASSED ? positions_set(det) : outcome;
}

/* Starts a task on the first node that takes it whole. */
static bool starts_somewhere(struct det_case *det, struct det_task *task)
{
    for (const struct node *node = query_node_next(det->cluster.core, (node_id){0});
         node != NULL && !task->ran; node = query_node_next(det->cluster.core, node->id)) {
        task->ran = cluster_runs(&det->cluster, task->task, 0, node->id, 0);
    }
    return task->ran;
}

enum outcome det_start(struct det_case *det, const struct doc *names)
{
    det_queue(det);
    for (const struct doc *name = names->first; name != NULL; name = name->next) {
        bool started = false;
        for (uint32_t i = 0; i < det->task_count && !started; i++) {
            struct det_task *task = &det->tasks[i];
            started = task->task.v != 0 && read_is(name, task->name) && starts_somewhere(det, task);
        }
        if (!started) {
            return trial_failed(det->trial, "a task of a step cannot start");
        }
    }
    return CASE_PASSED;
}

void det_queue(struct det_case *det)
{
    for (uint32_t i = 0; i < det->task_count; i++) {
        const struct det_task *task = &det->tasks[i];
        const struct task *row = query_task(det->cluster.core, task->task);
        if (row != NULL && row->state == TASK_STAGED) {
            cluster_queue(&det->cluster, task->task);
        }
    }
}
