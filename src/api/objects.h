/* objects.h - what departments, projects, flavors and networks have in common: their routes list, show, create, edit and delete
 * objects with a name. A kind says what is its own; objects.c finds the kind by the word behind /api/v1/ in the route.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "api/page.h"
#include "core/core.h"

struct objects_kind {
    const char *word;     /* of the path: "flavors" */
    const char *question; /* names the list in its cursors (page.h) */
    const void *filter;   /* for source.next */
    struct page_source source;

    /* The key of the object of this name. 0: there is none, and the call was answered with 404. */
    uint64_t (*find)(struct call *call, const char *name);

    /* Reads a body into the input that makes an object (key 0), or that changes the one with this key. */
    enum err (*read)(struct call *call, const struct doc *body, uint64_t key, struct input *ret,
                     struct error *e);
    uint64_t (*made)(const struct core *core, const struct input *in); /* the new object's key */
    struct input (*gone)(uint64_t key); /* the input that deletes the object */
};

extern const struct objects_kind accounts_departments;
extern const struct objects_kind accounts_projects;
extern const struct objects_kind flavors_kind;
extern const struct objects_kind networks_kind;
