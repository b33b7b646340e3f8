/* tight_order.c - the node profiles by rank for a request, and the search along them.
 *
 * The key of a line is the growth of the waste, the free amount, the hash of the profile, then the profile's number and entry in one
 * word. The line of a profile that no longer exists stays until a search meets the line. An order with too many lines is made anew.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/limits.h"
#include "core/model/space.h"
#include "core/sched/place/score.h"
#include "core/sched/place/search.h"
#include "core/sched/place/tight.h"
#include "core/sched/place/tight_internal.h"
#include "core/sched/place/waste.h"
#include "core/state/query.h"

#include <string.h>

enum { PROFILE_BITS = 20, LINES_SLACK = 64 };
_Static_assert(NODES_MAX < 1 << PROFILE_BITS, "the entry of a profile fits its bits");

/* Maps signed numbers to unsigned numbers in the same order. */
#define SIGNED_KEY(value) ((uint64_t)(value) ^ (uint64_t)1 << 63)

/* The arguments with which the lines of an order are computed. */
struct ranking {
    struct tight_index *index;
    struct overlay *overlay;
    enum view view;
    struct typical_uses uses;
};

static void lines_clear(struct tight_index *index, struct tight_order *order)
{
    index->line_count -= oindex_count(&order->lines);
    oindex_done(&order->lines);
    oindex_init(&order->lines);
    order->seen = 0;
    order->forgot = index->forgot;
}

void tight_order_done(struct tight_index *index, struct tight_order *order)
{
    lines_clear(index, order);
    oindex_done(&order->lines);
    order->used = false;
}

/* ---- lines ---- */

static int64_t profile_waste(const struct ranking *ranking, struct tight_profile *profile,
                             const struct space *place)
{
    if (profile->waste_version != ranking->uses.version) {
        profile->waste_version = ranking->uses.version;
        profile->waste = waste_of(&ranking->uses, place);
    }
    return profile->waste;
}

static void line_add(const struct ranking *ranking, struct tight_order *order, uint32_t at)
{
    struct tight_index *index = ranking->index;
    struct tight_profile *profile = &index->profiles.at[at];
    struct space place;
    if (profile->pool.v != order->pool.v) {
        return;
    }
    tight_place(ranking->overlay, query_node(ranking->overlay->core, profile->member),
                ranking->view, &place);
    ++*ranking->overlay->visited;
    if (fit_count(&place, &order->plain, order->count) < order->count) {
        return;
    }
    const int64_t waste = profile_waste(ranking, profile, &place);
    const int64_t growth = waste_growth(&ranking->uses, &place, waste, &order->plain, order->count);
    const int64_t free = score_free(&place, score_resource(&order->plain));
    must(oindex_insert(&order->lines,
                       (struct okey){{SIGNED_KEY(growth), SIGNED_KEY(free), profile->hash,
                                      profile->number << PROFILE_BITS | at}}));
    index->line_count++;
}

static void catch_up(const struct ranking *ranking, struct tight_order *order)
{
    struct tight_index *index = ranking->index;
    const bool stale =
        order->version != ranking->uses.version || order->forgot != index->forgot ||
        oindex_count(&order->lines) > (uint64_t)index->profile_count * 4 + LINES_SLACK;
    if (stale) {
        lines_clear(index, order);
        order->version = ranking->uses.version;
        for (uint32_t at = 1; at < index->profiles.count; at++) {
            if (index->profiles.at[at].number != 0) {
                line_add(ranking, order, at);
            }
        }
    }
    must(order->seen <= index->born.count);
    for (size_t i = stale ? index->born.count : order->seen; i < index->born.count; i++) {
        const struct profile_ref *ref = &index->born.at[i];
        if (index->profiles.at[ref->at].number == ref->number) {
            line_add(ranking, order, ref->at);
        }
    }
    order->seen = index->born.count;
}

/* ---- orders ---- */

/* An order for a new request: an unused order, else a new order if there is room, else the order whose last search is the
 * longest ago. */
static struct tight_order *order_free(struct tight_index *index)
{
    struct tight_order *oldest = NULL;
    for (size_t i = 0; i < index->orders.count; i++) {
        struct tight_order *order = &index->orders.at[i];
        if (!order->used) {
            return order;
        }
        if (oldest == NULL || order->asked < oldest->asked) {
            oldest = order;
        }
    }
    if (index->orders.count < TIGHT_ORDERS_MAX && index->line_count < TIGHT_LINES_MAX) {
        vec_push(&index->orders, ((struct tight_order){0}));
        return &index->orders.at[index->orders.count - 1];
    }
    must(oldest != NULL);
    tight_order_done(index, oldest);
    return oldest;
}

static struct tight_order *order_of(struct tight_index *index, pool_id pool,
                                    const struct request *plain, uint32_t count)
{
    must(count > 0);
    const uint64_t hash = hash_words(plain, sizeof *plain);
    index->asked++;
    for (size_t i = 0; i < index->orders.count; i++) {
        struct tight_order *order = &index->orders.at[i];
        if (order->used && order->hash == hash && order->pool.v == pool.v &&
            order->count == count && memcmp(&order->plain, plain, sizeof *plain) == 0) {
            order->asked = index->asked;
            return order;
        }
    }
    struct tight_order *order = order_free(index);
    *order = (struct tight_order){.used = true,
                                  .pool = pool,
                                  .count = count,
                                  .hash = hash,
                                  .plain = *plain,
                                  .version = UINT64_MAX,
                                  .asked = index->asked};
    oindex_init(&order->lines);
    return order;
}

/* ---- the search ---- */

/* The first node of a profile that takes `count` instances of the asker. Most often that is the first node of all. */
static const struct node *profile_first(const struct ranking *ranking, const struct asker *asker,
                                        uint32_t count, uint32_t at)
{
    must(at < ranking->index->profiles.count);
    node_id member = {0};
    while (tight_index_member(ranking->index, at, &member)) {
        const struct node *node = query_node(ranking->overlay->core, member);
        ++*ranking->overlay->visited;
        if (search_takes(ranking->overlay, node, asker, count) == count) {
            return node;
        }
    }
    return NULL;
}

const struct node *tight_order_first(struct tight_index *index, struct overlay *overlay,
                                     const struct asker *asker, uint32_t count)
{
    struct ranking ranking = {.index = index, .overlay = overlay, .view = asker->view};
    struct request plain;
    waste_uses_load(&ranking.uses, overlay->core, overlay->pool);
    tight_index_sync(index, overlay, asker->view, &ranking.uses);
    tight_plain(asker->request, &plain);
    struct tight_order *order = order_of(index, overlay->pool, &plain, count);
    catch_up(&ranking, order);
    struct okey key = {{0, 0, 0, 0}};
    while (oindex_next(&order->lines, key, &key)) {
        const uint32_t at = (uint32_t)(key.at[3] & ((1 << PROFILE_BITS) - 1));
        if (index->profiles.at[at].number != key.at[3] >> PROFILE_BITS) {
            must(oindex_remove(&order->lines, key));
            index->line_count--;
            continue;
        }
        const struct node *node = profile_first(&ranking, asker, count, at);
        if (node != NULL) {
            return node;
        }
    }
    return NULL;
}
