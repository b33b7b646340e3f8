/* state_codec_network.c - the named networks of a stored state. Pools and tasks refer to networks by name, so networks come
 * before them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/network.h"
#include "core/model/spec_codec.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/state_codec.h"

static bool network_get(struct state_reader *r, uint64_t id, const void *read)
{
    (void)read;
    struct network_spec spec;
    spec_codec_network_decode(&r->in, &r->arena, &spec);
    if (r->in.bad || r->core->networks.count >= NETWORKS_MAX || network_built_in(spec.name) ||
        query_network_named(r->core, spec.name) != NULL) {
        return false;
    }
    struct fact fact = {0};
    fact.network_set.network.v = (uint32_t)id;
    fact.network_set.spec = &spec;
    change_network_set(r->core, &fact);
    return true;
}

const struct state_section state_codec_network = {
    "networks", STATE_VERSION_NETWORKS, STATE_ROWS(networks, networks),
    .text_at = offsetof(struct network, text), .get = network_get};
