/* schedule.c - see schedule.h. A pass that stopped at its budget is due again at once: the loop
 * gets a turn in between, so that a long queue never keeps a request waiting for long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/schedule.h"

enum {
    PASSES_PER_TURN_MAX = 16,
    PASS_WORK_MAX = 20000, /* units of work of one pass: a few milliseconds */
    TICKS_PER_TURN_MAX = 64,
    FACTS_GATHERED_MAX = 100000, /* no more starts are decided while so many wait for the disk */
};

struct schedule {
    struct loop *loop;
    struct ledger *ledger;
    struct loop_timer *timer;
    struct arena arena;
    uint64_t passes; /* that changed something */
    uint64_t tries;  /* all of them */
};

/* The turn itself does the work; the timer only brings one about. */
static void timer_due(void *ctx)
{
    (void)ctx;
}

struct schedule *schedule_new(struct loop *loop, struct ledger *ledger)
{
    struct schedule *schedule = xcalloc(1, sizeof *schedule);
    schedule->loop = loop;
    schedule->ledger = ledger;
    schedule->timer = loop_timer_new(loop, timer_due, schedule);
    arena_init(&schedule->arena);
    return schedule;
}

void schedule_free(struct schedule *schedule)
{
    if (schedule == NULL) {
        return;
    }
    loop_timer_free(schedule->timer);
    arena_done(&schedule->arena);
    free(schedule);
}

static size_t facts_of(struct schedule *schedule, struct input *in)
{
    struct facts facts;
    arena_clear(&schedule->arena);
    fact_list_init(&facts, &schedule->arena);
    must(ledger_input(schedule->ledger, in, &facts) == VERDICT_OK);
    return facts.count;
}

static void run_ticks(struct schedule *schedule)
{
    for (unsigned i = 0; i < TICKS_PER_TURN_MAX; i++) {
        if (query_deadline(ledger_core(schedule->ledger)) > ledger_now_ms(schedule->ledger)) {
            return;
        }
        struct input tick = {.type = INPUT_TICK, .actor = "timer", .cause = ""};
        if (facts_of(schedule, &tick) == 0) {
            return;
        }
    }
}

/* True when more is due than one turn does. */
static bool run_passes(struct schedule *schedule)
{
    pool_id pool;
    for (unsigned i = 0; i < PASSES_PER_TURN_MAX; i++) {
        if (ledger_facts_waiting(schedule->ledger) >= FACTS_GATHERED_MAX) {
            return false;
        }
        const struct core *core = ledger_core(schedule->ledger);
        if (!query_pass_due(core, ledger_now_ms(schedule->ledger), &pool)) {
            return false;
        }
        struct input pass = {
            .type = INPUT_PASS,
            .actor = "scheduler",
            .cause = "",
            .pass = {.pool = pool, .work_max = PASS_WORK_MAX},
        };
        schedule->tries++;
        if (facts_of(schedule, &pass) == 0) {
            ledger_pass_idle(schedule->ledger, pool);
        } else {
            schedule->passes++;
        }
    }
    return query_pass_due(ledger_core(schedule->ledger), ledger_now_ms(schedule->ledger), &pool);
}

void schedule_turn_end(struct schedule *schedule)
{
    if (ledger_state(schedule->ledger) != LEDGER_OPEN) {
        loop_timer_off(schedule->timer);
        return;
    }
    run_ticks(schedule);
    bool more = run_passes(schedule);
    int64_t deadline_ms = query_deadline(ledger_core(schedule->ledger));
    if (more) {
        loop_timer_set(schedule->timer, loop_now_ms(schedule->loop));
    } else if (deadline_ms == INT64_MAX) {
        loop_timer_off(schedule->timer);
    } else {
        /* A deadline that has passed and gave nothing is looked at again a millisecond later, not
         * in a busy loop. */
        int64_t at_ms = ledger_boot_ms(schedule->ledger, deadline_ms);
        int64_t soonest_ms = loop_now_ms(schedule->loop) + 1;
        loop_timer_set(schedule->timer, at_ms > soonest_ms ? at_ms : soonest_ms);
    }
}

uint64_t schedule_passes(const struct schedule *schedule)
{
    return schedule->passes;
}

uint64_t schedule_tries(const struct schedule *schedule)
{
    return schedule->tries;
}
