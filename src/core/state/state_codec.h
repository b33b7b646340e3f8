/* state_codec.h - what the writer and the reader of the whole state share: the sections, and the table of each kind of row.
 *
 * Only what cannot be derived is stored: sums, counts, queues, orders and hints are made anew by the
 * reader, so that equal states are equal bytes whichever road led to them.
 * A field that comes later gets a row with `.since = STATE_VERSION_...` in the table of its struct, and STATE_VERSION grows by one.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/amount.h"
#include "core/model/codec.h"
#include "core/model/record.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#define STATE_MAGIC "weir state"
enum {
    STATE_VERSION_FIRST = 1,    /* before accounts and policies; read for ever */
    STATE_VERSION_ACCOUNTS = 2, /* accounts, policies, claims; where instances run and tasks go */
    STATE_VERSION_TAGS = 3,     /* objects end with the fields that came later */
    STATE_VERSION_HISTORY = 4,  /* a section of what was used before */
    STATE_VERSION_STALE = 5,    /* since when a gang is below its minimum; why tasks were evicted */
    STATE_VERSION_FORMS = 6,    /* shapes have forms */
    STATE_VERSION_TYPICAL = 7,  /* ends with what is usually asked of the pools */
    STATE_VERSION_LENGTHS = 8,  /* reservations with a time, expected lengths */
    STATE_VERSION_CHECKPOINT = 9, /* what instances have saved, what evictions cost */
    STATE_VERSION_RAN = 10,       /* since when tasks run, and how long they ran before */
    STATE_VERSION_GROWTH =
        11, /* nodes, accounts and quotas end with later fields, too; edits are in the blob; what attempts
               used, default pools, launches */
    STATE_VERSION = 11,
};

/* Far above any number that is ever given, far below where sums of numbers wrap. */
#define STATE_ROW_MAX ((int64_t)1 << 60)

/* Rows of tables. STATE_BELOW: a number of another table's row, at most the highest that was ever given. */
#define STATE_FIELD(object, kind, member, least, most, ...)                                        \
    {                                                                                              \
        .type = RECORD_##kind, RECORD_AT(object, member), .low = (least), .high = (most),          \
        __VA_ARGS__                                                                                \
    }
#define STATE_ANY(object, member, ...) STATE_FIELD(object, UINT, member, 0, RECORD_ANY, __VA_ARGS__)
#define STATE_BELOW(object, member, rows, ...)                                                     \
    STATE_ANY(object, member, RECORD_BOUND(struct core, rows.last), __VA_ARGS__)
#define STATE_YES(object, member, ...) STATE_FIELD(object, BOOL, member, 0, 1, __VA_ARGS__)
#define STATE_TIME(object, member, ...)                                                            \
    STATE_FIELD(object, TIME, member, 0, TIME_MS_MAX, __VA_ARGS__)

/* A state that is being read. */
struct state_reader {
    struct core *core;
    struct bytes_reader in;
    struct arena arena; /* for one row at a time */
    uint64_t version;
    struct core head;      /* of this only the numbers that the head has (state_codec_numbers) */
    uint64_t instance_end; /* the last row of an instance so far */
    int64_t key_ms;        /* time of the submission key before */
};

/* A part of the state's bytes. Most sections are a table's rows: their count, then each with its number, ascending. */
struct state_section {
    const char *name; /* in messages */
    uint64_t since;   /* the first version that has the section; 0: all have it */
    size_t table_at;  /* where struct core has the table */
    size_t last_at;   /* where struct core has the highest number of a row; 0: it may be any */
    const struct record_table *fields;
    /* Is the row part of the section? NULL: each is. */
    bool (*has)(const void *row);
    /* What follows the number; NULL: `fields`. */
    void (*put)(const struct core *core, const void *row, struct buf *out);
    /* Reads what follows the number, and makes the row. False: the bytes cannot be right. */
    bool (*get)(struct state_reader *r, uint64_t id);
    /* Before the rows and behind them; or instead of rows, where there is no `get`. */
    void (*begin)(struct core *core);
    bool (*end)(struct state_reader *r);
    void (*put_all)(const struct core *core, struct buf *out);
};

/* In the order of their references, so that each may look at those before it. */
extern const struct state_section state_codec_sections[];
extern const uint32_t state_codec_section_count;

/* Of struct core: what the head begins with, and the numbers given so far. */
extern const struct record_table state_codec_head;
extern const struct record_table state_codec_numbers;

/* The fields of one row; `ret` begins as zeroes. */
void state_codec_read(struct state_reader *r, const struct record_table *fields, void *ret);

/* A row's blob without the name it begins with. */
void state_codec_put_text(const struct blob *text, struct buf *out);

/* Is the request one that decide would have made of some task? */
bool state_codec_request_sound(const struct request *request);

/* Of each section what state_codec_sections says. */
void state_codec_pool_put(const struct core *core, const void *row, struct buf *out);
bool state_codec_pool_get(struct state_reader *r, uint64_t id);
bool state_codec_pool_blocked_sound(struct state_reader *r);
void state_codec_pool_histories_put(const struct core *core, struct buf *out);
bool state_codec_pool_histories_get(struct state_reader *r);
bool state_codec_pool_has_typicals(const void *row);
void state_codec_pool_typicals_put(const struct core *core, const void *row, struct buf *out);
bool state_codec_pool_typicals_get(struct state_reader *r, uint64_t id);
void state_codec_account_begin(struct core *core);
void state_codec_account_put(const struct core *core, const void *row, struct buf *out);
bool state_codec_account_get(struct state_reader *r, uint64_t id);
bool state_codec_account_end(struct state_reader *r);
void state_codec_account_quota_put(const struct core *core, const void *row, struct buf *out);
bool state_codec_account_quota_get(struct state_reader *r, uint64_t id);
void state_codec_node_put(const struct core *core, const void *row, struct buf *out);
bool state_codec_node_get(struct state_reader *r, uint64_t id);
void state_codec_node_shape_put(const struct core *core, const void *row, struct buf *out);
bool state_codec_node_shape_get(struct state_reader *r, uint64_t id);
void state_codec_task_put(const struct core *core, const void *row, struct buf *out);
bool state_codec_task_get(struct state_reader *r, uint64_t id);
bool state_codec_task_end(struct state_reader *r);
extern const struct record_table state_codec_task_key_fields;
bool state_codec_task_key_get(struct state_reader *r, uint64_t id);
extern const struct record_table state_codec_task_outcome_fields;
bool state_codec_task_outcome_get(struct state_reader *r, uint64_t id);
void state_codec_task_lengths_put(const struct core *core, struct buf *out);
bool state_codec_task_lengths_get(struct state_reader *r);
extern const struct record_table state_codec_claim_fields;
bool state_codec_claim_get(struct state_reader *r, uint64_t id);
extern const struct record_table state_codec_claim_eviction_fields;
bool state_codec_claim_eviction_get(struct state_reader *r, uint64_t id);

/* The pools of tasks that name none, and the nodes that providers were asked for. */
void state_codec_launch_defaults_put(const struct core *core, struct buf *out);
bool state_codec_launch_defaults_get(struct state_reader *r);
void state_codec_launch_put(const struct core *core, const void *row, struct buf *out);
bool state_codec_launch_get(struct state_reader *r, uint64_t id);
