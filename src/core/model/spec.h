/* spec.h - specs: what users and agents describe, as checked structs that refer to other objects by name.
 * spec/ and wire/ make specs from text. core_decide() reads specs and resolves the names. All pointers are
 * borrowed from the maker's arena.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* After which ends of an attempt the instance starts again (restart.h). */
enum restart { RESTART_AUTO, RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS };
enum { RESTART_COUNT = RESTART_ALWAYS + 1 };

enum task_kind {
    TASK_EXPERIMENT,
    TASK_COMMAND,
    TASK_SHELL,
    TASK_NOTEBOOK,
    TASK_TENSORBOARD,
    TASK_SERVICE
};
enum { TASK_KIND_COUNT = TASK_SERVICE + 1 };

struct named_amount {
    const char *name;
    int64_t milli;
};

struct label {
    const char *key;
    const char *value;
};

/* A task that names no pool goes to one of these: to the first with slots, to the second without. */
enum pool_default { POOL_DEFAULT_GPU, POOL_DEFAULT_CPU };
enum { POOL_DEFAULT_COUNT = POOL_DEFAULT_CPU + 1 };

enum { ASK_NOTHING = -1 }; /* for slots, cpu and memory: the user named none */

/* How close together the instances of a gang or of a group must be. Members are names of levels of the pool's
 * topology; "" or NULL: no level. */
struct topology_spec {
    const char *required; /* all instances must be in one domain of this level */
    /* all instances in one domain of this level if there is room, else in as few domains as possible */
    const char *preferred;
};

struct task_spec;

/* A group of instances within a gang. In the list a group stands directly before the groups that it consists
 * of. */
struct group_spec {
    const char *name;
    /* 1 + the list index of the group above; 0: the group is directly below the task */
    uint32_t parent;
    uint32_t instances; /* 0: the group consists of groups */
    uint32_t min;       /* how many instances, or groups directly below, the group needs; 0: all */
    struct topology_spec topology;
    /* what each instance of the group requests; NULL: what the task requests */
    const struct task_spec *asks;
    /* labels that the group's nodes must have, beside the task's node_labels */
    const struct label *node_labels;
    uint32_t node_label_count;
};

struct task_spec {
    enum task_kind kind;
    const char *name; /* may be empty */
    const char *user; /* the server sets the user from the token, never from the body */
    const char *project;
    const char *image;   /* empty: none */
    const char *workdir; /* empty: the job directory */
    const char *const *argv;
    uint32_t argv_count;
    const char *const *env; /* "KEY=value" */
    uint32_t env_count;
    const char *const *tags;
    uint32_t tag_count;
    const char *const *pools; /* in order of preference; none: the pool `default` */
    uint32_t pool_count;
    /* when the next pool of `pools` opens: after so much waiting (0: never), and conditions (enum fallback_on as
     * bits). Neither: FALLBACK_ON_NO_CAPACITY */
    int64_t fallback_after_ms;
    uint32_t fallback_on;
    const uint64_t *depends_on;
    uint32_t depends_count;
    /* bit i: any end of dependency i is enough. Bit not set: dependency i must succeed */
    uint64_t depends_any;

    /* what each instance requests */
    int64_t slots_milli; /* ASK_NOTHING, or thousandths of slots, said as `slots` or `gpu` */
    int64_t cpu_milli;   /* ASK_NOTHING or the amount */
    int64_t memory_bytes;
    int64_t gpu_memory_bytes; /* 0: none */
    uint64_t device_mask;
    /* number of devices, each with the same part or the same memory; 0: not said */
    uint32_t gpu_devices;
    bool needs_gpu; /* the user said `gpu`, `gpu_memory` or `devices` */
    const struct named_amount *resources;
    uint32_t resource_count;
    const char *const *avoid; /* names of nodes on which the task must not run */
    uint32_t avoid_count;
    const struct label *node_labels; /* labels that the task's nodes must have */
    uint32_t node_label_count;

    uint32_t instances;   /* 1 or more */
    uint32_t array_first; /* INSTANCE_ID of instance 0 */
    bool gang;
    /* of a gang: the number of instances with which the gang runs. The number of further instances may
     * change. 0: all instances are needed */
    uint32_t min_instances;
    struct topology_spec topology;
    const struct group_spec *groups; /* of a gang whose instances differ */
    uint32_t group_count;
    uint32_t min_groups; /* how many of the groups directly below the task are needed; 0: all */
    bool preemptible;
    /* false: an instance that was lost never runs again, and the task ends as `unknown` */
    bool repeatable;
    bool stage;
    uint32_t priority;
    uint32_t max_retries;
    /* an instance that was lost so often within LOSSES_WINDOW_MS fails; 0: it never fails for its losses */
    uint32_t max_losses;
    int64_t time_limit_ms; /* 0: none */
    int64_t grace_ms;
    int64_t stale_grace_ms;      /* or STALE_GRACE_NEVER, STALE_GRACE_POOL */
    int64_t preemption_delay_ms; /* or PREEMPTION_DELAY_POOL */
    const char *description;     /* free text */
    const char *upload;          /* the digest of an archive for the job directory; "": none */
    const char *const *mounts;   /* of a container: "SOURCE:TARGET", "SOURCE:TARGET:rw" */
    const char *
        network; /* "host", "isolated" or the name of a network; "": the pool's, else the node's own */
    uint32_t mount_count;
    const char *annotation; /* what a client keeps with the task; Weir gives it back as it is */
    enum restart restart;
    uint32_t max_restarts;    /* in a row; 0: without end */
    int64_t restart_delay_ms; /* before the first start in a row */
    const char *health; /* of a service: HEALTH_TCP, or the path to GET; "": no health check */
    int64_t health_every_ms;
    int64_t health_timeout_ms;
    uint32_t health_failures; /* so many failures in a row end the attempt */
    int64_t health_grace_ms;  /* failures in this time after the start of an attempt do not count */
};

#define HEALTH_TCP "tcp"

enum { TASK_DESCRIPTION_MAX = 1000, ANNOTATION_MAX = 48 * 1024 };

enum {
    STALE_GRACE_NEVER = -1,     /* a gang below its minimum is never stopped */
    STALE_GRACE_POOL = -2,      /* of a task: the pool's grace, for gangs that may grow */
    PREEMPTION_DELAY_POOL = -1, /* of a task: the pool's delay */
    PATIENCE_AUTO = -1, /* of a pool: a blocked task holds as soon as the idle budget can pay */
};

/* The rule by which a pool chooses which project's turn it is. */
enum pool_policy { POLICY_FAIR_SHARE, POLICY_PRIORITY, POLICY_FIFO, POLICY_ROUND_ROBIN };
enum { POOL_POLICY_COUNT = POLICY_ROUND_ROBIN + 1 };

/* The rule by which a pool chooses among the nodes that fit. */
enum pool_placement { PLACEMENT_PACK, PLACEMENT_SPREAD, PLACEMENT_TIGHT };
enum { POOL_PLACEMENT_COUNT = PLACEMENT_TIGHT + 1 };

/* The rule by which a pool chooses victims among the tasks of one account. */
enum pool_victims { VICTIMS_LEAST_LOSS, VICTIMS_YOUNGEST };
enum { POOL_VICTIMS_COUNT = VICTIMS_YOUNGEST + 1 };

/* The rule by which a pool orders the tasks of one project and one priority. */
enum pool_order { QUEUE_SUBMISSION, QUEUE_SHORT_FIRST };
enum { POOL_ORDER_COUNT = QUEUE_SHORT_FIRST + 1 };

/* What brings the nodes of a pool up and down. */
enum pool_provider {
    POOL_STATIC, /* nobody: agents are started by hand */
    POOL_LOCAL,  /* the server starts agents on its own machine */
    POOL_EXEC,   /* a program of the site */
    POOL_SLURM,  /* jobs of Slurm */
    POOL_EC2,    /* machines of Amazon EC2, or of a cloud with the same API */
};
enum { POOL_PROVIDER_COUNT = POOL_EC2 + 1 };

/* Whose tasks a pool takes. */
enum pool_access {
    ACCESS_PUBLIC,
    ACCESS_DEDICATED, /* only tasks of the projects and departments that `guests` names */
};
enum { POOL_ACCESS_COUNT = ACCESS_DEDICATED + 1 };

/* What a pool does to a task that holds its place and does nothing. */
enum idle_action {
    IDLE_PAUSE,
    IDLE_END,
};
enum { IDLE_ACTION_COUNT = IDLE_END + 1 };

/* What happened to a task that held its place and did nothing. */
enum idle_step {
    IDLE_WARNED,
    IDLE_PAUSED,
    IDLE_ENDED,
};
enum { IDLE_STEP_COUNT = IDLE_ENDED + 1 };

struct pool_spec {
    const char *name;
    const char *title;
    const char *description;
    int64_t patience_ms; /* or PATIENCE_AUTO */
    uint32_t accepts;    /* a bit for each task_kind that the pool accepts; 0: all kinds */
    bool paused;
    uint32_t aux_tasks; /* zero-slot instances that each node of the pool takes */
    enum pool_policy policy;
    enum pool_placement placement;
    enum pool_victims victims;
    enum pool_order order;
    bool preemption_off;
    /* the most tasks that are moved to make room for one task; 0: none */
    uint32_t consolidation_max;
    /* how long a gang may be below its minimum; or STALE_GRACE_NEVER */
    int64_t stale_grace_ms;
    /* preempt_min_runtime_ms and reclaim_min_runtime_ms hold for accounts whose quotas do not set them */
    int64_t preempt_min_runtime_ms;
    int64_t reclaim_min_runtime_ms;
    int64_t preemption_delay_ms; /* how long a task waits before it may evict others */
    int64_t user_slots_max;      /* thousandths that the tasks of one user may hold; 0: no cap */
    /* usage history counts half after this time; 0: no decay within the window */
    int64_t history_half_life_ms;
    /* usage history starts anew after this time; 0: never. Half-life and window both 0: shares do not depend
     * on usage history */
    int64_t history_window_ms;
    uint32_t history_factor; /* how much usage history counts, in thousandths */
    /* a task wider than a node gets equal parts that each fill a node, or is refused */
    bool uneven_off;
    const char *contact; /* whom to ask about the pool */
    /* how long what an account holds beyond its guarantee is safe from the shares of others */
    int64_t turn_ms;
    /* parts of the pool's slot-time, in thousandths of a percent: what kept places may leave idle, and what
     * evictions for a fair division may lose */
    uint32_t idle_for_waiting;
    uint32_t loss_for_sharing;
    const char *const *topology; /* keys of node labels, the widest level first */
    uint32_t topology_count;
    enum pool_provider provider;
    uint32_t nodes_min; /* of the nodes that the provider brings up; 0 for both: none */
    uint32_t nodes_max;
    uint32_t nodes_fixed; /* above 0: the size of the pool, which is then min and max, too */
    int64_t node_idle_ms; /* a node without work goes after this time */
    /* "ZONE=COUNT", counts that sum to `nodes_fixed`; none: the pool takes nodes in any zone of its flavor */
    const char *const *zones;
    uint32_t zone_count;
    uint32_t spare_nodes;   /* nodes that take no work until another node is lost */
    int64_t grow_period_ms; /* from one growth to the next; 0: growth at once */
    uint32_t headroom;      /* free slots that are kept ready */
    int64_t
        max_starting_ms; /* an agent that has not joined after this time is given up; 0: never */
    /* what each node that the provider brings up has; cpu and memory 0: unknown */
    uint32_t node_slots;
    uint32_t node_gpus; /* above 0: the slots are these GPUs */
    int64_t node_cpu_milli;
    int64_t node_memory_bytes;
    const char *flavor; /* the name of a flavor, which says what each node has; "": none */
    const char *
        network; /* of all its tasks: "host", "isolated" or a name; "": each task may say its own */
    /* a task whose running instances have all done nothing for `idle_warn_ms` is warned, and after
     * `idle_after_ms` it is paused or ended; 0: never */
    int64_t idle_warn_ms;
    int64_t idle_after_ms;
    enum idle_action idle_action;
    /* a node whose agent names no pool belongs to the first pool whose labels here the node has; none: no node
     * belongs to the pool by its labels */
    const struct label *selector;
    uint32_t selector_count;
    enum pool_access access;
    /* of a dedicated pool: "project/NAME", "department/NAME", or NAME where only one of them exists. The core stores the long
     * form */
    const char *const *guests;
    uint32_t guest_count;
    /* 1 + the most slots that a node has in this pool; 0: all that the node has */
    uint32_t slots_per_node;
    const char *command; /* POOL_EXEC: the path of the program */
    /* POOL_SLURM: how jobs are submitted; "": as Slurm has it */
    const char *partition;
    const char *account;
    const char *qos;
    const char *const *flags; /* further flags of sbatch */
    uint32_t flag_count;
    int64_t job_limit_ms; /* how long a job may run; 0: as Slurm has it */
    /* of the provider ec2: docs/user/engines-ec2.md explains them */
    const char *ec2_region;
    const char *ec2_endpoint; /* "": the region's own */
    const char *ec2_image;
    const char *ec2_instance_type;
    const char *const *ec2_zones; /* tried in this order; zones or subnets, not both */
    uint32_t ec2_zone_count;
    uint32_t ec2_subnet_count;
    const char *const *ec2_subnets;
    const char *const *ec2_groups;
    uint32_t ec2_group_count;
    uint32_t ec2_tag_count;
    const char *const *ec2_tags; /* "key=value" */
    const char *ec2_key_name;
    const char *ec2_max_price; /* decimal, in dollars an hour; "": that of on-demand */
    const char *ec2_user_data;
    bool ec2_spot;
    const char *annotation; /* what a client keeps with the pool; Weir gives it back as it is */
};

struct node_spec {
    const char *name;
    const char *pool;
    const struct label *labels;
    uint32_t label_count;
    int64_t slots_milli; /* whole slots; equals 1000 * device_count where there are devices */
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t gpu_memory_bytes; /* memory of the node's smallest device; 0: unknown */
    uint32_t device_count;
    const struct named_amount *resources;
    uint32_t resource_count;
    /* identity of the supervisor process that runs now. Another identity is a new incarnation of the node */
    uint8_t supervisor[16];
    const char *boot_id;
    const char *address; /* where other nodes reach this node */
    const char *version; /* build of the agent */
    /* why the agent has put the node out of service; "": the node is in service */
    const char *trouble;
    /* what tasks on this node could do to each other and to the node; "": an older agent, or nothing */
    const char *unprevented;
    uint64_t devices_out;       /* devices that must get no new work, one bit each */
    uint64_t devices_lost;      /* devices of `devices_out` on which no program can go on running */
    const char *device_trouble; /* why the devices are out, in words; "": no device is out */
    const char *limits; /* which limits of tasks the node can enforce, and how; "": unknown */
    /* neither the agent nor a provider named the pool: the node belongs to the pool that its labels say */
    bool follows_labels;
};
