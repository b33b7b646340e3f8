/* store_internal.h - the store's struct, shared by the files that commit, prune and open.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/datadir.h"
#include "store/logstore.h"
#include "store/sqlite/ack.h"
#include "store/sqlite/db.h"
#include "store/sqlite/sum.h"
#include "store/store.h"

#include <sys/types.h>

/* The statements, prepared once at open. store.c has their texts. */
enum stmt {
    STMT_BEGIN,
    STMT_COMMIT,
    STMT_ROLLBACK,
    STMT_FACT_PUT,
    STMT_FACT_LAST,
    STMT_FACT_GET,
    STMT_FACT_FIRST,
    STMT_FACT_PAGE,
    STMT_FACT_PRUNE,
    STMT_HISTORY_PUT,
    STMT_HISTORY_OLDEST,
    STMT_HISTORY_DELETE,
    STMT_ATTEMPT_PUT,
    STMT_ATTEMPT_DELETE,
    STMT_ATTEMPT_END,
    STMT_PIECE_PUT,
    STMT_DAY_ADD,
    STMT_NODE_ADD,
    STMT_PIECE_OLDEST,
    STMT_PIECE_PRUNE,
    STMT_DAY_OLDEST,
    STMT_DAY_PRUNE,
    STMT_NODE_PRUNE,
    STMT_CHUNK_PUT,
    STMT_CHUNK_END,
    STMT_CHUNK_FIRST,
    STMT_CHUNK_DELETE,
    STMT_SEGMENT_ADD,
    STMT_SEGMENT_TAKE,
    STMT_SEGMENT_LAST,
    STMT_SEGMENT_DAMAGED,
    STMT_SEGMENT_KNOWN,
    STMT_SEGMENT_EMPTY,
    STMT_SEGMENT_DELETE,
    STMT_SNAPSHOT_PUT,
    STMT_SNAPSHOT_SECOND,
    STMT_SNAPSHOT_CRC,
    STMT_SNAPSHOT_OLDER,
    STMT_SNAPSHOT_DELETE,
    STMT_TOKEN_PUT,
    STMT_TOKEN_DELETE,
    STMT_TOKEN_ALL,
};
enum { STMT_COUNT = STMT_TOKEN_ALL + 1 };

/* How far a stream is known. The entries form a small cache in front of table log_chunk. */
struct stream_end {
    uint64_t task; /* 0: the entry is free */
    uint64_t end;
    uint32_t index;
    uint32_t attempt;
    uint32_t stream;
};
enum { STREAM_ENDS = 1024 };

/* Chunks that the running transaction puts into one segment. */
struct segment_count {
    uint64_t segment;
    uint64_t chunks;
    uint64_t bytes;
};

/* The files that SQLite writes. */
enum { STORE_DB, STORE_WAL, STORE_SHM, STORE_FILES };

/* Which file it is that the store has open. */
struct store_file {
    dev_t device;
    ino_t inode; /* 0: not looked at yet */
    int64_t bytes;
    char *path; /* NULL: file_look() has not looked at the file yet */
};

struct store {
    char *dir;
    int lock_fd;
    uint64_t facts_keep;
    int64_t history_keep_ms;
    sqlite3 *db;
    sqlite3_stmt *stmt[STMT_COUNT];
    struct logstore *log;
    struct stream_end ends[STREAM_ENDS];
    uint64_t last_seq;
    uint32_t last_sum;     /* the checksum of fact last_seq; 0: there is no such fact */
    int ack_fd;            /* of the file `acknowledged`; -1: not open */
    struct ack ack;        /* what the file says */
    bool ack_begun;        /* the database has all that the file said at the start */
    bool ack_salt_stale;   /* the write-ahead log may have begun anew: read its salt again */
    int wal_frames;        /* frames of the write-ahead log after the last commit */
    int wal_pages;         /* pages of the write-ahead log after the last commit */
    int wal_pages_tend_at; /* store_commit_tend() acts from this many pages on */
    struct store_file files[STORE_FILES];
    unsigned cut;   /* 1 + the number of the file that was cut while the store was open; 0: none */
    bool wal_short; /* before this commit the write-ahead log was shorter than it should be */
    bool stale;     /* a call failed: read last_seq and the log's end from disk first */
};

/* store_identity.c: do the parts of the directory belong together? ERR_CORRUPT says what was found and
 * the ways on. */

/* Before the directory is opened: refuses a missing database beside other parts. */
must_use enum err store_identity_before(const char *dir, struct error *e);

/* Gives database and parts their identity at first, and compares it from then on. */
must_use enum err store_identity_ensure(sqlite3 *db, const char *dir, struct error *e);

/* The comparison alone, for `weir db check`. */
must_use enum err store_identity_match(sqlite3 *db, const char *dir, struct error *e);

/* Writes the identity of the database into the parts of its copy. */
must_use enum err store_identity_copy(sqlite3 *db, const char *to, struct error *e);

/* Notes a snapshot file in a new database. */
must_use enum err store_identity_snapshot_note(sqlite3 *db, const char *dir, uint64_t seq,
                                               struct error *e);

/* After a failure, reads last_seq and the log's end from disk again. Cheap when nothing failed. */
must_use enum err store_sync_up(struct store *store, struct error *e);

/* Before a commit: are the files that the commit goes to still those of the directory? Otherwise nobody would find what is
 * stored. */
must_use enum err store_present(struct store *store, struct error *e);

/* After a commit: was the write-ahead log cut before? */
must_use enum err store_present_after(struct store *store, struct error *e);

/* After a commit: notes in the file `acknowledged` how far the store got. */
void store_commit_note(struct store *store);

/* Ends a failed transaction, and drops its changes in memory. */
void store_commit_undo(struct store *store);

/* Removes segments whose rows a commit removed just before a crash. */
void store_prune_orphans(struct store *store);

/* Removes an ended task with its attempts and output, in the open transaction. */
must_use enum err store_prune_task(struct store *store, uint64_t task, struct error *e);

/* Stores the log chunks of a batch: adds index rows to the open transaction, and flushes the data
 * to the segments. */
must_use enum err store_commit_logs(struct store *store, const struct store_log *logs, size_t count,
                                    struct error *e);

/* store_usage.c: counts the uses of a batch in the open transaction. */
must_use enum err store_usage_put(struct store *store, const struct store_use *uses, size_t count,
                                  struct error *e);

/* Forgets the rows of snapshots older than `second`, but for those that a way back to earlier moments needs: their numbers are
 * added to `ret_kept`. Runs in the caller's transaction. */
must_use enum err store_past_thin(struct store *store, uint64_t second,
                                  struct datadir_numbers *ret_kept, struct error *e);

/* Removes pieces of the days before `before_ms` and sums of days beyond STORE_USAGE_KEEP_DAYS, within
 * *budget rows. */
must_use enum err store_usage_prune(struct store *store, int64_t now_ms, int64_t before_ms,
                                    size_t *budget, struct error *e);
