/* store_usage_cost.c - what use costs: a function of SQL that adds up used slot time by the prices of pools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/store_usage_cost.h"

#include "store/store_usage.h"

#include "base/map.h"

enum { HOUR_S = 3600, NANO_PER_MILLI = 1000000 };

/* SQLite's memory is aligned to 8 bytes, and a plain __int128 needs 16. */
typedef __int128 cost_nano __attribute__((aligned(8)));

/* The sums of one group of rows, in thousandths of a millionth, so that rounding each row loses nothing that is shown. */
struct costs {
    cost_nano nano[STORE_USAGE_CURRENCIES_MAX];
};

static void cost_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct store_reader *reader = sqlite3_user_data(context);
    struct costs *costs = sqlite3_aggregate_context(context, sizeof *costs);
    const struct store_usage_price *price = NULL;
    (void)count;
    if (costs == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const char *pool = (const char *)sqlite3_value_text(values[1]);
    if (reader->prices != NULL && pool != NULL) {
        price = map_get(reader->prices, pool, strlen(pool));
    }
    if (price != NULL) {
        /* thousandths of slot seconds, times thousandths of a price for an hour */
        const __int128 micro_hours =
            (__int128)sqlite3_value_int64(values[0]) * price->node_price_milli;
        costs->nano[price->currency] +=
            micro_hours * (NANO_PER_MILLI / 1000) / ((int64_t)price->node_slots * HOUR_S);
    }
}

static void cost_final(sqlite3_context *context)
{
    const struct costs *costs = sqlite3_aggregate_context(context, 0);
    int64_t milli[STORE_USAGE_CURRENCIES_MAX] = {0};
    for (unsigned i = 0; costs != NULL && i < STORE_USAGE_CURRENCIES_MAX; i++) {
        const __int128 sum = costs->nano[i] / NANO_PER_MILLI;
        milli[i] = sum > STORE_USAGE_AMOUNT_MAX ? STORE_USAGE_AMOUNT_MAX : (int64_t)sum;
    }
    sqlite3_result_blob(context, milli, sizeof milli, SQLITE_TRANSIENT);
}

enum err store_usage_cost_init(struct store_reader *reader, struct error *e)
{
    const int rc = sqlite3_create_function_v2(reader->db, "weir_cost", 2, SQLITE_UTF8, reader, NULL,
                                              cost_step, cost_final, NULL);
    return rc == SQLITE_OK ? ERR_OK : db_fail(reader->db, "make a function", e);
}
