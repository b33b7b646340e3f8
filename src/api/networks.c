/* networks.c - /networks: list, show, create, edit, delete.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/page.h"
#include "api/preview.h"
#include "spec/network_spec.h"
#include "wire/network_json.h"

static void network_answer(struct call *call, unsigned status, const struct network *network)
{
    struct json_out j;
    call_json(call, &j);
    network_json(&j, call_core(call), network, call_arena(call));
    call_answer_json(call, status);
}

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

void networks_list(struct call *call)
{
    static const struct page_source source = {network_next, network_write};
    page_answer(call, "networks", &source, NULL);
}

void networks_show(struct call *call)
{
    const struct network *network = named_network(call, "", call->params[0]);
    if (network != NULL) {
        network_answer(call, 200, network);
    }
}

void networks_create(struct call *call)
{
    const struct doc *body;
    struct network_spec spec;
    struct error e;
    struct facts facts;
    if (!body_read(call, &body)) {
        return;
    }
    if (network_spec_read(body, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_NETWORK_SET, .network = {.spec = &spec}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        network_answer(call, 201, query_network_named(call_core(call), spec.name));
    }
}

void networks_edit(struct call *call)
{
    const struct network *network = named_network(call, "", call->params[0]);
    const struct doc *body;
    struct network_spec spec;
    struct error e;
    struct facts facts;
    if (network == NULL || !body_read(call, &body)) {
        return;
    }
    const network_id id = network->id;
    query_network_spec(call_core(call), id, call_arena(call), &spec);
    if (network_spec_patch(body, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_NETWORK_SET, .network = {.network = id, .spec = &spec}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        network_answer(call, 200, query_network(call_core(call), id));
    }
}

void networks_delete(struct call *call)
{
    struct facts facts;
    const struct network *network = named_network(call, "", call->params[0]);
    if (network == NULL) {
        return;
    }
    struct input in = {.type = INPUT_NETWORK_DELETE, .network = {.network = network->id}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        call_answer(call, 204, NULL);
    }
}
