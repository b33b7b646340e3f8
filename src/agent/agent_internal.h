/* agent_internal.h - the agent's loop: between the stream thread (orders), the reporter thread
 * (reports) and the supervisor. Private to agent.c (life), keeper.c (the supervisor), session.c
 * (the server). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/inbox.h"
#include "agent/agent_options.h"
#include "agent/reporter.h"
#include "agent/stream.h"
#include "agent/supclient.h"
#include "base/vec.h"
#include "io/loop.h"

/* Why the supervisor was asked for its attempts; bits. */
enum listing { LISTING_HELLO = 1, LISTING_CUT_OFF = 2 };

struct agent {
    struct agent_options options;
    struct arena arena;
    struct node_spec node;
    struct loop *loop;
    struct mailbox *inbox;
    struct loop_fd *inbox_watch;
    struct reporter *reporter;
    struct stream *stream;

    /* keeper.c */
    struct supclient *supervisor; /* NULL: none */
    struct loop_fd *supervisor_watch;
    uint32_t supervisor_events;
    struct loop_timer *launch_timer;
    unsigned char supervisor_id[SUPERVISOR_ID_LEN];
    unsigned listing;                   /* bits of enum listing; 0: not asked */
    VEC(struct agent_attempt) attempts; /* as listed */
    VEC(struct attempt_key) ordered;    /* starts sent, not yet known to be in the spool */
    uint64_t ordered_seen;              /* how many of this connection are */
    /* In whose name we speak: the supervisor whose part of the spool is being told. While that is
     * a dead one, nothing is started. */
    unsigned char speaking_id[SUPERVISOR_ID_LEN];

    /* session.c */
    struct loop_timer *connect_timer;
    struct loop_timer *cut_off_timer;
    bool streaming; /* the stream thread is at work */
    bool welcomed;
    bool refused; /* the server will not have us: the agent ends */
    bool ready_told;
    uint64_t epoch;
    uint32_t incarnation;
    unsigned failures; /* in a row */
};
