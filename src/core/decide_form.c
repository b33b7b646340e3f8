/* decide_form.c - topology and groups of a submitted task, resolved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/step.h"

#include "base/must.h"
#include "core/model/form.h"
#include "core/sched/explain.h"

static bool said(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void levels_copy(struct form_group *group, const struct topology_spec *topology)
{
    must(str_copy(group->required, sizeof group->required,
                  said(topology->required) ? topology->required : ""));
    must(str_copy(group->preferred, sizeof group->preferred,
                  said(topology->preferred) ? topology->preferred : ""));
}

enum verdict form_resolve(struct step *step, const struct task_spec *spec, struct request *request,
                          const struct form **ret)
{
    const struct topology_spec *topology = &spec->topology;
    *ret = NULL;
    if (spec->group_count == 0 && !said(topology->required) && !said(topology->preferred)) {
        return VERDICT_OK;
    }
    struct form *form = form_new(step->out->arena, spec->group_count + 1);
    levels_copy(&form->groups[0], topology);
    form->groups[0].min = spec->min_instances;
    form->groups[0].count = spec->group_count > 0 ? 0 : spec->instances;
    form->groups[0].request = *request;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *from = &spec->groups[i];
        struct form_group *group = &form->groups[i + 1];
        group->parent = from->parent;
        group->count = from->instances;
        levels_copy(group, &from->topology);
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
