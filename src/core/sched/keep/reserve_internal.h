/* reserve_internal.h - how long a holder waits for a node: shared by reserve.c and reserve_choice.c (equal instances),
 * reserve_form.c (gangs with a form) and wait_index.c.
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

/* An instance that holds amounts of a node, and when the instance ends. */
struct occupant {
    int64_t begun_ms;
    int64_t end_ms;    /* INT64_MAX: not known */
    int64_t expect_ms; /* when the instance is expected to end */
    uint64_t task;
    uint32_t index;
    bool ended; /* the calculation has let the instance end */
    const struct request *request;
    struct grant grant;
};

/* A node for which the holder may wait. */
struct candidate {
    const struct node *node;
    int64_t newest_ms; /* start of the newest instance that must end first; 0: none must end */
    int64_t end_ms;    /* when the node takes `count` instances; 0: now, INT64_MAX: not known */
    uint32_t ends;     /* how many instances must end first */
    uint32_t count;    /* instances of the holder that the node takes then */
    uint32_t take;     /* instances of the holder for which the node is kept */
    int64_t lapse_ms;  /* when a learned end passes, so that the node must be looked at again */
    int64_t ready_ms;  /* when the node is expected to take `count` instances */
    int64_t busy[3];   /* slots, cpu, memory × time that the instances use which must end first */
};

/* By which rule the nodes for a holder are chosen. */
struct reserve_choice {
    struct overlay *overlay;
    const struct holder *holder;
    bool by_end; /* nodes with the soonest known ends; false: nodes with the oldest instances */
    bool bare;   /* nodes as the state has them, without the changes of this step */
};

/* Do instances leave the node, or is a place on the node promised? Then the calculation starts from the later view of the node. */
bool reserve_changing(const struct spot *spot);

/* All instances that hold amounts of the node, in the state and by this step, but for instances that the later view leaves out. */
struct occupant *reserve_occupants(const struct reserve_choice *choice, const struct node *node,
                                   uint32_t *ret_count);

/* The instance that ends next by the rule of the choice; NULL: all have ended. */
struct occupant *reserve_next_end(const struct reserve_choice *choice, struct occupant *list,
                                  uint32_t count);

/* Counts an instance that must end first: when it is expected to end, and what it uses until then. */
void reserve_busy(const struct overlay *overlay, const struct occupant *occupant, int64_t *ready_ms,
                  int64_t busy[3]);

/* Counts what an instance of the holder will use on the node. */
void reserve_planned(struct keep *keep, const struct grant *grant);

/* When all instances that are leaving this node should have ended; 0: none is leaving. */
int64_t reserve_leaving_end_ms(const struct core *core, const struct node *node);

/* Lets instances of the node end until `candidate->count` instances of the request fit. Fills the candidate; `*ret` becomes the
 * node's space at that moment. `candidate->count` becomes smaller where fewer fit. */
void reserve_wait(const struct reserve_choice *choice, const struct request *request,
                  struct candidate *candidate, struct space_room *room, struct space *ret);

/* What the holder finds on the node if the holder waits there. False: the node never takes an instance of the holder, or (by_end) the
 * moment is not known. */
bool reserve_candidate(const struct reserve_choice *choice, const struct node *node,
                       struct candidate *ret);

/* The nodes that the holder will use. */
struct reserve_chosen {
    struct candidate *list;
    uint32_t count;
    uint32_t left; /* instances of the holder that find no place */
};

/* Chooses the best candidates for the holder's instances. With `whole` the list is empty where the
 * candidates do not have places for all instances. */
struct reserve_chosen reserve_choice_make(const struct reserve_choice *choice, bool whole);
