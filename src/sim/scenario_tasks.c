/* scenario_tasks.c - the jobs of a scenario file: single tasks, and streams of equal tasks.
 *
 * A job is written like a task of a task file, with a few more fields: when it arrives, how long
 * it really runs, how it ends. The map is divided: fields of the table below are read here, and
 * the reader of task files gets the rest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "sim/rng.h"
#include "sim/docmap.h"
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

static void runs_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *object)
{
    (void)field;
    struct job_draft *draft = object;
    struct length *runs = &draft->runs;
    draft->runs_given = true;
    if (doc->kind == DOC_MAP) {
        runs->drawn = true;
        fields_read(in, place, doc, length_fields, runs);
        const bool range = runs->high_ms > 0;
        if (range == (runs->mean_ms > 0) || runs->low_ms > runs->high_ms) {
            fields_problem(in, place, doc, "give either mean, or from and to with from <= to");
        }
    } else if (doc->kind == DOC_STRING && strcmp(doc->text.p, "forever") == 0) {
        runs->low_ms = RUNS_FOR_EVER;
    } else {
        (void)fields_value_duration(in, place, doc, &runs->low_ms);
    }
}

static void after_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    (void)field;
    struct job_draft *draft = object;
    const struct doc *first = doc->kind == DOC_LIST ? doc->first : doc;
    const uint32_t count = doc->kind == DOC_LIST ? doc->count : 1;
    if (count > AFTER_MAX) {
        fields_problem(in, place, doc, "at most %d tasks", AFTER_MAX);
        return;
    }
    const char **names = arena_new(in->arena, const char *, count + 1);
    uint32_t index = 0;
    for (const struct doc *item = first; index < count; item = item->next) {
        struct doc_place at = {.up = place, .index = index};
        if (!fields_value_text(in, &at, item, TEXT_LEN_MAX, &names[index])) {
            return;
        }
        index++;
    }
    draft->kind.after = names;
    draft->kind.after_count = count;
    draft->kind.after_doc = doc;
}

#define IN_JOB(member) offsetof(struct job_draft, member)
enum { EXIT_CODE_MAX = 255, PERCENT_MAX = 100 };

static const struct field job_fields[] = {
    {.name = "at", .read = fields_duration, .offset = IN_JOB(at_ms)},
    {.name = "every", .read = fields_duration, .offset = IN_JOB(every_ms)},
    {.name = "from", .read = fields_duration, .offset = IN_JOB(from_ms)},
    {.name = "until", .read = fields_duration, .offset = IN_JOB(until_ms)},
    {.name = "count",
     .read = fields_u32,
     .offset = IN_JOB(count),
     .min = 1,
     .max = JOBS_OF_ONE_MAX},
    {.name = "runs", .read = runs_read},
    {.name = "checkpoint", .read = fields_duration, .offset = IN_JOB(kind.checkpoint_ms)},
    {.name = "stops_in", .read = fields_duration, .offset = IN_JOB(kind.stops_in_ms)},
    {.name = "exit", .read = fields_u32, .offset = IN_JOB(exit_code), .max = EXIT_CODE_MAX},
    {.name = "fails", .read = fields_u32, .offset = IN_JOB(kind.fails), .max = RETRIES_MAX + 1},
    {.name = "fail_percent",
     .read = fields_u32,
     .offset = IN_JOB(fail_percent),
     .max = PERCENT_MAX},
    {.name = "after", .read = after_read},
    {.name = "user", .read = fields_name, .offset = IN_JOB(user), .note = "a user"},
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
    struct doc *list = arena_new(arena, struct doc, 1);
    struct doc *word = arena_new(arena, struct doc, 1);
    *word = (struct doc){.kind = DOC_STRING, .line = like->line, .column = like->column};
    word->text = str_of("sim");
    *list = (struct doc){.kind = DOC_LIST, .line = like->line, .column = like->column};
    list->first = word;
    list->count = 1;
    return list;
}

static void divide(struct arena *arena, const struct doc *map, struct doc **ret_ours,
                   struct doc **ret_theirs)
{
    struct doc *ours = docmap_new(arena, map);
    struct doc *theirs = docmap_new(arena, map);
    bool runs_something = false;
    for (const struct doc *item = map->first; item != NULL; item = item->next) {
        struct doc *copy = arena_dup(arena, item, sizeof *item);
        runs_something |= str_is(item->key, "command") || str_is(item->key, "entrypoint");
        docmap_add(is_ours(item->key) ? ours : theirs, item->key.p, copy);
    }
    if (!runs_something) {
        docmap_add(theirs, "command", command_doc(arena, map));
    }
    *ret_ours = ours;
    *ret_theirs = theirs;
}

/* ---- one item ---- */

static bool job_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                     struct job_draft *draft)
{
    if (doc->kind != DOC_MAP) {
        fields_problem(in, place, doc, "a map of fields is wanted, not %s", fields_what(doc));
        return false;
    }
    const uint32_t before = in->problems->total;
    struct doc *ours;
    struct doc *theirs;
    struct error e;
    divide(in->arena, doc, &ours, &theirs);
    fields_read(in, place, ours, job_fields, draft);
    if (task_file_spec_read(theirs, in->arena, &draft->kind.spec, &e) != ERR_OK) {
        scenario_file_problem(in, place, doc, &e);
    }
    if (!draft->runs_given) {
        struct doc_place at = {.up = place, .key = "runs"};
        fields_problem(in, &at, doc, "it is missing: how long the task runs, like 10m or forever");
    }
    if (draft->user != NULL) {
        draft->kind.spec.user = draft->user;
    }
    draft->kind.exit_code = (int32_t)draft->exit_code;
    draft->kind.fail_millionths = draft->fail_percent * 10000;
    return in->problems->total == before;
}

static int64_t length_draw(const struct length *length, struct rng *rng)
{
    if (!length->drawn) {
        return length->low_ms;
    }
    return length->mean_ms > 0 ? rng_exponential(rng, length->mean_ms)
                               : rng_between(rng, length->low_ms, length->high_ms);
}

static bool job_add(struct reader *in, const struct doc_place *place, const struct doc *doc,
                    struct scenario *scenario, struct job job)
{
    if (scenario->jobs.count >= scenario->jobs_max) {
        fields_problem(in, place, doc, "more than %u tasks", scenario->jobs_max);
        return false;
    }
    if (job.at_ms > AMOUNT_MS_MAX) {
        fields_problem(in, place, doc, "the last ones would come after more than a hundred years");
        return false;
    }
    vec_push(&scenario->jobs, job);
    return true;
}

/* Adds one task, or `count` tasks at distances of `every`. */
static void task_add(struct reader *in, const struct doc_place *place, const struct doc *doc,
                     struct job_draft *draft, struct scenario *scenario)
{
    const struct job_kind *kind = arena_dup(in->arena, &draft->kind, sizeof draft->kind);
    struct rng rng = rng_of(scenario->seed, "tasks", doc->line);
    int64_t at_ms = draft->at_ms;
    for (uint32_t i = 0; i < (draft->count > 0 ? draft->count : 1); i++) {
        struct job job = {
            .at_ms = at_ms,
            .runs_ms = length_draw(&draft->runs, &rng),
            .name = kind->spec.name,
            .kind = kind,
        };
        if (draft->count > 1 && kind->spec.name[0] != '\0') {
            job.name = arena_fmt(in->arena, "%s%u", kind->spec.name, i + 1);
        }
        if (!job_add(in, place, doc, scenario, job)) {
            return;
        }
        at_ms += draft->every_ms;
    }
}

/* Adds a stream: jobs arrive at random, at a mean distance of `every`, beginning at `from`. A
 * stream ends at `until` (else at the scenario's end) or after `count` jobs. */
static void stream_add(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       struct job_draft *draft, struct scenario *scenario)
{
    const int64_t end_ms = draft->until_ms > 0 ? draft->until_ms : scenario->until_ms;
    if (draft->every_ms == 0 || (end_ms == 0 && draft->count == 0)) {
        fields_problem(
            in, place, doc,
            "a stream wants 'every', and 'until' (its own or the scenario's) or 'count'");
        return;
    }
    const struct job_kind *kind = arena_dup(in->arena, &draft->kind, sizeof draft->kind);
    struct rng rng = rng_of(scenario->seed, "stream", doc->line);
    const int64_t until_ms = end_ms > 0 ? end_ms : INT64_MAX;
    const uint32_t count = draft->count > 0 ? draft->count : UINT32_MAX;
    int64_t at_ms = draft->from_ms;
    for (uint32_t i = 0; i < count; i++) {
        at_ms += rng_exponential(&rng, draft->every_ms);
        struct job job = {.at_ms = at_ms, .name = kind->spec.name, .kind = kind};
        job.runs_ms = length_draw(&draft->runs, &rng);
        if (at_ms >= until_ms || !job_add(in, place, doc, scenario, job)) {
            return;
        }
    }
}

typedef void (*add_fn)(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       struct job_draft *draft, struct scenario *scenario);

static void list_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      struct scenario *scenario, add_fn add)
{
    if (!scenario_file_list(in, place, doc)) {
        return;
    }
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL && in->problems->count < PROBLEMS_MAX;
         item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        struct job_draft draft = {0};
        if (job_read(in, &at, item, &draft)) {
            scenario->names_needed |= draft.kind.after_count > 0;
            add(in, &at, item, &draft, scenario);
        }
    }
}

void scenario_tasks_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    (void)field;
    list_read(in, place, doc, ((struct scenario_draft *)object)->scenario, task_add);
}

void scenario_tasks_streams(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object)
{
    (void)field;
    list_read(in, place, doc, ((struct scenario_draft *)object)->scenario, stream_add);
}
