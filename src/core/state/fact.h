/* fact.h - one recorded change of the state. The log of facts is the truth: state = apply of all of
 * them, in order.
 *
 * Each type has a version; old versions are read for ever and come out as the newest. The
 * coding is docs/dev/formats/ facts.md; fact_encode() and fact_decode() are inverse, byte for byte.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/account.h"
#include "core/model/claim.h"
#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/input.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers are stored: never reuse or renumber one. */
enum fact_type {
    FACT_SERVER_STARTED = 1,
    FACT_RESOURCE_DEFINED = 2,
    FACT_POOL_SET = 3,
    FACT_POOL_DELETED = 4,
    FACT_NODE_SET = 5,
    FACT_NODE_STATE = 6,
    FACT_NODE_EDITED = 7,
    FACT_TASK_SUBMITTED = 8,
    FACT_SUBMIT_KEY = 9,
    FACT_TASK_QUEUED = 10,
    FACT_TASK_PAUSED = 11,
    FACT_TASK_EDITED = 12,
    FACT_TASK_KILL_ASKED = 13,
    FACT_PASS = 14,
    FACT_ALLOCATED = 15,
    FACT_HEAD_BLOCKED = 16,
    FACT_RESERVED = 17,
    FACT_ATTEMPT_STARTED = 18,
    FACT_ATTEMPT_STOPPING = 19,
    FACT_ATTEMPT_ENDED = 20,
    FACT_TASK_ENDED = 21,
    FACT_TASK_ARCHIVED = 22,
    FACT_SUBMIT_KEYS_EXPIRED = 23,
    FACT_ACCOUNT_SET = 24,
    FACT_ACCOUNT_DELETED = 25,
    FACT_QUOTA_SET = 26,
    FACT_CLAIMED = 27,
    FACT_CLAIM_DROPPED = 28,
    FACT_EVICTED = 29,
    FACT_POOL_WAKE = 30,
    FACT_TASK_MOVED = 31,
    FACT_DEPENDENTS_RELEASED = 32,
    FACT_HISTORY_TICKED = 33,
    FACT_ATTEMPT_CHECKPOINT = 34,
};
enum { FACT_TYPE_MAX = FACT_ATTEMPT_CHECKPOINT };

/* A task's new rank. */
struct task_rank {
    task_id task;
    int64_t rank;
};

/* "task-submitted" …: also the event names of the API. */
const char *fact_type_name(enum fact_type type);

struct fact {
    enum fact_type type;
    uint32_t version; /* as it was read; written is the newest */
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
            task_id task;
            pool_id pool;
            account_id account; /* the project */
            const struct request
                *request;            /* resolved; of the first instance where there are groups */
            const struct form *form; /* of a gang with topology or groups, resolved; or NULL */
            const struct task_spec *spec;
        } task_submitted;
        struct {
            uint8_t key[16];
            uint8_t body_hash[16];
            task_id first;
            uint32_t count;
        } submit_key;
        struct {
            task_id task;
        } task; /* queued, paused, kill_asked, archived */
        struct {
            task_id task;
            struct task_edit edit;
            pool_id pool;       /* when the edit moves it */
            account_id account; /* when it changes the project */
            const struct request
                *request; /* when it changes what an instance asks for (EDIT_REQUEST); resolved */
        } task_edited;
        struct {
            task_id task;
            task_id other;
            bool behind;
            const struct task_rank *ranks; /* all that change, the task's own too */
            uint32_t rank_count;
        } task_moved;
        struct {
            task_id task;   /* has ended */
            uint32_t count; /* so many of those that wait for it, in their order, no longer do */
        } released;
        struct {
            pool_id pool;
            uint64_t work;   /* units spent */
            uint32_t placed; /* instances */
            bool complete;   /* false: stopped at its budget, goes on with the next */
        } pass;
        struct {
            struct attempt_key key;
            node_id node;
            uint32_t incarnation;
            uint64_t devices;
            int64_t slots_milli;
            int64_t cpu_milli;
            int64_t memory_bytes;
        } allocated; /* and claimed: the attempt that will be */
        struct {
            task_id task;
            uint32_t index;
        } claim_dropped; /* by a decision; starts, ends and losses drop claims by themselves */
        struct {
            struct attempt_key key;
            int64_t deadline_ms; /* SIGKILL follows then */
            struct eviction why;
        } evicted; /* stopping, because another one takes its place */
        struct {
            pool_id pool;
            int64_t at_ms; /* a pass is due then, whatever happens; 0: not for that reason */
        } pool_wake;
        struct {
            pool_id pool;
        } history_ticked; /* what was used since the last one is counted */
        struct {
            pool_id pool;
            task_id task; /* 0: nobody any more */
        } head;           /* head_blocked */
        struct {
            pool_id pool;
            const struct reservation *at; /* all of them, in the order in which places are kept */
            uint32_t count;
        } reserved;
        struct {
            struct attempt_key key;
            int64_t at_ms;
            bool workdir_missed;
        } attempt_started;
        struct {
            struct attempt_key key; /* of a gang: one of those that saved together */
            int64_t at_ms;
        } attempt_checkpoint;
        struct {
            struct attempt_key key;
            enum end_cause cause;
            int64_t deadline_ms; /* SIGKILL follows then; 0: now */
        } attempt_stopping;
        struct {
            struct report report;
            enum end_cause cause;
            bool again; /* the instance waits for another attempt */
        } attempt_ended;
        struct {
            task_id task;
            enum task_state state;
            enum end_cause cause;
            int32_t exit_code;
            uint32_t released; /* as a dependents-released that comes with it; at most */
        } task_ended;
        struct {
            int64_t before_ms;
        } keys_expired;
        struct {
            account_id account;
            account_id parent;               /* resolved */
            const struct account_spec *spec; /* parent's name is not stored: it is "" when read */
        } account_set;
        struct {
            account_id account;
        } account_deleted;
        struct {
            account_id account;
            pool_id pool;
            const struct quota_row *row; /* canonical: no term is all default */
        } quota_set;
    };
};

struct facts {
    struct arena *arena; /* everything the facts point to */
    struct fact *at;
    size_t count;
    size_t room;
    struct reason refusal;  /* why core_decide() said no */
    uint32_t refused_index; /* which task of a submission */
    uint64_t visited;       /* nodes that a pass looked at: a measure, which caches change */
};

void fact_list_init(struct facts *facts, struct arena *arena);

/* A new fact at the end, stamped from the input, whose texts it borrows. */
struct fact *fact_list_add(struct facts *facts, const struct input *in, enum fact_type type);

void fact_encode(const struct fact *fact, struct buf *out);

/* Every pointer goes into the arena. ERR_CORRUPT names the field that is wrong. */
must_use enum err fact_decode(struct str bytes, struct arena *arena, struct fact *ret,
                              struct error *e);
