/* flavors.c - what objects.c needs to know of flavors (/flavors).
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/named.h"
#include "api/objects.h"
#include "spec/flavor_spec.h"
#include "wire/flavor_json.h"

static uint64_t flavor_next(const struct core *core, const void *filter, uint64_t after)
{
    (void)filter;
    const struct flavor *flavor = query_flavor_next(core, (flavor_id){(uint32_t)after});
    return flavor != NULL ? flavor->id.v : 0;
}

static void flavor_write(struct json_out *j, const struct core *core, uint64_t key,
                         struct arena *arena)
{
    flavor_json(j, core, query_flavor(core, (flavor_id){(uint32_t)key}), arena);
}

static uint64_t flavor_find(struct call *call, const char *name)
{
    const struct flavor *flavor = named_flavor(call, "", name);
    return flavor != NULL ? flavor->id.v : 0;
}

static enum err flavor_read(struct call *call, const struct doc *body, uint64_t key,
                            struct input *ret, struct error *e)
{
    struct flavor_spec *spec = arena_new(call_arena(call), struct flavor_spec, 1);
    const flavor_id id = {(uint32_t)key};
    *ret = (struct input){.type = INPUT_FLAVOR_SET, .flavor = {.flavor = id, .spec = spec}};
    if (key == 0) {
        return flavor_spec_read(body, call_arena(call), spec, e);
    }
    query_flavor_spec(call_core(call), id, call_arena(call), spec);
    return flavor_spec_patch(body, call_arena(call), spec, e);
}

static uint64_t flavor_made(const struct core *core, const struct input *in)
{
    return query_flavor_named(core, in->flavor.spec->name)->id.v;
}

static struct input flavor_gone(uint64_t key)
{
    return (struct input){.type = INPUT_FLAVOR_DELETE, .flavor = {.flavor = {(uint32_t)key}}};
}

const struct objects_kind flavors_kind = {
    .word = "flavors",
    .question = "flavors",
    .source = {flavor_next, flavor_write},
    .find = flavor_find,
    .read = flavor_read,
    .made = flavor_made,
    .gone = flavor_gone,
};
