/* state_codec_launch.c - the default pools and the launches of a stored state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/launch.h"
#include "core/model/leave.h"
#include "core/model/node.h"
#include "core/state/change.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/state_codec.h"

#include <string.h>

static void defaults_put(const struct core *core, struct buf *out)
{
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        bytes_put_text(out, query_default_pool(core, (enum pool_default)i));
    }
}

static bool defaults_get(struct state_reader *r)
{
    struct fact fact = {0};
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        fact.defaults_set.pools[i] = bytes_get_text(&r->in, &r->arena, NAME_LEN_MAX);
        if (fact.defaults_set.pools[i][0] == '\0') {
            return false;
        }
    }
    change_pool_defaults(r->core, &fact);
    arena_clear(&r->arena);
    return true;
}

const struct state_section state_codec_launch_defaults = {
    "default pools", STATE_VERSION_GROWTH, .put_all = defaults_put, .end = defaults_get};

#define LAUNCH(kind, member, most, ...)                                                            \
    STATE_FIELD(struct launch, kind, member, 0, most, __VA_ARGS__)
static const struct record_field launch_fields[] = {
    STATE_BELOW(struct launch, pool, pools),
    LAUNCH(UINT, state, LAUNCH_STATE_COUNT - 1),
    STATE_BELOW(struct launch, node, nodes),
    STATE_TIME(struct launch, asked_ms),
    STATE_TIME(struct launch, changed_ms),
    STATE_TIME(struct launch, join_by_ms, .since = STATE_VERSION_ELASTIC),
    STATE_TIME(struct launch, idle_ms, .since = STATE_VERSION_ELASTIC),
    LAUNCH(UINT, leave, LEAVE_COUNT - 1, .since = STATE_VERSION_POOLS),
    STATE_TIME(struct launch, unfit_ms, .since = STATE_VERSION_POOLS),
};

static void launch_put(const struct core *core, const void *row, struct buf *out)
{
    (void)core;
    const struct launch *launch = row;
    bytes_put_text(out, query_launch_name(launch));
    bytes_put_text(out, query_launch_words(launch));
    bytes_put_text(out, query_launch_zone(launch));
}

/* The node of a launch of a provider has no other launch, and has no work while it is idle. */
static bool node_sound(const struct core *core, const struct launch *launch)
{
    const struct node *node = table_get(&core->nodes, launch->node.v);
    if (!elastic_pool(query_pool(core, launch->pool))) {
        return launch->idle_ms == 0 && launch->join_by_ms == 0 && launch->unfit_ms == 0 &&
               launch->leave == LEAVE_NOT;
    }
    if (node == NULL) {
        return launch->idle_ms == 0 && launch->unfit_ms == 0 && launch->leave == LEAVE_NOT;
    }
    return node->launch.v == 0 && (launch->unfit_ms == 0 || node->troubled) &&
           (launch->idle_ms != 0) == (node->instance_count + node->claim_count == 0);
}

/* Could facts have made the row? */
static bool launch_sound(const struct core *core, const struct launch *launch, bool silent)
{
    const bool joined = launch->node.v != 0;
    const bool fresh = launch->state == LAUNCH_ASKED;
    const struct pool *pool = query_pool(core, launch->pool);
    return pool != NULL && launch->changed_ms >= launch->asked_ms &&
           (!joined ||
            (launch->state >= LAUNCH_RUNNING &&
             (table_get(&core->nodes, launch->node.v) != NULL || !elastic_pool(pool)))) &&
           (!fresh || (silent && launch->changed_ms == launch->asked_ms)) &&
           node_sound(core, launch);
}

static bool launch_get(struct state_reader *r, uint64_t id, const void *read)
{
    const char *name = bytes_get_text(&r->in, &r->arena, TEXT_LEN_MAX);
    const char *words = bytes_get_text(&r->in, &r->arena, TEXT_LEN_MAX);
    const char *zone =
        r->version < STATE_VERSION_POOLS ? "" : bytes_get_text(&r->in, &r->arena, NAME_LEN_MAX);
    const bool silent = name[0] == '\0' && words[0] == '\0';
    if (r->in.bad || r->core->launches.count >= LAUNCHES_MAX ||
        !launch_sound(r->core, read, silent)) {
        return false;
    }
    struct launch *launch = table_put(&r->core->launches, id);
    *launch = *(const struct launch *)read;
    launch->id.v = id;
    const struct node *node = table_get(&r->core->nodes, launch->node.v);
    launch->locked = node != NULL && node->locked;
    launch->spare = node != NULL && node->spare && elastic_pool(query_pool(r->core, launch->pool));
    change_launch_text_set(launch, name, words);
    change_launch_zone_set(launch, zone);
    elastic_launch_close(r->core, &(struct launch){0}, launch);
    return true;
}

/* A launch that asks whether a zone is still sold out was asked for in this zone. */
static bool probes_sound(struct state_reader *r)
{
    for (const struct flavor *flavor = query_flavor_next(r->core, (flavor_id){0}); flavor != NULL;
         flavor = query_flavor_next(r->core, flavor->id)) {
        for (uint32_t i = 0; i < flavor->zone_count; i++) {
            const launch_id probe = flavor->zones[i].probe;
            const struct launch *launch = query_launch(r->core, probe);
            if (probe.v != 0 &&
                (launch == NULL || query_pool(r->core, launch->pool)->flavor.v != flavor->id.v ||
                 strcmp(query_launch_zone(launch), query_flavor_zone(flavor, i)) != 0)) {
                return false;
            }
        }
    }
    return true;
}

const struct state_section state_codec_launch = {"launches",
                                                 STATE_VERSION_GROWTH,
                                                 STATE_ROWS(launches, launches),
                                                 STATE_FIELDS(struct launch, launch_fields),
                                                 .put = launch_put,
                                                 .get = launch_get,
                                                 .end = probes_sound};
