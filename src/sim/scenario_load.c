/* scenario_load.c - see scenario_load.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_load.h"

#include "sim/sim_file.h"
#include "sim/models.h"
#include "sim/patience.h"
#include "sim/scenario_check.h"
#include "sim/scenario_file.h"
#include "sim/state_file.h"
#include "sim/trace.h"

/* Returns the file name of a path: the name of a run that has no other name. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

enum { PLAIN_CPU_MILLI = 64000 };
#define PLAIN_MEMORY ((int64_t)512 << 30)

/* Makes nodes from "64x8": 64 nodes with 8 GPUs each, for a trace without a scenario file. */
static must_use enum err nodes_plain(const char *text, struct scenario *scenario, struct error *e)
{
    struct str gpus_text;
    const struct str count_text = str_cut(str_of(text), 'x', &gpus_text);
    uint64_t count;
    uint64_t gpus;
    if (gpus_text.p == NULL || !str_to_u64(count_text, &count) || !str_to_u64(gpus_text, &gpus) ||
        count < 1 || count > NODES_MAX || gpus < 1 || gpus > NODE_DEVICES_MAX) {
        return fail(e, ERR_USAGE, "--nodes: NODESxGPUS like 64x8 is wanted, not '%s'", text);
    }
    for (uint64_t i = 1; i <= count; i++) {
        struct node_spec spec = {
            .name = arena_fmt(&scenario->arena, "n%llu", (unsigned long long)i),
            .pool = "",
            .slots_milli = (int64_t)gpus * 1000,
            .device_count = (uint32_t)gpus,
            .cpu_milli = PLAIN_CPU_MILLI,
            .memory_bytes = PLAIN_MEMORY,
            .boot_id = "",
            .address = "",
            .version = "",
        };
        vec_push(&scenario->nodes, ((struct cluster_node){.spec = spec}));
    }
    return ERR_OK;
}

static must_use enum err trace_load(const struct sim_options *options, struct scenario *scenario,
                                    struct error *e)
{
    const struct trace_options how = {
        .file = options->trace,
        .format = options->format,
        .columns = options->columns,
        .arrivals = options->arrivals,
        .skip_bad = options->skip_bad,
    };
    struct str text;
    if (scenario->nodes.count == 0) {
        return fail(e, ERR_USAGE, "a trace needs nodes: a scenario file, or --nodes 64x8");
    }
    enum err r = sim_file_read(options->trace, &scenario->arena, &text, e);
    if (scenario->name[0] == '\0') {
        scenario->name = base_name(options->trace);
    }
    return r == ERR_OK ? trace_read(&how, text, scenario, e) : r;
}

enum err scenario_load(const struct sim_options *options, const char *file, const uint64_t *seed,
                       struct scenario *scenario, struct error *e)
{
    enum err r = ERR_OK;
    if (seed != NULL) {
        scenario->seed = *seed;
    }
    if (file != NULL) {
        struct str text;
        scenario->file = arena_str(&scenario->arena, file);
        r = sim_file_read(file, &scenario->arena, &text, e);
        r = r == ERR_OK ? scenario_file_read(text, file, seed, scenario, e) : r;
        if (r != ERR_OK && scenario->report != NULL) {
            (void)fputs(scenario->report, stderr);
            (void)fail(e, r, "%s cannot be used; see above", file);
        }
    }
    if (r == ERR_OK && options->state != NULL) {
        struct str text;
        r = sim_file_read(options->state, &scenario->arena, &text, e);
        if (scenario->name[0] == '\0') {
            scenario->name = base_name(options->state);
        }
        r = r == ERR_OK ? state_file_read(text, options->state, options->runs_ms, scenario, e) : r;
    }
    if (r == ERR_OK && options->nodes != NULL) {
        r = nodes_plain(options->nodes, scenario, e);
    }
    if (r == ERR_OK && options->trace != NULL) {
        r = trace_load(options, scenario, e);
    }
    if (r == ERR_OK && options->until_ms > 0) {
        scenario->until_ms = options->until_ms;
    }
    if (r == ERR_OK && options->patience != NULL) {
        r = patience_set(options->patience, scenario, e);
    }
    r = r == ERR_OK ? models_apply(scenario, e) : r;
    if (r == ERR_OK) {
        scenario_sort(scenario);
        r = scenario_check(scenario, e);
    }
    return r;
}
