/* provider_seats.c - see provider_seats.h.
 *
 * A list may be late. So a machine is missing only when its launch has not changed since the list was asked for, and no
 * agent of it is connected. The list of a program of the site may be wrong too: then several whole lists in a row must
 * lack the machine. A list that failed changes nothing; its problem stands at the launches, where people see it. The list
 * of `local` is exact and made at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/provider_seats.h"

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"
#include "core/model/node.h"
#include "core/model/spec.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "provider/exec/exec.h"
#include "provider/local/local.h"
#include "provider/slurm/slurm.h"
#include "server/provider_ec2.h"
#include "server/provider_leave.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    LIST_MS = 2000,       /* from one look at all machines to the next: machines of our own */
    LIST_APART_MS = 5000, /* likewise, machines that an outside program knows */
    LIST_IDLE_MS = 60000, /* likewise, while there are no launches */
    MISSES_MAX = 3,       /* lists in a row without a machine, until the machine is gone */
    ORPHANS_MAX =
        64, /* machines that no launch knows and that one list ends; the next list ends more */
    CLEAN_MIN = 2, /* lists in a row without any machine, until lists become rare */
    DIR_MAX = 4096,
};

/* A machine that the list under way has named. */
struct listed {
    launch_id launch;
    enum provider_says says;
    enum provider_stay stay;
};

/* A launch whose machine the last lists did not name. */
struct missed {
    launch_id launch;
    uint32_t times;
};

struct seat {
    struct provider_seats *seats;
    struct provider *provider;
    enum pool_provider type;
    pool_id pool; /* 0: all pools of the type */
    struct loop_timer *timer;
    int64_t due_ms; /* of the timer */
    bool listing;   /* a list is under way */
    uint32_t clean; /* whole lists in a row that named no machine */
    int64_t began_ms;
    VEC(struct listed) listed;
    VEC(struct missed) missed;
};

struct provider_seats {
    struct provider_seats_options o;
    struct programs *programs;
    bool started;
    struct seat
        *shared[POOL_PROVIDER_COUNT]; /* by type; NULL: none yet, or each pool has its own */
    struct map *own;                  /* by pool, of the type exec */
};

/* The next list is due at this moment, or earlier where it was due earlier already. */
static void seat_due(struct seat *seat, int64_t at_ms)
{
    if (!loop_timer_armed(seat->timer) || at_ms < seat->due_ms) {
        seat->due_ms = at_ms;
        loop_timer_set(seat->timer, at_ms);
    }
}

/* ---- what a list says ---- */

/* Does the seat serve the launch? */
static bool seat_serves(const struct seat *seat, const struct core *core,
                        const struct launch *launch)
{
    const struct pool *pool = query_pool(core, launch->pool);
    return pool != NULL && pool->provider == seat->type &&
           (seat->pool.v == 0 || seat->pool.v == launch->pool.v);
}

static void reported(void *ctx, const struct provider_report *report)
{
    struct seat *seat = ctx;
    struct provider_seats *seats = seat->seats;
    const struct core *core = ledger_core(seats->o.ledger);
    struct provider_answer answer;
    if (core == NULL || !provider_answer_of(query_server_uuid(core), report, &answer)) {
        return; /* another server's machine, or no state to compare with */
    }
    const struct launch *launch = query_launch(core, answer.launch);
    if (launch != NULL && !seat_serves(seat, core, launch)) {
        return; /* the machine of another pool */
    }
    if (seat->listing) {
        vec_push(&seat->listed, ((struct listed){answer.launch, answer.says, report->stay}));
    } else if (seat->type == POOL_EC2 && launch == NULL && answer.says <= PROVIDER_RUNNING) {
        seat_due(seat, loop_now_ms(seats->o.loop)); /* the next list ends the machine */
    }
    seats->o.said(seats->o.ctx, &answer);
}

static void machine_end(const struct seat *seat, const struct core *core, launch_id launch)
{
    char key[PROVIDER_KEY_MAX];
    provider_key(query_server_uuid(core), launch, key);
    seat->provider->ops->terminate(seat->provider, key);
}

/* A machine is there. Ends a machine whose launch ends. */
static void machine_look(struct seat *seat, const struct core *core, const struct launch *launch,
                         const struct listed *listed)
{
    if (launch->state == LAUNCH_ENDING && listed->says != PROVIDER_GONE) {
        machine_end(seat, core, listed->launch);
    } else if (seat->type == POOL_LOCAL && launch->state == LAUNCH_RUNNING &&
               listed->says == PROVIDER_REQUESTED) {
        seat->seats->o.launch(seat->seats->o.ctx, core, launch);
    } else if (listed->stay != PROVIDER_STAYS) {
        provider_leave(seat->seats->o.ledger, launch->id, listed->stay);
    }
}

/* Looks at every machine of the list. Ends machines that no launch knows: a few, because a list may invent many. */
static void machines_look(struct seat *seat, const struct core *core)
{
    unsigned orphans = 0;
    for (size_t i = 0; i < seat->listed.count; i++) {
        const struct listed *listed = &seat->listed.at[i];
        const struct launch *launch = query_launch(core, listed->launch);
        if (launch != NULL) {
            machine_look(seat, core, launch, listed);
        } else if (orphans++ < ORPHANS_MAX) {
            machine_end(seat, core, listed->launch);
        }
    }
}

static int listed_compare(const void *a, const void *b)
{
    const struct listed *x = a;
    const struct listed *y = b;
    return x->launch.v != y->launch.v ? (x->launch.v < y->launch.v ? -1 : 1)
                                      : (int)x->says - (int)y->says;
}

/* Is the launch in the list? Lists and launches are walked in one order. */
static bool is_listed(const struct seat *seat, size_t *at, launch_id launch)
{
    while (*at < seat->listed.count && seat->listed.at[*at].launch.v < launch.v) {
        (*at)++;
    }
    return *at < seat->listed.count && seat->listed.at[*at].launch.v == launch.v;
}

/* How often in a row the launch was missed before. */
static uint32_t missed_before(const struct seat *seat, size_t *at, launch_id launch)
{
    while (*at < seat->missed.count && seat->missed.at[*at].launch.v < launch.v) {
        (*at)++;
    }
    return *at < seat->missed.count && seat->missed.at[*at].launch.v == launch.v
               ? seat->missed.at[*at].times
               : 0;
}

/* Can the list know better than the launch itself? */
static bool may_be_gone(const struct seat *seat, const struct core *core,
                        const struct launch *launch)
{
    if (seat->type == POOL_LOCAL || launch->state == LAUNCH_ENDING) {
        return true;
    }
    const struct node *node = query_node(core, launch->node);
    return launch->changed_ms < seat->began_ms && (node == NULL || node->state != NODE_UP);
}

/* Ends launches whose machines are missing. The provider ends what is left of such a machine, and says that it is
 * gone. */
static void missing_look(struct seat *seat, const struct core *core)
{
    const uint32_t most = seat->type == POOL_EXEC ? MISSES_MAX : 1;
    VEC(struct missed) missed = {0};
    size_t in_list = 0;
    size_t in_missed = 0;
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        if (launch->state == LAUNCH_ASKED || !seat_serves(seat, core, launch) ||
            is_listed(seat, &in_list, launch->id) || !may_be_gone(seat, core, launch)) {
            continue;
        }
        const uint32_t times = missed_before(seat, &in_missed, launch->id) + 1;
        if (times >= most || launch->state == LAUNCH_ENDING) {
            machine_end(seat, core, launch->id);
        }
        vec_push(&missed, ((struct missed){launch->id, times}));
    }
    vec_done(&seat->missed);
    seat->missed.at = missed.at;
    seat->missed.count = missed.count;
    seat->missed.room = missed.room;
}

/* The list failed: says so at every launch of the seat. */
static void problem_tell(struct seat *seat, const struct core *core, const char *problem)
{
    log_warn("the machines of a provider cannot be listed", kv_str("why", problem));
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        if (launch->state != LAUNCH_ASKED && seat_serves(seat, core, launch)) {
            const struct provider_answer answer = {
                .launch = launch->id,
                .says = launch->state == LAUNCH_REQUESTED ? PROVIDER_REQUESTED : PROVIDER_RUNNING,
                .name = "",
                .node = "",
                .words = problem};
            seat->seats->o.said(seat->seats->o.ctx, &answer);
        }
    }
}

static void list_done(void *ctx, const char *problem)
{
    struct seat *seat = ctx;
    const struct core *core = ledger_core(seat->seats->o.ledger);
    seat->listing = false;
    seat->clean = problem[0] != '\0' || seat->listed.count > 0 ? 0 : seat->clean + 1;
    if (core == NULL || ledger_state(seat->seats->o.ledger) != LEDGER_OPEN) {
        return;
    }
    if (problem[0] != '\0') {
        problem_tell(seat, core, problem);
        return;
    }
    sort_items(seat->listed.at, seat->listed.count, sizeof *seat->listed.at, listed_compare);
    missing_look(seat, core);
    machines_look(seat, core);
}

/* ---- seats ---- */

static bool seat_has_launches(const struct seat *seat, const struct core *core)
{
    if (seat->pool.v != 0) {
        return query_pool(core, seat->pool)->launch_count > 0;
    }
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        if (seat_serves(seat, core, launch)) {
            return true;
        }
    }
    return false;
}

static void seat_free(struct seat *seat)
{
    loop_timer_free(seat->timer);
    if (seat->provider != NULL) {
        seat->provider->ops->free(seat->provider);
    }
    vec_done(&seat->listed);
    vec_done(&seat->missed);
    free(seat);
}

static void seat_drop(struct seat *seat)
{
    must(map_remove(seat->seats->own, &seat->pool, sizeof seat->pool) == seat);
    seat_free(seat);
}

/* The pool of the seat is gone, or has another provider now, and nothing is under way. */
static bool seat_is_left(const struct seat *seat, const struct core *core)
{
    const struct pool *pool = query_pool(core, seat->pool);
    return seat->pool.v != 0 && (pool == NULL || pool->provider != seat->type) && !seat->listing &&
           !exec_provider_busy(seat->provider);
}

static void list_due(void *ctx)
{
    struct seat *seat = ctx;
    struct provider_seats *seats = seat->seats;
    const struct core *core = ledger_core(seats->o.ledger);
    const bool open = core != NULL && ledger_state(seats->o.ledger) == LEDGER_OPEN;
    if (open && seat_is_left(seat, core)) {
        seat_drop(seat);
        return;
    }
    const struct pool *pool = open ? query_pool(core, seat->pool) : NULL;
    const bool wanted = open && (seat->pool.v == 0 || pool != NULL);
    const bool any = wanted && (seat_has_launches(seat, core) || seat->clean < CLEAN_MIN);
    if (wanted && !seat->listing) {
        vec_clear(&seat->listed);
        seat->listing = true;
        seat->began_ms = ledger_now_ms(seats->o.ledger);
        seat->provider->ops->list(seat->provider, list_done, seat);
    }
    const int64_t busy_ms = seat->type == POOL_LOCAL ? LIST_MS : LIST_APART_MS;
    seat_due(seat, loop_now_ms(seats->o.loop) + (any || !wanted ? busy_ms : LIST_IDLE_MS));
}

static struct seat *seat_new(struct provider_seats *seats, enum pool_provider type, pool_id pool)
{
    struct seat *seat = xcalloc(1, sizeof *seat);
    seat->seats = seats;
    seat->type = type;
    seat->pool = pool;
    seat->timer = loop_timer_new(seats->o.loop, list_due, seat);
    return seat;
}

/* Takes the seat in, or frees a seat whose provider could not be made. */
static struct seat *seat_add(struct provider_seats *seats, struct seat *seat)
{
    if (seat->provider == NULL) {
        seat_free(seat);
        return NULL;
    }
    if (seat->pool.v == 0) {
        seats->shared[seat->type] = seat;
    } else {
        must(map_put(seats->own, &seat->pool, sizeof seat->pool, seat) == NULL);
    }
    if (seats->started) {
        seat_due(seat, loop_now_ms(seats->o.loop) + LIST_MS);
    }
    return seat;
}

static void local_add(struct provider_seats *seats)
{
    struct seat *seat = seat_new(seats, POOL_LOCAL, (pool_id){0});
    char dir[DIR_MAX];
    struct error e = {0};
    const int len = snprintf(dir, sizeof dir, "%s/local", seats->o.dir);
    must(len > 0);
    if ((size_t)len >= sizeof dir ||
        local_provider_new(dir, (struct provider_sink){.ctx = seat, .report = reported},
                           &seat->provider, &e) != ERR_OK) {
        log_warn("pools with the provider local get no nodes", kv_error(&e));
    }
    (void)seat_add(seats, seat);
}

static struct seat *slurm_add(struct provider_seats *seats, const struct core *core)
{
    struct seat *seat = seat_new(seats, POOL_SLURM, (pool_id){0});
    seat->provider =
        slurm_provider_new(&(struct slurm_options){.loop = seats->o.loop,
                                                   .programs = seats->programs,
                                                   .server_uuid = query_server_uuid(core),
                                                   .sink = {.ctx = seat, .report = reported}});
    return seat_add(seats, seat);
}

static struct seat *ec2_add(struct provider_seats *seats)
{
    struct seat *seat = seat_new(seats, POOL_EC2, (pool_id){0});
    seat->provider = provider_ec2_new(seats->o.loop, seats->o.ledger, seats->o.ec2_credentials,
                                      (struct provider_sink){.ctx = seat, .report = reported});
    return seat_add(seats, seat);
}

static struct seat *exec_add(struct provider_seats *seats, const struct pool_spec *spec,
                             pool_id pool)
{
    struct seat *seat = seat_new(seats, POOL_EXEC, pool);
    seat->provider =
        exec_provider_new(&(struct exec_options){.loop = seats->o.loop,
                                                 .programs = seats->programs,
                                                 .pool = spec->name,
                                                 .program = spec->command,
                                                 .sink = {.ctx = seat, .report = reported}});
    return seat_add(seats, seat);
}

static struct seat *seat_of(struct provider_seats *seats, const struct core *core,
                            const struct pool *pool)
{
    const enum pool_provider type = (enum pool_provider)pool->provider;
    struct seat *seat =
        type == POOL_EXEC ? map_get(seats->own, &pool->id, sizeof pool->id) : seats->shared[type];
    if (type == POOL_SLURM && seat == NULL) {
        return slurm_add(seats, core);
    }
    if (type == POOL_EXEC) {
        struct arena arena;
        struct pool_spec spec;
        arena_init(&arena);
        query_pool_spec(core, pool->id, &arena, &spec);
        if (seat == NULL) {
            seat = exec_add(seats, &spec, pool->id);
        } else {
            exec_provider_program(seat->provider, spec.command);
        }
        arena_done(&arena);
    }
    return seat;
}

struct provider *provider_seats_of(struct provider_seats *seats, const struct core *core,
                                   const struct pool *pool)
{
    const struct seat *seat = seat_of(seats, core, pool);
    return seat == NULL ? NULL : seat->provider;
}

void provider_seats_ordered(struct provider_seats *seats, const struct core *core,
                            const struct pool *pool)
{
    struct seat *seat = seat_of(seats, core, pool);
    if (seat != NULL) {
        const bool local = seat->type == POOL_LOCAL;
        seat_due(seat, loop_now_ms(seats->o.loop) + (local ? LIST_MS : LIST_APART_MS));
    }
}

void provider_seats_open(struct provider_seats *seats)
{
    if (seats->shared[POOL_EC2] == NULL) {
        (void)ec2_add(seats);
    }
}

void provider_seats_start(struct provider_seats *seats)
{
    const struct core *core = ledger_core(seats->o.ledger);
    seats->started = true;
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        (void)seat_of(seats, core, pool);
    }
    for (unsigned i = 0; i < POOL_PROVIDER_COUNT; i++) {
        if (seats->shared[i] != NULL) {
            seat_due(seats->shared[i], loop_now_ms(seats->o.loop) + LIST_MS);
        }
    }
}

struct provider_seats *provider_seats_new(const struct provider_seats_options *options)
{
    struct provider_seats *seats = xcalloc(1, sizeof *seats);
    seats->o = *options;
    seats->programs = programs_new(options->loop);
    seats->own = map_new();
    local_add(seats);
    return seats;
}

void provider_seats_free(struct provider_seats *seats)
{
    if (seats == NULL) {
        return;
    }
    for (unsigned i = 0; i < POOL_PROVIDER_COUNT; i++) {
        if (seats->shared[i] != NULL) {
            seat_free(seats->shared[i]);
        }
    }
    size_t cursor = 0;
    for (struct seat *seat = map_next(seats->own, &cursor); seat != NULL;
         seat = map_next(seats->own, &cursor)) {
        seat_free(seat);
    }
    map_free(seats->own);
    programs_free(seats->programs);
    free(seats);
}
