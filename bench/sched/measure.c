/* measure.c - clock, medians, the calibration loop, and the table of make bench-sched.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "base/mem.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t measure_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

size_t measure_heap_bytes(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

uint64_t measure_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 16;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t measure_percentile(int64_t *values, size_t count, unsigned p)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof values[0], by_value);
    const size_t at = count * p / 100;
    return values[at < count ? at : count - 1];
}

static int by_time(const void *a, const void *b)
{
    return by_value(&((const struct spend *)a)->ns, &((const struct spend *)b)->ns);
}

struct spend measure_median(struct spend *runs, size_t count)
{
    qsort(runs, count, sizeof runs[0], by_time);
    return runs[count / 2];
}

/* ---- the calibration loop ---- */

enum { FLOOR_NODES = 10000, FLOOR_GPUS = 8, FLOOR_TASKS = 400000, FLOOR_WORDS = 157 };

struct floor {
    uint64_t bits[FLOOR_GPUS + 1][FLOOR_WORDS]; /* nodes by their number of free GPUs */
    uint32_t count[FLOOR_GPUS + 1];
    uint32_t hint[FLOOR_GPUS + 1]; /* the word in which a node was found last */
    uint8_t free[FLOOR_NODES];
    uint16_t node_of[FLOOR_TASKS]; /* the node of each task */
    uint8_t gpus[FLOOR_TASKS];
    size_t oldest; /* the next task to end when no GPU is free */
};

static void floor_move(struct floor *floor, uint32_t node, uint32_t to)
{
    const uint64_t bit = (uint64_t)1 << (node % 64);
    const uint32_t from = floor->free[node];
    floor->bits[from][node / 64] &= ~bit;
    floor->count[from]--;
    floor->bits[to][node / 64] |= bit;
    floor->count[to]++;
    floor->free[node] = (uint8_t)to;
}

/* The first node with enough free GPUs, from the fewest free GPUs up; FLOOR_NODES: none. */
static uint32_t floor_find(struct floor *floor, uint32_t gpus)
{
    while (gpus <= FLOOR_GPUS && floor->count[gpus] == 0) {
        gpus++;
    }
    if (gpus > FLOOR_GPUS) {
        return FLOOR_NODES;
    }
    uint32_t word = floor->hint[gpus];
    while (floor->bits[gpus][word] == 0) {
        word = word + 1 == FLOOR_WORDS ? 0 : word + 1;
    }
    floor->hint[gpus] = word;
    return word * 64 + (uint32_t)__builtin_ctzll(floor->bits[gpus][word]);
}

static void floor_place(struct floor *floor, size_t task)
{
    uint32_t node;
    while ((node = floor_find(floor, floor->gpus[task])) == FLOOR_NODES) {
        const size_t old = floor->oldest++;
        const uint32_t where = floor->node_of[old];
        floor_move(floor, where, floor->free[where] + floor->gpus[old]);
    }
    floor_move(floor, node, floor->free[node] - floor->gpus[task]);
    floor->node_of[task] = (uint16_t)node;
}

double measure_floor_ns(void)
{
    static const uint8_t sizes[] = {1, 1, 1, 1, 1, 1, 1, 2, 4, 8};
    struct floor *floor = xcalloc(1, sizeof *floor);
    uint64_t seed = 88172645463325252u;
    for (size_t i = 0; i < FLOOR_TASKS; i++) {
        floor->gpus[i] = sizes[measure_random(&seed) % sizeof sizes];
    }
    for (uint32_t node = 0; node < FLOOR_NODES; node++) {
        floor->count[0]++;
        floor_move(floor, node, FLOOR_GPUS);
    }
    const int64_t begin = measure_now_ns();
    for (size_t i = 0; i < FLOOR_TASKS; i++) {
        floor_place(floor, i);
    }
    const int64_t spent = measure_now_ns() - begin;
    free(floor);
    return (double)spent / FLOOR_TASKS;
}

/* ---- the table ---- */

void table_head(const struct bench *bench)
{
    (void)printf("one thread, CPU time, median of %u runs; calibration loop: %.1f ns a placement\n",
                 bench->runs, bench->floor_ns);
    (void)printf("  %-46s %12s %14s %10s %14s\n", "", "", "a decision", "x loop", "bar");
}

void table_section(const char *title)
{
    (void)printf("%s\n", title);
    (void)fflush(stdout);
}

static const char *mark(struct bench *bench, double value, double bar)
{
    if (bar <= NO_BAR) {
        return "";
    }
    bench->bars++;
    bench->short_bars += value > bar;
    return value > bar ? "SHORT" : "ok";
}

/* Writes a time such as "1.23 ms" to `text`. */
static void time_text(double ns, char text[32])
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && ns < units[i].ns) {
        i++;
    }
    (void)snprintf(text, 32, "%.3g %s", ns / units[i].ns, units[i].name);
}

static void line_print(const char *name, const char *value, const char *each, const char *loops,
                       const char *bar, const char *verdict, const char *note)
{
    (void)printf("  %-46s %12s %14s %10s %14s %-5s  %s\n", name, value, each, loops, bar, verdict,
                 note == NULL ? "" : note);
    (void)fflush(stdout);
}

void table_time(struct bench *bench, const char *name, int64_t ns, uint64_t decisions,
                int64_t bar_ns, const char *note)
{
    char value[32];
    char each[32] = "";
    char loops[32] = "";
    char bar[32] = "";
    char most[40] = "";
    time_text((double)ns, value);
    if (decisions > 0) {
        const double one = (double)ns / (double)decisions;
        time_text(one, each);
        (void)snprintf(loops, sizeof loops, "%.3g", one / bench->floor_ns);
    }
    if (bar_ns > NO_BAR) {
        time_text((double)bar_ns, bar);
        (void)snprintf(most, sizeof most, "<= %s", bar);
    }
    line_print(name, value, each, loops, most, mark(bench, (double)ns, (double)bar_ns), note);
}

void table_value(struct bench *bench, const char *name, double value, const char *unit, double bar,
                 const char *note)
{
    char text[48];
    char most[32] = "";
    (void)snprintf(text, sizeof text, value < 100 ? "%.3g %s" : "%.0f %s", value, unit);
    if (bar > NO_BAR) {
        (void)snprintf(most, sizeof most, "<= %.4g", bar);
    }
    line_print(name, text, "", "", most, mark(bench, value, bar), note);
}

void table_least(struct bench *bench, const char *name, double value, const char *unit, double bar)
{
    char text[48];
    char least[32] = "";
    const bool barred = bar > NO_BAR;
    (void)snprintf(text, sizeof text, "%.0f %s", value, unit);
    if (barred) {
        (void)snprintf(least, sizeof least, ">= %.0f", bar);
        bench->bars++;
        bench->short_bars += value < bar;
    }
    line_print(name, text, "", "", least, !barred ? "" : value < bar ? "SHORT" : "ok", NULL);
}

void table_none(const char *name, const char *why)
{
    line_print(name, why, "", "", "", "", NULL);
}
