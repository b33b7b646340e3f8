/* engine_edits.c - pools, accounts and quotas: as the scenario declares them, and as its events
 * change them. The body of an event changes the fields that it names, as a PATCH of the API
 * does. An object that does not exist is created.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine_internal.h"

#include "spec/account_spec.h"
#include "spec/pool_spec.h"
#include "wire/reason_text.h"

enum err engine_edits_refused(const struct engine *engine, const struct reason *reason,
                              struct error *e)
{
    struct buf sentence;
    buf_init(&sentence, ERROR_TEXT_MAX);
    reason_text(engine->core, reason, &sentence);
    enum err r = fail(e, ERR_INVALID, "%s", buf_text(&sentence));
    buf_done(&sentence);
    return r;
}

enum err engine_edits_flavor(struct engine *engine, const struct flavor_spec *spec, struct error *e)
{
    const struct flavor *known = query_flavor_named(engine->core, spec->name);
    struct input in = {
        .type = INPUT_FLAVOR_SET,
        .actor = "user:sim",
        .flavor = {.flavor = known == NULL ? (flavor_id){0} : known->id, .spec = spec}};
    struct facts facts;
    if (engine_input(engine, &in, &facts) != VERDICT_OK) {
        (void)engine_edits_refused(engine, &facts.refusal, e);
        return fail_in(e, "flavor '%s'", spec->name);
    }
    return ERR_OK;
}

enum err engine_edits_pool(struct engine *engine, const struct pool_spec *spec, struct error *e)
{
    const struct pool *known = query_pool_named(engine->core, spec->name);
    struct input in = {.type = known == NULL ? INPUT_POOL_CREATE : INPUT_POOL_EDIT,
                       .actor = "user:sim",
                       .pool = {.spec = spec, .pool = known == NULL ? (pool_id){0} : known->id}};
    struct facts facts;
    if (engine_input(engine, &in, &facts) != VERDICT_OK) {
        (void)engine_edits_refused(engine, &facts.refusal, e);
        return fail_in(e, "pool '%s'", spec->name);
    }
    return ERR_OK;
}

enum err engine_edits_account(struct engine *engine, const struct account_spec *spec,
                              struct error *e)
{
    const struct account *known = query_account_named(engine->core, spec->kind, spec->name);
    struct input in = {
        .type = INPUT_ACCOUNT_SET,
        .actor = "user:sim",
        .account = {.account = known == NULL ? (account_id){0} : known->id, .spec = spec}};
    struct facts facts;
    if (engine_input(engine, &in, &facts) != VERDICT_OK) {
        (void)engine_edits_refused(engine, &facts.refusal, e);
        return fail_in(e, "%s '%s'", names_account_kind(spec->kind), spec->name);
    }
    return ERR_OK;
}

enum err engine_edits_quota(struct engine *engine, const struct quota_body *body, struct error *e)
{
    const struct account *account = query_account_named(engine->core, body->kind, body->account);
    const struct pool *pool = query_pool_named(engine->core, body->pool);
    if (account == NULL || pool == NULL) {
        return fail(e, ERR_INVALID, "there is no %s '%s'",
                    pool == NULL ? "pool" : names_account_kind(body->kind),
                    pool == NULL ? body->pool : body->account);
    }
    struct input in = {.type = INPUT_QUOTA_SET, .actor = "user:sim"};
    in.quota.account = account->id;
    in.quota.pool = pool->id;
    in.quota.spec = &body->spec;
    struct facts facts;
    if (engine_input(engine, &in, &facts) != VERDICT_OK) {
        return engine_edits_refused(engine, &facts.refusal, e);
    }
    return ERR_OK;
}

/* ---- events ---- */

static must_use enum err quota_change(struct engine *engine, const struct doc *doc, struct error *e)
{
    struct quota_body *body = arena_new(&engine->arena, struct quota_body, 1);
    enum err r = quota_spec_body_whose(doc, &engine->arena, body, e);
    if (r != ERR_OK) {
        return r;
    }
    const struct account *account = query_account_named(engine->core, body->kind, body->account);
    const struct pool *pool = query_pool_named(engine->core, body->pool);
    if (account != NULL && pool != NULL) {
        struct quota_spec now;
        query_quota_spec(engine->core, account->id, pool->id, &engine->arena, &now);
        quota_spec_body_from(body, &now);
    }
    r = quota_spec_body_read(doc, &engine->arena, body, e);
    return r == ERR_OK ? engine_edits_quota(engine, body, e) : r;
}

static must_use enum err pool_change(struct engine *engine, const struct doc *doc, struct error *e)
{
    struct pool_spec spec;
    enum err r = pool_spec_read(doc, &engine->arena, &spec, e);
    const struct pool *pool = r == ERR_OK ? query_pool_named(engine->core, spec.name) : NULL;
    if (pool != NULL) {
        query_pool_spec(engine->core, pool->id, &engine->arena, &spec);
        r = pool_spec_patch(doc, &engine->arena, &spec, e);
    }
    return r == ERR_OK ? engine_edits_pool(engine, &spec, e) : r;
}

static must_use enum err account_change(struct engine *engine, const struct doc *doc,
                                        enum account_kind kind, struct error *e)
{
    struct account_spec spec;
    enum err r = account_spec_read(doc, kind, &engine->arena, &spec, e);
    const struct account *account =
        r == ERR_OK ? query_account_named(engine->core, kind, spec.name) : NULL;
    if (account != NULL) {
        query_account_spec(engine->core, account->id, &engine->arena, &spec);
        r = account_spec_patch(doc, &engine->arena, &spec, e);
    }
    return r == ERR_OK ? engine_edits_account(engine, &spec, e) : r;
}

enum err engine_edits_action(struct engine *engine, const struct scenario_action *action,
                             struct error *e)
{
    const struct doc *body = action->body;
    must(body != NULL);
    if (action->type == ACTION_QUOTA) {
        return quota_change(engine, body, e);
    }
    if (action->type == ACTION_POOL) {
        return pool_change(engine, body, e);
    }
    return account_change(engine, body,
                          action->type == ACTION_PROJECT ? ACCOUNT_PROJECT : ACCOUNT_DEPARTMENT, e);
}
