/* summary_time.c - the run in a few slices of time: allocation, fragmentation and queue, as
 * means of the samples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/summary_internal.h"

#include "sim/sim_text.h"

enum { SLICES = 7, SAMPLES_MIN = 2 * SLICES, POOL_ROWS_MAX = 4 };

/* Sums over the samples of a slice. */
struct slice {
    __int128 part;
    __int128 whole;
    int64_t count;
};

/* What a row shows. `pool` is an index in the samples; -1: all pools together. */
enum row_kind { ROW_ALLOCATED, ROW_FRAGMENTED, ROW_WAITING };

struct summary_row {
    enum row_kind kind;
    int pool;
};

static void slice_add(struct slice *slice, const struct sample *sample, struct summary_row row)
{
    const struct pool_sample *pool = row.pool >= 0 ? &sample->pools[row.pool] : NULL;
    const int64_t capacity = pool != NULL ? pool->capacity_milli : sample->capacity_milli;
    slice->count++;
    switch (row.kind) {
    case ROW_ALLOCATED:
        slice->part += pool != NULL ? pool->allocated_milli : sample->allocated_milli;
        slice->whole += capacity;
        break;
    case ROW_FRAGMENTED:
        slice->part += pool != NULL ? pool->fragmented_milli : sample->fragmented_milli;
        slice->whole += capacity;
        break;
    case ROW_WAITING:
        slice->part += (int64_t)sample->pending * 1000;
        slice->whole += 1;
        break;
    }
}

/* Returns the slice of a moment. */
static size_t slice_of(int64_t at_ms, int64_t span_ms)
{
    const size_t at = (size_t)((__int128)at_ms * SLICES / span_ms);
    return at < SLICES ? at : SLICES - 1;
}

static void row_text(const struct series *series, int64_t span_ms, struct summary_row row,
                     struct buf *out)
{
    struct slice slices[SLICES] = {0};
    char text[SIM_TEXT_MAX];
    for (size_t i = 0; i < series->count; i++) {
        slice_add(&slices[slice_of(series->at[i].at_ms, span_ms)], &series->at[i], row);
    }
    for (size_t i = 0; i < SLICES; i++) {
        const struct slice *slice = &slices[i];
        const int64_t part = slice->count == 0 ? 0 : (int64_t)(slice->part / slice->count);
        const int64_t whole = slice->count == 0 ? 0 : (int64_t)(slice->whole / slice->count);
        buf_addf(out, " %*s", SUMMARY_CELL_WIDTH,
                 row.kind == ROW_WAITING ? sim_text_milli(part, text)
                                         : sim_text_percent(part, whole, text));
    }
    buf_add_char(out, '\n');
}

static void label(struct buf *out, int width, const char *text)
{
    buf_addf(out, "  %-*.*s", width, width, text);
}

void summary_time(const struct result *result, const struct series *series, int width,
                  struct buf *out)
{
    char text[SIM_TEXT_MAX];
    if (series->count < SAMPLES_MIN || result->span_ms < SLICES) {
        return;
    }
    buf_addf(out, "\n%-*s", width + 2, "up to");
    for (int64_t i = 1; i <= SLICES; i++) {
        buf_addf(out, " %*s", SUMMARY_CELL_WIDTH,
                 sim_text_span(result->span_ms / SLICES * i, text));
    }
    buf_add_char(out, '\n');
    const bool apart = result->pool_count > 1 && result->pool_count <= POOL_ROWS_MAX;
    for (uint32_t i = 0; apart && i < result->pool_count; i++) {
        const struct pool_result *pool = &result->pools[i];
        if (pool->sampled >= 0) {
            (void)snprintf(text, sizeof text, "%.30s, %%", pool->name);
            label(out, width, text);
            row_text(series, result->span_ms, (struct summary_row){ROW_ALLOCATED, pool->sampled},
                     out);
        }
    }
    if (!apart) {
        label(out, width, "allocated, %");
        row_text(series, result->span_ms, (struct summary_row){ROW_ALLOCATED, -1}, out);
    }
    label(out, width, "in pieces, %");
    row_text(series, result->span_ms, (struct summary_row){ROW_FRAGMENTED, -1}, out);
    label(out, width, "tasks waiting");
    row_text(series, result->span_ms, (struct summary_row){ROW_WAITING, -1}, out);
}
