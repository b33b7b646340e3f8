/* tight_index.c - nodes by their state.
 *
 * A state has at least one node, which stands for it: scores are made with that. What is equal is told by the words of the state,
 * so a node that was touched, and is what it was before, costs no more than to see that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/tight_index.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/space.h"
#include "core/sched/place/tight.h"
#include "core/sched/place/tight_internal.h"
#include "core/state/capacity.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

enum { HEADS_FIRST = 64, BORN_SLACK = 1024 };

struct tight_index *tight_index_new(void)
{
    struct tight_index *index = xcalloc(1, sizeof *index);
    oindex_init(&index->members);
    vec_push(&index->states, ((struct tight_state){0}));
    return index;
}

void tight_index_free(struct tight_index *index)
{
    if (index == NULL) {
        return;
    }
    for (size_t i = 0; i < index->orders.count; i++) {
        tight_order_done(index, &index->orders.at[i]);
    }
    oindex_done(&index->members);
    for (size_t i = 0; i < index->states.count; i++) {
        free(index->states.at[i].words);
    }
    vec_done(&index->states);
    vec_done(&index->free);
    vec_done(&index->waiting);
    vec_done(&index->nodes);
    vec_done(&index->noted);
    vec_done(&index->pools);
    vec_done(&index->born);
    vec_done(&index->orders);
    free(index);
}

bool tight_index_member(const struct tight_index *index, uint32_t state, node_id *after)
{
    struct okey key = {{state, after->v, 0, 0}};
    if (!oindex_next(&index->members, key, &key) || key.at[0] != state) {
        return false;
    }
    after->v = (uint32_t)key.at[1];
    return true;
}

/* ---- states ---- */

static uint32_t *head_of(struct tight_index *index, uint64_t hash)
{
    return &index->waiting.at[hash & (index->waiting.count - 1)];
}

static void order_grow(struct tight_index *index)
{
    const size_t count = index->waiting.count == 0 ? HEADS_FIRST : index->waiting.count * 2;
    vec_clear(&index->waiting);
    while (index->waiting.count < count) {
        vec_push(&index->waiting, 0);
    }
    for (uint32_t i = 1; i < index->states.count; i++) {
        struct tight_state *state = &index->states.at[i];
        if (state->number != 0) {
            state->next = *head_of(index, state->hash);
            *head_of(index, state->hash) = i;
        }
    }
}

/* Orders that have not seen all of the list begin anew: it must not grow for ever. */
static void born_add(struct tight_index *index, struct state_ref ref)
{
    if (index->born.count > (size_t)index->state_count * 4 + BORN_SLACK) {
        vec_clear(&index->born);
        index->forgot++;
    }
    vec_push(&index->born, ref);
}

/* What a node is to the index. */
struct likeness {
    uint64_t words[TIGHT_WORDS_MAX];
    uint32_t count;
};

static uint32_t state_add(struct tight_index *index, const struct likeness *like, uint64_t hash,
                          pool_id pool)
{
    if (index->state_count >= index->waiting.count) {
        order_grow(index);
    }
    uint32_t at;
    if (index->free.count > 0) {
        at = index->free.at[--index->free.count];
    } else {
        at = (uint32_t)index->states.count;
        vec_push(&index->states, ((struct tight_state){0}));
    }
    index->states.at[at] = (struct tight_state){
        .number = ++index->number_last,
        .words = xmemdup(like->words, like->count * sizeof like->words[0]),
        .word_count = like->count,
        .hash = hash,
        .next = *head_of(index, hash),
        .pool = pool,
    };
    *head_of(index, hash) = at;
    index->state_count++;
    born_add(index, (struct state_ref){index->number_last, at});
    return at;
}

static void state_remove(struct tight_index *index, uint32_t at)
{
    uint32_t *link = head_of(index, index->states.at[at].hash);
    while (*link != at) {
        must(*link != 0);
        link = &index->states.at[*link].next;
    }
    *link = index->states.at[at].next;
    free(index->states.at[at].words);
    index->states.at[at] = (struct tight_state){0};
    vec_push(&index->free, at);
    index->state_count--;
}

static bool state_is(const struct tight_state *state, const struct likeness *like)
{
    return state->word_count == like->count &&
           memcmp(state->words, like->words, like->count * sizeof like->words[0]) == 0;
}

static uint32_t state_for(struct tight_index *index, const struct likeness *like, pool_id pool)
{
    const uint64_t hash = hash_bytes(like->words, like->count * sizeof like->words[0]);
    uint32_t at = index->waiting.count == 0 ? 0 : *head_of(index, hash);
    while (at != 0 &&
           (index->states.at[at].hash != hash || !state_is(&index->states.at[at], like))) {
        at = index->states.at[at].next;
    }
    return at != 0 ? at : state_add(index, like, hash, pool);
}

/* ---- nodes ---- */

static struct node_note *note_of(struct tight_index *index, node_id node)
{
    while (index->nodes.count <= node.v) {
        vec_push(&index->nodes, ((struct node_note){0}));
    }
    return &index->nodes.at[node.v];
}

void tight_index_note(struct tight_index *index, node_id node)
{
    struct node_note *note = note_of(index, node);
    if (!note->noted) {
        note->noted = true;
        vec_push(&index->noted, node);
    }
}

static bool pool_here(const struct tight_index *index, pool_id pool)
{
    return pool.v < index->pools.count && index->pools.at[pool.v].here;
}

/* Nodes of pools that nobody searches are not kept. Where labels count, other weights make other states. */
static void pool_load(struct tight_index *index, const struct core *core, pool_id pool,
                      const struct typical_uses *uses)
{
    while (index->pools.count <= pool.v) {
        vec_push(&index->pools, ((struct pool_note){0}));
    }
    struct pool_note *note = &index->pools.at[pool.v];
    const bool labels = uses->labelled || note->labelled;
    if (note->here && (!labels || note->version == uses->version)) {
        return;
    }
    *note = (struct pool_note){true, uses->labelled, uses->version};
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(core, pool, after)) != NULL) {
        after = node->id;
        tight_index_note(index, node->id);
    }
}

static void member_drop(struct tight_index *index, node_id node)
{
    struct node_note *note = note_of(index, node);
    const uint32_t at = note->state;
    if (at == 0) {
        return;
    }
    must(oindex_remove(&index->members, (struct okey){{at, node.v, 0, 0}}));
    note->state = 0;
    if (--index->states.at[at].node_count == 0) {
        state_remove(index, at);
    } else if (index->states.at[at].member.v == node.v) {
        node_id other = {0};
        must(tight_index_member(index, at, &other));
        index->states.at[at].member = other;
    }
}

static void member_add(struct tight_index *index, const struct likeness *like,
                       const struct node *node)
{
    const uint32_t at = state_for(index, like, node->pool);
    must(oindex_insert(&index->members, (struct okey){{at, node->id.v, 0, 0}}));
    if (index->states.at[at].node_count++ == 0) {
        index->states.at[at].member = node->id;
    }
    note_of(index, node->id)->state = at;
}

/* Nodes are looked at: where, and with which typical requests in mind. */
struct looking {
    struct tight_index *index;
    const struct overlay *overlay;
    enum view view;
    const struct typical_uses *uses;
};

/* Into the state that the node is in now, if it may take work. */
static void member_renew(const struct looking *looking, const struct node *node)
{
    struct tight_index *index = looking->index;
    const uint32_t before = note_of(index, node->id)->state;
    struct likeness like;
    struct space place;
    if (node->state == NODE_REMOVED || !fit_usable(node)) {
        member_drop(index, node->id);
        return;
    }
    tight_place(looking->overlay, node, looking->view, &place);
    like.count = tight_words(looking->uses, &place, like.words);
    if (before == 0 || !state_is(&index->states.at[before], &like)) {
        member_drop(index, node->id);
        member_add(index, &like, node);
    }
}

/* Nodes of other pools wait for a search there: what is typical of that pool is not at hand. */
void tight_index_sync(struct tight_index *index, struct overlay *overlay, enum view view,
                      const struct typical_uses *uses)
{
    const struct looking looking = {index, overlay, view, uses};
    pool_load(index, overlay->core, overlay->pool, uses);
    size_t kept = 0;
    for (size_t i = 0; i < index->noted.count; i++) {
        const node_id id = index->noted.at[i];
        const struct node *node = query_node(overlay->core, id);
        if (node != NULL && node->pool.v == overlay->pool.v) {
            note_of(index, id)->noted = false;
            member_renew(&looking, node);
            continue;
        }
        member_drop(index, id);
        if (node != NULL && pool_here(index, node->pool)) {
            index->noted.at[kept++] = id;
        } else {
            note_of(index, id)->noted = false;
        }
    }
    index->noted.count = kept;
}

/* ---- steps ---- */

static void spots_note(struct tight_index *index, const struct overlay *overlay)
{
    for (uint32_t i = 0; i < overlay->spot_room; i++) {
        if (overlay->spots[i] != NULL) {
            tight_index_note(index, overlay->spots[i]->place.node->id);
        }
    }
}

static void *part_make(void)
{
    return tight_index_new();
}

static void part_free(void *part)
{
    tight_index_free(part);
}

static void part_note(void *part, node_id node)
{
    tight_index_note(part, node);
}

static const struct capacity_part_ops part_ops = {part_make, part_free, part_note, false};

struct tight_index *tight_index_of(struct overlay *overlay, enum view view)
{
    struct tight_index *index =
        capacity_part(overlay->core->capacity,
                      view == VIEW_NOW ? CAPACITY_TIGHT_NOW : CAPACITY_TIGHT_LATER, &part_ops);
    if (index->step == NULL) {
        index->step = overlay;
        overlay->tight[view] = index;
        spots_note(index, overlay);
    }
    return overlay->tight[view];
}

void tight_index_leave(struct overlay *overlay)
{
    for (unsigned view = 0; view < VIEW_COUNT; view++) {
        struct tight_index *index = overlay->tight[view];
        if (index != NULL) {
            must(index->step == overlay);
            spots_note(index, overlay);
            index->step = NULL;
            overlay->tight[view] = NULL;
        }
    }
}

void tight_index_moved(struct overlay *overlay, enum view view, node_id node)
{
    if (overlay->tight[view] != NULL) {
        tight_index_note(overlay->tight[view], node);
    }
}
