/* agents.h - the links to the nodes: a stream of orders to each agent, the agents' reports, and the
 * silence of nodes. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "server/ledger.h"

struct agents;
struct agent_order;

struct agents_options {
    struct loop *loop;
    struct ledger *ledger;
    int64_t heartbeat_ms;
    /* A node that is silent for so long is lost; counted while the server is up. */
    int64_t lost_after_ms;
};

struct agents *agents_new(const struct agents_options *options);
void agents_free(struct agents *agents); /* ends every stream */

/* Call after the server's start was recorded. No node is connected yet. Each node has lost_after_ms
 * from now to come back. */
void agents_start(struct agents *agents);

/* The two HTTP calls of an agent. Each function answers its call. */
void agents_stream(struct agents *agents, struct call *call);
void agents_reports(struct agents *agents, struct call *call);

bool agents_connected(const struct agents *agents, const char *node);

/* Sends an order that rests on no fact. False: the node has no connected agent. */
bool agents_order(struct agents *agents, const char *node, struct agent_order *order);

/* The batch is on disk: sends its orders. Ends the streams of removed nodes and of nodes whose
 * credential the batch revoked. */
void agents_committed(struct agents *agents, const struct batch *batch);

/* The state was rebuilt. Sends every connected node its orders again, and records the links that
 * became silent meanwhile. */
void agents_healed(struct agents *agents);

/* Tells every agent that the server stops. */
void agents_bye(struct agents *agents, const char *why);

/* What the attempts on all nodes use now. */
const struct use_table *agents_uses(const struct agents *agents);
void agents_numbers(const struct agents *agents, struct host_numbers *ret);
