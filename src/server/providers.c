/* providers.c - see providers.h. SPDX-License-Identifier: Apache-2.0 */
#include "server/providers.h"

#include "api/join.h"
#include "base/log.h"
#include "core/core.h"
#include "core/model/effect.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "io/loop.h"
#include "provider/ec2/ec2.h"
#include "provider/local/local.h"
#include "provider/provider.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    LIST_MS = 2000,       /* from one look at all machines to the next */
    LIST_IDLE_MS = 60000, /* likewise, while there are no launches */
    URL_MAX = 512,
    FINGERPRINT_MAX = 128,
    NODE_NAME_MAX = NAME_LEN_MAX + 1,
};

/* What a provider has said and the core does not know yet. */
struct provider_said {
    struct provider_answer answer;
    char name[TEXT_LEN_MAX + 1];
    char node[NAME_LEN_MAX + 1];
    char words[TEXT_LEN_MAX + 1];
};

/* A machine that the list under way has named. */
struct listed {
    launch_id launch;
    enum provider_says says;
};

struct providers {
    struct providers_options o;
    struct provider *at[POOL_PROVIDER_COUNT]; /* NULL: the kind has none, or it could not be made */
    struct loop_timer *timer;
    char url[URL_MAX]; /* "": no order may go out yet */
    char fingerprint[FINGERPRINT_MAX];
    VEC(struct provider_said *) said;
    struct provider *listing; /* whose list is under way; NULL: none */
    VEC(struct listed) listed;
    bool unknown; /* a provider has a machine that no launch knows: the next list comes at once */
};

/* A launch whose join token is on its way to the disk. */
struct launching {
    struct parked_answer hold;
    struct providers *providers;
    launch_id launch;
    char secret[TOKEN_SECRET_MAX];
};

static struct provider *provider_of(const struct providers *providers, pool_id id)
{
    const struct pool *pool = query_pool(ledger_core(providers->o.ledger), id);
    return pool == NULL ? NULL : providers->at[pool->provider];
}

/* ---- what providers say ---- */

static void said_add(struct providers *providers, const struct provider_answer *answer)
{
    struct provider_said *said = xcalloc(1, sizeof *said);
    said->answer = *answer;
    (void)str_copy(said->name, sizeof said->name, answer->name);
    (void)str_copy(said->node, sizeof said->node, answer->node);
    (void)str_copy(said->words, sizeof said->words, answer->words);
    said->answer.name = said->name;
    said->answer.node = said->node;
    said->answer.words = said->words;
    vec_push(&providers->said, said);
    loop_wake(providers->o.loop);
}

static void reported(void *ctx, const struct provider_report *report)
{
    struct providers *providers = ctx;
    const struct core *core = ledger_core(providers->o.ledger);
    struct provider_answer answer;
    if (core == NULL || !provider_answer_of(query_server_uuid(core), report, &answer)) {
        return; /* another server's machine, or no state to compare with */
    }
    if (providers->listing != NULL) {
        vec_push(&providers->listed, ((struct listed){answer.launch, answer.says}));
    } else if (!providers->unknown && answer.says <= PROVIDER_RUNNING &&
               query_launch(core, answer.launch) == NULL) {
        providers->unknown = true;
        loop_timer_set(providers->timer, loop_now_ms(providers->o.loop));
    }
    said_add(providers, &answer);
}

static void token_put(void *ctx, const struct store_token *token)
{
    ledger_token(ctx, token);
}

/* The credentials of the nodes that these facts remove must not let anybody in again. */
static void credentials_revoke(struct providers *providers, const struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type == FACT_NODE_STATE && fact->node_state.state == NODE_REMOVED) {
            token_set_revoke_node(
                providers->o.tokens,
                query_node_name(ledger_core(providers->o.ledger), fact->node_state.node), token_put,
                providers->o.ledger);
        }
    }
}

void providers_turn_end(struct providers *providers)
{
    if (providers->said.count == 0 || ledger_state(providers->o.ledger) != LEDGER_OPEN) {
        return;
    }
    struct arena arena;
    struct facts facts;
    arena_init(&arena);
    fact_list_init(&facts, &arena);
    const size_t count = providers->said.count;
    struct provider_answer *answers = arena_new(&arena, struct provider_answer, count);
    for (size_t i = 0; i < count; i++) {
        answers[i] = providers->said.at[i]->answer;
    }
    struct input in = {.type = INPUT_PROVIDER,
                       .actor = "provider",
                       .cause = "",
                       .provider = {.answers = answers, .count = (uint32_t)count}};
    must(ledger_input(providers->o.ledger, &in, &facts) == VERDICT_OK);
    credentials_revoke(providers, &facts);
    arena_done(&arena);
    for (size_t i = 0; i < count; i++) {
        free(providers->said.at[i]);
    }
    vec_clear(&providers->said);
}

/* ---- orders ---- */

/* The rest of an order: what the pool says. */
static void settings_set(const struct core *core, const struct launch *launch, struct arena *arena,
                         struct provider_order *order)
{
    struct pool_spec *settings = arena_new(arena, struct pool_spec, 1);
    query_pool_spec(core, launch->pool, arena, settings);
    order->settings = settings;
    order->named = query_launch_name(launch)[0] != '\0';
    order->flavor = "";
    order->zone = "";
}

static void launch_now(struct providers *providers, const struct core *core,
                       const struct launch *launch, const char *secret)
{
    const struct pool *pool = query_pool(core, launch->pool);
    struct provider *provider = provider_of(providers, launch->pool);
    char key[PROVIDER_KEY_MAX];
    char node[NODE_NAME_MAX + 32];
    char token[TOKEN_SECRET_MAX + FINGERPRINT_MAX + 1];
    const char *dot = providers->fingerprint[0] != '\0' ? "." : "";
    must(pool != NULL);
    (void)snprintf(token, sizeof token, "%s%s%s", secret, dot, providers->fingerprint);
    provider_key(query_server_uuid(core), launch->id, key);
    (void)snprintf(node, sizeof node, "%s-%" PRIu64, query_pool_name(core, launch->pool),
                   launch->id.v);
    if (provider == NULL || strlen(node) > NAME_LEN_MAX) {
        const struct provider_answer none = {
            .launch = launch->id,
            .says = PROVIDER_FAILED,
            .name = "",
            .node = "",
            .words = provider == NULL ? "this server cannot bring up such nodes"
                                      : "the name of the pool is too long for names of nodes",
        };
        said_add(providers, &none);
        return;
    }
    struct arena arena;
    struct provider_order order = {
        .key = key,
        .pool = query_pool_name(core, launch->pool),
        .node = node,
        .slots = pool->node_slots,
        .gpus = pool->node_gpus,
        .cpu_milli = pool->node_cpu_milli,
        .memory_bytes = pool->node_memory_bytes,
        .server = providers->url,
        .join_token = token,
    };
    arena_init(&arena);
    settings_set(core, launch, &arena, &order);
    provider->ops->launch(provider, &order);
    arena_done(&arena);
}

static void token_stored(struct parked_answer *hold, const struct error *failure)
{
    struct launching *launching = (struct launching *)(void *)hold;
    struct providers *providers = launching->providers;
    const struct core *core = ledger_core(providers->o.ledger);
    const struct launch *launch =
        failure != NULL || core == NULL ? NULL : query_launch(core, launching->launch);
    if (launch != NULL && launch->state != LAUNCH_ENDING) {
        launch_now(providers, core, launch, launching->secret);
    }
    free(launching);
}

/* Makes a join token for one node, and launches when the token is on disk. */
static void launch_order(struct providers *providers, const struct core *core,
                         const struct launch *launch)
{
    struct launching *launching = xcalloc(1, sizeof *launching);
    struct store_token token;
    const char *pool = query_pool_name(core, launch->pool);
    const int64_t now_ms = ledger_now_ms(providers->o.ledger);
    token_make(SCOPE_JOIN, pool, now_ms, &token, launching->secret);
    join_limit(&token, pool, 1);
    token.expires_ms = now_ms + JOIN_EXPIRES_MS;
    launching->providers = providers;
    launching->launch = launch->id;
    launching->hold.fn = token_stored;
    ledger_token(providers->o.ledger, &token);
    ledger_hold(providers->o.ledger, &launching->hold);
}

static void end_order(struct providers *providers, const struct core *core, launch_id launch,
                      pool_id pool)
{
    struct provider *provider = provider_of(providers, pool);
    char key[PROVIDER_KEY_MAX];
    provider_key(query_server_uuid(core), launch, key);
    if (provider != NULL) {
        provider->ops->terminate(provider, key);
        return;
    }
    const struct provider_answer gone = {
        .launch = launch, .says = PROVIDER_GONE, .name = "", .node = "", .words = ""};
    said_add(providers, &gone);
}

static void order_give(struct providers *providers, const struct effect *effect)
{
    const struct core *core = ledger_core(providers->o.ledger);
    const struct launch *launch = core == NULL ? NULL : query_launch(core, effect->launch);
    if (launch == NULL || providers->url[0] == '\0' ||
        ledger_state(providers->o.ledger) != LEDGER_OPEN) {
        return; /* providers_start() and providers_healed() give the order again */
    }
    loop_timer_set(providers->timer, loop_now_ms(providers->o.loop) + LIST_MS);
    if (effect->type == EFFECT_LAUNCH) {
        launch_order(providers, core, launch);
    } else {
        end_order(providers, core, launch->id, launch->pool);
    }
}

void providers_committed(struct providers *providers, const struct batch *batch)
{
    for (size_t i = 0; i < batch->effects.count; i++) {
        const enum effect_type type = batch->effects.at[i].type;
        if (type == EFFECT_LAUNCH || type == EFFECT_TERMINATE) {
            order_give(providers, &batch->effects.at[i]);
        }
    }
}

void providers_healed(struct providers *providers)
{
    const struct core *core = ledger_core(providers->o.ledger);
    must(core != NULL);
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        const bool ends = launch->state == LAUNCH_ENDING;
        order_give(providers, &(struct effect){.type = ends ? EFFECT_TERMINATE : EFFECT_LAUNCH,
                                               .launch = launch->id});
    }
}

void providers_trust(struct providers *providers, const char *fingerprint)
{
    must(str_copy(providers->fingerprint, sizeof providers->fingerprint, fingerprint));
}

/* ---- what the provider ec2 asks ---- */

static bool ec2_settings(void *ctx, const char *key, struct arena *arena, struct pool_spec *ret)
{
    struct providers *providers = ctx;
    const struct core *core = ledger_core(providers->o.ledger);
    const struct provider_report report = {.key = key};
    struct provider_answer answer;
    if (core == NULL || !provider_answer_of(query_server_uuid(core), &report, &answer)) {
        return false;
    }
    const struct launch *launch = query_launch(core, answer.launch);
    if (launch != NULL) {
        query_pool_spec(core, launch->pool, arena, ret);
    }
    return launch != NULL;
}

static void ec2_pools(void *ctx, void (*each)(void *each_ctx, const struct pool_spec *pool),
                      void *each_ctx)
{
    struct providers *providers = ctx;
    const struct core *core = ledger_core(providers->o.ledger);
    struct arena arena;
    struct pool_spec spec;
    arena_init(&arena);
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        if (pool->provider == POOL_EC2) {
            query_pool_spec(core, pool->id, &arena, &spec);
            each(each_ctx, &spec);
            arena_clear(&arena);
        }
    }
    arena_done(&arena);
}

void providers_start(struct providers *providers, const char *url, const char *fingerprint)
{
    const struct ec2_host host = {.ctx = providers, .settings = ec2_settings, .pools = ec2_pools};
    const struct provider_sink sink = {.ctx = providers, .report = reported};
    const struct core *core = ledger_core(providers->o.ledger);
    must(core != NULL);
    providers->at[POOL_EC2] = ec2_provider_new(providers->o.loop, query_server_uuid(core),
                                               providers->o.ec2_credentials, host, sink);
    must(str_copy(providers->url, sizeof providers->url, url));
    providers_trust(providers, fingerprint);
    providers_healed(providers);
    loop_timer_set(providers->timer, loop_now_ms(providers->o.loop) + LIST_MS);
}

/* ---- the list ---- */

static bool is_listed(const struct providers *providers, launch_id launch)
{
    for (size_t i = 0; i < providers->listed.count; i++) {
        if (providers->listed.at[i].launch.v == launch.v) {
            return true;
        }
    }
    return false;
}

/* A machine is there. Ends a machine that no launch knows or whose launch ends. A machine of which only the tasks run
 * needs its agent. */
static void machine_look(struct providers *providers, const struct core *core,
                         struct provider *whose, struct listed listed)
{
    const struct launch *launch = query_launch(core, listed.launch);
    if (launch == NULL) {
        char key[PROVIDER_KEY_MAX];
        provider_key(query_server_uuid(core), listed.launch, key);
        whose->ops->terminate(whose, key);
    } else if (launch->state == LAUNCH_ENDING && listed.says != PROVIDER_GONE) {
        end_order(providers, core, launch->id, launch->pool);
    } else if (whose == providers->at[POOL_LOCAL] && launch->state == LAUNCH_RUNNING &&
               listed.says == PROVIDER_REQUESTED) {
        launch_order(providers, core, launch);
    }
}

/* A list has come. The provider ends what is left of a machine that it no longer has, and says that it is gone. */
static void list_done(void *ctx)
{
    struct providers *providers = ctx;
    const struct core *core = ledger_core(providers->o.ledger);
    struct provider *whose = steal(providers->listing);
    for (size_t i = 0; i < providers->listed.count; i++) {
        machine_look(providers, core, whose, providers->listed.at[i]);
    }
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        if (launch->state != LAUNCH_ASKED && provider_of(providers, launch->pool) == whose &&
            !is_listed(providers, launch->id)) {
            end_order(providers, core, launch->id, launch->pool);
        }
    }
}

static void list_due(void *ctx)
{
    struct providers *providers = ctx;
    const bool open = ledger_state(providers->o.ledger) == LEDGER_OPEN;
    const bool ready = open && providers->said.count == 0;
    providers->unknown = false;
    for (unsigned i = 0; ready && i < POOL_PROVIDER_COUNT; i++) {
        if (providers->at[i] != NULL) {
            vec_clear(&providers->listed);
            providers->listing = providers->at[i];
            providers->at[i]->ops->list(providers->at[i], list_done, providers);
        }
    }
    const bool any =
        open && query_launch_next(ledger_core(providers->o.ledger), (launch_id){0}) != NULL;
    loop_timer_set(providers->timer,
                   loop_now_ms(providers->o.loop) + (any || !ready ? LIST_MS : LIST_IDLE_MS));
}

/* ---- life ---- */

struct providers *providers_new(const struct providers_options *options)
{
    struct providers *providers = xcalloc(1, sizeof *providers);
    char dir[4096];
    struct error e;
    providers->o = *options;
    providers->timer = loop_timer_new(options->loop, list_due, providers);
    const struct provider_sink sink = {.ctx = providers, .report = reported};
    const int len = snprintf(dir, sizeof dir, "%s/local", options->dir);
    must(len > 0);
    if ((size_t)len >= sizeof dir ||
        local_provider_new(dir, sink, &providers->at[POOL_LOCAL], &e) != ERR_OK) {
        log_warn("pools with the provider local get no nodes", kv_error(&e));
    }
    return providers;
}

void providers_free(struct providers *providers)
{
    if (providers == NULL) {
        return;
    }
    loop_timer_free(providers->timer);
    for (unsigned i = 0; i < POOL_PROVIDER_COUNT; i++) {
        if (providers->at[i] != NULL) {
            providers->at[i]->ops->free(providers->at[i]);
        }
    }
    for (size_t i = 0; i < providers->said.count; i++) {
        free(providers->said.at[i]);
    }
    vec_done(&providers->said);
    vec_done(&providers->listed);
    free(providers);
}
