/* store.h - what is on disk: facts, snapshots, history, logs' index, tokens. One writer (the store
 * thread calls store_commit), any number of readers with connections of their own. Blocking; knows
 * nothing of threads or of the core's types.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct store;
struct store_reader;

enum {
    STORE_HISTORY_PAGE_MAX = 10000, /* rows of one store_history_list(); more are not given */
    STORE_FINDINGS_MAX = 1000,
    STORE_PAGE_BYTES = 4096,        /* of the database */
    STORE_WAL_BYTES = 4 << 20,      /* write-ahead log that store_commit_tend() leaves alone */
    STORE_WAL_BYTES_MAX = 16 << 20, /* beyond it store_commit() tends by itself */
};
#define STORE_SNAPSHOT_BYTES_MAX (UINT64_C(4) << 30)
#define STORE_LOG_OFFSET_MAX (UINT64_C(1) << 53) /* end of one stream of an attempt */

struct store_options {
    const char *dir;         /* data directory; made with mode 0711 when missing */
    uint64_t facts_keep;     /* facts older than the last snapshot that are kept for replay (default
                                1,000,000) */
    int64_t history_keep_ms; /* ended tasks older than this go (default 90 days); 0: keep all */
};

struct store_fact {
    uint64_t seq;
    int64_t time_ms;
    uint32_t type;
    struct str body; /* as fact_encode() wrote it */
};

/* An ended task: columns to filter by, and the object as the API shows it. */
struct store_history {
    uint64_t task;
    int64_t submitted_ms;
    int64_t ended_ms;
    uint32_t state;
    uint32_t kind;
    struct str pool;
    struct str user;
    struct str project;
    struct str name;
    struct str json;
};

/* A piece of output. `data` goes to the log segments before the transaction that names it. Pieces
 * of a stream come in order of their offsets; what is known already (a repeated or overlapping
 * piece) is left out. */
struct store_log {
    uint64_t task;
    uint32_t index;
    uint32_t attempt;
    uint32_t stream; /* 1 stdout, 2 stderr */
    uint64_t offset;
    int64_t time_ms;
    struct str data;
};

struct store_token {
    uint8_t hash[32];
    char id[24];    /* shown; not secret */
    char scope[16]; /* "admin", "read", "node", "join" */
    char name[64];  /* the user, or the node, or the pool */
    int64_t created_ms;
    int64_t expires_ms; /* 0: never */
    bool revoked;       /* put with revoked = true deletes it */
};

struct store_batch {
    const struct store_fact *facts;
    size_t fact_count;
    const struct store_history *history;
    size_t history_count;
    const struct store_log *logs;
    size_t log_count;
    const struct store_token *tokens;
    size_t token_count;
};

/* Opens or creates; takes the directory's lock (ERR_CONFLICT names the process that holds it),
 * migrates the schema (a newer one is refused: ERR_CORRUPT with both versions). */
must_use enum err store_open(const struct store_options *options, struct store **ret,
                             struct error *e);
void store_close(struct store *store);

/* All of it, durable, or nothing (ERR_IO: full disk, failed write; ERR_BUSY: locked for too long by
 * another process; ERR_INVALID: a log offset out of range). Logs are appended and flushed first.
 * After a failure the next call starts afresh and may succeed. Facts must continue the stored
 * numbers (else ERR_INTERNAL). */
must_use enum err store_commit(struct store *store, const struct store_batch *batch,
                               struct error *e);

/* The number of the newest stored fact; 0: none. */
uint64_t store_commit_last_seq(const struct store *store);

/* Housekeeping that would cost a commit its latency (moves a grown write-ahead log into the
 * database). Call between batches, once the answers to the last are out; usually does nothing. */
must_use enum err store_commit_tend(struct store *store, struct error *e);

/* The newest snapshot below fact `before` (UINT64_MAX: of all): its fact number and bytes (in
 * `arena`); seq 0 when there is none. ERR_CORRUPT names the file that is damaged; its number is then
 * in *ret_seq, so that the caller may ask for the one before it: with more facts it gives the same
 * state. */
must_use enum err store_snapshot_load(struct store *store, uint64_t before, struct arena *arena,
                                      uint64_t *ret_seq, struct str *ret, struct error *e);

/* The name of a snapshot's file, for messages (in `arena`). */
const char *store_snapshot_path(const struct store *store, uint64_t seq, struct arena *arena);

/* Every fact after `seq`, in order, in pages; stops when the callback fails. A gap in the numbers
 * is ERR_CORRUPT. The callback must not use the store. */
typedef enum err (*store_fact_fn)(void *ctx, const struct store_fact *fact, struct error *e);
must_use enum err store_facts_after(struct store *store, uint64_t seq, store_fact_fn fn, void *ctx,
                                    struct error *e);

/* Write a snapshot to a file beside the database: temporary name, flush, rename, flush of the
 * directory. May be called from another thread than the committing one. store_prune_snapshot_taken() then
 * records it and removes snapshots but the two newest (on the store thread); store_prune() can then
 * take old facts. ERR_CONFLICT: the facts it holds were never stored; it is removed. */
must_use enum err store_snapshot_write(const char *dir, uint64_t seq, struct str bytes,
                                       struct error *e);
must_use enum err store_prune_snapshot_taken(struct store *store, uint64_t seq, struct error *e);

/* Retention: history rows, log segments nobody refers to, old facts. Bounded work per call; true
 * while there is more.
 */
must_use enum err store_prune(struct store *store, int64_t now_ms, bool *ret_more, struct error *e);

/* Every token, through the callback. */
typedef void (*store_token_fn)(void *ctx, const struct store_token *token);
must_use enum err store_tokens(struct store *store, store_token_fn fn, void *ctx, struct error *e);

/* ---- readers: own read-only connection, for the reader thread ---- */

must_use enum err store_reader_open(const char *dir, struct store_reader **ret, struct error *e);
void store_reader_close(struct store_reader *reader);

/* One ended task's JSON into `arena`; ERR_NOT_FOUND. */
must_use enum err store_history_get(struct store_reader *reader, uint64_t task, struct arena *arena,
                                    struct str *ret_json, struct error *e);

struct store_history_filter {
    uint64_t before;  /* only ids below; 0: from the newest */
    uint64_t states;  /* bit per task_state; 0: all */
    uint64_t kinds;   /* bit per task_kind; 0: all */
    const char *pool; /* NULL: any */
    const char *user;
    const char *project;
    const char *name;       /* exact */
    int64_t ended_after_ms; /* 0: any */
    size_t limit;
};

/* Newest first. */
typedef void (*store_history_fn)(void *ctx, const struct store_history *row);
must_use enum err store_history_list(struct store_reader *reader,
                                     const struct store_history_filter *filter, store_history_fn fn,
                                     void *ctx, struct error *e);

/* Facts with seq > after, at most `limit`; for event streams that resume. ERR_NOT_FOUND when
 * `after` is older than what is kept. */
must_use enum err store_reader_facts(struct store_reader *reader, uint64_t after, size_t limit,
                                     store_fact_fn fn, void *ctx, struct error *e);

/* Log bytes of one attempt and stream (0: both, in order of arrival) from chunk number `after` on,
 * at most `max` bytes.
 */
struct store_log_piece {
    uint64_t number; /* pass as `after` to go on */
    uint32_t index;
    uint32_t attempt;
    uint32_t stream;
    uint64_t offset;
    int64_t time_ms;
    struct str data;
};
typedef void (*store_log_fn)(void *ctx, const struct store_log_piece *piece);
struct store_log_filter {
    uint64_t task;
    int64_t index;   /* -1: all */
    int64_t attempt; /* -1: all, 0: the newest of each instance */
    uint32_t stream; /* 0: both */
    uint64_t after;  /* chunk number */
    size_t bytes_max;
};
must_use enum err store_reader_logs(struct store_reader *reader,
                                    const struct store_log_filter *filter, struct arena *arena,
                                    store_log_fn fn, void *ctx, struct error *e);

/* ---- `weir db` ---- */

/* A consistent copy of a data directory (a server may be running) into one new directory. It
 * appears whole: until then it is called TO.partial. ERR_CONFLICT when either exists. */
must_use enum err store_backup(const char *dir, const char *to, struct error *e);
/* Puts a backup into an empty or missing data directory (else ERR_CONFLICT). The database comes
 * last: a directory whose restore was interrupted has none. */
must_use enum err store_backup_restore(const char *from, const char *dir, struct error *e);
/* Integrity: database pages, fact numbers without gaps, snapshots whole, log segments as the index
 * says. Findings, each naming file and place, go to the callback (at most STORE_FINDINGS_MAX and a
 * last one that says so); `decode` (NULL: none) says whether a snapshot means something. ERR_OK when
 * the check could be made, whatever it found. */
struct store_check_fns {
    void (*finding)(void *ctx, const char *text);
    enum err (*decode)(struct str snapshot, struct error *e);
};
must_use enum err store_check(const char *dir, const struct store_check_fns *fns, void *ctx,
                              struct error *e);
