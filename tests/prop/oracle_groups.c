/* oracle_groups.c - minimums of groups, judged by the groups as submitted, without any of the
 * scheduler's code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "core/model/form.h"
#include "law.h"

/* A task, the number of instances of each group, and which groups meet their minimum. Entry 0 is
 * the task itself. */
struct count {
    const struct core *core;
    const struct task *task;
    const struct form *form; /* only requests, levels and numbers of instances are read */
    struct task_spec spec;
    /* Instances of the group and below that run and are not told to stop. */
    uint32_t stay[TASK_GROUPS_MAX + 1];
    /* The instances of `stay`, and those that have ended well. */
    uint32_t have[TASK_GROUPS_MAX + 1];
    bool met[TASK_GROUPS_MAX + 1];
};

bool oracle_grouped(const struct core *core, const struct task *task)
{
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    return form != NULL && form->group_count > 1;
}

static uint32_t parent_of(const struct count *count, uint32_t group)
{
    return count->spec.groups[group - 1].parent;
}

static void count_have(struct count *count, uint32_t group, uint32_t first)
{
    const struct group_spec *own = &count->spec.groups[group - 1];
    for (uint32_t i = first; i < first + own->instances; i++) {
        const struct instance *instance = query_instance(count->core, count->task->id, i);
        const bool stays =
            instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
        const bool has = stays || instance->state == INSTANCE_ENDED;
        for (uint32_t at = group;; at = parent_of(count, at)) {
            count->stay[at] += stays;
            count->have[at] += has;
            if (at == 0) {
                break;
            }
        }
    }
}

static void count_met(struct count *count, uint32_t group)
{
    uint32_t all = group == 0 ? 0 : count->spec.groups[group - 1].instances;
    uint32_t has = group == 0 ? 0 : count->have[group];
    const uint32_t said = group == 0 ? count->spec.min_groups : count->spec.groups[group - 1].min;
    if (all == 0) {
        has = 0;
        for (uint32_t i = 1; i <= count->spec.group_count; i++) {
            all += parent_of(count, i) == group;
            has += parent_of(count, i) == group && count->met[i];
        }
    }
    count->met[group] = has >= (said == 0 ? all : said);
}

static void count_all(const struct core *core, const struct task *task, struct arena *arena,
                      struct count *ret)
{
    uint32_t first = 0;
    *ret = (struct count){.core = core, .task = task};
    ret->form = shape_form(query_task_shape(core, task->shape));
    query_task_spec(core, task->id, arena, &ret->spec);
    for (uint32_t i = 1; i <= ret->spec.group_count; i++) {
        count_have(ret, i, first);
        first += ret->spec.groups[i - 1].instances;
    }
    for (uint32_t i = ret->spec.group_count + 1; i > 0; i--) {
        count_met(ret, i - 1);
    }
}

/* True when a group that has begun, or the gang, is below its minimum. */
static bool broken(const struct count *count)
{
    for (uint32_t i = 0; i <= count->spec.group_count; i++) {
        if (count->stay[i] > 0 && !count->met[i]) {
            return true;
        }
    }
    return false;
}

void oracle_groups_whole(const struct core *core, const struct task *task)
{
    struct arena arena;
    struct count count;
    arena_init(&arena);
    count_all(core, task, &arena, &count);
    law(count.met[0], "P2: a gang with groups runs with its minimum");
    arena_done(&arena);
}

bool oracle_groups_broken(const struct core *core, const struct task *task)
{
    struct arena arena;
    struct count count;
    arena_init(&arena);
    count_all(core, task, &arena, &count);
    const bool is = count.stay[0] > 0 && broken(&count);
    arena_done(&arena);
    return is;
}

/* True when an instance of a group may run on the node beside running instances, by the levels
 * that the group and its parents require. */
static bool close_enough(const struct count *count, uint32_t group, const struct node *node)
{
    for (uint32_t at = group;; at = parent_of(count, at)) {
        const struct form_group *own = &count->form->groups[at];
        bool on_level =
            own->required[0] == '\0' || oracle_together(count->core, node, node, own->required);
        for (uint32_t i = own->first;
             on_level && own->required[0] != '\0' && i < own->first + own->count; i++) {
            const struct instance *instance = query_instance(count->core, count->task->id, i);
            const bool stays =
                instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
            on_level =
                !stays || oracle_together(count->core, query_node(count->core, instance->node),
                                          node, own->required);
        }
        if (!on_level) {
            return false;
        }
        if (at == 0) {
            return true;
        }
    }
}

static bool around_met(const struct count *count, uint32_t group)
{
    while (group != 0 && count->met[group]) {
        group = parent_of(count, group);
    }
    return count->met[group];
}

void oracle_groups_idle(const struct ledger *ledger, const struct task *task)
{
    const struct core *core = ledger->core;
    struct arena arena;
    struct count count;
    arena_init(&arena);
    count_all(core, task, &arena, &count);
    for (uint32_t group = 1; group <= count.spec.group_count; group++) {
        const struct form_group *own = &count.form->groups[group];
        if (count.have[group] >= count.spec.groups[group - 1].instances ||
            !around_met(&count, group)) {
            continue;
        }
        for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
             node = query_node_next(core, node->id)) {
            law(node->pool.v != task->pool.v || oracle_fits(ledger, node, &own->request, 1) == 0 ||
                    !oracle_usable(node, core, task) ||
                    oracle_bounded_by(ledger, task, node, &own->request) ||
                    !close_enough(&count, group, node),
                "P5: no group that may grow finds room for one more");
        }
    }
    arena_done(&arena);
}

void oracle_groups_possible(const struct core *core, const struct fact *fact)
{
    const struct form *form = fact->task_submitted.form;
    struct count count = {.core = core, .form = form, .spec = *fact->task_submitted.spec};
    if (count.spec.group_count == 0) {
        return;
    }
    for (uint32_t i = count.spec.group_count + 1; i > 0; i--) {
        const uint32_t group = i - 1;
        const bool leaf = group > 0 && count.spec.groups[group - 1].instances > 0;
        count_met(&count, group);
        if (leaf) {
            count.met[group] =
                oracle_possible(core, fact->task_submitted.pool, &form->groups[group].request, 1);
        }
    }
    law(count.met[0], "P9: a gang of which too few groups can ever run is refused");
}
