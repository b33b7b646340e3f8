/* scenario_tasks.c - the jobs of a scenario file: single tasks, and streams of equal tasks.
 *
 * A job is written like a task of a task file, with a few more fields: when it arrives, how long
 * it really runs, how it ends. The map is divided: fields of the table below are read here, and
 * the reader of task files gets the rest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "sim/rng.h"
#include "base/doc_make.h"
#include "sim/scenario_internal.h"
#include "spec/task_file.h"

enum { JOBS_OF_ONE_MAX = 10000000, AFTER_MAX = TASK_DEPENDS_MAX };

/* The length of jobs: fixed, or drawn at random. */
struct length {
    int64_t mean_ms; /* of an exponential distribution, if `low` is not given */
    int64_t low_ms;
    int64_t high_ms;
    bool drawn;
};

struct job_draft {
    struct job_kind kind;
    struct length runs;
    int64_t at_ms;
    bool stream; /* the job comes from `streams`, not from `tasks` */
    int64_t every_ms;
    int64_t from_ms; /* begin of a stream */
    int64_t until_ms;
    uint32_t count;
    uint32_t exit_code;
    uint32_t fail_percent;
    const char *user; /* NULL: the user who runs the simulator */
    bool runs_given;
};

/* ---- fields ---- */

static const struct field length_fields[] = {
    {.name = "mean", .read = fields_duration, .offset = offsetof(struct length, mean_ms)},
    {.name = "from", .read = fields_duration, .offset = offsetof(struct length, low_ms)},
    {.name = "to", .read = fields_duration, .offset = offsetof(struct length, high_ms)},
    {0},
};

static void runs_read(const struct doc_value *v, void *object)
{
    struct job_draft *draft = object;
    struct length *runs = &draft->runs;
    draft->runs_given = true;
    if (v->doc->kind == DOC_MAP) {
        runs->drawn = true;
        (void)fields_read(v, length_fields, runs);
        const bool range = runs->high_ms > 0;
        if (range == (runs->mean_ms > 0) || runs->low_ms > runs->high_ms) {
            fields_problem(v, "give either mean, or from and to with from <= to");
        }
    } else if (v->doc->kind == DOC_STRING && strcmp(v->doc->text.p, "forever") == 0) {
        runs->low_ms = RUNS_FOR_EVER;
    } else {
        (void)fields_value_duration(v, &runs->low_ms);
    }
}

/* Reads the time between two tasks. A time of 0 lets the tasks of `tasks` come all at once; a stream
 * must have a time above 0. */
static void every_read(const struct doc_value *v, void *object)
{
    struct job_draft *draft = object;
    int64_t every_ms;
    if (!fields_value_duration(v, &every_ms)) {
        return;
    }
    if (every_ms == 0 && draft->stream) {
        fields_problem(v, "more than 0s is wanted: the mean time between two tasks");
        return;
    }
    draft->every_ms = every_ms;
}

static void after_read(const struct doc_value *v, void *object)
{
    struct job_draft *draft = object;
    const bool list = v->doc->kind == DOC_LIST;
    const uint32_t count = list ? v->doc->count : 1;
    if (count > AFTER_MAX) {
        fields_problem(v, "at most %d tasks", AFTER_MAX);
        return;
    }
    const char **names = arena_new(v->in->arena, const char *, count + 1);
    const struct doc_value alone = {.in = v->in, .doc = v->doc, .up = v};
    struct doc_value item = list ? fields_first(v) : alone;
    for (; item.index < count; fields_next(&item)) {
        if (!fields_value_text(&item, TEXT_LEN_MAX, &names[item.index])) {
            return;
        }
    }
    draft->kind.after = names;
    draft->kind.after_count = count;
    draft->kind.after_doc = v->doc;
}

#define IN_JOB(member) offsetof(struct job_draft, member)
enum { EXIT_CODE_MAX = 255, PERCENT_MAX = 100 };

static const struct field job_fields[] = {
    {.name = "at", .read = fields_duration, .offset = IN_JOB(at_ms)},
    {.name = "every", .read = every_read},
    {.name = "from", .read = fields_duration, .offset = IN_JOB(from_ms)},
    {.name = "until", .read = fields_duration, .offset = IN_JOB(until_ms)},
    FIELDS_COUNT("count", struct job_draft, count, 1, JOBS_OF_ONE_MAX),
    {.name = "runs", .read = runs_read},
    {.name = "checkpoint", .read = fields_duration, .offset = IN_JOB(kind.checkpoint_ms)},
    {.name = "stops_in", .read = fields_duration, .offset = IN_JOB(kind.stops_in_ms)},
    FIELDS_COUNT("exit", struct job_draft, exit_code, 0, EXIT_CODE_MAX),
    FIELDS_COUNT("fails", struct job_draft, kind.fails, 0, RETRIES_MAX + 1),
    FIELDS_COUNT("fail_percent", struct job_draft, fail_percent, 0, PERCENT_MAX),
    {.name = "after", .read = after_read},
    FIELDS_NAME("user", struct job_draft, user, "a user"),
    {0},
};

static bool is_ours(struct str key)
{
    for (const struct field *field = job_fields; field->name != NULL; field++) {
        if (str_is(key, field->name)) {
            return true;
        }
    }
    return false;
}

/* ---- dividing the map ---- */

/* Makes the command that every task must have. Nothing is run here. */
static struct doc *command_doc(struct arena *arena, const struct doc *like)
{
    struct doc *list = doc_make(arena, DOC_LIST, like);
    doc_make_add(list, NULL, doc_make_scalar(arena, DOC_STRING, str_of("sim")));
    return list;
}

static void divide(struct arena *arena, const struct doc *map, struct doc **ret_ours,
                   struct doc **ret_theirs)
{
    struct doc *ours = doc_make(arena, DOC_MAP, map);
    struct doc *theirs = doc_make(arena, DOC_MAP, map);
    bool runs_something = false;
    for (const struct doc *item = map->first; item != NULL; item = item->next) {
        struct doc *copy = arena_dup(arena, item, sizeof *item);
        runs_something |= str_is(item->key, "command") || str_is(item->key, "entrypoint");
        doc_make_add(is_ours(item->key) ? ours : theirs, item->key.p, copy);
    }
    if (!runs_something) {
        doc_make_add(theirs, "command", command_doc(arena, map));
    }
    *ret_ours = ours;
    *ret_theirs = theirs;
}

/* ---- one item ---- */

static bool job_read(const struct doc_value *v, struct job_draft *draft)
{
    if (v->doc->kind != DOC_MAP) {
        fields_wanted(v, "a map of fields");
        return false;
    }
    const uint32_t before = v->in->problems->total;
    struct doc *ours;
    struct doc *theirs;
    divide(v->in->arena, v->doc, &ours, &theirs);
    struct doc_value our_part = *v;
    our_part.doc = ours;
    (void)fields_read(&our_part, job_fields, draft);
    struct doc_value their_part = *v;
    their_part.doc = theirs;
    v->in->also = job_fields;
    task_file_value_read(&their_part, &draft->kind.spec);
    v->in->also = NULL;
    if (!draft->runs_given) {
        fields_problem_in(v, "runs", "it is missing: how long the task runs, like 10m or forever");
    }
    if (draft->user != NULL) {
        draft->kind.spec.user = draft->user;
    }
    draft->kind.exit_code = (int32_t)draft->exit_code;
    draft->kind.fail_millionths = draft->fail_percent * 10000;
    return v->in->problems->total == before;
}

static int64_t length_draw(const struct length *length, struct rng *rng)
{
    if (!length->drawn) {
        return length->low_ms;
    }
    return length->mean_ms > 0 ? rng_exponential(rng, length->mean_ms)
                               : rng_between(rng, length->low_ms, length->high_ms);
}

static bool job_add(const struct doc_value *v, struct scenario *scenario, struct job job)
{
    if (scenario->jobs.count >= scenario->jobs_max) {
        fields_problem(v, "more than %u tasks", scenario->jobs_max);
        return false;
    }
    if (job.at_ms > AMOUNT_MS_MAX) {
        fields_problem(v, "the last ones would come after more than a hundred years");
        return false;
    }
    vec_push(&scenario->jobs, job);
    return true;
}

/* Adds one task, or `count` tasks at distances of `every`. */
static void task_add(const struct doc_value *v, struct job_draft *draft, struct scenario *scenario)
{
    const struct job_kind *kind = arena_dup(v->in->arena, &draft->kind, sizeof draft->kind);
    struct rng rng = rng_of(scenario->seed, "tasks", v->doc->line);
    int64_t at_ms = draft->at_ms;
    for (uint32_t i = 0; i < (draft->count > 0 ? draft->count : 1); i++) {
        struct job job = {
            .at_ms = at_ms,
            .runs_ms = length_draw(&draft->runs, &rng),
            .name = kind->spec.name,
            .kind = kind,
        };
        if (draft->count > 1 && kind->spec.name[0] != '\0') {
            job.name = arena_fmt(v->in->arena, "%s%u", kind->spec.name, i + 1);
        }
        if (!job_add(v, scenario, job)) {
            return;
        }
        at_ms += draft->every_ms;
    }
}

/* Adds a stream: jobs arrive at random, at a mean distance of `every`, beginning at `from`. A
 * stream ends at `until` (else at the scenario's end) or after `count` jobs. */
static void stream_add(const struct doc_value *v, struct job_draft *draft,
                       struct scenario *scenario)
{
    const int64_t end_ms = draft->until_ms > 0 ? draft->until_ms : scenario->until_ms;
    if (draft->every_ms == 0 || (end_ms == 0 && draft->count == 0)) {
        fields_problem(
            v, "a stream wants 'every', and 'until' (its own or the scenario's) or 'count'");
        return;
    }
    const struct job_kind *kind = arena_dup(v->in->arena, &draft->kind, sizeof draft->kind);
    struct rng rng = rng_of(scenario->seed, "stream", v->doc->line);
    const int64_t until_ms = end_ms > 0 ? end_ms : INT64_MAX;
    const uint32_t count = draft->count > 0 ? draft->count : UINT32_MAX;
    int64_t at_ms = draft->from_ms;
    for (uint32_t i = 0; i < count; i++) {
        at_ms += rng_exponential(&rng, draft->every_ms);
        struct job job = {.at_ms = at_ms, .name = kind->spec.name, .kind = kind};
        job.runs_ms = length_draw(&draft->runs, &rng);
        if (at_ms >= until_ms || !job_add(v, scenario, job)) {
            return;
        }
    }
}

typedef void (*add_fn)(const struct doc_value *v, struct job_draft *draft,
                       struct scenario *scenario);

static void list_read(const struct doc_value *v, struct scenario *scenario, add_fn add)
{
    if (!scenario_file_list(v)) {
        return;
    }
    for (struct doc_value item = fields_first(v);
         item.doc != NULL && v->in->problems->count < PROBLEMS_MAX; fields_next(&item)) {
        struct job_draft draft = {.stream = add == stream_add};
        if (job_read(&item, &draft)) {
            scenario->names_needed |= draft.kind.after_count > 0;
            add(&item, &draft, scenario);
        }
    }
}

void scenario_tasks_read(const struct doc_value *v, void *object)
{
    list_read(v, ((struct scenario_draft *)object)->scenario, task_add);
}

void scenario_tasks_streams(const struct doc_value *v, void *object)
{
    list_read(v, ((struct scenario_draft *)object)->scenario, stream_add);
}
