/* decide_form.c - resolves the topology and the groups of a submitted task into a form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "base/str.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/form.h"
#include "core/model/label.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/verdict.h"
#include "core/sched/explain/explain.h"

#include <string.h>

/* The request of each instance of a group: the amounts of the group, with the labels of task and group and
 * the task's nodes to avoid. `own` is the request of the task. */
static enum verdict group_resolve(struct step *step, const struct task_spec *spec,
                                  const struct group_spec *group, const struct request *own,
                                  struct request *ret)
{
    must(group->instances > 0);
    if (group->asks == NULL && group->node_label_count == 0) {
        *ret = *own;
        return VERDICT_OK;
    }
    const uint32_t label_count = spec->node_label_count + group->node_label_count;
    must(label_count <= TASK_LABELS_MAX);
    struct label *labels = arena_new(step->out->arena, struct label, label_count);
    for (uint32_t i = 0; i < label_count; i++) {
        labels[i] = i < spec->node_label_count ? spec->node_labels[i]
                                               : group->node_labels[i - spec->node_label_count];
    }
    struct task_spec asks = group->asks != NULL ? *group->asks : *spec;
    asks.avoid = spec->avoid;
    asks.avoid_count = spec->avoid_count;
    asks.node_labels = labels;
    asks.node_label_count = label_count;
    struct request task = *own;
    const uint32_t needs = label_marks_own_drop(&task, LABEL_OWN_ALL);
    const enum verdict verdict = decide_submit_request(step, &asks, ret);
    return verdict == VERDICT_OK && !label_marks_own_add(ret, needs)
               ? step_refuse_limit(step, "node_labels", TASK_LABELS_MAX - LABEL_OWN_COUNT)
               : verdict;
}

enum verdict decide_form_resolve(struct step *step, const struct task_spec *spec,
                                 struct request *request, const struct form **ret)
{
    if (spec->group_count == 0) {
        *ret = form_of_topology(spec, request, step->out->arena);
        return VERDICT_OK;
    }
    *ret = NULL;
    struct form *form = form_new(step->out->arena, spec->group_count + 1);
    form_levels(&form->groups[0], &spec->topology);
    form->groups[0].min = spec->min_groups;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *from = &spec->groups[i];
        struct form_group *group = &form->groups[i + 1];
        group->parent = from->parent;
        group->count = from->instances;
        group->min = from->min;
        form_levels(group, &from->topology);
        const enum verdict verdict = from->instances > 0
                                         ? group_resolve(step, spec, from, request, &group->request)
                                         : VERDICT_OK;
        if (verdict != VERDICT_OK) {
            return verdict;
        }
    }
    must(form_link(form));
    if (form_grouped(form)) {
        memset(&form->groups[0].request, 0, sizeof form->groups[0].request);
    }
    *request = form->groups[form_leaf_next(form, 0)].request;
    *ret = form;
    return VERDICT_OK;
}

enum verdict decide_form_possible(struct step *step, const struct pool *pool,
                                  const struct form *form, const struct task_spec *spec)
{
    struct reason reason = {.smallest = -1};
    uint32_t group;
    if (explain_form_possible(step->core, pool, form, &reason, &group)) {
        return VERDICT_OK;
    }
    if (spec != NULL && group > 0) {
        must(str_copy(reason.group, sizeof reason.group, spec->groups[group - 1].name));
    }
    *step_refuse(step, reason.code, "") = reason;
    return VERDICT_REFUSED;
}
