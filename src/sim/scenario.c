/* scenario.c - see scenario.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario.h"

#include "spec/task_file.h"

void scenario_init(struct scenario *scenario)
{
    *scenario = (struct scenario){.name = "",
                                  .file = "",
                                  .seed = 42,
                                  .jobs_max = SCENARIO_JOBS_MAX,
                                  .nodes_max = NODES_MAX,
                                  .lost_after_ms = LOST_AFTER_MS_DEFAULT};
    arena_init(&scenario->arena);
}

void scenario_done(struct scenario *scenario)
{
    market_done(&scenario->market);
    vec_done(&scenario->flavors);
    vec_done(&scenario->pools);
    vec_done(&scenario->closed);
    vec_done(&scenario->deleted);
    vec_done(&scenario->nodes);
    vec_done(&scenario->accounts);
    vec_done(&scenario->quotas);
    vec_done(&scenario->jobs);
    vec_done(&scenario->actions);
    arena_done(&scenario->arena);
}

struct job_kind *scenario_kind(struct scenario *scenario)
{
    struct job_kind *kind = arena_new(&scenario->arena, struct job_kind, 1);
    task_file_spec_init(&kind->spec);
    return kind;
}

static int at_compare(int64_t a_ms, int64_t b_ms, const void *a, const void *b)
{
    if (a_ms != b_ms) {
        return a_ms < b_ms ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

/* Jobs with equal times keep their order: the pointers still point into the unsorted array. */
static int job_compare(const void *a, const void *b)
{
    const struct job *const *first = a;
    const struct job *const *second = b;
    return at_compare((*first)->at_ms, (*second)->at_ms, *first, *second);
}

static int action_compare(const void *a, const void *b)
{
    const struct scenario_action *const *first = a;
    const struct scenario_action *const *second = b;
    return at_compare((*first)->at_ms, (*second)->at_ms, *first, *second);
}

static void jobs_sort(struct scenario *scenario)
{
    const size_t count = scenario->jobs.count;
    const struct job **order = xcalloc(count + 1, sizeof *order);
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        order[i] = &scenario->jobs.at[i];
        sorted = sorted && (i == 0 || order[i - 1]->at_ms <= order[i]->at_ms);
    }
    if (!sorted) {
        qsort(order, count, sizeof *order, job_compare);
        struct job *jobs = xcalloc(count + 1, sizeof *jobs);
        for (size_t i = 0; i < count; i++) {
            jobs[i] = *order[i];
        }
        free(scenario->jobs.at);
        scenario->jobs.at = jobs;
        scenario->jobs.room = count + 1;
    }
    free(order);
}

void scenario_sort(struct scenario *scenario)
{
    jobs_sort(scenario);
    const size_t count = scenario->actions.count;
    const struct scenario_action **order = xcalloc(count + 1, sizeof *order);
    struct scenario_action *actions = xcalloc(count + 1, sizeof *actions);
    for (size_t i = 0; i < count; i++) {
        order[i] = &scenario->actions.at[i];
    }
    qsort(order, count, sizeof *order, action_compare);
    for (size_t i = 0; i < count; i++) {
        actions[i] = *order[i];
    }
    free(order);
    free(scenario->actions.at);
    scenario->actions.at = actions;
    scenario->actions.room = count + 1;
}
