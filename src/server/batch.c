/* batch.c - see batch.h. A batch is reused: its vectors keep their room unless they grew far beyond
 * the usual size. SPDX-License-Identifier: Apache-2.0 */
#include "server/batch.h"

/* A vector with more elements is freed after its commit: one huge submission must not keep memory
 * for ever. */
enum { BATCH_KEEP = 4096 };

struct batch *batch_new(void)
{
    struct batch *batch = xcalloc(1, sizeof *batch);
    arena_init(&batch->arena);
    TAILQ_INIT(&batch->holds);
    return batch;
}

void batch_free(struct batch *batch)
{
    if (batch == NULL) {
        return;
    }
    must(TAILQ_EMPTY(&batch->holds));
    vec_done(&batch->facts);
    vec_done(&batch->history);
    vec_done(&batch->attempts);
    vec_done(&batch->uses);
    vec_done(&batch->logs);
    vec_done(&batch->tokens);
    vec_done(&batch->forgotten);
    vec_done(&batch->effects);
    arena_done(&batch->arena);
    free(batch);
}

#define KEEP_OR_DROP(vec)                                                                          \
    do {                                                                                           \
        if ((vec)->room > BATCH_KEEP) {                                                            \
            vec_done(vec);                                                                         \
        }                                                                                          \
        vec_clear(vec);                                                                            \
    } while (0)

void batch_clear(struct batch *batch)
{
    must(TAILQ_EMPTY(&batch->holds));
    KEEP_OR_DROP(&batch->facts);
    KEEP_OR_DROP(&batch->history);
    KEEP_OR_DROP(&batch->attempts);
    KEEP_OR_DROP(&batch->uses);
    KEEP_OR_DROP(&batch->logs);
    KEEP_OR_DROP(&batch->tokens);
    KEEP_OR_DROP(&batch->forgotten);
    KEEP_OR_DROP(&batch->effects);
    arena_clear(&batch->arena);
    batch->bytes = 0;
}

bool batch_empty(const struct batch *batch)
{
    return batch->facts.count == 0 && batch->logs.count == 0 && batch->tokens.count == 0 &&
           batch->forgotten.count == 0;
}

void batch_fact(struct batch *batch, const struct store_fact *fact)
{
    struct store_fact copy = *fact;
    copy.body.p = arena_dup(&batch->arena, fact->body.p, fact->body.len);
    vec_push(&batch->facts, copy);
    batch->bytes += fact->body.len;
}

void batch_log(struct batch *batch, const struct store_log *log)
{
    struct store_log copy = *log;
    copy.data.p = arena_dup(&batch->arena, log->data.p, log->data.len);
    vec_push(&batch->logs, copy);
    batch->bytes += log->data.len;
}

struct store_batch batch_for_store(const struct batch *batch)
{
    return (struct store_batch){
        .facts = batch->facts.at,
        .fact_count = batch->facts.count,
        .history = batch->history.at,
        .history_count = batch->history.count,
        .attempts = batch->attempts.at,
        .attempt_count = batch->attempts.count,
        .uses = batch->uses.at,
        .use_count = batch->uses.count,
        .logs = batch->logs.at,
        .log_count = batch->logs.count,
        .tokens = batch->tokens.at,
        .token_count = batch->tokens.count,
        .forgotten = batch->forgotten.at,
        .forgotten_count = batch->forgotten.count,
    };
}
