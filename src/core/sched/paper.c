/* paper.c - arranging on empty nodes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/paper.h"

#include "base/hash.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/sched/search.h"

/* A node on which something was put. */
struct sheet {
    struct sheet *next; /* of the same bucket */
    struct place place;
    struct place_room room;
};

/* What was put where. */
struct put {
    struct sheet *sheet;
    const struct request *request;
    struct grant grant;
};

enum { SHEET_BUCKETS = 256 };

struct paper {
    struct ground ground;
    enum paper_of of;
    struct sheet *sheets[SHEET_BUCKETS];
    struct put *puts; /* as ground.placed */
    paper_age_fn age;
    void *context;
};

static struct paper *paper_of(struct ground *ground)
{
    return (struct paper *)ground;
}

static struct sheet *sheet_find(const struct paper *paper, node_id node)
{
    struct sheet *sheet = paper->sheets[hash_u64(node.v) % SHEET_BUCKETS];
    while (sheet != NULL && sheet->place.node->id.v != node.v) {
        sheet = sheet->next;
    }
    return sheet;
}

static uint32_t paper_takes(struct ground *ground, uint32_t leaf, const struct node *node,
                            uint32_t max)
{
    const struct paper *paper = paper_of(ground);
    const struct sheet *sheet = sheet_find(paper, node->id);
    struct place_room room;
    struct place empty;
    if (paper->of == PAPER_USABLE && !fit_usable(node)) {
        return 0;
    }
    if (sheet == NULL) {
        place_empty(node, &room, &empty);
    }
    return fit_count(sheet == NULL ? &empty : &sheet->place, &ground->form->groups[leaf].request,
                     max);
}

/* Empty nodes come as they are numbered, unless they are waited for: those waited for least first. */
static int64_t paper_order(struct ground *ground, uint32_t leaf, const struct node *node)
{
    const struct paper *paper = paper_of(ground);
    const struct request *request = &ground->form->groups[leaf].request;
    return paper->age == NULL ? 0 : -paper->age(paper->context, request, node);
}

/* A node of a domain, and how long one would wait for it. */
struct wait {
    int64_t age;
    uint32_t node;
    uint32_t takes;
};

static int wait_order(const void *left, const void *right)
{
    const struct wait *a = left;
    const struct wait *b = right;
    if (a->age != b->age) {
        return a->age < b->age ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node;
}

/* When the newest instance began that has to end for so many to fit. */
static uint64_t paper_rank(struct ground *ground, uint32_t leaf, domain_id domain, uint32_t count)
{
    struct wait *waits =
        arena_new(ground->arena, struct wait, core_domain(ground->core, domain)->node_count);
    uint32_t wait_count = 0;
    uint32_t takes = 0;
    uint64_t newest = 0;
    node_id after = {0};
    const struct node *node;
    while ((node = domain_node_next(ground->core, domain, after)) != NULL) {
        after = node->id;
        waits[wait_count++] = (struct wait){-paper_order(ground, leaf, node), node->id.v,
                                            paper_takes(ground, leaf, node, count)};
    }
    sort_items(waits, wait_count, sizeof waits[0], wait_order);
    for (uint32_t i = 0; i < wait_count && takes < count; i++) {
        if (waits[i].takes > 0) {
            takes += waits[i].takes;
            newest = (uint64_t)waits[i].age;
        }
    }
    return newest;
}

static void paper_take(struct ground *ground, uint32_t leaf, const struct node *node,
                       uint32_t index)
{
    struct paper *paper = paper_of(ground);
    struct sheet *sheet = sheet_find(paper, node->id);
    if (sheet == NULL) {
        struct sheet **bucket = &paper->sheets[hash_u64(node->id.v) % SHEET_BUCKETS];
        sheet = arena_new(ground->arena, struct sheet, 1);
        sheet->next = *bucket;
        place_empty(node, &sheet->room, &sheet->place);
        *bucket = sheet;
    }
    struct put *put = &paper->puts[ground->placed_count];
    put->sheet = sheet;
    put->request = &ground->form->groups[leaf].request;
    fit_grant(&sheet->place, put->request, &put->grant);
    place_take(&sheet->place, &sheet->room, put->request, &put->grant);
    ground_placed(ground, node, index);
}

static void paper_undo(struct ground *ground)
{
    struct paper *paper = paper_of(ground);
    (void)ground_taken_back(ground);
    const struct put *put = &paper->puts[ground->placed_count];
    place_give(&put->sheet->place, &put->sheet->room, put->request, &put->grant);
}

static const struct ground_ops paper_ops = {
    .takes = paper_takes, .order = paper_order, .take = paper_take, .undo = paper_undo};
static const struct ground_ops paper_age_ops = {.takes = paper_takes,
                                                .order = paper_order,
                                                .take = paper_take,
                                                .undo = paper_undo,
                                                .rank = paper_rank};

struct ground *paper_new(const struct core *core, const struct pool *pool, const struct form *form,
                         const struct node **at, enum paper_of of, struct arena *arena)
{
    struct paper *paper = arena_new(arena, struct paper, 1);
    const uint32_t count = form->groups[0].count;
    paper->ground = (struct ground){
        .ops = &paper_ops,
        .core = core,
        .pool = pool,
        .form = form,
        .arena = arena,
        .at = at != NULL ? at : arena_new(arena, const struct node *, count),
        .placed = arena_new(arena, uint32_t, count),
    };
    paper->of = of;
    paper->puts = arena_new(arena, struct put, count);
    return &paper->ground;
}

void paper_by_age(struct ground *ground, paper_age_fn age, void *context)
{
    struct paper *paper = paper_of(ground);
    paper->age = age;
    paper->context = context;
    ground->ops = &paper_age_ops;
    ground->spread = true; /* one by one: the node waited for least until it is full */
}
