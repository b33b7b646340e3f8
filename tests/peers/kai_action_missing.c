/* kai_action_missing.c - what a case of a whole cycle needs that cannot be said yet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

/* Some pods run, others wait, and they belong to one gang. */
static bool runs_in_part(const struct doc *job, const struct job_shape *shape)
{
    uint32_t waiting = 0;
    const struct doc *pods = doc_get(job, "tasks");
    for (const struct doc *pod = pods->first; pod != NULL; pod = pod->next) {
        waiting += read_is(doc_get(pod, "state"), "Pending");
    }
    return shape->min == shape->count && waiting > 0 && waiting < shape->count;
}

static const char *job_missing(const struct doc *job)
{
    struct job_shape shape;
    const char *missing = action_shape(job, &shape);
    if (missing != NULL) {
        return missing;
    }
    if (doc_get(job, "stale_for_s") != NULL) {
        return "no stale gangs yet";
    }
    if (shape.gpu_memory_bytes > 0) {
        return "GPU memory is no share of a device yet";
    }
    if (runs_in_part(job, &shape)) {
        return "a gang never runs in part (P2)";
    }
    return NULL;
}

const char *action_missing(const struct doc *test)
{
    const struct doc *jobs = doc_get(test, "jobs");
    for (const struct doc *job = jobs->first; job != NULL; job = job->next) {
        const char *missing = job_missing(job);
        if (missing != NULL) {
            return missing;
        }
    }
    return NULL;
}
