/* preview.c - see preview.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/preview.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/instance.h"

/* Looks at the instance before the fact is applied: afterwards its times may be gone. */
static void stop_note(const struct core *core, struct attempt_key key, int64_t now_ms,
                      struct preview *preview)
{
    const struct instance *instance = query_instance(core, key.task, key.index);
    must(instance != NULL);
    uint32_t at = 0;
    while (at < preview->stop_count && preview->stops[at].task.v != key.task.v) {
        at++;
    }
    if (at == PREVIEW_TASKS_MAX) {
        preview->stop_total++; /* counted by instance beyond the list: an upper bound */
        return;
    }
    struct preview_stop *stop = &preview->stops[at];
    if (at == preview->stop_count) {
        *stop = (struct preview_stop){.task = key.task};
        preview->stop_count++;
        preview->stop_total++;
    }
    const int64_t saved_ms = instance->checkpoint_ms > instance->started_ms
                                 ? instance->checkpoint_ms
                                 : instance->started_ms;
    const int64_t lost_ms = instance->started_ms != 0 && now_ms > saved_ms ? now_ms - saved_ms : 0;
    stop->instances++;
    stop->lost_ms = lost_ms > stop->lost_ms ? lost_ms : stop->lost_ms;
}

static void start_note(task_id task, struct preview *preview)
{
    for (uint32_t i = 0; i < preview->start_count; i++) {
        if (preview->starts[i].v == task.v) {
            return;
        }
    }
    if (preview->start_count < PREVIEW_TASKS_MAX) {
        preview->starts[preview->start_count++] = task;
    }
}

static void facts_apply(struct core *copy, const struct facts *facts, int64_t now_ms,
                        struct preview *preview)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type == FACT_EVICTED) {
            stop_note(copy, fact->evicted.key, now_ms, preview);
        } else if (fact->type == FACT_ATTEMPT_STOPPING) {
            stop_note(copy, fact->attempt_stopping.key, now_ms, preview);
        } else if (fact->type == FACT_ALLOCATED || fact->type == FACT_CLAIMED) {
            start_note(fact->allocated.key.task, preview);
        }
        core_apply(copy, fact);
    }
}

static void passes_run(struct core *copy, int64_t now_ms, struct preview *preview)
{
    struct arena arena;
    pool_id pool;
    arena_init(&arena);
    for (uint32_t i = 0; i < PREVIEW_PASSES_MAX && query_pass_due(copy, now_ms, &pool); i++) {
        const struct input pass = {.type = INPUT_PASS,
                                   .now_ms = now_ms,
                                   .actor = "scheduler",
                                   .cause = "",
                                   .pass = {.pool = pool, .work_max = PREVIEW_WORK_MAX}};
        struct facts facts;
        arena_clear(&arena);
        fact_list_init(&facts, &arena);
        must(core_decide(copy, &pass, &facts) == VERDICT_OK);
        if (facts.count == 0) {
            core_pass_idle(copy, pool);
        }
        facts_apply(copy, &facts, now_ms, preview);
    }
    arena_done(&arena);
}

enum verdict preview_run(const struct core *core, const struct input *in, struct facts *facts,
                         struct preview *ret)
{
    *ret = (struct preview){0};
    struct core *copy = core_copy(core);
    enum verdict verdict = core_decide(copy, in, facts);
    if (verdict == VERDICT_OK) {
        facts_apply(copy, facts, in->now_ms, ret);
        passes_run(copy, in->now_ms, ret);
    }
    core_free(copy);
    return verdict;
}
