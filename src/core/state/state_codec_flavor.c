/* state_codec_flavor.c - the flavors of a stored state, with what is known about their zones.
 *
 * Flavors come before pools, which refer to them by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/flavor.h"
#include "core/model/spec_codec.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/state_codec.h"

static const struct record_field zone_fields[] = {
    STATE_TIME(struct flavor_zone, since_ms),
    STATE_TIME(struct flavor_zone, failed_ms),
    STATE_TIME(struct flavor_zone, retry_ms),
    STATE_BELOW(struct flavor_zone, probe, launches),
    STATE_FIELD(struct flavor_zone, UINT, failures, 0, UINT32_MAX),
    STATE_FIELD(struct flavor_zone, UINT, why, 0, PROVIDER_WHY_COUNT - 1),
};
static const struct record_table zone_table = RECORD_TABLE(struct flavor_zone, zone_fields);

static void flavor_put(const struct core *core, const void *row, struct buf *out)
{
    (void)core;
    const struct flavor *flavor = row;
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        record_write(&zone_table, &flavor->zones[i], out);
    }
}

/* Could facts have made what is known about the zone? */
static bool zone_sound(const struct flavor_zone *zone)
{
    return zone->since_ms == 0
               ? zone->failed_ms == 0 && zone->retry_ms == 0 && zone->probe.v == 0 &&
                     zone->failures == 0 && zone->why == 0
               : zone->failed_ms >= zone->since_ms && zone->retry_ms > zone->since_ms &&
                     zone->failures > 0 &&
                     (zone->why == PROVIDER_WHY_NO_CAPACITY || zone->why == PROVIDER_WHY_PRICE);
}

static bool flavor_get(struct state_reader *r, uint64_t id, const void *read)
{
    (void)read;
    struct flavor_spec spec;
    spec_codec_flavor_decode(&r->in, &r->arena, &spec);
    if (r->in.bad || r->core->flavors.count >= FLAVORS_MAX ||
        query_flavor_named(r->core, spec.name) != NULL) {
        return false;
    }
    struct fact fact = {0};
    fact.flavor_set.flavor.v = (uint32_t)id;
    fact.flavor_set.spec = &spec;
    change_flavor_set(r->core, &fact);
    struct flavor *flavor = change_flavor_edit(r->core, fact.flavor_set.flavor);
    for (uint32_t i = 0; i < flavor->zone_count; i++) {
        state_codec_read(r, &zone_table, &flavor->zones[i]);
        if (r->in.bad || !zone_sound(&flavor->zones[i])) {
            return false;
        }
    }
    return true;
}

const struct state_section state_codec_flavor = {"flavors",
                                                 STATE_VERSION_POOLS,
                                                 STATE_ROWS(flavors, flavors),
                                                 .text_at = offsetof(struct flavor, text),
                                                 .put = flavor_put,
                                                 .get = flavor_get};
