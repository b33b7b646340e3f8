/* sim_queue.c - reference policies of the queueing experiment, from their description: one pool of
 * equal nodes, no preemption, no reservation.
 *
 *   sim_queue TRACE.csv FORMAT NODES GPUS POLICY       POLICY: fifo | fifo-fit | sjf-fit | least
 *
 * Jobs of at most one node's GPUs go to the fullest node that has room; larger ones take whole idle
 * nodes and, for the rest, the emptiest other. At each moment everything that fits starts, in order of
 * arrival (fifo-fit) or of true length (sjf-fit); with fifo nobody is overtaken. Prints mean, p50, p99 and
 * longest wait and the mean completion time, in seconds. `least` prints only a longest wait: none that stops
 * nobody has a shorter one, whatever it knows. SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/str.h"
#include "sim/sim_file.h"
#include "sim/spread.h"
#include "sim/trace.h"

enum { NODES_MOST = 4096, GPUS_MOST = 4096, PARTS_MAX = 64 };

struct waiting {
    struct heap_entry end; /* first */
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
};

/* ---- placing ---- */

static void part_take(struct pool *pool, struct waiting *waiting, int node, int gpus)
{
    waiting->node[waiting->parts] = node;
    waiting->taken[waiting->parts++] = gpus;
    pool->left[node] -= gpus;
    pool->left_all -= gpus;
}

static void parts_give(struct pool *pool, struct waiting *waiting)
{
    for (int i = 0; i < waiting->parts; i++) {
        pool->left[waiting->node[i]] += waiting->taken[i];
        pool->left_all += waiting->taken[i];
    }
    waiting->parts = 0;
}

/* The fullest node with room, or (emptiest) the one with most; -1: none. */
static int node_for(const struct pool *pool, int gpus, bool emptiest)
{
    int best = -1;
    for (int i = 0; i < pool->node_count; i++) {
        const int left = pool->left[i];
        if (left >= gpus &&
            (best < 0 || (emptiest ? left > pool->left[best] : left < pool->left[best]))) {
            best = i;
        }
    }
    return best;
}

static bool place(struct pool *pool, struct waiting *waiting)
{
    int wanted = waiting->gpus;
    while (wanted > 0) {
        const bool whole = wanted >= pool->node_gpus;
        const int part = whole ? pool->node_gpus : wanted;
        const int node = node_for(pool, part, !whole && waiting->parts > 0);
        if (node < 0 || waiting->parts == PARTS_MAX) {
            parts_give(pool, waiting);
            return false;
        }
        part_take(pool, waiting, node, part);
        wanted -= part;
    }
    return true;
}

/* ---- the queue ---- */

static bool shorter_first;
static bool nobody_overtaken;

/* qsort has no context; one policy is played at a time. */
static int in_order(const void *a, const void *b)
{
    const struct waiting *first = *(struct waiting *const *)a;
    const struct waiting *second = *(struct waiting *const *)b;
    if (shorter_first && first->job->runs_ms != second->job->runs_ms) {
        return first->job->runs_ms < second->job->runs_ms ? -1 : 1;
    }
    return first < second ? -1 : first > second;
}

/* Starts what fits; a size that did not fit, and every larger one, is not tried again in this round.
 * Returns how many still wait. */
static size_t round_run(struct pool *pool, struct waiting **queue, size_t count, int64_t now_ms)
{
    int too_large = INT32_MAX;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct waiting *waiting = queue[i];
        if (waiting->gpus < too_large && waiting->gpus <= pool->left_all && place(pool, waiting)) {
            waiting->started_ms = now_ms;
            heap_set(&pool->running, &waiting->end, now_ms + waiting->job->runs_ms);
            continue;
        }
        if (waiting->gpus < too_large) {
            too_large = nobody_overtaken ? 0 : waiting->gpus;
        }
        queue[kept++] = waiting;
    }
    return kept;
}

static void ends_due(struct pool *pool, int64_t now_ms)
{
    struct heap_entry *first;
    while ((first = heap_first(&pool->running)) != NULL && first->key <= now_ms) {
        heap_remove(&pool->running, first);
        parts_give(pool, (struct waiting *)first);
    }
}

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
        if (waiting > before && shorter_first) {
            qsort(queue, waiting, sizeof *queue, in_order);
        }
        waiting = round_run(pool, queue, waiting, now_ms);
    }
    free(queue);
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
                 policy, count, (long long)wait.mean_ms / 1000, (long long)wait.p50_ms / 1000,
                 (long long)wait.p99_ms / 1000, (long long)wait.max_ms / 1000,
                 (long long)(completion / (int64_t)(count > 0 ? count : 1)) / 1000);
    free(times);
}

/* ---- the least longest wait ---- */

/* GPUs that are in use from, or to, a moment on. */
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
    return first->gpus < second->gpus ? -1 : first->gpus > second->gpus; /* what ends, ends first */
}

/* Could nobody wait longer than this? Then every job has begun by its arrival + wait_ms, and cannot end before its arrival + its
 * length: in between it runs for certain, whatever the schedule. */
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
    int64_t high_ms = 0; /* nobody runs for certain */
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
    (void)printf("{\"policy\":\"least\",\"jobs\":%zu,\"max\":%lld}\n", count,
                 (long long)low_ms / 1000);
}

int main(int argc, char **argv)
{
    struct scenario scenario;
    struct pool pool = {0};
    struct str text;
    struct error e;
    uint64_t nodes;
    uint64_t gpus;
    if (argc != 6 || !str_to_u64(str_of(argv[3]), &nodes) || !str_to_u64(str_of(argv[4]), &gpus) ||
        nodes > NODES_MOST || gpus < 1 || gpus > GPUS_MOST) {
        (void)fprintf(stderr,
                      "usage: sim_queue TRACE FORMAT NODES GPUS fifo|fifo-fit|sjf-fit|least\n");
        return 2;
    }
    scenario_init(&scenario);
    const struct trace_options how = {.file = argv[1], .format = argv[2]};
    if (sim_file_read(argv[1], &scenario.arena, &text, &e) != ERR_OK ||
        trace_read(&how, text, &scenario, &e) != ERR_OK) {
        (void)fprintf(stderr, "sim_queue: %s\n", e.text);
        return 1;
    }
    scenario_sort(&scenario);
    pool.node_count = (int)nodes;
    pool.node_gpus = (int)gpus;
    pool.left_all = (int)(nodes * gpus);
    for (int i = 0; i < pool.node_count; i++) {
        pool.left[i] = pool.node_gpus;
    }
    struct waiting *all = xcalloc(scenario.jobs.count + 1, sizeof *all);
    for (size_t i = 0; i < scenario.jobs.count; i++) {
        const struct task_spec *spec = &scenario.jobs.at[i].kind->spec;
        all[i].job = &scenario.jobs.at[i];
        all[i].gpus = (int)(spec->slots_milli / 1000 * spec->instances);
    }
    shorter_first = strcmp(argv[5], "sjf-fit") == 0;
    nobody_overtaken = strcmp(argv[5], "fifo") == 0;
    if (strcmp(argv[5], "least") == 0) {
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
