/* fact_bodies.c - the body of each type of fact, as a table of its fields.
 *
 * The order of the rows is the stored format. A row with a name is part of the event of the API, under this
 * name (wire/event_json.c). The names "task", "pool", "node" and "account" say what the event is about. A new
 * field gets a row with `.since` at the end of its body, and its type a new `.newest`. A table that the
 * stored state uses, too (fact_bodies_eviction), has no `.since`, because facts and states count versions
 * separately.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "core/model/account.h"
#include "core/model/codec.h"
#include "core/model/form.h"
#include "core/model/input.h"
#include "core/model/limits.h"
#include "core/model/names.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/task.h"
#include "core/state/fact_internal.h"

#define ROW(object, kind, member, json, least, most, ...)                                          \
    {                                                                                              \
        .name = (json), .type = RECORD_##kind, RECORD_AT(object, member), .low = (least),          \
        .high = (most), __VA_ARGS__                                                                \
    }
#define FIELD(kind, member, json, least, most, ...)                                                \
    ROW(struct fact, kind, member, json, least, most, __VA_ARGS__)
/* ANY: a number or an id with any value. KEY: the key of an attempt. */
#define ANY(member, json, ...) FIELD(UINT, member, json, 0, RECORD_ANY, __VA_ARGS__)
#define KEY(member) FIELD(KEY, member, "key", 0, 0)
#define YES(member, json, ...) FIELD(BOOL, member, json, 0, 1, __VA_ARGS__)
#define TIME(member, json) FIELD(TIME, member, json, 0, TIME_MS_MAX)
#define WORD(member, json, count, names, ...)                                                      \
    FIELD(WORD, member, json, 0, (count)-1, .word = (names), __VA_ARGS__)
#define OWN(thing)                                                                                 \
    {                                                                                              \
        .type = RECORD_OWN, .put = thing##_put, .get = thing##_get                                 \
    }

static void pool_spec_put(const void *fact, struct buf *out)
{
    spec_codec_pool_encode(((const struct fact *)fact)->pool_set.spec, out);
}

static void pool_spec_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    struct fact *fact = ret;
    struct pool_spec *spec = arena_new(arena, struct pool_spec, 1);
    (fact->version > 1 ? spec_codec_pool_decode : spec_codec_pool_decode_v1)(in, arena, spec);
    fact->pool_set.spec = spec;
}

static void node_spec_put(const void *fact, struct buf *out)
{
    spec_codec_node_encode(((const struct fact *)fact)->node_set.spec, out);
}

static void node_spec_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    struct node_spec *spec = arena_new(arena, struct node_spec, 1);
    spec_codec_node_decode(in, arena, spec);
    ((struct fact *)ret)->node_set.spec = spec;
}

/* Only the fields that the edit sets are written. */
static void node_edit_put(const void *fact, struct buf *out)
{
    const struct node_edit *edit = &((const struct fact *)fact)->node_edited.edit;
    bytes_put_u64(out, edit->fields);
    if (edit->fields & NODE_EDIT_DRAIN) {
        codec_put_bool(out, edit->drain);
    }
    if (edit->fields & NODE_EDIT_LABELS) {
        codec_put_labels(out, edit->labels, edit->label_count);
    }
}

static void node_edit_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    struct node_edit *edit = &((struct fact *)ret)->node_edited.edit;
    edit->fields = (uint32_t)bytes_get_max(in, NODE_EDIT_DRAIN | NODE_EDIT_LABELS);
    if (edit->fields & NODE_EDIT_DRAIN) {
        edit->drain = codec_get_bool(in);
    }
    if (edit->fields & NODE_EDIT_LABELS) {
        edit->labels = codec_get_labels(in, arena, NODE_LABELS_MAX, &edit->label_count);
    }
}

static void submission_put(const void *object, struct buf *out)
{
    const struct fact *fact = object;
    codec_put_request(out, fact->task_submitted.request);
    codec_put_bool(out, fact->task_submitted.form != NULL);
    if (fact->task_submitted.form != NULL) {
        form_encode(fact->task_submitted.form, out);
    }
    spec_codec_task_encode(fact->task_submitted.spec, out);
}

static void submission_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    struct fact *fact = ret;
    struct request *request = arena_new(arena, struct request, 1);
    codec_get_request(in, RESOURCES_MAX, request);
    fact->task_submitted.request = request;
    const bool has_form = fact->version > 3 && codec_get_bool(in);
    fact->task_submitted.form = has_form ? form_decode(in, arena, RESOURCES_MAX) : NULL;
    struct task_spec *spec = arena_new(arena, struct task_spec, 1);
    spec_codec_task_decode(in, arena, spec);
    fact->task_submitted.spec = spec;
    if (!in->bad && !form_fits(fact->task_submitted.form, spec)) {
        codec_bad(in);
    }
}

static void edit_put(const void *fact, struct buf *out)
{
    fact_edit_task_put(fact, out);
}

static void edit_get(struct bytes_reader *in, struct arena *arena, void *fact)
{
    fact_edit_task_get(in, arena, fact);
}

static const struct record_field rank[] = {
    ROW(struct task_rank, UINT, task, NULL, 0, RECORD_ANY),
    ROW(struct task_rank, INT, rank, NULL, -RANK_FRONT, RANK_FRONT),
};
static const struct record_table rank_table = RECORD_TABLE(struct task_rank, rank);

static const struct record_field side[] = {
    ROW(struct eviction_side, UINT, account, NULL, 0, RECORD_ANY),
    ROW(struct eviction_side, INT, allocated, NULL, INT64_MIN, INT64_MAX),
    ROW(struct eviction_side, INT, guaranteed, NULL, INT64_MIN, INT64_MAX),
    ROW(struct eviction_side, INT, share, NULL, INT64_MIN, INT64_MAX),
};
static const struct record_table side_table = RECORD_TABLE(struct eviction_side, side);

static const struct record_field eviction[] = {
    ROW(struct eviction, UINT, rule, NULL, 0, EVICTION_RULE_COUNT - 1),
    ROW(struct eviction, UINT, claimant, NULL, 0, RECORD_ANY),
    ROW(struct eviction, UINT, resource, NULL, 0, RESOURCES_MAX - 1),
    ROW(struct eviction, PART, victim, NULL, 0, 0, .part = &side_table),
    ROW(struct eviction, PART, taker, NULL, 0, 0, .part = &side_table),
};
const struct record_table fact_bodies_eviction = RECORD_TABLE(struct eviction, eviction);

static const struct record_field reservation[] = {
    ROW(struct reservation, UINT, task, NULL, 0, RECORD_ANY),
    ROW(struct reservation, TIME, until_ms, NULL, 0, TIME_MS_MAX),
};
static const struct record_table reservation_table = RECORD_TABLE(struct reservation, reservation);

static const struct record_field reservations =
    FIELD(ROWS, reserved.at, NULL, 0, RESERVATIONS_MAX, .part = &reservation_table,
          .count_offset = offsetof(struct fact, reserved.count));

static void reservations_put(const void *fact, struct buf *out)
{
    record_put_field(&reservations, fact, out);
}

/* A fact of version 1 has at most one reservation, without `until_ms`. */
static void reservations_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    struct fact *fact = ret;
    if (fact->version > 1) {
        record_get_field(&reservations, in, arena, fact);
        return;
    }
    struct reservation *list = arena_new(arena, struct reservation, 1);
    list->task.v = bytes_get_u64(in);
    fact->reserved.count = list->task.v != 0;
    fact->reserved.at = list;
}

static void ended_at_put(const void *fact, struct buf *out)
{
    bytes_put_i64(out, ((const struct fact *)fact)->attempt_ended.report.at_ms);
}

/* Version 1 stored the agent's time unchecked. For version 1 the attempt ended at the time of the fact. */
static void ended_at_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    (void)arena;
    struct fact *fact = ret;
    const bool checked = fact->version > 1;
    const int64_t at_ms =
        codec_get_range(in, checked ? 0 : INT64_MIN, checked ? TIME_MS_MAX : INT64_MAX);
    fact->attempt_ended.report.at_ms = checked ? at_ms : fact->time_ms;
}

static void account_spec_put(const void *fact, struct buf *out)
{
    spec_codec_account_encode(((const struct fact *)fact)->account_set.spec, out);
}

static void account_spec_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    struct account_spec *spec = arena_new(arena, struct account_spec, 1);
    spec_codec_account_decode(in, arena, spec);
    ((struct fact *)ret)->account_set.spec = spec;
}

static void quota_terms_put(const void *fact, struct buf *out)
{
    spec_codec_quota_encode(((const struct fact *)fact)->quota_set.row, out);
}

static void quota_terms_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    struct quota_row *row = arena_new(arena, struct quota_row, 1);
    spec_codec_quota_decode(in, RESOURCES_MAX, row);
    ((struct fact *)ret)->quota_set.row = row;
}

/* The body of allocated and claimed. */
static const struct record_field allocated[] = {
    KEY(allocated.key),
    ANY(allocated.node, "node"),
    ANY(allocated.incarnation, "incarnation"),
    FIELD(BITS, allocated.devices, "devices", 0, RECORD_ANY),
    FIELD(MILLI, allocated.slots_milli, "slots", 0, AMOUNT_MILLI_MAX),
    FIELD(MILLI, allocated.cpu_milli, "cpu", 0, AMOUNT_MILLI_MAX),
    FIELD(MEMORY, allocated.memory_bytes, "memory", 0, AMOUNT_BYTES_MAX),
};

static const struct record_field attempt_ended[] = {
    FIELD(UINT, attempt_ended.report.type, NULL, 0, REPORT_UNKNOWN),
    KEY(attempt_ended.report.key),
    ANY(attempt_ended.report.incarnation, NULL),
    OWN(ended_at),
    FIELD(INT, attempt_ended.report.exit_code, "exit_code", INT32_MIN, INT32_MAX, .place = 1),
    ANY(attempt_ended.report.out_bytes, NULL),
    ANY(attempt_ended.report.err_bytes, NULL),
    FIELD(MS, attempt_ended.report.cpu_ms, "cpu_ms", INT64_MIN, INT64_MAX, .place = 2),
    FIELD(MEMORY, attempt_ended.report.memory_peak_bytes, "memory_peak", INT64_MIN, INT64_MAX,
          .place = 2),
    WORD(attempt_ended.cause, "end", END_CAUSE_COUNT, names_end_cause),
    YES(attempt_ended.again, "again", .place = 1),
};

/* The body of task-queued, task-paused, task-kill-asked and task-archived. */
static const struct record_field task[] = {ANY(task.task, "task")};

#define BODY(fields) .table = RECORD_TABLE(struct fact, fields)
#define FIELDS(...) BODY(((const struct record_field[]){__VA_ARGS__}))

const struct fact_body fact_bodies[FACT_TYPE_MAX + 1] = {
    [FACT_SERVER_STARTED] = {FIELDS(ANY(server_started.epoch, "epoch"),
                                    FIELD(ID16, server_started.server_uuid, NULL, 0, 0))},
    [FACT_RESOURCE_DEFINED] = {FIELDS(
        FIELD(UINT, resource_defined.resource, NULL, 0, RESOURCES_MAX - 1),
        FIELD(TEXT, resource_defined.name, "resource", 0, NAME_LEN_MAX))},
    [FACT_POOL_SET] = {FIELDS(ANY(pool_set.pool, "pool"), OWN(pool_spec)), .newest = 3,
                       .tags_from = 3},
    [FACT_POOL_DELETED] = {FIELDS(ANY(pool_deleted.pool, "pool"))},
    [FACT_NODE_SET] = {FIELDS(ANY(node_set.node, "node"), ANY(node_set.pool, "pool"),
                              ANY(node_set.incarnation, "incarnation"), OWN(node_spec)),
                       .newest = 2, .tags_from = 2},
    [FACT_NODE_STATE] = {FIELDS(
        ANY(node_state.node, "node"),
        WORD(node_state.state, "state", NODE_STATE_COUNT, names_node_state))},
    [FACT_NODE_EDITED] = {FIELDS(ANY(node_edited.node, "node"), OWN(node_edit))},
    /* In version 1 every task was in the project `default`. */
    [FACT_TASK_SUBMITTED] = {FIELDS(ANY(task_submitted.task, "task"),
                                    ANY(task_submitted.pool, "pool"),
                                    ANY(task_submitted.account, NULL, .since = 2,
                                        .before = ACCOUNT_DEFAULT_PROJECT_NUMBER),
                                    OWN(submission)),
                             .newest = 4, .tags_from = 3},
    [FACT_SUBMIT_KEY] = {FIELDS(FIELD(ID16, submit_key.key, NULL, 0, 0),
                                FIELD(ID16, submit_key.body_hash, NULL, 0, 0),
                                ANY(submit_key.first, "first"),
                                FIELD(UINT, submit_key.count, "count", 0, SUBMIT_TASKS_MAX))},
    [FACT_TASK_QUEUED] = {BODY(task)},
    [FACT_TASK_PAUSED] = {BODY(task)},
    [FACT_TASK_EDITED] = {FIELDS(OWN(edit)), .newest = 4, .tags_from = 2},
    [FACT_TASK_KILL_ASKED] = {BODY(task)},
    [FACT_PASS] = {FIELDS(ANY(pass.pool, "pool"), ANY(pass.work, "work"),
                          ANY(pass.placed, "placed"), YES(pass.complete, "complete"))},
    [FACT_ALLOCATED] = {BODY(allocated)},
    [FACT_HEAD_BLOCKED] = {FIELDS(ANY(head.pool, "pool"), ANY(head.task, "task"))},
    [FACT_RESERVED] = {FIELDS(ANY(reserved.pool, "pool"), OWN(reservations)), .newest = 2},
    /* Version 1 does not say whether the working directory was missed. */
    [FACT_ATTEMPT_STARTED] = {FIELDS(KEY(attempt_started.key), TIME(attempt_started.at_ms, NULL),
                                     YES(attempt_started.workdir_missed, NULL, .since = 2)),
                              .newest = 2},
    [FACT_ATTEMPT_STOPPING] = {FIELDS(
        KEY(attempt_stopping.key),
        WORD(attempt_stopping.cause, "end", END_CAUSE_COUNT, names_end_cause),
        TIME(attempt_stopping.deadline_ms, NULL))},
    [FACT_ATTEMPT_ENDED] = {BODY(attempt_ended), .newest = 2},
    /* In version 1 the end of a task released all tasks that waited for it. */
    [FACT_TASK_ENDED] = {FIELDS(ANY(task_ended.task, "task"),
                                WORD(task_ended.state, "state", TASK_STATE_COUNT, names_task_state),
                                WORD(task_ended.cause, "end", END_CAUSE_COUNT, names_end_cause),
                                FIELD(INT, task_ended.exit_code, "exit_code", INT32_MIN, INT32_MAX),
                                ANY(task_ended.released, NULL, .since = 2, .before = UINT32_MAX)),
                         .newest = 2},
    [FACT_TASK_ARCHIVED] = {BODY(task)},
    [FACT_SUBMIT_KEYS_EXPIRED] = {FIELDS(TIME(keys_expired.before_ms, NULL))},
    [FACT_ACCOUNT_SET] = {FIELDS(ANY(account_set.account, NULL), ANY(account_set.parent, NULL),
                                 OWN(account_spec)),
                          .newest = 2, .tags_from = 2},
    [FACT_ACCOUNT_DELETED] = {FIELDS(ANY(account_deleted.account, "account"))},
    [FACT_QUOTA_SET] = {FIELDS(ANY(quota_set.account, "account"), ANY(quota_set.pool, "pool"),
                               OWN(quota_terms)),
                        .newest = 2, .tags_from = 2},
    [FACT_CLAIMED] = {BODY(allocated)},
    [FACT_CLAIM_DROPPED] = {FIELDS(
        ANY(claim_dropped.task, "task"),
        FIELD(UINT, claim_dropped.index, NULL, 0, TASK_INSTANCES_MAX - 1))},
    [FACT_EVICTED] = {FIELDS(KEY(evicted.key), TIME(evicted.deadline_ms, NULL),
                             FIELD(PART, evicted.why, NULL, 0, 0, .part = &fact_bodies_eviction))},
    [FACT_POOL_WAKE] = {FIELDS(ANY(pool_wake.pool, "pool"), TIME(pool_wake.at_ms, "at"))},
    [FACT_TASK_MOVED] = {FIELDS(
        ANY(task_moved.task, "task"), ANY(task_moved.other, NULL), YES(task_moved.behind, NULL),
        FIELD(ROWS, task_moved.ranks, NULL, 0, MOVE_TASKS_MAX + 1, .part = &rank_table,
              .count_offset = offsetof(struct fact, task_moved.rank_count)))},
    [FACT_DEPENDENTS_RELEASED] = {FIELDS(ANY(released.task, "task"), ANY(released.count, "count"))},
    [FACT_HISTORY_TICKED] = {FIELDS(ANY(history_ticked.pool, "pool"))},
    [FACT_DEFAULTS_SET] = {FIELDS(
        FIELD(TEXT, defaults_set.pools[POOL_DEFAULT_GPU], NULL, 1, NAME_LEN_MAX),
        FIELD(TEXT, defaults_set.pools[POOL_DEFAULT_CPU], NULL, 1, NAME_LEN_MAX))},
    [FACT_LAUNCH_ASKED] = {FIELDS(ANY(launch.launch, "launch"), ANY(launch.pool, "pool"))},
    [FACT_LAUNCH_CHANGED] = {FIELDS(ANY(launch.launch, "launch"), ANY(launch.pool, "pool"),
                                    FIELD(WORD, launch.state, "state", LAUNCH_REQUESTED,
                                          LAUNCH_STATE_COUNT - 1, .word = names_launch_state),
                                    ANY(launch.node, "node"),
                                    FIELD(TEXT, launch.name, "machine", 0, TEXT_LEN_MAX),
                                    FIELD(TEXT, launch.words, "message", 0, TEXT_LEN_MAX))},
    [FACT_LAUNCH_ENDED] = {FIELDS(ANY(launch.launch, "launch"), ANY(launch.pool, "pool"),
                                  YES(launch.failed, "failed"),
                                  FIELD(TEXT, launch.words, "message", 0, TEXT_LEN_MAX))},
    [FACT_ATTEMPT_CHECKPOINT] = {FIELDS(KEY(attempt_checkpoint.key),
                                        TIME(attempt_checkpoint.at_ms, "at"))},
};
