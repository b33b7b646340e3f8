/* usage.c - accounting over a year: fills a store with ended tasks as the server does, then times questions.
 *
 *   usage_bench DIR [TASKS]      DIR must not exist; 10,000,000 tasks take 8 GB and about ten minutes
 *   usage_bench DIR 0            asks a store that was filled before
 *
 * 500 users in 100 projects, 4 pools, 1,000 nodes; one attempt a task, of up to two days. Each question gets a
 * reader of its own, so that SQLite's own cache is empty; the cache of the system is not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/store_usage.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH = 5000,
    USERS = 500,
    PROJECTS = 100,
    POOLS = 4,
    NODES = 1000,
    DAYS = 365,
    JSON_BYTES = 400,
    BAR_MS = 2000,
};
#define YEAR_MS (DAYS * STORE_DAY_MS)
#define BEGIN_MS (20000 * STORE_DAY_MS)

static char names[NODES][16]; /* "7": of users, projects, pools and nodes */
static uint64_t seed = 1;

static int64_t draw(int64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

/* A span of time: on the clock, and of this thread on a core. */
struct span {
    int64_t wall_ms;
    int64_t cpu_ms;
};

static int64_t clock_ms(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct span now(void)
{
    return (struct span){clock_ms(CLOCK_MONOTONIC), clock_ms(CLOCK_THREAD_CPUTIME_ID)};
}

static struct span since(struct span start)
{
    const struct span end = now();
    return (struct span){end.wall_ms - start.wall_ms, end.cpu_ms - start.cpu_ms};
}

static struct span longer(struct span a, struct span b)
{
    return a.wall_ms > b.wall_ms ? a : b;
}

static void check(enum err r, const struct error *e)
{
    if (r != ERR_OK) {
        (void)fprintf(stderr, "usage_bench: %s\n", e->text);
        exit(1);
    }
}

struct rows {
    struct store_history history[BATCH];
    struct store_use uses[2 * BATCH];
};

static void task_draw(struct rows *rows, size_t at, uint64_t task, int64_t end_ms)
{
    static char json[JSON_BYTES];
    const int64_t user = draw(USERS);
    const int64_t length_ms = draw(20) == 0 ? draw(2 * STORE_DAY_MS) : draw(3600000);
    memset(json, 'x', sizeof json);
    struct store_use use = {
        .task = task,
        .attempt = 1,
        .ending = draw(20) == 0 ? USE_TRY_EVICTED : USE_TRY,
        .begin_ms = end_ms - length_ms,
        .end_ms = end_ms,
        .lost_from_ms = end_ms,
        .submitted_ms = end_ms - length_ms - draw(3600000),
        .slots_milli = 1000 * (1 + draw(8)),
        .kind = (uint32_t)draw(2),
        .pool = str_of(names[draw(POOLS)]),
        .user = str_of(names[user]),
        .project = str_of(names[user % PROJECTS]),
        .node = str_of(names[draw(NODES)]),
    };
    rows->uses[2 * at] = use;
    use.index = -1;
    use.attempt = 0;
    use.ending = (enum store_use_end)(USE_COMPLETED + draw(3));
    use.begin_ms = end_ms;
    use.submitted_ms = 0;
    use.slots_milli = 0;
    use.node = (struct str){"", 0};
    rows->uses[2 * at + 1] = use;
    rows->history[at] = (struct store_history){.task = task,
                                               .submitted_ms = rows->uses[2 * at].submitted_ms,
                                               .ended_ms = end_ms,
                                               .state = 6 + (uint32_t)use.ending - USE_COMPLETED,
                                               .kind = use.kind,
                                               .pool = use.pool,
                                               .user = use.user,
                                               .project = use.project,
                                               .name = str_of(""),
                                               .json = {json, sizeof json}};
}

static void fill(const char *dir, uint64_t tasks)
{
    static struct rows rows;
    struct error e;
    struct store *store;
    const struct store_options options = {.dir = dir};
    check(store_open(&options, &store, &e), &e);
    const struct span start = now();
    for (uint64_t done = 0; done < tasks;) {
        size_t count = 0;
        for (; count < BATCH && done < tasks; count++, done++) {
            const int64_t end_ms =
                BEGIN_MS + 2 * STORE_DAY_MS +
                (int64_t)((__int128)done * (YEAR_MS - 2 * STORE_DAY_MS) / (int64_t)tasks);
            task_draw(&rows, count, done + 1, end_ms);
        }
        const struct store_batch batch = {.history = rows.history,
                                          .history_count = count,
                                          .uses = rows.uses,
                                          .use_count = 2 * count};
        check(store_commit(store, &batch, &e), &e);
        check(store_commit_tend(store, &e), &e);
        if (done % (tasks / 10 + 1) < BATCH) {
            (void)fprintf(stderr, "%" PRIu64 " tasks stored\n", done);
        }
    }
    const struct span took = since(start);
    (void)printf("stored %" PRIu64 " tasks in %" PRId64 " s (%" PRId64 " s of a core)\n", tasks,
                 took.wall_ms / 1000, took.cpu_ms / 1000);
    store_close(store);
}

static void row_count(void *ctx, const struct store_usage_row *row)
{
    (void)row;
    ++*(size_t *)ctx;
}

/* The time of one question with a new reader. */
static struct span ask(const char *dir, const struct store_usage_query *query)
{
    struct error e;
    struct store_reader *reader;
    struct store_usage_said said;
    size_t rows = 0;
    check(store_reader_open(dir, &reader, &e), &e);
    const struct span start = now();
    check(store_usage_read(reader, query, row_count, &rows, &said, &e), &e);
    const struct span took = since(start);
    store_reader_close(reader);
    return took;
}

/* The bar is for a machine that has nothing else to do. */
static int report(const char *what, struct span took)
{
    const bool good = took.wall_ms < BAR_MS;
    (void)printf("%-44s %6" PRId64 " ms, %5" PRId64 " ms of a core  %s\n", what, took.wall_ms,
                 took.cpu_ms, good ? "ok" : "SHORT");
    return good ? 0 : 1;
}

static int questions(const char *dir)
{
    static const char *const bys[] = {"user", "project", "pool", "kind", "day", "node"};
    int missed = 0;
    for (int by = USAGE_BY_USER; by <= USAGE_BY_NODE; by++) {
        struct span whole = {0};
        struct span parts = {0};
        for (int month = 0; month < 12; month++) {
            struct store_usage_query query = {.by = (enum store_usage_by)by,
                                              .since_ms = BEGIN_MS + month * 30 * STORE_DAY_MS};
            query.until_ms = query.since_ms + 30 * STORE_DAY_MS;
            whole = longer(whole, ask(dir, &query));
            query.since_ms += STORE_DAY_MS / 5; /* parts of two days more */
            query.until_ms += STORE_DAY_MS / 3;
            parts = longer(parts, ask(dir, &query));
        }
        char what[64];
        (void)snprintf(what, sizeof what, "by %s, slowest month of whole days", bys[by]);
        missed += report(what, whole);
        (void)snprintf(what, sizeof what, "by %s, slowest month with parts of days", bys[by]);
        missed += report(what, parts);
    }
    const struct store_usage_query year = {.since_ms = BEGIN_MS, .until_ms = BEGIN_MS + YEAR_MS};
    (void)report("by user, the whole year", ask(dir, &year)); /* no bar */
    return missed;
}

static void span_count(void *ctx, const struct store_span *span)
{
    (void)span;
    ++*(size_t *)ctx;
}

/* The bars of a day, a week and 31 days, for the timeline; with 2,000 bars as the API asks. */
static int timelines(const char *dir)
{
    static const int days[] = {1, 7, 31};
    int missed = 0;
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        struct error e;
        struct store_reader *reader;
        struct store_span_query query = {.since_ms = BEGIN_MS + 100 * STORE_DAY_MS, .limit = 2000};
        size_t rows = 0;
        bool more;
        char what[64];
        query.until_ms = query.since_ms + days[i] * STORE_DAY_MS;
        check(store_reader_open(dir, &reader, &e), &e);
        const struct span start = now();
        check(store_usage_spans(reader, &query, span_count, &rows, &more, &e), &e);
        const struct span took = since(start);
        store_reader_close(reader);
        (void)snprintf(what, sizeof what, "timeline of %d days, %zu bars", days[i], rows);
        missed += report(what, took);
    }
    return missed;
}

static void task_count(void *ctx, const struct store_history *row)
{
    (void)row;
    ++*(size_t *)ctx;
}

/* `weir task list --ended` of a week in the middle of the year: the first page. */
static int lists(const char *dir)
{
    const struct store_history_filter filters[] = {
        {.limit = 100},
        {.limit = 100, .user = names[7]},
        {.limit = 100, .states = 1 << 7},
    };
    int missed = 0;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        struct error e;
        struct store_reader *reader;
        size_t rows = 0;
        struct store_history_filter filter = filters[i];
        filter.ended_after_ms = BEGIN_MS + YEAR_MS / 2;
        filter.ended_before_ms = filter.ended_after_ms + 7 * STORE_DAY_MS;
        check(store_reader_open(dir, &reader, &e), &e);
        const struct span start = now();
        check(store_history_list(reader, &filter, task_count, &rows, &e), &e);
        const struct span took = since(start);
        store_reader_close(reader);
        missed += report(i == 0   ? "100 tasks that ended in a week"
                         : i == 1 ? "100 tasks of a user that ended in a week"
                                  : "100 failed tasks that ended in a week",
                         took);
    }
    return missed;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        (void)fprintf(stderr, "usage: usage_bench DIR [TASKS]\n");
        return 2;
    }
    const uint64_t tasks = argc == 3 ? strtoull(argv[2], NULL, 10) : 10000000;
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(names[i], sizeof names[i], "name%d", i);
    }
    if (tasks > 0) {
        fill(argv[1], tasks);
    }
    const int missed = questions(argv[1]) + timelines(argv[1]) + lists(argv[1]);
    return missed == 0 ? 0 : 1;
}
