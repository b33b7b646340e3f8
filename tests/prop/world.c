/* world.c - steps the three cores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "oracle.h"
#include "tape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_BYTES_MAX = 1 << 28, STEPS_A_RESTART = 8, WORK_A_PASS = 40 };

uint64_t rng_next(struct dice *dice)
{
    dice->state += 0x9e3779b97f4a7c15u;
    return hash_u64(dice->state);
}

uint32_t dice_roll(struct dice *dice, uint32_t count)
{
    must(count > 0);
    return (uint32_t)(rng_next(dice) >> 33) % count;
}

bool dice_once_in(struct dice *dice, uint32_t count)
{
    return dice_roll(dice, count) == 0;
}

void world_init(struct world *world, uint64_t seed, enum world_kind kind)
{
    *world = (struct world){.seed = seed,
                            .dice = {seed},
                            .saves = {~seed},
                            .launches = {~seed * 3},
                            .lists = {~seed * 5},
                            .lives = {~seed * 7},
                            .core = core_new(),
                            .kind = kind,
                            .now_ms = 1000,
                            .work_max = WORK_A_PASS};
    if (kind != WORLD_ALONE) {
        world->plain = core_new();
        core_caches_off(world->plain);
        world->restarted = core_new();
    }
    world->attempts = map_new();
    ledger_init(&world->ledger);
    oracle_budgets_init(&world->budgets);
    arena_init(&world->arena);
    for (size_t i = 0; i < 4; i++) {
        buf_init(&world->bytes[i], STATE_BYTES_MAX);
    }
    encoded_begin(&world->encoded, program_invocation_short_name, seed);
    tape_begin(world);
}

void world_done(struct world *world)
{
    tape_end(world);
    record_state(&world->record, world->core);
    record_end(&world->record, program_invocation_short_name, world->seed);
    buf_clear(&world->bytes[0]);
    core_encode(world->core, &world->bytes[0]);
    encoded_bytes(&world->encoded, "state", &world->bytes[0]);
    encoded_end(&world->encoded, program_invocation_short_name, world->seed);
    core_free(world->core);
    core_free(world->plain);
    core_free(world->restarted);
    map_free(world->attempts);
    ledger_done(&world->ledger);
    oracle_budgets_done(&world->budgets);
    arena_done(&world->arena);
    for (size_t i = 0; i < 4; i++) {
        buf_done(&world->bytes[i]);
    }
}

static bool bytes_equal(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* P11: attempts of an instance are numbered 1, 2, 3 …, and no number comes twice. */
static void attempt_note(struct world *world, const struct attempt_key *key)
{
    const uint64_t name[2] = {key->task.v, key->index};
    const uintptr_t before = (uintptr_t)map_get(world->attempts, name, sizeof name);
    law(key->attempt == before + 1, "P11: an attempt number is used once, in order");
    (void)map_put(world->attempts, name, sizeof name, (void *)(uintptr_t)key->attempt);
}

/* Returns the fact after encoding and decoding, as the store would. */
static const struct fact *fact_through_bytes(struct world *world, const struct fact *fact)
{
    struct buf *first = &world->bytes[0];
    struct buf *second = &world->bytes[1];
    struct fact *decoded = arena_new(&world->arena, struct fact, 1);
    struct error e;
    buf_clear(first);
    buf_clear(second);
    fact_encode(fact, first);
    encoded_bytes(&world->encoded, "fact", first);
    const char *text = arena_dup(&world->arena, buf_text(first), first->len);
    law(fact_decode((struct str){text, first->len}, &world->arena, decoded, &e) == ERR_OK,
        "a fact can be read back");
    fact_encode(decoded, second);
    law(bytes_equal(first, second), "a fact read back is the same fact");
    return decoded;
}

static struct core *restart(struct world *world, struct core *core)
{
    struct buf *bytes = &world->bytes[0];
    struct core *again = NULL;
    struct error e;
    buf_clear(bytes);
    core_encode(core, bytes);
    law(core_decode((struct str){bytes->data, bytes->len}, &again, &e) == ERR_OK,
        "a state can be read back");
    core_free(core);
    return again;
}

static void states_compare(struct world *world)
{
    world->restarted = restart(world, world->restarted);
    const struct core *cores[3] = {world->core, world->plain, world->restarted};
    for (size_t i = 0; i < 3; i++) {
        buf_clear(&world->bytes[i]);
        core_encode(cores[i], &world->bytes[i]);
    }
    law(bytes_equal(&world->bytes[0], &world->bytes[1]), "P12: same state with caches off");
    law(bytes_equal(&world->bytes[0], &world->bytes[2]), "P12: same state after a restart");
}

static void fact_apply(struct world *world, const struct fact *fact)
{
    const struct fact *stored = fact_through_bytes(world, fact);
    const bool launch = fact->type == FACT_LAUNCH_ASKED || fact->type == FACT_LAUNCH_CHANGED ||
                        fact->type == FACT_LAUNCH_ENDED;
    if (fact->type == FACT_ALLOCATED) {
        attempt_note(world, &fact->allocated.key);
    } else if (fact->type == FACT_ATTEMPT_CHECKPOINT) {
        oracle_may_save(world->core, fact);
    }
    core_apply(world->core, stored);
    record_fact(&world->record, world->core, stored);
    if (fact->type == FACT_ALLOCATED) {
        ledger_take(&world->ledger, world->core);
        oracle_not_over(world->core, fact->allocated.key);
        oracle_limits(&world->ledger, fact->allocated.key);
    } else if (fact->type == FACT_ATTEMPT_CHECKPOINT) {
        oracle_has_saved(world->core, fact);
    }
    if (world->kind != WORLD_ALONE) {
        core_apply(world->plain, stored);
        core_apply(world->restarted, stored);
    }
    if (world->kind == WORLD_THOROUGH) {
        states_compare(world);
    }
    world->fact_count += !launch && fact->type != FACT_POOL_STATE;
    world->evicted_count += fact->type == FACT_EVICTED;
}

/* Prints the facts of a decision, for a person who looks into a broken law. */
static void facts_say(const char *who, const struct facts *facts)
{
    fprintf(stderr, "%s:\n", who);
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        const bool place = fact->type == FACT_ALLOCATED || fact->type == FACT_CLAIMED ||
                           fact->type == FACT_EVICTED;
        fprintf(stderr, "  %s", fact_type_name(fact->type));
        if (place) {
            fprintf(stderr, " %" PRIu64 ".%" PRIu32 " node %" PRIu32, fact->allocated.key.task.v,
                    fact->allocated.key.index,
                    fact->type == FACT_EVICTED ? 0 : fact->allocated.node.v);
        }
        if (fact->type == FACT_PASS) {
            fprintf(stderr, " work %" PRIu64 ", placed %" PRIu32 "%s", fact->pass.work,
                    fact->pass.placed, fact->pass.complete ? "" : ", not complete");
        }
        fprintf(stderr, "\n");
    }
}

static void facts_compare(const struct world *world, const struct core *other,
                          const struct facts *facts)
{
    facts_say("with caches", &world->facts);
    facts_say(other == world->plain ? "without caches" : "after a restart", facts);
}

/* Checks that another core decides the same. */
static void verdict_compare(struct world *world, const struct core *other, const struct input *in,
                            enum verdict verdict)
{
    struct facts facts;
    fact_list_init(&facts, &world->arena);
    law(core_decide(other, in, &facts) == verdict, "P12: same verdict");
    if (facts.count != world->facts.count) {
        facts_compare(world, other, &facts);
    }
    law(facts.count == world->facts.count, "P12: same number of facts");
    for (size_t i = 0; i < facts.count; i++) {
        buf_clear(&world->bytes[0]);
        buf_clear(&world->bytes[1]);
        fact_encode(&facts.at[i], &world->bytes[0]);
        fact_encode(&world->facts.at[i], &world->bytes[1]);
        if (!bytes_equal(&world->bytes[0], &world->bytes[1])) {
            facts_compare(world, other, &facts);
        }
        law(bytes_equal(&world->bytes[0], &world->bytes[1]), "P12: same facts");
    }
}

static struct input stamped(const struct world *world, struct input in)
{
    in.now_ms = world->now_ms;
    in.actor = "user:prop";
    in.cause = "";
    return in;
}

static enum verdict decide(struct world *world, const struct input *stamp, bool compare)
{
    fact_list_init(&world->facts, &world->arena);
    const enum verdict verdict = core_decide(world->core, stamp, &world->facts);
    law(verdict == VERDICT_OK || verdict == VERDICT_REPEATED || world->facts.count == 0,
        "a refusal changes nothing");
    if (compare && world->kind != WORLD_ALONE) {
        verdict_compare(world, world->plain, stamp, verdict);
        verdict_compare(world, world->restarted, stamp, verdict);
    }
    return verdict;
}

static bool pass_incomplete(const struct facts *facts)
{
    return facts->count > 0 && facts->at[facts->count - 1].type == FACT_PASS &&
           !facts->at[facts->count - 1].pass.complete;
}

/* The budgets after an input. What is kept is known after a complete pass. */
static void budgets_check(struct world *world, const struct input *in)
{
    oracle_budgets_step(&world->budgets, &world->ledger, world->core, in, &world->facts);
    if (in->type == INPUT_PASS && !pass_incomplete(&world->facts) &&
        query_pool(world->core, in->pass.pool)->reserved_count > 0) {
        ledger_take(&world->ledger, world->core);
        oracle_budgets_rest(&world->budgets, &world->ledger, in->pass.pool, world->now_ms);
    }
}

enum verdict world_step(struct world *world, struct input in)
{
    const struct input stamp = stamped(world, in);
    tape_input(world, &stamp);
    encoded_preview(&world->encoded, world->core, &stamp, &world->arena);
    const enum verdict verdict = decide(world, &stamp, true);
    record_verdict(&world->record, verdict, &world->facts);
    for (size_t i = 0; verdict == VERDICT_OK && i < world->facts.count; i++) {
        fact_apply(world, &world->facts.at[i]);
    }
    if (world->kind == WORLD_TRIPLE && world->facts.count > 0 &&
        ++world->steps % STEPS_A_RESTART == 0) {
        states_compare(world);
    }
    /* Facts of one step belong together: the end of a task follows the end of its attempt. */
    if (world->facts.count > 0) {
        core_check(world->core);
    }
    if (verdict == VERDICT_OK) {
        oracle_starts_last(world->core, &world->facts, world->now_ms);
        budgets_check(world, &stamp);
    }
    if (in.type != INPUT_PASS && in.type != INPUT_REPORT) {
        oracle_turns_forget(&world->turns);
    }
    if (in.type == INPUT_PASS) {
        oracle_gangs_whole(world->core, &world->facts);
        oracle_evictions(&world->ledger, world->core, &world->facts);
        oracle_floors(&world->ledger, world->core, &world->facts);
        if ((world->laws & LAWS_TURNS) != 0) {
            oracle_turns(&world->turns, world->core, &world->facts);
        }
        oracle_form_together(world->core, &world->facts);
    }
    return verdict;
}

enum verdict world_ask(struct world *world, struct input in, struct reason *ret)
{
    const struct input stamp = stamped(world, in);
    struct facts facts;
    fact_list_init(&facts, &world->arena);
    const enum verdict verdict = core_decide(world->core, &stamp, &facts);
    *ret = facts.refusal;
    return verdict;
}

void world_settle(struct world *world, pool_id pool)
{
    enum { PASSES_MAX = 10000, PASSES_MORE = 5 };
    struct input in = {.type = INPUT_PASS};
    in.pass.pool = pool;
    tape_does(world, "settle", pool.v, world->dice.state);
    uint32_t passes = 0;
    do {
        in.pass.work_max = 1 + dice_roll(&world->dice, world->work_max);
        law(world_step(world, in) == VERDICT_OK, "a pass is never refused");
        law(++passes < PASSES_MAX, "P6: passes come to an end");
    } while (pass_incomplete(&world->facts));
    if (world->facts.count == 0) {
        core_pass_idle(world->core, pool);
    }
    ledger_take(&world->ledger, world->core);
    oracle_nothing_idles(&world->ledger, pool, world->now_ms);
    oracle_reasons(world->core, pool);
    oracle_fallback(world->core, pool);
    oracle_tally(&world->ledger, pool);
    record_state(&world->record, world->core);
    for (int i = 0; i < PASSES_MORE; i++) {
        const struct input stamp = stamped(world, in);
        /* The other cores have no caches, so they would decide the same again. */
        (void)decide(world, &stamp, i == 0);
        if (world->facts.count > 0) {
            facts_say("after the pool was settled", &world->facts);
        }
        law(world->facts.count == 0, "a settled pool stays settled");
        core_pass_idle(world->core, pool);
    }
    world->settled_count++;
    tape_done(world);
}
