/* det_rules.c - cases of Determined about functions that need no pass: how well an agent suits a
 * task, and the slots of a pool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/score.h"
#include "determined.h"
#include "read.h"

#include <stdlib.h>

/* Numbers of a case have so many digits that a smaller difference counts as equal. */
static const double CLOSE = 1e-9;

enum outcome det_score(struct trial *trial)
{
    const struct doc *agent = reads_get(trial->test, "agent");
    reads_ignore(agent, "id");
    reads_ignore(reads_get(trial->test, "task"), "id");
    const struct doc *score = reads_get(reads_get(trial->test, "expect"), "score");
    const int64_t slots = (int64_t)det_number(agent, "slots", 0) * SLOT_MILLI;
    const struct node node = {
        .id = {1},
        .slots_milli = slots,
        .slots_free = slots - (int64_t)det_number(agent, "slots_used", 0) * SLOT_MILLI,
        .aux_max = (uint32_t)det_number(agent, "max_zero_slot", 0),
        .aux_used = (uint32_t)det_number(agent, "zero_slot_used", 0),
    };
    const struct request request = {
        .slots_milli =
            (int64_t)det_number(reads_get(trial->test, "task"), "slots", 0) * SLOT_MILLI};
    const int fitting = reads_word(trial, trial->test, "fitting_policy", "best|worst");
    if (fitting < 0 || score == NULL || score->kind != DOC_NUMBER) {
        return fitting < 0 ? CASE_FAILED : trial_failed(trial, "'expect.score' is no number");
    }
    reads_note(score);
    struct space place;
    space_now(&node, &place);
    const struct score got =
        score_of(fitting == 1 ? PLACEMENT_SPREAD : PLACEMENT_PACK, &place, &request);
    const double value = (double)got.over / (double)got.under;
    const double expected = strtod(score->text.p, NULL);
    return value - expected < CLOSE && expected - value < CLOSE
               ? CASE_PASSED
               : trial_failed(trial, "%lld of %lld", (long long)got.over, (long long)got.under);
}

static bool is_gpu(const struct doc *type)
{
    return read_is(type, "cuda") || read_is(type, "rocm");
}

enum outcome det_summary(struct trial *trial)
{
    struct cluster cluster;
    cluster_init(&cluster, trial->arena);
    const struct doc *agents = reads_get(trial->test, "agents");
    for (const struct doc *agent = agents->first; agent != NULL; agent = agent->next) {
        const uint64_t slots = det_number(agent, "slots", 0);
        struct node_spec spec = {.slots_milli = (int64_t)slots * SLOT_MILLI};
        (void)reads_text(reads_get(agent, "id"), &spec.name);
        reads_ignore(agent, "max_zero_slot"); /* the type of the slots does not depend on it */
        if (reads_word(trial, agent, "slot_type", "cuda|rocm|cpu") < 0) {
            cluster_done(&cluster);
            return CASE_FAILED;
        }
        spec.device_count = is_gpu(reads_get(agent, "slot_type")) ? (uint32_t)slots : 0;
        (void)cluster_node(&cluster, spec);
    }
    struct pool_figures figures;
    query_pool_figures(cluster.core, query_pool_named(cluster.core, POOL_DEFAULT_NAME)->id,
                       &figures);
    cluster_done(&cluster);
    const struct doc *type = reads_get(reads_get(trial->test, "expect"), "slot_type");
    const bool right = figures.slot_type == SLOTS_GPU   ? is_gpu(type)
                       : figures.slot_type == SLOTS_CPU ? read_is(type, "cpu")
                                                        : type != NULL && type->kind == DOC_NULL;
    return right ? CASE_PASSED : trial_failed(trial, "type %u", figures.slot_type);
}
