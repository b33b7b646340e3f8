/* state_copy.c - what a copy of the whole state costs, with many waiting tasks: the copy itself, the first write to each
 * of many tasks after it, and the memory of a waiting task.
 *   state_copy TASKS      prints "copy_us bytes_per_task"
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 1000, ROUNDS = 21 };

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void step(struct core *core, struct input *in)
{
    struct arena arena;
    struct facts facts;
    in->now_ms = query_time_ms(core) + 1;
    in->actor = "bench";
    in->cause = "";
    arena_init(&arena);
    fact_list_init(&facts, &arena);
    if (core_decide(core, in, &facts) != VERDICT_OK) {
        (void)fprintf(stderr, "state_copy: refused: %s\n", names_reason(facts.refusal.code));
        exit(1);
    }
    for (size_t i = 0; i < facts.count; i++) {
        core_apply(core, &facts.at[i]);
    }
    arena_done(&arena);
}

static void tasks_submit(struct core *core, uint32_t count)
{
    static const char *const argv[] = {"./train.sh", "--epochs", "90"};
    struct task_spec specs[BATCH];
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = (struct task_spec){.kind = TASK_COMMAND,
                                      .name = "train",
                                      .user = "user",
                                      .project = "default",
                                      .image = "",
                                      .workdir = "/home/user",
                                      .argv = argv,
                                      .argv_count = 3,
                                      .slots_milli = 1000 * (1 + i % 8),
                                      .cpu_milli = ASK_NOTHING,
                                      .memory_bytes = ASK_NOTHING,
                                      .instances = 1,
                                      .preemptible = true,
                                      .repeatable = true,
                                      .priority = PRIORITY_DEFAULT,
                                      .grace_ms = GRACE_MS_DEFAULT};
    }
    step(core,
         &(struct input){.type = INPUT_TASK_SUBMIT, .submit = {.specs = specs, .count = count}});
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    unsigned long tasks = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (tasks == 0) {
        (void)fprintf(stderr, "usage: state_copy TASKS\n");
        return 2;
    }
    struct core *core = core_new();
    step(core, &(struct input){.type = INPUT_SERVER_START});
    struct node_spec node = {.name = "n1",
                             .pool = "default",
                             .slots_milli = 8000,
                             .cpu_milli = 64000,
                             .memory_bytes = (int64_t)1 << 38,
                             .device_count = 8,
                             .boot_id = "b",
                             .address = "127.0.0.1",
                             .version = "1"};
    step(core, &(struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &node}});
    const size_t before = mallinfo2().uordblks;
    for (unsigned long done = 0; done < tasks; done += BATCH) {
        tasks_submit(core, (uint32_t)(tasks - done < BATCH ? tasks - done : BATCH));
    }
    const size_t bytes = mallinfo2().uordblks - before;
    int64_t spent[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        const int64_t begin = now_ns();
        struct core *copy = core_copy(core);
        spent[i] = now_ns() - begin;
        core_free(copy);
    }
    qsort(spent, ROUNDS, sizeof spent[0], by_size);
    (void)printf("%lld.%03lld %zu\n", (long long)(spent[ROUNDS / 2] / 1000),
                 (long long)(spent[ROUNDS / 2] % 1000), bytes / tasks);
    core_free(core);
    return 0;
}
