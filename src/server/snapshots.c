/* snapshots.c - see snapshots.h.
 *
 * S1 a snapshot is written only when every fact in it is on disk: the copy waits for the commit;
 * S2 one at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/snapshots.h"

#include "base/log.h"

enum {
    SNAPSHOT_FACTS = 50000,           /* this many facts after the last one */
    SNAPSHOT_AGE_MS = 10 * 60 * 1000, /* or any change at all, after so long */
    SNAPSHOT_FINAL_TASKS_MAX = 20000, /* more live tasks: a stop does not wait for it */
};
#define SNAPSHOT_BYTES_MAX ((size_t)8 << 30)

struct snapshots {
    struct snapshots_options o;
    uint64_t seq;     /* of the newest */
    int64_t taken_ms; /* boot-time */
    uint64_t count;
    bool running;
};

/* One on its way. */
struct snapshot {
    struct work work;
    struct parked_answer hold;
    struct snapshots *owner;
    struct core *copy;
    uint64_t seq;
    enum err err;
    struct error error;
};

struct snapshots *snapshots_new(const struct snapshots_options *options)
{
    struct snapshots *snapshots = xcalloc(1, sizeof *snapshots);
    snapshots->o = *options;
    snapshots->seq = options->seq;
    snapshots->taken_ms = loop_now_ms(options->loop);
    return snapshots;
}

void snapshots_free(struct snapshots *snapshots)
{
    free(snapshots);
}

static enum err copy_write(const char *dir, const struct core *core, struct error *e)
{
    struct buf bytes;
    buf_init(&bytes, SNAPSHOT_BYTES_MAX);
    core_encode(core, &bytes);
    enum err r = bytes.full ? fail(e, ERR_LIMIT, "the state is too large for a snapshot")
                            : store_snapshot_write(dir, query_seq(core),
                                                   (struct str){bytes.data, bytes.len}, e);
    buf_done(&bytes);
    return r;
}

static void snapshot_end(struct snapshot *snapshot)
{
    snapshot->owner->running = false;
    snapshot->owner->taken_ms = loop_now_ms(snapshot->owner->o.loop);
    core_free(snapshot->copy);
    free(snapshot);
}

static void snapshot_run(struct work *work, struct store_reader *reader)
{
    struct snapshot *snapshot = (struct snapshot *)work;
    (void)reader;
    snapshot->err = copy_write(snapshot->owner->o.dir, snapshot->copy, &snapshot->error);
    core_free(steal(snapshot->copy));
}

static void snapshot_written(struct work *work)
{
    struct snapshot *snapshot = (struct snapshot *)work;
    struct snapshots *owner = snapshot->owner;
    if (snapshot->err != ERR_OK) {
        log_warn("snapshot failed, the next one is tried later", kv_error(&snapshot->error));
    } else {
        owner->count++;
        owner->seq = snapshot->seq;
        struct store_job *job = xcalloc(1, sizeof *job);
        job->kind = STORE_SNAPSHOT;
        job->seq = snapshot->seq;
        store_thread_do(owner->o.store, job);
    }
    snapshot_end(snapshot);
}

/* S1: the facts of the copy are on disk, or never will be. */
static void snapshot_committed(struct parked_answer *hold, const struct error *failure)
{
    struct snapshot *snapshot = (struct snapshot *)((char *)hold - offsetof(struct snapshot, hold));
    if (failure != NULL || !work_thread_do(snapshot->owner->o.worker, &snapshot->work)) {
        snapshot_end(snapshot);
    }
}

void snapshots_turn_end(struct snapshots *snapshots)
{
    if (snapshots->running || ledger_state(snapshots->o.ledger) != LEDGER_OPEN) {
        return;
    }
    uint64_t facts = query_seq(ledger_core(snapshots->o.ledger)) - snapshots->seq;
    int64_t age_ms = loop_now_ms(snapshots->o.loop) - snapshots->taken_ms;
    if (facts < SNAPSHOT_FACTS && (facts == 0 || age_ms < SNAPSHOT_AGE_MS)) {
        return;
    }
    struct snapshot *snapshot = xcalloc(1, sizeof *snapshot);
    snapshot->work = (struct work){.run = snapshot_run, .done = snapshot_written};
    snapshot->hold.fn = snapshot_committed;
    snapshot->owner = snapshots;
    snapshot->copy = core_copy(ledger_core(snapshots->o.ledger));
    snapshot->seq = query_seq(snapshot->copy);
    snapshots->running = true;
    ledger_hold(snapshots->o.ledger, &snapshot->hold);
}

void snapshots_job_done(struct snapshots *snapshots, struct store_job *job)
{
    (void)snapshots;
    must(job->kind == STORE_SNAPSHOT);
    if (job->err != ERR_OK) {
        log_warn("snapshot could not be recorded", kv_error(&job->error));
    }
    free(job);
}

void snapshots_final(struct snapshots *snapshots)
{
    const struct core *core = ledger_core(snapshots->o.ledger);
    if (core == NULL || snapshots->running || query_seq(core) == snapshots->seq) {
        return;
    }
    uint64_t tasks = 0;
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        bool ended = task_state_ended((enum task_state)state);
        tasks += ended ? 0 : query_task_count(core, (enum task_state)state);
    }
    struct error e;
    if (tasks <= SNAPSHOT_FINAL_TASKS_MAX && copy_write(snapshots->o.dir, core, &e) != ERR_OK) {
        log_warn("no snapshot at the end; the next start replays more", kv_error(&e));
    }
}

void snapshots_numbers(const struct snapshots *snapshots, struct host_numbers *ret)
{
    ret->snapshots = snapshots->count;
    ret->snapshot_seq = snapshots->seq;
}
