/* objects.c - lists, shows, creates, edits and deletes departments, projects, flavors and networks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/objects.h"

#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/preview.h"
#include "api/route.h"

static const struct objects_kind *const kinds[] = {
    &accounts_departments,
    &accounts_projects,
    &objects_named_flavors,
    &objects_named_networks,
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

/* Returns the kind of object that the call's route is about. */
static const struct objects_kind *kind_of(const struct call *call)
{
    static const char before[] = "/api/v1/";
    const char *word = call->route->pattern + strlen(before);
    const size_t len = strcspn(word, "/");
    size_t i = 0;
    while (i < KIND_COUNT && !str_is((struct str){word, len}, kinds[i]->word)) {
        i++;
    }
    must(i < KIND_COUNT);
    return kinds[i];
}

static void object_answer(struct call *call, unsigned status, const struct objects_kind *kind,
                          uint64_t key)
{
    struct json_out j;
    call_json(call, &j);
    kind->source.write(&j, call_core(call), key, call_arena(call));
    call_answer_json(call, status);
}

/* Makes an object from the body of the call (key 0), or edits the object with this key. */
static void object_set(struct call *call, const struct objects_kind *kind, uint64_t key)
{
    const struct doc *body;
    struct input in;
    struct error e;
    struct facts facts;
    if (!body_read(call, &body)) {
        return;
    }
    if (kind->read(call, body, key, &in, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        object_answer(call, key == 0 ? 201 : 200, kind,
                      key == 0 ? kind->made(call_core(call), &in) : key);
    }
}

void objects_list(struct call *call)
{
    const struct objects_kind *kind = kind_of(call);
    page_answer(call, kind->question, &kind->source, kind->filter);
}

void objects_show(struct call *call)
{
    const struct objects_kind *kind = kind_of(call);
    const uint64_t key = kind->find(call, call->params[0]);
    if (key != 0) {
        object_answer(call, 200, kind, key);
    }
}

void objects_create(struct call *call)
{
    object_set(call, kind_of(call), 0);
}

void objects_edit(struct call *call)
{
    const struct objects_kind *kind = kind_of(call);
    const uint64_t key = kind->find(call, call->params[0]);
    if (key != 0) {
        object_set(call, kind, key);
    }
}

void objects_delete(struct call *call)
{
    struct facts facts;
    const struct objects_kind *kind = kind_of(call);
    const uint64_t key = kind->find(call, call->params[0]);
    if (key == 0) {
        return;
    }
    struct input in = kind->gone(key);
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        call_answer(call, 204, NULL);
    }
}
