/* sim_queue.c - reference policies of the queueing experiment, from their description: one pool of
 * equal nodes, no preemption. SPDX-License-Identifier: Apache-2.0
 *
 *   sim_queue TRACE FORMAT NODES GPUS POLICY [ARRIVALS]
 *
 * POLICY is fifo, fifo-fit, sjf-fit, easy, easy-blind or least. ARRIVALS multiplies the times of
 * arrival, as `weir sim --arrivals` does. Prints mean, p50, p99 and longest wait and the mean
 * completion time, in seconds.
 *
 * A job that fits one node goes to the fullest node that has room. A larger job takes whole idle
 * nodes and, for the rest, the emptiest other node. At each moment every job that fits starts, in
 * order of arrival (fifo-fit) or of true length (sjf-fit). With fifo no job is overtaken.
 *
 * easy: jobs start in order of arrival. The first job that does not fit, the head, gets a
 * reservation: the earliest moment at which it fits, and its places then, from the true lengths of
 * what runs. A later job starts early if it ends before that moment, or fits beside the reserved
 * places. easy-blind knows no lengths: the head keeps the emptiest nodes that hold it, and a later
 * job starts only beside them.
 *
 * `least` prints a lower bound for the longest wait: no schedule without preemption has a shorter
 * longest wait. */
#include "base/heap.h"
#include "base/str.h"
#include "sim/sim_file.h"
#include "sim/spread.h"
#include "sim/trace.h"
#include "sim/trace_value.h"

enum { NODES_MOST = 4096, GPUS_MOST = 4096, PARTS_MAX = 64 };

enum policy { FIFO, FIFO_FIT, SJF_FIT, EASY, EASY_BLIND, LEAST };
enum { POLICY_COUNT = LEAST + 1 };

static const char *const policy_names[POLICY_COUNT] = {
    [FIFO] = "fifo", [FIFO_FIT] = "fifo-fit",     [SJF_FIT] = "sjf-fit",
    [EASY] = "easy", [EASY_BLIND] = "easy-blind", [LEAST] = "least",
};

struct waiting {
    struct heap_entry end; /* the first member, so that a heap entry can be cast to its job */
    const struct job *job;
    int gpus;
    int parts;
    int node[PARTS_MAX];
    int taken[PARTS_MAX];
    int64_t started_ms;
};

struct pool {
    int node_count;
    int node_gpus;
    int left[NODES_MOST];
    int left_all;
    struct heap running;
    enum policy policy;
};

/* ---- placing ---- */

/* Gives or, with a factor of -1, takes the GPUs of all parts. */
static void parts_move(int *left, const struct waiting *waiting, int factor)
{
    for (int i = 0; i < waiting->parts; i++) {
        left[waiting->node[i]] += factor * waiting->taken[i];
    }
}

/* The fullest node with room, or (emptiest) the node with most room; -1: none. */
static int node_for(const struct pool *pool, const int *left, int gpus, bool emptiest)
{
    int best = -1;
    for (int i = 0; i < pool->node_count; i++) {
        if (left[i] >= gpus &&
            (best < 0 || (emptiest ? left[i] > left[best] : left[i] < left[best]))) {
            best = i;
        }
    }
    return best;
}

/* Finds places for a job on nodes that have `left` GPUs left and takes them there; false, and
 * nothing taken: it does not fit. */
static bool place(const struct pool *pool, int *left, struct waiting *waiting)
{
    int wanted = waiting->gpus;
    waiting->parts = 0;
    while (wanted > 0) {
        const bool whole = wanted >= pool->node_gpus;
        const int part = whole ? pool->node_gpus : wanted;
        const int node = node_for(pool, left, part, !whole && waiting->parts > 0);
        if (node < 0 || waiting->parts == PARTS_MAX) {
            parts_move(left, waiting, 1);
            return false;
        }
        waiting->node[waiting->parts] = node;
        waiting->taken[waiting->parts++] = part;
        left[node] -= part;
        wanted -= part;
    }
    return true;
}

static void start(struct pool *pool, struct waiting *waiting, int64_t now_ms)
{
    pool->left_all -= waiting->gpus;
    waiting->started_ms = now_ms;
    heap_set(&pool->running, &waiting->end, now_ms + waiting->job->runs_ms);
}

/* ---- the queue ---- */

static int in_order(const void *a, const void *b)
{
    const struct waiting *first = *(struct waiting *const *)a;
    const struct waiting *second = *(struct waiting *const *)b;
    if (first->job->runs_ms != second->job->runs_ms) {
        return first->job->runs_ms < second->job->runs_ms ? -1 : 1;
    }
    return first < second ? -1 : first > second;
}

/* Starts the jobs that fit. After a job did not fit, jobs of its size and larger are not tried
 * again in this round. Returns how many jobs still wait. */
static size_t round_run(struct pool *pool, struct waiting **queue, size_t count, int64_t now_ms)
{
    int too_large = INT32_MAX;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct waiting *waiting = queue[i];
        if (waiting->gpus < too_large && waiting->gpus <= pool->left_all &&
            place(pool, pool->left, waiting)) {
            start(pool, waiting, now_ms);
            continue;
        }
        if (waiting->gpus < too_large) {
            too_large = pool->policy == FIFO ? 0 : waiting->gpus;
        }
        queue[kept++] = waiting;
    }
    return kept;
}

static void ends_due(struct pool *pool, int64_t now_ms)
{
    struct heap_entry *first;
    while ((first = heap_first(&pool->running)) != NULL && first->key <= now_ms) {
        const struct waiting *ended = (struct waiting *)first;
        heap_remove(&pool->running, first);
        parts_move(pool->left, ended, 1);
        pool->left_all += ended->gpus;
    }
}

/* ---- EASY: one reservation, for the head ---- */

/* What the head of the queue keeps. */
struct reserved {
    int64_t from_ms;       /* the head starts then; INT64_MAX: not known */
    int spare[NODES_MOST]; /* GPUs that a job may use which runs longer than that */
};

static int end_order(const void *a, const void *b)
{
    const struct heap_slot *first = a;
    const struct heap_slot *second = b;
    if (first->key != second->key) {
        return first->key < second->key ? -1 : 1;
    }
    return first->order < second->order ? -1 : first->order > second->order;
}

/* Lets the running jobs end one after the other until the head fits. */
static void reserve(const struct pool *pool, const struct waiting *head, struct reserved *ret)
{
    struct waiting trial = *head;
    const size_t count = pool->running.count;
    struct heap_slot *ends = xcalloc(count + 1, sizeof *ends);
    memcpy(ends, pool->running.at, count * sizeof *ends);
    qsort(ends, count, sizeof *ends, end_order);
    memcpy(ret->spare, pool->left, sizeof pool->left);
    ret->from_ms = INT64_MAX;
    int left_all = pool->left_all;
    for (size_t i = 0; i < count; i++) {
        const struct waiting *ended = (const struct waiting *)ends[i].entry;
        parts_move(ret->spare, ended, 1);
        left_all += ended->gpus;
        const bool moment_over = i + 1 == count || ends[i + 1].key > ends[i].key;
        if (moment_over && left_all >= trial.gpus && place(pool, ret->spare, &trial)) {
            ret->from_ms = ends[i].key;
            break;
        }
    }
    free(ends);
}

/* Lets the head keep the emptiest nodes, as many as hold it. */
static void reserve_blind(const struct pool *pool, const struct waiting *head, struct reserved *ret)
{
    memcpy(ret->spare, pool->left, sizeof pool->left);
    ret->from_ms = INT64_MAX;
    for (int wanted = head->gpus; wanted > 0; wanted -= pool->node_gpus) {
        const int part = wanted < pool->node_gpus ? wanted : pool->node_gpus;
        const int node = node_for(pool, ret->spare, INT32_MIN + 1, true);
        if (node < 0) {
            break;
        }
        /* Below 0: the node is kept, and no later part of the head takes it again. */
        ret->spare[node] = ret->spare[node] > part ? ret->spare[node] - part : INT32_MIN;
    }
}

/* Starts a job behind the head if it delays the head by nothing. */
static bool backfill(struct pool *pool, struct waiting *waiting, struct reserved *reserved,
                     int64_t now_ms)
{
    int usable[NODES_MOST];
    if (reserved->from_ms < INT64_MAX && now_ms + waiting->job->runs_ms <= reserved->from_ms) {
        return place(pool, pool->left, waiting);
    }
    for (int i = 0; i < pool->node_count; i++) {
        const int spare = reserved->spare[i];
        usable[i] = pool->left[i] < spare ? pool->left[i] : spare;
    }
    if (!place(pool, usable, waiting)) {
        return false;
    }
    parts_move(pool->left, waiting, -1);
    parts_move(reserved->spare, waiting, -1);
    return true;
}

static size_t round_easy(struct pool *pool, struct waiting **queue, size_t count, int64_t now_ms)
{
    struct reserved reserved;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct waiting *waiting = queue[i];
        const bool room = waiting->gpus <= pool->left_all;
        if (room && (kept == 0 ? place(pool, pool->left, waiting)
                               : backfill(pool, waiting, &reserved, now_ms))) {
            start(pool, waiting, now_ms);
            continue;
        }
        if (kept == 0) {
            (pool->policy == EASY ? reserve : reserve_blind)(pool, waiting, &reserved);
        }
        queue[kept++] = waiting;
    }
    return kept;
}

/* ---- the clock ---- */

static void play(struct pool *pool, struct waiting *all, size_t count)
{
    struct waiting **queue = xcalloc(count + 1, sizeof *queue);
    size_t waiting = 0;
    size_t next = 0;
    for (;;) {
        const struct heap_entry *first = heap_first(&pool->running);
        int64_t now_ms = first == NULL ? INT64_MAX : first->key;
        if (next < count && all[next].job->at_ms < now_ms) {
            now_ms = all[next].job->at_ms;
        }
        if (now_ms == INT64_MAX) {
            break;
        }
        ends_due(pool, now_ms);
        const size_t before = waiting;
        while (next < count && all[next].job->at_ms <= now_ms) {
            queue[waiting++] = &all[next++];
        }
        if (waiting > before && pool->policy == SJF_FIT) {
            qsort(queue, waiting, sizeof *queue, in_order);
        }
        const bool easy = pool->policy == EASY || pool->policy == EASY_BLIND;
        waiting = (easy ? round_easy : round_run)(pool, queue, waiting, now_ms);
    }
    free(queue);
}

static long long seconds(int64_t ms)
{
    return (long long)(ms + 500) / 1000;
}

static void print(const char *policy, const struct waiting *all, size_t count)
{
    int64_t *times = xcalloc(count + 1, sizeof *times);
    __int128 completion = 0;
    for (size_t i = 0; i < count; i++) {
        times[i] = all[i].started_ms - all[i].job->at_ms;
        completion += times[i] + all[i].job->runs_ms;
    }
    const struct spread wait = spread_of(times, count);
    (void)printf("{\"policy\":\"%s\",\"jobs\":%zu,\"mean\":%lld,\"p50\":%lld,\"p99\":%lld,"
                 "\"max\":%lld,\"completion\":%lld}\n",
                 policy, count, seconds(wait.mean_ms), seconds(wait.p50_ms), seconds(wait.p99_ms),
                 seconds(wait.max_ms),
                 seconds((int64_t)(completion / (int64_t)(count > 0 ? count : 1))));
    free(times);
}

/* ---- the least longest wait ---- */

/* GPUs that come into use (above 0) or become free (below 0) at a moment. */
struct change {
    int64_t at_ms;
    int64_t gpus;
};

static int change_order(const void *a, const void *b)
{
    const struct change *first = a;
    const struct change *second = b;
    if (first->at_ms != second->at_ms) {
        return first->at_ms < second->at_ms ? -1 : 1;
    }
    /* Ends come before starts of the same moment. */
    return first->gpus < second->gpus ? -1 : first->gpus > second->gpus;
}

/* Could all jobs wait no longer than wait_ms? Then every job has begun at its arrival + wait_ms. No
 * job can end before its arrival + its length. In between a job certainly runs, in any schedule. */
static bool wait_possible(const struct waiting *all, size_t count, int gpus, int64_t wait_ms)
{
    struct change *changes = xcalloc(2 * count + 1, sizeof *changes);
    size_t change_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct job *job = all[i].job;
        if (job->runs_ms > wait_ms) {
            changes[change_count++] = (struct change){job->at_ms + wait_ms, all[i].gpus};
            changes[change_count++] = (struct change){job->at_ms + job->runs_ms, -all[i].gpus};
        }
    }
    qsort(changes, change_count, sizeof *changes, change_order);
    int64_t used = 0;
    bool possible = true;
    for (size_t i = 0; i < change_count && possible; i++) {
        used += changes[i].gpus;
        possible = used <= gpus;
    }
    free(changes);
    return possible;
}

static void least_print(const struct waiting *all, size_t count, int gpus)
{
    int64_t low_ms = 0;
    int64_t high_ms = 0; /* with this wait no job runs for certain */
    for (size_t i = 0; i < count; i++) {
        high_ms = all[i].job->runs_ms > high_ms ? all[i].job->runs_ms : high_ms;
    }
    while (low_ms < high_ms) {
        const int64_t middle_ms = low_ms + (high_ms - low_ms) / 2;
        if (wait_possible(all, count, gpus, middle_ms)) {
            high_ms = middle_ms;
        } else {
            low_ms = middle_ms + 1;
        }
    }
    (void)printf("{\"policy\":\"least\",\"jobs\":%zu,\"max\":%lld}\n", count, seconds(low_ms));
}

/* ---- the command line ---- */

static bool policy_find(const char *name, enum policy *ret)
{
    for (int i = 0; i < POLICY_COUNT; i++) {
        if (strcmp(name, policy_names[i]) == 0) {
            *ret = (enum policy)i;
            return true;
        }
    }
    return false;
}

static bool pool_make(char **argv, struct pool *pool)
{
    uint64_t nodes;
    uint64_t gpus;
    if (!str_to_u64(str_of(argv[3]), &nodes) || !str_to_u64(str_of(argv[4]), &gpus) ||
        nodes > NODES_MOST || gpus < 1 || gpus > GPUS_MOST ||
        !policy_find(argv[5], &pool->policy)) {
        return false;
    }
    pool->node_count = (int)nodes;
    pool->node_gpus = (int)gpus;
    pool->left_all = (int)(nodes * gpus);
    for (int i = 0; i < pool->node_count; i++) {
        pool->left[i] = pool->node_gpus;
    }
    return true;
}

static must_use enum err jobs_read(int argc, char **argv, struct scenario *scenario,
                                   struct error *e)
{
    struct trace_options how = {.file = argv[1], .format = argv[2]};
    struct str text;
    enum err r = argc > 6 ? trace_value_factor(str_of(argv[6]), &how.arrivals, e) : ERR_OK;
    r = r == ERR_OK ? sim_file_read(argv[1], &scenario->arena, &text, e) : r;
    return r == ERR_OK ? trace_read(&how, text, scenario, e) : r;
}

int main(int argc, char **argv)
{
    struct scenario scenario;
    struct pool pool = {0};
    struct error e;
    if (argc < 6 || argc > 7 || !pool_make(argv, &pool)) {
        (void)fprintf(stderr, "usage: sim_queue TRACE FORMAT NODES GPUS "
                              "fifo|fifo-fit|sjf-fit|easy|easy-blind|least [ARRIVALS]\n");
        return 2;
    }
    scenario_init(&scenario);
    if (jobs_read(argc, argv, &scenario, &e) != ERR_OK) {
        (void)fprintf(stderr, "sim_queue: %s\n", e.text);
        return 1;
    }
    scenario_sort(&scenario);
    struct waiting *all = xcalloc(scenario.jobs.count + 1, sizeof *all);
    for (size_t i = 0; i < scenario.jobs.count; i++) {
        const struct task_spec *spec = &scenario.jobs.at[i].kind->spec;
        all[i].job = &scenario.jobs.at[i];
        all[i].gpus = (int)(spec->slots_milli / 1000 * spec->instances);
    }
    if (pool.policy == LEAST) {
        least_print(all, scenario.jobs.count, pool.left_all);
    } else {
        play(&pool, all, scenario.jobs.count);
        print(argv[5], all, scenario.jobs.count);
    }
    free(all);
    heap_done(&pool.running);
    scenario_done(&scenario);
    return 0;
}
