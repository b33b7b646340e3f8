/* decide_health.c - what follows from the result of a health check (ADR 0082). The server checks
 * and counts failures. The core decides: it records the health of the instance for readers and for
 * the proxy, and ends an instance that the server gives up. An ended instance starts again by the
 * task's rule for restarts. SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/input.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/query.h"

enum verdict decide_health(struct step *step)
{
    const struct attempt_key key = step->in->health.key;
    const enum service_health now = step->in->health.now;
    const struct instance *instance = query_instance_live(step->core, key);
    if (instance == NULL || instance->state != INSTANCE_RUNNING) {
        return VERDICT_OK; /* the attempt has ended or was told to end since the check began */
    }
    const struct task *task = query_task(step->core, key.task);
    must(task != NULL);
    if (!task->checked) {
        return VERDICT_OK;
    }
    if (instance->health != now) {
        struct fact *fact = step_fact(step, FACT_ATTEMPT_HEALTH);
        fact->attempt_health.key = key;
        fact->attempt_health.now = now;
        fact->attempt_health.words = step->in->health.words;
    }
    if (now == SERVICE_UNHEALTHY && step->in->health.give_up) {
        settle_stop_one(step, task, instance, END_UNHEALTHY);
    }
    return VERDICT_OK;
}
