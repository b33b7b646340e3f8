/* kai_share.c - cases of KAI about the division of one resource among siblings, and down a tree
 * (fairshare.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/fairshare.h"
#include "read.h"

enum { USAGE_SCALE = FAIRSHARE_USAGE_FULL };

static bool sibling_read(struct trial *trial, const struct doc *queue, size_t index,
                         struct fairshare *ret)
{
    uint64_t rank = 0;
    uint64_t order = index;
    int64_t weight = 0;
    (void)reads_u64(reads_get(queue, "priority"), &rank);
    (void)reads_u64(reads_get(queue, "created_rank"), &order);
    const bool exact = read_scaled(reads_get(queue, "weight"), MILLI, &weight) &&
                       (reads_get(queue, "usage") == NULL ||
                        read_scaled(reads_get(queue, "usage"), USAGE_SCALE, &ret->usage));
    ret->guaranteed = read_milli(reads_get(queue, "quota"), 0);
    ret->limit = read_milli(reads_get(queue, "limit"), SHARE_UNLIMITED);
    ret->demand = read_milli(reads_get(queue, "request"), 0);
    ret->weight = (uint32_t)weight;
    ret->rank = (uint32_t)rank;
    ret->order = order;
    reads_ignore(queue,
                 "allocated"); /* the division asks for what is wanted, not for what is held */
    const char *name;
    if (reads_text(reads_get(queue, "name"), &name)) {
        const struct doc *initial = reads_get(trial->test, "initial_share");
        ret->share = initial == NULL ? 0 : read_milli(reads_get(initial, name), 0);
    }
    return exact;
}

static const struct doc *expected(const struct trial *trial)
{
    const struct doc *expect = reads_get(trial->test, "expect");
    return expect != NULL ? expect : reads_get(trial->test, "expect_exact");
}

/* True when `queue` is a child of `parent` (NULL: at the top). */
static bool child_of(const struct doc *queue, const struct doc *parent)
{
    const struct doc *own = reads_get(queue, "parent");
    const bool top = own == NULL || own->kind == DOC_NULL;
    if (parent == NULL || top) {
        return parent == NULL && top;
    }
    const char *name;
    return reads_text(reads_get(parent, "name"), &name) && read_is(own, name);
}

/* Divides `total` among the children of `parent`. `*ret_left` is the amount that no child got. */
static enum outcome divide(struct trial *trial, const struct doc *parent, int64_t total,
                           int64_t *ret_left)
{
    const struct doc *queues = reads_get(trial->test, "queues");
    const struct doc *shares = reads_get(expected(trial), "share");
    struct fairshare *siblings = arena_new(trial->arena, struct fairshare, queues->count);
    const struct doc **docs = arena_new(trial->arena, const struct doc *, queues->count);
    size_t count = 0;
    for (const struct doc *queue = queues->first; queue != NULL; queue = queue->next) {
        if (!child_of(queue, parent)) {
            continue;
        }
        docs[count] = queue;
        if (!sibling_read(trial, queue, count, &siblings[count])) {
            return trial_skipped(trial, "a weight or usage finer than Weir's units");
        }
        count++;
    }
    int64_t k = 0;
    if (reads_get(trial->test, "k") != NULL &&
        !read_scaled(reads_get(trial->test, "k"), MILLI, &k)) {
        return trial_skipped(trial, "a k finer than Weir's units");
    }
    /* Every resource is divided in the same way. */
    if (reads_word(trial, trial->test, "resource", "gpu|cpu|memory") < 0) {
        return CASE_FAILED;
    }
    const int phase = reads_word(trial, trial->test, "phase", "full|surplus_only");
    if (phase < 0) {
        return CASE_FAILED;
    }
    const bool surplus_only = phase == 1;
    *ret_left = (surplus_only ? fairshare_surplus : fairshare_divide)(siblings, count, total, MILLI,
                                                                      (uint32_t)k, trial->arena);
    for (size_t i = 0; i < count; i++) {
        const char *name = "";
        (void)reads_text(reads_get(docs[i], "name"), &name);
        if (read_milli(reads_get(shares, name), 0) != siblings[i].share) {
            return trial_failed(trial, "%s gets %lld thousandths", name,
                                (long long)siblings[i].share);
        }
    }
    return CASE_PASSED;
}

enum outcome kai_share(struct trial *trial)
{
    int64_t left = 0;
    const int64_t total = read_milli(reads_get(trial->test, "total"), 0);
    enum outcome outcome = divide(trial, NULL, total, &left);
    const struct doc *remaining = reads_get(expected(trial), "remaining");
    if (outcome == CASE_PASSED && remaining != NULL && read_milli(remaining, 0) != left) {
        return trial_failed(trial, "%lld thousandths remain", (long long)left);
    }
    const struct doc *shares = reads_get(expected(trial), "share");
    const struct doc *queues = reads_get(trial->test, "queues");
    for (const struct doc *queue = queues->first; queue != NULL && outcome == CASE_PASSED;
         queue = queue->next) {
        /* Parents come first in the file, so the share of the parent is already compared. */
        const char *name = "";
        (void)reads_text(reads_get(queue, "name"), &name);
        outcome = divide(trial, queue, read_milli(reads_get(shares, name), 0), &left);
    }
    return outcome;
}
