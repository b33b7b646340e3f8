/* decide_form.c - topology and groups of a submitted task, resolved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/step.h"

#include "base/must.h"
#include "core/model/form.h"
#include "core/sched/explain.h"

enum verdict form_resolve(struct step *step, const struct task_spec *spec, struct request *request,
                          const struct form **ret)
{
    if (spec->group_count == 0) {
        *ret = form_of_topology(spec, request, step->out->arena);
        return VERDICT_OK;
    }
    *ret = NULL;
    struct form *form = form_new(step->out->arena, spec->group_count + 1);
    form_levels(&form->groups[0], &spec->topology);
    form->groups[0].min = spec->min_instances;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *from = &spec->groups[i];
        struct form_group *group = &form->groups[i + 1];
        group->parent = from->parent;
        group->count = from->instances;
        form_levels(group, &from->topology);
        enum verdict verdict = VERDICT_OK;
        if (from->instances > 0 && from->asks != NULL) {
            struct task_spec asks = *from->asks;
            asks.avoid = spec->avoid;
            asks.avoid_count = spec->avoid_count;
            asks.node_labels = spec->node_labels;
            asks.node_label_count = spec->node_label_count;
            verdict = request_resolve(step, &asks, &group->request);
        } else if (from->instances > 0) {
            group->request = *request;
        }
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

enum verdict form_possible(struct step *step, const struct pool *pool, const struct form *form)
{
    struct reason reason = {.smallest = -1};
    if (explain_possible_form(step->core, pool, form, &reason)) {
        return VERDICT_OK;
    }
    *step_refuse(step, reason.code, "") = reason;
    return VERDICT_REFUSED;
}
