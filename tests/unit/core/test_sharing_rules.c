/* test_sharing_rules.c - the rules between accounts: what is allocatable, gates, order, taking back, protections in time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/account_order.h"
#include "core/sched/order/fraction.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/order/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { SLOT = 1000, ALL = VECTOR_UNLIMITED };

/* Slots and cpu; 20 slots and 64 cpus there are. */
static const struct account_pool POOL = {
    .dims = 2, .total = {{20 * SLOT, 64000}}, .unit = {{SLOT, 1}}};

static struct vector slots(int64_t whole)
{
    return (struct vector){{whole * SLOT}};
}

/* Guaranteed and fair share in whole slots; cpu without bounds. */
static struct account_view account(const struct account_view *parent, uint32_t index,
                                   int64_t guaranteed, int64_t share, int64_t held)
{
    struct account_view view = {
        .parent = parent,
        .index = index,
        .depth = parent == NULL ? 0 : parent->depth + 1,
        .rank = 100,
        .order = index,
        .preempt_min_runtime_ms = -1,
        .reclaim_min_runtime_ms = -1,
        .guaranteed = {{guaranteed * SLOT, ALL}},
        .limit = {{ALL, ALL}},
        .share = {{share * SLOT, 64000}},
        .allocated = {{held * SLOT, 0}},
    };
    account_allocatable(&view);
    return view;
}

static void fractions_compare_exactly_at_the_edges(void **state)
{
    (void)state;
    const fraction_wide wide = (fraction_wide)INT64_MAX * 1000000;
    assert_int_equal(fraction_compare((struct fraction){1, 3}, (struct fraction){2, 6}), 0);
    assert_int_equal(
        fraction_compare((struct fraction){1, 3}, (struct fraction){333333333, 1000000000}), 1);
    assert_int_equal(fraction_compare((struct fraction){wide, INT64_MAX},
                                      (struct fraction){wide - 1, INT64_MAX}),
                     1);
    assert_int_equal(fraction_compare((struct fraction){wide, INT64_MAX},
                                      (struct fraction){wide, INT64_MAX - 1}),
                     -1);
    assert_int_equal(fraction_compare((struct fraction){0, 1}, (struct fraction){0, INT64_MAX}), 0);
}

static void allocatable_is_the_larger_right_within_the_limit(void **state)
{
    (void)state;
    /* guaranteed, limit, share -> allocatable */
    static const int64_t rows[][4] = {{ALL, 7, 3, 7}, {ALL, ALL, 3, ALL}, {5, ALL, 3, 5},
                                      {5, ALL, 9, 9}, {5, 6, 9, 6},       {5, 4, 3, 4},
                                      {0, ALL, 0, 0}, {5, ALL, ALL, ALL}, {5, 8, ALL, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct account_view one = {
            .guaranteed = {{rows[i][0]}}, .limit = {{rows[i][1]}}, .share = {{rows[i][2]}}};
        account_allocatable(&one);
        assert_int_equal(one.allocatable.at[0], rows[i][3]);
    }
}

static void a_limit_blocks_at_every_level_and_only_what_is_asked(void **state)
{
    (void)state;
    struct account_view top = account(NULL, 0, 20, 20, 19);
    struct account_view leaf = account(&top, 1, 0, 5, 2);
    struct vector request = slots(2);
    assert_int_equal(gates_check(&POOL, &leaf, &request, true).gate, GATE_OPEN);
    top.limit.at[DIM_SLOTS] = 20 * SLOT;
    struct gate_result result = gates_check(&POOL, &leaf, &request, true);
    assert_int_equal(result.gate, GATE_LIMIT);
    assert_ptr_equal(result.account, &top);
    assert_int_equal(result.dims, 1u << DIM_SLOTS);
    leaf.limit.at[DIM_SLOTS] = 3 * SLOT;
    assert_ptr_equal(gates_check(&POOL, &leaf, &request, true).account, &leaf);
    request = slots(1);
    assert_int_equal(gates_check(&POOL, &leaf, &request, true).gate, GATE_OPEN);
    request = (struct vector){{0, 500}};
    top.allocated.at[DIM_SLOTS] = 30 * SLOT;
    assert_int_equal(gates_check(&POOL, &leaf, &request, true).gate, GATE_OPEN);
}

static void work_that_cannot_be_preempted_stays_within_every_guarantee(void **state)
{
    (void)state;
    struct account_view top = account(NULL, 0, 10, 10, 9);
    struct account_view leaf = account(&top, 1, 5, 5, 5);
    const struct vector request = slots(2);
    leaf.fixed = slots(3);
    top.fixed = slots(8);
    /* Preemptible work may hold the rest of the guarantee: preemption makes room. */
    assert_int_equal(gates_check(&POOL, &leaf, &request, false).gate, GATE_OPEN);
    top.fixed = slots(9);
    const struct gate_result result = gates_check(&POOL, &leaf, &request, false);
    assert_int_equal(result.gate, GATE_GUARANTEE);
    assert_ptr_equal(result.account, &top);
    assert_int_equal(gates_check(&POOL, &leaf, &request, true).gate, GATE_OPEN);
}

/* The younger `b` must come first for the reason under test; without it the older `a` would. */
static int order(const struct account_view *a, const struct account_view *b)
{
    const struct vector chunk = slots(1);
    const struct account_side left = {a, &chunk, NULL};
    const struct account_side right = {b, &chunk, NULL};
    const int by = account_order(&POOL, &left, &right);
    assert_int_equal(account_order(&POOL, &right, &left), -by);
    assert_int_equal(account_order_giving(&POOL, &left, &right), -by);
    return by;
}

static void accounts_are_served_by_the_first_difference(void **state)
{
    (void)state;
    struct account_view a = account(NULL, 0, 2, 6, 4);
    struct account_view b = account(NULL, 1, 2, 6, 4);
    assert_true(order(&a, &b) < 0); /* older */
    b.allocatable.at[DIM_CPU] = 64000;
    assert_true(order(&a, &b) > 0); /* smaller allocatable */
    a.allocated = slots(3);
    assert_true(order(&a, &b) < 0); /* smaller dominant share */
    b.allocated = slots(2);
    assert_true(order(&a, &b) > 0);
    a.allocatable.at[DIM_CPU] = 0;
    a.allocated = slots(0);
    a.guaranteed.at[DIM_CPU] = 0;
    a.allocated.at[DIM_CPU] = 1;
    assert_true(order(&a, &b) > 0); /* holds what it has no right to */
    a.rank = 200;
    assert_true(order(&a, &b) < 0); /* rank */
    b.allocated = slots(1);
    assert_true(order(&a, &b) > 0); /* within its guarantee */
    b.allocated = (struct vector){{7 * SLOT, 65000}};
    b.guaranteed = (struct vector){{ALL, ALL}};
    assert_true(order(&a, &b) < 0); /* above its share everywhere */
}

static void what_is_taken_counts_only_in_the_dominant_share(void **state)
{
    (void)state;
    const struct account_view a = account(NULL, 0, 0, 4, 8);
    const struct account_view b = account(NULL, 1, 0, 4, 7);
    const struct vector two = slots(2);
    const struct account_side left = {&a, NULL, &two};
    const struct account_side right = {&b, NULL, NULL};
    assert_true(account_order(&POOL, &left, &right) < 0);
    const struct account_side untouched = {&a, NULL, NULL};
    assert_true(account_order_giving(&POOL, &untouched, &right) < 0);
}

static struct claimant claim_of(const struct account_view *leaf, int64_t whole, bool preemptible)
{
    return (struct claimant){&POOL, leaf, slots(whole), preemptible, SATURATION_MILLI_DEFAULT};
}

static void a_claim_starts_only_within_share_and_guarantee(void **state)
{
    (void)state;
    struct account_view leaf = account(NULL, 0, 2, 4, 2);
    struct claimant claim = claim_of(&leaf, 2, true);
    assert_int_equal(reclaim_rules_start(&claim), CLAIM_MAY_START);
    claim = claim_of(&leaf, 3, true);
    assert_int_equal(reclaim_rules_start(&claim), CLAIM_ABOVE_SHARE);
    claim = claim_of(&leaf, 2, false);
    assert_int_equal(reclaim_rules_start(&claim), CLAIM_MAY_START);
    leaf.fixed = slots(1);
    assert_int_equal(reclaim_rules_start(&claim), CLAIM_ABOVE_GUARANTEE);
}

static void a_project_keeps_its_guarantee_against_other_departments(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct losses losses;
    reclaim_rules_losses_init(&losses, NULL, 4, &arena);
    const struct account_view owner = account(NULL, 0, 2, 2, 0);
    struct account_view department = account(NULL, 1, 6, 6, 8);
    const struct account_view within = account(&department, 2, 4, 4, 4);
    const struct account_view borrower = account(&department, 3, 2, 2, 4);
    const struct claimant claim = claim_of(&owner, 2, true);
    const struct vector four = slots(4);
    const struct vector one = slots(1);
    account_promise(&department, &within);
    account_promise(&department, &borrower);
    assert_false(reclaim_rules_from(&claim, &within));
    assert_int_equal(reclaim_rules_take(&claim, &losses, &within, &four), RECLAIM_REFUSED);
    assert_true(reclaim_rules_from(&claim, &borrower));
    assert_int_equal(reclaim_rules_take(&claim, &losses, &borrower, &one), RECLAIM_BY_SHARE);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &borrower, &one), RECLAIM_BY_SHARE);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &borrower, &one), RECLAIM_REFUSED);
    reclaim_rules_losses_clear(&losses);
    department.guaranteed = slots(5); /* less than it promised: then nobody can insist */
    account_allocatable(&department);
    assert_true(reclaim_rules_from(&claim, &within));
    assert_int_equal(reclaim_rules_take(&claim, &losses, &within, &four), RECLAIM_BY_SHARE);
    arena_done(&arena);
}

static void only_those_above_their_right_can_give(void **state)
{
    (void)state;
    struct account_view taker = account(NULL, 0, 4, 6, 2);
    struct account_view giver = account(NULL, 1, 3, 6, 5);
    struct claimant within = claim_of(&taker, 2, true);
    struct claimant beyond = claim_of(&taker, 4, true);
    assert_true(reclaim_rules_from(&within, &giver));  /* above its guarantee */
    assert_false(reclaim_rules_from(&beyond, &giver)); /* not above its share */
    giver.allocated = slots(7);
    assert_true(reclaim_rules_from(&beyond, &giver));
    giver.allocated = slots(3);
    assert_true(reclaim_rules_from(&within, &giver)); /* exactly at it: a closer look decides */
    giver.allocated = slots(2);
    assert_false(reclaim_rules_from(&within, &giver));
}

static void a_limit_below_the_guarantee_gives_nothing_away(void **state)
{
    (void)state;
    const struct account_view taker = account(NULL, 0, 4, 4, 2);
    const struct vector piece = {{SLOT, 1000}};
    struct account_view giver = account(NULL, 1, 3, 3, 3);
    struct arena arena;
    struct losses losses;
    arena_init(&arena);
    reclaim_rules_losses_init(&losses, NULL, 2, &arena);
    const struct claimant claim = claim_of(&taker, 1, true);
    /* Edits left it above its limit of cpu, of which the claimant wants nothing. */
    giver.guaranteed.at[DIM_CPU] = 4500;
    giver.limit.at[DIM_CPU] = 1500;
    giver.share.at[DIM_CPU] = 1500;
    giver.allocated.at[DIM_CPU] = 2000;
    account_allocatable(&giver);
    assert_int_equal(giver.allocatable.at[DIM_CPU], 1500);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &giver, &piece), RECLAIM_REFUSED);
    assert_int_equal(losses.touched_count, 0);
    giver.guaranteed.at[DIM_CPU] = ALL;
    assert_int_equal(reclaim_rules_take(&claim, &losses, &giver, &piece), RECLAIM_REFUSED);
    /* Below what it holds, the guarantee protects no more, and the limit decides. */
    giver.guaranteed.at[DIM_CPU] = 1800;
    assert_int_equal(reclaim_rules_above_share(&POOL, &giver, &giver.allocated), 1u << DIM_CPU);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &giver, &piece), RECLAIM_BY_SHARE);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &giver, &piece), RECLAIM_REFUSED);
    arena_done(&arena);
}

static void pieces_are_taken_while_the_giver_is_above_its_right(void **state)
{
    (void)state;
    const struct account_view taker = account(NULL, 0, 4, 6, 2);
    const struct account_view giver = account(NULL, 1, 3, 6, 8);
    const struct vector one = slots(1);
    struct arena arena;
    struct losses losses;
    arena_init(&arena);
    reclaim_rules_losses_init(&losses, NULL, 2, &arena);
    const struct claimant beyond = claim_of(&taker, 4, true);
    assert_int_equal(reclaim_rules_take(&beyond, &losses, &giver, &one), RECLAIM_BY_SHARE);
    assert_int_equal(reclaim_rules_take(&beyond, &losses, &giver, &one), RECLAIM_BY_SHARE);
    assert_int_equal(reclaim_rules_take(&beyond, &losses, &giver, &one), RECLAIM_REFUSED);
    assert_int_equal(reclaim_rules_remaining(&losses, &giver).at[DIM_SLOTS], 6 * SLOT);
    const struct claimant within = claim_of(&taker, 2, true);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reclaim_rules_take(&within, &losses, &giver, &one), RECLAIM_BY_GUARANTEE);
    }
    assert_int_equal(reclaim_rules_take(&within, &losses, &giver, &one), RECLAIM_REFUSED);
    reclaim_rules_losses_clear(&losses);
    assert_int_equal(losses.touched_count, 0);
    assert_int_equal(reclaim_rules_remaining(&losses, &giver).at[DIM_SLOTS], 8 * SLOT);
    arena_done(&arena);
}

static void accounts_meet_where_their_paths_part(void **state)
{
    (void)state;
    const struct account_view left = account(NULL, 0, 4, 4, 4);
    const struct account_view right = account(NULL, 1, 4, 4, 4);
    const struct account_view taker = account(&left, 2, 4, 4, 0);
    const struct account_view cousin = account(&right, 3, 0, 0, 4);
    const struct account_view sibling = account(&left, 4, 0, 0, 4);
    const struct claimant claim = claim_of(&taker, 1, true);
    const struct vector one = slots(1);
    struct arena arena;
    struct losses losses;
    arena_init(&arena);
    reclaim_rules_losses_init(&losses, NULL, 5, &arena);
    /* The cousin is above its own right, but its department is not, and departments are compared. */
    assert_int_equal(reclaim_rules_take(&claim, &losses, &cousin, &one), RECLAIM_REFUSED);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &sibling, &one), RECLAIM_BY_SHARE);
    assert_int_equal(reclaim_rules_remaining(&losses, &left).at[DIM_SLOTS], 3 * SLOT);
    assert_true(reclaim_rules_balanced(&claim, &losses));
    arena_done(&arena);
}

static void nobody_ends_as_saturated_as_those_who_paid(void **state)
{
    (void)state;
    /* left holds 6 of its 5 with the claim: 1.2; right is left with 5 of its 4: 1.25. */
    const struct account_view left = account(NULL, 0, 2, 5, 5);
    const struct account_view right = account(NULL, 1, 2, 4, 6);
    const struct account_view taker = account(&left, 2, 2, 5, 0);
    const struct account_view giver = account(&right, 3, 2, 4, 6);
    const struct vector one = slots(1);
    struct claimant claim = claim_of(&taker, 1, true);
    struct arena arena;
    struct losses losses;
    arena_init(&arena);
    reclaim_rules_losses_init(&losses, NULL, 4, &arena);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &giver, &one), RECLAIM_BY_SHARE);
    assert_true(reclaim_rules_balanced(&claim, &losses));
    claim.saturation_milli = 1041; /* 1.2 * 1.041 < 1.25 */
    assert_true(reclaim_rules_balanced(&claim, &losses));
    claim.saturation_milli = 1042;
    assert_false(reclaim_rules_balanced(&claim, &losses));
    claim.saturation_milli = SATURATION_MILLI_DEFAULT;
    assert_int_equal(reclaim_rules_take(&claim, &losses, &giver, &one), RECLAIM_BY_SHARE);
    assert_false(reclaim_rules_balanced(&claim, &losses)); /* right would be left with 4 of 4 */
    arena_done(&arena);
}

/* With the claim the taker holds `load` of its share, the giver keeps `rest` of its own. All in thousandths. */
static void a_taker_above_its_share_must_stay_the_less_saturated(void **state)
{
    (void)state;
    static const struct {
        int64_t load, share, rest, giver_share;
        bool balanced;
    } cases[] = {
        {5, 5, 1, 5, true},  /* within its share */
        {6, 5, 7, 5, true},  /* 1.2 against 1.4 */
        {6, 5, 6, 5, false}, /* as saturated */
        {6, 5, 5, 5, false},   {12, 10, 5, 4, true},
        {13, 10, 5, 4, false}, {1, 0, 5, 5, false}, /* no share at all */
        {2, 1, 3, 1, true},    {3, 1, 3, 1, false},
        {6, 5, 0, 5, false}, /* the giver would keep nothing */
        {6, 5, 3, 0, true},  /* the giver has no share */
        {6, 5, 1, 1, false},
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct account_view taker = account(NULL, 0, 0, 0, 0);
        struct account_view giver = account(NULL, 1, 0, 0, 0);
        taker.share.at[DIM_SLOTS] = cases[i].share;
        taker.allocated.at[DIM_SLOTS] = cases[i].load - 1;
        giver.share.at[DIM_SLOTS] = cases[i].giver_share;
        giver.allocated.at[DIM_SLOTS] = cases[i].rest + 1;
        account_allocatable(&taker);
        account_allocatable(&giver);
        giver.allocatable.at[DIM_SLOTS] = 0; /* it may give: only the outcome is judged here */
        const struct vector one = {{1}};
        struct claimant claim = claim_of(&taker, 0, true);
        struct losses losses;
        claim.request = one;
        reclaim_rules_losses_init(&losses, NULL, 2, &arena);
        assert_int_equal(reclaim_rules_take(&claim, &losses, &giver, &one), RECLAIM_BY_SHARE);
        if (reclaim_rules_balanced(&claim, &losses) != cases[i].balanced) {
            fail_msg("case %zu", i);
        }
    }
    arena_done(&arena);
}

/* A department that promises more cpu than it is guaranteed cannot keep what it promised; in slots it can. */
static void a_guarantee_counts_in_each_resource_alone(void **state)
{
    (void)state;
    struct account_view top = account(NULL, 0, 10, 10, 4);
    struct account_view below = account(&top, 1, 5, 5, 2);
    const struct vector piece = {{0, 500}};
    top.guaranteed.at[DIM_CPU] = 4000;
    top.promised = (struct vector){{5 * SLOT, 4000}};
    below.guaranteed.at[DIM_CPU] = 4000;
    below.allocated.at[DIM_CPU] = 3000;
    assert_true(account_keeps(&POOL, &below, &top, &below.allocated, &piece));
    top.promised.at[DIM_CPU] = 4001;
    assert_false(account_keeps(&POOL, &below, &top, &below.allocated, &piece));
    const struct vector slot = slots(1);
    assert_true(account_keeps(&POOL, &below, &top, &below.allocated, &slot));
    top.promised.at[DIM_SLOTS] = 11 * SLOT;
    assert_false(account_keeps(&POOL, &below, &top, &below.allocated, &slot));
}

/* Without this rule the two would evict each other in turn for ever. */
static void who_ends_above_its_guarantee_leaves_what_fits_that_of_others(void **state)
{
    (void)state;
    const struct account_view a = account(NULL, 0, 6, 7, 3);
    const struct account_view b = account(NULL, 1, 2, 2, 5);
    const struct vector one = slots(1);
    const struct vector three = slots(3);
    const struct claimant claim = claim_of(&a, 4, true);
    struct arena arena;
    struct losses losses;
    arena_init(&arena);
    reclaim_rules_losses_init(&losses, NULL, 2, &arena);
    assert_int_equal(reclaim_rules_start(&claim), CLAIM_MAY_START);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &b, &three), RECLAIM_BY_SHARE);
    assert_true(reclaim_rules_balanced(&claim, &losses)); /* b keeps its 2 */
    reclaim_rules_losses_clear(&losses);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &b, &one), RECLAIM_BY_SHARE);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &b, &three), RECLAIM_BY_SHARE);
    assert_false(reclaim_rules_balanced(&claim, &losses)); /* b would be left with 1 */
    reclaim_rules_losses_clear(&losses);
    const struct claimant within = claim_of(&a, 3, true);
    assert_int_equal(reclaim_rules_take(&within, &losses, &b, &one), RECLAIM_BY_SHARE);
    assert_int_equal(reclaim_rules_take(&within, &losses, &b, &three), RECLAIM_BY_SHARE);
    assert_true(reclaim_rules_balanced(
        &within, &losses)); /* a stays within its guarantee: b cannot take back */
    arena_done(&arena);
}

static void a_guarantee_shields_what_fits_it(void **state)
{
    (void)state;
    struct account_view payer = account(NULL, 0, 3, 3, 8);
    const struct vector none = slots(0);
    const struct vector one = slots(1);
    const struct vector two = slots(2);
    const struct vector four = slots(4);
    assert_true(reclaim_rules_shields(&POOL, &payer, &one, &two));
    assert_false(reclaim_rules_shields(&POOL, &payer, &two, &two)); /* not beside what it keeps */
    assert_false(reclaim_rules_shields(&POOL, &payer, &none, &four));
    payer.guaranteed.at[DIM_CPU] = 1000;
    struct vector much = one;
    much.at[DIM_CPU] = 2000;
    assert_false(reclaim_rules_shields(&POOL, &payer, &none, &much)); /* every resource counts */
    payer.guaranteed.at[DIM_CPU] = ALL;
    const struct account_view child = account(&payer, 1, 4, 3, 8);
    account_promise(&payer, &child); /* more than it has: then the whole guarantee is kept */
    assert_true(reclaim_rules_shields(&POOL, &payer, &two, &four));
    assert_false(reclaim_rules_shields(&POOL, &payer, &four, &four));
}

/* The department is guaranteed 2 and promised 4. Project `within` holds 1 of its 2, `borrower` 4 of its 2. A claim on surplus takes from
 * the borrower, as long as the borrower borrows. A claim on a guarantee may take from both. */
static void who_borrows_pays_first(void **state)
{
    (void)state;
    struct account_view all[4];
    struct shares_link links[4] = {{.child_first = SHARES_NONE, .sibling_next = 1},
                                   {.child_first = 2, .sibling_next = SHARES_NONE},
                                   {.child_first = SHARES_NONE, .sibling_next = 3},
                                   {.child_first = SHARES_NONE, .sibling_next = SHARES_NONE}};
    const struct shares tree = {
        .pool = POOL, .count = 4, .top_first = 0, .views = all, .links = links};
    const struct vector one = slots(1);
    struct arena arena;
    struct losses losses;
    arena_init(&arena);
    all[0] = account(NULL, 0, 2, 8, 2);
    all[1] = account(NULL, 1, 2, 2, 5);
    all[2] = account(&all[1], 2, 2, 1, 1);
    all[3] = account(&all[1], 3, 2, 1, 4);
    account_promise(&all[1], &all[2]);
    account_promise(&all[1], &all[3]);
    struct claimant claim = claim_of(&all[0], 1, true);
    reclaim_rules_losses_init(&losses, &tree, 4, &arena);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &all[3], &one), RECLAIM_BY_SHARE);
    assert_true(reclaim_rules_balanced(&claim, &losses));
    reclaim_rules_losses_clear(&losses);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &all[2], &one), RECLAIM_BY_SHARE);
    assert_false(reclaim_rules_balanced(&claim, &losses)); /* the borrower has 4 of 2 still */
    all[0].allocated = slots(1);
    assert_true(reclaim_rules_balanced(&claim, &losses)); /* 2 of 2: the claim is on a guarantee */
    all[0].allocated = slots(2);
    all[3].allocated = slots(2);
    assert_true(reclaim_rules_balanced(&claim, &losses)); /* nobody borrows */
    arena_done(&arena);
}

static void a_department_without_share_takes_nothing(void **state)
{
    (void)state;
    struct account_view left = account(NULL, 0, 0, 0, 0);
    struct account_view right = account(NULL, 1, 0, 0, 3);
    const struct account_view taker = account(&left, 2, 5, 1, 0);
    const struct account_view giver = account(&right, 3, 5, 3, 3);
    const struct vector one = slots(1);
    account_promise(&left, &taker);
    account_promise(&right, &giver);
    const struct claimant claim = claim_of(&taker, 1, true);
    struct arena arena;
    struct losses losses;
    arena_init(&arena);
    reclaim_rules_losses_init(&losses, NULL, 4, &arena);
    assert_int_equal(reclaim_rules_start(&claim), CLAIM_MAY_START);
    assert_int_equal(reclaim_rules_take(&claim, &losses, &giver, &one), RECLAIM_BY_SHARE);
    assert_false(reclaim_rules_balanced(&claim, &losses));
    arena_done(&arena);
}

static void minimum_runtime_comes_from_the_account_below_the_common_one(void **state)
{
    (void)state;
    struct account_view a = account(NULL, 0, 0, 0, 0);
    struct account_view b = account(&a, 1, 0, 0, 0);
    struct account_view c = account(&b, 2, 0, 0, 0);
    struct account_view d = account(&b, 3, 0, 0, 0);
    struct account_view leaf1 = account(&c, 4, 0, 0, 0);
    struct account_view leaf2 = account(&c, 5, 0, 0, 0);
    struct account_view leaf3 = account(&d, 6, 0, 0, 0);
    const struct account_view elsewhere = account(NULL, 7, 0, 0, 0);
    b.reclaim_min_runtime_ms = 600000;
    d.reclaim_min_runtime_ms = 60000;
    leaf1.reclaim_min_runtime_ms = 0;
    leaf2.reclaim_min_runtime_ms = 180000;
    const enum reclaim_protection lca = RECLAIM_PROTECTION_LCA;
    const enum reclaim_protection own = RECLAIM_PROTECTION_ACCOUNT;
    assert_int_equal(runtime_min_reclaim_ms(lca, &leaf1, &leaf3, 7), 60000);
    assert_int_equal(runtime_min_reclaim_ms(lca, &leaf1, &leaf2, 7), 180000);
    assert_int_equal(runtime_min_reclaim_ms(lca, &leaf3, &leaf1, 7), 600000);
    assert_int_equal(runtime_min_reclaim_ms(lca, &elsewhere, &leaf3, 7), 7);
    assert_int_equal(runtime_min_reclaim_ms(own, &leaf3, &leaf1, 7), 0);
    assert_int_equal(runtime_min_reclaim_ms(own, &elsewhere, &leaf3, 7), 60000);
    assert_int_equal(runtime_min_reclaim_ms(own, &leaf3, &elsewhere, 7), 7);
    assert_int_equal(runtime_min_preempt_ms(&leaf2, 7), 7);
    c.preempt_min_runtime_ms = 5;
    assert_int_equal(runtime_min_preempt_ms(&leaf2, 7), 5);
}

static void protections_end_at_their_moment(void **state)
{
    (void)state;
    assert_true(runtime_protected(1000, 500, 1499));
    assert_false(runtime_protected(1000, 500, 1500));
    assert_true(
        runtime_protected(1000, 0, 1000)); /* nothing is taken back in the moment of its start */
    assert_false(runtime_protected(1000, 0, 1001));
    assert_int_equal(runtime_evict_from_ms(1000, 0, 50), 1050);
    assert_int_equal(runtime_evict_from_ms(1000, 4000, 50), 4050);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_compare_exactly_at_the_edges),
        cmocka_unit_test(allocatable_is_the_larger_right_within_the_limit),
        cmocka_unit_test(a_limit_blocks_at_every_level_and_only_what_is_asked),
        cmocka_unit_test(work_that_cannot_be_preempted_stays_within_every_guarantee),
        cmocka_unit_test(accounts_are_served_by_the_first_difference),
        cmocka_unit_test(what_is_taken_counts_only_in_the_dominant_share),
        cmocka_unit_test(a_claim_starts_only_within_share_and_guarantee),
        cmocka_unit_test(a_project_keeps_its_guarantee_against_other_departments),
        cmocka_unit_test(only_those_above_their_right_can_give),
        cmocka_unit_test(a_limit_below_the_guarantee_gives_nothing_away),
        cmocka_unit_test(pieces_are_taken_while_the_giver_is_above_its_right),
        cmocka_unit_test(accounts_meet_where_their_paths_part),
        cmocka_unit_test(nobody_ends_as_saturated_as_those_who_paid),
        cmocka_unit_test(a_taker_above_its_share_must_stay_the_less_saturated),
        cmocka_unit_test(a_guarantee_counts_in_each_resource_alone),
        cmocka_unit_test(who_ends_above_its_guarantee_leaves_what_fits_that_of_others),
        cmocka_unit_test(a_guarantee_shields_what_fits_it),
        cmocka_unit_test(who_borrows_pays_first),
        cmocka_unit_test(a_department_without_share_takes_nothing),
        cmocka_unit_test(minimum_runtime_comes_from_the_account_below_the_common_one),
        cmocka_unit_test(protections_end_at_their_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
