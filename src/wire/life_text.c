/* life_text.c - see life_text.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/life_text.h"

#include "core/model/names.h"
#include "core/state/life.h"
#include "core/state/query.h"

enum { SENTENCE_MAX = 4096 };

static const char *is_are(uint32_t count)
{
    return count == 1 ? "is" : "are";
}

/* Writes "2 of 3 nodes are up". */
static void up_add(const struct pool_standing *standing, struct buf *out)
{
    buf_addf(out, "%u of %u node%s %s up", standing->nodes, standing->wanted,
             standing->nodes == 1 && standing->wanted == 1 ? "" : "s", is_are(standing->nodes));
}

static void lost_add(const struct pool_standing *standing, struct buf *out)
{
    buf_addf(out, "%u node%s %s lost; ", standing->lost, standing->lost == 1 ? "" : "s",
             is_are(standing->lost));
    up_add(standing, out);
}

void life_text_why(const struct pool_standing *standing, const char *words, struct buf *out)
{
    switch ((enum pool_why)standing->why) {
    case WHY_ALL_UP:
        up_add(standing, out);
        return;
    case WHY_STARTING:
        up_add(standing, out);
        buf_add_str(out, "; the others are on their way");
        return;
    case WHY_EMPTY:
        buf_add_str(out, "no node is wanted");
        return;
    case WHY_NO_NODES:
        buf_add_str(out, "no node has joined; `weir agent` with a join token for the pool joins");
        return;
    case WHY_LOST:
    case WHY_ALL_LOST:
        lost_add(standing, out);
        return;
    case WHY_PROVIDER:
        up_add(standing, out);
        buf_addf(out, "; the provider brought no node up%s%s", words[0] == '\0' ? "" : ": ", words);
        return;
    case WHY_CLOSED:
        buf_add_str(out, standing->state == POOL_CLOSING
                             ? "a user closed the pool; its tasks end, then its nodes go"
                             : "a user closed the pool; `weir pool restore` opens it again");
        return;
    case WHY_DELETED:
        buf_add_str(out, "a user deleted the pool; `weir pool restore` brings it back");
        return;
    }
}

/* Writes how many nodes are silent or drain. A silent node is not lost yet; a draining node is up
 * and starts nothing. A node that leaves, or whose machine ends, is not counted, because the pool
 * does not want the node any more. */
static void away_add(const struct pool_figures *figures, struct buf *out)
{
    if (figures->silent_stay > 0) {
        buf_addf(out, "; %u %s silent", figures->silent_stay, is_are(figures->silent_stay));
    }
    if (figures->draining_stay > 0) {
        buf_addf(out, "; %u drain%s", figures->draining_stay,
                 figures->draining_stay == 1 ? "s" : "");
    }
}

/* Writes why a pool without nodes has none. The sentence depends on the pool's present settings,
 * not on those of its last fact. */
static void empty_add(const struct pool *pool, struct buf *out)
{
    if (pool->nodes_max == 0) {
        buf_add_str(out, "the pool is set to 0 nodes; `weir pool scale` makes it larger");
    } else {
        buf_add_str(out, "no task needs a node; the pool grows when tasks wait");
    }
}

void life_text_json(struct json_out *j, const struct pool *pool, const struct pool_figures *figures)
{
    struct pool_standing now;
    struct buf why;
    life_standing(pool, &now);
    now.nodes -= figures->silent_stay < now.nodes ? figures->silent_stay : now.nodes;
    /* The counts are those of now; a tick that comes at once says the rest. */
    now.state = pool->life.state;
    now.health = pool->life.health;
    now.why = pool->life.why;
    buf_init(&why, SENTENCE_MAX);
    if (now.why == WHY_EMPTY) {
        empty_add(pool, &why);
    } else {
        life_text_why(&now, query_pool_refusal(pool), &why);
    }
    if (pool->life.phase == PHASE_OPEN) {
        away_add(figures, &why);
    }
    json_out_put(j, "state:%s,health:%s,reason:%s,state_since:%td,restore_until:%td",
                 names_pool_state((enum pool_state)now.state),
                 names_pool_health((enum pool_health)now.health), buf_text(&why),
                 pool->life.since_ms, pool->life.delete_ms);
    buf_done(&why);
}

static void sentence_add(const struct core *core, const struct fact *fact, struct buf *out)
{
    if (fact->type == FACT_POOL_STATE) {
        const struct pool_standing *now = &fact->pool_state.now;
        buf_addf(out, "pool %s is %s, health %s: ", query_pool_name(core, fact->pool_state.pool),
                 names_pool_state((enum pool_state)now->state),
                 names_pool_health((enum pool_health)now->health));
        life_text_why(now, fact->pool_state.words, out);
    } else if (fact->type == FACT_POOL_CLOSING) {
        buf_addf(out, "%s closed pool %s; running tasks %s", fact->actor,
                 query_pool_name(core, fact->pool_closing.pool),
                 fact->pool_closing.kill ? "are killed" : "go on to their end");
    } else if (fact->type == FACT_POOL_PENDING_DELETE) {
        buf_addf(out, "%s deleted pool %s, which had %u node%s of its provider; it can be restored",
                 fact->actor, query_pool_name(core, fact->pool_pending.pool),
                 fact->pool_pending.nodes, fact->pool_pending.nodes == 1 ? "" : "s");
    } else if (fact->type == FACT_POOL_RESTORED) {
        buf_addf(out, "%s restored pool %s", fact->actor,
                 query_pool_name(core, fact->pool_restored.pool));
    } else if (fact->type == FACT_POOL_DELETED) {
        buf_addf(out, "pool %s is deleted for good",
                 query_pool_name(core, fact->pool_deleted.pool));
    }
}

void life_text_event(struct json_out *j, const struct core *core, const struct fact *fact)
{
    struct buf text;
    buf_init(&text, SENTENCE_MAX);
    sentence_add(core, fact, &text);
    if (text.len > 0) {
        json_out_kv_text(j, "message", buf_text(&text));
    }
    buf_done(&text);
}
