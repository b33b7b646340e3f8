/* det_queue.c - order of the queue, and which pools a question about queues means.
 * SPDX-License-Identifier: Apache-2.0 */
#include "determined.h"
#include "read.h"

/* Two tasks, submitted in order of job and request time: which one does the queue give first? */
enum outcome det_compare(struct trial *trial)
{
    const struct doc *const sides[2] = {doc_get(trial->test, "a"), doc_get(trial->test, "b")};
    const uint64_t submitted[2] = {det_number(sides[0], "submitted", 0),
                                   det_number(sides[1], "submitted", 0)};
    const uint64_t requested[2] = {det_number(sides[0], "requested", 0),
                                   det_number(sides[1], "requested", 0)};
    const bool swapped =
        submitted[0] != submitted[1] ? submitted[0] > submitted[1] : requested[0] > requested[1];
    struct cluster cluster;
    cluster_init(&cluster, trial->arena);
    task_id tasks[2];
    for (unsigned i = 0; i < 2; i++) {
        tasks[i ^ (unsigned)swapped] = cluster_stage(&cluster, cluster_task("t"));
    }
    cluster_queue(&cluster, tasks[1]);
    cluster_queue(&cluster, tasks[0]);
    const pool_id pool = core_pool_named(cluster.core, POOL_DEFAULT_NAME)->id;
    const int order = core_queue_next(cluster.core, pool, (task_id){0}).v == tasks[0].v ? -1 : 1;
    cluster_done(&cluster);
    int64_t expected = 0;
    (void)doc_i64(doc_get(doc_get(trial->test, "expect"), "order"), &expected);
    return expected == order ? CASE_PASSED : trial_failed(trial, "order %d", order);
}

/* How many of the case's pools a list of names picks; no names: all. */
enum outcome det_stats_filter(struct trial *trial)
{
    const struct doc *pools = doc_get(trial->test, "pools");
    const struct doc *filter = doc_get(trial->test, "filter");
    struct cluster cluster;
    cluster_init(&cluster, trial->arena);
    for (const struct doc *pool = pools->first; pool != NULL; pool = pool->next) {
        struct pool_spec spec = cluster_pool(&cluster);
        (void)doc_text(pool, &spec.name);
        cluster_pool_set(&cluster, &spec);
    }
    uint64_t results = 0;
    const struct doc *asked = filter->count == 0 ? pools : filter;
    for (const struct doc *pool = asked->first; pool != NULL; pool = pool->next) {
        const char *name = "";
        (void)doc_text(pool, &name);
        results += core_pool_named(cluster.core, name) != NULL;
    }
    cluster_done(&cluster);
    return det_number(doc_get(trial->test, "expect"), "results", 0) == results
               ? CASE_PASSED
               : trial_failed(trial, "%llu pools", (unsigned long long)results);
}
