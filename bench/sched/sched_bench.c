/* sched_bench.c - make bench-sched: measures the scheduler alone, in one process, on clusters that
 * exist only in the core's state.
 *
 *   sched_bench [--runs N] [--nodes-max N] [NAME ...]
 *
 * Prints a table. Ends with 1 when a figure misses its bar. bench/README.md explains the lines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "shapes.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *title;
    void (*run)(struct bench *bench);
} shapes[] = {
    {"allocate", "allocate: 5 one-GPU tasks a node, 4 accounts", kai_allocate},
    {"full-cycle", "full cycle: half of them run, half wait", kai_full_cycle},
    {"many-queues", "many queues: 4 one-GPU tasks a node, 1,000 accounts", kai_many_queues},
    {"gangs", "gangs: 2 gangs of 4 one-GPU instances a node", kai_gangs},
    {"huge-gang", "huge gang: half of the nodes for one gang", reclaim_huge_gang},
    {"unschedulable", "unschedulable gang: one GPU short", reclaim_unschedulable_gang},
    {"one-by-one", "reclaim one by one", reclaim_one_by_one},
    {"fill", "fill: 20 shapes, 8 accounts", load_fill},
    {"steady", "steady state: one end, one arrival, and so on; few wait", load_steady},
    {"steady-full", "steady state in which thousands wait", load_steady_full},
    {"steady-accounts", "steady state of many accounts", load_steady_accounts},
    {"steady-held", "steady state in which somebody holds a reservation", load_steady_held},
    {"projects", "many projects in one pool of 100 nodes, 120 % asked", load_projects},
    {"pools", "1,000 pools that grow and shrink, 9,000 nodes", pools_many},
    {"preview", "dry runs among 10,000 nodes and 100,000 tasks", pools_preview},
    {"memory", "memory", load_memory},
    {"growth", "growth from 1,000 to 10,000 nodes", load_growth},
};
enum { SHAPE_COUNT = sizeof shapes / sizeof shapes[0] };

static int usage(void)
{
    (void)fprintf(stderr, "usage: sched_bench [--runs N] [--nodes-max N] [NAME ...]\n  NAME:");
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        (void)fprintf(stderr, " %s", shapes[i].name);
    }
    (void)fprintf(stderr, "\n");
    return 2;
}

static bool number_read(const char *text, uint64_t max, uint64_t *ret)
{
    return text != NULL && str_to_u64(str_of(text), ret) && *ret >= 1 && *ret <= max;
}

/* Reads the options; `ret_first` is the first name. */
static bool options_read(char **argv, struct bench *bench, char ***ret_first)
{
    for (; *argv != NULL && strncmp(*argv, "--", 2) == 0; argv += 2) {
        uint64_t number;
        if (strcmp(*argv, "--runs") == 0 && number_read(argv[1], RUNS_MAX, &number)) {
            bench->runs = (unsigned)number;
        } else if (strcmp(*argv, "--nodes-max") == 0 && number_read(argv[1], UINT32_MAX, &number)) {
            bench->nodes_max = (uint32_t)number;
        } else {
            return false;
        }
    }
    *ret_first = argv;
    return true;
}

static bool name_known(const char *name)
{
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        if (strcmp(shapes[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool name_wanted(char *const *names, const char *name)
{
    if (*names == NULL) {
        return true;
    }
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

int main(int argc, char **argv)
{
    (void)argc;
    struct bench bench = {.runs = 5, .nodes_max = 10000};
    char **names = NULL;
    if (!options_read(argv + 1, &bench, &names)) {
        return usage();
    }
    for (char **name = names; *name != NULL; name++) {
        if (!name_known(*name)) {
            return usage();
        }
    }
    (void)measure_floor_ns(); /* a first run warms the caches */
    bench.floor_ns = measure_floor_ns();
    table_head(&bench);
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        if (name_wanted(names, shapes[i].name)) {
            table_section(shapes[i].title);
            shapes[i].run(&bench);
        }
    }
    (void)printf("%u of %u bars hold\n", bench.bars - bench.short_bars, bench.bars);
    return bench.short_bars > 0;
}
