/* series.c - see series.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/series.h"

#include "base/must.h"

#include <stdbool.h>

/* The longest distance, with which all times of a series stay below INT64_MAX. */
#define STEP_MS_MAX (INT64_MAX / SERIES_SAMPLES_MAX)

void series_init(struct series *series, int64_t step_ms)
{
    must(step_ms > 0);
    must(step_ms <= STEP_MS_MAX);
    series->step_ms = step_ms;
    series->count = 0;
}

int64_t series_next_ms(const struct series *series)
{
    const bool full = series->count == SERIES_SAMPLES_MAX - 1 && series->step_ms > STEP_MS_MAX / 2;
    return full ? INT64_MAX : (int64_t)series->count * series->step_ms;
}

static void thin_out(struct series *series)
{
    for (size_t i = 0; i < SERIES_SAMPLES_MAX / 2; i++) {
        series->at[i] = series->at[2 * i];
    }
    series->count = SERIES_SAMPLES_MAX / 2;
    series->step_ms *= 2;
}

void series_add(struct series *series, const struct sample *sample)
{
    must(series->count < SERIES_SAMPLES_MAX);
    const int64_t at_ms = series_next_ms(series);
    if (at_ms == INT64_MAX) {
        return;
    }
    series->at[series->count] = *sample;
    series->at[series->count++].at_ms = at_ms;
    if (series->count == SERIES_SAMPLES_MAX) {
        thin_out(series);
    }
}

void series_lose(struct series *series, const struct series_loss *loss)
{
    must(loss->pool < SERIES_POOLS_MAX);
    const int64_t from_ms = loss->from_ms > 0 ? loss->from_ms : 0;
    const int64_t first = from_ms / series->step_ms + (from_ms % series->step_ms != 0);
    for (size_t i = (size_t)first; i < series->count && series->at[i].at_ms < loss->to_ms; i++) {
        series->at[i].lost_milli += loss->milli;
        series->at[i].pools[loss->pool].lost_milli += loss->milli;
    }
}
