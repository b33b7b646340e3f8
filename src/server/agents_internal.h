/* agents_internal.h - the struct of a link, shared by agents.c (life of links), agents_orders.c
 * (orders to agents) and agents_reports.c (reports from agents).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "server/agents.h"
#include "wire/agent.h"
#include "wire/use_table.h"

enum {
    /* Orders that an agent has not read; with more its stream is ended. */
    LINK_BYTES_MAX = 16 * 1024 * 1024,
    HEARTBEATS_MISSED_MAX = 3,
};

/* One node's link. A link is made when the node is first seen, and kept while the server runs. */
struct agent_link {
    struct agents *owner;
    node_id node;
    uint32_t incarnation;       /* the node's incarnation when the stream began */
    struct http_stream *stream; /* NULL: the node is silent */
    int64_t heard_ms;           /* boot time of the node's last report */
    struct loop_timer *timer;   /* connected: the next ping is due; silent: the node is lost */
    struct buf out;             /* orders gathered for one write */
    struct agent_link *dirty_next;
    bool dirty;
};

struct agents {
    struct agents_options o;
    struct map *links; /* node id -> link */
    struct agent_link *dirty;
    struct arena arena; /* memory of one step */
    struct use_table *uses;
    uint64_t connected;
    uint64_t reports;
};

struct agent_link *agents_link_of(const struct agents *agents, node_id node); /* NULL: no link */

/* Ends a stream that is of no use any more, and records that the node is silent. */
void agents_link_cut(struct agent_link *link, const char *why);

/* Append orders to `out`, each with its line end. */
void agents_orders_add(const struct agents *agents, struct agent_order *order, uint32_t incarnation,
                       struct buf *out);
void agents_orders_welcome(const struct agents *agents, const struct agent_hello *hello,
                           const struct node *node, struct buf *out);
void agents_orders_bye(const struct agents *agents, const struct agent_link *link, const char *why,
                       struct buf *out);
void agents_orders_ping(const struct agents *agents, const struct agent_link *link,
                        struct buf *out);

/* Appends the order of an effect, unless the state has moved on and the order is no longer
 * needed. */
void agents_orders_effect(struct agents *agents, const struct core *core,
                          const struct effect *effect, struct buf *out);

/* Logs an error when the hello shows that the server has lost facts. */
void agents_known_compare(const struct agents *agents, const struct agent_hello *hello);

/* Call when a report says what the attempt uses. Tells the core if the attempt's task has done
 * nothing for long enough to be warned, paused or ended. */
void agents_idle(struct agents *agents, struct attempt_key key);

/* Appends everything that a node must do after its hello: its starts and stops, and a stop for each
 * attempt that should not run there. First reports to the core, as unknown, the attempts that ran
 * here and that the node's supervisor does not know. */
void agents_orders_reconcile(struct agents *agents, const struct agent_hello *hello, node_id node,
                             struct buf *out);
