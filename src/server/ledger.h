/* ledger.h - the only way into the core: input -> decide -> facts -> apply -> react, and the wait
 * for the disk.
 *
 *   turn:   ledger_input() …            facts gather in a batch; answers, effects, events are held
 *   end:    ledger_hand_over()          the batch goes to the store thread, if that is idle
 *   later:  commit done                 effects out, held answers given, events published
 *
 * While a commit is under way the next batch gathers (group commit). A failed commit drops the
 * core, fails everything held, and rebuilds the state from disk. Until a probe commit succeeds,
 * nothing can be changed. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "server/batch.h"
#include "server/store_thread.h"

struct ledger;

struct ledger_hooks {
    void *ctx;
    /* The batch is on disk, and its holds are answered already. The batch is borrowed. */
    void (*committed)(void *ctx, const struct batch *batch);
    /* The state was rebuilt after a failed commit and can be changed again. */
    void (*healed)(void *ctx);
    /* Gives any row that may be written again unchanged. Writing the row proves that the disk takes
     * writes. */
    void (*probe)(void *ctx, struct store_token *ret);
};

enum ledger_state {
    LEDGER_OPEN,
    LEDGER_REBUILDING, /* there is no core */
    LEDGER_READ_ONLY,  /* the disk refused a commit; the ledger probes the disk */
};

/* Takes the core over. Facts up to query_seq() are on disk. `wall_ms` is the wall clock now. */
struct ledger *ledger_new(struct loop *loop, struct core *core, int64_t wall_ms,
                          const struct ledger_hooks *hooks);
void ledger_free(struct ledger *ledger); /* fails waiting holds first */

/* Sets the store thread that commits. Call before the first input. Jobs that come back go to
 * ledger_job_done(). */
void ledger_attach(struct ledger *ledger, struct store_thread *store);

/* A job of kind STORE_COMMIT or STORE_REBUILD came back. Frees the job. */
void ledger_job_done(struct ledger *ledger, struct store_job *job);

enum ledger_state ledger_state(const struct ledger *ledger);
const struct core *ledger_core(const struct ledger *ledger); /* NULL while rebuilding */
int64_t ledger_now_ms(const struct ledger *ledger);

/* The number of the newest fact on disk. */
uint64_t ledger_seq_committed(const struct ledger *ledger);

/* The boot time of a time of ledger_now_ms(), for loop timers. */
int64_t ledger_boot_ms(const struct ledger *ledger, int64_t time_ms);

/* ERR_OK, or ERR_BUSY with the reason why nothing can be changed. */
must_use enum err ledger_writable(const struct ledger *ledger, struct error *e);

/* ERR_OK, or ERR_BUSY: too much waits for the disk for a request of this class. */
must_use enum err ledger_room(const struct ledger *ledger, enum room_class class, struct error *e);

/* Decides. With VERDICT_OK the facts are applied and in the batch. Call only in state
 * LEDGER_OPEN. */
enum verdict ledger_input(struct ledger *ledger, struct input *in, struct facts *out);

/* A pass of the pool decided nothing. */
void ledger_pass_idle(struct ledger *ledger, pool_id pool);

/* Adds output, a token, or the end of an ended task's history to the next commit. */
void ledger_log(struct ledger *ledger, const struct store_log *log);
void ledger_token(struct ledger *ledger, const struct store_token *token);
void ledger_forget(struct ledger *ledger, task_id task);

void ledger_hold(struct ledger *ledger, struct parked_answer *hold);

/* While rebuilding: hold->fn is called when there is a core again, or with the reason why there is
 * none yet. */
void ledger_await_core(struct ledger *ledger, struct parked_answer *hold);
void ledger_unhold(struct ledger *ledger, struct parked_answer *hold);

/* Call at the end of a loop turn: hands the gathered batch to the store thread when that thread is
 * idle. */
void ledger_hand_over(struct ledger *ledger);

/* True: nothing is gathered, and no batch is on its way to the disk. */
bool ledger_quiet(const struct ledger *ledger);

/* How many facts are gathered or in flight. */
size_t ledger_facts_waiting(const struct ledger *ledger);

/* Adds the ledger's figures to *ret. */
void ledger_numbers(const struct ledger *ledger, struct host_numbers *ret);
