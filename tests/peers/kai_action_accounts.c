/* kai_action_accounts.c - KAI's queues as departments and projects with quotas.
 *
 * A queue with queues below it becomes a department, another queue a project. A project at the
 * top gets a department of its own with the same quota. Accounts are made oldest first.
 *
 * Quotas are set when all tasks run that the case begins with. A case may begin above its
 * limits, and only an edit of a quota leads there; a start may not (P3).
 * SPDX-License-Identifier: Apache-2.0 */
#include "kai_action.h"
#include "read.h"

#include <string.h>

enum { MB = 1000000, QUEUES_MAX = 256, PROFILES_MAX = QUOTA_DIMS_MAX - KAI_DIMS };

static const char *name_of(const struct doc *queue, const char *key)
{
    const char *name = "";
    (void)reads_text(reads_get(queue, key), &name);
    return name;
}

static bool has_children(const struct doc *queues, const struct doc *queue)
{
    for (const struct doc *other = queues->first; other != NULL; other = other->next) {
        if (read_is(reads_get(other, "parent"), name_of(queue, "name"))) {
            return true;
        }
    }
    return false;
}

static uint64_t age_of(const struct doc *queue)
{
    uint64_t rank = 0;
    (void)reads_u64(reads_get(queue, "created_rank"), &rank);
    return rank;
}

static bool made(const struct action_case *action, const struct doc *queues,
                 const struct doc *queue)
{
    const enum account_kind kind =
        has_children(queues, queue) ? ACCOUNT_DEPARTMENT : ACCOUNT_PROJECT;
    return query_account_named(action->cluster.core, kind, name_of(queue, "name")) != NULL;
}

static bool parent_made(const struct action_case *action, const struct doc *queue)
{
    const char *parent = name_of(queue, "parent");
    return parent[0] == '\0' ||
           query_account_named(action->cluster.core, ACCOUNT_DEPARTMENT, parent) != NULL;
}

/* Returns the oldest queue that is not made yet and whose parent is made; NULL: all are made. */
static const struct doc *next_to_make(const struct action_case *action, const struct doc *queues)
{
    const struct doc *best = NULL;
    for (const struct doc *queue = queues->first; queue != NULL; queue = queue->next) {
        const bool ready = !made(action, queues, queue) && parent_made(action, queue);
        const uint64_t age = age_of(queue);
        if (ready && (best == NULL || age < age_of(best))) {
            best = queue;
        }
    }
    return best;
}

bool action_accounts(struct action_case *action)
{
    const struct doc *queues = reads_get(action->trial->test, "queues");
    const struct doc *queue;
    for (uint32_t i = 0; (queue = next_to_make(action, queues)) != NULL; i++) {
        must(i < QUEUES_MAX);
        const char *name = name_of(queue, "name");
        const char *parent = name_of(queue, "parent");
        if (has_children(queues, queue)) {
            if (!cluster_account(&action->cluster, ACCOUNT_DEPARTMENT, name, parent)) {
                return false;
            }
            continue;
        }
        if (parent[0] == '\0') {
            parent = name;
            (void)cluster_account(&action->cluster, ACCOUNT_DEPARTMENT, name, "");
        }
        if (!cluster_account(&action->cluster, ACCOUNT_PROJECT, name, parent)) {
            return false;
        }
    }
    return true;
}

static int64_t amount(const struct doc *one, const char *key, int64_t milli_per_unit, int64_t scale)
{
    const int64_t milli = read_milli(reads_get(one, key), 0);
    return milli == VECTOR_UNLIMITED ? QUOTA_UNLIMITED : milli / milli_per_unit * scale;
}

/* Adds the profiles of the nodes behind the plain resources. KAI charges as many devices of
 * quota as the number before the `g` in a profile's name, so a quota of devices becomes a quota
 * of so many parts. */
static uint32_t profiles_fill(const struct doc *test, struct quota_amount *amounts)
{
    uint32_t count = 0;
    for (const struct doc *node = reads_get(test, "nodes")->first; node != NULL;
         node = node->next) {
        const struct doc *profiles = reads_get(node, "mig_instances");
        for (const struct doc *one = profiles == NULL ? NULL : profiles->first;
             one != NULL && count < PROFILES_MAX; one = one->next) {
            const char *name = action_profile_name(one);
            const char *digit = strpbrk(name, "123456789");
            bool known = digit == NULL;
            for (uint32_t i = 0; i < count; i++) {
                known = known || strcmp(amounts[KAI_DIMS + i].resource, name) == 0;
            }
            if (!known) {
                struct quota_amount *part = &amounts[KAI_DIMS + count++];
                *part = amounts[0];
                part->resource = name;
                part->guaranteed /= part->guaranteed > 0 ? *digit - '0' : 1;
                part->limit /= part->limit > 0 ? *digit - '0' : 1;
            }
        }
    }
    return count;
}

static void quota_set(struct action_case *action, const struct doc *queue, enum account_kind kind)
{
    const struct account *account =
        query_account_named(action->cluster.core, kind, name_of(queue, "name"));
    static const struct {
        const char *field;
        const char *resource;
        int64_t milli_per_unit;
        int64_t scale;
    } fields[] = {
        {"gpu", "slots", 1, 1}, {"cpu_milli", "cpu", MILLI, 1}, {"memory_mb", "memory", MILLI, MB}};
    struct quota_amount amounts[KAI_DIMS + PROFILES_MAX];
    for (size_t i = 0; i < KAI_DIMS; i++) {
        const struct doc *one = reads_get(queue, fields[i].field);
        const int64_t weight = read_milli(reads_get(one, "weight"), MILLI);
        amounts[i] = (struct quota_amount){
            .resource = fields[i].resource,
            .guaranteed = amount(one, "quota", fields[i].milli_per_unit, fields[i].scale),
            .limit = amount(one, "limit", fields[i].milli_per_unit, fields[i].scale),
            .weight = weight < 0 ? 0 : (uint32_t)weight,
        };
        if (!action_plugin(action->trial->test, "proportion")) {
            amounts[i].guaranteed = QUOTA_UNLIMITED;
            amounts[i].limit = QUOTA_UNLIMITED;
        }
    }
    const uint32_t count = KAI_DIMS + profiles_fill(action->trial->test, amounts);
    uint64_t rank = QUOTA_RANK_DEFAULT;
    (void)reads_u64(reads_get(queue, "priority"), &rank);
    const struct quota_spec spec = {.amounts = amounts,
                                    .amount_count = count,
                                    .rules.rank = (uint32_t)rank,
                                    .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                                    .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    cluster_quota(&action->cluster, account->id, &spec);
}

void action_quotas(struct action_case *action)
{
    const struct doc *queues = reads_get(action->trial->test, "queues");
    for (const struct doc *queue = queues->first; queue != NULL; queue = queue->next) {
        const bool department = has_children(queues, queue);
        if (department || name_of(queue, "parent")[0] == '\0') {
            quota_set(action, queue, ACCOUNT_DEPARTMENT);
        }
        if (!department) {
            quota_set(action, queue, ACCOUNT_PROJECT);
        }
    }
}
