/* scenario.h - a described cluster and workload: what the engine plays.
 *
 * A scenario is made from a file (scenario_file.h), a trace (trace.h) or an exported state
 * (state_file.h), all of them into the same struct. Times are milliseconds from the beginning.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/vec.h"
#include "core/model/spec.h"
#include "spec/quota_spec.h"

enum {
    SCENARIO_JOBS_MAX = 20000000,
    SCENARIO_ACTIONS_MAX = 1000000,
    SCENARIO_FILE_BYTES_MAX = 1 << 30,
    LOST_AFTER_MS_DEFAULT = 5 * 60 * 1000,
};

/* A job that runs until it is stopped. */
#define RUNS_FOR_EVER INT64_MAX

/* Where an instance of a job is when the scenario begins. Times are 0 or before. */
struct job_place {
    uint32_t index; /* of the instance */
    const char *node;
    uint64_t devices;
    int64_t started_ms;    /* NOT_YET: it is about to */
    int64_t checkpoint_ms; /* its last one; NOT_YET: it has saved nothing */
};

#define NOT_YET INT64_MIN

/* What equal jobs have in common. */
struct job_kind {
    struct task_spec spec;
    int64_t checkpoint_ms;    /* work is saved so often; 0: an interrupted run begins anew */
    int64_t stops_in_ms;      /* from SIGTERM to its end, at most its grace time */
    int32_t exit_code;        /* with which it ends */
    uint32_t fails;           /* the first attempts, which end with exit code 1 */
    uint32_t fail_millionths; /* chance of each attempt to end half-way with exit code 1 */
    const char *const *after; /* names of jobs it depends on, submitted before it */
    uint32_t after_count;
    const struct doc *after_doc; /* where `after` stands in the file; NULL: not in one */
    const char *models;          /* "T4|P100": labels gpu.model of nodes that will do; NULL: any */
    const struct job_place *places; /* of the instances that run already */
    uint32_t place_count;
};

struct job {
    int64_t at_ms;    /* below 0: it is there when the scenario begins, submitted before */
    int64_t runs_ms;  /* of each instance, undisturbed */
    const char *name; /* "" for none */
    const struct job_kind *kind;
};

enum action_type {
    ACTION_CRASH, /* a node dies with all that runs on it; `for_ms` until it is back, 0: never */
    ACTION_CUT,   /* its connection breaks; the work goes on; `for_ms` likewise */
    ACTION_UP,    /* it is back */
    ACTION_DRAIN,
    ACTION_RESUME,
    ACTION_REMOVE,
    ACTION_JOIN, /* a node that was not there at the beginning */
    ACTION_KILL, /* a task, by its name */
    ACTION_PAUSE,
    ACTION_ACTIVATE,
    ACTION_START, /* a staged one */
    ACTION_PRIORITY,
    ACTION_POOL_PAUSE,
    ACTION_POOL_RESUME,
    ACTION_QUOTA, /* `body` says what changes: what it does not name stays */
    ACTION_POOL,
    ACTION_PROJECT,
    ACTION_DEPARTMENT,
};
enum { ACTION_TYPE_COUNT = ACTION_DEPARTMENT + 1 };

struct scenario_action {
    int64_t at_ms;
    int64_t for_ms;
    enum action_type type;
    uint32_t priority;
    const char *target;     /* NULL where there is a body */
    const struct doc *body; /* as in the server file, checked; NULL: none */
    unsigned line;          /* in the file; 0: none */
    unsigned column;
};

/* A node and whether it is there from the beginning. */
struct cluster_node {
    struct node_spec spec;
    bool later;            /* joins by an action */
    const struct doc *doc; /* in the file; NULL: not from one */
};

struct scenario {
    const char *name;
    const char *file;      /* where it was read from; "": nowhere */
    const struct doc *doc; /* the file; NULL: there is none */
    struct arena arena;    /* everything below */
    uint64_t seed;
    uint32_t jobs_max;      /* SCENARIO_JOBS_MAX; tests set less */
    uint32_t nodes_max;     /* NODES_MAX, likewise */
    int64_t until_ms;       /* the end; 0: when nothing is left to happen */
    int64_t start_delay_ms; /* from order to running program */
    int64_t lost_after_ms;
    int64_t crash_every_ms; /* mean time between crashes of one node; 0: none */
    int64_t repair_ms;      /* mean time until it is back */
    VEC(struct pool_spec) pools;
    VEC(struct cluster_node) nodes;
    VEC(struct account_spec) accounts;   /* departments above projects */
    VEC(struct quota_body *) quotas;     /* in the arena: they point into themselves */
    VEC(struct job) jobs;                /* by time, then as in the file */
    VEC(struct scenario_action) actions; /* likewise */
    uint64_t rows_bad;                   /* rows of a trace that were left out */
    const char *row_bad_first;           /* where the first of them is and what is wrong with it */
    bool names_needed;                   /* some job or action refers to another job by name */
};

void scenario_init(struct scenario *scenario);
void scenario_done(struct scenario *scenario);

/* A kind with nothing special: runs and ends with 0. In the scenario's arena. */
struct job_kind *scenario_kind(struct scenario *scenario);

/* Jobs and actions into the order of time; once, after everything was added. */
void scenario_sort(struct scenario *scenario);
