/* scenario_file.c - the top of a scenario file: settings and pools. Other files read the lists
 * of nodes, tasks, accounts and events.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_file.h"

#include "sim/sim_file.h"
#include "sim/scenario_internal.h"
#include "sim/trace_value.h"
#include "spec/flavor_spec.h"
#include "spec/pool_spec.h"

enum { PATH_KEY_MAX = 64 };

/* Returns the value of the first name of a path and moves `*path` behind the name. NULL: there
 * is none. */
static const struct doc *doc_step(const struct doc *map, const char **path)
{
    char key[PATH_KEY_MAX];
    const char *name = *path + strspn(*path, ".");
    const size_t len = strcspn(name, ".[");
    if (len == 0 || len >= sizeof key || map->kind != DOC_MAP) {
        return NULL;
    }
    memcpy(key, name, len);
    key[len] = '\0';
    *path = name + len;
    return doc_get(map, key);
}

/* Follows a path as far as it leads through existing maps. */
static const struct doc *doc_of_path(const struct doc *map, const char *path)
{
    const struct doc *at = map;
    for (const struct doc *next = at; next != NULL; next = doc_step(at, &path)) {
        at = next;
    }
    return at;
}

void scenario_file_problem(const struct doc_value *v, const struct error *e)
{
    struct doc_value at = *v;
    at.doc = doc_of_path(v->doc, e->path);
    fields_problem(&at, "%s", e->text);
}

bool scenario_file_list(const struct doc_value *v)
{
    if (v->doc->kind != DOC_LIST) {
        fields_wanted(v, "a list");
    }
    return v->doc->kind == DOC_LIST;
}

void scenario_file_objects(const struct doc_value *v, void *object, scenario_read_fn read)
{
    struct scenario_draft *draft = object;
    if (!scenario_file_list(v)) {
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        struct error e;
        if (read(&item, draft->scenario, &e) != ERR_OK) {
            scenario_file_problem(&item, &e);
        }
    }
}

static enum err pool_read(const struct doc_value *item, struct scenario *scenario, struct error *e)
{
    struct pool_spec spec;
    enum err r = pool_spec_read(item->doc, item->in->arena, &spec, e);
    if (r == ERR_OK) {
        vec_push(&scenario->pools, spec);
    }
    return r;
}

static void pools_read(const struct doc_value *v, void *object)
{
    scenario_file_objects(v, object, pool_read);
}

static enum err flavor_read(const struct doc_value *item, struct scenario *scenario,
                            struct error *e)
{
    struct flavor_spec spec;
    flavor_spec_init(&spec);
    enum err r = flavor_spec_patch(item->doc, item->in->arena, &spec, e);
    if (r == ERR_OK) {
        vec_push(&scenario->flavors, spec);
    }
    return r;
}

static void flavors_read(const struct doc_value *v, void *object)
{
    scenario_file_objects(v, object, flavor_read);
}

static void market_field_read(const struct doc_value *v, void *object)
{
    market_read(v, &((struct scenario_draft *)object)->scenario->market);
}

/* ---- settings: fields of the scenario itself, reached through the draft ---- */

static void setting_read(const struct doc_value *v, void *object)
{
    struct scenario_draft *draft = object;
    fields_duration(v, draft->scenario);
}

static void name_read(const struct doc_value *v, void *object)
{
    struct scenario_draft *draft = object;
    fields_text(v, draft->scenario);
}

static void seed_read(const struct doc_value *v, void *object)
{
    (void)object;
    uint64_t seed; /* only checked here; settings_first() has already read it */
    (void)fields_value_u64(v, 0, INT64_MAX, &seed);
}

static const struct field fault_fields[] = {
    {.name = "crash_every",
     .read = fields_duration,
     .offset = offsetof(struct scenario, crash_every_ms)},
    {.name = "repair", .read = fields_duration, .offset = offsetof(struct scenario, repair_ms)},
    {0},
};

static void faults_read(const struct doc_value *v, void *object)
{
    struct scenario_draft *draft = object;
    (void)fields_read(v, fault_fields, draft->scenario);
}

static void factor_read(const struct doc_value *v, void *object)
{
    struct error e;
    if (v->doc->kind != DOC_NUMBER && v->doc->kind != DOC_STRING) {
        fields_problem(v, "a number is wanted, not %s", fields_what(v->doc));
    } else if (trace_value_factor(v->doc->text, (int64_t *)((char *)object + v->field->offset),
                                  &e) != ERR_OK) {
        fields_problem(v, "%s", e.text);
    }
}

static const struct field trace_fields[] = {
    {.name = "file",
     .read = fields_text,
     .offset = offsetof(struct trace_options, file),
     .min = 1,
     .max = TEXT_LEN_MAX},
    {.name = "format",
     .read = fields_text,
     .offset = offsetof(struct trace_options, format),
     .min = 1,
     .max = TEXT_LEN_MAX},
    {.name = "columns",
     .read = fields_text,
     .offset = offsetof(struct trace_options, columns),
     .min = 1,
     .max = TEXT_LEN_MAX},
    {.name = "arrivals", .read = factor_read, .offset = offsetof(struct trace_options, arrivals)},
    {.name = "skip_bad", .read = fields_bool, .offset = offsetof(struct trace_options, skip_bad)},
    {.name = "checkpoint",
     .read = fields_duration,
     .offset = offsetof(struct trace_options, checkpoint_ms)},
    {.name = "stops_in",
     .read = fields_duration,
     .offset = offsetof(struct trace_options, stops_in_ms)},
    {0},
};

static void trace_field_read(const struct doc_value *v, void *object)
{
    struct scenario_draft *draft = object;
    if (fields_read(v, trace_fields, &draft->trace) && draft->trace.file == NULL) {
        fields_problem(v, "'file' is missing");
    }
}

static const struct field default_fields[] = {
    FIELDS_NAME("gpu_pool", struct scenario, default_pools[POOL_DEFAULT_GPU], "a pool"),
    FIELDS_NAME("cpu_pool", struct scenario, default_pools[POOL_DEFAULT_CPU], "a pool"),
    {0},
};

static void defaults_read(const struct doc_value *v, void *object)
{
    struct scenario_draft *draft = object;
    (void)fields_read(v, default_fields, draft->scenario);
}

static const struct field scenario_fields[] = {
    {.name = "name",
     .read = name_read,
     .offset = offsetof(struct scenario, name),
     .max = TEXT_LEN_MAX},
    {.name = "seed", .read = seed_read},
    {.name = "until", .read = setting_read, .offset = offsetof(struct scenario, until_ms)},
    {.name = "node_start",
     .read = setting_read,
     .offset = offsetof(struct scenario, node_start_ms)},
    {.name = "start_delay",
     .read = setting_read,
     .offset = offsetof(struct scenario, start_delay_ms)},
    {.name = "lost_after",
     .read = setting_read,
     .offset = offsetof(struct scenario, lost_after_ms)},
    {.name = "defaults", .read = defaults_read},
    {.name = "flavors", .read = flavors_read},
    {.name = "market", .read = market_field_read},
    {.name = "pools", .read = pools_read},
    {.name = "departments", .read = scenario_accounts_departments},
    {.name = "projects", .read = scenario_accounts_projects},
    {.name = "quotas", .read = scenario_accounts_quotas},
    {.name = "nodes", .read = scenario_nodes_read},
    {.name = "tasks", .read = scenario_tasks_read},
    {.name = "streams", .read = scenario_tasks_streams},
    {.name = "events", .read = scenario_events_read},
    {.name = "faults", .read = faults_read},
    {.name = "trace", .read = trace_field_read},
    {0},
};

static bool runs_for_ever(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->jobs.count; i++) {
        if (scenario->jobs.at[i].runs_ms == RUNS_FOR_EVER) {
            return true;
        }
    }
    return false;
}

static void scenario_finish(const struct doc_value *v, const struct scenario *scenario)
{
    if (scenario->until_ms == 0 && scenario->crash_every_ms > 0 && runs_for_ever(scenario)) {
        fields_problem_in(
            v, "until",
            "it is missing: with tasks that run for ever and nodes that crash, nothing "
            "else ends the run");
    }
}

/* Reads the trace that the scenario names, relative to the scenario file. The trace is read
 * last, because large jobs are divided by the size of the nodes. */
static must_use enum err trace_load(struct scenario_draft *draft, struct error *e)
{
    struct arena *arena = &draft->scenario->arena;
    const char *slash = strrchr(draft->file, '/');
    struct str text;
    if (draft->trace.file[0] != '/' && slash != NULL) {
        const char *directory = arena_strn(arena, draft->file, (size_t)(slash - draft->file));
        draft->trace.file = arena_fmt(arena, "%s/%s", directory, draft->trace.file);
    }
    enum err r = sim_file_read(draft->trace.file, arena, &text, e);
    return r == ERR_OK ? trace_read(&draft->trace, text, draft->scenario, e) : r;
}

/* Reads the seed and the end first, wherever they stand: lists draw from the seed, and streams
 * need the end. Problems with the two are reported when their fields are read. */
static void settings_first(const struct doc *doc, const uint64_t *seed, struct scenario *scenario)
{
    static const struct field until = {
        .name = "until", .read = fields_duration, .offset = offsetof(struct scenario, until_ms)};
    struct problems untold = {0};
    struct reader in = {.arena = &scenario->arena, .problems = &untold};
    const struct doc *given = doc->kind == DOC_MAP ? doc_get(doc, "seed") : NULL;
    const struct doc *end = doc->kind == DOC_MAP ? doc_get(doc, "until") : NULL;
    if (given != NULL) {
        (void)doc_u64(given, &scenario->seed);
    }
    if (end != NULL) {
        fields_duration(&(struct doc_value){.in = &in, .doc = end, .field = &until}, scenario);
    }
    if (seed != NULL) {
        scenario->seed = *seed;
    }
}

enum err scenario_file_read(struct str text, const char *file, const uint64_t *seed,
                            struct scenario *scenario, struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = &scenario->arena, .problems = &problems};
    struct scenario_draft draft = {.scenario = scenario, .file = file};
    struct doc *doc;
    if (str_trim(text).len == 0) {
        return fail(e, ERR_INVALID, "%s:1:1: the file is empty; a scenario has nodes and tasks",
                    file);
    }
    enum err r = doc_yaml_parse(&scenario->arena, text, &doc, e);
    if (r != ERR_OK) {
        problem_syntax(&problems, &scenario->arena, e);
        scenario->report = problem_report(&problems, file, text, &scenario->arena);
        return problem_file_error(&problems, file, e);
    }
    scenario->doc = doc;
    settings_first(doc, seed, scenario);
    const struct doc_value v = {.in = &in, .doc = doc};
    (void)fields_read(&v, scenario_fields, &draft);
    scenario_finish(&v, scenario);
    r = problem_file_error(&problems, file, e);
    if (r != ERR_OK) {
        scenario->report = problem_report(&problems, file, text, &scenario->arena);
    }
    return r == ERR_OK && draft.trace.file != NULL ? trace_load(&draft, e) : r;
}
