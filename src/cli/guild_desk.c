/* guild_desk.c - see guild_desk.h. The same core as in the server, driven as the server drives it: inputs, facts, effects. Names of resources
 * become r0, r1 …, because a Guild user may call a resource anything, also `cpu`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_desk.h"

#include "base/vec.h"
#include "core/core.h"
#include "spec/pool_spec.h"
#include "spec/task_file.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PASS_WORK_MAX = 20000, ROUNDS_MAX = 100000, NAME_MAX_LEN = 16, EPOCH_MS = 1000 };

static const char POOL[] = "guild";

/* A run that holds its place. */
struct desk_attempt {
    struct attempt_key key;
    uint32_t incarnation;
    bool told; /* by guild_desk_next() */
};

struct guild_desk {
    struct core *core;
    struct arena arena; /* of one step */
    struct effects effects;
    node_id node;
    struct guild_needs resources;
    char names[GUILD_NEEDS_MAX][NAME_MAX_LEN];
    VEC(struct desk_attempt) attempts; /* of live runs */
};

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return EPOCH_MS + (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void effects_take(struct guild_desk *desk)
{
    for (size_t i = 0; i < desk->effects.count; i++) {
        const struct effect *effect = &desk->effects.at[i];
        if (effect->type == EFFECT_START) {
            vec_push(&desk->attempts, ((struct desk_attempt){.key = effect->key,
                                                             .incarnation = effect->incarnation}));
        }
    }
    desk->effects.count = 0;
}

static enum verdict input(struct guild_desk *desk, struct input *in, struct facts *facts)
{
    in->now_ms = now_ms();
    in->cause = "";
    arena_clear(&desk->arena);
    fact_list_init(facts, &desk->arena);
    const enum verdict verdict = core_decide(desk->core, in, facts);
    for (size_t i = 0; verdict == VERDICT_OK && i < facts->count; i++) {
        core_apply(desk->core, &facts->at[i]);
        core_react(desk->core, &facts->at[i], &desk->effects);
    }
    effects_take(desk);
    return verdict;
}

static void input_must(struct guild_desk *desk, struct input *in)
{
    struct facts facts;
    must(input(desk, in, &facts) == VERDICT_OK);
}

struct guild_desk *guild_desk_new(uint32_t workers, const struct guild_needs *resources)
{
    struct guild_desk *desk = xcalloc(1, sizeof *desk);
    desk->core = core_new();
    desk->resources = *resources;
    arena_init(&desk->arena);
    struct named_amount amounts[GUILD_NEEDS_MAX];
    for (size_t i = 0; i < resources->count; i++) {
        (void)snprintf(desk->names[i], sizeof desk->names[i], "r%zu", i);
        amounts[i] = (struct named_amount){desk->names[i], resources->at[i].milli};
    }
    input_must(desk, &(struct input){.type = INPUT_SERVER_START, .actor = "guild"});
    struct pool_spec pool;
    pool_spec_init(&pool, POOL);
    pool.preemption_off = true; /* a run of Guild cannot be stopped and begun anew */
    input_must(desk, &(struct input){
                         .type = INPUT_POOL_CREATE, .actor = "guild", .pool = {.spec = &pool}});
    const struct node_spec node = {
        .name = "here",
        .pool = POOL,
        .slots_milli = (int64_t)workers * SLOT_MILLI,
        .resources = amounts,
        .resource_count = (uint32_t)resources->count,
        .supervisor = {1},
        .boot_id = "",
        .address = "",
        .version = "",
        .trouble = "",
        .unprevented = "",
    };
    input_must(desk,
               &(struct input){.type = INPUT_NODE_JOIN, .actor = "guild", .node = {.spec = &node}});
    const struct node *row = query_node_named(desk->core, node.name);
    must(row != NULL);
    desk->node = row->id;
    return desk;
}

void guild_desk_free(struct guild_desk *desk)
{
    if (desk != NULL) {
        core_free(desk->core);
        effect_done(&desk->effects);
        vec_done(&desk->attempts);
        arena_done(&desk->arena);
        free(desk);
    }
}

/* ---- runs ---- */

enum err guild_desk_check(const struct guild_desk *desk, const struct guild_needs *needs,
                          struct error *e)
{
    for (size_t i = 0; i < needs->count; i++) {
        const struct guild_need *has = guild_needs_find(&desk->resources, needs->at[i].name);
        must(has != NULL);
        if (needs->at[i].milli > has->milli) {
            return fail(e, ERR_NEVER, "requires %.60s=%.60s, and the cluster has only %.60s=%.60s",
                        has->name, needs->at[i].shown, has->name, has->shown);
        }
    }
    return ERR_OK;
}

enum err guild_desk_submit(struct guild_desk *desk, const struct guild_needs *needs,
                           uint64_t *ret_task, struct error *e)
{
    struct named_amount amounts[GUILD_NEEDS_MAX];
    uint32_t count = 0;
    enum err r = guild_desk_check(desk, needs, e);
    if (r != ERR_OK) {
        return r;
    }
    for (size_t i = 0; i < needs->count; i++) {
        const size_t at =
            (size_t)(guild_needs_find(&desk->resources, needs->at[i].name) - desk->resources.at);
        if (needs->at[i].milli > 0) {
            amounts[count++] = (struct named_amount){desk->names[at], needs->at[i].milli};
        }
    }
    const char *const argv[] = {"guild"};
    const char *const pools[] = {POOL};
    struct task_spec spec;
    task_file_spec_init(&spec);
    spec.user = "guild";
    spec.argv = argv;
    spec.argv_count = 1;
    spec.pools = pools;
    spec.pool_count = 1;
    spec.slots_milli = SLOT_MILLI;
    spec.resources = amounts;
    spec.resource_count = count;
    struct input in = {
        .type = INPUT_TASK_SUBMIT, .actor = "guild", .submit = {.specs = &spec, .count = 1}};
    struct facts facts;
    if (input(desk, &in, &facts) != VERDICT_OK) {
        return fail(e, ERR_NEVER, "the scheduler refuses the run: reason %d",
                    (int)facts.refusal.code);
    }
    *ret_task = query_task_last(desk->core).v;
    return ERR_OK;
}

void guild_desk_pass(struct guild_desk *desk)
{
    struct facts facts;
    pool_id pool;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        struct input tick = {.type = INPUT_TICK, .actor = "timer"};
        if (query_deadline(desk->core) <= now_ms()) {
            must(input(desk, &tick, &facts) == VERDICT_OK);
        }
        if (!query_pass_due(desk->core, now_ms(), &pool)) {
            return;
        }
        struct input pass = {.type = INPUT_PASS,
                             .actor = "scheduler",
                             .pass = {.pool = pool, .work_max = PASS_WORK_MAX}};
        must(input(desk, &pass, &facts) == VERDICT_OK);
        if (facts.count == 0) {
            core_pass_idle(desk->core, pool);
        }
    }
}

uint64_t guild_desk_next(struct guild_desk *desk)
{
    for (size_t i = 0; i < desk->attempts.count; i++) {
        if (!desk->attempts.at[i].told) {
            desk->attempts.at[i].told = true;
            return desk->attempts.at[i].key.task.v;
        }
    }
    return 0;
}

static struct desk_attempt *attempt_of(struct guild_desk *desk, uint64_t task)
{
    for (size_t i = 0; i < desk->attempts.count; i++) {
        if (desk->attempts.at[i].key.task.v == task) {
            return &desk->attempts.at[i];
        }
    }
    return NULL;
}

static void report(struct guild_desk *desk, const struct desk_attempt *attempt,
                   enum report_type type, int exit_code)
{
    const struct report said = {
        .type = type,
        .key = attempt->key,
        .incarnation = attempt->incarnation,
        .at_ms = now_ms(),
        .exit_code = exit_code,
    };
    input_must(desk, &(struct input){
                         .type = INPUT_REPORT,
                         .actor = "node",
                         .report = {.node = desk->node, .reports = &said, .count = 1},
                     });
}

void guild_desk_started(struct guild_desk *desk, uint64_t task)
{
    const struct desk_attempt *attempt = attempt_of(desk, task);
    must(attempt != NULL);
    report(desk, attempt, REPORT_STARTED, 0);
}

void guild_desk_ended(struct guild_desk *desk, uint64_t task, int exit_code)
{
    struct desk_attempt *attempt = attempt_of(desk, task);
    must(attempt != NULL);
    const struct desk_attempt gone = *attempt;
    *attempt = desk->attempts.at[--desk->attempts.count];
    report(desk, &gone, REPORT_ENDED, exit_code);
}

void guild_desk_drop(struct guild_desk *desk, uint64_t task)
{
    struct input in = {.type = INPUT_TASK_KILL, .actor = "guild", .task = {.task = {task}}};
    struct facts facts;
    (void)input(desk, &in, &facts); /* refused where the task has ended meanwhile */
}
