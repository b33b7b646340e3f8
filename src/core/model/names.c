/* names.c - the words of the enums, as API, CLI and events write them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/names.h"

#include "base/must.h"

#include <string.h>

static const char *const kind_names[TASK_KIND_COUNT] = {
    [TASK_EXPERIMENT] = "experiment",
    [TASK_COMMAND] = "command",
    [TASK_SHELL] = "shell",
    [TASK_NOTEBOOK] = "notebook",
    [TASK_TENSORBOARD] = "tensorboard",
    [TASK_SERVICE] = "service",
};

static const char *const state_names[TASK_STATE_COUNT] = {
    [TASK_STAGED] = "staged",           [TASK_PENDING] = "pending", [TASK_PAUSED] = "paused",
    [TASK_STARTING] = "starting",       [TASK_RUNNING] = "running", [TASK_STOPPING] = "stopping",
    [TASK_COMPLETED] = "completed",     [TASK_FAILED] = "failed",   [TASK_KILLED] = "killed",
    [TASK_UNAVAILABLE] = "unavailable", [TASK_UNKNOWN] = "unknown",
};

static const char *const cause_names[END_CAUSE_COUNT] = {
    [END_NONE] = "none",
    [END_EXIT] = "exit",
    [END_KILLED] = "killed",
    [END_TIME_LIMIT] = "time-limit",
    [END_PREEMPTED] = "preempted",
    [END_NODE_LOST] = "node-lost",
    [END_SPAWN] = "spawn-failed",
    [END_DEPENDENCY] = "dependency",
    [END_NODE_REMOVED] = "node-removed",
    [END_GANG] = "gang",
    [END_PAUSED] = "paused",
    [END_MOVED] = "moved",
    [END_LOSSES] = "losses",
    [END_POOL] = "pool-deleted",
    [END_MEMORY] = "out-of-memory",
    [END_DISK] = "out-of-disk",
    [END_DEVICE] = "device-lost",
    [END_IDLE] = "idle",
    [END_IDLE_PAUSED] = "idle-paused",
    [END_UNHEALTHY] = "unhealthy",
    [END_REPLACED] = "replaced",
};

static const char *const fallback_why_names[FALLBACK_WHY_COUNT] = {
    [FALLBACK_FIRST] = "first", [FALLBACK_IMPOSSIBLE] = "impossible",
    [FALLBACK_AFTER] = "after", [FALLBACK_NO_CAPACITY] = "no-capacity",
    [FALLBACK_LOST] = "lost",   [FALLBACK_POOL_GONE] = "pool-gone",
};

static const char *const launch_state_names[LAUNCH_STATE_COUNT] = {
    [LAUNCH_ASKED] = "asked",
    [LAUNCH_REQUESTED] = "requested",
    [LAUNCH_RUNNING] = "running",
    [LAUNCH_ENDING] = "ending",
};

static const char *const node_state_names[NODE_STATE_COUNT] = {
    [NODE_UP] = "up",
    [NODE_SILENT] = "silent",
    [NODE_LOST] = "lost",
    [NODE_REMOVED] = "removed",
};

static const char *const reason_names[REASON_COUNT] = {
    [REASON_NONE] = "none",
    [REASON_STAGED] = "staged",
    [REASON_PAUSED] = "paused",
    [REASON_PAUSED_IDLE] = "paused-idle",
    [REASON_ROLLOUT_TURN] = "rollout-turn",
    [REASON_ROLLOUT_STOPPED] = "rollout-stopped",
    [REASON_NO_ROLLOUT] = "no-rollout",
    [REASON_ROLLOUT_GOES] = "rollout-goes",
    [REASON_DEPENDENCY] = "dependency",
    [REASON_POOL_PAUSED] = "pool-paused",
    [REASON_POOL_EMPTY] = "pool-empty",
    [REASON_NODES_STARTING] = "nodes-starting",
    [REASON_PROVIDER_FAILED] = "provider-failed",
    [REASON_SOLD_OUT] = "sold-out",
    [REASON_UNKNOWN_FLAVOR] = "unknown-flavor",
    [REASON_FLAVOR_PROVIDER] = "flavor-provider",
    [REASON_FLAVOR_USED] = "flavor-used",
    [REASON_FLAVOR_FIXED] = "flavor-fixed",
    [REASON_NOT_ADMITTED] = "not-admitted",
    [REASON_UNKNOWN_GUEST] = "unknown-guest",
    [REASON_GUEST_UNCLEAR] = "guest-unclear",
    [REASON_NODES_AWAY] = "nodes-away",
    [REASON_NO_ROOM] = "no-room",
    [REASON_DEVICES_BUSY] = "devices-busy",
    [REASON_AUX_FULL] = "aux-full",
    [REASON_GANG_SHORT] = "gang-short",
    [REASON_RESERVED] = "reserved",
    [REASON_PROMISED] = "promised",
    [REASON_NEXT] = "next",
    [REASON_OVER_LIMIT] = "over-limit",
    [REASON_OVER_GUARANTEE] = "over-guarantee",
    [REASON_USER_CAP] = "user-cap",
    [REASON_OVER_SHARE] = "over-share",
    [REASON_VICTIMS_LEAVING] = "victims-leaving",
    [REASON_PREEMPTION_DELAY] = "preemption-delay",
    [REASON_MIN_RUNTIME] = "minimum-runtime",
    [REASON_UNKNOWN_POOL] = "unknown-pool",
    [REASON_UNKNOWN_PROJECT] = "unknown-project",
    [REASON_UNKNOWN_RESOURCE] = "unknown-resource",
    [REASON_UNKNOWN_TASK] = "unknown-task",
    [REASON_KIND_NOT_ACCEPTED] = "kind-not-accepted",
    [REASON_TOO_LARGE] = "too-large",
    [REASON_GANG_TOO_LARGE] = "gang-too-large",
    [REASON_NO_DEVICES] = "no-devices",
    [REASON_COMBINATION] = "combination",
    [REASON_LIMIT] = "limit",
    [REASON_WRONG_STATE] = "wrong-state",
    [REASON_KEY_REUSED] = "key-reused",
    [REASON_EXISTS] = "exists",
    [REASON_IN_USE] = "in-use",
    [REASON_NO_IMAGE] = "no-image",
    [REASON_POOL_TWICE] = "pool-twice",
    [REASON_UNKNOWN_OBJECT] = "unknown-object",
    [REASON_UNKNOWN_DEPARTMENT] = "unknown-department",
    [REASON_CYCLE] = "cycle",
    [REASON_NOT_EMPTY] = "not-empty",
    [REASON_CHANGING_POOL] = "changing-pool",
    [REASON_TOPOLOGY] = "topology",
    [REASON_NOT_FOUND] = "not-found",
    [REASON_LOST_AGAIN] = "lost-again",
    [REASON_RESTARTS] = "restarts",
    [REASON_OTHER_QUEUE] = "other-queue",
    [REASON_OTHER_PRIORITY] = "other-priority",
    [REASON_TASK_ENDED] = "task-ended",
    [REASON_MOVE_TOO_FAR] = "move-too-far",
    [REASON_HOLDS_PLACES] = "holds-places",
    [REASON_UNKNOWN_NODE] = "unknown-node",
    [REASON_AVOIDED] = "avoided",
    [REASON_OTHER_LABELS] = "other-labels",
    [REASON_UNKNOWN_LEVEL] = "unknown-level",
    [REASON_DOMAIN_TOO_SMALL] = "domain-too-small",
    [REASON_HAS_GROUPS] = "has-groups",
    [REASON_POOL_CLOSED] = "pool-closed",
    [REASON_POOL_DELETED] = "pool-deleted",
    [REASON_NODE_LOCKED] = "node-locked",
    [REASON_NODES_LOCKED] = "nodes-locked",
    [REASON_DEFAULT_POOL] = "default-pool",
    [REASON_FLAVOR_REGION] = "flavor-region",
    [REASON_UNKNOWN_ZONE] = "unknown-zone",
    [REASON_FLAVOR_SUBNETS] = "flavor-subnets",
    [REASON_UNKNOWN_NETWORK] = "unknown-network",
    [REASON_NETWORK_RANGE] = "network-range",
    [REASON_NETWORK_OF_POOLS] = "network-of-pools",
    [REASON_NETWORK_OF_TASKS] = "network-of-tasks",
    [REASON_NETWORK_OF_POOL] = "network-of-pool",
    [REASON_NETWORK_GUEST] = "network-guest",
    [REASON_NO_NETWORK] = "no-network",
    [REASON_NO_OUTBOUND] = "no-outbound",
    [REASON_NODE_BUSY] = "node-busy",
};

const char *names_eviction_rule(enum eviction_rule rule)
{
    static const char *const names[EVICTION_RULE_COUNT] = {
        [EVICT_SHARE] = "share",       [EVICT_GUARANTEE] = "guarantee",
        [EVICT_PRIORITY] = "priority", [EVICT_CONSOLIDATE] = "consolidate",
        [EVICT_STALE] = "stale",
    };
    must((unsigned)rule < EVICTION_RULE_COUNT);
    return names[rule];
}

const char *names_account_kind(enum account_kind kind)
{
    must((unsigned)kind < ACCOUNT_KIND_COUNT);
    return kind == ACCOUNT_PROJECT ? "project" : "department";
}

const char *names_pool_policy(enum pool_policy policy)
{
    static const char *const names[POOL_POLICY_COUNT] = {
        [POLICY_FAIR_SHARE] = "fair-share",
        [POLICY_PRIORITY] = "priority",
        [POLICY_FIFO] = "fifo",
        [POLICY_ROUND_ROBIN] = "round-robin",
    };
    return (unsigned)policy < POOL_POLICY_COUNT ? names[policy] : NULL;
}

const char *names_pool_placement(enum pool_placement placement)
{
    static const char *const names[POOL_PLACEMENT_COUNT] = {
        [PLACEMENT_PACK] = "pack",
        [PLACEMENT_SPREAD] = "spread",
        [PLACEMENT_TIGHT] = "tight",
    };
    return (unsigned)placement < POOL_PLACEMENT_COUNT ? names[placement] : NULL;
}

const char *names_pool_victims(enum pool_victims victims)
{
    static const char *const names[POOL_VICTIMS_COUNT] = {
        [VICTIMS_LEAST_LOSS] = "least-loss",
        [VICTIMS_YOUNGEST] = "youngest",
    };
    return (unsigned)victims < POOL_VICTIMS_COUNT ? names[victims] : NULL;
}

const char *names_pool_order(enum pool_order order)
{
    static const char *const names[POOL_ORDER_COUNT] = {
        [QUEUE_SUBMISSION] = "submission",
        [QUEUE_SHORT_FIRST] = "short-first",
    };
    return (unsigned)order < POOL_ORDER_COUNT ? names[order] : NULL;
}

const char *names_idle_action(enum idle_action action)
{
    static const char *const names[IDLE_ACTION_COUNT] = {
        [IDLE_PAUSE] = "pause", [IDLE_END] = "end"};
    return (unsigned)action < IDLE_ACTION_COUNT ? names[action] : NULL;
}

const char *names_idle_step(enum idle_step step)
{
    static const char *const names[IDLE_STEP_COUNT] = {
        [IDLE_WARNED] = "warned", [IDLE_PAUSED] = "paused", [IDLE_ENDED] = "ended"};
    return (unsigned)step < IDLE_STEP_COUNT ? names[step] : NULL;
}

const char *names_account_idle(enum account_idle idle)
{
    static const char *const names[ACCOUNT_IDLE_COUNT] = {[ACCOUNT_IDLE_INHERIT] = "inherit",
                                                          [ACCOUNT_IDLE_NONE] = "none",
                                                          [ACCOUNT_IDLE_PAUSE] = "pause",
                                                          [ACCOUNT_IDLE_END] = "end"};
    return (unsigned)idle < ACCOUNT_IDLE_COUNT ? names[idle] : NULL;
}

const char *names_pool_access(enum pool_access access)
{
    static const char *const names[POOL_ACCESS_COUNT] = {
        [ACCESS_PUBLIC] = "public",
        [ACCESS_DEDICATED] = "dedicated",
    };
    return (unsigned)access < POOL_ACCESS_COUNT ? names[access] : NULL;
}

const char *names_pool_provider(enum pool_provider provider)
{
    static const char *const names[POOL_PROVIDER_COUNT] = {
        [POOL_STATIC] = "static", [POOL_LOCAL] = "local", [POOL_EXEC] = "exec",
        [POOL_SLURM] = "slurm",   [POOL_EC2] = "ec2",
    };
    return (unsigned)provider < POOL_PROVIDER_COUNT ? names[provider] : NULL;
}

const char *names_pool_state(enum pool_state state)
{
    static const char *const names[POOL_STATE_COUNT] = {
        [POOL_SUBMITTED] = "submitted",
        [POOL_PARTIALLY_DISPATCHED] = "partially-dispatched",
        [POOL_FULLY_DISPATCHED] = "fully-dispatched",
        [POOL_PARTIALLY_EXECUTING] = "partially-executing",
        [POOL_FULLY_EXECUTING] = "fully-executing",
        [POOL_CLOSING] = "closing",
        [POOL_CLOSED] = "closed",
        [POOL_PENDING_DELETE] = "pending-delete",
        [POOL_FAILURE] = "failure",
    };
    must((unsigned)state < POOL_STATE_COUNT);
    return names[state];
}

const char *names_pool_health(enum pool_health health)
{
    static const char *const names[POOL_HEALTH_COUNT] = {
        [HEALTH_RUNNING] = "running",
        [HEALTH_DEGRADED] = "degraded",
        [HEALTH_UNAVAILABLE] = "unavailable",
    };
    must((unsigned)health < POOL_HEALTH_COUNT);
    return names[health];
}

const char *names_pool_why(enum pool_why why)
{
    static const char *const names[POOL_WHY_COUNT] = {
        [WHY_ALL_UP] = "all-up",     [WHY_STARTING] = "starting", [WHY_EMPTY] = "empty",
        [WHY_NO_NODES] = "no-nodes", [WHY_LOST] = "lost",         [WHY_ALL_LOST] = "all-lost",
        [WHY_PROVIDER] = "provider", [WHY_CLOSED] = "closed",     [WHY_DELETED] = "deleted",
    };
    must((unsigned)why < POOL_WHY_COUNT);
    return names[why];
}

const char *names_rollout_phase(enum rollout_phase phase)
{
    static const char *const names[ROLLOUT_PHASE_COUNT] = {
        [ROLLOUT_OVER] = "over",
        [ROLLOUT_GOING] = "going",
        [ROLLOUT_STOPPED] = "stopped",
    };
    return (unsigned)phase < ROLLOUT_PHASE_COUNT ? names[phase] : NULL;
}

const char *names_rollout_why(enum rollout_why why)
{
    static const char *const names[ROLLOUT_WHY_COUNT] = {
        [ROLLOUT_NOT_STOPPED] = "none",
        [ROLLOUT_NO_PLACE] = "no-place",
        [ROLLOUT_NOT_READY] = "not-ready",
        [ROLLOUT_FAILED] = "failed",
    };
    return (unsigned)why < ROLLOUT_WHY_COUNT ? names[why] : NULL;
}

const char *names_service_health(enum service_health health)
{
    static const char *const names[SERVICE_HEALTH_COUNT] = {
        [SERVICE_UNKNOWN] = "unknown",
        [SERVICE_HEALTHY] = "healthy",
        [SERVICE_UNHEALTHY] = "unhealthy",
    };
    return (unsigned)health < SERVICE_HEALTH_COUNT ? names[health] : NULL;
}

const char *names_restart(enum restart restart)
{
    static const char *const names[RESTART_COUNT] = {
        [RESTART_AUTO] = "auto",
        [RESTART_NEVER] = "never",
        [RESTART_ON_FAILURE] = "on-failure",
        [RESTART_ALWAYS] = "always",
    };
    return (unsigned)restart < RESTART_COUNT ? names[restart] : NULL;
}

const char *names_task_kind(enum task_kind kind)
{
    return (unsigned)kind < TASK_KIND_COUNT ? kind_names[kind] : NULL;
}

bool names_task_kind_parse(const char *name, enum task_kind *ret)
{
    for (unsigned i = 0; i < TASK_KIND_COUNT; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            *ret = (enum task_kind)i;
            return true;
        }
    }
    return false;
}

const char *names_task_state(enum task_state state)
{
    must((unsigned)state < TASK_STATE_COUNT);
    return state_names[state];
}

bool names_task_state_parse(const char *name, enum task_state *ret)
{
    for (unsigned i = 0; i < TASK_STATE_COUNT; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *ret = (enum task_state)i;
            return true;
        }
    }
    return false;
}

const char *names_end_cause(enum end_cause cause)
{
    must((unsigned)cause < END_CAUSE_COUNT);
    return cause_names[cause];
}

const char *names_fallback_why(enum fallback_why why)
{
    must((unsigned)why < FALLBACK_WHY_COUNT);
    return fallback_why_names[why];
}

const char *names_provider_why(enum provider_why why)
{
    static const char *const names[PROVIDER_WHY_COUNT] = {
        [PROVIDER_WHY_OTHER] = "other",
        [PROVIDER_WHY_NO_CAPACITY] = "no-capacity",
        [PROVIDER_WHY_PRICE] = "price",
        [PROVIDER_WHY_LIMIT] = "limit",
    };
    return (unsigned)why < PROVIDER_WHY_COUNT ? names[why] : NULL;
}

const char *names_launch_state(enum launch_state state)
{
    must((unsigned)state < LAUNCH_STATE_COUNT);
    return launch_state_names[state];
}

const char *names_node_state(enum node_state state)
{
    must((unsigned)state < NODE_STATE_COUNT);
    return node_state_names[state];
}

const char *names_reason(enum reason_code code)
{
    must((unsigned)code < REASON_COUNT);
    return reason_names[code];
}

const char *names_length_source(enum length_source source)
{
    static const char *const names[LENGTH_SOURCE_COUNT] = {
        [LENGTH_UNKNOWN] = "unknown",    [LENGTH_LIMIT] = "time-limit",
        [LENGTH_BY_NAME] = "name",       [LENGTH_BY_USER_SIZE] = "user-size",
        [LENGTH_BY_USER] = "user",       [LENGTH_BY_PROJECT_SIZE] = "project-size",
        [LENGTH_BY_PROJECT] = "project", [LENGTH_BY_SITE] = "site",
    };
    return (unsigned)source < LENGTH_SOURCE_COUNT ? names[source] : NULL;
}

const char *names_busy(enum busy busy)
{
    static const char *const names[BUSY_COUNT] = {
        [BUSY_WAIT] = "wait",
        [BUSY_REQUEUE] = "requeue",
        [BUSY_KILL] = "kill",
        [BUSY_REFUSE] = "refuse",
    };
    return (unsigned)busy < BUSY_COUNT ? names[busy] : NULL;
}

bool names_busy_parse(const char *name, enum busy *ret)
{
    for (unsigned i = 0; i < BUSY_COUNT; i++) {
        if (strcmp(name, names_busy((enum busy)i)) == 0) {
            *ret = (enum busy)i;
            return true;
        }
    }
    return false;
}

const char *names_leave(enum leave leave)
{
    static const char *const names[LEAVE_COUNT] = {
        [LEAVE_NOT] = "drained",
        [LEAVE_SCALED] = "scaled",
        [LEAVE_REPLACED] = "replaced",
        [LEAVE_UNFIT] = "unfit",
    };
    must((unsigned)leave < LEAVE_COUNT);
    return names[leave];
}
