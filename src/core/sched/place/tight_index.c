/* tight_index.c - nodes by their profile.
 *
 * Every profile in use has at least one node. One node of the profile, the member, stands for all when ranks are computed. Two nodes
 * have the same profile if their words are equal. So a noted node that did not change costs one comparison of words.
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

enum { BUCKETS_FIRST = 64, BORN_SLACK = 1024 };

struct tight_index *tight_index_new(void)
{
    struct tight_index *index = xcalloc(1, sizeof *index);
    oindex_init(&index->members);
    vec_push(&index->profiles, ((struct tight_profile){0}));
    return index;
}

void tight_index_free(struct tight_index *index)
{
    if (index == NULL) {
        return;
    }
    must(index->step == NULL);
    for (size_t i = 0; i < index->orders.count; i++) {
        tight_order_done(index, &index->orders.at[i]);
    }
    oindex_done(&index->members);
    for (size_t i = 0; i < index->profiles.count; i++) {
        free(index->profiles.at[i].words);
    }
    vec_done(&index->profiles);
    vec_done(&index->free);
    vec_done(&index->buckets);
    vec_done(&index->nodes);
    vec_done(&index->noted);
    for (size_t i = 0; i < index->pools.count; i++) {
        vec_done(&index->pools.at[i].waiting);
    }
    vec_done(&index->pools);
    vec_done(&index->born);
    vec_done(&index->orders);
    free(index);
}

bool tight_index_member(const struct tight_index *index, uint32_t profile, node_id *after)
{
    struct okey key = {{profile, after->v, 0, 0}};
    if (!oindex_next(&index->members, key, &key) || key.at[0] != profile) {
        return false;
    }
    after->v = (uint32_t)key.at[1];
    return true;
}

/* ---- profiles ---- */

static uint32_t *bucket_of(struct tight_index *index, uint64_t hash)
{
    return &index->buckets.at[hash & (index->buckets.count - 1)];
}

static void buckets_grow(struct tight_index *index)
{
    const size_t count = index->buckets.count == 0 ? BUCKETS_FIRST : index->buckets.count * 2;
    must((count & (count - 1)) == 0); /* bucket_of() masks with count - 1 */
    vec_clear(&index->buckets);
    while (index->buckets.count < count) {
        vec_push(&index->buckets, 0);
    }
    for (uint32_t i = 1; i < index->profiles.count; i++) {
        struct tight_profile *profile = &index->profiles.at[i];
        if (profile->number != 0) {
            profile->next = *bucket_of(index, profile->hash);
            *bucket_of(index, profile->hash) = i;
        }
    }
}

/* Adds a new profile to the list `born`. A list that is too long is cleared, so that it does not grow for ever. Orders that have not
 * seen the whole list are then made anew. */
static void born_add(struct tight_index *index, struct profile_ref ref)
{
    if (index->born.count > (size_t)index->profile_count * 4 + BORN_SLACK) {
        vec_clear(&index->born);
        index->forgot++;
    }
    vec_push(&index->born, ref);
}

/* The words of a node's profile. */
struct likeness {
    uint64_t words[TIGHT_WORDS_MAX];
    uint32_t count;
};

static uint32_t profile_add(struct tight_index *index, const struct likeness *like, uint64_t hash,
                            pool_id pool)
{
    if (index->profile_count >= index->buckets.count) {
        buckets_grow(index);
    }
    uint32_t at;
    if (index->free.count > 0) {
        at = index->free.at[--index->free.count];
    } else {
        at = (uint32_t)index->profiles.count;
        vec_push(&index->profiles, ((struct tight_profile){0}));
    }
    must(index->profiles.at[at].number == 0);
    index->profiles.at[at] = (struct tight_profile){
        .number = ++index->number_last,
        .words = xmemdup(like->words, like->count * sizeof like->words[0]),
        .word_count = like->count,
        .hash = hash,
        .next = *bucket_of(index, hash),
        .pool = pool,
    };
    *bucket_of(index, hash) = at;
    index->profile_count++;
    born_add(index, (struct profile_ref){index->number_last, at});
    return at;
}

static void profile_remove(struct tight_index *index, uint32_t at)
{
    uint32_t *link = bucket_of(index, index->profiles.at[at].hash);
    while (*link != at) {
        must(*link != 0);
        link = &index->profiles.at[*link].next;
    }
    *link = index->profiles.at[at].next;
    free(index->profiles.at[at].words);
    index->profiles.at[at] = (struct tight_profile){0};
    vec_push(&index->free, at);
    index->profile_count--;
}

static bool profile_is(const struct tight_profile *profile, const struct likeness *like)
{
    return profile->word_count == like->count &&
           memcmp(profile->words, like->words, like->count * sizeof like->words[0]) == 0;
}

static uint32_t profile_for(struct tight_index *index, const struct likeness *like, pool_id pool)
{
    const uint64_t hash = hash_bytes(like->words, like->count * sizeof like->words[0]);
    uint32_t at = index->buckets.count == 0 ? 0 : *bucket_of(index, hash);
    while (at != 0 &&
           (index->profiles.at[at].hash != hash || !profile_is(&index->profiles.at[at], like))) {
        at = index->profiles.at[at].next;
    }
    return at != 0 ? at : profile_add(index, like, hash, pool);
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

/* Notes all nodes of a pool at the first search in that pool: the index has no nodes of pools without searches. Notes all nodes again
 * when the pool's weights change and profiles contain labels, because the profiles depend on the typical requests then. */
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
    note->here = true;
    note->labelled = uses->labelled;
    note->version = uses->version;
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(core, pool, after)) != NULL) {
        after = node->id;
        must(node->pool.v == pool.v);
        tight_index_note(index, node->id);
    }
}

static void member_drop(struct tight_index *index, node_id node)
{
    struct node_note *note = note_of(index, node);
    const uint32_t at = note->profile;
    if (at == 0) {
        return;
    }
    must(oindex_remove(&index->members, (struct okey){{at, node.v, 0, 0}}));
    note->profile = 0;
    if (--index->profiles.at[at].node_count == 0) {
        profile_remove(index, at);
    } else if (index->profiles.at[at].member.v == node.v) {
        node_id other = {0};
        must(tight_index_member(index, at, &other));
        index->profiles.at[at].member = other;
    }
}

static void member_add(struct tight_index *index, const struct likeness *like,
                       const struct node *node)
{
    const uint32_t at = profile_for(index, like, node->pool);
    must(oindex_insert(&index->members, (struct okey){{at, node->id.v, 0, 0}}));
    if (index->profiles.at[at].node_count++ == 0) {
        index->profiles.at[at].member = node->id;
    }
    note_of(index, node->id)->profile = at;
}

/* The arguments of a look at noted nodes. */
struct looking {
    struct tight_index *index;
    const struct overlay *overlay;
    enum view view;
    const struct typical_uses *uses;
};

/* Moves a node to the profile that it has now. A node that takes no work leaves the index. */
static void member_renew(const struct looking *looking, const struct node *node)
{
    struct tight_index *index = looking->index;
    const uint32_t before = note_of(index, node->id)->profile;
    struct likeness like;
    struct space place;
    must(before < index->profiles.count);
    if (node->state == NODE_REMOVED || !fit_usable(node)) {
        member_drop(index, node->id);
        return;
    }
    tight_place(looking->overlay, node, looking->view, &place);
    like.count = tight_words(looking->uses, &place, like.words);
    if (before == 0 || !profile_is(&index->profiles.at[before], &like)) {
        member_drop(index, node->id);
        member_add(index, &like, node);
    }
}

/* Hands a noted node to its pool: the profile of the node depends on the typical requests of that pool, so the node waits for the
 * next search there. */
static void note_hand(struct tight_index *index, const struct node *node, node_id id)
{
    member_drop(index, id);
    if (node == NULL || !pool_here(index, node->pool)) {
        note_of(index, id)->waiting.v = 0;
        return;
    }
    if (note_of(index, id)->waiting.v != node->pool.v) {
        note_of(index, id)->waiting = node->pool;
        vec_push(&index->pools.at[node->pool.v].waiting, id);
    }
}

/* Renews the profiles of the nodes that note_hand() left to be renewed at the next search in this
 * pool. */
static void waiting_renew(const struct looking *looking)
{
    struct tight_index *index = looking->index;
    struct pool_note *pool = &index->pools.at[looking->overlay->pool.v];
    for (size_t i = 0; i < pool->waiting.count; i++) {
        const node_id id = pool->waiting.at[i];
        struct node_note *note = note_of(index, id);
        const struct node *node = query_node(looking->overlay->core, id);
        if (note->waiting.v != looking->overlay->pool.v) {
            continue; /* the node has moved, and was handed to its new pool */
        }
        note->waiting.v = 0;
        if (node != NULL && node->pool.v == looking->overlay->pool.v) {
            member_renew(looking, node);
        }
    }
    vec_clear(&pool->waiting);
}

/* Looks only at nodes that were noted since the last search, and at nodes of this pool. */
void tight_index_sync(struct tight_index *index, struct overlay *overlay, enum view view,
                      const struct typical_uses *uses)
{
    must(index->step == overlay);
    const struct looking looking = {index, overlay, view, uses};
    pool_load(index, overlay->core, overlay->pool, uses);
    waiting_renew(&looking);
    for (size_t i = 0; i < index->noted.count; i++) {
        const node_id id = index->noted.at[i];
        const struct node *node = query_node(overlay->core, id);
        note_of(index, id)->noted = false;
        if (node != NULL && node->pool.v == overlay->pool.v) {
            note_of(index, id)->waiting.v = 0;
            member_renew(&looking, node);
        } else {
            note_hand(index, node, id);
        }
    }
    vec_clear(&index->noted);
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
    must(overlay->tight[view] == NULL || overlay->tight[view] == index);
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
