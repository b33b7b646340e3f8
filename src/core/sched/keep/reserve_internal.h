/* reserve_internal.h - waiting for a node: shared by reserve.c (equal instances) and reserve_form.c (gangs with a form).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/sched/keep/reserve.h"
#include "core/sched/place/overlay.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* An instance that holds something on a node, and when it gives it back. */
struct occupant {
    int64_t begun_ms;
    int64_t end_ms; /* INT64_MAX: not known */
    uint64_t task;
    uint32_t index;
    bool ended; /* in the course of the calculation */
    const struct request *request;
    struct grant grant;
};

/* A node the holder may use. */
struct candidate {
    const struct node *node;
    int64_t newest_ms; /* when the newest instance that it waits for began; 0: it waits for none */
    int64_t end_ms;    /* when it takes `count` instances; 0: now, INT64_MAX: not known */
    uint32_t ends;     /* after that many ends */
    uint32_t count;    /* instances of the holder that go there */
    uint32_t take;     /* of them: those for which it is kept */
    int64_t
        lapse_ms; /* when a learned end passes, and all this is to be found anew; INT64_MAX: never */
};

/* One choice of places. */
struct reserve_choice {
    struct overlay *overlay;
    const struct holder *holder;
    bool by_end; /* soonest known ends, not oldest instances */
    bool bare;   /* nodes as the state has them, whatever the step has done there */
};

/* Do some leave the node, or is part of it promised? Then all is reckoned from when those have left. */
bool reserve_changing(const struct spot *spot);

/* Everything that holds something on the node, in the state and in this step. */
struct occupant *reserve_occupants(const struct reserve_choice *choice, const struct node *node,
                                   uint32_t *ret_count);

/* The one that is let end next; NULL: all have. */
struct occupant *reserve_next_end(const struct reserve_choice *choice, struct occupant *list,
                                  uint32_t count);

/* When all that are told to stop on this node should have ended; 0: there are none. */
int64_t reserve_leaving_end_ms(const struct core *core, const struct node *node);

/* Lets instances end until the node takes `candidate->count`; leaves the place as it is then. */
void reserve_wait(const struct reserve_choice *choice, const struct request *request,
                  struct candidate *candidate, struct space_room *room, struct space *ret);

/* What the holder finds on the node if it waits there; false: the node is none for it, or (by_end) its end is not known. */
bool reserve_candidate(const struct reserve_choice *choice, const struct node *node,
                       struct candidate *ret);

/* The nodes that the holder will use. */
struct reserve_chosen {
    struct candidate *list;
    uint32_t count;
    uint32_t left; /* instances that find no place */
};

/* The best candidates, `take` instances on each; none at all where `whole` is asked and they are too few. */
struct reserve_chosen reserve_choice_make(const struct reserve_choice *choice, bool whole);
