/* kai_capacity.c - cases of KAI about limits and the bound of non-preemptible tasks (gates.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/gates.h"
#include "needs.h"
#include "read.h"

/* Checks one level: whether it blocks, and in which resource. If several block, Weir names all
 * of them. */
static enum outcome level(struct trial *trial, bool limit)
{
    if (!needs_met(trial, limit ? "limit{} allocated{}" : "quota{} allocated_non_preemptible{}")) {
        return CASE_FAILED;
    }
    const struct account_pool pool = read_pool(NULL);
    const struct doc *test = trial->test;
    const struct account_view account = {
        .guaranteed = read_vector(reads_get(test, "quota")),
        .limit = read_vector(reads_get(test, "limit")),
        .allocated = read_vector(reads_get(test, "allocated")),
        .fixed = read_vector(reads_get(test, "allocated_non_preemptible")),
    };
    const struct vector request = read_vector(reads_get(test, "request"));
    const uint32_t dims = limit ? gates_limit_at(&pool, &account, &request)
                                : gates_guarantee_at(&pool, &account, &request);
    const struct doc *expect = reads_get(test, "expect");
    const struct doc *resource = reads_get(expect, "resource");
    const char *word;
    (void)reads_text(resource, &word); /* empty where nothing is over */
    if ((dims != 0) != read_flag(expect, "over", false)) {
        return trial_failed(trial, "over in dimensions %#x", dims);
    }
    bool named = dims == 0;
    for (uint32_t dim = 0; dim < KAI_DIMS; dim++) {
        named |= (dims >> dim & 1u) != 0 && read_is(resource, read_dim_name(dim));
    }
    return named ? CASE_PASSED : trial_failed(trial, "over in dimensions %#x", dims);
}

static enum outcome tree(struct trial *trial, bool limit)
{
    if (!needs_met(trial, "queues[{}] job{}")) {
        return CASE_FAILED;
    }
    const struct account_pool pool = read_pool(NULL);
    const struct accounts accounts = read_accounts(trial->arena, reads_get(trial->test, "queues"));
    const struct doc *job = reads_get(trial->test, "job");
    const struct account_view *leaf = accounts_find(&accounts, reads_get(job, "queue"));
    if (leaf == NULL) {
        return trial_failed(trial, "'job.queue' is no queue of the case");
    }
    const struct vector request = read_vector(reads_get(trial->test, "request"));
    const bool preemptible = read_flag(job, "preemptible", true); /* limits bind all jobs */
    struct gate_result result = {.gate = GATE_OPEN};
    if (limit) {
        result = gates_limit(&pool, leaf, &request);
    } else if (!preemptible) {
        result = gates_guarantee(&pool, leaf, &request);
    }
    const bool schedulable = read_flag(reads_get(trial->test, "expect"), "schedulable", false);
    return (result.gate == GATE_OPEN) == schedulable
               ? CASE_PASSED
               : trial_failed(trial, "gate %d, dimensions %#x", (int)result.gate, result.dims);
}

enum outcome kai_capacity(struct trial *trial)
{
    const struct doc *check = reads_get(trial->test, "check");
    if (read_is(check, "limit")) {
        return level(trial, true);
    }
    if (read_is(check, "non_preemptible_quota")) {
        return level(trial, false);
    }
    if (read_is(check, "limit_tree")) {
        return tree(trial, true);
    }
    if (read_is(check, "non_preemptible_quota_tree")) {
        return tree(trial, false);
    }
    return trial_failed(trial, "the runner does not know 'check'");
}
