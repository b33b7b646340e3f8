/* ec2.c - see ec2.h. The lists of regions, and the calls of provider.h. ec2_node.c has the life of one machine.
 *
 * What is reported comes from the lists of each region and from the answers to calls; list() of provider.h asks nobody,
 * because the machines of every open launch are known here. SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_internal.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/must.h"
#include "core/model/object.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC_BYTES_MAX = 1 << 20 };

static struct ec2 *ec2_of(struct provider *provider)
{
    return (struct ec2 *)(void *)provider;
}

/* ---- regions and their lists ---- */

static void list_page(struct ec2_region *region, const char *next_token);

void ec2_region_now(struct ec2_region *region)
{
    if (!region->listing) {
        region->wait_ms = EC2_SOON_MS;
        loop_timer_set(region->timer, loop_now_ms(region->ec2->loop));
    }
}

void ec2_region_soon(struct ec2_region *region)
{
    if (!region->listing) {
        region->wait_ms = EC2_SOON_MS;
        loop_timer_set(region->timer, loop_now_ms(region->ec2->loop) + EC2_SOON_MS);
    } else {
        region->wait_ms = 0; /* the list under way may be too old: another one follows soon */
    }
}

/* Sets the time of the next list. */
static void list_next(struct ec2_region *region)
{
    bool moves = false;
    size_t cursor = 0;
    const struct ec2_node *node;
    while ((node = map_next(region->machines, &cursor)) != NULL) {
        moves = moves || node->ends || node->says != PROVIDER_RUNNING;
    }
    region->wait_ms = region->wait_ms == 0 ? EC2_SOON_MS : 2 * region->wait_ms;
    region->wait_ms = region->wait_ms < EC2_OFTEN_MS ? region->wait_ms : EC2_OFTEN_MS;
    const int64_t wait_ms = moves                              ? region->wait_ms
                            : map_count(region->machines) == 0 ? EC2_IDLE_MS
                                                               : EC2_OFTEN_MS;
    loop_timer_set(region->timer, loop_now_ms(region->ec2->loop) + wait_ms);
}

/* The list did not come. Launches that have not been asked for yet fail with EC2's words; others wait. */
static void list_failed(struct ec2_region *region, const struct ec2_error *error)
{
    size_t cursor = 0;
    struct ec2_node *node;
    while ((node = map_next(region->machines, &cursor)) != NULL) {
        if (node->step == EC2_WAITS && !node->ends && !node->wanted->named) {
            ec2_node_gone(node, error->words, PROVIDER_WHY_OTHER);
        }
    }
    list_next(region);
}

static void listed(void *ctx, const struct ec2_result *result)
{
    struct ec2_region *region = ctx;
    if (!result->ok) {
        region->listing = false;
        list_failed(region, &result->error);
        return;
    }
    for (uint32_t i = 0; i < result->machines.count; i++) {
        ec2_node_seen(region, &result->machines.at[i]);
    }
    if (result->machines.next_token[0] != '\0') {
        list_page(region, result->machines.next_token);
        return;
    }
    region->listing = false;
    region->listed = true;
    size_t cursor = 0;
    struct ec2_node *node;
    while ((node = map_next(region->machines, &cursor)) != NULL) {
        if (node->seen_no != region->list_no) {
            ec2_node_unseen(node);
        }
    }
    list_next(region);
}

static void list_page(struct ec2_region *region, const char *next_token)
{
    struct buf form;
    buf_init(&form, EC2_FORM_MAX);
    ec2_query_list(region->ec2->uuid, next_token, &form);
    ec2_site_call(region->site, &(struct ec2_call){.form = {form.data, form.len},
                                                   .machines = true,
                                                   .done = listed,
                                                   .ctx = region});
    buf_done(&form);
}

static void list_due(void *ctx)
{
    struct ec2_region *region = ctx;
    must(!region->listing);
    region->listing = true;
    region->list_no++;
    list_page(region, "");
}

struct ec2_region *ec2_region_of(struct ec2 *ec2, const struct pool_spec *pool)
{
    for (unsigned i = 0; i < ec2->region_count; i++) {
        const struct ec2_site *site = ec2->regions[i]->site;
        if (strcmp(ec2_site_region(site), pool->ec2_region) == 0 &&
            strcmp(ec2_site_endpoint(site), pool->ec2_endpoint) == 0) {
            return ec2->regions[i];
        }
    }
    if (ec2->region_count == EC2_REGIONS_MAX) {
        return NULL;
    }
    struct ec2_region *region = xcalloc(1, sizeof *region);
    region->ec2 = ec2;
    region->site =
        ec2_site_new(ec2->loop, ec2->http, ec2->keys, pool->ec2_region, pool->ec2_endpoint);
    region->machines = map_new();
    region->timer = loop_timer_new(ec2->loop, list_due, region);
    ec2->regions[ec2->region_count++] = region;
    ec2_region_now(region);
    return region;
}

static void region_free(struct ec2_region *region)
{
    size_t cursor = 0;
    struct ec2_node *node;
    ec2_site_free(region->site);
    while ((node = map_next(region->machines, &cursor)) != NULL) {
        ec2_node_free(node);
    }
    map_free(region->machines);
    loop_timer_free(region->timer);
    free(region);
}

/* ---- the calls of provider.h ---- */

static struct ec2_node *node_find(const struct ec2 *ec2, const char *key)
{
    struct ec2_node *node = NULL;
    for (unsigned i = 0; i < ec2->region_count && node == NULL; i++) {
        node = map_get(ec2->regions[i]->machines, key, strlen(key));
    }
    return node;
}

static void tell_none(struct ec2 *ec2, const char *key, enum provider_says says, const char *words)
{
    const struct provider_report report = {
        .key = key, .says = says, .name = "", .node = "", .words = words};
    ec2->provider.sink.report(ec2->provider.sink.ctx, &report);
}

/* A copy of the settings, in the arena. */
static void settings_copy(const struct pool_spec *pool, struct arena *arena, struct pool_spec *ret)
{
    struct buf bytes;
    buf_init(&bytes, SPEC_BYTES_MAX);
    object_encode(&pool_object, pool, &bytes);
    must(!bytes.full);
    struct bytes_reader in;
    bytes_reader_init(&in, bytes.data, bytes.len);
    object_decode(&pool_object, OBJECT_WHOLE, &in, arena, ret);
    must(!in.bad);
    buf_done(&bytes);
}

/* Keeps what the order says. False: the script would be too long. */
static bool wanted_set(struct ec2_node *node, const struct provider_order *order)
{
    struct ec2_wanted *wanted = xcalloc(1, sizeof *wanted);
    struct buf script;
    arena_init(&wanted->arena);
    settings_copy(order->settings, &wanted->arena, &wanted->pool);
    wanted->node = arena_str(&wanted->arena, order->node);
    wanted->flavor = arena_str(&wanted->arena, order->flavor);
    wanted->zone = arena_str(&wanted->arena, order->zone);
    wanted->spot = order->spot || order->settings->ec2_spot;
    wanted->named = order->named;
    buf_init(&script, EC2_SCRIPT_MAX);
    ec2_query_script(order, order->settings->ec2_user_data, &script);
    const bool whole = !script.full;
    wanted->script = xstrdup(buf_text(&script));
    sodium_memzero(script.data, script.len);
    buf_done(&script);
    node->wanted = wanted;
    return whole;
}

static void ec2_launch(struct provider *provider, const struct provider_order *order)
{
    struct ec2 *ec2 = ec2_of(provider);
    struct ec2_node *node = node_find(ec2, order->key);
    struct ec2_region *region = node == NULL ? ec2_region_of(ec2, order->settings) : NULL;
    if (node != NULL) {
        ec2_node_tell(node);
        return;
    }
    if (region == NULL) {
        tell_none(ec2, order->key, PROVIDER_FAILED,
                  "the pools of this server have too many regions");
        return;
    }
    node = ec2_node_new(region, order->key);
    if (!wanted_set(node, order)) {
        ec2_node_gone(node,
                      "user_data is too long: EC2 takes 16384 bytes with what starts the agent",
                      PROVIDER_WHY_OTHER);
        return;
    }
    ec2_node_tell(node);
    if (region->listed && !order->named) {
        ec2_node_ask(node);
    } else {
        ec2_region_now(region);
    }
}

static void region_know(void *ctx, const struct pool_spec *pool)
{
    (void)ec2_region_of(ctx, pool);
}

static void ec2_list(struct provider *provider, void (*done)(void *ctx, const char *problem),
                     void *ctx)
{
    struct ec2 *ec2 = ec2_of(provider);
    if (!ec2->known) {
        ec2->known = true;
        ec2->host.pools(ec2->host.ctx, region_know, ec2);
    }
    for (unsigned i = 0; i < ec2->region_count; i++) {
        size_t cursor = 0;
        const struct ec2_node *node;
        while ((node = map_next(ec2->regions[i]->machines, &cursor)) != NULL) {
            ec2_node_tell(node);
        }
    }
    done(ctx, "");
}

static void ec2_terminate(struct provider *provider, const char *key)
{
    struct ec2 *ec2 = ec2_of(provider);
    struct ec2_node *node = node_find(ec2, key);
    struct arena arena;
    struct pool_spec pool;
    arena_init(&arena);
    if (node == NULL && ec2->host.settings(ec2->host.ctx, key, &arena, &pool)) {
        struct ec2_region *region = ec2_region_of(ec2, &pool);
        node = region != NULL ? ec2_node_new(region, key) : NULL;
        if (node != NULL) {
            ec2_region_now(region);
        }
    }
    if (node != NULL) {
        ec2_node_end(node);
    } else {
        tell_none(ec2, key, PROVIDER_GONE, "");
    }
    arena_done(&arena);
}

static void ec2_free(struct provider *provider)
{
    struct ec2 *ec2 = ec2_of(provider);
    http_multi_free(ec2->http);
    for (unsigned i = 0; i < ec2->region_count; i++) {
        region_free(ec2->regions[i]);
    }
    ec2_keys_free(ec2->keys);
    free(ec2);
}

struct provider *ec2_provider_new(struct loop *loop, const uint8_t *uuid, const char *credentials,
                                  struct ec2_host host, struct provider_sink sink)
{
    static const struct provider_ops ops = {
        .launch = ec2_launch, .list = ec2_list, .terminate = ec2_terminate, .free = ec2_free};
    struct ec2 *ec2 = xcalloc(1, sizeof *ec2);
    ec2->provider = (struct provider){.ops = &ops, .sink = sink};
    ec2->loop = loop;
    ec2->http = http_multi_new(loop);
    ec2->keys = ec2_keys_new(credentials);
    ec2_keys_connect(ec2->keys, loop, ec2->http);
    ec2->host = host;
    str_hex(ec2->uuid, uuid, 16);
    return &ec2->provider;
}
