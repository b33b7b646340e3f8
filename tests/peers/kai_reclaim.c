/* kai_reclaim.c - cases of KAI about the rules of reclaim (reclaim_rules.h): one rule, or a
 * whole set of victims.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/reclaim_rules.h"
#include "read.h"

static bool set_allowed(struct trial *trial, const struct accounts *accounts,
                        const struct claimant *claim)
{
    struct losses losses;
    reclaim_rules_losses_init(&losses, NULL, accounts->count, trial->arena);
    const struct doc *victims = reads_get(trial->test, "victims");
    bool allowed = true;
    for (const struct doc *leaf = victims == NULL ? NULL : victims->first; leaf != NULL;
         leaf = leaf->next) {
        reads_note(leaf);
        const struct doc name = {.kind = DOC_STRING, .quoted = true, .text = leaf->key};
        const struct account_view *victim = accounts_find(accounts, &name);
        for (const struct doc *piece = leaf->first; piece != NULL; piece = piece->next) {
            const struct vector amounts = read_vector(piece);
            allowed = allowed && victim != NULL &&
                      reclaim_rules_take(claim, &losses, victim, &amounts) != RECLAIM_REFUSED;
        }
    }
    return allowed && reclaim_rules_balanced(claim, &losses);
}

/* Asks one of the two rules alone, while the giver holds `victim_remaining`. */
static bool rule_allows(struct trial *trial, const struct accounts *accounts,
                        const struct claimant *claim, enum reclaim_rule rule)
{
    const struct account_view *giver =
        accounts_find(accounts, reads_get(trial->test, "victim_queue"));
    const struct vector remaining = read_vector(reads_get(trial->test, "victim_remaining"));
    return rule == RECLAIM_BY_SHARE
               ? reclaim_rules_by_share(claim->pool, giver, &remaining)
               : reclaim_rules_by_guarantee(claim, claim->account, giver, &remaining);
}

static enum outcome compare(struct trial *trial, const char *what, const char *key, bool got)
{
    const struct doc *expect = reads_get(trial->test, "expect");
    return read_flag(expect, key, got) == got
               ? CASE_PASSED
               : trial_failed(trial, "%s: %s", what, got ? "allowed" : "refused");
}

enum outcome kai_reclaim(struct trial *trial)
{
    const struct account_pool pool = read_pool(NULL);
    const struct accounts accounts = read_accounts(trial->arena, reads_get(trial->test, "queues"));
    const struct doc *reclaimer = reads_get(trial->test, "reclaimer");
    int64_t saturation = SATURATION_MILLI_DEFAULT;
    (void)read_scaled(reads_get(trial->test, "saturation_multiplier"), MILLI, &saturation);
    const struct claimant claim = {
        .pool = &pool,
        .account = accounts_find(&accounts, reads_get(reclaimer, "queue")),
        .request = read_vector(reads_get(reclaimer, "request")),
        .preemptible = read_flag(reclaimer, "preemptible", true),
        .saturation_milli = (uint32_t)saturation,
    };
    if (claim.account == NULL) {
        return trial_failed(trial, "'reclaimer.queue' is no queue of the case");
    }
    const bool starts = reclaim_rules_start(&claim) == CLAIM_MAY_START;
    const struct doc *rule = reads_get(trial->test, "rule");
    const struct doc *victims = reads_get(trial->test, "victims");
    for (const struct doc *leaf = victims == NULL ? NULL : victims->first; leaf != NULL;
         leaf = leaf->next) {
        const struct doc name = {.kind = DOC_STRING, .quoted = true, .text = leaf->key};
        if (accounts_find(&accounts, &name) == NULL) {
            return trial_failed(trial, "'victims' names '%s', which is no queue", leaf->key.p);
        }
    }
    if (read_is(rule, "can_reclaim")) {
        return compare(trial, "start", "allowed", starts);
    }
    if (read_is(rule, "maintain_fair_share")) {
        return compare(trial, "by share", "allowed",
                       rule_allows(trial, &accounts, &claim, RECLAIM_BY_SHARE));
    }
    if (read_is(rule, "guarantee_quota")) {
        return compare(trial, "by guarantee", "allowed",
                       rule_allows(trial, &accounts, &claim, RECLAIM_BY_GUARANTEE));
    }
    if (!read_is(rule, "scenario")) {
        return trial_failed(trial, "the runner does not know 'rule'");
    }
    const enum outcome first = compare(trial, "start", "can_reclaim", starts);
    return first != CASE_PASSED
               ? first
               : compare(trial, "set", "allowed", set_allowed(trial, &accounts, &claim));
}
