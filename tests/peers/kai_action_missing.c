/* kai_action_missing.c - what a case of a whole cycle needs and Weir cannot express yet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

static const char *job_missing(const struct doc *job)
{
    struct job_shape shape;
    const char *missing = action_shape(job, &shape);
    if (missing != NULL) {
        return missing;
    }
    return NULL;
}

const char *action_missing(const struct doc *test)
{
    const struct doc *jobs = reads_get(test, "jobs");
    for (const struct doc *job = jobs->first; job != NULL; job = job->next) {
        const char *missing = job_missing(job);
        if (missing != NULL) {
            return missing;
        }
    }
    return NULL;
}
