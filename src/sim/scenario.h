/* scenario.h - a described cluster and workload, which the engine plays. A scenario file
 * (scenario_file.h), a trace (trace.h) and an exported state (state_file.h) all become this
 * struct. Times are milliseconds from the beginning.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/vec.h"
#include "core/model/flavor.h"
#include "core/model/spec.h"
#include "sim/market.h"
#include "spec/quota_spec.h"

enum {
    SCENARIO_JOBS_MAX = 20000000,
    SCENARIO_ACTIONS_MAX = 1000000,
    SCENARIO_FILE_BYTES_MAX = 1 << 30,
    LOST_AFTER_MS_DEFAULT = 5 * 60 * 1000,
};

/* Length of a job that runs until it is stopped. */
#define RUNS_FOR_EVER INT64_MAX

/* The place of an instance that runs when the scenario begins. Times are 0 or before. */
struct job_place {
    uint32_t index; /* index of the instance */
    const char *node;
    uint64_t devices;
    int64_t started_ms;    /* NOT_YET: ordered and not started yet */
    int64_t checkpoint_ms; /* last checkpoint; NOT_YET: none */
};

#define NOT_YET INT64_MIN

/* What equal jobs have in common. */
struct job_kind {
    struct task_spec spec;
    int64_t checkpoint_ms;    /* time between two checkpoints; 0: an interrupted job begins anew */
    int64_t stops_in_ms;      /* time from SIGTERM to the end, at most the grace */
    int32_t exit_code;        /* exit code at the end */
    uint32_t fails;           /* so many first attempts end with exit code 1 */
    uint32_t fail_millionths; /* chance of each further attempt to end half-way with exit code 1 */
    const char *const *after; /* names of jobs on which this one depends, all submitted before */
    uint32_t after_count;
    const struct doc *after_doc; /* place of `after` in the file; NULL: not from a file */
    /* "T4|P100": allowed values of the node label gpu.model; NULL: any. */
    const char *models;
    const struct job_place *places; /* places of instances that already run */
    uint32_t place_count;
};

struct job {
    int64_t at_ms;    /* arrival; below 0: submitted before the scenario begins */
    int64_t runs_ms;  /* length of each instance without interruptions */
    const char *name; /* "": no name */
    const struct job_kind *kind;
};

enum action_type {
    ACTION_CRASH, /* A node crashes with everything on it and is back after `for_ms` (0: never). */
    ACTION_CUT,   /* A node is cut off for `for_ms` (0: for ever); its work goes on. */
    ACTION_UP,    /* a node is back */
    ACTION_DRAIN,
    ACTION_RESUME,
    ACTION_REMOVE,
    ACTION_JOIN, /* a node joins that was not there at the beginning */
    ACTION_KILL, /* kills a task, by its name */
    ACTION_PAUSE,
    ACTION_ACTIVATE,
    ACTION_START, /* queues a staged task */
    ACTION_PRIORITY,
    ACTION_POOL_PAUSE,
    ACTION_POOL_RESUME,
    ACTION_QUOTA, /* changes the fields that `body` names */
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
    const char *target;     /* name of a node, task or pool; NULL if there is a body */
    const struct doc *body; /* as in the server file, already checked; NULL: none */
    unsigned line;          /* line in the file; 0: not from a file */
    unsigned column;
};

/* A node of the scenario. */
struct cluster_node {
    struct node_spec spec;
    bool later;            /* joins by an action, not at the beginning */
    const struct doc *doc; /* place in the file; NULL: not from a file */
};

struct scenario {
    const char *name;
    const char *file;      /* path of the scenario; "": not from a file */
    const struct doc *doc; /* the whole file; NULL: not from a file */
    const char *report;    /* the problems of the file, as text; NULL: none */
    struct arena arena;    /* owns everything below */
    uint64_t seed;
    uint32_t jobs_max;  /* SCENARIO_JOBS_MAX; tests set a lower limit */
    uint32_t nodes_max; /* NODES_MAX; tests set a lower limit */
    /* The moment since 1970 at which the scenario begins, by the trace or the state; 0: not known. */
    int64_t begins_ms;
    int64_t until_ms;       /* the end; 0: the run ends when nothing is left to happen */
    int64_t node_start_ms;  /* time from the request for a node to its join */
    int64_t start_delay_ms; /* time from the start order to the running program */
    int64_t lost_after_ms;
    int64_t crash_every_ms; /* mean time between crashes of one node; 0: none */
    int64_t repair_ms;      /* mean time until it is back */
    const char
        *default_pools[POOL_DEFAULT_COUNT]; /* for tasks that name no pool; NULL: `default` */
    struct market market;                   /* of the providers */
    VEC(struct flavor_spec) flavors;
    VEC(struct pool_spec) pools;
    /* Pools of an exported state that are closed or deleted: names, in the arena. */
    VEC(const char *) closed;
    VEC(const char *) deleted;
    VEC(struct cluster_node) nodes;
    VEC(struct account_spec) accounts; /* a department stands before its projects */
    /* In the arena, because a quota has a pointer into itself. */
    VEC(struct quota_body *) quotas;
    VEC(struct job) jobs;                /* sorted by time, then as in the file */
    VEC(struct scenario_action) actions; /* sorted by time, then as in the file */
    uint64_t rows_bad;                   /* malformed rows of a trace, which were left out */
    const char *row_bad_first;           /* place and problem of the first malformed row */
    uint64_t names_changed;              /* texts of a trace that are no names and became others */
    const char *name_changed_first;      /* the first of them, and what it became */
    bool names_needed;                   /* a job or an action refers to another job by name */
};

void scenario_init(struct scenario *scenario);
void scenario_done(struct scenario *scenario);

/* Makes a kind without anything special: it runs and ends with exit code 0. In the scenario's
 * arena. */
struct job_kind *scenario_kind(struct scenario *scenario);

/* Sorts jobs and actions by time. Called once, when everything was added. */
void scenario_sort(struct scenario *scenario);
