/* objects.h - what departments, projects, flavors and networks have in common: their routes list,
 * show, create, edit and delete objects with a name. A struct objects_kind holds what differs from
 * kind to kind. The word behind /api/v1/ in the route tells which kind is meant.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "api/page.h"
#include "core/core.h"

struct objects_kind {
    const char *word;     /* the first word of the path: "flavors" */
    const char *question; /* the name of the list in its cursors (page.h) */
    const void *filter;   /* the argument of source.next */
    struct page_source source;
    const char *(*name)(const struct core *core, uint64_t key);

    /* Returns the key of the object with this name. 0: there is no such object, and the call was
     * answered with 404. */
    uint64_t (*find)(struct call *call, const char *name);

    /* Reads a body into an input that makes an object (key 0) or edits the object with this key. */
    enum err (*read)(struct call *call, const struct doc *body, uint64_t key, struct input *ret,
                     struct error *e);
    /* the key of the object that `in` made */
    uint64_t (*made)(const struct core *core, const struct input *in);
    struct input (*gone)(uint64_t key); /* returns the input that deletes the object */
};

extern const struct objects_kind accounts_departments;
extern const struct objects_kind accounts_projects;
extern const struct objects_kind objects_named_flavors;
extern const struct objects_kind objects_named_networks;
