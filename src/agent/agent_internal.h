/* agent_internal.h - the agent's loop, which stands between the stream thread (orders), the
 * reporter thread (reports) and the supervisor. Private to agent.c (life of the agent), keeper.c
 * (talks to the supervisor) and session.c (talks to the server).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/inbox.h"
#include "agent/agent_options.h"
#include "agent/asker.h"
#include "agent/cgroup_layout.h"
#include "agent/gpu_watch.h"
#include "agent/reporter.h"
#include "agent/runas.h"
#include "agent/stream.h"
#include "agent/supclient.h"
#include "agent/taskuid.h"
#include "agent/tunnel.h"
#include "base/vec.h"
#include "core/model/limits.h"
#include "io/loop.h"

/* Why the agent asked the supervisor for its list of attempts. The values are bits. */
enum listing { LISTING_HELLO = 1, LISTING_CUT_OFF = 2, LISTING_BEFORE = 4 };

struct agent {
    struct agent_options options;
    struct arena arena;
    struct node_spec node;
    struct taskuid_range task_uids;
    struct runas_account account;
    struct loop *loop;
    struct mailbox *inbox;
    struct loop_fd *inbox_watch;
    struct reporter *reporter;
    struct stream *stream;
    struct ask_thread *asker;
    int lock_fd;
    struct loop_timer *lock_timer; /* the next look at the lock */
    struct health *health;         /* NULL: the site has no check of its own */
    struct before *before;         /* what the node was when its tasks began */
    const char *device_serials;    /* of the node's devices; "": unknown */

    /* Members of keeper.c. */
    struct supclient *supervisor; /* NULL: no supervisor is connected */
    struct loop_fd *supervisor_watch;
    uint32_t supervisor_events;
    struct loop_timer *launch_timer;
    unsigned char supervisor_id[SUPERVISOR_ID_LEN];
    struct loop_timer *rest_timer;        /* due when the node has rested after a crash loop */
    char crash_trouble[TEXT_LEN_MAX + 1]; /* why the node rests; "": it does not */
    uint64_t supervisor_version;
    enum cgroup_mode cgroup_mode; /* what the supervisor can limit, of this node */
    unsigned cgroup_controllers;
    unsigned confine;             /* how the supervisor confines tasks: bits of confine.h */
    struct gpu_watch *gpus;       /* NULL: no NVIDIA GPUs, or fake ones */
    struct loop_timer *gpu_timer; /* the next look at their health */
    struct gpu_faults gpu_faults;
    char upkeep_trouble[TEXT_LEN_MAX + 1]; /* what the supervisor says of the node; "": nothing */
    unsigned listing;                      /* bits of enum listing; 0: no list is asked for */
    VEC(struct agent_attempt) attempts;    /* the attempts that the supervisor listed */
    /* Starts sent to the supervisor and not yet known to be in the spool. */
    VEC(struct attempt_key) ordered;
    uint64_t ordered_seen; /* how many starts of this connection are in the spool */
    /* The supervisor in whose name the agent speaks: the writer of the part of the spool that is
     * being reported. While that supervisor is dead, the agent passes no starts on. */
    unsigned char speaking_id[SUPERVISOR_ID_LEN];

    /* Members of session.c. */
    char trouble_told[TEXT_LEN_MAX + 1]; /* what the last hello said */
    struct loop_timer *connect_timer;
    struct loop_timer *cut_off_timer;
    struct tunnel_server tunnels;
    /* the server's address, for `weir box`; NULL: no server has welcomed the agent yet */
    char *site_url;
    bool streaming; /* the stream thread is at work */
    bool parting; /* the stream is being stopped: starts that still come from it are not followed */
    bool welcomed;
    bool refused; /* the server does not let this node join: the agent ends */
    bool ready_told;
    uint64_t epoch;
    uint32_t incarnation;
    unsigned failures; /* failed connections in a row */
};
