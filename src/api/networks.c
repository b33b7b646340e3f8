/* networks.c - what objects.c needs to know of networks (/networks).
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/named.h"
#include "api/objects.h"
#include "spec/network_spec.h"
#include "wire/network_json.h"

static uint64_t network_next(const struct core *core, const void *filter, uint64_t after)
{
    (void)filter;
    const struct network *network = query_network_next(core, (network_id){(uint32_t)after});
    return network != NULL ? network->id.v : 0;
}

static void network_write(struct json_out *j, const struct core *core, uint64_t key,
                          struct arena *arena)
{
    network_json(j, core, query_network(core, (network_id){(uint32_t)key}), arena);
}

static uint64_t network_find(struct call *call, const char *name)
{
    const struct network *network = named_network(call, "", name);
    return network != NULL ? network->id.v : 0;
}

static enum err network_read(struct call *call, const struct doc *body, uint64_t key,
                             struct input *ret, struct error *e)
{
    struct network_spec *spec = arena_new(call_arena(call), struct network_spec, 1);
    const network_id id = {(uint32_t)key};
    *ret = (struct input){.type = INPUT_NETWORK_SET, .network = {.network = id, .spec = spec}};
    if (key == 0) {
        return network_spec_read(body, call_arena(call), spec, e);
    }
    query_network_spec(call_core(call), id, call_arena(call), spec);
    return network_spec_patch(body, call_arena(call), spec, e);
}

static uint64_t network_made(const struct core *core, const struct input *in)
{
    return query_network_named(core, in->network.spec->name)->id.v;
}

static struct input network_gone(uint64_t key)
{
    return (struct input){.type = INPUT_NETWORK_DELETE, .network = {.network = {(uint32_t)key}}};
}

const struct objects_kind networks_kind = {
    .word = "networks",
    .question = "networks",
    .source = {network_next, network_write},
    .find = network_find,
    .read = network_read,
    .made = network_made,
    .gone = network_gone,
};
