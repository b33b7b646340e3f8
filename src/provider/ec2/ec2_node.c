/* ec2_node.c - one machine of EC2: asked for once by its key, found again, ended. See ec2_internal.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_internal.h"

#include "base/mem.h"
#include "base/must.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct ec2_node *ec2_node_new(struct ec2_region *region, const char *key)
{
    struct ec2_node *node = xcalloc(1, sizeof *node);
    node->region = region;
    must(str_copy(node->key, sizeof node->key, key));
    node->after_no = region->list_no;
    node->says = PROVIDER_REQUESTED;
    must(map_put(region->machines, key, strlen(key), node) == NULL);
    return node;
}

static void wanted_free(struct ec2_node *node)
{
    if (node->wanted != NULL) {
        sodium_memzero(node->wanted->script, strlen(node->wanted->script));
        free(node->wanted->script);
        arena_done(&node->wanted->arena);
        free(steal(node->wanted));
    }
}

void ec2_node_free(struct ec2_node *node)
{
    if (!node->removed) {
        must(map_remove(node->region->machines, node->key, strlen(node->key)) == node);
    }
    node->removed = true;
    if (!node->out) {
        wanted_free(node);
        free(node);
    }
}

void ec2_node_tell(const struct ec2_node *node)
{
    const struct provider *provider = &node->region->ec2->provider;
    const struct provider_report report = {.key = node->key,
                                           .says = node->says,
                                           .name = node->id,
                                           .node = "",
                                           .words = node->words,
                                           .why = node->why};
    provider->sink.report(provider->sink.ctx, &report);
}

static void words_set(struct ec2_node *node, const char *words)
{
    (void)str_copy(node->words, sizeof node->words, words);
}

void ec2_node_gone(struct ec2_node *node, const char *words, enum provider_why why)
{
    const bool was_up =
        node->says == PROVIDER_RUNNING || (node->wanted != NULL && node->wanted->named);
    node->says = node->ends || was_up ? PROVIDER_GONE : PROVIDER_FAILED;
    node->why = why;
    words_set(node, node->ends ? "" : words);
    ec2_node_tell(node);
    ec2_node_free(node);
}

/* ---- end ---- */

/* The call is back. True: the node has left meanwhile, and is freed. */
static bool back(struct ec2_node *node)
{
    node->out = false;
    if (node->removed) {
        ec2_node_free(node);
        return true;
    }
    return false;
}

static void dropped(void *ctx)
{
    (void)back(ctx);
}

static void ended(void *ctx, const struct ec2_result *result)
{
    struct ec2_node *node = ctx;
    if (back(node)) {
        return;
    }
    if (result->ok) {
        ec2_region_soon(node->region); /* the machine goes within seconds or minutes */
        return;
    }
    if (result->error.kind == EC2_UNKNOWN) {
        ec2_node_gone(node, "", PROVIDER_WHY_OTHER);
        return;
    }
    node->end_sent = false;
    node->end_again_ms = loop_now_ms(node->region->ec2->loop) + EC2_END_AGAIN_MS;
    words_set(node, result->error.words);
    ec2_node_tell(node);
}

static void terminate(struct ec2_region *region, const char *id, struct ec2_call call)
{
    struct buf form;
    buf_init(&form, EC2_FORM_MAX);
    ec2_query_terminate(id, &form);
    call.form = (struct str){form.data, form.len};
    ec2_site_call(region->site, &call);
    buf_done(&form);
}

void ec2_node_end(struct ec2_node *node)
{
    node->ends = true;
    if (node->step != EC2_THERE || node->end_sent || node->out ||
        loop_now_ms(node->region->ec2->loop) < node->end_again_ms) {
        return; /* ended once it is known whether there is a machine; or on its way already */
    }
    node->end_sent = true;
    node->out = true;
    terminate(node->region, node->id,
              (struct ec2_call){.done = ended, .dropped = dropped, .ctx = node});
}

static void nobody_cares(void *ctx, const struct ec2_result *result)
{
    (void)ctx; /* the next list names the machine again where this has failed */
    (void)result;
}

/* ---- what EC2 says of a machine ---- */

/* EC2 has named the machine of this node, in this state. */
static void state_take(struct ec2_node *node, const struct ec2_machine *machine)
{
    node->step = EC2_THERE;
    (void)str_copy(node->id, sizeof node->id, machine->id);
    node->seen_no = node->region->list_no;
    node->seen_ms = loop_now_ms(node->region->ec2->loop);
    switch (machine->state) {
    case EC2_PENDING:
        node->says = PROVIDER_REQUESTED;
        words_set(node, "");
        break;
    case EC2_RUNNING:
        node->says = PROVIDER_RUNNING;
        words_set(node, "");
        break;
    case EC2_ENDING:
        words_set(node, machine->why);
        break;
    case EC2_STOPPED:
        node->ends = true; /* its agent is gone, and it costs money */
        break;
    case EC2_ENDED:
        ec2_node_gone(node, machine->why[0] != '\0' ? machine->why : "the machine has ended",
                      machine->why_kind);
        return;
    }
    wanted_free(node);
    ec2_node_tell(node);
    if (node->ends && machine->state != EC2_ENDING) {
        ec2_node_end(node);
    }
}

void ec2_node_seen(struct ec2_region *region, const struct ec2_machine *machine)
{
    struct ec2_node *node = map_get(region->machines, machine->key, strlen(machine->key));
    const bool ended_now = machine->state == EC2_ENDED;
    if (strcmp(machine->server, region->ec2->uuid) != 0 || machine->key[0] == '\0' ||
        strlen(machine->key) >= PROVIDER_KEY_MAX || strlen(machine->id) >= EC2_ID_MAX) {
        return; /* not made by this server */
    }
    if (node == NULL && !ended_now) {
        node = ec2_node_new(region, machine->key);
    } else if (node == NULL || node->step == EC2_ASKS) {
        return; /* long gone; or the answer to RunInstances will say it */
    }
    if (node->id[0] != '\0' && strcmp(node->id, machine->id) != 0) {
        if (!ended_now) {
            /* A cloud that does not honour client tokens made two. The first one stays. */
            terminate(region, machine->id, (struct ec2_call){.done = nobody_cares});
        }
        return;
    }
    state_take(node, machine);
}

/* ---- launch ---- */

/* Waits for lists that are newer than this moment. */
static void check(struct ec2_node *node)
{
    node->step = EC2_CHECKS;
    node->after_no = node->region->list_no;
    node->checks = 0;
    ec2_region_soon(node->region);
}

static void refused(struct ec2_node *node, const struct ec2_error *error)
{
    const bool elsewhere = error->kind == EC2_CAPACITY || error->kind == EC2_PRICE;
    struct ec2_wanted *wanted = node->wanted;
    words_set(node, error->words);
    node->why = ec2_answer_why(error->kind);
    if (elsewhere && !node->ends &&
        wanted->place + 1 < ec2_query_places(&wanted->pool, wanted->zone)) {
        wanted->place++;
        ec2_node_ask(node);
    } else if (error->kind == EC2_MADE || error->kind == EC2_PASSING ||
               error->kind == EC2_SLOW_DOWN) {
        check(node); /* there may be a machine */
    } else {
        ec2_node_gone(node, error->words, node->why);
    }
}

static void asked(void *ctx, const struct ec2_result *result)
{
    struct ec2_node *node = ctx;
    if (back(node)) {
        return;
    }
    if (!result->ok) {
        refused(node, &result->error);
    } else if (result->machines.count == 0) {
        words_set(node, "EC2 answered without a machine");
        check(node);
    } else {
        ec2_region_soon(node->region);
        state_take(node, &result->machines.at[0]);
    }
}

static void asks_again(void *ctx, const char *words)
{
    struct ec2_node *node = ctx;
    if (!node->removed) {
        words_set(node, words);
        ec2_node_tell(node);
    }
}

void ec2_node_ask(struct ec2_node *node)
{
    const struct ec2_wanted *wanted = node->wanted;
    struct buf form;
    must(wanted != NULL);
    buf_init(&form, EC2_FORM_MAX);
    ec2_query_run(&(struct ec2_run){.pool = &wanted->pool,
                                    .key = node->key,
                                    .server_uuid = node->region->ec2->uuid,
                                    .node = wanted->node,
                                    .flavor = wanted->flavor,
                                    .zone = wanted->zone,
                                    .spot = wanted->spot,
                                    .script = wanted->script,
                                    .place = wanted->place},
                  &form);
    if (form.full) {
        ec2_node_gone(node, "the settings of the pool are too long for one request to EC2",
                      PROVIDER_WHY_OTHER);
    } else {
        node->step = EC2_ASKS;
        node->out = true;
        ec2_site_call(node->region->site, &(struct ec2_call){.form = {form.data, form.len},
                                                             .machines = true,
                                                             .done = asked,
                                                             .again = asks_again,
                                                             .dropped = dropped,
                                                             .ctx = node});
        sodium_memzero(form.data, form.len);
    }
    buf_done(&form);
}

void ec2_node_unseen(struct ec2_node *node)
{
    struct ec2_region *region = node->region;
    const bool decides = region->list_no > node->after_no;
    switch (node->step) {
    case EC2_ASKS:
        break;
    case EC2_WAITS:
        if (decides && !node->ends && !node->wanted->named) {
            ec2_node_ask(node);
        } else if (decides && ++node->checks >= EC2_CHECKS_MAX) {
            ec2_node_gone(node, "EC2 no longer has the machine", PROVIDER_WHY_OTHER);
        }
        break;
    case EC2_CHECKS:
        if (decides && ++node->checks >= EC2_CHECKS_MAX) {
            ec2_node_gone(node, node->words, node->why);
        }
        break;
    case EC2_THERE:
        if (loop_now_ms(region->ec2->loop) - node->seen_ms > EC2_UNSEEN_MS) {
            ec2_node_gone(node, "EC2 no longer has the machine", PROVIDER_WHY_OTHER);
        }
        break;
    }
}
