/* state_file.c - see state_file.h. Objects that the readers of spec/ accept go through them.
 * Other values (milliseconds, amounts of nodes) are read here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/state_file.h"

#include "base/amount.h"
#include "base/name.h"
#include "core/model/spec_codec.h"
#include "core/model/spec_limits.h"
#include "sim/state_internal.h"
#include "spec/flavor_spec.h"
#include "spec/account_spec.h"
#include "spec/pool_spec.h"
#include "wire/state_json.h"
#include "base/time_text.h"

#include <inttypes.h>

typedef enum err (*item_fn)(struct sim_state *state, const struct doc *item, struct error *e);

enum err state_file_check(const struct sim_state *state, struct error *e)
{
    if (state->wrong == NULL) {
        return ERR_OK;
    }
    return fail(e, ERR_INVALID, "%s is no number of 0 to %" PRId64, state->wrong, AMOUNT_MS_MAX);
}

static must_use enum err item_read(struct sim_state *state, const struct doc *item, item_fn read,
                                   struct error *e)
{
    state->wrong = NULL;
    enum err r = read(state, item, e);
    return r == ERR_OK ? state_file_check(state, e) : r;
}

static must_use enum err list_each(struct sim_state *state, const struct doc *doc, const char *name,
                                   item_fn read, struct error *e)
{
    const struct doc *list = doc_get(doc, name);
    uint32_t index = 0;
    if (list == NULL || list->kind != DOC_LIST) {
        return fail(e, ERR_INVALID, "there is no list '%s': is it the state of a server?", name);
    }
    for (const struct doc *item = list->first; item != NULL; item = item->next) {
        if (item->kind != DOC_MAP) {
            return fail(e, ERR_INVALID, "%u:%u: %s[%u] is no object", item->line, item->column,
                        name, index);
        }
        if (item_read(state, item, read, e) != ERR_OK) {
            return fail_in(e, "%u:%u: %s[%u]", item->line, item->column, name, index);
        }
        index++;
    }
    return ERR_OK;
}

int64_t state_file_ms(struct sim_state *state, const struct doc *map, const char *name,
                      int64_t otherwise)
{
    const struct doc *value = doc_get(map, name);
    const int64_t low = otherwise < 0 ? -1 : 0;
    int64_t ms = otherwise;
    if (value == NULL || value->kind == DOC_NULL) {
        return otherwise;
    }
    if (!doc_i64(value, &ms) || ms < low || ms > AMOUNT_MS_MAX) {
        state->wrong = name;
        return otherwise;
    }
    return ms;
}

const char *state_file_text(const struct doc *map, const char *name)
{
    const char *text = "";
    (void)doc_text(doc_get(map, name), &text);
    return text;
}

bool state_file_yes(const struct doc *map, const char *name)
{
    bool yes = false;
    (void)doc_bool(doc_get(map, name), &yes);
    return yes;
}

/* ---- pools and accounts ---- */

static enum err flavor_read(struct sim_state *state, const struct doc *item, struct error *e)
{
    const struct doc *spec = doc_get(item, "spec");
    struct flavor_spec flavor;
    if (spec == NULL || spec->kind != DOC_MAP) {
        return fail(e, ERR_INVALID, "spec is missing");
    }
    flavor_spec_init(&flavor);
    enum err r = flavor_spec_patch(spec, state->arena, &flavor, e);
    if (r == ERR_OK) {
        vec_push(&state->scenario->flavors, flavor);
    }
    return r;
}

/* An export has no past use of accounts: usage history begins with the simulation. */
static enum err pool_read(struct sim_state *state, const struct doc *item, struct error *e)
{
    struct pool_spec spec;
    enum err r = pool_spec_again(item, state->arena, &spec, e);
    if (r == ERR_OK) {
        const char *standing = state_file_text(item, "state");
        spec.network = ""; /* the simulator has no networks: they change no placement */
        vec_push(&state->scenario->pools, spec);
        if (strcmp(standing, "closing") == 0 || strcmp(standing, "closed") == 0) {
            vec_push(&state->scenario->closed, arena_str(state->arena, spec.name));
        } else if (strcmp(standing, "pending-delete") == 0) {
            vec_push(&state->scenario->deleted, arena_str(state->arena, spec.name));
        }
    }
    return r;
}

static must_use enum err account_read(struct sim_state *state, const struct doc *item,
                                      enum account_kind kind, struct error *e)
{
    struct account_spec spec;
    enum err r = account_spec_again(item, kind, state->arena, &spec, e);
    if (r == ERR_OK) {
        vec_push(&state->scenario->accounts, spec);
    }
    return r;
}

static enum err department_read(struct sim_state *state, const struct doc *item, struct error *e)
{
    return account_read(state, item, ACCOUNT_DEPARTMENT, e);
}

static enum err project_read(struct sim_state *state, const struct doc *item, struct error *e)
{
    return account_read(state, item, ACCOUNT_PROJECT, e);
}

static enum err quota_read(struct sim_state *state, const struct doc *item, struct error *e)
{
    struct quota_body *body = arena_new(state->arena, struct quota_body, 1);
    quota_spec_body_init(body);
    enum err r = quota_spec_again(item, state->arena, body, e);
    if (r == ERR_OK) {
        vec_push(&state->scenario->quotas, body);
    }
    return r;
}

/* ---- nodes ---- */

static must_use enum err amount_read(const struct doc *value, const char *name,
                                     struct node_spec *spec, struct named_amount *named,
                                     struct error *e)
{
    const struct doc *total = value->kind == DOC_MAP ? doc_get(value, "total") : NULL;
    if (total == NULL || total->kind != DOC_NUMBER) {
        return fail(e, ERR_INVALID, "resources.%s.total is missing", name);
    }
    if (strcmp(name, "memory") == 0) {
        return amount_bytes(total->text, &spec->memory_bytes, e);
    }
    if (strcmp(name, "slots") == 0) {
        return amount_milli(total->text, &spec->slots_milli, e);
    }
    if (strcmp(name, "cpu") == 0) {
        return amount_milli(total->text, &spec->cpu_milli, e);
    }
    if (spec->resource_count == NODE_RESOURCES_MAX) {
        return fail(e, ERR_LIMIT, "more than %d resources", NODE_RESOURCES_MAX);
    }
    named[spec->resource_count].name = name;
    return amount_milli(total->text, &named[spec->resource_count++].milli, e);
}

static void labels_read(struct sim_state *state, const struct doc *labels, struct node_spec *spec)
{
    struct label *list = arena_new(state->arena, struct label, NODE_LABELS_MAX);
    for (const struct doc *item = labels->first; item != NULL; item = item->next) {
        if (spec->label_count < NODE_LABELS_MAX && item->kind == DOC_STRING) {
            list[spec->label_count++] = (struct label){item->key.p, item->text.p};
        }
    }
    spec->labels = list;
}

static must_use enum err node_check(const struct node_spec *spec, struct error *e)
{
    const char *limit;
    int64_t most;
    enum err r = name_check(str_of(spec->name), "a node", e);
    if (r == ERR_OK && !spec_limits_node(spec, &limit, &most)) {
        return fail(e, ERR_LIMIT, "%s: at most %" PRId64, limit, most);
    }
    return r;
}

static enum err node_read(struct sim_state *state, const struct doc *item, struct error *e)
{
    if (state->scenario->nodes.count >= state->scenario->nodes_max) {
        return fail(e, ERR_LIMIT, "more than %u nodes", state->scenario->nodes_max);
    }
    struct named_amount *named = arena_new(state->arena, struct named_amount, NODE_RESOURCES_MAX);
    struct node_spec spec = {
        .name = state_file_text(item, "name"),
        .pool = state_file_text(item, "pool"),
        .resources = named,
        .boot_id = "",
        .address = "",
        .version = "",
    };
    const struct doc *resources = doc_get(item, "resources");
    const struct doc *devices = doc_get(item, "devices");
    const struct doc *labels = doc_get(item, "labels");
    if (resources == NULL || resources->kind != DOC_MAP) {
        return fail(e, ERR_INVALID, "resources are missing");
    }
    for (const struct doc *at = resources->first; at != NULL; at = at->next) {
        enum err r = amount_read(at, at->key.p, &spec, named, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    spec.device_count = devices != NULL && devices->kind == DOC_LIST ? devices->count : 0;
    if (labels != NULL) {
        labels_read(state, labels, &spec);
    }
    if (node_check(&spec, e) != ERR_OK) {
        return e->code;
    }
    const bool away = strcmp(state_file_text(item, "state"), "up") != 0;
    vec_push(&state->scenario->nodes, ((struct cluster_node){.spec = spec, .later = away}));
    if (!away && state_file_yes(item, "draining")) {
        const struct scenario_action drain = {.type = ACTION_DRAIN, .target = spec.name};
        vec_push(&state->scenario->actions, drain);
    }
    return ERR_OK;
}

static bool pool_exists(const struct scenario *scenario, const char *name)
{
    for (size_t i = 0; i < scenario->pools.count; i++) {
        if (strcmp(scenario->pools.at[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Where tasks go that name no pool. It is `default` where the state does not say (an older server
 * wrote it), and where that pool was deleted. */
static void defaults_read(struct sim_state *state, const struct doc *doc)
{
    static const char *const names[POOL_DEFAULT_COUNT] = {
        [POOL_DEFAULT_GPU] = "gpu_pool", [POOL_DEFAULT_CPU] = "cpu_pool"};
    const struct doc *defaults = doc_get(doc, "defaults");
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT && defaults != NULL; i++) {
        const char *name = state_file_text(defaults, names[i]);
        state->scenario->default_pools[i] = pool_exists(state->scenario, name) ? name : NULL;
    }
}

enum err state_file_read(struct str text, const char *file, int64_t runs_ms,
                         struct scenario *scenario, struct error *e)
{
    struct sim_state state = {.scenario = scenario, .arena = &scenario->arena, .runs_ms = runs_ms};
    struct doc *doc;
    enum err r = doc_json_parse(&scenario->arena, text, &doc, e);
    if (r == ERR_OK &&
        (doc->kind != DOC_MAP || state_file_ms(&state, doc, "version", 0) != STATE_JSON_VERSION)) {
        r = fail(e, ERR_INVALID, "version %d of a server's state is wanted", STATE_JSON_VERSION);
    }
    if (r == ERR_OK) {
        (void)time_text_parse(str_of(state_file_text(doc, "time")), &state.time_ms);
        scenario->begins_ms = state.time_ms;
        /* A server before flavors has none. */
        r = doc_get(doc, "flavors") == NULL ? ERR_OK
                                            : list_each(&state, doc, "flavors", flavor_read, e);
        r = r == ERR_OK ? list_each(&state, doc, "pools", pool_read, e) : r;
        defaults_read(&state, doc);
    }
    r = r == ERR_OK ? list_each(&state, doc, "departments", department_read, e) : r;
    r = r == ERR_OK ? list_each(&state, doc, "projects", project_read, e) : r;
    r = r == ERR_OK ? list_each(&state, doc, "quotas", quota_read, e) : r;
    r = r == ERR_OK ? list_each(&state, doc, "nodes", node_read, e) : r;
    r = r == ERR_OK ? state_tasks_read(&state, doc, e) : r;
    return r == ERR_OK ? r : fail_in(e, "%s", file);
}
