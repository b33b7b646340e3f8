/* reason.h - why something waits or is refused, as data. wire/reason_text.h turns it into a
 * sentence; API, CLI and UI show the same one (P8, P9).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum reason_code {
    REASON_NONE,
    /* waits */
    REASON_STAGED,     /* not queued: `weir task start` */
    REASON_PAUSED,     /* by its user */
    REASON_DEPENDENCY, /* `task` has not ended; `need` of them */
    REASON_POOL_PAUSED,
    REASON_POOL_EMPTY, /* no node has joined yet */
    REASON_NODES_AWAY, /* nodes that could take it are silent, lost or draining: `have` of `need`
                          are up */
    REASON_NO_ROOM,    /* fits no node's free capacity: `resource` short, `wanted`, the nearest node
                          has `available` */
    REASON_DEVICES_BUSY, /* the chosen devices are in use on every node that has them */
    REASON_AUX_FULL,     /* every node is at its cap of zero-slot tasks */
    REASON_GANG_SHORT,   /* `have` of `need` places are free */
    REASON_RESERVED,     /* what is free is kept for `task`, which waited longer than patience */
    REASON_PROMISED,     /* what is free is promised to `task`: others are leaving for it */
    REASON_NEXT,         /* fits; the next pass starts it */
    REASON_OVER_LIMIT, /* `account` may not hold `wanted` more of `resource`: `available` is left */
    REASON_OVER_GUARANTEE, /* the same for work that is not preemptible, which stays within what is
                                guaranteed */
    REASON_USER_CAP,       /* the same for all tasks of one user in the pool */
    REASON_OVER_SHARE, /* finds no room and asks for `wanted` of `resource`, more than `account` has a right to for it while others want
                          the rest: `available` */
    REASON_VICTIMS_LEAVING, /* `need` of its places are promised; those who hold them still are leaving */
    REASON_PREEMPTION_DELAY, /* may take its place from others, but not before `until_ms` */
    REASON_MIN_RUNTIME, /* the same: those it may take from have their minimum runtime until then */
    REASON_CHANGING_POOL, /* goes to `pool` when its instances have left */
    REASON_TOPOLOGY, /* no part of the topology has room for all `need`: `text`, the closest, has it for `have` */
    REASON_NOT_FOUND, /* places for `need` instances that are not all alike were not found, which proves nothing */
    /* refusals */
    REASON_UNKNOWN_POOL,      /* `text` */
    REASON_UNKNOWN_PROJECT,   /* `text` */
    REASON_UNKNOWN_RESOURCE,  /* `text`: no node of the pool defines it */
    REASON_UNKNOWN_TASK,      /* depends on a task that does not exist: `task` */
    REASON_KIND_NOT_ACCEPTED, /* the pool does not take this kind */
    REASON_TOO_LARGE,         /* no node can ever hold it: `resource`, `wanted`, largest node has
                                 `available`; where `have` is above 0, all nodes together have that */
    REASON_GANG_TOO_LARGE,    /* `have` instances could ever be placed together, `need` are asked */
    REASON_NO_DEVICES,        /* no node has devices (or these indices) */
    REASON_COMBINATION, /* each amount fits some node, all together fit none: `resource` binds on
                           the nearest */
    REASON_LIMIT,       /* a limit of limits.h: `text` names it, `available` is its value */
    REASON_WRONG_STATE, /* the object's state does not allow it: `text` says which state it is in; a
                           `pool` or `account` that is always there */
    REASON_KEY_REUSED,  /* an idempotency key with another body */
    REASON_EXISTS,      /* a name is taken: `text` */
    REASON_IN_USE,      /* pool or node still has tasks: `need` of them */
    REASON_NO_IMAGE,    /* the pool's nodes run no containers */
    REASON_MANY_POOLS,  /* more than one pool is not possible yet */
    REASON_UNKNOWN_OBJECT,     /* no such pool, node or task: `text` */
    REASON_UNKNOWN_DEPARTMENT, /* `text` */
    REASON_CYCLE,              /* a department below itself: `text` */
    REASON_NOT_EMPTY,          /* department `text` has `need` accounts below it */
    REASON_OTHER_QUEUE,        /* `task` is in another `text`: pool or project */
    REASON_OTHER_PRIORITY, /* `task` has not the priority `need` of the one it should stand beside */
    REASON_TASK_ENDED,     /* `task` has */
    REASON_MOVE_TOO_FAR,   /* more than `need` tasks lie between */
    REASON_HOLDS_PLACES,   /* `text` of `task` cannot change while instances run */
    REASON_UNKNOWN_NODE,   /* it avoids a node that is none: `text` */
    REASON_AVOIDED,        /* the nodes it does not avoid can never take it; they could: `have` */
    REASON_OTHER_LABELS,   /* nor can those with the labels it asks for; they could: `have` */
    REASON_UNKNOWN_LEVEL,  /* the pool's topology has no level `text` */
    REASON_DOMAIN_TOO_SMALL, /* no part of the topology can ever hold all `need`: `text`, the largest, holds `have` */
    REASON_HAS_GROUPS, /* `text` of a task whose instances are not all alike cannot change */
};
enum { REASON_COUNT = REASON_HAS_GROUPS + 1 };

struct reason {
    enum reason_code code;
    resource_id resource; /* the binding one */
    pool_id pool;
    node_id node; /* the nearest, or 0 */
    task_id task;
    account_id account;
    uint32_t have;
    uint32_t need;
    int64_t wanted; /* in the resource's unit */
    int64_t available;
    int64_t smallest; /* the smallest change that would be accepted: this amount (or count) instead;
                         -1: none */
    int64_t until_ms; /* when it will be looked at again at the latest, 0: unknown */
    uint32_t running; /* of a task that waits in part: those that have their places, */
    uint32_t all;     /* of so many; 0: none has */
    char text[NAME_LEN_MAX + 1];
    char group[NAME_LEN_MAX +
               1]; /* of a gang with groups: the one that it is about; "": all of it */
};
