/* store.h - everything on disk: facts, snapshots, history, index of the logs, tokens. There is one
 * writer (the store thread calls store_commit), and any number of readers with connections of their
 * own. All calls block. The store knows nothing of threads or of the core's types.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct store;
struct store_reader;
struct store_use; /* store_usage.h */

enum {
    STORE_HISTORY_PAGE_MAX = 10000, /* rows of one store_history_list() at most */
    STORE_ATTEMPTS_MAX =
        10000, /* attempts of one task that store_history_attempts() gives at most */
    STORE_TAIL_BYTES_MAX = 64 << 20,
    STORE_FINDINGS_MAX = 1000,
    STORE_PAGE_BYTES = 4096,   /* page size of the database */
    STORE_WAL_BYTES = 4 << 20, /* size of write-ahead log that store_commit_tend() leaves alone */
    /* Above this size of write-ahead log store_commit() moves it by itself. */
    STORE_WAL_BYTES_MAX = 16 << 20,
};
/* Versions of the formats on disk: the digit in the first bytes of each file. */
enum { STORE_SEGMENT_FORMAT = 1, STORE_SNAPSHOT_FORMAT = 1, STORE_ACK_FORMAT = 1 };
/* The newest schema of the database that this program knows. */
int store_schema_version(void);
#define STORE_SNAPSHOT_BYTES_MAX (UINT64_C(4) << 30)
/* Older snapshots that are kept for reads of earlier moments are about so many facts apart, and take so many bytes together. */
#define STORE_PAST_GAP UINT64_C(50000)
#define STORE_PAST_BYTES_MAX (UINT64_C(1) << 30)
#define STORE_LOG_OFFSET_MAX (UINT64_C(1) << 53) /* largest end of one stream of an attempt */

struct store_options {
    const char *dir; /* data directory; made with mode 0711 when missing */
    /* Facts older than the last snapshot that are kept for replay (default 1,000,000). */
    uint64_t facts_keep;
    /* Ended tasks older than this are removed (default 90 days); 0: keep all. */
    int64_t history_keep_ms;
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

/* An attempt that has ended while its task goes on, as the API shows the attempt. */
struct store_attempt {
    uint64_t task;
    uint32_t index;
    uint32_t attempt;
    int64_t ended_ms;
    struct str json;
};

/* A piece of output. `data` goes to the log segments before the transaction with its index row
 * commits. The pieces of a stream come in order of their offsets. Bytes that are known already (of
 * a repeated or overlapping piece) are left out. */
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
    char id[24];    /* shown to users; not secret */
    char scope[16]; /* "admin", "read", "node", "join" or "session" */
    char name[64];  /* of the user, the node or the pool */
    int64_t created_ms;
    int64_t expires_ms; /* 0: never */
    int64_t uses;       /* of "join": joins left; -1: none; 0: any number, from this machine only */
    char pool[64];      /* of "join" and "node": the only pool; "": any */
    char node[64];      /* of "join": the only node, "": any; of "session": the id of its token */
    char machine[40];   /* of "node", and of a used-up "join": the machine; "": not known */
    bool revoked;       /* a batch deletes a token that it puts with revoked = true */
};

struct store_batch {
    const struct store_fact *facts;
    size_t fact_count;
    const struct store_history *history;
    size_t history_count;
    const struct store_attempt *attempts;
    size_t attempt_count;
    const struct store_use *uses;
    size_t use_count;
    const struct store_log *logs;
    size_t log_count;
    const struct store_token *tokens;
    size_t token_count;
    const uint64_t
        *forgotten; /* ended tasks that leave the history, with their attempts and output */
    size_t forgotten_count;
};

/* Opens or creates a store. Takes the directory's lock (ERR_CONFLICT names the holder). Migrates
 * the schema; a newer schema is refused (ERR_CORRUPT with both versions). */
must_use enum err store_open(const struct store_options *options, struct store **ret,
                             struct error *e);
void store_close(struct store *store);

/* Stores the whole batch on disk, or nothing. Logs are flushed first. ERR_IO: full disk, failed
 * write. ERR_BUSY: another process held a lock for too long. ERR_INVALID: the store refuses the
 * content of a row or the offset of a piece of output. ERR_INTERNAL: the facts do not continue the stored numbers. After a failure the next call
 * may succeed. */
must_use enum err store_commit(struct store *store, const struct store_batch *batch,
                               struct error *e);

/* The number of the newest stored fact; 0: none. */
uint64_t store_commit_last_seq(const struct store *store);

/* Moves a grown write-ahead log into the database, which would slow a commit down. Call between
 * batches, after the answers to the last batch were sent. Usually does nothing. */
must_use enum err store_commit_tend(struct store *store, struct error *e);

/* Loads the newest snapshot below fact `before` (UINT64_MAX: of all) into `arena`. *ret_seq is the
 * snapshot's fact number; 0: there is none. ERR_CORRUPT names the damaged file and sets *ret_seq,
 * so that the caller may ask for the next older one: with more facts the older snapshot gives the
 * same state. */
must_use enum err store_snapshot_load(struct store *store, uint64_t before, struct arena *arena,
                                      uint64_t *ret_seq, struct str *ret, struct error *e);

/* The path of a snapshot's file, for messages, in `arena`. */
const char *store_snapshot_path(const struct store *store, uint64_t seq, struct arena *arena);

/* Gives every fact after `seq`, in order, to the callback. Stops when the callback fails. A gap in
 * the numbers is ERR_CORRUPT. The callback must not use the store. */
typedef enum err (*store_fact_fn)(void *ctx, const struct store_fact *fact, struct error *e);
must_use enum err store_facts_after(struct store *store, uint64_t seq, store_fact_fn fn, void *ctx,
                                    struct error *e);

/* Writes a snapshot file beside the database: temporary name, flush, rename, flush of the
 * directory. Any thread may call it. Then the store thread calls store_prune_snapshot_taken(),
 * which records the snapshot, and of the snapshots that are older than the two newest it leaves as many
 * as a way back needs (STORE_PAST_GAP). ERR_CONFLICT: the snapshot's facts
 * were never stored, and its file was removed. */
must_use enum err store_snapshot_write(const char *dir, uint64_t seq, struct str bytes,
                                       struct error *e);
must_use enum err store_prune_snapshot_taken(struct store *store, uint64_t seq, struct error *e);

/* Removes history rows, unused log segments and old facts as the options say. Bounded work per
 * call. *ret_more: there is more to remove. */
must_use enum err store_prune(struct store *store, int64_t now_ms, bool *ret_more, struct error *e);

/* Gives every token to the callback. */
typedef void (*store_token_fn)(void *ctx, const struct store_token *token);
/* Calls `fn` for every segment of the log that is gone or shorter than the index says: output of tasks
 * is lost. */
typedef void (*store_segment_fn)(void *ctx, const char *path, uint64_t found, uint64_t wanted);
must_use enum err store_segments_look(struct store *store, store_segment_fn fn, void *ctx,
                                      struct error *e);

must_use enum err store_tokens(struct store *store, store_token_fn fn, void *ctx, struct error *e);

/* ---- readers: each reader thread has its own read-only connection ---- */

must_use enum err store_reader_open(const char *dir, struct store_reader **ret, struct error *e);
void store_reader_close(struct store_reader *reader);

/* Reads one ended task's JSON into `arena`. ERR_NOT_FOUND: no such task. */
must_use enum err store_history_get(struct store_reader *reader, uint64_t task, struct arena *arena,
                                    struct str *ret_json, struct error *e);

/* Gives the earlier attempts of a task, in order of instance and attempt, at most
 * STORE_ATTEMPTS_MAX. */
typedef void (*store_attempt_fn)(void *ctx, const struct store_attempt *attempt);
must_use enum err store_history_attempts(struct store_reader *reader, uint64_t task,
                                         store_attempt_fn fn, void *ctx, struct error *e);

struct store_history_filter {
    uint64_t before;  /* only task ids below; 0: from the newest */
    uint64_t states;  /* a bit per task_state; 0: all */
    uint64_t kinds;   /* a bit per task_kind; 0: all */
    const char *pool; /* NULL: any */
    const char *user;
    const char *project;
    const char *name;        /* the whole name */
    int64_t ended_after_ms;  /* 0: any */
    int64_t ended_before_ms; /* 0: any */
    size_t limit;
};

/* Called for each row, newest first. */
typedef void (*store_history_fn)(void *ctx, const struct store_history *row);
must_use enum err store_history_list(struct store_reader *reader,
                                     const struct store_history_filter *filter, store_history_fn fn,
                                     void *ctx, struct error *e);

/* Gives facts with seq > after, at most `limit`, for event streams that resume. ERR_NOT_FOUND:
 * facts behind `after` were removed. */
must_use enum err store_reader_facts(struct store_reader *reader, uint64_t after, size_t limit,
                                     store_fact_fn fn, void *ctx, struct error *e);

/* The newest fact that was decided at or before the moment. *ret_seq 0: no fact of that time is kept; *ret_from_ms is the time of
 * the first fact that is (INT64_MAX: there is none). */
must_use enum err store_past_moment(struct store_reader *reader, int64_t at_ms, uint64_t *ret_seq,
                                    int64_t *ret_from_ms, struct error *e);

/* Loads the newest snapshot of fact `seq` or an earlier one into `arena`. *ret_seq 0: there is none. Fails where the file is
 * damaged, or was removed meanwhile (ERR_NOT_FOUND). */
must_use enum err store_past_snapshot(struct store_reader *reader, uint64_t seq,
                                      struct arena *arena, uint64_t *ret_seq, struct str *ret,
                                      struct error *e);

/* A piece of a task's output. store_reader_logs() gives the pieces in order of arrival, from chunk
 * number `after` on, at most `bytes_max` bytes in all. */
struct store_log_piece {
    uint64_t number; /* pass it as `after` to read on */
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
    int64_t index;    /* the instance; -1: all */
    int64_t attempt;  /* -1: all, 0: the newest of each instance */
    uint32_t stream;  /* 0: both */
    uint64_t after;   /* a chunk number */
    int64_t since_ms; /* only pieces that arrived then or later; 0: all */
    size_t bytes_max;
};
must_use enum err store_reader_logs(struct store_reader *reader,
                                    const struct store_log_filter *filter, struct arena *arena,
                                    store_log_fn fn, void *ctx, struct error *e);

/* Where the last `lines` lines of the output begin: *ret_skip bytes into the first piece behind chunk
 * number *ret_after. Looks at the pieces from the end, at most STORE_TAIL_BYTES_MAX. */
must_use enum err store_reader_log_tail(struct store_reader *reader,
                                        const struct store_log_filter *filter, uint64_t lines,
                                        uint64_t *ret_after, size_t *ret_skip, struct error *e);

/* ---- `weir db` ---- */

/* Copies a data directory into the new directory `to`; a server may be running. Until the copy is
 * whole it is called TO.partial. ERR_CONFLICT: one of the two names exists. */
must_use enum err store_backup(const char *dir, const char *to, struct error *e);
/* Says whether a snapshot can be read. */
typedef enum err (*store_decode_fn)(struct str snapshot, struct error *e);

/* What a restore brought. Of a whole directory that is everything. */
struct store_restored {
    bool damaged;    /* the source is damaged: only what can be proven was taken */
    bool unreadable; /* parts of its database cannot be read; what they had is not counted below */
    uint64_t seq;    /* the state is that after this fact */
    uint64_t acknowledged; /* the last fact that the source had acknowledged; 0: not known */
    uint64_t history_left; /* rows of ended tasks and of attempts that were left out */
    uint64_t output_left;  /* pieces of output */
    uint64_t tokens_left;
};

/* Puts a backup into an empty or missing data directory (else ERR_CONFLICT). Of a damaged backup or
 * data directory it takes the newest state that can be proven, and leaves the source as it is. The
 * database comes last, so an interrupted restore leaves no database. `decode` may be NULL. */
must_use enum err store_backup_restore(const char *from, const char *dir, store_decode_fn decode,
                                       struct store_restored *ret, struct error *e);
/* Goes on with what is left of a data directory, after the refusal of store_open(). Where the database
 * is missing, a new one begins with the newest snapshot (*ret_seq; 0: there is none), and log/ is kept
 * as log.left-N/. Else log/ and snapshot/ get the identity of the database. */
must_use enum err store_identity_adopt(const char *dir, uint64_t *ret_seq, struct error *e);
/* Checks database pages, fact numbers, snapshots, and log segments against the index. Each finding
 * names file and place. The callback gets at most STORE_FINDINGS_MAX findings, and one that says
 * there are more. `decode` (NULL: none) says whether a snapshot can be read. ERR_OK: the check was
 * made, whatever it found. */
struct store_check_fns {
    void (*finding)(void *ctx, const char *text);
    store_decode_fn decode;
};
must_use enum err store_check(const char *dir, const struct store_check_fns *fns, void *ctx,
                              struct error *e);
