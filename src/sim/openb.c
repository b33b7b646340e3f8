/* openb.c - see openb.h. The core places: each task is submitted, one pass runs, and a task that
 * still waits is killed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/openb.h"

#include "base/amount.h"
#include "base/json_out.h"
#include "sim/csv.h"
#include "sim/rng.h"
#include "sim/sim_file.h"
#include "sim/models.h"
#include "sim/play.h"
#include "sim/progress.h"
#include "sim/sim_text.h"
#include "sim/trace.h"
#include "sim/trace_value.h"
#include "spec/pool_spec.h"

#include <inttypes.h>

enum { PASS_WORK_MAX = 20000, START_MS = 1000 };

const int openb_points[OPENB_POINTS] = {90, 95, 100, 110, 120, 130};

/* ---- reading the lists ---- */

static must_use enum err node_read(const struct csv *csv, const int *columns,
                                   struct scenario *scenario, struct error *e)
{
    int64_t amounts[3]; /* cpu_milli, memory_mib, gpu, each in thousandths */
    for (int i = 0; i < 3; i++) {
        const struct str text = str_trim(csv->fields[columns[i + 1]]);
        if (!trace_value_milli(text, &amounts[i])) {
            return csv_fail(csv, columns[i + 1], e, "a number is wanted, not '%.*s'", (int)text.len,
                            text.p);
        }
    }
    if (amounts[2] == 0) {
        return ERR_OK; /* the experiment is about nodes with GPUs */
    }
    struct arena *arena = &scenario->arena;
    const struct str name = str_trim(csv->fields[columns[0]]);
    const struct str model = str_trim(csv->fields[columns[4]]);
    struct label *label = arena_new(arena, struct label, 1);
    *label = (struct label){MODEL_LABEL, arena_strn(arena, model.p, model.len)};
    struct node_spec spec = {
        .name = arena_strn(arena, name.p, name.len),
        .pool = "",
        .labels = label,
        .label_count = 1,
        .cpu_milli = amounts[0] / 1000,
        .memory_bytes = amounts[1] / 1000 << 20,
        .slots_milli = amounts[2],
        .device_count = (uint32_t)(amounts[2] / 1000),
        .boot_id = "",
        .address = "",
        .version = "",
    };
    vec_push(&scenario->nodes, ((struct cluster_node){.spec = spec}));
    return ERR_OK;
}

static must_use enum err nodes_read(struct str text, const char *file, struct scenario *scenario,
                                    struct error *e)
{
    static const char *const names[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
    enum { COLUMNS = sizeof names / sizeof names[0] };
    int columns[COLUMNS];
    struct csv csv;
    csv_init(&csv, file, text, ',', &scenario->arena);
    if (!csv_next(&csv)) {
        return fail(e, ERR_INVALID, "%s: the file is empty", file);
    }
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = csv_column(&csv, names[i]);
        if (columns[i] < 0) {
            return csv_fail(&csv, -1, e, "there is no column '%s'", names[i]);
        }
    }
    const uint32_t wanted = csv.count;
    enum err r = ERR_OK;
    while (r == ERR_OK && csv_next(&csv)) {
        if (csv.fault != NULL) {
            return csv_fail(&csv, (int)csv.fault_field, e, "%s", csv.fault);
        }
        if (csv.count < wanted) {
            return csv_fail(&csv, CSV_END, e,
                            "the row ends here, with %u of the %u columns that the header names",
                            csv.count, wanted);
        }
        r = node_read(&csv, columns, scenario, e);
    }
    return r;
}

static int by_name(const void *a, const void *b)
{
    const struct job *first = a;
    const struct job *second = b;
    return strcmp(first->name, second->name);
}

enum err openb_read(struct str nodes, const char *nodes_file, struct str tasks,
                    const char *tasks_file, struct scenario *scenario, struct error *e)
{
    /* Variants of the list leave the times out; times do not matter here. */
    const struct trace_options how = {
        .file = tasks_file,
        .format = "openb",
        .columns = "submit=cpu_milli,duration=cpu_milli",
    };
    enum err r = nodes_read(nodes, nodes_file, scenario, e);
    r = r == ERR_OK ? trace_read(&how, tasks, scenario, e) : r;
    if (r == ERR_OK && (scenario->jobs.count == 0 || scenario->nodes.count == 0)) {
        r = fail(e, ERR_INVALID, "%s has no tasks, or %s no nodes", tasks_file, nodes_file);
    }
    if (r == ERR_OK) {
        qsort(scenario->jobs.at, scenario->jobs.count, sizeof *scenario->jobs.at, by_name);
        r = models_apply(scenario, e);
    }
    return r;
}

int64_t openb_capacity_milli(const struct scenario *scenario)
{
    int64_t sum = 0;
    for (size_t i = 0; i < scenario->nodes.count; i++) {
        sum += scenario->nodes.at[i].spec.slots_milli;
    }
    return sum;
}

/* ---- the order of arrival ---- */

static int64_t asked_milli(const struct scenario *scenario, uint32_t job)
{
    const struct task_spec *spec = &scenario->jobs.at[job].kind->spec;
    return spec->slots_milli * spec->instances;
}

/* Draws plain remainders of SplitMix64 from the seed itself, so that other programs can draw the
 * same orders. */
static size_t draw(struct rng *rng, size_t count)
{
    return (size_t)(rng_next(rng) % count);
}

size_t openb_order(const struct scenario *scenario, uint64_t seed, int64_t ratio_milli,
                   uint32_t **ret)
{
    VEC(uint32_t) order = {0};
    struct rng rng = {seed};
    const int64_t wanted = openb_capacity_milli(scenario) / 1000 * ratio_milli;
    int64_t asked = 0;
    for (uint32_t i = 0; i < scenario->jobs.count; i++) {
        vec_push(&order, i);
        asked += asked_milli(scenario, i);
    }
    for (size_t i = order.count; i > 1; i--) {
        const size_t other = draw(&rng, i);
        const uint32_t moved = order.at[i - 1];
        order.at[i - 1] = order.at[other];
        order.at[other] = moved;
    }
    while (asked > wanted) {
        const size_t out = draw(&rng, order.count);
        asked -= asked_milli(scenario, order.at[out]);
        memmove(&order.at[out], &order.at[out + 1], (--order.count - out) * sizeof *order.at);
    }
    for (;;) {
        const uint32_t more = (uint32_t)draw(&rng, scenario->jobs.count);
        if (asked + asked_milli(scenario, more) > wanted) {
            break;
        }
        asked += asked_milli(scenario, more);
        vec_push(&order, more);
    }
    *ret = order.at;
    return order.count;
}

/* ---- placing ---- */

struct placing {
    struct core *core;
    struct arena arena;
    struct fragments fragments;
    int64_t capacity_milli;
    int64_t used_milli;
};

static enum verdict step(struct placing *placing, struct input *in, struct facts *facts)
{
    struct effects effects = {0};
    in->now_ms = START_MS;
    in->actor = "sim";
    in->cause = "";
    arena_clear(&placing->arena);
    fact_list_init(facts, &placing->arena);
    const enum verdict verdict = core_decide(placing->core, in, facts);
    for (size_t i = 0; verdict == VERDICT_OK && i < facts->count; i++) {
        core_apply(placing->core, &facts->at[i]);
        core_react(placing->core, &facts->at[i], &effects);
        if (facts->at[i].type == FACT_ALLOCATED) {
            placing->used_milli += facts->at[i].allocated.slots_milli;
        }
    }
    effect_done(&effects);
    return verdict;
}

/* Sets the pool as the command line asks. Preemption and consolidation are off, so that a placed
 * task stays. */
static must_use enum err pool_set(struct placing *placing, const char *placement, struct error *e)
{
    struct pool_spec spec;
    struct facts facts;
    unsigned found = 0;
    pool_spec_init(&spec, POOL_DEFAULT_NAME);
    spec.preemption_off = true;
    spec.consolidation_max = 0;
    spec.patience_ms = AMOUNT_MS_MAX; /* nothing ends here, so no place is worth keeping */
    if (placement != NULL) {
        while (found < POOL_PLACEMENT_COUNT &&
               strcmp(placement, names_pool_placement((enum pool_placement)found)) != 0) {
            found++;
        }
        if (found == POOL_PLACEMENT_COUNT) {
            return fail(e, ERR_USAGE, "--placement is tight, pack or spread, not '%s'", placement);
        }
        spec.placement = (enum pool_placement)found;
    }
    struct input edit = {
        .type = INPUT_POOL_EDIT,
        .pool = {.pool = query_pool_named(placing->core, spec.name)->id, .spec = &spec}};
    must(step(placing, &edit, &facts) == VERDICT_OK);
    return ERR_OK;
}

/* Fills in the order in which nodes join: that of the list, or a shuffle by the given number. */
static void nodes_order(const struct scenario *scenario, uint64_t shuffle, uint32_t *ret)
{
    struct rng rng = {shuffle};
    for (uint32_t i = 0; i < scenario->nodes.count; i++) {
        const size_t other = shuffle == 0 ? i : draw(&rng, i + 1);
        ret[i] = ret[other];
        ret[other] = i;
    }
}

static must_use enum err cluster_join(struct placing *placing, const struct sim_options *options,
                                      const struct scenario *scenario, struct error *e)
{
    struct facts facts;
    struct input start = {.type = INPUT_SERVER_START};
    auto_free(freep) uint32_t *order = xcalloc(scenario->nodes.count, sizeof *order);
    must(step(placing, &start, &facts) == VERDICT_OK);
    enum err r = pool_set(placing, options->placement, e);
    if (r != ERR_OK) {
        return r;
    }
    nodes_order(scenario, options->shuffle, order);
    for (uint32_t i = 0; i < scenario->nodes.count; i++) {
        struct node_spec spec = scenario->nodes.at[order[i]].spec;
        memcpy(spec.supervisor, &i, sizeof i);
        struct input join = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
        if (step(placing, &join, &facts) != VERDICT_OK) {
            return fail(e, ERR_INVALID, "node '%s' cannot join: %s", spec.name,
                        names_reason(facts.refusal.code));
        }
    }
    return ERR_OK;
}

/* Places one job; false: it fits nowhere. */
static bool place(struct placing *placing, const struct job *job)
{
    struct facts facts;
    struct input submit = {.type = INPUT_TASK_SUBMIT,
                           .submit = {.specs = &job->kind->spec, .count = 1}};
    if (step(placing, &submit, &facts) != VERDICT_OK) {
        return false; /* larger than any node */
    }
    const task_id id = query_task_last(placing->core);
    pool_id pool;
    while (query_pass_due(placing->core, START_MS, &pool)) {
        struct input pass = {.type = INPUT_PASS, .pass = {pool, PASS_WORK_MAX}};
        must(step(placing, &pass, &facts) == VERDICT_OK);
        if (facts.count == 0) {
            core_pass_idle(placing->core, pool);
        }
    }
    if (query_task(placing->core, id)->active_count > 0) {
        return true;
    }
    struct input kill = {.type = INPUT_TASK_KILL, .task = {.task = id}};
    must(step(placing, &kill, &facts) == VERDICT_OK);
    return false;
}

static void measure(struct placing *placing, uint32_t point, struct openb_seed *ret)
{
    ret->unallocated_milli[point] = placing->capacity_milli - placing->used_milli;
    ret->fragmented_milli[point] =
        fragments_of_pool(&placing->fragments, placing->core, (pool_id){0});
}

enum err openb_seed_run(const struct sim_options *options, const struct scenario *scenario,
                        uint64_t seed, struct openb_seed *ret, struct error *e)
{
    struct placing placing = {.core = core_new()};
    uint32_t *order = NULL;
    const size_t count = openb_order(scenario, seed, options->ratio_milli, &order);
    arena_init(&placing.arena);
    fragments_init(&placing.fragments, scenario, NULL, FRAGMENTS_BY_JOBS);
    placing.capacity_milli = openb_capacity_milli(scenario);
    *ret = (struct openb_seed){0};
    for (uint32_t i = 0; i < OPENB_POINTS; i++) {
        ret->unallocated_milli[i] = -1;
    }
    enum err r = cluster_join(&placing, options, scenario, e);
    int64_t arrived = 0;
    uint32_t point = 0;
    for (size_t i = 0; r == ERR_OK && i < count; i++) {
        arrived += asked_milli(scenario, order[i]);
        const bool placed = place(&placing, &scenario->jobs.at[order[i]]);
        ret->placed += placed;
        ret->dropped += !placed;
        /* The last task arrives a little before the full ratio is reached. */
        const bool last = i + 1 == count;
        while (point < OPENB_POINTS &&
               (arrived * 100 >= placing.capacity_milli * openb_points[point] ||
                (last && openb_points[point] * 10 <= options->ratio_milli))) {
            measure(&placing, point++, ret);
        }
    }
    core_free(placing.core);
    arena_done(&placing.arena);
    free(order);
    return r;
}

/* ---- printing ---- */

static void point_text(const struct openb_seed *seeds, uint32_t count, uint32_t point,
                       int64_t capacity_milli, struct buf *out)
{
    char text[4][SIM_TEXT_MAX];
    __int128 sum = 0;
    __int128 pieces = 0;
    int64_t low = INT64_MAX;
    int64_t high = 0;
    if (seeds[0].unallocated_milli[point] < 0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const int64_t idle = seeds[i].unallocated_milli[point];
        sum += idle;
        pieces += seeds[i].fragmented_milli[point];
        low = idle < low ? idle : low;
        high = idle > high ? idle : high;
    }
    buf_addf(out, "  %3d %%   %6s [%s-%s]   %6s\n", openb_points[point],
             sim_text_percent((int64_t)(sum / count), capacity_milli, text[0]),
             sim_text_percent(low, capacity_milli, text[1]),
             sim_text_percent(high, capacity_milli, text[2]),
             sim_text_percent((int64_t)pieces, (int64_t)sum, text[3]));
}

void openb_text(const struct scenario *scenario, const struct openb_seed *seeds, uint32_t count,
                struct buf *out)
{
    char text[3][SIM_TEXT_MAX];
    const int64_t capacity_milli = openb_capacity_milli(scenario);
    buf_addf(out, "%s nodes, %s GPUs, %s tasks, %u seed%s\n",
             sim_text_count(scenario->nodes.count, text[0]),
             sim_text_count((uint64_t)capacity_milli / 1000, text[1]),
             sim_text_count(scenario->jobs.count, text[2]), count, count == 1 ? "" : "s");
    buf_add_str(out, "  asked   unallocated, %      of it in pieces, %\n");
    for (uint32_t i = 0; i < OPENB_POINTS; i++) {
        point_text(seeds, count, i, capacity_milli, out);
    }
}

/* Writes the thousandths of GPUs at one point, for each seed. */
static void point_json(struct json_out *j, const char *key, const struct openb_seed *seeds,
                       uint32_t count, size_t offset)
{
    json_out_key(j, key);
    json_out_array(j);
    for (uint32_t i = 0; i < count; i++) {
        const char *field = (const char *)&seeds[i] + offset;
        json_out_milli(j, *(const int64_t *)(const void *)field);
    }
    json_out_end(j);
}

void openb_json(const struct scenario *scenario, const struct openb_seed *seeds, uint32_t count,
                uint64_t seed_first, struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_u64(&j, "nodes", scenario->nodes.count);
    json_out_kv_milli(&j, "gpus", openb_capacity_milli(scenario));
    json_out_kv_u64(&j, "tasks", scenario->jobs.count);
    json_out_key(&j, "seeds");
    json_out_array(&j);
    for (uint32_t i = 0; i < count; i++) {
        json_out_u64(&j, seed_first + i);
    }
    json_out_end(&j);
    json_out_key(&j, "points");
    json_out_array(&j);
    for (uint32_t i = 0; i < OPENB_POINTS && seeds[0].unallocated_milli[i] >= 0; i++) {
        const size_t at = i * sizeof(int64_t);
        json_out_object(&j);
        json_out_kv_i64(&j, "asked_percent", openb_points[i]);
        point_json(&j, "unallocated", seeds, count,
                   offsetof(struct openb_seed, unallocated_milli) + at);
        point_json(&j, "fragmented", seeds, count,
                   offsetof(struct openb_seed, fragmented_milli) + at);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
    buf_add_char(out, '\n');
}
