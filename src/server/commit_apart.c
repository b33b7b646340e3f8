/* commit_apart.c - see commit_apart.h.
 *
 * Output is stored before the facts of the same batch. If the process ends between the two, the
 * agent has no acknowledgement and sends the output again, and the store recognises the repetition.
 * The other order would lose the output of a task whose end is stored already.
 *
 * Every field of a report is held to bounds where it is parsed (wire/agent.c), so a batch that must
 * be taken apart shows a bug. The bug then costs one piece of output and not the service.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/commit_apart.h"

#include "base/log.h"

/* True: another try with the same batch would fail again, because of what is in the batch. */
static bool content_refused(enum err r)
{
    return r == ERR_INVALID || r == ERR_LIMIT;
}

static void piece_aside(const struct store_log *piece, const struct error *why)
{
    log_error("the store refuses a piece of output, which is dropped", kv_u64("task", piece->task),
              kv_u64("instance", piece->index), kv_u64("attempt", piece->attempt),
              kv_u64("stream", piece->stream), kv_u64("offset", piece->offset),
              kv_u64("bytes", piece->data.len), kv_error(why));
}

/* Stores the pieces in groups. A refused group is halved; a stored group is followed by one of
 * twice the size. */
static enum err logs_apart(struct store *store, const struct store_batch *batch,
                           uint64_t *ret_aside, struct error *e)
{
    size_t size = batch->log_count;
    for (size_t at = 0; at < batch->log_count;) {
        const size_t left = batch->log_count - at;
        size = size < left ? size : left;
        const struct store_batch part = {.logs = &batch->logs[at], .log_count = size};
        enum err r = store_commit(store, &part, e);
        if (r == ERR_OK) {
            at += size;
            size *= 2;
        } else if (!content_refused(r)) {
            return r;
        } else if (size > 1) {
            size /= 2;
        } else {
            piece_aside(&batch->logs[at], e);
            (*ret_aside)++;
            at++;
        }
    }
    return ERR_OK;
}

enum err commit_apart(struct store *store, const struct store_batch *batch, uint64_t *ret_aside,
                      struct error *e)
{
    *ret_aside = 0;
    enum err r = store_commit(store, batch, e);
    if (content_refused(r)) {
        r = store_commit(store, batch, e);
    }
    if (!content_refused(r)) {
        return r;
    }
    log_error("the store refused a commit twice, its parts are stored one by one", kv_error(e));
    r = logs_apart(store, batch, ret_aside, e);
    if (r != ERR_OK) {
        return r;
    }
    struct store_batch rest = *batch;
    rest.logs = NULL;
    rest.log_count = 0;
    return store_commit(store, &rest, e);
}
