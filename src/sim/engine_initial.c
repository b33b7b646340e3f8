/* engine_initial.c - the tasks that exist when a scenario begins. Their submissions, starts and
 * checkpoints are played in the order of their times.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "sim/engine_internal.h"

enum initial_kind { INITIAL_SUBMITTED, INITIAL_PLACED, INITIAL_SAVED };

struct initial_event {
    int64_t at_ms;
    const struct job *job;
    enum initial_kind kind;
    uint32_t first; /* the first of the places that start together */
    uint32_t count; /* the number of places that start together */
};

struct past {
    VEC(struct initial_event) events;
};

static int event_order(const void *left, const void *right)
{
    const struct initial_event *a = left;
    const struct initial_event *b = right;
    if (a->at_ms != b->at_ms) {
        return a->at_ms < b->at_ms ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->job != b->job) {
        return a->job < b->job ? -1 : 1;
    }
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Moves a time between the submission of the job and the beginning of the scenario. */
static int64_t initial_ms(const struct job *job, int64_t ms)
{
    const int64_t from_ms = ms < job->at_ms ? job->at_ms : ms;
    return ms == NOT_YET || from_ms > 0 ? 0 : from_ms;
}

/* A gang starts as one, at the start of its last instance. Other instances start each by itself. */
static void places_add(struct past *past, const struct job *job)
{
    const struct job_kind *kind = job->kind;
    const uint32_t together = kind->spec.gang ? kind->place_count : 1;
    for (uint32_t i = 0; i < kind->place_count; i += together) {
        int64_t at_ms = job->at_ms;
        for (uint32_t k = i; k < i + together; k++) {
            const int64_t start_ms = initial_ms(job, kind->places[k].started_ms);
            at_ms = start_ms > at_ms ? start_ms : at_ms;
        }
        vec_push(&past->events, ((struct initial_event){at_ms, job, INITIAL_PLACED, i, together}));
        const int64_t saved_ms = kind->places[i].checkpoint_ms;
        if (saved_ms != NOT_YET && saved_ms > at_ms) {
            vec_push(&past->events,
                     ((struct initial_event){initial_ms(job, saved_ms), job, INITIAL_SAVED, i, 1}));
        }
    }
}

/* Returns the task of a job; 0: the job was refused. Records have the order of jobs. */
static task_id task_of_job(const struct engine *engine, const struct job *job)
{
    size_t from = 0;
    size_t to = engine->records.count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (engine->records.at[middle].job < job) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    const bool found = from < engine->records.count && engine->records.at[from].job == job;
    return (task_id){found ? from + 1 : 0};
}

static struct attempt_key key_of(task_id task, uint32_t index)
{
    return (struct attempt_key){task, index, 1};
}

static bool adopt(struct engine *engine, task_id task, const struct initial_event *event)
{
    const struct job_place *places = event->job->kind->places;
    struct arena arena;
    arena_init(&arena);
    struct adopted *adopted = arena_new(&arena, struct adopted, event->count);
    for (uint32_t i = 0; i < event->count; i++) {
        const struct job_place *place = &places[event->first + i];
        const struct node *node = query_node_named(engine->core, place->node);
        adopted[i] =
            (struct adopted){place->index, node != NULL ? node->id : (node_id){0}, place->devices};
    }
    struct input in = {.type = INPUT_TASK_ADOPT, .actor = "server"};
    in.task.task = task;
    in.task.places = adopted;
    in.task.place_count = event->count;
    struct facts facts;
    const bool done = engine_input(engine, &in, &facts) == VERDICT_OK;
    arena_done(&arena);
    return done;
}

/* Adopts a running task. If the task cannot run there (its node is away, or smaller now), the
 * task waits like others. */
static void placed(struct engine *engine, const struct initial_event *event)
{
    const task_id task = task_of_job(engine, event->job);
    if (task.v == 0 || !adopt(engine, task, event)) {
        return;
    }
    for (uint32_t i = 0; i < event->count; i++) {
        const struct job_place *place = &event->job->kind->places[event->first + i];
        if (place->started_ms != NOT_YET) {
            const struct attempt_key key = key_of(task, place->index);
            engine_agents_running(engine, &key);
        }
    }
}

static void saved(struct engine *engine, const struct initial_event *event)
{
    const task_id task = task_of_job(engine, event->job);
    const uint32_t index = event->job->kind->places[event->first].index;
    const struct instance *instance =
        task.v != 0 ? query_instance(engine->core, task, index) : NULL;
    if (instance != NULL && instance->state == INSTANCE_RUNNING) {
        const struct attempt_key key = key_of(task, index);
        engine_agents_saved(engine, &key);
    }
}

/* A pool that was closed or deleted when the state was exported is so from the beginning: its tasks are there, and none starts. */
static void pool_shut(struct engine *engine, const char *name, enum input_type type)
{
    const struct pool *pool = query_pool_named(engine->core, name);
    struct facts facts;
    if (pool != NULL) {
        struct input in = {
            .type = type, .actor = "user:sim", .pool = {.pool = pool->id, .force = true}};
        (void)engine_input(engine, &in, &facts);
    }
}

void engine_initial_begin(struct engine *engine)
{
    const struct scenario *scenario = engine->scenario;
    struct past past = {0};
    for (size_t i = 0; i < scenario->jobs.count && scenario->jobs.at[i].at_ms <= 0; i++) {
        const struct job *job = &scenario->jobs.at[i];
        if (job->at_ms < 0 || job->kind->place_count > 0) {
            vec_push(&past.events,
                     ((struct initial_event){job->at_ms, job, INITIAL_SUBMITTED, 0, 0}));
            places_add(&past, job);
        }
    }
    if (past.events.count > 0) {
        sort_items(past.events.at, past.events.count, sizeof past.events.at[0], event_order);
    }
    for (size_t i = 0; i < past.events.count; i++) {
        const struct initial_event *event = &past.events.at[i];
        engine->now_ms = engine->epoch_ms + event->at_ms;
        engine_inputs_jobs(engine);
        if (event->kind == INITIAL_PLACED) {
            placed(engine, event);
        } else if (event->kind == INITIAL_SAVED) {
            saved(engine, event);
        }
    }
    engine->now_ms = engine->epoch_ms;
    vec_done(&past.events);
    for (size_t i = 0; i < scenario->closed.count; i++) {
        pool_shut(engine, scenario->closed.at[i], INPUT_POOL_CLOSE);
    }
    for (size_t i = 0; i < scenario->deleted.count; i++) {
        pool_shut(engine, scenario->deleted.at[i], INPUT_POOL_DELETE);
    }
}
