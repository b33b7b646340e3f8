/* store_past.c - the way back to an earlier moment: the older snapshots that stay, and the reader that finds the fact and the
 * snapshot of a moment. docs/dev/adr/0087-back-in-time.md.
 *
 * Holds: PA1 behind any kept fact that a snapshot or the beginning precedes, the nearest of them is at most STORE_PAST_GAP facts
 * away, as long as snapshots come at least that often and the files take less than STORE_PAST_BYTES_MAX. PA2 of three neighbours
 * the middle one stays only where the outer two are further apart than the gap, so there are few files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/reader_internal.h"
#include "store/sqlite/store_internal.h"

#include "base/vec.h"
#include "store/datadir.h"
#include "store/store_snapshot.h"

#include <inttypes.h>

/* A snapshot that is older than the two newest ones. */
struct older {
    uint64_t seq;
    uint64_t bytes;
    bool usable; /* the row's checksum is right, and the facts behind the snapshot are there */
};

struct older_list {
    struct older *at; /* newest first */
    size_t count;
    size_t room;
};

/* `first`: the number of the first fact that is kept; 0: there is none. */
static enum err older_read(struct store *store, uint64_t before, uint64_t first,
                           struct older_list *list, struct error *e)
{
    sqlite3_stmt *stmt = store->stmt[STMT_SNAPSHOT_OLDER];
    db_bind_u64(stmt, 1, before);
    for (;;) {
        bool row;
        enum err r = db_row(stmt, &row, "read snapshots", e);
        if (r != ERR_OK || !row) {
            return r;
        }
        const uint64_t seq = db_u64(stmt, 0);
        const bool whole = sqlite3_column_int(stmt, 2) != 0;
        const bool usable = whole && first != 0 && seq + 1 >= first;
        vec_push(list, ((struct older){seq, db_u64(stmt, 1), usable}));
    }
}

/* Is the snapshot the middle one of three that are closer together than the gap? `above` is the neighbour that stays. */
static bool older_between(const struct older_list *list, size_t index, uint64_t above,
                          uint64_t first)
{
    const bool last = index + 1 == list->count || !list->at[index + 1].usable;
    if (last && first != 1) {
        return false; /* the oldest anchor */
    }
    const uint64_t below = last ? 0 : list->at[index + 1].seq;
    return above - below <= STORE_PAST_GAP;
}

static enum err older_thin(struct store *store, const struct older_list *list, uint64_t above,
                           uint64_t first, struct datadir_numbers *ret_kept, struct error *e)
{
    sqlite3_stmt *delete = store->stmt[STMT_SNAPSHOT_DELETE];
    uint64_t bytes = 0;
    enum err r = ERR_OK;
    for (size_t i = 0; r == ERR_OK && i < list->count; i++) {
        const struct older *old = &list->at[i];
        if (old->usable && bytes + old->bytes <= STORE_PAST_BYTES_MAX &&
            !older_between(list, i, above, first)) {
            bytes += old->bytes;
            above = old->seq;
            vec_push(ret_kept, old->seq);
            continue;
        }
        db_bind_u64(delete, 1, old->seq);
        r = db_run(delete, "forget an old snapshot", e);
    }
    return r;
}

enum err store_past_thin(struct store *store, uint64_t second, struct datadir_numbers *ret_kept,
                         struct error *e)
{
    struct older_list list = {0};
    int64_t first;
    enum err r = db_number(store->stmt[STMT_FACT_FIRST], 0, &first, e);
    r = r == ERR_OK ? older_read(store, second, (uint64_t)first, &list, e) : r;
    r = r == ERR_OK ? older_thin(store, &list, second, (uint64_t)first, ret_kept, e) : r;
    vec_done(&list);
    return r;
}

/* ---- the reader ---- */

static enum err time_of(struct store_reader *reader, uint64_t seq, int64_t *ret_ms, struct error *e)
{
    sqlite3_stmt *stmt = reader->stmt[READ_FACT_TIME];
    db_bind_u64(stmt, 1, seq);
    return db_number(stmt, INT64_MAX, ret_ms, e);
}

enum err store_past_moment(struct store_reader *reader, int64_t at_ms, uint64_t *ret_seq,
                           int64_t *ret_from_ms, struct error *e)
{
    int64_t first = 0;
    int64_t last = 0;
    int64_t ms;
    enum err r = db_number(reader->stmt[READ_FACT_FIRST], 0, &first, e);
    r = r == ERR_OK ? db_number(reader->stmt[READ_FACT_LAST], 0, &last, e) : r;
    r = r == ERR_OK ? time_of(reader, (uint64_t)first, ret_from_ms, e) : r;
    if (r != ERR_OK || first == 0 || *ret_from_ms > at_ms) {
        *ret_seq = 0;
        return r;
    }
    uint64_t low = (uint64_t)first; /* a fact at or before the moment */
    uint64_t high =
        (uint64_t)last + 1; /* the number behind the last fact that may be before the moment */
    while (r == ERR_OK && high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        r = time_of(reader, middle, &ms, e);
        if (ms <= at_ms) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *ret_seq = low;
    return r;
}

enum err store_past_snapshot(struct store_reader *reader, uint64_t seq, struct arena *arena,
                             uint64_t *ret_seq, struct str *ret, struct error *e)
{
    struct datadir_numbers numbers;
    int64_t crc;
    enum err r = datadir_list(reader->dir, "snapshot", ".snap", &numbers, e);
    *ret_seq = 0;
    *ret = (struct str){"", 0};
    if (r != ERR_OK) {
        return r;
    }
    for (size_t i = numbers.count; i > 0 && *ret_seq == 0; i--) {
        *ret_seq = numbers.at[i - 1] <= seq ? numbers.at[i - 1] : 0;
    }
    vec_done(&numbers);
    if (*ret_seq == 0) {
        return ERR_OK;
    }
    db_bind_u64(reader->stmt[READ_SNAPSHOT_CRC], 1, *ret_seq);
    r = db_number(reader->stmt[READ_SNAPSHOT_CRC], -1, &crc, e);
    return r == ERR_OK ? store_snapshot_read(reader->dir, *ret_seq, crc, arena, ret, e) : r;
}
