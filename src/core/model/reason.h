/* reason.h - reasons: why a task waits or a request is refused, as data. wire/reason_text.h turns a reason
 * into a sentence. API, CLI and UI show the same sentence (P8, P9). Words in backquotes are members of struct
 * reason.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum reason_code {
    REASON_NONE,
    /* waits */
    REASON_STAGED,     /* not queued until the user calls `weir task start` */
    REASON_PAUSED,     /* paused by its user */
    REASON_DEPENDENCY, /* `task` and others have not ended, `need` tasks in all */
    REASON_POOL_PAUSED,
    REASON_POOL_EMPTY, /* no node has joined yet */
    /* nodes that could take the task are silent, lost, draining or out of service: `have` of `need` are up */
    REASON_NODES_AWAY,
    /* the task fits no node's free amounts: it wants `wanted` of `resource`, the nearest node has `available` */
    REASON_NO_ROOM,
    REASON_DEVICES_BUSY, /* the chosen devices are in use on every node that has them */
    REASON_AUX_FULL,     /* every node is at its cap of zero-slot tasks */
    REASON_GANG_SHORT,   /* `have` of `need` places are free */
    /* the free places are kept for `task`, which has a reservation */
    REASON_RESERVED,
    /* the free places are promised to `task`, for which other instances are leaving */
    REASON_PROMISED,
    REASON_NEXT,       /* the task fits, and the next pass starts it */
    REASON_OVER_LIMIT, /* `account` may not hold `wanted` more of `resource`: `available` is left */
    /* the task is not preemptible, and `account` may not hold more such work than its guarantee. Members as
     * for REASON_OVER_LIMIT */
    REASON_OVER_GUARANTEE,
    /* the tasks of one user may not hold more in the pool. Members as for REASON_OVER_LIMIT */
    REASON_USER_CAP,
    /* there is no room, and the task wants `wanted` of `resource`. `account` has a right to `available` for
     * this task while other accounts want the rest */
    REASON_OVER_SHARE,
    /* `need` places are promised to the task, and the instances that hold these places are leaving */
    REASON_VICTIMS_LEAVING,
    REASON_PREEMPTION_DELAY, /* the task may evict others, but not before `until_ms` */
    /* the tasks that this task may evict have their minimum runtime until `until_ms` */
    REASON_MIN_RUNTIME,
    REASON_CHANGING_POOL, /* the task goes to `pool` when its instances have left their places */
    /* no domain of the topology has room for all `need` instances. The best domain, `text`, has room for
     * `have` */
    REASON_TOPOLOGY,
    /* the search found no places for `need` instances that differ. The search was not exhaustive, so places
     * may exist */
    REASON_NOT_FOUND,
    /* refusals */
    REASON_UNKNOWN_POOL,      /* there is no pool `text` */
    REASON_UNKNOWN_PROJECT,   /* there is no project `text` */
    REASON_UNKNOWN_RESOURCE,  /* no node has ever brought the resource `text` */
    REASON_UNKNOWN_TASK,      /* the task depends on `task`, which does not exist */
    REASON_KIND_NOT_ACCEPTED, /* the pool does not take tasks of this kind */
    /* no node can ever hold an instance: it wants `wanted` of `resource`, the largest node has `available`.
     * Where `have` is above 0, all nodes together have `have` */
    REASON_TOO_LARGE,
    /* at most `have` instances can ever be placed together, and the gang needs `need` */
    REASON_GANG_TOO_LARGE,
    REASON_NO_DEVICES, /* no node has devices, or no node has the chosen devices */
    /* each amount fits some node, but no node fits all amounts together. The nearest node lacks `resource` */
    REASON_COMBINATION,
    /* above a limit of limits.h: `text` is the name of the limit, `available` its value */
    REASON_LIMIT,
    /* the object is in state `text`, which does not allow the change; or `pool` or `account` always exists
     * and cannot be deleted or moved */
    REASON_WRONG_STATE,
    REASON_KEY_REUSED, /* the idempotency key was used before with another body */
    REASON_EXISTS,     /* the name `text` is taken */
    /* the object `text` is still in use by `need` tasks, instances or nodes. `have` 1: by tasks of the pool, which can be deleted by
     * force */
    REASON_IN_USE,
    REASON_NO_IMAGE,   /* the pool's nodes run no containers */
    REASON_POOL_TWICE, /* the task names the pool `text` twice */
    /* there is no such object: `text` says whether pool, node, task or account */
    REASON_UNKNOWN_OBJECT,
    REASON_UNKNOWN_DEPARTMENT, /* there is no department `text` */
    REASON_CYCLE,              /* department `text` would be below itself */
    REASON_NOT_EMPTY,          /* department `text` still has `need` accounts below */
    /* `task` is in another pool or project; `text` says which of the two */
    REASON_OTHER_QUEUE,
    /* `task` does not have priority `need`, the priority of the task that it should stand beside */
    REASON_OTHER_PRIORITY,
    REASON_TASK_ENDED,   /* `task` has ended */
    REASON_MOVE_TOO_FAR, /* more than `need` tasks lie between the old and the new place */
    /* the field `text` of `task` cannot change while instances of `task` have places */
    REASON_HOLDS_PLACES,
    REASON_UNKNOWN_NODE, /* the task avoids the node `text`, which does not exist */
    REASON_AVOIDED,      /* only nodes that the task avoids could ever run it: `have` of them */
    /* only nodes without the labels that the task requires could ever run it: `have` of them */
    REASON_OTHER_LABELS,
    REASON_UNKNOWN_LEVEL, /* the pool's topology has no level `text` */
    /* no domain of the topology can ever hold all `need` instances. The largest domain, `text`, holds `have` */
    REASON_DOMAIN_TOO_SMALL,
    REASON_HAS_GROUPS, /* the field `text` cannot change, because the task has groups */
    /* a wait: an attempt was lost with its node or supervisor for the `have`-th time within an hour. The task
     * waits until `until_ms`, and fails at `need` losses; 0: never */
    REASON_LOST_AGAIN,
    /* a wait: the program of an instance ended. The instance starts again at `until_ms`, for the
     * `have`-th time in a row, and at most `need` times (0: without end). `text` is "unhealthy"
     * where the health check ended the instance */
    REASON_RESTARTS,
    /* waits for nodes of a provider */
    REASON_NODES_STARTING, /* the pool grows: `have` nodes are on their way */
    /* the pool's provider brought no node up; `text` has its words. It is asked again at `until_ms` */
    REASON_PROVIDER_FAILED,
    /* the flavor of `pool`, `text`, is sold out. `have` nodes are on their way, and the pool waits for `need` more. The
     * provider is asked again at `until_ms` */
    REASON_SOLD_OUT,
    /* refusals about flavors */
    REASON_UNKNOWN_FLAVOR, /* there is no flavor `text` */
    /* flavor `text` is of another provider than its pool; `pool` is 0 for a pool that is made or changed */
    REASON_FLAVOR_PROVIDER,
    REASON_FLAVOR_USED, /* `need` pools have flavor `text`; the first is `pool` */
    REASON_FLAVOR_FIXED, /* `pool` has `need` nodes, or nodes on their way, of another kind than asked for */
    /* a wait and a refusal: `pool` is in state `text`: closing or closed */
    REASON_POOL_CLOSED,
    /* a wait and a refusal: `pool` was deleted, and can be restored. `text`: the name that a new pool cannot have */
    REASON_POOL_DELETED,
    REASON_NOT_ADMITTED, /* the pool is dedicated, and not to the project `account` */
    REASON_UNKNOWN_GUEST, /* the pool shall be dedicated to `text`, and there is no such project or department */
    REASON_GUEST_UNCLEAR, /* both a project and a department have the name `text` */
    /* refusals of changes to the size of a pool */
    REASON_NODE_LOCKED,  /* the node `text` is locked */
    REASON_NODES_LOCKED, /* the pool should have `need` nodes, and `have` of its nodes are locked */
    REASON_NODE_BUSY, /* `node`, named `text`, runs `need` instances, and nothing may be done to them */
    REASON_DEFAULT_POOL, /* `pool` cannot be closed or deleted, because tasks that name no pool go there */
    REASON_FLAVOR_REGION,  /* flavor `text` is the flavor of `pool`, which is in another region */
    REASON_FLAVOR_SUBNETS, /* flavor `text` has zones, and the pool names subnets */
    REASON_UNKNOWN_ZONE, /* the pool (`pool`; 0: a new one) has nodes in zone `text`, which its flavor does not have */
    /* refusals about networks */
    REASON_UNKNOWN_NETWORK, /* there is no network `text` */
    REASON_NETWORK_RANGE,   /* the range has addresses of network `text` */
    REASON_NETWORK_OF_POOLS, /* `pool` has network `text`, and so have others: `need` pools and tasks in all */
    REASON_NETWORK_OF_TASKS, /* `task` has network `text`, and so have others: `need` tasks in all */
    REASON_NETWORK_OF_POOL,  /* tasks of `pool` are in network `text` and no other */
    REASON_NETWORK_GUEST,    /* network `text` is not for the project `account` */
    REASON_NO_NETWORK,       /* no node that could run the task makes networks */
    REASON_NO_OUTBOUND,      /* no node that could run the task lets networks out */
    /* a wait: `pool` paused the task, because the task did nothing */
    REASON_PAUSED_IDLE,
    /* of a service whose instances a rollout holds: it takes the place of `task`, or `task` takes its place */
    REASON_ROLLOUT_TURN,
    REASON_ROLLOUT_STOPPED, /* and the rollout stopped, because of `text` (names_rollout_why()) */
    REASON_NO_ROLLOUT, /* `task` cannot be replaced, or its update cannot be asked for this: `text` says why */
    REASON_ROLLOUT_GOES, /* `task` is being replaced, or replaces another one, already */
};
enum { REASON_COUNT = REASON_ROLLOUT_GOES + 1 };

struct reason {
    enum reason_code code;
    resource_id resource; /* the resource that the reason is about */
    pool_id pool;
    node_id node; /* the node that comes nearest to a fit; 0: none */
    /* of a task that waits for room: a node that has room for it and takes no work, a draining one before others; 0: none */
    node_id away;
    task_id task;
    account_id account;
    uint32_t have;
    uint32_t need;
    int64_t wanted; /* amount of `resource` that the task wants, in the resource's unit */
    int64_t available;
    /* the amount (or count) that would be accepted instead of `wanted`; -1: unknown, or no amount would do */
    int64_t smallest;
    int64_t until_ms; /* the moment at which the reason ends or is looked at again; 0: unknown */
    /* of a task that waits in part: the instances that have their places; 0: none */
    uint32_t running;
    /* of a task that waits in part: all instances; 0: no instance has a place */
    uint32_t all;
    char text[NAME_LEN_MAX + 1];
    /* of a gang with groups: the group that the reason is about; "": the whole gang */
    char group[NAME_LEN_MAX + 1];
};
