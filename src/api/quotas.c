/* quotas.c - /quotas: each account's guarantee, limit and weight in each pool, and its usage.
 * PUT sets the whole quota, PATCH the fields that the body names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/page.h"
#include "api/preview.h"
#include "io/http_request.h"
#include "spec/quota_spec.h"
#include "wire/state_json.h"

/* ---- the list ---- */

/* Lines are in order of pool, account and dimension. A cursor is these three numbers. */
enum { DIM_BITS = 3, ACCOUNT_BITS = 32 };
_Static_assert(QUOTA_DIMS_MAX <= 1 << DIM_BITS, "a dim fits its bits");

struct quota_page {
    pool_id pool;
    account_id account;
    uint32_t dim;
};

struct line_filter {
    const char *pool;
    const char *project;
    const char *department;
    bool all; /* also lines that have only default values, and pools without anything */
};

static uint64_t line_key(struct quota_page line)
{
    return (uint64_t)line.pool.v << (ACCOUNT_BITS + DIM_BITS) |
           (uint64_t)line.account.v << DIM_BITS | line.dim;
}

static struct quota_page key_line(uint64_t key)
{
    return (struct quota_page){.pool = {(uint32_t)(key >> (ACCOUNT_BITS + DIM_BITS))},
                               .account = {(uint32_t)(key >> DIM_BITS)},
                               .dim = (uint32_t)key & ((1 << DIM_BITS) - 1)};
}

/* True for a pool of which there is something to say: it has nodes, tasks or quotas. The pool
 * `default` always exists and is always listed. */
static bool pool_matters(const struct core *core, const struct pool *pool)
{
    account_id account = {0};
    pool_id with_quota = pool->id;
    return pool->node_count > 0 || pool->task_count > 0 ||
           strcmp(query_pool_name(core, pool->id), "default") == 0 ||
           (query_quota_next(core, &account, &with_quota) && with_quota.v == pool->id.v);
}

static bool pool_wanted(const struct core *core, const struct line_filter *filter,
                        const struct pool *pool)
{
    return filter->pool != NULL ? strcmp(filter->pool, query_pool_name(core, pool->id)) == 0
                                : filter->all || pool_matters(core, pool);
}

static bool account_wanted(const struct core *core, const struct line_filter *filter,
                           const struct account *account)
{
    if (filter->project == NULL && filter->department == NULL) {
        return true;
    }
    const char *wanted = account->kind == ACCOUNT_PROJECT ? filter->project : filter->department;
    return wanted != NULL && strcmp(wanted, query_account_name(core, account->id)) == 0;
}

/* The next account of the pool, or the first account of the next pool. False: there is none. */
static bool account_step(const struct core *core, const struct line_filter *filter,
                         struct quota_page *line)
{
    const struct pool *pool = query_pool(core, line->pool);
    for (;;) {
        bool here = pool != NULL && pool_wanted(core, filter, pool);
        const struct account *account = here ? query_account_next(core, line->account) : NULL;
        while (account != NULL && !account_wanted(core, filter, account)) {
            account = query_account_next(core, account->id);
        }
        if (account != NULL) {
            line->account = account->id;
            line->dim = 0;
            return true;
        }
        pool = query_pool_next(core, line->pool);
        if (pool == NULL) {
            return false;
        }
        *line = (struct quota_page){.pool = pool->id};
    }
}

/* The next line that is shown. False: there is none. */
static bool line_next(const struct core *core, const struct line_filter *filter,
                      struct quota_page *line)
{
    for (;;) {
        bool there =
            query_pool(core, line->pool) != NULL && query_account(core, line->account) != NULL;
        if (there && line->dim + 1 < query_dim_count(core)) {
            line->dim++;
        } else if (!account_step(core, filter, line)) {
            return false;
        }
        if (filter->all ||
            state_json_quota_line_matters(core, line->account, line->pool, line->dim)) {
            return true;
        }
    }
}

/* Does every name in the filter exist? An empty list would hide a typing error. False: the call was
 * answered. */
static bool filter_known(struct call *call, const struct line_filter *filter)
{
    return (filter->pool == NULL || named_pool(call, "pool", filter->pool) != NULL) &&
           (filter->project == NULL ||
            named_account(call, "project", ACCOUNT_PROJECT, filter->project) != NULL) &&
           (filter->department == NULL ||
            named_account(call, "department", ACCOUNT_DEPARTMENT, filter->department) != NULL);
}

/* False: the call was answered. */
static bool filter_read(struct call *call, struct line_filter *ret)
{
    *ret = (struct line_filter){.pool = http_request_query(call->request, "pool"),
                                .project = http_request_query(call->request, "project"),
                                .department = http_request_query(call->request, "department")};
    return call_query_bool(call, "all", &ret->all) && filter_known(call, ret);
}

static uint64_t line_after(const struct core *core, const void *filter, uint64_t after)
{
    struct quota_page line = key_line(after);
    return line_next(core, filter, &line) ? line_key(line) : 0;
}

static void line_write(struct json_out *j, const struct core *core, uint64_t key,
                       struct arena *arena)
{
    const struct quota_page line = key_line(key);
    (void)arena;
    state_json_quota_line(j, core, line.account, line.pool, line.dim);
}

void quotas_list(struct call *call)
{
    static const struct page_source source = {line_after, line_write};
    struct line_filter filter;
    if (!filter_read(call, &filter)) {
        return;
    }
    const char *question = arena_fmt(
        call_arena(call), "quotas\n%s\n%s\n%s\n%d", filter.pool != NULL ? filter.pool : "",
        filter.project != NULL ? filter.project : "",
        filter.department != NULL ? filter.department : "", (int)filter.all);
    page_answer(call, question, &source, &filter);
}

/* ---- setting ---- */

/* The account and the pool that the body names. False: the call was answered. */
static bool whose_find(struct call *call, const struct quota_body *body, account_id *ret_account,
                       pool_id *ret_pool)
{
    const struct account *account =
        named_account(call, names_account_kind(body->kind), body->kind, body->account);
    const struct pool *pool = account != NULL ? named_pool(call, "pool", body->pool) : NULL;
    if (pool == NULL) {
        return false;
    }
    *ret_account = account->id;
    *ret_pool = pool->id;
    return true;
}

static void quota_set(struct call *call, bool whole)
{
    const struct doc *doc;
    struct quota_body body;
    struct error e;
    account_id account;
    pool_id pool;
    if (!body_read(call, &doc)) {
        return;
    }
    if (quota_spec_body_whose(doc, call_arena(call), &body, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    if (!whose_find(call, &body, &account, &pool)) {
        return;
    }
    if (!whole) {
        struct quota_spec present;
        query_quota_spec(call_core(call), account, pool, call_arena(call), &present);
        quota_spec_body_from(&body, &present);
    }
    if (quota_spec_body_read(doc, call_arena(call), &body, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct facts facts;
    struct input in = {.type = INPUT_QUOTA_SET, .quota = {account, pool, &body.spec}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        struct json_out j;
        call_json(call, &j);
        state_json_quota_set(&j, call_core(call), account, pool, call_arena(call));
        call_answer_json(call, 200);
    }
}

void quotas_put(struct call *call)
{
    quota_set(call, true);
}

void quotas_patch(struct call *call)
{
    quota_set(call, false);
}
