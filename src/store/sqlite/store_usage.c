/* store_usage.c - counts what tasks use, in the transaction of their facts; see store_usage.h.
 *
 * A use is cut at midnight (UTC): each piece goes to its day, to the sums of the day and to the sums of the
 * node's day. Pieces of one batch that belong to one row of sums are added up first. The wait stands with the first piece, the end with the last.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/meta.h"
#include "store/sqlite/store_internal.h"
#include "store/sqlite/usage_sql.h"
#include "store/store_usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int64_t store_usage_amount(int64_t slots_milli, int64_t ms)
{
    if (slots_milli <= 0 || ms <= 0) {
        return 0;
    }
    const __int128 amount = (__int128)slots_milli * ms / 1000;
    return amount < STORE_USAGE_AMOUNT_MAX ? (int64_t)amount : STORE_USAGE_AMOUNT_MAX;
}

struct usage_piece {
    const struct store_use *use;
    int64_t day;
    int64_t begin_ms;
    int64_t end_ms;
    int64_t waited;
    int64_t asked;
    enum store_use_end ending;
    int64_t sums[USAGE_SUM_COUNT];
};

/* What pieces of one batch add to one row of sums: the row is changed once, not once for each piece. */
struct usage_group {
    const struct store_use *use; /* says which row */
    int64_t day;
    int64_t sums[USAGE_SUM_COUNT];
};

struct usage_sums_kind {
    bool (*same)(const struct store_use *a, const struct store_use *b); /* one row, if one day */
    enum err (*write)(struct store *store, const struct usage_group *group, struct error *e);
};

enum { USAGE_GROUPS_MAX = 16 };
struct usage_groups {
    const struct usage_sums_kind *kind;
    size_t count;
    struct usage_group group[USAGE_GROUPS_MAX];
};

struct usage_counts {
    struct usage_groups days;
    struct usage_groups nodes;
};

static void sums_fill(struct usage_piece *piece)
{
    const struct store_use *use = piece->use;
    const int64_t lost_ms =
        use->lost_from_ms > piece->begin_ms ? use->lost_from_ms : piece->begin_ms;
    int64_t *sums = piece->sums;
    sums[USAGE_ASKED] = piece->asked;
    sums[USAGE_USED] = store_usage_amount(use->slots_milli, piece->end_ms - piece->begin_ms);
    sums[USAGE_LOST] = store_usage_amount(use->slots_milli, piece->end_ms - lost_ms);
    sums[USAGE_WAITED] = piece->waited;
    sums[USAGE_COMPLETED] = piece->ending == USE_COMPLETED;
    sums[USAGE_FAILED] = piece->ending == USE_FAILED;
    sums[USAGE_KILLED] = piece->ending == USE_KILLED;
    sums[USAGE_UNAVAILABLE] = piece->ending == USE_UNAVAILABLE;
    sums[USAGE_UNKNOWN] = piece->ending == USE_UNKNOWN;
    sums[USAGE_TRIES] = piece->ending >= USE_TRY;
    sums[USAGE_TRIES_BAD] = piece->ending == USE_TRY_BAD;
    sums[USAGE_EVICTED] = piece->ending == USE_TRY_EVICTED;
    sums[USAGE_NODE_LOST] = piece->ending == USE_TRY_NODE_LOST;
}

static enum err piece_put(struct store *store, const struct usage_piece *piece, struct error *e)
{
    const struct store_use *use = piece->use;
    struct sum_row bound;
    sum_row_begin(&bound, store->stmt[STMT_PIECE_PUT]);
    sum_row_i64(&bound, piece->day);
    sum_row_u64(&bound, use->task);
    sum_row_i64(&bound, use->index);
    sum_row_i64(&bound, use->attempt);
    sum_row_i64(&bound, piece->begin_ms);
    sum_row_i64(&bound, piece->end_ms);
    sum_row_i64(&bound, use->lost_from_ms);
    sum_row_i64(&bound, use->slots_milli);
    sum_row_i64(&bound, piece->asked);
    sum_row_i64(&bound, piece->waited);
    sum_row_i64(&bound, piece->ending);
    sum_row_i64(&bound, use->kind);
    sum_row_text(&bound, use->pool);
    sum_row_text(&bound, use->user);
    sum_row_text(&bound, use->project);
    sum_row_text(&bound, use->node);
    sum_row_end(&bound);
    return db_run(bound.stmt, "store what an attempt used", e);
}

static enum err day_add(struct store *store, const struct usage_group *group, struct error *e)
{
    const struct store_use *use = group->use;
    sqlite3_stmt *stmt = store->stmt[STMT_DAY_ADD];
    db_bind_i64(stmt, 1, group->day);
    db_bind_text(stmt, 2, use->pool);
    db_bind_text(stmt, 3, use->project);
    db_bind_text(stmt, 4, use->user);
    db_bind_i64(stmt, 5, use->kind);
    for (int i = 0; i < USAGE_SUM_COUNT; i++) {
        db_bind_i64(stmt, 6 + i, group->sums[i]);
    }
    return db_run(stmt, "count a day's use", e);
}

static enum err node_add(struct store *store, const struct usage_group *group, struct error *e)
{
    static const enum store_usage_sum kept[] = {USAGE_USED,      USAGE_LOST,    USAGE_TRIES,
                                                USAGE_TRIES_BAD, USAGE_EVICTED, USAGE_NODE_LOST};
    sqlite3_stmt *stmt = store->stmt[STMT_NODE_ADD];
    db_bind_i64(stmt, 1, group->day);
    db_bind_text(stmt, 2, group->use->pool);
    db_bind_text(stmt, 3, group->use->node);
    for (int i = 0; i < (int)(sizeof kept / sizeof *kept); i++) {
        db_bind_i64(stmt, 4 + i, group->sums[kept[i]]);
    }
    return db_run(stmt, "count a node's use", e);
}

static bool day_same(const struct store_use *a, const struct store_use *b)
{
    return a->kind == b->kind && str_equal(a->pool, b->pool) && str_equal(a->user, b->user) &&
           str_equal(a->project, b->project);
}

static bool node_same(const struct store_use *a, const struct store_use *b)
{
    return str_equal(a->node, b->node) && str_equal(a->pool, b->pool);
}

static const struct usage_sums_kind sums_of_day = {day_same, day_add};
static const struct usage_sums_kind sums_of_node = {node_same, node_add};

static enum err groups_write(struct store *store, struct usage_groups *groups, struct error *e)
{
    for (size_t i = 0; i < groups->count; i++) {
        enum err r = groups->kind->write(store, &groups->group[i], e);
        if (r != ERR_OK) {
            return fail_in(e, "task %llu", (unsigned long long)groups->group[i].use->task);
        }
    }
    groups->count = 0;
    return ERR_OK;
}

/* Adds a piece to the group of its row. All groups are written when there is no place for one more. */
static enum err groups_add(struct store *store, struct usage_groups *groups,
                           const struct usage_piece *piece, struct error *e)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct usage_group *group = &groups->group[i];
        if (group->day == piece->day && groups->kind->same(group->use, piece->use)) {
            for (int j = 0; j < USAGE_SUM_COUNT; j++) {
                const int64_t sum = group->sums[j] + piece->sums[j];
                group->sums[j] = sum < USAGE_ROW_MAX ? sum : USAGE_ROW_MAX;
            }
            return ERR_OK;
        }
    }
    enum err r = groups->count < USAGE_GROUPS_MAX ? ERR_OK : groups_write(store, groups, e);
    if (r == ERR_OK) {
        struct usage_group *group = &groups->group[groups->count++];
        *group = (struct usage_group){.use = piece->use, .day = piece->day};
        memcpy(group->sums, piece->sums, sizeof group->sums);
    }
    return r;
}

static enum err piece_count(struct store *store, struct usage_counts *counts,
                            struct usage_piece *piece, struct error *e)
{
    sums_fill(piece);
    enum err r = piece_put(store, piece, e);
    if (r == ERR_OK) {
        r = groups_add(store, &counts->days, piece, e);
    }
    return r == ERR_OK && piece->use->node.len > 0 ? groups_add(store, &counts->nodes, piece, e)
                                                   : r;
}

/* How long the attempt waited for its place: since the end of the attempt before, or the submission. */
static enum err wait_of(struct store *store, const struct store_use *use, int64_t *ret_ms,
                        struct error *e)
{
    int64_t from_ms = 0;
    if (use->attempt > 1) {
        sqlite3_stmt *stmt = store->stmt[STMT_ATTEMPT_END];
        db_bind_u64(stmt, 1, use->task);
        db_bind_i64(stmt, 2, use->index);
        db_bind_i64(stmt, 3, (int64_t)use->attempt - 1);
        enum err r = db_number(stmt, 0, &from_ms, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    from_ms = from_ms > 0 ? from_ms : use->submitted_ms;
    *ret_ms = use->begin_ms > from_ms ? use->begin_ms - from_ms : 0;
    return ERR_OK;
}

static enum err use_put(struct store *store, struct usage_counts *counts,
                        const struct store_use *use, struct error *e)
{
    const int64_t last = use->end_ms / STORE_DAY_MS;
    int64_t first = use->begin_ms / STORE_DAY_MS;
    int64_t waited = use->waited;
    if (use->submitted_ms > 0) {
        int64_t ms;
        enum err r = wait_of(store, use, &ms, e);
        if (r != ERR_OK) {
            return r;
        }
        waited = store_usage_amount(use->slots_milli, ms);
    }
    first = last - first < STORE_USE_DAYS_MAX ? first : last - STORE_USE_DAYS_MAX + 1;
    for (int64_t day = first; day <= last; day++) {
        const int64_t midnight_ms = day * STORE_DAY_MS;
        struct usage_piece piece = {
            .use = use,
            .day = day,
            .begin_ms = day == first ? use->begin_ms : midnight_ms,
            .end_ms = day == last ? use->end_ms : midnight_ms + STORE_DAY_MS,
            .waited = day == first ? waited : 0,
            .asked = day == last ? use->asked : 0,
            .ending = day == last ? use->ending : USE_GOES_ON,
        };
        enum err r = piece_count(store, counts, &piece, e);
        if (r != ERR_OK) {
            return fail_in(e, "task %llu", (unsigned long long)use->task);
        }
    }
    return ERR_OK;
}

enum err store_usage_put(struct store *store, const struct store_use *uses, size_t count,
                         struct error *e)
{
    struct usage_counts counts;
    counts.days.kind = &sums_of_day;
    counts.days.count = 0;
    counts.nodes.kind = &sums_of_node;
    counts.nodes.count = 0;
    for (size_t i = 0; i < count; i++) {
        must(uses[i].begin_ms >= 0);
        must(uses[i].end_ms >= uses[i].begin_ms);
        enum err r = use_put(store, &counts, &uses[i], e);
        if (r != ERR_OK) {
            return r;
        }
    }
    enum err r = groups_write(store, &counts.days, e);
    return r == ERR_OK ? groups_write(store, &counts.nodes, e) : r;
}

/* The note comes first: store_usage_read() no longer reads the pieces of a day that is partly removed. */
static enum err pieces_prune(struct store *store, int64_t before, size_t *budget, struct error *e)
{
    int64_t oldest;
    enum err r = db_number(store->stmt[STMT_PIECE_OLDEST], INT64_MAX, &oldest, e);
    if (r != ERR_OK || oldest >= before || *budget == 0) {
        return r;
    }
    char day[META_VALUE_MAX];
    (void)snprintf(day, sizeof day, "%" PRId64, before);
    r = meta_put(store->db, "usage_pieces_from", day, e);
    if (r == ERR_OK) {
        db_bind_i64(store->stmt[STMT_PIECE_PRUNE], 1, before);
        db_bind_u64(store->stmt[STMT_PIECE_PRUNE], 2, *budget);
        r = db_run(store->stmt[STMT_PIECE_PRUNE], "delete what attempts used", e);
    }
    if (r == ERR_OK) {
        *budget -= (size_t)sqlite3_changes(store->db);
    }
    return r;
}

/* One day a call: a server that runs removes one day each day. */
static enum err days_prune(struct store *store, int64_t before, size_t *budget, struct error *e)
{
    int64_t oldest;
    enum err r = db_number(store->stmt[STMT_DAY_OLDEST], INT64_MAX, &oldest, e);
    if (r != ERR_OK || oldest >= before || *budget == 0) {
        return r;
    }
    db_bind_i64(store->stmt[STMT_DAY_PRUNE], 1, oldest);
    r = db_run(store->stmt[STMT_DAY_PRUNE], "delete a day's sums", e);
    if (r == ERR_OK) {
        const size_t gone = (size_t)sqlite3_changes(store->db);
        *budget -= gone < *budget ? gone : *budget;
        db_bind_i64(store->stmt[STMT_NODE_PRUNE], 1, oldest);
        r = db_run(store->stmt[STMT_NODE_PRUNE], "delete a day's sums of nodes", e);
    }
    return r;
}

enum err store_usage_prune(struct store *store, int64_t now_ms, int64_t before_ms, size_t *budget,
                           struct error *e)
{
    enum err r = ERR_OK;
    if (before_ms > 0) {
        r = pieces_prune(store, before_ms / STORE_DAY_MS, budget, e);
    }
    return r == ERR_OK ? days_prune(store, now_ms / STORE_DAY_MS - STORE_USAGE_KEEP_DAYS, budget, e)
                       : r;
}
