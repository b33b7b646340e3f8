/* config_plan.c - see config_plan.h.
 *
 * Each input is tried on a copy, in the order: flavors, networks, pools, defaults, departments, projects, quotas; then, to prune,
 * quotas, projects, departments, pools, flavors, networks. An input that leaves the JSON of its object as it was is no change.
 * Numbers of new objects follow from the state, so the inputs do the same to the state that was copied.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/config_plan.h"

#include "api/objects.h"
#include "base/map.h"
#include "core/model/object.h"
#include "wire/object_json.h"
#include "wire/reason_text.h"
#include "wire/state_json.h"

#include <string.h>

enum { OBJECT_JSON_MAX = 1 << 20 };

struct planner {
    struct core *copy;
    int64_t now_ms;
    struct arena *arena;
    struct map *named; /* the keys of what the file names */
    struct config_plan *plan;
};

/* ---- objects as JSON ---- */

static void pool_write(struct json_out *j, const struct planner *planner, const char *name)
{
    const struct pool *pool = query_pool_named(planner->copy, name);
    if (pool_has_tasks(pool)) {
        struct pool_spec spec;
        query_pool_spec(planner->copy, pool->id, planner->arena, &spec);
        object_json_pool(j, &spec);
    }
}

static void flavor_write(struct json_out *j, const struct planner *planner, const char *name)
{
    const struct flavor *flavor = query_flavor_named(planner->copy, name);
    if (flavor != NULL) {
        struct flavor_spec spec;
        query_flavor_spec(planner->copy, flavor->id, planner->arena, &spec);
        object_json_flavor(j, &spec);
    }
}

static void network_write(struct json_out *j, const struct planner *planner, const char *name)
{
    const struct network *network = query_network_named(planner->copy, name);
    if (network != NULL) {
        struct network_spec spec;
        query_network_spec(planner->copy, network->id, planner->arena, &spec);
        object_json_network(j, &spec);
    }
}

/* Without the counts of the API's object, which no file says. */
static void account_write(struct json_out *j, const struct planner *planner, enum account_kind kind,
                          const char *name)
{
    const struct account *account = query_account_named(planner->copy, kind, name);
    if (account != NULL) {
        struct account_spec spec;
        query_account_spec(planner->copy, account->id, planner->arena, &spec);
        object_json_account(j, &spec);
    }
}

static void defaults_write(struct json_out *j, const struct planner *planner)
{
    json_out_put(j, "{gpu_pool:%s,cpu_pool:%s}",
                 query_default_pool(planner->copy, POOL_DEFAULT_GPU),
                 query_default_pool(planner->copy, POOL_DEFAULT_CPU));
}

/* The object of a change as it is in the copy now. Empty: there is none. */
static struct str object_text(const struct planner *planner, const struct config_change *change)
{
    struct buf out;
    struct json_out j;
    buf_init(&out, OBJECT_JSON_MAX);
    json_out_init(&j, &out);
    if (strcmp(change->kind, "pool") == 0) {
        pool_write(&j, planner, change->name);
    } else if (strcmp(change->kind, "flavor") == 0) {
        flavor_write(&j, planner, change->name);
    } else if (strcmp(change->kind, "network") == 0) {
        network_write(&j, planner, change->name);
    } else if (strcmp(change->kind, "project") == 0) {
        account_write(&j, planner, ACCOUNT_PROJECT, change->name);
    } else if (strcmp(change->kind, "department") == 0) {
        account_write(&j, planner, ACCOUNT_DEPARTMENT, change->name);
    } else if (strcmp(change->kind, "defaults") == 0) {
        defaults_write(&j, planner);
    } else {
        state_json_quota(&j, planner->copy, change->input.quota.account, change->input.quota.pool,
                         planner->arena);
    }
    must(!out.full);
    struct str text = {arena_strn(planner->arena, buf_text(&out), out.len), out.len};
    buf_done(&out);
    return text;
}

/* ---- trying ---- */

static const char *refusal_text(const struct planner *planner, const struct facts *facts)
{
    struct buf text;
    buf_init(&text, ERROR_TEXT_MAX);
    reason_text(planner->copy, &facts->refusal, &text);
    const char *kept = arena_str(planner->arena, buf_text(&text));
    buf_done(&text);
    return kept;
}

/* Tries the change on the copy and notes it, if it changes anything. False: the core refused it, and with
 * `quiet` the refusal was not noted. */
static bool change_try(struct planner *planner, const struct config_change *asked, bool quiet)
{
    struct config_change change = *asked;
    struct facts facts;
    change.input.actor = "server";
    change.input.cause = "config";
    change.input.now_ms = planner->now_ms;
    change.before = object_text(planner, &change);
    fact_list_init(&facts, planner->arena);
    const bool done = core_decide(planner->copy, &change.input, &facts) == VERDICT_OK;
    if (done) {
        for (size_t i = 0; i < facts.count; i++) {
            core_apply(planner->copy, &facts.at[i]);
        }
        change.after = object_text(planner, &change);
        if (change.deed != CONFIG_DELETE && str_equal(change.before, change.after)) {
            return true;
        }
    } else if (!quiet) {
        change.refusal = refusal_text(planner, &facts);
        planner->plan->refused++;
    }
    if (done || !quiet) {
        vec_push(&planner->plan->changes, change);
    }
    return done;
}

static void pool_plan(struct planner *planner, const struct pool_spec *want)
{
    const struct pool *pool = query_pool_named(planner->copy, want->name);
    struct config_change change = {.kind = "pool", .name = want->name};
    if (pool != NULL && !pool_has_tasks(pool)) {
        /* The pool was deleted and comes back; then it gets what the file says. */
        change.input = (struct input){.type = INPUT_POOL_RESTORE, .pool = {.pool = pool->id}};
        (void)change_try(planner, &change, false);
        pool = query_pool_named(planner->copy, want->name);
    }
    change.input = (struct input){.type = INPUT_POOL_CREATE, .pool = {.spec = want}};
    if (pool != NULL) {
        struct pool_spec have;
        query_pool_spec(planner->copy, pool->id, planner->arena, &have);
        if (object_equal(&pool_object, &have, want)) {
            return;
        }
        change.deed = CONFIG_CHANGE;
        change.tasks = pool->task_count;
        change.input.type = INPUT_POOL_EDIT;
        change.input.pool.pool = pool->id;
    }
    (void)change_try(planner, &change, false);
}

static void flavor_plan(struct planner *planner, const struct flavor_spec *want)
{
    const struct flavor *flavor = query_flavor_named(planner->copy, want->name);
    struct config_change change = {.kind = "flavor", .name = want->name};
    change.input = (struct input){.type = INPUT_FLAVOR_SET, .flavor = {.spec = want}};
    if (flavor != NULL) {
        change.deed = CONFIG_CHANGE;
        change.input.flavor.flavor = flavor->id;
    }
    (void)change_try(planner, &change, false);
}

static void network_plan(struct planner *planner, const struct network_spec *want)
{
    const struct network *network = query_network_named(planner->copy, want->name);
    struct config_change change = {.kind = "network", .name = want->name};
    change.input = (struct input){.type = INPUT_NETWORK_SET, .network = {.spec = want}};
    if (network != NULL) {
        change.deed = CONFIG_CHANGE;
        change.input.network.network = network->id;
    }
    (void)change_try(planner, &change, false);
}

static void defaults_plan(struct planner *planner, const struct server_file *file)
{
    struct config_change change = {.deed = CONFIG_CHANGE, .kind = "defaults", .name = ""};
    change.input = (struct input){.type = INPUT_DEFAULTS_SET};
    change.input.defaults.pools[POOL_DEFAULT_GPU] = file->gpu_pool;
    change.input.defaults.pools[POOL_DEFAULT_CPU] = file->cpu_pool;
    (void)change_try(planner, &change, false);
}

static bool account_plan(struct planner *planner, const struct account_spec *want, bool quiet)
{
    const struct account *account = query_account_named(planner->copy, want->kind, want->name);
    struct config_change change = {.kind = names_account_kind(want->kind), .name = want->name};
    change.input = (struct input){.type = INPUT_ACCOUNT_SET, .account = {.spec = want}};
    if (account != NULL) {
        change.deed = CONFIG_CHANGE;
        change.tasks = account->task_count;
        change.input.account.account = account->id;
    }
    return change_try(planner, &change, quiet);
}

/* A department may be declared before its parent, and two departments may change places. So each department is
 * tried again until the core accepts it, as often as the tree has levels. */
static void departments_plan(struct planner *planner, const struct server_file *file)
{
    bool *done = arena_new(planner->arena, bool, file->department_count + 1);
    for (uint32_t round = 1; round <= ACCOUNT_DEPTH_MAX; round++) {
        for (uint32_t i = 0; i < file->department_count; i++) {
            done[i] =
                done[i] || account_plan(planner, &file->departments[i], round < ACCOUNT_DEPTH_MAX);
        }
    }
}

static void quota_plan(struct planner *planner, const struct quota_body *want)
{
    const struct account *account = query_account_named(planner->copy, want->kind, want->account);
    const struct pool *pool = query_pool_named(planner->copy, want->pool);
    if (account == NULL || pool == NULL || pool->deleted) {
        return; /* the plan has the refusal that keeps the account or the pool from being made */
    }
    struct config_change change = {
        .deed = CONFIG_CHANGE,
        .kind = "quota",
        .name = want->account,
        .pool = want->pool,
        .tasks = account->task_count,
    };
    change.input =
        (struct input){.type = INPUT_QUOTA_SET, .quota = {account->id, pool->id, &want->spec}};
    (void)change_try(planner, &change, false);
}

/* ---- what the file does not name ---- */

/* A key that differs from object to object; `pool` is that of a quota, else "". */
static struct str key_of(const struct planner *planner, const char *kind, const char *name,
                         const char *pool)
{
    return str_of(arena_fmt(planner->arena, "%s\n%s\n%s", kind, name, pool));
}

static void key_put(struct planner *planner, struct str key)
{
    static char there;
    (void)map_put(planner->named, key.p, key.len, &there);
}

/* Remembers what the file names, and what always exists. */
static void names_gather(struct planner *planner, const struct server_file *file)
{
    const char *const accounts[] = {names_account_kind(ACCOUNT_DEPARTMENT),
                                    names_account_kind(ACCOUNT_PROJECT)};
    key_put(planner, key_of(planner, "pool", POOL_DEFAULT_NAME, ""));
    for (uint32_t i = 0; i < file->pool_count; i++) {
        key_put(planner, key_of(planner, "pool", file->pools[i].name, ""));
    }
    for (uint32_t i = 0; i < file->flavor_count; i++) {
        key_put(planner, key_of(planner, "flavor", file->flavors[i].name, ""));
    }
    for (uint32_t i = 0; i < file->network_count; i++) {
        key_put(planner, key_of(planner, "network", file->networks[i].name, ""));
    }
    for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++) {
        key_put(planner, key_of(planner, accounts[i], ACCOUNT_DEFAULT_NAME, ""));
    }
    for (uint32_t i = 0; i < file->department_count; i++) {
        key_put(planner, key_of(planner, accounts[0], file->departments[i].name, ""));
    }
    for (uint32_t i = 0; i < file->project_count; i++) {
        key_put(planner, key_of(planner, accounts[1], file->projects[i].name, ""));
    }
    for (uint32_t i = 0; i < file->quota_count; i++) {
        const struct quota_body *body = &file->quotas[i];
        key_put(planner,
                key_of(planner, names_account_kind(body->kind), body->account, body->pool));
    }
}

static bool named(const struct planner *planner, const char *kind, const char *name,
                  const char *pool)
{
    const struct str key = key_of(planner, kind, name, pool);
    return map_get(planner->named, key.p, key.len) != NULL;
}

/* Names the object, or deletes it. False: the core refused the deletion, quietly. */
static bool extra_take(struct planner *planner, const struct config_change *change, bool prune,
                       bool quiet)
{
    if (prune) {
        return change_try(planner, change, quiet);
    }
    const struct config_extra extra = {change->kind, change->name, change->pool, change->tasks};
    vec_push(&planner->plan->extras, extra);
    return true;
}

static void quotas_extra(struct planner *planner, bool prune)
{
    struct quota_spec *none = arena_new(planner->arena, struct quota_spec, 1);
    none->rules = quota_rules_none;
    account_id of = {0};
    pool_id in = {0};
    while (query_quota_next(planner->copy, &of, &in)) {
        const struct account *account = query_account(planner->copy, of);
        const char *name = query_account_name(planner->copy, of);
        const char *pool = query_pool_name(planner->copy, in);
        if (!named(planner, names_account_kind(account->kind), name, pool)) {
            struct config_change change = {.deed = CONFIG_DELETE,
                                           .kind = "quota",
                                           .name = arena_str(planner->arena, name),
                                           .pool = arena_str(planner->arena, pool),
                                           .tasks = account->task_count};
            change.input = (struct input){.type = INPUT_QUOTA_SET, .quota = {of, in, none}};
            (void)extra_take(planner, &change, prune, false);
        }
    }
}

/* Plans to delete an object if the file does not name the object. `change` gives the kind, name,
 * number of tasks and input. */
static void object_extra(struct planner *planner, struct config_change change, bool prune,
                         bool again)
{
    if (named(planner, change.kind, change.name, "")) {
        return;
    }
    change.deed = CONFIG_DELETE;
    change.name = arena_str(planner->arena, change.name);
    (void)extra_take(planner, &change, prune, again);
}

/* Plans to delete the departments or projects that the file does not name. A department can be
 * deleted only after the departments below it, which stand behind it where they are newer or were
 * moved, so deleting takes several rounds. */
static void accounts_extra(struct planner *planner, enum account_kind kind, bool prune)
{
    const uint32_t rounds = prune && kind == ACCOUNT_DEPARTMENT ? ACCOUNT_DEPTH_MAX : 1;
    for (uint32_t round = 1; round <= rounds; round++) {
        const struct account *account = query_account_next(planner->copy, (account_id){0});
        while (account != NULL) {
            const account_id id = account->id;
            if (account->kind == kind) {
                const struct config_change change = {
                    .kind = names_account_kind(kind),
                    .name = query_account_name(planner->copy, id),
                    .tasks = account->task_count,
                    .input = {.type = INPUT_ACCOUNT_DELETE, .account = {.account = id}}};
                object_extra(planner, change, prune, round < rounds);
            }
            account = query_account_next(planner->copy, id);
        }
    }
}

static void pools_extra(struct planner *planner, bool prune)
{
    const struct pool *pool = query_pool_next(planner->copy, (pool_id){0});
    while (pool != NULL) {
        const pool_id id = pool->id;
        if (pool_has_tasks(pool)) {
            const struct config_change change = {
                .kind = "pool",
                .name = query_pool_name(planner->copy, id),
                .tasks = pool->task_count,
                .input = {.type = INPUT_POOL_DELETE, .pool = {.pool = id}}};
            object_extra(planner, change, prune, false);
        }
        pool = query_pool_next(planner->copy, id);
    }
}

static void kind_extra(struct planner *planner, const struct objects_kind *objects,
                       const char *kind, bool prune)
{
    uint64_t key = 0;
    while ((key = objects->source.next(planner->copy, objects->filter, key)) != 0) {
        const struct config_change change = {
            .kind = kind, .name = objects->name(planner->copy, key), .input = objects->gone(key)};
        object_extra(planner, change, prune, false);
    }
}

void config_plan_make(const struct core *core, const struct server_file *file, bool prune,
                      int64_t now_ms, struct arena *arena, struct config_plan *ret)
{
    *ret = (struct config_plan){0};
    struct planner planner = {
        .copy = core_copy(core), .now_ms = now_ms, .arena = arena, .named = map_new(), .plan = ret};
    for (uint32_t i = 0; i < file->flavor_count; i++) {
        flavor_plan(&planner, &file->flavors[i]);
    }
    for (uint32_t i = 0; i < file->network_count; i++) {
        network_plan(&planner, &file->networks[i]);
    }
    for (uint32_t i = 0; i < file->pool_count; i++) {
        pool_plan(&planner, &file->pools[i]);
    }
    defaults_plan(&planner, file);
    departments_plan(&planner, file);
    for (uint32_t i = 0; i < file->project_count; i++) {
        (void)account_plan(&planner, &file->projects[i], false);
    }
    for (uint32_t i = 0; i < file->quota_count; i++) {
        quota_plan(&planner, &file->quotas[i]);
    }
    names_gather(&planner, file);
    quotas_extra(&planner, prune);
    accounts_extra(&planner, ACCOUNT_PROJECT, prune);
    accounts_extra(&planner, ACCOUNT_DEPARTMENT, prune);
    pools_extra(&planner, prune);
    kind_extra(&planner, &objects_named_flavors, "flavor", prune);
    kind_extra(&planner, &objects_named_networks, "network", prune);
    map_free(planner.named);
    core_free(planner.copy);
}

void config_plan_done(struct config_plan *plan)
{
    vec_done(&plan->changes);
    vec_done(&plan->extras);
}
