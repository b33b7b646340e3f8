/* sound.c - see sound.h. Only the first moment of a scenario is played. The first moment is
 * short, and everything that was read reaches the core in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sound.h"

#include "base/amount.h"
#include "base/must.h"
#include "sim/engine.h"
#include "sim/models.h"
#include "sim/scenario_check.h"

enum { PLAYED_INSTANCES_MAX = 32, PLAYED_MS = 1 };

void sound_init(struct scenario *scenario)
{
    scenario_init(scenario);
    scenario->jobs_max = SOUND_JOBS_MAX;
    scenario->nodes_max = SOUND_NODES_MAX;
}

static void kind_check(const struct job_kind *kind)
{
    const struct task_spec *spec = &kind->spec;
    must(spec->name != NULL);
    must(spec->project != NULL);
    must(spec->user != NULL);
    must(spec->argv_count >= 1);
    must(spec->instances >= 1);
    must(spec->instances <= TASK_INSTANCES_MAX);
    must(spec->slots_milli >= ASK_NOTHING);
    must(spec->slots_milli <= AMOUNT_MILLI_MAX);
    must(spec->cpu_milli >= ASK_NOTHING);
    must(spec->cpu_milli <= AMOUNT_MILLI_MAX);
    must(spec->memory_bytes >= ASK_NOTHING);
    must(spec->memory_bytes <= AMOUNT_BYTES_MAX);
    must(spec->time_limit_ms >= 0);
    must(spec->time_limit_ms <= TIME_MS_MAX);
    must(spec->grace_ms >= 0);
    must(spec->grace_ms <= TIME_MS_MAX);
    must(kind->after_count <= TASK_DEPENDS_MAX);
    for (uint32_t i = 0; i < kind->after_count; i++) {
        must(kind->after[i] != NULL);
    }
}

static void jobs_check(const struct scenario *scenario)
{
    must(scenario->jobs.count <= scenario->jobs_max);
    for (size_t i = 0; i < scenario->jobs.count; i++) {
        const struct job *job = &scenario->jobs.at[i];
        must(job->name != NULL);
        must(job->at_ms >= 0);
        must(job->at_ms <= TIME_MS_MAX);
        must(job->runs_ms >= 0);
        must(job->runs_ms <= TIME_MS_MAX || job->runs_ms == RUNS_FOR_EVER);
        must(i == 0 || job->at_ms >= scenario->jobs.at[i - 1].at_ms);
        kind_check(job->kind);
    }
}

static void nodes_check(const struct scenario *scenario)
{
    must(scenario->nodes.count <= scenario->nodes_max);
    for (size_t i = 0; i < scenario->nodes.count; i++) {
        const struct node_spec *spec = &scenario->nodes.at[i].spec;
        must(spec->name != NULL);
        must(spec->pool != NULL);
        must(spec->slots_milli >= 0);
        must(spec->slots_milli <= (int64_t)NODE_SLOTS_MAX * 1000);
        must(spec->device_count <= NODE_DEVICES_MAX);
        must(spec->resource_count <= NODE_RESOURCES_MAX);
        must(spec->label_count <= NODE_LABELS_MAX);
        for (uint32_t label = 0; label < spec->label_count; label++) {
            must(spec->labels[label].value != NULL);
        }
    }
}

static bool is_small(const struct scenario *scenario)
{
    uint64_t instances = 0;
    for (size_t i = 0; i < scenario->jobs.count; i++) {
        instances += scenario->jobs.at[i].kind->spec.instances;
    }
    return instances <= PLAYED_INSTANCES_MAX;
}

void sound_check(struct scenario *scenario)
{
    struct error e = {0};
    if (models_apply(scenario, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return;
    }
    scenario_sort(scenario);
    if (scenario_check(scenario, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return;
    }
    jobs_check(scenario);
    nodes_check(scenario);
    if (!is_small(scenario)) {
        return;
    }
    const struct engine_options options = {.check = true};
    scenario->until_ms = PLAYED_MS;
    struct engine *engine = engine_new(scenario, &options);
    if (engine_run(engine, &e) != ERR_OK) {
        must(e.text[0] != '\0');
    }
    engine_free(engine);
}
