/* det_queue.c - cases of Determined about the order of the queue, moves in the queue, and the
 * pools that a question about queues names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "determined.h"
#include "read.h"

#include "base/sort.h"

#include <stdlib.h>

/* Submits two tasks in the order of job and request time, and checks which one comes first in
 * the queue. */
enum outcome det_compare(struct trial *trial)
{
    const struct doc *const sides[2] = {reads_get(trial->test, "a"), reads_get(trial->test, "b")};
    const uint64_t submitted[2] = {det_number(sides[0], "submitted", 0),
                                   det_number(sides[1], "submitted", 0)};
    const uint64_t requested[2] = {det_number(sides[0], "requested", 0),
                                   det_number(sides[1], "requested", 0)};
    const bool swapped =
        submitted[0] != submitted[1] ? submitted[0] > submitted[1] : requested[0] > requested[1];
    struct cluster cluster;
    cluster_init(&cluster, trial->arena);
    task_id tasks[2];
    for (unsigned i = 0; i < 2; i++) {
        tasks[i ^ (unsigned)swapped] = cluster_stage(&cluster, cluster_task("t"));
    }
    cluster_queue(&cluster, tasks[1]);
    cluster_queue(&cluster, tasks[0]);
    const pool_id pool = query_pool_named(cluster.core, POOL_DEFAULT_NAME)->id;
    const int order = query_queue_next(cluster.core, pool, (task_id){0}).v == tasks[0].v ? -1 : 1;
    cluster_done(&cluster);
    int64_t expected = 2;
    (void)reads_i64(reads_get(reads_get(trial->test, "expect"), "order"), &expected);
    const bool equal = submitted[0] == submitted[1] && requested[0] == requested[1];
    return expected == order || (equal && expected == 0) ? CASE_PASSED
                                                         : trial_failed(trial, "order %d", order);
}

/* Counts the pools of the case that a list of names picks. No names pick all pools. */
enum outcome det_stats_filter(struct trial *trial)
{
    const struct doc *pools = reads_get(trial->test, "pools");
    const struct doc *filter = reads_get(trial->test, "filter");
    struct cluster cluster;
    cluster_init(&cluster, trial->arena);
    for (const struct doc *pool = pools->first; pool != NULL; pool = pool->next) {
        struct pool_spec spec = cluster_pool(&cluster);
        (void)reads_text(pool, &spec.name);
        cluster_pool_set(&cluster, &spec);
    }
    uint64_t results = 0;
    const struct doc *asked = filter->count == 0 ? pools : filter;
    for (const struct doc *pool = asked->first; pool != NULL; pool = pool->next) {
        const char *name = "";
        (void)reads_text(pool, &name);
        results += query_pool_named(cluster.core, name) != NULL;
    }
    cluster_done(&cluster);
    return det_number(reads_get(trial->test, "expect"), "results", 0) == results
               ? CASE_PASSED
               : trial_failed(trial, "%llu pools", (unsigned long long)results);
}

/* ---- moves ---- */

struct queued {
    const char *name;
    uint64_t priority; /* priority as Determined counts it */
    uint64_t position;
    task_id task;
};

static int by_position(const void *left, const void *right)
{
    const struct queued *a = left;
    const struct queued *b = right;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* Submits the jobs of the case as waiting tasks, in the order of their positions. */
static struct queued *jobs_submit(struct cluster *cluster, const struct doc *jobs)
{
    struct queued *all = arena_new(cluster->arena, struct queued, jobs->count);
    uint32_t count = 0;
    for (const struct doc *job = jobs->first; job != NULL; job = job->next) {
        struct queued *one = &all[count++];
        *one = (struct queued){.name = "",
                               .priority = det_number(job, "priority", 0),
                               .position = det_number(job, "position", 0)};
        (void)reads_text(reads_get(job, "id"), &one->name);
    }
    sort_items(all, count, sizeof all[0], by_position);
    for (uint32_t i = 0; i < count; i++) {
        struct task_spec spec = cluster_task(all[i].name);
        spec.priority = (uint32_t)(DET_PRIORITY_TOP - all[i].priority);
        all[i].task = cluster_stage(cluster, spec);
        cluster_queue(cluster, all[i].task);
    }
    return all;
}

static const struct queued *job_of(const struct queued *jobs, uint32_t count,
                                   const struct doc *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (read_is(name, jobs[i].name)) {
            return &jobs[i];
        }
    }
    return NULL;
}

/* Moves a job as a user would: first an edit to the other job's priority, if the two differ,
 * then the move. */
static bool job_move(struct cluster *cluster, const struct queued *job, const struct queued *anchor,
                     bool ahead)
{
    const struct task_edit edit = {
        .fields = TASK_EDIT_priority,
        .spec = &(struct task_spec){.priority = (uint32_t)(DET_PRIORITY_TOP - anchor->priority)}};
    struct input in = {.type = INPUT_TASK_EDIT, .task = {.task = job->task, .edit = &edit}};
    if (job->priority != anchor->priority && cluster_do(cluster, in) != VERDICT_OK) {
        return false;
    }
    in = (struct input){.type = INPUT_TASK_MOVE,
                        .task = {.task = job->task, .move = {anchor->task, !ahead}}};
    return cluster_do(cluster, in) == VERDICT_OK;
}

/* True when the job stands between its anchor and the neighbour (0: the end of the queue). */
static bool stands_between(const struct cluster *cluster, task_id first, task_id job, task_id last)
{
    const pool_id pool = query_pool_named(cluster->core, POOL_DEFAULT_NAME)->id;
    return query_queue_next(cluster->core, pool, first).v == job.v &&
           query_queue_next(cluster->core, pool, job).v == last.v;
}

enum outcome det_move(struct trial *trial)
{
    const struct doc *jobs = reads_get(trial->test, "jobs");
    const struct doc *move = reads_get(trial->test, "move");
    const struct doc *expect = reads_get(trial->test, "expect");
    struct cluster cluster;
    cluster_init(&cluster, trial->arena);
    struct pool_spec pool = cluster_pool(&cluster);
    pool.policy = POLICY_PRIORITY;
    cluster_pool_set(&cluster, &pool);
    const struct queued *all = jobs_submit(&cluster, jobs);
    const struct queued *job = job_of(all, jobs->count, reads_get(move, "job"));
    const struct queued *anchor = job_of(all, jobs->count, reads_get(move, "anchor"));
    const struct queued *neighbour = job_of(all, jobs->count, reads_get(expect, "neighbour"));
    const bool ahead = read_flag(move, "ahead", true);
    const bool at_end = read_is(reads_get(expect, "neighbour"), ahead ? "HEAD" : "TAIL");
    enum outcome outcome = CASE_PASSED;
    if (neighbour == NULL && !at_end) {
        cluster_done(&cluster);
        return trial_failed(trial, "'expect.neighbour' is no job of the case");
    }
    if (job == NULL || anchor == NULL || !job_move(&cluster, job, anchor, ahead)) {
        outcome = trial_failed(trial, "the move is refused");
    } else {
        const task_id beside = neighbour == NULL ? (task_id){0} : neighbour->task;
        const bool right = ahead ? stands_between(&cluster, beside, job->task, anchor->task)
                                 : stands_between(&cluster, anchor->task, job->task, beside);
        const uint64_t got = DET_PRIORITY_TOP - query_task(cluster.core, job->task)->priority;
        const bool changes = read_flag(expect, "priority_changes", job->priority != got);
        if (!right || got != det_number(expect, "takes_priority", got) ||
            changes != (job->priority != got)) {
            outcome = trial_failed(trial, "it stands elsewhere, with priority %u", (unsigned)got);
        }
    }
    cluster_done(&cluster);
    return outcome;
}

/* ---- order ---- */

/* Which tasks an order is about: enum values as the words of `class` and `state` stand. */
struct order_ask {
    int class; /* -1: any; 0: tasks with slots; 1: tasks without */
    int state; /* -1: any; 0: waiting; 1: running */
};

static bool asked_about(const struct order_ask *ask, const struct det_task *task)
{
    const bool zero = det_number(task->doc, "slots", 0) == 0;
    return (ask->class < 0 || zero == (ask->class == 1)) &&
           (ask->state < 0 || task->ran == (ask->state == 1));
}

/* Returns the next task of this priority behind `after` (NULL: the first) in Weir's order. */
static const struct det_task *order_next(const struct det_case *det, const struct order_ask *ask,
                                         uint32_t priority, const struct task *after)
{
    const struct det_task *best = NULL;
    for (uint32_t i = 0; i < det->task_count; i++) {
        const struct task *row = query_task(det->cluster.core, det->tasks[i].task);
        const struct task *other = best == NULL ? NULL : query_task(det->cluster.core, best->task);
        if (row != NULL && row->priority == priority && asked_about(ask, &det->tasks[i]) &&
            (after == NULL || row->rank > after->rank) &&
            (other == NULL || row->rank < other->rank)) {
            best = &det->tasks[i];
        }
    }
    return best;
}

static enum outcome list_compare(const struct det_case *det, const struct order_ask *ask,
                                 const struct doc *list)
{
    char *end = NULL;
    const unsigned long value = strtoul(list->key.p, &end, 10);
    if (list->kind != DOC_LIST || *end != '\0' || value == 0 || value >= DET_PRIORITY_TOP) {
        return trial_failed(det->trial, "'%s' is no priority with a list of tasks", list->key.p);
    }
    const uint32_t priority = DET_PRIORITY_TOP - (uint32_t)value;
    const struct task *after = NULL;
    reads_note(list);
    for (const struct doc *name = list->first; name != NULL; name = name->next) {
        const struct det_task *task = order_next(det, ask, priority, after);
        if (task == NULL || !read_is(name, task->name)) {
            return trial_failed(det->trial, "'%s' stands there at priority %s",
                                task == NULL ? "nobody" : task->name, list->key.p);
        }
        after = query_task(det->cluster.core, task->task);
    }
    return order_next(det, ask, priority, after) == NULL
               ? CASE_PASSED
               : trial_failed(det->trial, "one more waits at priority %s", list->key.p);
}

/* The words of `class` and `state` narrow the question. -2: another word, and the trial failed. */
static int word_or_any(struct trial *trial, const struct doc *map, const char *key,
                       const char *words, int any)
{
    if (doc_get(map, key) == NULL) {
        return any;
    }
    const int index = reads_word(trial, map, key, words);
    return index < 0 ? -2 : index;
}

static bool ask_read(struct trial *trial, const struct doc *map, struct order_ask *ask)
{
    ask->class = word_or_any(trial, map, "class", "slots|zero_slot", ask->class);
    ask->state = word_or_any(trial, map, "state", "pending|allocated", ask->state);
    return ask->class >= -1 && ask->state >= -1;
}

/* A map from priorities to names in order. The map stands by itself or is the only member of
 * another map. */
static enum outcome lists_compare(const struct det_case *det, const struct order_ask *ask,
                                  const struct doc *lists)
{
    enum outcome outcome = CASE_PASSED;
    if (lists->first != NULL && lists->first->kind == DOC_MAP) {
        lists = lists->first;
        reads_note(lists);
    }
    for (const struct doc *list = lists->first; list != NULL && outcome == CASE_PASSED;
         list = list->next) {
        outcome = list_compare(det, ask, list);
    }
    return outcome;
}

enum outcome det_order_compare(struct det_case *det, const struct doc *step)
{
    struct order_ask ask = {-1, -1};
    const struct doc *expect = reads_get(step, "expect");
    if (!ask_read(det->trial, det->trial->test, &ask) || !ask_read(det->trial, step, &ask)) {
        return CASE_FAILED;
    }
    return expect == NULL || expect->kind != DOC_MAP || expect->count == 0
               ? trial_failed(det->trial, "'expect' names no task")
               : lists_compare(det, &ask, expect);
}
