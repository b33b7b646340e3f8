/* pool_day.c - see pool_day.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/pool_day.h"

#include "cli/api.h"
#include "cli/item.h"
#include "cli/text.h"
#include "io/http_client.h"

#include <stdlib.h>
#include <string.h>

enum { TASKS_PAGE = 1000, EVENTS_QUIET_MS = 300 };

void pool_day_done(struct pool_day *day)
{
    pool_accounts_done(&day->accounts);
    vec_done(&day->tasks);
    vec_done(&day->waits_ms);
    vec_done(&day->launches);
}

/* ---- tasks ---- */

/* The mean length of the attempts that ended by themselves; 0: there is none. `*ret_from_ms` is the first start of them. */
static int64_t length_of(const struct doc *task, int64_t *ret_from_ms)
{
    const struct doc *attempts = item_at(task, "attempts");
    int64_t sum_ms = 0;
    int64_t count = 0;
    *ret_from_ms = INT64_MAX;
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        int64_t from_ms;
        int64_t to_ms;
        if (item_time(d, "started_at", &from_ms) && item_time(d, "ended_at", &to_ms) &&
            !item_true(d, "again") && to_ms >= from_ms) {
            sum_ms += to_ms - from_ms;
            count++;
            *ret_from_ms = from_ms < *ret_from_ms ? from_ms : *ret_from_ms;
        }
    }
    return count == 0 ? 0 : sum_ms / count;
}

bool pool_day_task(const struct pool_day *day, const struct doc *task, int64_t *ret_at_ms,
                   int64_t *ret_runs_ms)
{
    int64_t submitted_ms = day->begins_ms;
    int64_t started_ms;
    int64_t ended_ms;
    int64_t from_ms;
    int64_t runs_ms = length_of(task, &from_ms);
    const bool started = item_time(task, "started_at", &started_ms);
    const bool ended = item_time(task, "ended_at", &ended_ms);
    (void)item_time(task, "submitted_at", &submitted_ms);
    if (ended && (!started || ended_ms <= day->begins_ms)) {
        return false;
    }
    if (!ended) {
        /* How long the task will run is not known: it runs as long as others did, and at least until now. */
        const int64_t so_far_ms = started ? day->ends_ms - started_ms : 0;
        runs_ms = day->length_ms > so_far_ms ? day->length_ms : so_far_ms + 1;
        from_ms = started ? started_ms : day->ends_ms;
    }
    if (from_ms < day->begins_ms) {
        runs_ms -= day->begins_ms - from_ms; /* what was left at the beginning */
    }
    *ret_at_ms = submitted_ms > day->begins_ms ? submitted_ms - day->begins_ms : 0;
    *ret_runs_ms = runs_ms > 1 ? runs_ms : 1;
    return true;
}

static void task_note(struct pool_day *day, const struct doc *task)
{
    int64_t submitted_ms;
    int64_t started_ms;
    vec_push(&day->tasks, task);
    if (!item_time(task, "submitted_at", &submitted_ms) || submitted_ms < day->begins_ms) {
        return; /* its wait began before */
    }
    if (item_time(task, "started_at", &started_ms) && started_ms >= submitted_ms) {
        vec_push(&day->waits_ms, started_ms - submitted_ms);
    } else if (item_text(task, "ended_at")[0] == '\0') {
        day->unstarted++;
    }
}

static void length_mean(struct pool_day *day)
{
    int64_t sum_ms = 0;
    int64_t count = 0;
    for (size_t i = 0; i < day->tasks.count; i++) {
        int64_t from_ms;
        const int64_t ms = length_of(day->tasks.at[i], &from_ms);
        sum_ms += ms;
        count += ms > 0;
    }
    day->length_ms = count == 0 ? 0 : sum_ms / count;
}

static enum err tasks_read(struct cli *cli, struct pool_day *day, struct error *e)
{
    char since[TEXT_TIME_MAX];
    const char *cursor = "";
    text_time(day->begins_ms, since);
    while (cursor != NULL && !day->more) {
        struct api_reply reply;
        const char *path = arena_fmt(
            &cli->arena, "/tasks?pool=%s&since=%s&limit=%d%s%s", api_escape(&cli->arena, day->pool),
            api_escape(&cli->arena, since), TASKS_PAGE,
            cursor[0] == '\0' ? "" : "&cursor=", api_escape(&cli->arena, cursor));
        const enum err r = api_get(cli, &cli->arena, path, &reply, e);
        if (r != ERR_OK) {
            return r;
        }
        const struct doc *items = item_at(reply.doc, "items");
        for (const struct doc *d = items == NULL ? NULL : items->first; d != NULL; d = d->next) {
            if (day->tasks.count < POOL_DAY_TASKS_MAX) {
                task_note(day, d);
            } else {
                day->more = true;
            }
        }
        const struct doc *next = item_at(reply.doc, "next");
        cursor = next != NULL && next->kind == DOC_STRING ? next->text.p : NULL;
        if (cli->err_tty && cursor != NULL) {
            context_say("weir: %zu tasks read", day->tasks.count);
        }
    }
    length_mean(day);
    return ERR_OK;
}

/* ---- launches ---- */

struct launch_events {
    struct pool_day *day;
    struct arena arena;
};

static struct day_launch *launch_of(struct pool_day *day, int64_t number)
{
    for (size_t i = day->launches.count; i > 0; i--) {
        if (day->launches.at[i - 1].number == number) {
            return &day->launches.at[i - 1];
        }
    }
    vec_push(&day->launches, ((struct day_launch){.number = number, .asked_ms = day->begins_ms}));
    return &day->launches.at[day->launches.count - 1];
}

static void event_note(struct pool_day *day, const struct doc *event)
{
    int64_t at_ms;
    const char *type = item_text(event, "type");
    if (strncmp(type, "launch-", 7) != 0 || !item_time(event, "time", &at_ms)) {
        return;
    }
    struct day_launch *launch = launch_of(day, item_number(event, "launch", 0));
    if (strcmp(type, "launch-asked") == 0) {
        launch->asked_ms = at_ms;
    } else if (strcmp(type, "launch-ended") == 0) {
        launch->ended_ms = at_ms;
    } else if (strcmp(item_text(event, "state"), "running") == 0 &&
               item_text(event, "node")[0] != '\0' && at_ms >= day->begins_ms) {
        day->joined++;
        day->joined_ms += at_ms - launch->asked_ms;
    }
}

static bool on_line(void *ctx, struct str line)
{
    struct launch_events *events = ctx;
    struct str value;
    const struct str key = str_cut(line, ':', &value);
    struct doc *doc;
    if (value.p == NULL) {
        return true;
    }
    value = str_trim(value);
    if (str_is(key, "event") && str_is(value, "reset")) {
        events->day->cut = true;
    } else if (str_is(key, "data")) {
        arena_clear(&events->arena);
        if (doc_json_parse(&events->arena, value, &doc, NULL) == ERR_OK) {
            event_note(events->day, doc);
        }
    }
    return true;
}

/* Reads one type of events of the pool. The stream counts as over when nothing comes for a moment. */
static enum err events_read(struct cli *cli, struct launch_events *events, const char *type,
                            struct error *e)
{
    const char *path = arena_fmt(&cli->arena, "/api/v1/events?after=0&pool=%s&type=%s",
                                 api_escape(&cli->arena, events->day->pool), type);
    const struct http_stream_call call = {.call = {.method = "GET", .path = path},
                                          .idle_ms = EVENTS_QUIET_MS,
                                          .on_line = on_line,
                                          .ctx = events};
    struct http_reply reply = {0};
    const enum err r = http_client_stream(cli->client, &call, &cli->arena, &reply, e);
    if (r == ERR_OK && reply.status != 200) {
        return api_refusal(reply.status, reply.body, e);
    }
    return r == ERR_TIMEOUT ? ERR_OK : r;
}

/* Drops launches that ended before the day, and lets the others begin with it. */
static void launches_cut(struct pool_day *day)
{
    size_t kept = 0;
    for (size_t i = 0; i < day->launches.count; i++) {
        struct day_launch launch = day->launches.at[i];
        if (launch.ended_ms == 0 || launch.ended_ms > day->begins_ms) {
            launch.asked_ms = launch.asked_ms > day->begins_ms ? launch.asked_ms : day->begins_ms;
            day->launches.at[kept++] = launch;
        }
    }
    day->launches.count = kept;
}

static enum err launches_read(struct cli *cli, struct pool_day *day, struct error *e)
{
    static const char *const types[] = {"launch-asked", "launch-changed", "launch-ended"};
    struct launch_events events = {.day = day};
    enum err r = api_open(cli, e);
    arena_init(&events.arena);
    for (size_t i = 0; r == ERR_OK && i < sizeof types / sizeof *types; i++) {
        r = events_read(cli, &events, types[i], e);
    }
    arena_done(&events.arena);
    launches_cut(day);
    return r;
}

bool pool_day_start_ms(const struct pool_day *day, int64_t *ret)
{
    if (day->joined > 0) {
        *ret = day->joined_ms / day->joined;
    }
    return day->joined > 0;
}

static int64_t end_of(const struct pool_day *day, const struct day_launch *launch)
{
    return launch->ended_ms == 0 ? day->ends_ms : launch->ended_ms;
}

int64_t pool_day_node_ms(const struct pool_day *day)
{
    int64_t sum_ms = 0;
    for (size_t i = 0; i < day->launches.count; i++) {
        sum_ms += end_of(day, &day->launches.at[i]) - day->launches.at[i].asked_ms;
    }
    return sum_ms;
}

struct edge {
    int64_t at_ms;
    int by;
};

static int by_time(const void *left, const void *right)
{
    const struct edge *a = left;
    const struct edge *b = right;
    return a->at_ms != b->at_ms ? (a->at_ms < b->at_ms ? -1 : 1) : a->by - b->by;
}

uint32_t pool_day_most(const struct pool_day *day)
{
    VEC(struct edge) edges = {0};
    int now = 0;
    int most = 0;
    for (size_t i = 0; i < day->launches.count; i++) {
        vec_push(&edges, ((struct edge){day->launches.at[i].asked_ms, 1}));
        vec_push(&edges, ((struct edge){end_of(day, &day->launches.at[i]), -1}));
    }
    if (edges.count > 0) {
        qsort(edges.at, edges.count, sizeof edges.at[0], by_time);
    }
    for (size_t i = 0; i < edges.count; i++) {
        now += edges.at[i].by;
        most = now > most ? now : most;
    }
    vec_done(&edges);
    return (uint32_t)most;
}

/* ---- all ---- */

double pool_day_price(const struct pool_day *day)
{
    return strtod(item_text(day->flavor, "price"), NULL);
}

static enum err flavor_read(struct cli *cli, struct pool_day *day, struct error *e)
{
    struct api_reply reply;
    const char *name = item_text(day->spec, "flavor");
    if (name[0] == '\0') {
        return ERR_OK;
    }
    const char *path = arena_fmt(&cli->arena, "/flavors/%s", api_escape(&cli->arena, name));
    const enum err r = api_get(cli, &cli->arena, path, &reply, e);
    if (r == ERR_OK) {
        day->flavor = item_at(reply.doc, "spec");
    }
    return r;
}

enum err pool_day_read(struct cli *cli, const char *pool, int64_t span_ms, struct pool_day *ret,
                       struct error *e)
{
    struct api_reply reply;
    const int64_t now_ms = text_now_ms();
    *ret = (struct pool_day){.pool = pool, .begins_ms = now_ms - span_ms, .ends_ms = now_ms};
    const char *path = arena_fmt(&cli->arena, "/pools/%s", api_escape(&cli->arena, pool));
    enum err r = api_get(cli, &cli->arena, path, &reply, e);
    if (r != ERR_OK) {
        return r;
    }
    int64_t created_ms;
    if (item_time(reply.doc, "created_at", &created_ms) && created_ms > ret->begins_ms) {
        ret->begins_ms = created_ms < now_ms ? created_ms : now_ms - 1;
    }
    ret->spec = item_at(reply.doc, "spec");
    ret->provider = item_at(reply.doc, "provider");
    if (ret->spec == NULL || strcmp(item_text(ret->provider, "type"), "static") == 0) {
        return fail(e, ERR_CONFLICT,
                    "pool '%s' has no provider: its nodes come and go by hand, so there is nothing "
                    "to try",
                    pool);
    }
    r = flavor_read(cli, ret, e);
    r = r == ERR_OK ? pool_accounts_read(cli, pool, &ret->accounts, e) : r;
    r = r == ERR_OK ? tasks_read(cli, ret, e) : r;
    return r == ERR_OK ? launches_read(cli, ret, e) : r;
}
