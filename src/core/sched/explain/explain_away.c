/* explain_away.c - nodes that take no work and would give a waiting task its places: draining, silent, lost, out of service.
 *
 * A draining node is named before others: a command brings it back. SPDX-License-Identifier: Apache-2.0 */
#include "core/model/fit.h"
#include "core/sched/explain/explain_internal.h"
#include "core/sched/explain/explain_time.h"

void explain_away_look(struct explain_look *look, const struct node *node)
{
    struct space now;
    must(!fit_usable(node));
    space_now(node, &now);
    const uint32_t fits = fit_count(&now, &look->shape->request, look->count);
    const bool resumes = node->draining && node->state == NODE_UP;
    if (resumes && fits > look->resume_fits) {
        look->resume_fits = fits;
        look->ret->resume = node->id;
    } else if (!resumes && fits > look->away_fits) {
        look->away_fits = fits;
        look->away = node->id;
    }
}

void explain_away_choose(struct explain_look *look)
{
    struct explanation *ret = look->ret;
    if (look->have + look->resume_fits < look->count) {
        ret->resume = (node_id){0};
    }
    if (look->have + look->away_fits < look->count) {
        look->away = (node_id){0};
    }
    if (explain_time_for_room(ret->reason.code) && look->shape->form == NULL) {
        ret->reason.away = ret->resume.v != 0 ? ret->resume : look->away;
    }
}
