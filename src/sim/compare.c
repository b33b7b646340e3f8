/* compare.c - see compare.h. Differences are taken seed by seed. Both sides draw the same random
 * numbers, so the differences come from the policies and not from the workload.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/compare.h"

static int64_t wait_mean(const struct result *r)
{
    return r->wait.mean_ms;
}
static int64_t wait_p50(const struct result *r)
{
    return r->wait.p50_ms;
}
static int64_t wait_p90(const struct result *r)
{
    return r->wait.p90_ms;
}
static int64_t wait_p99(const struct result *r)
{
    return r->wait.p99_ms;
}
static int64_t wait_max(const struct result *r)
{
    return r->wait.max_ms;
}
static int64_t completion_mean(const struct result *r)
{
    return r->completion.mean_ms;
}
static int64_t completion_p99(const struct result *r)
{
    return r->completion.p99_ms;
}
static int64_t span(const struct result *r)
{
    return r->span_ms;
}
/* Returns percent in thousandths. */
static int64_t allocated(const struct result *r)
{
    return sim_text_part_milli(r->allocated_milli, r->capacity_milli);
}
static int64_t useful(const struct result *r)
{
    return sim_text_part_milli(r->useful_milli, r->capacity_milli);
}
static int64_t slowdown_mean(const struct result *r)
{
    return r->slowdown.mean_ms;
}
static int64_t slowdown_p99(const struct result *r)
{
    return r->slowdown.p99_ms;
}
static int64_t lost_part(const struct result *r)
{
    return sim_text_part_milli(r->work_lost_slot_ms, r->allocated_slot_ms);
}
static int64_t fragmented(const struct result *r)
{
    return sim_text_part_milli(r->fragmented_milli, r->capacity_milli);
}
static int64_t queue_mean(const struct result *r)
{
    return (int64_t)r->queue_mean_milli;
}
static int64_t completed(const struct result *r)
{
    return (int64_t)r->completed;
}
static int64_t evictions(const struct result *r)
{
    return (int64_t)r->evictions;
}
static int64_t work_lost(const struct result *r)
{
    return r->work_lost_slot_ms / 3600;
}

/* Returns the most slots of its guarantee that any account lacked. */
static int64_t shortfall(const struct result *r)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < r->account_count; i++) {
        most = r->accounts[i].shortfall_milli > most ? r->accounts[i].shortfall_milli : most;
    }
    return most;
}

/* Returns the longest time that any account was owed a place. */
static int64_t owed(const struct result *r)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < r->account_count; i++) {
        most = r->accounts[i].below_longest_ms > most ? r->accounts[i].below_longest_ms : most;
    }
    return most;
}

const struct compare_figure compare_figures[COMPARE_FIGURE_COUNT] = {
    {"wait, mean", "wait_mean", COMPARE_TIME, COMPARE_WAITS, wait_mean},
    {"wait, p50", "wait_p50", COMPARE_TIME, COMPARE_WAITS, wait_p50},
    {"wait, p90", "wait_p90", COMPARE_TIME, COMPARE_WAITS, wait_p90},
    {"wait, p99", "wait_p99", COMPARE_TIME, COMPARE_WAITS, wait_p99},
    {"wait, max", "wait_max", COMPARE_TIME, COMPARE_WAITS, wait_max},
    {"completion, mean", "completion_mean", COMPARE_TIME, COMPARE_COMPLETION, completion_mean},
    {"completion, p99", "completion_p99", COMPARE_TIME, COMPARE_COMPLETION, completion_p99},
    {"slowdown, mean", "slowdown_mean", COMPARE_MILLI, COMPARE_COMPLETION, slowdown_mean},
    {"slowdown, p99", "slowdown_p99", COMPARE_MILLI, COMPARE_COMPLETION, slowdown_p99},
    {"whole run", "span", COMPARE_TIME, COMPARE_COMPLETION, span},
    {"allocated, %", "allocated_percent", COMPARE_PERCENT, COMPARE_SLOTS, allocated},
    {"useful, %", "useful_percent", COMPARE_PERCENT, COMPARE_SLOTS, useful},
    {"in pieces, %", "fragmented_percent", COMPARE_PERCENT, COMPARE_SLOTS, fragmented},
    {"queue, mean", "queue_mean", COMPARE_MILLI, COMPARE_SLOTS, queue_mean},
    {"completed", "completed", COMPARE_COUNT, COMPARE_TASKS, completed},
    {"evictions", "evictions", COMPARE_COUNT, COMPARE_TASKS, evictions},
    {"work lost, slot-hours", "work_lost_slot_hours", COMPARE_MILLI, COMPARE_TASKS, work_lost},
    {"work lost, %", "work_lost_percent", COMPARE_PERCENT, COMPARE_TASKS, lost_part},
    {"short, slots", "shortfall_max", COMPARE_MILLI, COMPARE_GUARANTEES, shortfall},
    {"owed, longest", "below_longest", COMPARE_TIME, COMPARE_GUARANTEES, owed},
};

void compare_init(struct compare *compare, const struct sim_options *options)
{
    const uint32_t files = options->file_count;
    const uint32_t seeds = (uint32_t)(options->seed_last - options->seed_first + 1);
    *compare = (struct compare){.options = options, .files = files, .seeds = seeds};
    compare->at = xcalloc((size_t)files * seeds * COMPARE_FIGURE_COUNT, sizeof *compare->at);
    compare->runs = xcalloc(files, sizeof *compare->runs);
}

void compare_done(struct compare *compare)
{
    free(compare->at);
    free(compare->runs);
}

int64_t *compare_cell(const struct compare *compare, uint32_t file, uint32_t seed)
{
    return &compare->at[((size_t)file * compare->seeds + seed) * COMPARE_FIGURE_COUNT];
}

void compare_take(struct compare *compare, uint32_t file, uint32_t seed,
                  const struct result *result)
{
    for (size_t i = 0; i < COMPARE_FIGURE_COUNT; i++) {
        compare_cell(compare, file, seed)[i] = compare_figures[i].of(result);
    }
}

void compare_take_run(struct compare *compare, uint32_t file, const struct result *result,
                      const struct series *series)
{
    struct compare_run *run = &compare->runs[file];
    run->span_ms = result->span_ms;
    run->step_ms = series->step_ms;
    run->count = series->count;
    for (size_t i = 0; i < series->count; i++) {
        run->allocated_milli[i] = series->at[i].allocated_milli;
        run->pending[i] = (int64_t)series->at[i].pending;
    }
}

const char *compare_text(enum compare_kind kind, int64_t value, char *out)
{
    const bool negative = value < 0;
    const int64_t size = negative ? -value : value;
    char text[SIM_TEXT_MAX];
    switch (kind) {
    case COMPARE_TIME:
        (void)sim_text_span(size, text);
        break;
    case COMPARE_PERCENT:
        (void)sim_text_percent(size, 100000, text);
        break;
    case COMPARE_COUNT:
        (void)sim_text_count((uint64_t)size, text);
        break;
    case COMPARE_MILLI:
        (void)sim_text_milli(size, text);
        break;
    }
    (void)snprintf(out, SIM_TEXT_MAX, "%s%.40s", negative ? "-" : "", text);
    return out;
}

int64_t compare_mean(const struct compare *compare, uint32_t file, size_t figure)
{
    __int128 sum = 0;
    for (uint32_t seed = 0; seed < compare->seeds; seed++) {
        sum += compare_cell(compare, file, seed)[figure];
    }
    return (int64_t)(sum / compare->seeds);
}

struct compare_difference compare_difference_of(const struct compare *compare, uint32_t file,
                                                size_t figure)
{
    struct compare_difference difference = {0, INT64_MAX, INT64_MIN, false};
    __int128 sum = 0;
    for (uint32_t seed = 0; seed < compare->seeds; seed++) {
        const int64_t by =
            compare_cell(compare, file, seed)[figure] - compare_cell(compare, 0, seed)[figure];
        sum += by;
        difference.low = by < difference.low ? by : difference.low;
        difference.high = by > difference.high ? by : difference.high;
    }
    difference.mean = (int64_t)(sum / compare->seeds);
    difference.clear = compare->seeds > 1 && (difference.low > 0 || difference.high < 0);
    return difference;
}
