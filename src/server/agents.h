/* agents.h - the links to the nodes: one stream of orders each, their reports, and who is silent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "server/ledger.h"

struct agents;

struct agents_options {
    struct loop *loop;
    struct ledger *ledger;
    int64_t heartbeat_ms;
    int64_t lost_after_ms; /* a node silent for so long is lost; counted while the server is up */
};

struct agents *agents_new(const struct agents_options *options);
void agents_free(struct agents *agents); /* ends every stream */

/* After the server start was recorded: no node is connected yet, and each has lost_after from now
 * to come back. */
void agents_start(struct agents *agents);

/* The two calls of an agent. Each is answered. */
void agents_stream(struct agents *agents, struct call *call);
void agents_reports(struct agents *agents, struct call *call);

bool agents_connected(const struct agents *agents, const char *node);

/* This batch is on disk: its orders go out; whose credential ended is cut off. */
void agents_committed(struct agents *agents, const struct batch *batch);

/* The state was rebuilt: every connected node hears again what it should do, and what happened to
 * links meanwhile is recorded. */
void agents_healed(struct agents *agents);

/* Tell every agent that the server goes away. */
void agents_bye(struct agents *agents, const char *why);

void agents_numbers(const struct agents *agents, struct host_numbers *ret);
