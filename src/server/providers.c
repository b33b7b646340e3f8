/* providers.c - see providers.h. SPDX-License-Identifier: Apache-2.0 */
#include "server/providers.h"

#include "api/join.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/core.h"
#include "core/model/effect.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "io/loop.h"
#include "provider/provider.h"
#include "server/crash.h"
#include "server/provider_seats.h"

#include <inttypes.h>
#include <stdio.h>

enum {
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

/* How long a join token is good for where a node may take any time until its agent joins. */
static const int64_t join_any_time_ms = (int64_t)30 * 24 * 3600 * 1000;

struct providers {
    struct providers_options o;
    struct provider_seats *seats;
    char url[URL_MAX]; /* "": no order may go out yet */
    char fingerprint[FINGERPRINT_MAX];
    VEC(struct provider_said *) said;
};

/* A launch whose join token is on its way to the disk. */
struct launching {
    struct parked_answer hold;
    struct providers *providers;
    launch_id launch;
    char secret[TOKEN_SECRET_MAX];
};

static struct provider *provider_of(const struct providers *providers, const struct core *core,
                                    pool_id id)
{
    const struct pool *pool = query_pool(core, id);
    return pool == NULL ? NULL : provider_seats_of(providers->seats, core, pool);
}

/* ---- what providers say ---- */

static void said_add(void *ctx, const struct provider_answer *answer)
{
    struct providers *providers = ctx;
    struct provider_said *said = xcalloc(1, sizeof *said);
    crash_point("provider-said");
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
    crash_point("provider-told");
    credentials_revoke(providers, &facts);
    arena_done(&arena);
    for (size_t i = 0; i < count; i++) {
        free(providers->said.at[i]);
    }
    vec_clear(&providers->said);
}

/* ---- orders ---- */

/* The rest of an order: what the pool and its flavor say. */
static void settings_set(const struct core *core, const struct launch *launch, struct arena *arena,
                         struct provider_order *order)
{
    struct pool_spec *settings = arena_new(arena, struct pool_spec, 1);
    query_pool_spec(core, launch->pool, arena, settings);
    order->settings = settings;
    order->named = query_launch_name(launch)[0] != '\0';
    const struct pool *pool = query_pool(core, launch->pool);
    struct flavor_spec flavor = {.native = ""};
    if (pool->flavor.v != 0) {
        query_flavor_spec(core, pool->flavor, arena, &flavor);
    }
    order->flavor = flavor.native;
    order->zone = query_launch_zone(launch);
    order->spot = flavor.spot;
    order->price = flavor.price_milli;
}

static void launch_now(struct providers *providers, const struct core *core,
                       const struct launch *launch, const char *secret)
{
    const struct pool *pool = query_pool(core, launch->pool);
    struct provider *provider = provider_of(providers, core, launch->pool);
    struct arena arena;
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
    crash_point("provider-launch");
    provider->ops->launch(provider, &order);
    crash_point("provider-launched");
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
static void launch_order(void *ctx, const struct core *core, const struct launch *launch)
{
    struct providers *providers = ctx;
    struct launching *launching = xcalloc(1, sizeof *launching);
    struct store_token token;
    const char *pool = query_pool_name(core, launch->pool);
    const int64_t now_ms = ledger_now_ms(providers->o.ledger);
    token_make(SCOPE_JOIN, pool, now_ms, &token, launching->secret);
    join_limit(&token, pool, 1);
    const int64_t starting_ms = query_pool(core, launch->pool)->max_starting_ms;
    const int64_t good_ms = starting_ms == 0 ? join_any_time_ms : starting_ms;
    token.expires_ms = now_ms + (good_ms > JOIN_EXPIRES_MS ? good_ms : JOIN_EXPIRES_MS);
    launching->providers = providers;
    launching->launch = launch->id;
    launching->hold.fn = token_stored;
    ledger_token(providers->o.ledger, &token);
    ledger_hold(providers->o.ledger, &launching->hold);
}

static void end_order(struct providers *providers, const struct core *core, launch_id launch,
                      pool_id pool)
{
    struct provider *provider = provider_of(providers, core, pool);
    char key[PROVIDER_KEY_MAX];
    provider_key(query_server_uuid(core), launch, key);
    if (provider != NULL) {
        crash_point("provider-terminate");
        provider->ops->terminate(provider, key);
        crash_point("provider-terminated");
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
    crash_point("provider-order");
    provider_seats_ordered(providers->seats, core, query_pool(core, launch->pool));
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

void providers_start(struct providers *providers, const char *url, const char *fingerprint)
{
    must(str_copy(providers->url, sizeof providers->url, url));
    providers_trust(providers, fingerprint);
    provider_seats_open(providers->seats);
    providers_healed(providers);
    provider_seats_start(providers->seats);
}

/* ---- life ---- */

struct providers *providers_new(const struct providers_options *options)
{
    struct providers *providers = xcalloc(1, sizeof *providers);
    providers->o = *options;
    providers->seats = provider_seats_new(&(struct provider_seats_options){
        .loop = options->loop,
        .ledger = options->ledger,
        .dir = options->dir,
        .ec2_credentials = options->ec2_credentials,
        .ctx = providers,
        .said = said_add,
        .launch = launch_order,
    });
    return providers;
}

void providers_free(struct providers *providers)
{
    if (providers == NULL) {
        return;
    }
    provider_seats_free(providers->seats);
    for (size_t i = 0; i < providers->said.count; i++) {
        free(providers->said.at[i]);
    }
    vec_done(&providers->said);
    free(providers);
}
