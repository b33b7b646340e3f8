/* kai_action_missing.c - what a case of a whole cycle needs that cannot be said yet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

static const struct doc *queue_named(const struct doc *test, const struct doc *name)
{
    const char *text = "";
    (void)doc_text(name, &text);
    const struct doc *queues = doc_get(test, "queues");
    for (const struct doc *queue = queues->first; queue != NULL; queue = queue->next) {
        if (read_is(doc_get(queue, "name"), text)) {
            return queue;
        }
    }
    return NULL;
}

/* Is this bound ("limit", "quota") unlimited at every level and in every resource? */
static bool unbounded(const struct doc *test, const struct doc *name, const char *bound)
{
    static const char *const resources[] = {"gpu", "cpu_milli", "memory_mb"};
    for (const struct doc *queue = queue_named(test, name); queue != NULL;
         queue = queue_named(test, doc_get(queue, "parent"))) {
        for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++) {
            const struct doc *one = doc_get(queue, resources[i]);
            if (read_milli(doc_get(one, bound), VECTOR_UNLIMITED) != VECTOR_UNLIMITED) {
                return false;
            }
        }
    }
    return true;
}

/* One queue, no limit, nothing that must stay within a quota: accounts decide nothing. */
static bool accounts_matter(const struct doc *test)
{
    const struct doc *jobs = doc_get(test, "jobs");
    const char *first = "";
    (void)doc_text(doc_get(jobs->first, "queue"), &first);
    for (const struct doc *job = jobs->first; job != NULL; job = job->next) {
        const struct doc *queue = doc_get(job, "queue");
        const bool fixed = !read_flag(job, "preemptible", true);
        if (!read_is(queue, first) || !unbounded(test, queue, "limit") ||
            (fixed && !unbounded(test, queue, "quota"))) {
            return true;
        }
    }
    return false;
}

static bool status_expected(const struct doc *list, const char *status)
{
    for (const struct doc *one = list == NULL ? NULL : list->first; one != NULL; one = one->next) {
        if (read_is(doc_get(one, "status"), status)) {
            return true;
        }
    }
    return false;
}

static bool evictions_expected(const struct doc *test)
{
    const struct doc *most = doc_get(doc_get(test, "run"), "max_per_round");
    const struct doc *expect = doc_get(test, "expect");
    const struct doc *const lists[] = {doc_get(expect, "jobs"), doc_get(expect, "tasks")};
    for (size_t i = 0; i < 2; i++) {
        if (status_expected(lists[i], "Releasing") || status_expected(lists[i], "Pipelined")) {
            return true;
        }
    }
    return read_milli(doc_get(most, "evictions"), 0) > 0 ||
           read_milli(doc_get(most, "pipelines"), 0) > 0;
}

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
    if (doc_get(job, "preemption_delay_s") != NULL) {
        return "no preemption delay yet";
    }
    if (doc_get(job, "stale_for_s") != NULL) {
        return "no stale gangs yet";
    }
    if (runs_in_part(job, &shape)) {
        return "a gang never runs in part (P2)";
    }
    return shape.min < shape.count ? "no elastic gangs yet" : NULL;
}

const char *action_missing(const struct doc *test, bool eager)
{
    const struct doc *jobs = doc_get(test, "jobs");
    for (const struct doc *job = jobs->first; job != NULL; job = job->next) {
        const char *missing = job_missing(job);
        if (missing != NULL) {
            return missing;
        }
    }
    if (eager) {
        return NULL;
    }
    if (accounts_matter(test)) {
        return "no fair share between accounts yet";
    }
    return evictions_expected(test) ? "no evictions yet" : NULL;
}
