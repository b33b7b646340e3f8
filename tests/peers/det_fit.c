/* det_fit.c - cases of Determined about the placement of one task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "determined.h"
#include "read.h"

/* True when two agents of the case differ by name only. Then either is a right answer, because
 * Determined decides by a hash. */
static bool agents_equal(const struct doc *agents, const struct doc *a, const char *b)
{
    static const char *const fields[] = {"slots", "slots_used", "max_zero_slot", "zero_slot_used"};
    const struct doc *one = NULL;
    const struct doc *other = NULL;
    for (const struct doc *agent = agents->first; agent != NULL; agent = agent->next) {
        const char *name = "";
        (void)reads_text(reads_get(agent, "id"), &name);
        one = read_is(a, name) ? agent : one;
        other = read_is(reads_get(agent, "id"), b) ? agent : other;
    }
    bool equal = one != NULL && other != NULL;
    for (size_t i = 0; equal && i < sizeof fields / sizeof fields[0]; i++) {
        equal = det_number(one, fields[i], 0) == det_number(other, fields[i], 0);
    }
    return equal;
}

static bool agent_listed(const struct doc *agents, const char *name)
{
    for (const struct doc *agent = agents->first; agent != NULL; agent = agent->next) {
        if (read_is(agent, name)) {
            return true;
        }
    }
    return false;
}

/* Counts the nodes on which the task holds something. If the case names agents, each node must
 * be one of them. */
static uint32_t nodes_of(const struct det_case *det, task_id task, const struct doc *agents,
                         bool *ret_expected)
{
    uint32_t nodes = 0;
    *ret_expected = true;
    for (const struct node *node = query_node_next(det->cluster.core, (node_id){0}); node != NULL;
         node = query_node_next(det->cluster.core, node->id)) {
        bool here = false;
        struct attempt_key cursor = {0};
        const struct instance *instance;
        while ((instance = query_node_instance_next(det->cluster.core, node->id, &cursor)) !=
               NULL) {
            here |= instance->task.v == task.v;
        }
        nodes += here;
        *ret_expected &= !here || agents == NULL ||
                         agent_listed(agents, query_node_name(det->cluster.core, node->id));
    }
    return nodes;
}

static enum outcome compare(struct det_case *det)
{
    struct trial *trial = det->trial;
    const struct doc *expect = reads_get(trial->test, "expect");
    const task_id task = det->tasks[0].task;
    const struct doc *agents = reads_get(expect, "agents");
    const struct doc *first = reads_get(expect, "first_agent");
    bool expected;
    const uint32_t nodes = task.v == 0 ? 0 : nodes_of(det, task, agents, &expected);
    uint64_t count = agents != NULL ? agents->count : nodes;
    (void)reads_u64(reads_get(expect, "agent_count"), &count);
    if (nodes != count || (nodes > 0 && !expected)) {
        return trial_failed(trial, "placed on %u nodes", nodes);
    }
    if (first == NULL) {
        return CASE_PASSED;
    }
    const char *got =
        nodes == 0
            ? "nowhere"
            : query_node_name(det->cluster.core, query_instance(det->cluster.core, task, 0)->node);
    return read_is(first, got) || agents_equal(reads_get(trial->test, "agents"), first, got)
               ? CASE_PASSED
               : trial_failed(trial, "placed on %s", got);
}

static enum outcome placed(struct det_case *det)
{
    struct doc *list = arena_new(det->trial->arena, struct doc, 1);
    list->kind = DOC_LIST;
    list->first = arena_dup(det->trial->arena, reads_get(det->trial->test, "task"), sizeof *list);
    list->first->next = NULL;
    list->count = 1;
    const enum outcome ready = det_tasks(det, list);
    if (ready != CASE_PASSED) {
        return ready;
    }
    det_queue(det);
    cluster_pass(&det->cluster);
    return compare(det);
}

enum outcome det_fit(struct trial *trial)
{
    struct det_case det;
    enum outcome outcome = det_open(&det, trial);
    if (outcome == CASE_PASSED) {
        outcome = placed(&det);
    }
    det_close(&det);
    return outcome;
}
