/* decide_account.c - decisions about departments, projects and quotas.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "base/arena.h"
#include "base/must.h"
#include "core/model/object.h"
#include "core/model/spec_codec.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/account.h"
#include "core/model/names.h"
#include "core/model/quota.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/spec_limits.h"
#include "core/model/table.h"
#include "core/model/vector.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static enum verdict account_missing(struct step *step, const char *text)
{
    step_refuse(step, REASON_UNKNOWN_OBJECT, text);
    return VERDICT_NOT_FOUND;
}

/* ---- the tree ---- */

static bool is_below(const struct core *core, account_id id, account_id above)
{
    while (id.v != 0 && id.v != above.v) {
        const struct account *account = query_account(core, id);
        must(account != NULL);
        id = account->parent;
    }
    return id.v != 0;
}

/* The number of levels from `top` down to the deepest account below; 1: there is no account below. */
static uint32_t levels_of(const struct core *core, const struct account *top)
{
    uint32_t deepest = top->depth;
    for (const struct account *at = query_account_next(core, (account_id){0}); at != NULL;
         at = query_account_next(core, at->id)) {
        if (at->depth > deepest && is_below(core, at->id, top->id)) {
            deepest = at->depth;
        }
    }
    must(deepest <= ACCOUNT_DEPTH_MAX);
    return deepest - top->depth + 1;
}

static uint32_t child_count(const struct core *core, account_id parent)
{
    if (parent.v != 0) {
        const struct account *account = query_account(core, parent);
        must(account != NULL);
        return account->child_count;
    }
    uint32_t count = 0;
    for (const struct account *at = query_account_child_next(core, parent, (account_id){0});
         at != NULL; at = query_account_child_next(core, parent, at->id)) {
        count++;
    }
    must(count <= core->accounts.count);
    return count;
}

static enum verdict parent_resolve(struct step *step, enum account_kind kind, const char *name,
                                   account_id *ret)
{
    *ret = (account_id){0};
    if (name == NULL || name[0] == '\0') {
        if (kind == ACCOUNT_PROJECT) {
            *ret = ACCOUNT_DEFAULT_DEPARTMENT;
        }
        return VERDICT_OK;
    }
    const struct account *parent = query_account_named(step->core, ACCOUNT_DEPARTMENT, name);
    if (parent == NULL) {
        step_refuse(step, REASON_UNKNOWN_DEPARTMENT, name);
        return VERDICT_REFUSED;
    }
    must(parent->kind == ACCOUNT_DEPARTMENT);
    *ret = parent->id;
    return VERDICT_OK;
}

/* May the account (NULL: a new account) be below `parent`? */
static enum verdict parent_check(struct step *step, const struct account *account,
                                 account_id parent)
{
    const struct core *core = step->core;
    must(parent.v == 0 || query_account(core, parent) != NULL);
    if (account != NULL && account->parent.v == parent.v) {
        return VERDICT_OK;
    }
    if (account != NULL && account->id.v <= ACCOUNT_DEFAULT_PROJECT.v) {
        step_refuse(step, REASON_WRONG_STATE, ACCOUNT_DEFAULT_NAME)->account = account->id;
        return VERDICT_CONFLICT; /* the accounts `default` never move */
    }
    if (account != NULL && is_below(core, parent, account->id)) {
        step_refuse(step, REASON_CYCLE, query_account_name(core, account->id));
        return VERDICT_REFUSED;
    }
    uint32_t above = parent.v != 0 ? query_account(core, parent)->depth : 0;
    if (above + (account != NULL ? levels_of(core, account) : 1) > ACCOUNT_DEPTH_MAX) {
        return step_refuse_limit(step, "levels of departments and projects", ACCOUNT_DEPTH_MAX);
    }
    if (child_count(core, parent) >= ACCOUNT_CHILDREN_MAX) {
        return step_refuse_limit(step, "accounts below one department", ACCOUNT_CHILDREN_MAX);
    }
    return VERDICT_OK;
}

static enum verdict account_new_check(struct step *step, const struct account_spec *spec)
{
    const struct core *core = step->core;
    must(core->accounts.count <= core->accounts.last);
    if (query_account_named(core, spec->kind, spec->name) != NULL) {
        step_refuse(step, REASON_EXISTS, spec->name);
        return VERDICT_CONFLICT;
    }
    if (core->accounts.count >= ACCOUNTS_MAX || core->accounts.last >= UINT32_MAX) {
        return step_refuse_limit(step, "departments and projects", ACCOUNTS_MAX);
    }
    return VERDICT_OK;
}

static bool account_same(const struct core *core, const struct account *account,
                         const struct account_spec *spec, account_id parent, struct arena *arena)
{
    struct account_spec now;
    query_account_spec(core, account->id, arena, &now);
    return account->parent.v == parent.v && object_equal(&account_object, &now, spec);
}

enum verdict decide_account_set(struct step *step)
{
    const struct core *core = step->core;
    account_id id = step->in->account.account;
    const struct account *account = query_account(core, id);
    struct account_spec *spec = arena_new(step->out->arena, struct account_spec, 1);
    *spec = *step->in->account.spec;
    spec->title = spec->title != NULL ? spec->title : "";
    spec->description = spec->description != NULL ? spec->description : "";
    if (id.v != 0 && account == NULL) {
        return account_missing(step, names_account_kind(spec->kind));
    }
    if (account != NULL) { /* kind and name of an account never change */
        spec->kind = account->kind;
        spec->name = arena_str(step->out->arena, query_account_name(core, id));
    }
    const char *limit;
    int64_t max;
    if (!spec_limits_account(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    account_id parent;
    enum verdict verdict = account == NULL ? account_new_check(step, spec) : VERDICT_OK;
    if (verdict == VERDICT_OK) {
        verdict = parent_resolve(step, spec->kind, spec->parent, &parent);
    }
    if (verdict == VERDICT_OK) {
        verdict = parent_check(step, account, parent);
    }
    if (verdict != VERDICT_OK ||
        (account != NULL && account_same(core, account, spec, parent, step->out->arena))) {
        return verdict;
    }
    /* every project is below a department */
    must(parent.v != 0 || spec->kind == ACCOUNT_DEPARTMENT);
    struct fact *fact = step_fact(step, FACT_ACCOUNT_SET);
    fact->account_set.account.v = account != NULL ? id.v : (uint32_t)core->accounts.last + 1;
    fact->account_set.parent = parent;
    fact->account_set.spec = spec;
    return VERDICT_OK;
}

enum verdict decide_account_delete(struct step *step)
{
    const struct core *core = step->core;
    const struct account *account = query_account(core, step->in->account.account);
    if (account == NULL) {
        return account_missing(step, "account");
    }
    const char *name = query_account_name(core, account->id);
    if (account->id.v <= ACCOUNT_DEFAULT_PROJECT.v) {
        step_refuse(step, REASON_WRONG_STATE, name)->account = account->id;
        return VERDICT_CONFLICT; /* the accounts `default` always exist */
    }
    must(account->child_count == 0 || account->kind == ACCOUNT_DEPARTMENT);
    if (account->child_count > 0) {
        step_refuse(step, REASON_NOT_EMPTY, name)->need = account->child_count;
        return VERDICT_CONFLICT;
    }
    if (account->task_count > 0) {
        struct reason *reason = step_refuse(step, REASON_IN_USE, name);
        reason->account = account->id;
        reason->need = account->task_count;
        return VERDICT_CONFLICT;
    }
    step_fact(step, FACT_ACCOUNT_DELETED)->account_deleted.account = account->id;
    return VERDICT_OK;
}

/* ---- quotas ---- */

static enum verdict term_resolve(struct step *step, const struct quota_amount *amount,
                                 struct quota_term *ret)
{
    resource_id resource;
    if (!query_resource_named(step->core, amount->resource, &resource)) {
        step_refuse(step, REASON_UNKNOWN_RESOURCE, amount->resource);
        return VERDICT_REFUSED;
    }
    must(resource.v < RESOURCES_MAX);
    int64_t max = resource.v == RESOURCE_MEMORY ? AMOUNT_BYTES_MAX : AMOUNT_MILLI_MAX;
    if (amount->guaranteed < QUOTA_UNSET || amount->guaranteed > max) {
        return step_refuse_limit(step, "guaranteed amount", max);
    }
    if (amount->limit < QUOTA_UNLIMITED || amount->limit > max) {
        return step_refuse_limit(step, "limit", max);
    }
    if (amount->weight > QUOTA_WEIGHT_MAX) {
        return step_refuse_limit(step, "weight in thousandths", QUOTA_WEIGHT_MAX);
    }
    *ret = (struct quota_term){.resource = resource,
                               .weight = amount->weight,
                               .guaranteed = amount->guaranteed,
                               .limit = amount->limit};
    return VERDICT_OK;
}

static enum verdict term_add(struct step *step, struct quota_row *row,
                             const struct quota_term *term)
{
    must(row->term_count <= QUOTA_DIMS_MAX);
    uint32_t at = row->term_count;
    for (; at > 0 && row->terms[at - 1].resource.v >= term->resource.v; at--) {
        if (row->terms[at - 1].resource.v == term->resource.v) {
            return step_refuse_limit(step, "amounts of one resource", 1);
        }
    }
    if (quota_term_default(term)) {
        return VERDICT_OK;
    }
    if (row->term_count == QUOTA_DIMS_MAX) {
        return step_refuse_limit(step, "resources with quotas", QUOTA_DIMS_MAX);
    }
    memmove(&row->terms[at + 1], &row->terms[at], (row->term_count - at) * sizeof row->terms[0]);
    row->terms[at] = *term;
    row->term_count++;
    return VERDICT_OK;
}

static enum verdict row_resolve(struct step *step, const struct quota_spec *spec,
                                struct quota_row *ret)
{
    must(ret->term_count == 0);
    const char *limit;
    int64_t max;
    if (!object_bounded(&quota_object, &spec->rules, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    ret->rules = spec->rules;
    enum verdict verdict = VERDICT_OK;
    for (uint32_t i = 0; i < spec->amount_count && verdict == VERDICT_OK; i++) {
        struct quota_term term;
        verdict = term_resolve(step, &spec->amounts[i], &term);
        if (verdict == VERDICT_OK) {
            verdict = term_add(step, ret, &term);
        }
    }
    return verdict;
}

static bool row_equal(const struct quota_row *a, const struct quota_row *b)
{
    return a->term_count == b->term_count && object_equal(&quota_object, &a->rules, &b->rules) &&
           memcmp(a->terms, b->terms, a->term_count * sizeof a->terms[0]) == 0;
}

enum verdict decide_account_quota(struct step *step)
{
    const struct core *core = step->core;
    account_id account = step->in->quota.account;
    pool_id pool = step->in->quota.pool;
    if (query_account(core, account) == NULL) {
        return account_missing(step, "account");
    }
    if (query_pool(core, pool) == NULL) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "pool")->pool = pool;
        return VERDICT_NOT_FOUND;
    }
    struct quota_row *row = arena_new(step->out->arena, struct quota_row, 1);
    enum verdict verdict = row_resolve(step, step->in->quota.spec, row);
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    const struct quota_row *now = table_get(&core->quotas, ACCOUNT_KEY(pool, account));
    must(now == NULL || now->term_count <= QUOTA_DIMS_MAX);
    if (!query_quota_dims_fit(core, now, row)) {
        return step_refuse_limit(step, "named resources with quotas",
                                 QUOTA_DIMS_MAX - DIM_NAMED_FIRST);
    }
    bool same = now != NULL ? row_equal(now, row) : quota_row_default(row);
    if (same) {
        return VERDICT_OK;
    }
    struct fact *fact = step_fact(step, FACT_QUOTA_SET);
    fact->quota_set.account = account;
    fact->quota_set.pool = pool;
    fact->quota_set.row = row;
    return VERDICT_OK;
}
