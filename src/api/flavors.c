/* flavors.c - /flavors: list, show, create, edit, delete.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/page.h"
#include "api/preview.h"
#include "spec/flavor_spec.h"
#include "wire/flavor_json.h"

static void flavor_answer(struct call *call, unsigned status, const struct flavor *flavor)
{
    struct json_out j;
    call_json(call, &j);
    flavor_json(&j, call_core(call), flavor, call_arena(call));
    call_answer_json(call, status);
}

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

void flavors_list(struct call *call)
{
    static const struct page_source source = {flavor_next, flavor_write};
    page_answer(call, "flavors", &source, NULL);
}

void flavors_show(struct call *call)
{
    const struct flavor *flavor = named_flavor(call, "", call->params[0]);
    if (flavor != NULL) {
        flavor_answer(call, 200, flavor);
    }
}

void flavors_create(struct call *call)
{
    const struct doc *body;
    struct flavor_spec spec;
    struct error e;
    struct facts facts;
    if (!body_read(call, &body)) {
        return;
    }
    if (flavor_spec_read(body, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_FLAVOR_SET, .flavor = {.spec = &spec}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        flavor_answer(call, 201, query_flavor_named(call_core(call), spec.name));
    }
}

void flavors_edit(struct call *call)
{
    const struct flavor *flavor = named_flavor(call, "", call->params[0]);
    const struct doc *body;
    struct flavor_spec spec;
    struct error e;
    struct facts facts;
    if (flavor == NULL || !body_read(call, &body)) {
        return;
    }
    const flavor_id id = flavor->id;
    query_flavor_spec(call_core(call), id, call_arena(call), &spec);
    if (flavor_spec_patch(body, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_FLAVOR_SET, .flavor = {.flavor = id, .spec = &spec}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        flavor_answer(call, 200, query_flavor(call_core(call), id));
    }
}

void flavors_delete(struct call *call)
{
    struct facts facts;
    const struct flavor *flavor = named_flavor(call, "", call->params[0]);
    if (flavor == NULL) {
        return;
    }
    struct input in = {.type = INPUT_FLAVOR_DELETE, .flavor = {.flavor = flavor->id}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        call_answer(call, 204, NULL);
    }
}
