/* qarnot_internal.h - what the handlers of this directory share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "api/history.h"
#include "api/task_list.h"
#include "base/doc.h"
#include "core/core.h"

/* ---- qarnot_uuid.c ---- */

enum qarnot_kind { QARNOT_POOL, QARNOT_TASK, QARNOT_JOB };
enum { QARNOT_UUID_MAX = 37 };

/* The UUID of a pool, task or job: it follows from the server's uuid and the number. `ret` has QARNOT_UUID_MAX bytes. */
void qarnot_uuid(const struct core *core, enum qarnot_kind kind, uint64_t id, char *ret);

/* The number behind a UUID of this server. False: it is no such UUID. */
must_use bool qarnot_uuid_parse(const struct core *core, enum qarnot_kind kind, const char *text,
                                uint64_t *ret);

/* ---- qarnot_fields.c: the parts of the SDK's objects ---- */

/* The annotation of a task that was deleted while it ran. */
#define QARNOT_DELETED "{\"deleted\":true}"

enum {
    QARNOT_DEPTH_MAX = 12,       /* lists and maps in each other, in a body */
    QARNOT_BODY_MAX = 48 * 1024, /* what is kept of a body */
    QARNOT_CONSTANTS_MAX = 512,
};

/* Is the field there, and neither null nor an empty list or map? */
bool qarnot_fields_given(const struct doc *map, const char *key);

/* Refuses the fields that a task and a pool have in common and that Weir cannot honour. `buckets`: the server can bring
 * files of buckets to tasks. */
must_use enum err qarnot_fields_check(const struct doc *body, bool buckets, struct error *e);

/* The body as text that is kept with the object, and beside it what Weir keeps; NULL: nothing. */
struct qarnot_extra;
must_use enum err qarnot_fields_keep(const struct doc *body, const struct qarnot_extra *extra,
                                     struct arena *arena, const char **ret, struct error *e);

/* What was kept; an empty map where the object was not made through this interface. */
const struct doc *qarnot_fields_kept(struct arena *arena, const char *annotation);

/* Writes the fields of the body, without nulls and without the fields in `computed` (NULL at the end). */
void qarnot_fields_echo(struct json_out *j, const struct doc *kept, const char *const *computed);

/* The value of a constant as a variable has it; NULL: there is none. */
const char *qarnot_fields_constant(const struct doc *body, const char *name);

/* A hardware constraint of the body as a request: cores and bytes; 0: not asked. */
struct qarnot_hardware {
    uint64_t cores;
    uint64_t memory_mb;
    bool gpu;
};
must_use enum err qarnot_fields_hardware(const struct doc *body, struct qarnot_hardware *ret,
                                         struct error *e);

/* Has the object all tags, or one of them, that the filter of a list asks for? */
bool qarnot_fields_filter_matches(const struct doc *filter, const struct doc *tags);

/* Where the page that the body asks for begins, and how many objects it has. Checks the filter, too. */
must_use enum err qarnot_fields_page(const struct doc *body, uint64_t *ret_after, size_t *ret_limit,
                                     struct error *e);

/* The words of a refusal for which the SDK has an exception of its own: there are as many `what` as the server takes. NULL: another
 * refusal. */
struct facts;
const char *qarnot_fields_full(struct arena *arena, const struct facts *facts, const char *what);

/* A refusal as one sentence, with the place before it. */
const char *qarnot_fields_words(struct arena *arena, const char *where, const char *message);

/* Writes "days.hours:minutes:seconds". */
void qarnot_fields_timespan(int64_t ms, char *ret);
enum { QARNOT_TIMESPAN_MAX = 32 };

/* ---- qarnot_types.c: the kinds of values ---- */

#define QARNOT_PROFILE "docker-batch"

/* Refuses a body whose values are not of the kinds that the SDK sends, and a profile that there is not. */
must_use enum err qarnot_types_check(const struct doc *body, struct error *e);

/* A whole number of the map; `otherwise` where the map says none. Another value is refused by its name. */
must_use enum err qarnot_types_number(const struct doc *map, const char *key, uint64_t otherwise,
                                      uint64_t *ret, struct error *e);

/* ---- qarnot_extra.c: what Weir keeps beside the body, in the same annotation ---- */

#define QARNOT_EXTRA "weir"
enum { QARNOT_SNAPSHOTS_MAX = 16 };

struct qarnot_snapshot {
    uint64_t id;
    int64_t asked_ms;
    int64_t seen_ms;          /* of the last report */
    const struct doc *config; /* as the SDK sent it */
    const char *waits;        /* the indexes of the instances that have not reported: "0-3,7" */
    uint64_t bytes;
    const char *words; /* "": nothing went wrong */
};

struct qarnot_extra {
    bool job;                   /* the task stands for a job of the SDK (qarnot_jobs.c) */
    uint64_t refreshed;         /* how often the resources were to be fetched again */
    uint64_t results;           /* files that were sent to the result bucket */
    const struct doc *periodic; /* as the SDK sent it; NULL: none */
    const char *words;      /* why the files of an instance could not be moved; "": they could */
    uint64_t snapshot_last; /* the highest id ever given */
    uint32_t snapshot_count;
    struct qarnot_snapshot snapshots[QARNOT_SNAPSHOTS_MAX];
};

void qarnot_extra_read(const struct doc *kept, struct qarnot_extra *ret);
void qarnot_extra_write(struct json_out *j, const struct qarnot_extra *extra);

/* Keeps another extra with a live task. False: the call was answered. */
must_use bool qarnot_extra_put(struct call *call, task_id task, const struct qarnot_extra *extra);

/* ---- qarnot_buckets.c: which buckets a body names ---- */

/* Can this server bring files of buckets to tasks? */
bool qarnot_buckets_on(const struct call *call);

/* Are names, filters and patterns well formed, and within what Weir does? */
must_use enum err qarnot_buckets_check(const struct doc *body, struct error *e);
must_use enum err qarnot_buckets_pattern_check(const struct doc *map, const char *key,
                                               struct error *e);
bool qarnot_buckets_name_ok(const char *name);

/* Has the body resource buckets, or a result bucket? */
bool qarnot_buckets_in(const struct doc *kept);
bool qarnot_buckets_out(const struct doc *kept);

/* Writes the list of resources as a node reads it: [{bucket,prefix,strip}]. */
void qarnot_buckets_write(struct json_out *j, const struct doc *kept);

/* May the object be read, or the prefix be listed, as a resource? */
bool qarnot_buckets_allow(const struct doc *kept, const char *bucket, const char *key);

/* A text of a map; "": there is none. */
const char *qarnot_buckets_text(const struct doc *map, const char *key);

/* ---- qarnot_ranges.c: "1,3-8,12-19" ---- */

struct qarnot_ranges {
    uint32_t count; /* numbers in all */
    const char *text;
};
must_use enum err qarnot_ranges_read(const char *text, struct qarnot_ranges *ret, struct error *e);

/* The ranges as the SDK itself writes them, without blanks and leading zeros. */
const char *qarnot_ranges_plain(const char *text, struct arena *arena);

/* The number of the instance with this index, and back. */
uint32_t qarnot_ranges_at(const char *text, uint32_t index);
bool qarnot_ranges_find(const char *text, uint32_t number, uint32_t *ret_index);

/* Adds a number to a range text that is being written: "0-3,7". */
struct qarnot_range_writer {
    struct buf *out;
    uint32_t first;
    uint32_t last;
    bool open;
};
void qarnot_ranges_add(struct qarnot_range_writer *w, uint32_t number);
void qarnot_ranges_end(struct qarnot_range_writer *w);

/* ---- qarnot_pool.c: a pool as the SDK reads it ---- */

const char *qarnot_pool_state(const struct pool *pool);

/* How many slots the pool has at most: its instances, as the SDK counts. */
uint64_t qarnot_pool_slots_most(const struct pool *pool, const struct pool_spec *spec);
void qarnot_pool_write(struct json_out *j, const struct core *core, const struct pool *pool,
                       struct arena *arena);

/* ---- qarnot_size.c ---- */

/* How many nodes, and how they come and go. */
struct qarnot_size {
    uint64_t slots_per_node;
    uint64_t nodes; /* of a fixed pool; 0: the pool is elastic */
    uint64_t cap;   /* slots that are used, where the nodes have more; 0: all */
    uint64_t min;
    uint64_t max;
    uint64_t idle_s;
    uint64_t headroom;
};
must_use enum err qarnot_size_read(const struct doc *body, struct qarnot_size *ret,
                                   struct error *e);

/* ---- qarnot_pools.c ---- */

/* The pool of this UUID that was not deleted, or NULL. */
const struct pool *qarnot_pools_find(const struct core *core, const char *uuid);

/* ---- qarnot_tasks.c ---- */

/* The task that the path names. False: the call was answered with 404. */
must_use bool qarnot_tasks_of(struct call *call, task_id *ret);

/* What became of one task that was to be created. */
struct qarnot_created {
    task_id id; /* 0: refused */
    unsigned status;
    const char *message;
};

/* Submits the task in the caller's name. */
void qarnot_tasks_submit(struct call *call, struct task_spec *spec, struct qarnot_created *ret);

/* Answers with the UUID of what was created, or with the refusal. */
void qarnot_tasks_created_answer(struct call *call, enum qarnot_kind kind,
                                 const struct qarnot_created *created);

/* Calls `then` with the JSON that the API has of a live or ended task; answers 404 where there is none. */
void qarnot_tasks_read(struct call *call, task_id id, history_fn then);

/* Was the task deleted by the SDK while it ran? `task` is the JSON that the API has. */
bool qarnot_tasks_deleted(const struct doc *task);

/* The same for a task of the history. False: the call was answered with 404. */
must_use bool qarnot_tasks_there(struct call *call, struct str json);

/* Deletes a live or ended task: its output goes, and the SDK finds it no more. */
void qarnot_tasks_remove(struct call *call, task_id id);

/* Kills the live tasks that the filter shows. Looks at all live tasks. */
void qarnot_tasks_kill(struct call *call, const struct task_filter *filter);

/* Answers with a page of the tasks that the filter shows: paging and tags are as the body says. */
void qarnot_tasks_page(struct call *call, const struct task_filter *filter,
                       const struct task_list_form *form);

/* Writes a row of a list of tasks. call->data is a filter by the SDK's tags, or NULL. False: the row is left out. */
bool qarnot_tasks_row(struct call *call, struct json_out *j, struct str json);

/* The begin and end of a page. */
void qarnot_tasks_page_begin(struct json_out *j);
void qarnot_tasks_page_end(struct json_out *j, uint64_t next);

/* ---- qarnot_jobs.c ---- */

/* What was kept of the job with this UUID; NULL: there is none, or it takes no more tasks. */
const struct doc *qarnot_jobs_find(const struct core *core, const char *uuid, struct arena *arena);

/* The tag that the tasks of a job have in Weir. */
const char *qarnot_jobs_tag(struct arena *arena, const char *uuid);

/* ---- qarnot_spec.c: the body of a task as one of Weir's ---- */

must_use enum err qarnot_spec_task(const struct core *core, const struct doc *body, bool buckets,
                                   struct arena *arena, struct task_spec *ret, struct error *e);

/* ---- qarnot_json.c: Weir's task as the SDK reads it ---- */

void qarnot_json_task(struct json_out *j, const struct core *core, const struct doc *task,
                      struct arena *arena);
