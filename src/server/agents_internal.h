/* agents_internal.h - a link, shared by agents.c (life of links), agents_orders.c (what goes out) and
 * agents_reports.c (what comes in).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "server/agents.h"
#include "wire/agent.h"

enum {
    LINK_BYTES_MAX = 16 * 1024 * 1024, /* orders an agent has not read: then it is cut off */
    HEARTBEATS_MISSED_MAX = 3,
};

/* One node's link; made when the node is first seen, kept while the server runs. */
struct agent_link {
    struct agents *owner;
    node_id node;
    uint32_t incarnation;       /* of the stream */
    struct http_stream *stream; /* NULL: silent */
    int64_t heard_ms;           /* boot-time of its last report */
    struct loop_timer *timer;   /* connected: the next ping; silent: when it is lost */
    struct buf out;             /* orders gathered for one write */
    struct agent_link *dirty_next;
    bool dirty;
};

struct agents {
    struct agents_options o;
    struct map *links; /* node id -> link */
    struct agent_link *dirty;
    struct arena arena; /* of one step */
    uint64_t connected;
    uint64_t reports;
};

struct agent_link *agents_link_of(const struct agents *agents, node_id node); /* NULL: none */

/* The stream is of no use any more: end it, record the silence. */
void agents_link_cut(struct agent_link *link, const char *why);

/* Append orders to `out`, each with its line end. */
void agents_orders_welcome(const struct agents *agents, const struct agent_hello *hello,
                           const struct node *node, struct buf *out);
void agents_orders_bye(const struct agents *agents, const struct agent_link *link, const char *why,
                       struct buf *out);
void agents_orders_ping(const struct agents *agents, const struct agent_link *link,
                        struct buf *out);

/* The order of an effect, unless the state has moved on and nobody needs it any more. */
void agents_orders_effect(struct agents *agents, const struct core *core,
                          const struct effect *effect, struct buf *out);

/* Everything a node that has just said hello should do: its starts and stops, and an end to what it
 * has and should not. Attempts that ran here and that its supervisor does not know are reported to
 * the core as unknown first. */
void agents_orders_reconcile(struct agents *agents, const struct agent_hello *hello, node_id node,
                             struct buf *out);
