/* change_launch.c - the rows of launches, which their facts write.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/life.h"
#include "core/state/query.h"
#include "core/state/soldout.h"

#include <string.h>

void change_launch_text_set(struct launch *launch, const char *name, const char *words)
{
    struct buf text;
    buf_init(&text, 2 * (TEXT_LEN_MAX + 1));
    buf_add(&text, name, strlen(name) + 1);
    buf_add(&text, words, strlen(words) + 1);
    must(!text.full);
    blob_unref(launch->text);
    launch->text = blob_new(text.data, text.len);
    buf_done(&text);
}

void change_launch_zone_set(struct launch *launch, const char *zone)
{
    launch->zone = zone != NULL && zone[0] != '\0' ? blob_new(zone, strlen(zone) + 1) : NULL;
}

void change_launch_asked(struct core *core, const struct fact *fact)
{
    must(fact->launch.launch.v == core->launches.last + 1);
    const struct pool *pool = query_pool(core, fact->launch.pool);
    must(pool != NULL);
    struct launch *launch = table_add(&core->launches);
    launch->id = fact->launch.launch;
    launch->pool = fact->launch.pool;
    launch->asked_ms = fact->time_ms;
    launch->changed_ms = fact->time_ms;
    if (elastic_pool(pool) && pool->max_starting_ms > 0) {
        launch->join_by_ms = fact->time_ms + pool->max_starting_ms;
    }
    launch->state = LAUNCH_ASKED;
    change_launch_text_set(launch, "", "");
    change_launch_zone_set(launch, fact->launch.zone);
    elastic_launch_close(core, &(struct launch){0}, launch);
    soldout_asked(core, launch, fact->time_ms);
    change_pool_edit(core, launch->pool)->grown_ms = fact->time_ms;
}

/* The node of a launch that ends takes no more starts. */
static void node_drain(struct core *core, node_id id)
{
    change_claim_drop_node(core, id);
    struct node before;
    struct node *node = change_node_open(core, id, &before);
    node->draining = 1;
    change_node_close(core, node, &before);
    change_pool_due(core, node->pool);
}

/* Was the launch in vain: did its agent not join in time? */
static bool is_vain(const struct launch *launch, int64_t now_ms)
{
    return launch->node.v == 0 && launch->join_by_ms != 0 && launch->join_by_ms <= now_ms;
}

/* Does the provider have a machine for the launch: is it up, or has it a name? */
static bool exists(const struct launch *launch)
{
    return launch->state == LAUNCH_RUNNING || query_launch_name(launch)[0] != '\0';
}

void change_launch_changed(struct core *core, const struct fact *fact)
{
    struct launch *launch = table_edit(&core->launches, fact->launch.launch.v);
    must(launch != NULL);
    must(fact->launch.state != LAUNCH_ASKED);
    const struct launch before = *launch;
    const bool existed = exists(launch);
    const bool elastic = elastic_pool(query_pool(core, launch->pool));
    launch->state = (uint8_t)fact->launch.state;
    launch->node = fact->launch.node;
    launch->changed_ms = fact->time_ms;
    if (elastic && launch->node.v != 0 && before.node.v == 0) {
        const struct node *node = query_node(core, launch->node);
        launch->locked = node->locked;
        launch->spare = node->spare;
        launch->unfit_ms = node->troubled ? fact->time_ms : 0;
        launch->idle_ms = node->instance_count + node->claim_count > 0 ? 0 : fact->time_ms;
        if (fact->launch.state == LAUNCH_RUNNING) {
            elastic_joined(core, launch->pool);
        }
    }
    const bool ends = before.state != LAUNCH_ENDING && fact->launch.state == LAUNCH_ENDING;
    if (elastic && !ends) {
        elastic_words(core, launch->pool, query_launch_words(launch), fact->launch.words);
    }
    change_launch_text_set(launch, fact->launch.name, fact->launch.words);
    elastic_launch_close(core, &before, launch);
    if (fact->launch.state != LAUNCH_ENDING && exists(launch) && !existed) {
        soldout_works(core, launch);
    }
    life_replaced(core, launch->pool);
    /* A node that joins while its launch ends in the same fact is not what the pool promises. */
    const bool poor = before.node.v == 0 && launch->node.v != 0;
    if (elastic && ends && (poor || is_vain(launch, fact->time_ms))) {
        elastic_failed(core, &before, fact->time_ms, fact->launch.words);
    }
    if (elastic && fact->launch.state == LAUNCH_ENDING && fact->launch.node.v != 0) {
        node_drain(core, fact->launch.node);
    }
}

void change_launch_leave(struct core *core, launch_id id, enum leave leave, const char *words)
{
    struct launch *launch = table_edit(&core->launches, id.v);
    must(launch != NULL);
    const struct launch before = *launch;
    launch->leave = (uint8_t)leave;
    change_launch_text_set(launch, query_launch_name(launch), words);
    elastic_launch_close(core, &before, launch);
    change_pool_due(core, launch->pool);
}

void change_launch_lock(struct core *core, launch_id id, bool locked)
{
    struct launch *launch = table_edit(&core->launches, id.v);
    must(launch != NULL);
    const struct launch before = *launch;
    launch->locked = locked;
    elastic_launch_close(core, &before, launch);
}

void change_launch_ended(struct core *core, const struct fact *fact)
{
    const struct launch *launch = query_launch(core, fact->launch.launch);
    must(launch != NULL);
    const struct launch before = *launch;
    const bool vain = launch->node.v == 0 && launch->state != LAUNCH_ENDING;
    const bool sold_out = vain && soldout_failed(core, launch, fact->launch.why, fact->time_ms);
    soldout_ended(core, launch);
    table_remove(&core->launches, fact->launch.launch.v);
    elastic_launch_close(core, &before, &(struct launch){0});
    life_replaced(core, before.pool);
    if (elastic_pool(query_pool(core, before.pool))) {
        if (sold_out) {
            elastic_refusal_set(core, before.pool, fact->launch.words);
        } else if (vain) {
            elastic_failed(core, &before, fact->time_ms, fact->launch.words);
        }
        change_pool_due(core, before.pool);
    }
}
