/* timeline.c - GET /timeline: what ran where between two moments, as bars. Ended attempts come from the accounting,
 * running ones from a copy of the state; the reader thread puts them together and keeps the longest bars.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/timeline.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/store_usage.h"

enum {
    TIMELINE_BARS_MAX = 2000,
    TIMELINE_BYTES_MAX = 190 * 1000, /* of the answer, its names included */
    TIMELINE_DAYS_MAX = 31,
};
#define BAR_BYTES INT64_C(320) /* of one bar at most, without new names: 64 devices */

static const char *const bys[] = {"node", "user", "project", "pool"};
_Static_assert(sizeof bys / sizeof *bys == TIMELINE_BYS, "a name for each");

struct timeline {
    struct call_work base;
    struct core *copy;
    struct arena arena;
    struct store_span_query query;
    unsigned by;
    int64_t now_ms;
    VEC(struct bar) bars;
    bool more;
};

static void timeline_free(struct call_work *base)
{
    struct timeline *t = (struct timeline *)base;
    core_free(t->copy);
    vec_done(&t->bars);
    arena_done(&t->arena);
    free(t);
}

/* ---- bars ---- */

static void bar_push(struct timeline *t, struct bar bar)
{
    const int64_t end = bar.end_ms != 0 ? bar.end_ms : t->now_ms;
    const int64_t from = bar.begin_ms > t->query.since_ms ? bar.begin_ms : t->query.since_ms;
    const int64_t to = end < t->query.until_ms ? end : t->query.until_ms;
    bar.seen_ms = to - from;
    vec_push(&t->bars, bar);
}

static const char *ending_name(enum store_use_end ending)
{
    return ending == USE_TRY_BAD         ? "failed"
           : ending == USE_TRY_EVICTED   ? "evicted"
           : ending == USE_TRY_NODE_LOST ? "node-lost"
                                         : "ended";
}

static const char *running_name(const struct instance *instance)
{
    return instance->state == INSTANCE_STARTING   ? "starting"
           : instance->state == INSTANCE_STOPPING ? "stopping"
                                                  : "running";
}

static void span_take(void *ctx, const struct store_span *span)
{
    struct timeline *t = ctx;
    const struct str texts[TIMELINE_BYS] = {span->node, span->user, span->project, span->pool};
    struct bar bar = {.task = span->task,
                      .index = span->index,
                      .attempt = span->attempt,
                      .begin_ms = span->begin_ms,
                      .end_ms = span->end_ms,
                      .lost_ms = span->lost_ms,
                      .waited_ms = span->waited_ms,
                      .slots_milli = span->slots_milli,
                      .state = ending_name(span->ending)};
    for (unsigned i = 0; i < TIMELINE_BYS; i++) {
        bar.names[i] = arena_strn(&t->arena, texts[i].p, texts[i].len);
    }
    bar_push(t, bar);
}

static void running_take(struct timeline *t, const struct node *node,
                         const struct instance *instance)
{
    const struct task *task = query_task(t->copy, instance->task);
    must(task != NULL); /* its instance holds a place */
    const char *pool = query_pool_name(t->copy, task->pool);
    if (instance->allocated_ms >= t->query.until_ms || t->query.since_ms >= t->now_ms ||
        (t->query.pool != NULL && strcmp(pool, t->query.pool) != 0)) {
        return;
    }
    const int64_t from_ms = instance->attempt == 1 ? task->submitted_ms : task->queued_ms;
    bar_push(t, (struct bar){.task = instance->task.v,
                             .index = instance->index,
                             .attempt = instance->attempt,
                             .begin_ms = instance->allocated_ms,
                             .waited_ms = from_ms > 0 && from_ms < instance->allocated_ms
                                              ? instance->allocated_ms - from_ms
                                              : 0,
                             .started_ms =
                                 instance->state == INSTANCE_STARTING ? 0 : instance->started_ms,
                             .devices = instance->devices,
                             .slots_milli = instance->slots_milli,
                             .state = running_name(instance),
                             .names = {query_node_name(t->copy, node->id),
                                       query_usage_user_name(t->copy, task->user),
                                       query_account_name(t->copy, task->account), pool}});
}

/* `ended`: the attempts that ended after the copy was made, which the store knows better. */
static void running_add(struct timeline *t, const struct map *ended)
{
    const struct node *node = NULL;
    while ((node = query_node_next(t->copy, node != NULL ? node->id : (node_id){0})) != NULL) {
        struct attempt_key cursor = {0};
        const struct instance *instance;
        if (t->query.node != NULL &&
            strcmp(query_node_name(t->copy, node->id), t->query.node) != 0) {
            continue;
        }
        while ((instance = query_node_instance_next(t->copy, node->id, &cursor)) != NULL) {
            const uint64_t key[] = {instance->task.v, instance->index, instance->attempt};
            if (map_get(ended, key, sizeof key) == NULL) {
                running_take(t, node, instance);
            }
        }
    }
}

static int bar_compare(const void *a, const void *b)
{
    const struct bar *x = a;
    const struct bar *y = b;
    if (x->seen_ms != y->seen_ms) {
        return x->seen_ms < y->seen_ms ? 1 : -1;
    }
    if (x->task != y->task) {
        return x->task < y->task ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* The names of the bars no longer need the copy, which is given back here and not on the loop. */
static void names_keep(struct timeline *t)
{
    for (size_t i = 0; i < t->bars.count; i++) {
        for (unsigned k = 0; k < TIMELINE_BYS && t->bars.at[i].end_ms == 0; k++) {
            t->bars.at[i].names[k] = arena_str(&t->arena, t->bars.at[i].names[k]);
        }
    }
    core_free(steal(t->copy));
}

static void timeline_run(struct work *work, struct store_reader *reader)
{
    struct timeline *t = (struct timeline *)work;
    t->base.err = store_usage_spans(reader, &t->query, span_take, t, &t->more, &t->base.error);
    if (t->base.err != ERR_OK) {
        return;
    }
    struct map *ended = map_new();
    for (size_t i = 0; i < t->bars.count; i++) {
        const struct bar *bar = &t->bars.at[i];
        const uint64_t key[] = {bar->task, bar->index, bar->attempt};
        (void)map_put(ended, key, sizeof key, t);
    }
    running_add(t, ended);
    map_free(ended);
    if (t->bars.count > 0) {
        qsort(t->bars.at, t->bars.count, sizeof *t->bars.at, bar_compare);
    }
    if (t->bars.count > TIMELINE_BARS_MAX) {
        t->bars.count = TIMELINE_BARS_MAX;
        t->more = true;
    }
    t->base.err = timeline_phases(t->copy, reader, t->bars.at, t->bars.count, &t->base.error);
    names_keep(t);
}

/* ---- the answer ---- */

/* Names that were seen, in order, and the position of each. */
struct bar_names {
    struct map *at; /* name -> position + 1 */
    VEC(const char *) texts;
};

static size_t name_position(struct bar_names *names, const char *text, int64_t *bytes)
{
    const uintptr_t known = (uintptr_t)map_get(names->at, text, strlen(text));
    if (known != 0) {
        return known - 1;
    }
    vec_push(&names->texts, text);
    *bytes += (int64_t)strlen(text) + 3;
    (void)map_put(names->at, text, strlen(text), (void *)(uintptr_t)names->texts.count);
    return names->texts.count - 1;
}

static void names_json(struct json_out *j, const char *key, struct bar_names *names)
{
    json_out_key(j, key);
    json_out_array(j);
    for (size_t i = 0; i < names->texts.count; i++) {
        json_out_text(j, names->texts.at[i]);
    }
    json_out_end(j);
    map_free(names->at);
    vec_done(&names->texts);
}

/* Moments are milliseconds since `since`. */
static void bar_json(struct json_out *j, const struct timeline *t, const struct bar *bar,
                     size_t row, size_t project)
{
    json_out_array(j);
    json_out_u64(j, row);
    json_out_u64(j, project);
    json_out_u64(j, bar->task);
    json_out_u64(j, bar->index);
    json_out_u64(j, bar->attempt);
    json_out_i64(j, bar->begin_ms - t->query.since_ms);
    if (bar->end_ms != 0) {
        json_out_i64(j, bar->end_ms - t->query.since_ms);
    } else {
        json_out_null(j);
    }
    json_out_text(j, bar->state);
    json_out_milli(j, bar->slots_milli);
    json_out_i64(j, bar->lost_ms);
    json_out_i64(j, bar->waited_ms);
    if (bar->started_ms >= bar->begin_ms) {
        json_out_i64(j, bar->started_ms - bar->begin_ms);
    } else {
        json_out_null(j);
    }
    json_out_array(j);
    for (uint64_t device = 0; device < 64; device++) {
        if ((bar->devices >> device & 1) != 0) {
            json_out_u64(j, device);
        }
    }
    json_out_end(j);
    json_out_end(j);
}

static void timeline_answer(struct call_work *base)
{
    struct timeline *t = (struct timeline *)base;
    struct call *call = base->call;
    struct bar_names rows = {.at = map_new()};
    struct bar_names projects = {.at = map_new()};
    struct json_out j;
    int64_t bytes = 0;
    size_t shown = 0;
    call_json(call, &j);
    json_out_put(&j, "{by:%s,since:%td,until:%td,time:%td,bars:[", bys[t->by], t->query.since_ms,
                 t->query.until_ms, t->now_ms);
    for (; shown < t->bars.count; shown++) {
        const struct bar *bar = &t->bars.at[shown];
        const size_t before = call->out.len;
        if (bytes + BAR_BYTES + 2 * NAME_LEN_MAX > TIMELINE_BYTES_MAX) {
            break;
        }
        const size_t row = name_position(&rows, bar->names[t->by], &bytes);
        bar_json(&j, t, bar, row, name_position(&projects, bar->names[2], &bytes));
        bytes += (int64_t)(call->out.len - before);
    }
    json_out_put(&j, "]");
    names_json(&j, "rows", &rows);
    names_json(&j, "projects", &projects);
    json_out_put(&j, "more:%i}", t->more || shown < t->bars.count);
    call_answer_json(call, 200);
}

static const struct call_work_kind timeline_kind = {
    .run = timeline_run,
    .answer = timeline_answer,
    .free = timeline_free,
    .reads = true,
    .busy = "too many requests wait for the history",
};

/* ---- the question ---- */

static bool by_read(struct call *call, unsigned *ret)
{
    const char *text = call_query(call, "by");
    *ret = 0;
    for (unsigned i = 0; text != NULL && i < TIMELINE_BYS; i++) {
        if (strcmp(text, bys[i]) == 0) {
            *ret = i;
            return true;
        }
    }
    if (text != NULL) {
        call_failf(call, ERR_INVALID, "by", "'by' must be node, user, project or pool, not '%.60s'",
                   text);
    }
    return text == NULL;
}

/* The default is the last day. */
static bool times_read(struct call *call, struct store_span_query *query)
{
    query->until_ms = call_now_ms(call);
    if (!call_query_time(call, "until", &query->until_ms)) {
        return false;
    }
    query->since_ms = query->until_ms > STORE_DAY_MS ? query->until_ms - STORE_DAY_MS : 0;
    if (!call_query_time(call, "since", &query->since_ms)) {
        return false;
    }
    if (query->since_ms >= query->until_ms) {
        call_failf(call, ERR_INVALID, "since", "'since' must be before 'until'");
        return false;
    }
    if (query->until_ms - query->since_ms > TIMELINE_DAYS_MAX * STORE_DAY_MS) {
        call_failf(call, ERR_LIMIT, "since", "the time must not be longer than %d days",
                   TIMELINE_DAYS_MAX);
        return false;
    }
    return true;
}

void timeline_show(struct call *call)
{
    struct timeline *t = xcalloc(1, sizeof *t);
    t->base.kind = &timeline_kind;
    t->query.limit = TIMELINE_BARS_MAX;
    t->now_ms = call_now_ms(call);
    arena_init(&t->arena);
    if (!by_read(call, &t->by) || !times_read(call, &t->query)) {
        timeline_free(&t->base);
        return;
    }
    const char *pool = call_query(call, "pool");
    const char *node = call_query(call, "node");
    t->query.pool = pool != NULL ? arena_str(&t->arena, pool) : NULL;
    t->query.node = node != NULL ? arena_str(&t->arena, node) : NULL;
    t->copy = core_copy(call_core(call));
    call_work_send_stored(call, &t->base);
}
