/* fact_bodies.c - the bodies of facts as tables of their fields, made of the rows of facts.def, and the fields
 * that have functions of their own.
 *
 * A table that the stored state uses, too (fact_bodies_eviction), has no `.since`, because facts and states
 * count versions separately.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "core/model/limits.h"
#include "core/model/names.h"
#include "core/model/spec_codec.h"
#include "core/state/fact_internal.h"
#include "core/state/ports.h"

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
#define CAUSE(member) WORD(member, "end", END_CAUSE_COUNT, names_end_cause)
#define TEXT(member, json, least, most) FIELD(TEXT, member, json, least, most)
#define ID16(member) FIELD(ID16, member, NULL, 0, 0)
#define COUNT(member) .count_offset = offsetof(struct fact, member)
#define OWN(thing)                                                                                 \
    {                                                                                              \
        .type = RECORD_OWN, .put = thing##_put, .get = thing##_get                                 \
    }

/* Makes the functions of a field that is a pointer to a whole object. `decode` reads the object into `made`. */
#define OBJECT(object, member, encode, decode)                                                     \
    static void object##_put(const void *fact, struct buf *out)                                    \
    {                                                                                              \
        encode(((const struct fact *)fact)->member, out);                                          \
    }                                                                                              \
    static void object##_get(struct bytes_reader *in, struct arena *arena, void *ret)              \
    {                                                                                              \
        struct fact *fact = ret;                                                                   \
        struct object *made = arena_new(arena, struct object, 1);                                  \
        decode;                                                                                    \
        fact->member = made;                                                                       \
    }
OBJECT(pool_spec, pool_set.spec, spec_codec_pool_encode,
       (fact->version > 1 ? spec_codec_pool_decode : spec_codec_pool_decode_v1)(in, arena, made))
OBJECT(node_spec, node_set.spec, spec_codec_node_encode, spec_codec_node_decode(in, arena, made))
OBJECT(account_spec, account_set.spec, spec_codec_account_encode,
       spec_codec_account_decode(in, arena, made))
OBJECT(flavor_spec, flavor_set.spec, spec_codec_flavor_encode,
       spec_codec_flavor_decode(in, arena, made))
OBJECT(network_spec, network_set.spec, spec_codec_network_encode,
       spec_codec_network_decode(in, arena, made))
OBJECT(quota_row, quota_set.row, spec_codec_quota_encode,
       spec_codec_quota_decode(in, RESOURCES_MAX, made))

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
    edit->fields = (uint32_t)bytes_get_max(in, NODE_EDIT_STORED);
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
    const char *bytes = (const char *)in->p;
    spec_codec_task_decode(in, arena, spec);
    fact->task_submitted.spec = spec;
    if (!in->bad && !in->plain) {
        const size_t len = (size_t)((const char *)in->p - bytes);
        fact->task_submitted.spec_bytes = (struct str){arena_dup(arena, bytes, len), len};
    }
    if (!in->bad && !form_fits(fact->task_submitted.form, spec)) {
        codec_bad(in);
    }
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

/* `since_ms` is the time of the fact. */
static const struct record_field bucket[] = {
    ROW(struct bucket, INT, level, "level", INT64_MIN, INT64_MAX),
    ROW(struct bucket, INT, rate, "rate", INT64_MIN, INT64_MAX),
    ROW(struct bucket, INT, most, "most", 0, INT64_MAX),
};
static const struct record_table bucket_table = RECORD_TABLE(struct bucket, bucket);

static const struct record_field reservation[] = {
    ROW(struct reservation, UINT, task, NULL, 0, RECORD_ANY),
    ROW(struct reservation, TIME, until_ms, NULL, 0, TIME_MS_MAX),
    ROW(struct reservation, BOOL, turn, NULL, 0, 1),
};
static const struct record_table reservation_table = RECORD_TABLE(struct reservation, reservation);
static const struct record_table reservation_table_v2 = {
    .fields = reservation, .count = 2, .size = sizeof(struct reservation)};

static const struct record_field reservations =
    FIELD(ROWS, reserved.at, NULL, 0, RESERVATIONS_MAX, .part = &reservation_table,
          COUNT(reserved.count));
static const struct record_field reservations_v2 =
    FIELD(ROWS, reserved.at, NULL, 0, RESERVATIONS_MAX, .part = &reservation_table_v2,
          COUNT(reserved.count));

static void reservations_put(const void *fact, struct buf *out)
{
    record_put_field(&reservations, fact, out);
}

/* A fact of version 1 has at most one reservation, without `until_ms`. */
static void reservations_get(struct bytes_reader *in, struct arena *arena, void *ret)
{
    struct fact *fact = ret;
    if (fact->version > 1) {
        record_get_field(fact->version > 2 ? &reservations : &reservations_v2, in, arena, fact);
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

/* The fields of allocated and claimed. */
#define ALLOCATED                                                                                  \
    KEY(allocated.key), ANY(allocated.node, "node"), ANY(allocated.incarnation, "incarnation"),    \
        FIELD(BITS, allocated.devices, "devices", 0, RECORD_ANY),                                  \
        FIELD(MILLI, allocated.slots_milli, "slots", 0, AMOUNT_MILLI_MAX),                         \
        FIELD(MILLI, allocated.cpu_milli, "cpu", 0, AMOUNT_MILLI_MAX),                             \
        FIELD(MEMORY, allocated.memory_bytes, "memory", 0, AMOUNT_BYTES_MAX)

#define FACT(number, code, type_name, newest_version, tags, ...)                                   \
    [number] = {.name = (type_name),                                                               \
                .table = RECORD_TABLE(struct fact, ((const struct record_field[]){__VA_ARGS__})),  \
                .newest = (newest_version),                                                        \
                .tags_from = (tags)},
const struct fact_body fact_bodies[FACT_TYPE_MAX + 1] = {
#include "core/state/facts.def"
};
