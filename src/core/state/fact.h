/* fact.h - facts. A fact is one recorded change of the state. The log of facts is the truth: the state is
 * what all facts, applied in order, lead to.
 *
 * Each type of fact has a version. Old versions are read for ever, and decoding turns them into the newest
 * version. docs/dev/formats/facts.md describes the bytes. Encoding a decoded fact of the newest version gives
 * the same bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/account.h"
#include "core/model/claim.h"
#include "core/model/fallback.h"
#include "core/model/flavor.h"
#include "core/model/network.h"
#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/input.h"
#include "core/model/leave.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/record.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/rollout.h"
#include "core/model/spec.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACT(number, code, ...) FACT_##code = (number),
enum fact_type {
#include "core/state/facts.def"
};
#undef FACT
/* The highest number. Some numbers below it have no row: fact_type_known() says which have one. */
#define FACT(number, code, ...) char code[number];
union fact_numbers {
#include "core/state/facts.def"
};
#undef FACT
enum { FACT_TYPE_MAX = sizeof(union fact_numbers) };

/* A task's new rank. */
struct task_rank {
    task_id task;
    int64_t rank;
};

/* Is there a type of this number? */
bool fact_type_known(uint64_t number);

/* The name of a type: "task-submitted" …. Events of the API have the same names. */
const char *fact_type_name(enum fact_type type);

/* The fields of the type's body, as members of struct fact. */
const struct record_table *fact_table(enum fact_type type);

struct fact {
    enum fact_type type;
    uint32_t version; /* the version that was read; fact_encode() always writes the newest */
    int64_t time_ms;
    const char *actor;
    const char *cause;
    union {
        struct {
            uint64_t epoch;
            uint8_t server_uuid[16];
        } server_started;
        struct {
            resource_id resource;
            const char *name;
        } resource_defined;
        struct {
            pool_id pool;
            const struct pool_spec *spec;
        } pool_set;
        struct {
            pool_id pool;
        } pool_deleted;
        struct {
            node_id node;
            pool_id pool;
            uint32_t incarnation;
            const struct node_spec *spec;
        } node_set;
        struct {
            node_id node;
            enum node_state state;
        } node_state;
        struct {
            node_id node;
            struct node_edit edit;
        } node_edited;
        struct {
            node_id node;
            enum leave leave;
            enum busy busy;
            int64_t by_ms; /* when `busy` is done to the tasks that still run; 0: no later moment */
            const char *words; /* the reason, for people */
        } node_leaving;
        struct {
            node_id node;
            bool locked;
        } node_locked;
        struct {
            pool_id pool;
            struct replacement row; /* `at_once` 0: the replacement has ended */
            const char *words;      /* the reason, for people */
        } replacing;
        struct {
            node_id node;
            const char *name;
        } node_forgotten; /* the row of a removed node leaves the state */
        struct {
            task_id task;
            pool_id pool;
            account_id account; /* the project */
            /* resolved; of a task with groups: the request of its first instance */
            const struct request *request;
            /* of a gang with topology or groups, with requests resolved; or NULL */
            const struct form *form;
            const struct task_spec *spec;
            /* of a fact that was read: the bytes of `spec`, which has exactly one encoding. Otherwise empty */
            struct str spec_bytes;
        } task_submitted;
        struct {
            uint8_t key[16];
            uint8_t body_hash[16];
            task_id first;
            uint32_t count;
        } submit_key;
        struct {
            task_id task;
        } task; /* for task-queued, task-paused, task-kill-asked, task-archived and hold-ended */
        struct {
            task_id task;
            struct task_edit edit;
            pool_id pool;       /* the new pool, where the edit sets `pools` */
            account_id account; /* the new project, where the edit sets `project` */
            /* the new request, resolved, where the edit changes it (TASK_EDIT_REQUEST) */
            const struct request *request;
        } task_edited;
        struct {
            task_id task;
            task_id other;
            bool behind;
            /* all tasks whose rank changes, the moved task included */
            const struct task_rank *ranks;
            uint32_t rank_count;
        } task_moved;
        struct {
            task_id task;
            pool_id pool;
            enum fallback_why why;
        } pool_opened;
        struct {
            task_id task; /* the task that has ended */
            /* the first `count` tasks in ORDER_DEPENDENT that wait for `task` are released */
            uint32_t count;
        } released;
        struct {
            pool_id pool;
            uint64_t work;   /* units of work spent */
            uint32_t placed; /* instances placed */
            /* false: another pass must follow, because this one stopped at its budget or decided something
             * that may change the rest */
            bool complete;
        } pass;
        struct {
            struct attempt_key key;
            node_id node;
            uint32_t incarnation;
            uint64_t devices;
            int64_t slots_milli;
            int64_t cpu_milli;
            int64_t memory_bytes;
            /* the port at which the gang of instance 0 meets (ports.h); 0: none */
            uint32_t master_port;
        } allocated; /* also for claimed: `key` is the next attempt */
        struct {
            task_id task;
            uint32_t index;
            /* a decision drops a claim. Starts, ends and lost nodes drop claims without a fact of this type */
        } claim_dropped;
        struct {
            struct attempt_key key;
            int64_t deadline_ms; /* when SIGKILL follows */
            struct eviction why;
        } evicted; /* an instance is told to stop because another instance gets its place */
        struct {
            pool_id pool;
            int64_t at_ms; /* the wake-up of the pool; 0: none */
        } pool_wake;
        struct {
            pool_id pool;
        } history_ticked; /* the usage since the last tick is added to the history */
        struct {
            pool_id pool;
            task_id task; /* the task that is blocked now; 0: none */
        } head;           /* for head-blocked */
        struct {
            pool_id pool;
            /* all reservations of the pool, in the order in which places are kept */
            const struct reservation *at;
            uint32_t count;
        } reserved;
        struct {
            pool_id pool;
            struct bucket idle; /* `since_ms` is the time of the fact */
            struct bucket loss;
        } budgets;
        struct {
            pool_id pool;
            struct credit row; /* `bucket.most` 0: the credit is full, and the row goes */
        } credit;
        struct {
            node_id node;
            pool_id pool; /* in which the node is from now on */
        } node_moved;
        struct {
            pool_id pool;
            task_id task; /* no longer a holder, because the idle budget is spent */
        } released_holder;
        struct {
            struct attempt_key key;
            int64_t at_ms;
            bool workdir_missed;
        } attempt_started;
        struct {
            struct attempt_key key; /* of a gang: the instance that reported for all */
            int64_t at_ms;
        } attempt_checkpoint;
        struct {
            struct attempt_key key;
            enum service_health now;
            const char *words; /* what the check found; "": the instance answered well */
        } attempt_health;
        struct {
            struct attempt_key key;
            enum end_cause cause;
            int64_t deadline_ms; /* when SIGKILL follows; 0: at once */
        } attempt_stopping;
        struct {
            struct report report;
            enum end_cause cause;
            bool again; /* the instance waits for another attempt instead of ending for good */
            int64_t hold_until_ms; /* the task is not queued before this moment; 0: at once */
            /* which start in a row follows, by the task's rule for restarts; 0: another rule decided */
            uint32_t restarts;
        } attempt_ended;
        struct {
            task_id task;
            enum task_state state;
            enum end_cause cause;
            int32_t exit_code;
            /* the most waiting tasks that this end releases, as in dependents-released */
            uint32_t released;
        } task_ended;
        struct {
            int64_t before_ms;
        } keys_expired;
        struct {
            account_id account;
            account_id parent; /* id of the department above */
            /* the name of the parent is not stored: reading gives "" */
            const struct account_spec *spec;
        } account_set;
        struct {
            account_id account;
        } account_deleted;
        struct {
            const char *pools[POOL_DEFAULT_COUNT];
        } defaults_set;
        struct {
            launch_id launch;
            pool_id pool;
            enum launch_state state; /* changed */
            node_id node;            /* changed: as which the machine has joined, or 0 */
            bool failed;             /* ended: there never was a machine */
            const char *name;        /* changed: the provider's for the machine */
            const char *words;       /* changed, ended: the provider's */
            const char *zone;        /* asked: of the flavor; "": none */
            enum provider_why why;   /* ended */
        } launch;                    /* asked, changed, ended */
        struct {
            account_id account;
            pool_id pool;
            const struct quota_row *row; /* no term says only the defaults */
        } quota_set;
        struct {
            flavor_id flavor;
            const struct flavor_spec *spec;
        } flavor_set;
        struct {
            flavor_id flavor;
        } flavor_deleted;
        struct {
            network_id network;
            const struct network_spec *spec;
        } network_set;
        struct {
            network_id network;
        } network_deleted;
        struct {
            task_id task;
            int64_t since_ms;   /* since when no running instance has done anything */
            int64_t until_ms;   /* when the task is paused or ended; 0: never */
            pool_id pool;       /* of the task */
            account_id account; /* whose rule it is; 0: the pool's */
            enum idle_step step;
        } task_idle;
        struct {
            task_id task; /* the number of the rollout */
            struct rollout row;
        } rollout;
        struct {
            task_id task;
            uint32_t first; /* the instances first to first + count - 1 */
            uint32_t count;
            bool held;
        } held;
        struct {
            pool_id pool;
            uint32_t
                nodes; /* that the pool waits for, because its flavor is sold out; 0: no more */
            uint32_t zones; /* a bit for each zone of the flavor in which it waits */
        } flavor_waits;
        struct {
            node_id node;
            bool spare;
            const char *words; /* why */
        } node_spare;
        struct {
            pool_id pool;
            struct pool_standing now;
            const char *words; /* the provider's, where WHY_PROVIDER; else "" */
        } pool_state;
        struct {
            pool_id pool;
            bool kill; /* running tasks are killed */
        } pool_closing;
        struct {
            pool_id pool;
            int64_t until_ms; /* the pool can be restored before this moment */
            uint32_t nodes;   /* the nodes of the provider that the pool has */
        } pool_pending;
        struct {
            pool_id pool;
        } pool_restored;
    };
};

struct facts {
    struct arena *arena; /* has everything that the facts point to */
    struct fact *at;
    size_t count;
    size_t room;
    struct reason refusal;  /* why core_decide() refused the input */
    uint32_t refused_index; /* the index of the refused task in its submission */
    /* nodes that a pass looked at: a measure of cost, which caches change */
    uint64_t visited;
};

void fact_list_init(struct facts *facts, struct arena *arena);

/* Adds a fact to the list, with time, actor and cause of the input. The fact borrows texts of the input. */
struct fact *fact_list_add(struct facts *facts, const struct input *in, enum fact_type type);

void fact_encode(const struct fact *fact, struct buf *out);

/* Every pointer of the result is in the arena. ERR_CORRUPT: the message says which part of the bytes is
 * wrong. */
must_use enum err fact_decode(struct str bytes, struct arena *arena, struct fact *ret,
                              struct error *e);
