/* limits.h - every size a user can reach, in one place. A request above a limit is refused with the limit's
 * name and value.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The latest moment that a stored time can have: about the year 10889. */
#define TIME_MS_MAX ((long long)1 << 48)

enum {
    POOLS_MAX = 1024,
    NODES_MAX = 100000,
    LAUNCHES_MAX = NODES_MAX, /* nodes that providers are asked for and that have not ended */
    RESOURCES_MAX = 256,      /* names a server knows */
    TASK_RESOURCES_MAX = 16,  /* named resources one task asks for */
    NODE_RESOURCES_MAX = 32,  /* named resources one node offers */
    NODE_SLOTS_MAX = 1000000, /* so that sums over all nodes fit 64 bits */
    NODE_DEVICES_MAX = 64,    /* GPUs of one node */
    NODE_LABELS_MAX = 64,
    SELECTOR_LABELS_MAX = 16, /* labels in the selector of one pool */
    POOL_GUESTS_MAX = 64,     /* projects and departments to which one pool is dedicated */
    TOPOLOGY_LEVELS_MAX = 8,  /* levels of one pool's topology */
    SBATCH_FLAGS_MAX = 16,    /* further flags of sbatch of one pool */
    TASK_GROUPS_MAX = 64,     /* groups within one gang, at any depth */
    GROUP_DEPTH_MAX = 4,
    NODE_AUX_TASKS_DEFAULT = 100, /* zero-slot instances that a node takes */
    TASK_INSTANCES_MAX = 10000,
    TASK_ARGS_MAX = 4096,
    TASK_ENV_MAX = 1024,
    TASK_TAGS_MAX = 32,
    TASK_DEPENDS_MAX = 64,  /* a task row has one bit for each dependency */
    MOVE_TASKS_MAX = 10000, /* tasks of the project that one move in the queue can pass */
    TASK_POOLS_MAX = 16,
    TASK_AVOID_MAX = 16,              /* nodes that one task avoids */
    TASK_LABELS_MAX = 8,              /* labels that one task requires of its nodes */
    TASK_MOUNTS_MAX = 16,             /* directories of the node in a container */
    TASK_PATH_MAX = 4096,             /* working directories and images */
    TASK_SPEC_BYTES_MAX = 256 * 1024, /* all texts of one task together */
    /* a spec of an older version grows when it is read */
    TASK_SPEC_STORED_MAX = TASK_SPEC_BYTES_MAX + 64,
    NAME_LEN_MAX = 63,
    GUEST_LEN_MAX = 75,        /* "department/" and a name */
    TEXT_LEN_MAX = 255,        /* titles, descriptions, tags, labels */
    SUBMIT_TASKS_MAX = 100000, /* tasks of one submission */
    /* idempotency keys remembered; above this number the oldest are dropped early */
    SUBMIT_KEYS_MAX = 500000,
    PENDING_TASKS_MAX = 4000000,
    PRIORITY_MIN = 1,
    PRIORITY_MAX = 100,
    PRIORITY_DEFAULT = 50,
    TASK_RELEASES_MAX = 20,
    TURN_MS_DEFAULT = 2 * 60 * 60 * 1000,
    PERCENT_WHOLE = 100000,  /* 100 % in thousandths of a percent */
    IDLE_FOR_WAITING = 2000, /* default of pool_spec.idle_for_waiting */
    LOSS_FOR_SHARING = 1000, /* default of pool_spec.loss_for_sharing */
    GRACE_MS_DEFAULT = 30000,
    /* a checkpoint that comes sooner after the previous checkpoint is not recorded */
    CHECKPOINT_INTERVAL_MS = 5000,
    RETRIES_MAX = 1000,
    RESTART_DELAY_MS_DEFAULT = 1000,
    HEALTH_EVERY_MS_LEAST = 1000,
    HEALTH_EVERY_MS_DEFAULT = 10 * 1000,
    HEALTH_TIMEOUT_MS_DEFAULT = 5 * 1000,
    HEALTH_TIMEOUT_MS_MAX = 60 * 1000,
    HEALTH_GRACE_MS_DEFAULT = 30 * 1000,
    HEALTH_FAILURES_DEFAULT = 3,
    HEALTH_FAILURES_MAX = 1000,
    LOSSES_MAX = 1000,
    LOSSES_DEFAULT = 5,
    AUX_TASKS_MAX = 1000000,
    STALE_GRACE_MS_DEFAULT = 60000,
    POOL_ZONES_MAX = 16, /* zones with a number of nodes of their own */
    EC2_PLACES_MAX = 16, /* zones, subnets or security groups of one pool */
    EC2_TAGS_MAX = 32,
    EC2_PRICE_MAX = 16,       /* characters of a price */
    EC2_USER_DATA_MAX = 8192, /* EC2 takes 16 KiB with all that Weir adds */
    POOL_NODES_MAX = 10000,   /* nodes that the provider of one pool brings up */
    HEADROOM_MAX = 1000000,
    /* a node of a provider that is out of service for so long is replaced */
    NODE_UNFIT_MS = 5 * 60 * 1000,
    NODE_FORGET_MS = 24 * 60 * 60 * 1000, /* how long the row of a removed node stays */
    NODE_IDLE_MS_DEFAULT = 20 * 60 * 1000,
    MAX_STARTING_MS_DEFAULT = 20 * 60 * 1000,
    CONSOLIDATION_DEFAULT = 16,
    CONSOLIDATION_MAX = 10000,
    HISTORY_FACTOR_DEFAULT = 1000,
    HISTORY_FACTOR_MAX = 10000,
    ACTOR_LEN_MAX = 63,
};
