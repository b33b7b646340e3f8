/* state_codec.h - what the writer and the reader of a stored state share: the sections, and the table of
 * fields for each kind of row.
 *
 * Only what cannot be derived is stored. The reader computes sums, counts, queues, orders and hints. So equal
 * states have equal bytes, whatever facts led to them. A new field gets a row with `.since =
 * STATE_VERSION_...` in the table of its struct, and STATE_VERSION grows by one. This header includes what all
 * files of the codec need.
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
    STATE_VERSION_FIRST = 1, /* before accounts and policies; read for ever */
    /* accounts, policies, claims; whether an instance missed its directory; the next pool of a task */
    STATE_VERSION_ACCOUNTS = 2,
    STATE_VERSION_TAGS = 3,    /* objects end with tagged fields */
    STATE_VERSION_HISTORY = 4, /* a section for usage history */
    /* since when gangs are below their minimum; why tasks were evicted */
    STATE_VERSION_STALE = 5,
    STATE_VERSION_FORMS = 6,      /* shapes have forms */
    STATE_VERSION_TYPICAL = 7,    /* a section for typical requests */
    STATE_VERSION_LENGTHS = 8,    /* reservations with a time, expected lengths */
    STATE_VERSION_CHECKPOINT = 9, /* checkpoints of instances, the cost of evictions */
    STATE_VERSION_RAN = 10,       /* since when tasks run, and how long they ran before that */
    /* nodes, accounts and quotas end with tagged fields, too; the blob of a task has all edits */
    STATE_VERSION_GROWTH = 11,
    /* budgets, credits and turns; running tasks that a move in the queue put behind others */
    STATE_VERSION_TURNS = 12,
    STATE_VERSION_LOSSES = 13,  /* losses of instances, and until when tasks wait after a loss */
    STATE_VERSION_ELASTIC = 14, /* failed launches of pools, nodes of launches without work */
    /* tasks with several pools, flavors, zones of launches, the life cycle of pools, tasks that their pools no longer take, nodes that leave, are locked or must be empty by a moment */
    STATE_VERSION_POOLS = 15,
    STATE_VERSION_ZONES =
        16, /* zones in whose lines pools stand, when pools last grew, spare nodes */
    STATE_VERSION_RESTARTS = 17, /* starts in a row of instances that end */
    STATE_VERSION_NETWORKS = 18, /* named networks */
    STATE_VERSION_PORTS = 20,    /* ports at which gangs meet */
    STATE_VERSION_HEALTH = 21,   /* health of instances */
    STATE_VERSION_ROLLOUTS =
        22, /* rollouts, the instances that they hold, first tasks of a row of tasks */
    STATE_VERSION = 22,
};

/* Far above any row number that is ever given, and far below the numbers whose sums could wrap. */
#define STATE_ROW_MAX ((int64_t)1 << 60)

/* Each of these macros makes one row of a table of fields. STATE_BELOW is the number of a row in another
 * table: at most the highest number ever given there. */
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

/* The reading of a state under way. */
struct state_reader {
    struct core *core;
    struct bytes_reader in;
    struct arena arena; /* for one row at a time */
    uint64_t version;
    struct core head;      /* only the numbers of the head of the bytes (state_codec_numbers) */
    uint64_t instance_end; /* the highest instance row so far */
    int64_t key_ms;        /* time of the previous submission key */
};

/* One part of the bytes of a state. Most sections have the rows of one table: the count, then each row with
 * its number, ascending. */
struct state_section {
    const char *name;    /* in messages */
    uint64_t since;      /* the first version that has the section; 0: all have it */
    uint64_t tags_since; /* the first version whose objects have tags; 0: STATE_VERSION_TAGS */
    size_t table_at;     /* offset of the table in struct core */
    size_t last_at; /* offset in struct core of the highest row number; 0: any number is allowed */
    struct record_table
        fields; /* what follows the row's number; none: `put` and `get` handle the row */
    /* offset in the row of a blob that follows the fields, without the name at its beginning; 0: none */
    size_t text_at;
    /* Is the row part of the section? NULL: every row is. */
    bool (*has)(const void *row);
    /* Writes what follows the fields. NULL: nothing does. */
    void (*put)(const struct core *core, const void *row, struct buf *out);
    /* Reads what follows the fields, and makes the row. `read` has the fields. False: the bytes are damaged. */
    bool (*get)(struct state_reader *r, uint64_t id, const void *read);
    /* `begin` runs before the rows are read, `end` after them. A section without `get` has no rows: `end`
     * reads it and `put_all` writes it. */
    void (*begin)(struct core *core);
    bool (*end)(struct state_reader *r);
    void (*put_all)(const struct core *core, struct buf *out);
};
#define STATE_ROWS(rows, numbered)                                                                 \
    .table_at = offsetof(struct core, rows), .last_at = offsetof(struct core, numbered.last)
#define STATE_FIELDS(object, rows) .fields = RECORD_TABLE(object, rows)

/* The sections, in the files of their names. */
extern const struct state_section state_codec_pool, state_codec_pool_history,
    state_codec_pool_typical, state_codec_pool_reserved, state_codec_account,
    state_codec_account_quota, state_codec_node, state_codec_node_shape, state_codec_task,
    state_codec_task_key, state_codec_task_outcome, state_codec_task_length, state_codec_claim,
    state_codec_claim_eviction, state_codec_launch, state_codec_launch_defaults,
    state_codec_fallback, state_codec_fallback_surplus, state_codec_flavor, state_codec_network,
    state_codec_rollout;

/* All sections. Each section refers only to rows of earlier sections. */
enum { STATE_SECTION_COUNT = 21 };
extern const struct state_section *const state_codec_sections[STATE_SECTION_COUNT];

/* Members of struct core in the head of the bytes: first state_codec_head, then the highest row numbers given
 * so far. */
extern const struct record_table state_codec_head;
extern const struct record_table state_codec_numbers;

/* Reads the fields of one row. The caller has set `ret` to zeroes. */
void state_codec_read(struct state_reader *r, const struct record_table *fields, void *ret);

/* Does a task or an entry use each shape? */
bool state_codec_shapes_used(struct state_reader *r);

/* Could a decision have made this request? */
bool state_codec_request_sound(const struct request *request);
