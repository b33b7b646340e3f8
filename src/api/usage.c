/* usage.c - GET /usage: what was used between two moments, summed by one of the words of `bys`. The reader
 * thread sums; the answer waits for the disk, so that a task that a client saw end is counted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/handlers.h"
#include "base/time_text.h"
#include "base/vec.h"
#include "io/http_request.h"
#include "store/store_usage.h"

enum { DEFAULT_DAYS = 30 };

static const char *const bys[] = {
    [USAGE_BY_USER] = "user", [USAGE_BY_PROJECT] = "project", [USAGE_BY_POOL] = "pool",
    [USAGE_BY_KIND] = "kind", [USAGE_BY_DAY] = "day",         [USAGE_BY_NODE] = "node",
};
enum { BYS = sizeof bys / sizeof *bys };

struct usage_read {
    struct call_work base;
    struct arena arena;
    struct store_usage_query query; /* texts in the arena */
    struct store_usage_said said;
    VEC(struct store_usage_row) rows; /* likewise */
    VEC(struct store_usage_price) prices;
    const char *currencies[STORE_USAGE_CURRENCIES_MAX]; /* in the arena */
    uint32_t currency_count;
};

static void usage_free(struct call_work *base)
{
    struct usage_read *usage = (struct usage_read *)base;
    vec_done(&usage->rows);
    vec_done(&usage->prices);
    arena_done(&usage->arena);
    free(usage);
}

/* ---- the question ---- */

static bool by_read(struct call *call, enum store_usage_by *ret)
{
    const char *text = http_request_query(call->request, "by");
    *ret = USAGE_BY_USER;
    for (unsigned i = 0; text != NULL && i < BYS; i++) {
        if (strcmp(text, bys[i]) == 0) {
            *ret = (enum store_usage_by)i;
            return true;
        }
    }
    if (text != NULL) {
        call_failf(call, ERR_INVALID, "by",
                   "'by' must be user, project, pool, node, kind or day, not '%.60s'", text);
    }
    return text == NULL;
}

/* The default is the last 30 whole days and today. */
static bool times_read(struct call *call, struct store_usage_query *query)
{
    query->until_ms = call_now_ms(call);
    if (!call_query_time(call, "until", &query->until_ms)) {
        return false;
    }
    const int64_t day = query->until_ms / STORE_DAY_MS;
    query->since_ms = day > DEFAULT_DAYS ? (day - DEFAULT_DAYS) * STORE_DAY_MS : 0;
    if (!call_query_time(call, "since", &query->since_ms)) {
        return false;
    }
    if (query->since_ms > query->until_ms) {
        call_failf(call, ERR_INVALID, "since", "'since' must not be after 'until'");
        return false;
    }
    return true;
}

static bool query_read(struct call *call, struct arena *arena, struct store_usage_query *query)
{
    const struct {
        const char *name;
        const char **at;
    } texts[] = {{"pool", &query->pool}, {"user", &query->user}, {"project", &query->project}};
    if (!by_read(call, &query->by) || !times_read(call, query)) {
        return false;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = http_request_query(call->request, texts[i].name);
        *texts[i].at = text != NULL ? arena_str(arena, text) : NULL;
    }
    if (query->by == USAGE_BY_NODE && (query->user != NULL || query->project != NULL)) {
        call_failf(call, ERR_INVALID, query->user != NULL ? "user" : "project",
                   "the sums of nodes are kept by pool alone: leave '%s' out, or sum by user, "
                   "project, pool, kind or day",
                   query->user != NULL ? "user" : "project");
        return false;
    }
    return true;
}

/* Returns the number of the currency, and gives a new currency the next number; STORE_USAGE_CURRENCIES_MAX: there are too many. */
static uint32_t currency_number(struct usage_read *usage, const char *currency)
{
    uint32_t i = 0;
    while (i < usage->currency_count && strcmp(usage->currencies[i], currency) != 0) {
        i++;
    }
    if (i == usage->currency_count && i < STORE_USAGE_CURRENCIES_MAX) {
        usage->currencies[usage->currency_count++] = currency;
    }
    return i;
}

/* Lists the price of each pool whose flavor has a price. */
static void prices_take(struct usage_read *usage, const struct core *core)
{
    const struct pool *pool = NULL;
    while ((pool = query_pool_next(core, pool != NULL ? pool->id : (pool_id){0})) != NULL) {
        struct flavor_spec spec = {0};
        if (pool->flavor.v != 0) {
            query_flavor_spec(core, pool->flavor, &usage->arena, &spec);
        }
        const uint32_t slots = spec.gpus > 0 ? spec.gpus : spec.slots;
        if (spec.price_milli == 0 || slots == 0) {
            continue;
        }
        const uint32_t currency = currency_number(usage, arena_str(&usage->arena, spec.currency));
        if (currency < STORE_USAGE_CURRENCIES_MAX) {
            const struct store_usage_price price = {
                .pool = arena_str(&usage->arena, query_pool_name(core, pool->id)),
                .node_price_milli = spec.price_milli,
                .node_slots = slots,
                .currency = currency};
            vec_push(&usage->prices, price);
        }
    }
    usage->query.prices = usage->prices.at;
    usage->query.price_count = usage->prices.count;
}

/* ---- the answer ---- */

/* Writes the cost of the use in each currency in which pools have prices. */
static void costs_json(struct json_out *j, const struct usage_read *usage, const int64_t *costs)
{
    json_out_put(j, "costs:[");
    for (uint32_t i = 0; i < usage->currency_count; i++) {
        json_out_put(j, "{currency:%s,amount:%.3ld}", usage->currencies[i], costs[i]);
    }
    json_out_put(j, "]");
}

static void row_take(void *ctx, const struct store_usage_row *row)
{
    struct usage_read *usage = ctx;
    struct store_usage_row copy = *row;
    copy.key.p = arena_strn(&usage->arena, row->key.p, row->key.len);
    vec_push(&usage->rows, copy);
}

static void usage_run(struct work *work, struct store_reader *reader)
{
    struct usage_read *usage = (struct usage_read *)work;
    usage->base.err =
        store_usage_read(reader, &usage->query, row_take, usage, &usage->said, &usage->base.error);
}

/* Slots times milliseconds, in thousandths of slots times seconds, are written as slots times seconds. */
static void sums_json(struct json_out *j, enum store_usage_by by, const int64_t *sums)
{
    if (by == USAGE_BY_NODE) {
        json_out_put(j, "slot_seconds:{used:%.3ld,lost:%.3ld}", sums[USAGE_USED], sums[USAGE_LOST]);
    } else {
        json_out_put(j, "slot_seconds:{asked:%.3ld,used:%.3ld,lost:%.3ld,waited:%.3ld}",
                     sums[USAGE_ASKED], sums[USAGE_USED], sums[USAGE_LOST], sums[USAGE_WAITED]);
        json_out_put(
            j, "tasks:{ended:%ld,completed:%ld,failed:%ld,killed:%ld,unavailable:%ld,unknown:%ld}",
            sums[USAGE_COMPLETED] + sums[USAGE_FAILED] + sums[USAGE_KILLED] +
                sums[USAGE_UNAVAILABLE] + sums[USAGE_UNKNOWN],
            sums[USAGE_COMPLETED], sums[USAGE_FAILED], sums[USAGE_KILLED], sums[USAGE_UNAVAILABLE],
            sums[USAGE_UNKNOWN]);
    }
    json_out_put(j, "attempts:{ended:%ld,failed:%ld,evicted:%ld,node_lost:%ld}", sums[USAGE_TRIES],
                 sums[USAGE_TRIES_BAD], sums[USAGE_EVICTED], sums[USAGE_NODE_LOST]);
}

static const char *key_text(enum store_usage_by by, const struct store_usage_row *row,
                            char *scratch)
{
    if (by == USAGE_BY_KIND) {
        return row->number < TASK_KIND_COUNT ? names_task_kind((enum task_kind)row->number) : "";
    }
    if (by == USAGE_BY_DAY) {
        time_text(row->number * STORE_DAY_MS, scratch);
        scratch[sizeof "2026-11-15" - 1] = '\0';
        return scratch;
    }
    return row->key.p;
}

/* A sum stays at the largest number. */
static void total_add(int64_t *total, const int64_t *sums, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(total[i], sums[i], &total[i])) {
            total[i] = INT64_MAX;
        }
    }
}

static void usage_answer(struct call_work *base)
{
    struct usage_read *usage = (struct usage_read *)base;
    struct call *call = base->call;
    const enum store_usage_by by = usage->query.by;
    int64_t total[USAGE_SUM_COUNT] = {0};
    int64_t costs[STORE_USAGE_CURRENCIES_MAX] = {0};
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{by:%s,since:%td,until:%td,items:[", bys[by], usage->said.since_ms,
                 usage->said.until_ms);
    for (size_t i = 0; i < usage->rows.count; i++) {
        const struct store_usage_row *row = &usage->rows.at[i];
        char scratch[TIME_TEXT_MAX];
        json_out_put(&j, "{key:%s", key_text(by, row, scratch));
        sums_json(&j, by, row->sums);
        costs_json(&j, usage, row->costs);
        json_out_end(&j);
        total_add(total, row->sums, USAGE_SUM_COUNT);
        total_add(costs, row->costs, STORE_USAGE_CURRENCIES_MAX);
    }
    json_out_put(&j, "],more:%i,total:{", usage->said.more);
    sums_json(&j, by, total);
    costs_json(&j, usage, costs);
    json_out_put(&j, "},recorded_from:%td,exact_from:%td}", usage->said.first_ms,
                 usage->said.exact_from_ms);
    call_answer_json(call, 200);
}

static const struct call_work_kind usage_kind = {
    .run = usage_run,
    .answer = usage_answer,
    .free = usage_free,
    .reads = true,
    .busy = "too many requests wait for the history",
};

void usage_show(struct call *call)
{
    struct usage_read *usage = xcalloc(1, sizeof *usage);
    usage->base.kind = &usage_kind;
    arena_init(&usage->arena);
    if (!query_read(call, &usage->arena, &usage->query)) {
        usage_free(&usage->base);
        return;
    }
    prices_take(usage, call_core(call));
    call_work_send_stored(call, &usage->base);
}
