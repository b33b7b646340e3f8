/* decide_report.c - reports of agents about attempts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/input.h"
#include "core/model/instance.h"
#include "core/model/limits.h"
#include "core/model/reason.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/query.h"

static void started(struct step *step, const struct instance *instance, const struct report *report)
{
    if (instance->state != INSTANCE_STARTING) {
        /* the start was reported before, or the attempt was told to stop in the meantime */
        return;
    }
    struct fact *fact = step_fact(step, FACT_ATTEMPT_STARTED);
    fact->attempt_started.key = report->key;
    fact->attempt_started.at_ms = settle_report_ms(step, instance, report);
    fact->attempt_started.workdir_missed = report->workdir_missed;
}

/* A checkpoint of an attempt that runs. A checkpoint that comes less than CHECKPOINT_INTERVAL_MS after the
 * last recorded checkpoint is ignored. */
static void checkpoint(struct step *step, const struct instance *instance,
                       const struct report *report)
{
    must(instance_active(instance));
    const int64_t at_ms = settle_report_ms(step, instance, report);
    const bool runs = instance->state == INSTANCE_RUNNING || instance->state == INSTANCE_STOPPING;
    if (!runs || at_ms <= instance->allocated_ms || at_ms <= instance->started_ms) {
        return;
    }
    if (instance->checkpoint_ms > 0 && at_ms - instance->checkpoint_ms < CHECKPOINT_INTERVAL_MS) {
        return;
    }
    struct fact *fact = step_fact(step, FACT_ATTEMPT_CHECKPOINT);
    fact->attempt_checkpoint.key = report->key;
    fact->attempt_checkpoint.at_ms = at_ms;
}

enum verdict decide_report(struct step *step)
{
    node_id node = step->in->report.node;
    if (query_node(step->core, node) == NULL) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "")->node = node;
        return VERDICT_NOT_FOUND;
    }
    for (uint32_t i = 0; i < step->in->report.count; i++) {
        const struct report *report = &step->in->report.reports[i];
        const struct instance *instance = query_instance_live(step_state(step), report->key);
        if (instance == NULL || instance->node.v != node.v ||
            instance->incarnation != report->incarnation) {
            continue; /* the report is about an old attempt, or a repetition (P11) */
        }
        must(instance->task.v == report->key.task.v);
        must(instance->index == report->key.index);
        if (report->type == REPORT_STARTED) {
            started(step, instance, report);
        } else if (report->type == REPORT_CHECKPOINT) {
            checkpoint(step, instance, report);
        } else {
            if (report->type == REPORT_ENDED) {
                /* The report of the start was lost, or the node never sent it: the attempt has run. */
                started(step, instance, report);
            }
            settle_attempt(step, report);
        }
    }
    return VERDICT_OK;
}
