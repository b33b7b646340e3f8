/* tight.c - the scan, and what the scan and the index share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/tight.h"

#include "base/hash.h"
#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/label.h"
#include "core/sched/place/score.h"
#include "core/sched/place/search.h"
#include "core/sched/place/tight_index.h"
#include "core/sched/place/tight_internal.h"
#include "core/sched/place/waste.h"
#include "core/state/query.h"

#include <string.h>

void tight_plain(const struct request *request, struct request *ret)
{
    *ret = *request;
    ret->wide = 0;
    ret->avoid_count = 0;
    memset(ret->avoid, 0, sizeof ret->avoid);
    ret->label_count = 0;
    memset(ret->labels, 0, sizeof ret->labels);
}

/* ---- the state of a node ---- */

/* What is free of the devices, four to a word, most first. */
static uint32_t device_words(const struct space *place, uint64_t *ret)
{
    uint16_t free[NODE_DEVICES_MAX];
    const uint32_t count = place->node->device_count;
    must(count <= NODE_DEVICES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        while (at > 0 && free[at - 1] < place->device_free[i]) {
            free[at] = free[at - 1];
            at--;
        }
        free[at] = place->device_free[i];
    }
    const uint32_t words = (count + 3) / 4;
    memset(ret, 0, words * sizeof *ret);
    for (uint32_t i = 0; i < count; i++) {
        ret[i / 4] |= (uint64_t)free[i] << (16 * (i % 4));
    }
    return words;
}

/* A bit for each typical request whose labels the node has. */
static uint64_t label_word(const struct typical_uses *uses, const struct node *node)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < uses->count; i++) {
        const bool covers = label_marks_cover(node->labels, uses->at[i].request);
        word |= (uint64_t)covers << i;
    }
    return word;
}

uint32_t tight_words(const struct typical_uses *uses, const struct space *place, uint64_t *ret)
{
    const struct node *node = place->node;
    uint32_t count = 0;
    ret[count++] = node->pool.v;
    ret[count++] = (uint64_t)node->named_count << 32 | node->device_count;
    ret[count++] = (uint64_t)node->slots_milli;
    ret[count++] = (uint64_t)node->cpu_milli;
    ret[count++] = (uint64_t)node->memory_bytes;
    ret[count++] = (uint64_t)node->gpu_memory_bytes;
    ret[count++] = (uint64_t)node->aux_max - place->aux_used;
    ret[count++] = (uint64_t)place->slots_free;
    ret[count++] = (uint64_t)place->cpu_free;
    ret[count++] = (uint64_t)place->memory_free;
    ret[count++] = uses->labelled ? label_word(uses, node) : 0;
    for (uint32_t i = 0; i < node->named_count; i++) {
        ret[count++] = node->named[i].resource.v;
        ret[count++] = (uint64_t)node->named[i].milli;
        ret[count++] = (uint64_t)place->named_free[i];
    }
    count += device_words(place, ret + count);
    must(count <= TIGHT_WORDS_MAX);
    return count;
}

void tight_place(const struct overlay *overlay, const struct node *node, enum view view,
                 struct space *ret)
{
    const struct spot *spot = overlay_find(overlay, node->id);
    if (spot == NULL) {
        space_now(node, ret);
    } else {
        *ret = *overlay_space(spot, view);
    }
}

/* ---- the scan ---- */

static bool rank_before(const struct tight_rank *a, const struct tight_rank *b)
{
    if (a->growth != b->growth) {
        return a->growth < b->growth;
    }
    return a->free != b->free ? a->free < b->free : a->state < b->state;
}

static void rank_of(const struct overlay *overlay, const struct typical_uses *uses,
                    const struct node *node, const struct asker *asker, uint32_t count,
                    struct tight_rank *ret)
{
    struct space place;
    struct request plain;
    uint64_t words[TIGHT_WORDS_MAX];
    tight_place(overlay, node, asker->view, &place);
    tight_plain(asker->request, &plain);
    const int64_t waste = waste_of(uses, &place);
    ret->growth = waste_growth(uses, &place, waste, &plain, count);
    ret->free = search_amount(&place, score_resource(&plain));
    ret->state = hash_bytes(words, tight_words(uses, &place, words) * sizeof *words);
}

static const struct node *tight_scan(const struct overlay *overlay, const struct asker *asker,
                                     uint32_t count)
{
    struct typical_uses uses;
    waste_uses_load(&uses, overlay->core, overlay->pool);
    const struct node *found = NULL;
    struct tight_rank best = {0};
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(overlay->core, overlay->pool, after)) != NULL) {
        after = node->id;
        ++*overlay->visited;
        if (!fit_usable(node) || search_takes(overlay, node, asker, count) < count) {
            continue;
        }
        struct tight_rank rank;
        rank_of(overlay, &uses, node, asker, count, &rank);
        if (found == NULL || rank_before(&rank, &best)) {
            best = rank;
            found = node;
        }
    }
    return found;
}

const struct node *tight_first(struct overlay *overlay, const struct asker *asker, uint32_t count)
{
    must(count > 0);
    if (asker->view == VIEW_LATER) {
        overlay_leaving(overlay);
    }
    struct tight_index *index = NULL;
    if (overlay->indexed && asker->request->device_mask == 0) {
        index = tight_index_of(overlay, asker->view);
    }
    return index == NULL ? tight_scan(overlay, asker, count)
                         : tight_order_first(index, overlay, asker, count);
}
