/* prop_sharing.c - reclaim comes to an end. Small organisations share slots and cpu by the rules
 * of core/sched alone (account_order, reclaim_rules, fairshare). They reach a state that no
 * further round changes (P6), and no account within its guarantee loses anything to a claimant
 * that ends above its own (P4).
 *
 * A round starts what fits, in the order of the accounts, and then lets each waiting gang
 * reclaim. There are no nodes: any free amount fits. WEIR_SEED repeats a run, WEIR_HISTORIES
 * sets the number of organisations. `prop_sharing --play FILE` runs a recorded one (WEIR_TAPE, tape.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/account_order.h"
#include "core/sched/order/fairshare.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/reclaim_rules.h"
#include "prop_run.h"
#include "tape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ORGANISATIONS_DEFAULT = 20000,
    DEPARTMENTS_MAX = 3,
    PROJECTS_MAX = 3, /* most projects of a department */
    ACCOUNTS_MAX_HERE = DEPARTMENTS_MAX * (PROJECTS_MAX + 1),
    GANGS_MAX = 5, /* most gangs of a project */
    SLOTS_MAX_USUAL = 4,
    SLOTS_MAX_OVERSIZED = 12,
    ROUNDS_MAX = 100,
    DIMS = 2,
};

struct gang {
    struct vector size;
    bool runs;
    bool chosen; /* a victim in the set that is tried */
};

struct project {
    struct account_view *account;
    struct gang gangs[GANGS_MAX];
    uint32_t gang_count;
};

struct organisation {
    struct account_pool pool;
    struct account_view accounts[ACCOUNTS_MAX_HERE];
    uint32_t account_count;
    struct vector demand[ACCOUNTS_MAX_HERE];
    uint32_t weight[ACCOUNTS_MAX_HERE];
    struct project projects[DEPARTMENTS_MAX * PROJECTS_MAX];
    uint32_t project_count;
    struct vector free;
    struct losses losses;
    struct shares tree; /* who is below whom, for the rules of reclaim */
    struct shares_link links[ACCOUNTS_MAX_HERE];
    struct arena arena;
    uint64_t evicted_count;
    bool oversized; /* some gangs are larger than most guarantees */
};

/* ---- making an organisation ---- */

static struct account_view *account_new(struct organisation *org, struct dice *dice,
                                        const struct account_view *parent)
{
    const uint32_t index = org->account_count++;
    struct account_view *account = &org->accounts[index];
    account->parent = parent;
    account->index = index;
    account->depth = parent == NULL ? 0 : 1;
    account->rank = 100 + dice_roll(dice, 8) / 7;
    account->order = index;
    account->guaranteed = (struct vector){{dice_roll(dice, 6), VECTOR_UNLIMITED}};
    account->limit = (struct vector){{VECTOR_UNLIMITED, VECTOR_UNLIMITED}};
    if (dice_once_in(dice, 4)) {
        account->guaranteed.at[DIM_CPU] = dice_roll(dice, 12);
    }
    if (dice_once_in(dice, 8)) {
        account->limit.at[DIM_SLOTS] = account->guaranteed.at[DIM_SLOTS];
    }
    org->weight[index] = dice_roll(dice, 3) * 1000;
    if (parent != NULL) {
        account_promise(&org->accounts[parent->index], account);
    }
    return account;
}

static void gang_set(struct organisation *org, struct project *project, struct gang *gang,
                     bool runs)
{
    gang->runs = runs;
    for (struct account_view *account = project->account; account != NULL;
         account = account->parent == NULL ? NULL : &org->accounts[account->parent->index]) {
        (runs ? vector_add : vector_sub)(&account->allocated, &gang->size);
    }
    (runs ? vector_sub : vector_add)(&org->free, &gang->size);
}

/* Does the gang fit the free amounts and the limits of its project and department? */
static bool fits(const struct organisation *org, const struct project *project,
                 const struct gang *gang)
{
    return vector_above(&gang->size, &org->free, DIMS) == 0 &&
           gates_limit(&org->pool, project->account, &gang->size).gate == GATE_OPEN;
}

/* Divides one dimension among siblings, down the tree. */
static void divide(struct organisation *org, const struct account_view *parent, uint32_t dim,
                   int64_t total)
{
    struct fairshare siblings[ACCOUNTS_MAX_HERE];
    uint32_t index[ACCOUNTS_MAX_HERE];
    size_t count = 0;
    for (uint32_t i = 0; i < org->account_count; i++) {
        const struct account_view *account = &org->accounts[i];
        if (account->parent == parent) {
            index[count] = i;
            siblings[count++] = (struct fairshare){.guaranteed = account->guaranteed.at[dim],
                                                   .limit = account->limit.at[dim],
                                                   .demand = org->demand[i].at[dim],
                                                   .order = account->order,
                                                   .weight = org->weight[i],
                                                   .rank = account->rank};
        }
    }
    (void)fairshare_divide(siblings, count, total, 1, 0, &org->arena);
    for (size_t i = 0; i < count; i++) {
        org->accounts[index[i]].share.at[dim] = siblings[i].share;
    }
}

static void shares(struct organisation *org)
{
    for (uint32_t dim = 0; dim < DIMS; dim++) {
        divide(org, NULL, dim, org->pool.total.at[dim]);
        for (uint32_t i = 0; i < org->account_count; i++) {
            if (org->accounts[i].depth == 0) {
                divide(org, &org->accounts[i], dim, org->accounts[i].share.at[dim]);
            }
        }
    }
    for (uint32_t i = 0; i < org->account_count; i++) {
        account_allocatable(&org->accounts[i]);
    }
}

/* The siblings of each account, in the order of their ids. */
static void tree_make(struct organisation *org)
{
    org->tree = (struct shares){.pool = org->pool,
                                .count = org->account_count,
                                .top_first = SHARES_NONE,
                                .views = org->accounts,
                                .links = org->links};
    for (uint32_t i = 0; i < org->account_count; i++) {
        org->links[i].child_first = SHARES_NONE;
    }
    for (uint32_t i = org->account_count; i-- > 0;) {
        const struct account_view *parent = org->accounts[i].parent;
        uint32_t *first =
            parent == NULL ? &org->tree.top_first : &org->links[parent->index].child_first;
        org->links[i].sibling_next = *first;
        *first = i;
    }
    reclaim_rules_losses_init(&org->losses, &org->tree, org->account_count, &org->arena);
}

static void project_new(struct organisation *org, struct dice *dice,
                        const struct account_view *department)
{
    struct project *project = &org->projects[org->project_count++];
    project->account = account_new(org, dice, department);
    project->gang_count = dice_roll(dice, GANGS_MAX + 1);
    for (uint32_t i = 0; i < project->gang_count; i++) {
        struct gang *gang = &project->gangs[i];
        const bool large = org->oversized && dice_once_in(dice, 3);
        const uint32_t slots_max = large ? SLOTS_MAX_OVERSIZED : SLOTS_MAX_USUAL;
        gang->size = (struct vector){{1 + dice_roll(dice, slots_max), dice_roll(dice, 5)}};
        vector_add(&org->demand[project->account->index], &gang->size);
        vector_add(&org->demand[department->index], &gang->size);
        if (fits(org, project, gang) && dice_once_in(dice, 2)) {
            gang_set(org, project, gang, true);
        }
    }
}

/* Raises the guarantee of a department to what the department has promised. Organisations with
 * oversized gangs need this: README.md of core/sched, L6. */
static void promises_cover(struct account_view *department)
{
    for (uint32_t dim = 0; dim < DIMS; dim++) {
        const int64_t promised = department->promised.at[dim];
        if (promised == VECTOR_UNLIMITED ||
            !vector_within_at(promised, department->guaranteed.at[dim])) {
            department->guaranteed.at[dim] = promised;
        }
    }
}

static void organisation_make(struct organisation *org, uint64_t seed)
{
    struct dice dice = {seed};
    memset(org, 0, sizeof *org);
    arena_init(&org->arena);
    org->pool = (struct account_pool){
        .dims = DIMS, .total = {{4 + dice_roll(&dice, 17), 40}}, .unit = {{1, 1}}};
    org->free = org->pool.total;
    org->oversized = dice_once_in(&dice, 2);
    const uint32_t departments = 1 + dice_roll(&dice, DEPARTMENTS_MAX);
    for (uint32_t d = 0; d < departments; d++) {
        struct account_view *department = account_new(org, &dice, NULL);
        const uint32_t projects = 1 + dice_roll(&dice, PROJECTS_MAX);
        for (uint32_t p = 0; p < projects; p++) {
            project_new(org, &dice, department);
        }
        if (org->oversized) {
            promises_cover(department);
        }
    }
    shares(org);
    tree_make(org);
}

/* ---- an organisation as data ---- */

/* Describes an organisation as it was made: lines that organisation_read() reads. */
static void organisation_write(const struct organisation *org, struct buf *out)
{
    buf_clear(out);
    buf_addf(out, "organisation 1\npool %" PRId64 " %" PRId64 "\n", org->pool.total.at[DIM_SLOTS],
             org->pool.total.at[DIM_CPU]);
    for (uint32_t i = 0; i < org->account_count; i++) {
        const struct account_view *account = &org->accounts[i];
        buf_addf(out, "account %d %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu32 "\n",
                 account->parent == NULL ? -1 : (int)account->parent->index, account->rank,
                 account->guaranteed.at[DIM_SLOTS], account->guaranteed.at[DIM_CPU],
                 account->limit.at[DIM_SLOTS], org->weight[i]);
    }
    for (uint32_t i = 0; i < org->project_count; i++) {
        const struct project *project = &org->projects[i];
        buf_addf(out, "project %" PRIu32 "\n", project->account->index);
        for (uint32_t g = 0; g < project->gang_count; g++) {
            const struct gang *gang = &project->gangs[g];
            buf_addf(out, "gang %" PRId64 " %" PRId64 " %d\n", gang->size.at[DIM_SLOTS],
                     gang->size.at[DIM_CPU], gang->runs);
        }
    }
}

static void account_read(struct organisation *org, const char *line)
{
    struct account_view *account = &org->accounts[org->account_count];
    int parent = 0;
    law(org->account_count < ACCOUNTS_MAX_HERE, "few accounts");
    law(sscanf(line, "account %d %" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu32, &parent,
               &account->rank, &account->guaranteed.at[DIM_SLOTS], &account->guaranteed.at[DIM_CPU],
               &account->limit.at[DIM_SLOTS], &org->weight[org->account_count]) == 6,
        "an account has six numbers");
    account->parent = parent < 0 ? NULL : &org->accounts[parent];
    account->depth = parent < 0 ? 0 : 1;
    account->limit.at[DIM_CPU] = VECTOR_UNLIMITED;
    account->order = org->account_count;
    account->index = org->account_count++;
    if (parent >= 0) {
        account_promise(&org->accounts[parent], account);
    }
}

static void gang_read(struct organisation *org, const char *line)
{
    struct project *project = &org->projects[org->project_count - 1];
    struct gang *gang = &project->gangs[project->gang_count++];
    int runs = 0;
    law(project->gang_count <= GANGS_MAX, "few gangs");
    law(sscanf(line, "gang %" SCNd64 " %" SCNd64 " %d", &gang->size.at[DIM_SLOTS],
               &gang->size.at[DIM_CPU], &runs) == 3,
        "a gang has three numbers");
    vector_add(&org->demand[project->account->index], &gang->size);
    vector_add(&org->demand[project->account->parent->index], &gang->size);
    if (runs != 0) {
        gang_set(org, project, gang, true);
    }
}

static void organisation_read(struct organisation *org, const char *path)
{
    enum { LINE_ROOM = 200 };
    char line[LINE_ROOM];
    uint32_t account = 0;
    FILE *file = fopen(path, "r");
    law(file != NULL && fgets(line, sizeof line, file) != NULL &&
            strcmp(line, "organisation 1\n") == 0,
        "a recorded organisation says so in its first line");
    memset(org, 0, sizeof *org);
    arena_init(&org->arena);
    org->pool = (struct account_pool){.dims = DIMS, .unit = {{1, 1}}};
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "pool %" SCNd64 " %" SCNd64, &org->pool.total.at[DIM_SLOTS],
                   &org->pool.total.at[DIM_CPU]) == 2) {
            org->free = org->pool.total;
        } else if (sscanf(line, "project %" SCNu32, &account) == 1) {
            org->projects[org->project_count++].account = &org->accounts[account];
        } else if (line[0] == 'a') {
            account_read(org, line);
        } else if (line[0] == 'g') {
            gang_read(org, line);
        }
    }
    (void)fclose(file);
    shares(org);
    tree_make(org);
}

/* ---- running an organisation ---- */

static struct gang *waiting_first(struct project *project, const struct organisation *org)
{
    for (uint32_t i = 0; i < project->gang_count; i++) {
        struct gang *gang = &project->gangs[i];
        if (!gang->runs && !gang->chosen && fits(org, project, gang)) {
            return gang;
        }
    }
    return NULL;
}

/* True when project `a` comes before `b`, each with its gang, where their paths diverge. */
static bool served_before(const struct organisation *org, const struct project *a,
                          const struct gang *a_gang, const struct project *b,
                          const struct gang *b_gang)
{
    struct account_side left = {.chunk = &a_gang->size};
    struct account_side right = {.chunk = &b_gang->size};
    account_diverge(a->account, b->account, &left.account, &right.account);
    return account_order(&org->pool, &left, &right) < 0;
}

/* Starts what fits, the best account first. */
static bool start_all(struct organisation *org)
{
    bool changed = false;
    for (;;) {
        struct project *best = NULL;
        struct gang *best_gang = NULL;
        for (uint32_t i = 0; i < org->project_count; i++) {
            struct project *project = &org->projects[i];
            struct gang *gang = waiting_first(project, org);
            if (gang != NULL &&
                (best == NULL || served_before(org, project, gang, best, best_gang))) {
                best = project;
                best_gang = gang;
            }
        }
        if (best == NULL) {
            return changed;
        }
        gang_set(org, best, best_gang, true);
        changed = true;
    }
}

static struct gang *victim_next(struct project *project)
{
    for (uint32_t i = project->gang_count; i-- > 0;) {
        if (project->gangs[i].runs && !project->gangs[i].chosen) {
            return &project->gangs[i];
        }
    }
    return NULL;
}

/* Do the waiting gangs of the payers that their guarantees shield find room beside the claimant?
 * `room` is free when the victims have left and the claimant has started. */
static bool floors_left(const struct organisation *org, const struct claimant *claim,
                        struct vector room)
{
    struct vector placed[ACCOUNTS_MAX_HERE] = {0};
    for (uint32_t i = 0; i < org->project_count; i++) {
        const struct project *project = &org->projects[i];
        const struct account_view *taker;
        const struct account_view *giver;
        account_diverge(claim->account, project->account, &taker, &giver);
        struct vector load = reclaim_rules_remaining(&org->losses, taker);
        const struct vector rest = reclaim_rules_remaining(&org->losses, giver);
        vector_add(&load, &claim->request);
        if (taker == giver || memcmp(&rest, &giver->allocated, sizeof rest) == 0 ||
            vector_above(&load, &taker->guaranteed, DIMS) == 0) {
            continue;
        }
        for (uint32_t g = 0; g < project->gang_count; g++) {
            const struct gang *gang = &project->gangs[g];
            struct vector held = rest;
            vector_add(&held, &placed[giver->index]);
            if (gang->runs || !reclaim_rules_shields(&org->pool, giver, &held, &gang->size)) {
                continue;
            }
            if (vector_above(&gang->size, &room, DIMS) != 0) {
                return false;
            }
            vector_sub(&room, &gang->size);
            vector_add(&placed[giver->index], &gang->size);
        }
    }
    return true;
}

/* What the account holds when the chosen gangs have left. */
static struct vector left_of(const struct organisation *org, const struct account_view *account)
{
    struct vector left = account->allocated;
    for (uint32_t i = 0; i < org->project_count; i++) {
        const struct project *project = &org->projects[i];
        const bool below = project->account == account || project->account->parent == account;
        for (uint32_t g = 0; below && g < project->gang_count; g++) {
            if (project->gangs[g].chosen) {
                vector_sub(&left, &project->gangs[g].size);
            }
        }
    }
    return left;
}

/* Would the claimant's accounts be within their limits without the chosen gangs? */
static bool within_limits(const struct organisation *org, const struct claimant *claim)
{
    for (const struct account_view *account = claim->account; account != NULL;
         account = account->parent) {
        struct account_view after = *account;
        after.allocated = left_of(org, account);
        if (gates_limit_at(&org->pool, &after, &claim->request) != 0) {
            return false;
        }
    }
    return true;
}

/* A set of victims, in the order in which the gangs joined it. */
struct victims {
    struct {
        struct project *project;
        struct gang *gang;
    } at[DEPARTMENTS_MAX * PROJECTS_MAX * GANGS_MAX];
    uint32_t count;
};

/* Grows a set of victims, the youngest gangs first, project by project, until the claimant fits. `*room` is what is free then. */
static bool victims_grow(struct organisation *org, const struct claimant *claim,
                         struct victims *victims, struct vector *room)
{
    reclaim_rules_losses_clear(&org->losses);
    for (uint32_t i = 0; vector_above(&claim->request, room, DIMS) != 0;) {
        struct project *giver = NULL;
        struct gang *piece = NULL;
        for (; i < org->project_count; i++) {
            giver = &org->projects[i];
            piece = giver->account == claim->account ? NULL : victim_next(giver);
            if (piece != NULL && reclaim_rules_from(claim, giver->account) &&
                reclaim_rules_take(claim, &org->losses, giver->account, &piece->size) !=
                    RECLAIM_REFUSED) {
                break;
            }
        }
        if (i == org->project_count) {
            return false;
        }
        piece->chosen = true;
        victims->at[victims->count].project = giver;
        victims->at[victims->count++].gang = piece;
        vector_add(room, &piece->size);
    }
    return true;
}

/* Lets victims stay that find room beside the claimant, the last one first. `*room` is what the claimant leaves free. */
static void victims_shrink(const struct organisation *org, const struct claimant *claim,
                           const struct victims *victims, struct vector *room)
{
    for (uint32_t i = victims->count; i-- > 0;) {
        struct gang *piece = victims->at[i].gang;
        piece->chosen = vector_above(&piece->size, room, DIMS) != 0;
        if (!piece->chosen && within_limits(org, claim)) {
            vector_sub(room, &piece->size);
        } else {
            piece->chosen = true;
        }
    }
}

/* Do the rules allow each loss, after the losses before it? */
static bool losses_allowed(struct organisation *org, const struct claimant *claim,
                           const struct victims *victims)
{
    reclaim_rules_losses_clear(&org->losses);
    for (uint32_t i = 0; i < victims->count; i++) {
        const struct gang *piece = victims->at[i].gang;
        if (piece->chosen &&
            reclaim_rules_take(claim, &org->losses, victims->at[i].project->account,
                               &piece->size) == RECLAIM_REFUSED) {
            return false;
        }
    }
    return true;
}

/* Chooses victims for the claimant. As in core/sched/take (solve_set.c) only what finds no room beside the claimant is lost, and the
 * rules judge what is lost: a gang that starts again in the same moment must not count as given. */
static bool victims_choose(struct organisation *org, const struct claimant *claim)
{
    struct victims victims = {.count = 0};
    struct vector room = org->free;
    if (!victims_grow(org, claim, &victims, &room) || !within_limits(org, claim)) {
        return false;
    }
    vector_sub(&room, &claim->request);
    victims_shrink(org, claim, &victims, &room);
    return losses_allowed(org, claim, &victims) && reclaim_rules_balanced(claim, &org->losses) &&
           floors_left(org, claim, room);
}

/* P4: a guarantee of slots that the department can meet holds against other departments too. */
static void check_project(const struct organisation *org, const struct account_view *project,
                          const struct account_view *giver)
{
    const bool kept = giver != project && giver->promised.at[DIM_SLOTS] != VECTOR_UNLIMITED &&
                      giver->promised.at[DIM_SLOTS] <= giver->guaranteed.at[DIM_SLOTS];
    const bool had = account_within_guarantee(&org->pool, project, NULL);
    const struct vector rest = reclaim_rules_remaining(&org->losses, project);
    law(!kept || !had || rest.at[DIM_SLOTS] == project->allocated.at[DIM_SLOTS],
        "P4: a project within its guarantee lost something to another department");
}

/* Does a project of the same department hold more than its guarantee of these amounts, after the losses? */
static bool borrows_beside(const struct organisation *org, const struct account_view *project,
                           const struct vector *amounts)
{
    for (uint32_t i = 0; i < org->project_count; i++) {
        const struct account_view *other = org->projects[i].account;
        const struct vector rest = reclaim_rules_remaining(&org->losses, other);
        for (uint32_t dim = 0; dim < DIMS; dim++) {
            const bool above = other->guaranteed.at[dim] != VECTOR_UNLIMITED &&
                               rest.at[dim] > other->guaranteed.at[dim];
            if (other != project && other->parent == project->parent && above &&
                amounts->at[dim] > 0) {
                return true;
            }
        }
    }
    return false;
}

/* Who borrows pays first: below a department that promised more than its guarantee, a project within its guarantee pays for a claim on
 * surplus of another department only if no other project of it borrows. */
static void check_borrowers(const struct organisation *org, const struct claimant *claim,
                            const struct project *project, const struct account_view *taker)
{
    const struct account_view *account = project->account;
    struct vector load = reclaim_rules_remaining(&org->losses, taker);
    vector_add(&load, &claim->request);
    if (account->parent == claim->account->parent ||
        !account_overcommitted(&org->pool, account->parent) ||
        vector_above(&load, &taker->guaranteed, DIMS) == 0) {
        return;
    }
    for (uint32_t i = 0; i < project->gang_count; i++) {
        struct vector held = reclaim_rules_remaining(&org->losses, account);
        vector_add(&held, &project->gangs[i].size);
        law(!project->gangs[i].chosen || vector_above(&held, &account->guaranteed, DIMS) != 0 ||
                !borrows_beside(org, account, &project->gangs[i].size),
            "who borrows pays before who is within its guarantee");
    }
}

/* P4: no account within its guarantee pays for an account above its own. */
static void check_guarantees(const struct organisation *org, const struct claimant *claim)
{
    for (uint32_t i = 0; i < org->project_count; i++) {
        const struct account_view *taker;
        const struct account_view *giver;
        if (org->projects[i].account == claim->account) {
            continue;
        }
        account_diverge(claim->account, org->projects[i].account, &taker, &giver);
        const bool had = account_within_guarantee(&org->pool, giver, NULL);
        const struct vector rest = reclaim_rules_remaining(&org->losses, giver);
        law(!had || memcmp(&rest, &giver->allocated, sizeof rest) == 0,
            "P4: an account within its guarantee lost something");
        check_project(org, org->projects[i].account, giver);
        check_borrowers(org, claim, &org->projects[i], taker);
    }
}

/* One waiting gang tries to reclaim. */
static bool take_back(struct organisation *org, struct project *project, struct gang *gang)
{
    const struct claimant claim = {.pool = &org->pool,
                                   .account = project->account,
                                   .request = gang->size,
                                   .preemptible = true,
                                   .saturation_milli = SATURATION_MILLI_DEFAULT};
    const bool taken = !gang->runs && reclaim_rules_start(&claim) == CLAIM_MAY_START &&
                       !fits(org, project, gang) && victims_choose(org, &claim);
    if (taken) {
        check_guarantees(org, &claim);
    }
    for (uint32_t i = 0; i < org->project_count; i++) {
        for (uint32_t g = 0; g < org->projects[i].gang_count; g++) {
            struct gang *victim = &org->projects[i].gangs[g];
            if (victim->chosen && taken) {
                gang_set(org, &org->projects[i], victim, false);
                org->evicted_count++;
            }
            victim->chosen = false;
        }
    }
    if (taken) {
        gang_set(org, project, gang, true);
    }
    return taken;
}

static bool round_run(struct organisation *org)
{
    bool changed = start_all(org);
    for (uint32_t i = 0; i < org->project_count; i++) {
        for (uint32_t g = 0; g < org->projects[i].gang_count; g++) {
            if (take_back(org, &org->projects[i], &org->projects[i].gangs[g])) {
                (void)start_all(org); /* victims for which there is room are moved and not lost */
                changed = true;
            }
        }
    }
    return changed;
}

/* Rounds until one changes nothing, which must come. Returns how many gangs were evicted. */
static uint64_t organisation_run(struct organisation *org)
{
    uint32_t round = 0;
    while (round_run(org)) {
        law(++round < ROUNDS_MAX, "P6: taking back goes round for ever");
    }
    arena_done(&org->arena);
    return org->evicted_count;
}

int main(int argc, char **argv)
{
    enum { TEXT_MAX = 1 << 16 };
    static struct organisation org;
    uint64_t evicted = 0;
    if (argc == 3 && strcmp(argv[1], "--play") == 0) {
        prop_watch();
        prop_place(argv[2], 1);
        organisation_read(&org, argv[2]);
        printf("%s: %" PRIu64 " evictions\n", argv[2], organisation_run(&org));
        return 0;
    }
    const struct prop_run run = prop_begin(argc, argv, ORGANISATIONS_DEFAULT);
    struct buf text;
    buf_init(&text, TEXT_MAX);
    for (uint64_t i = 0; i < run.histories; i++) {
        prop_history(run.seed + i);
        organisation_make(&org, run.seed + i);
        if (tape_wanted()) {
            organisation_write(&org, &text);
            tape_text(&text, run.seed + i);
        }
        evicted += organisation_run(&org);
    }
    buf_done(&text);
    printf("%" PRIu64 " organisations, %" PRIu64 " evictions\n", run.histories, evicted);
    return 0;
}
