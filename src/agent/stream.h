/* stream.h - the thread that holds the connection on which orders come.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/inbox.h"
#include "agent/agent_options.h"
#include "agent/gpu_watch.h"

struct stream;

struct stream_options {
    /* `options` and `node` outlive the stream and do not change. */
    const struct agent_options *options;
    const struct node_spec *node;
    struct mailbox *inbox;
};

must_use enum err stream_new(const struct stream_options *options, struct stream **ret,
                             struct error *e);

/* Ends the thread. False: the thread did not end within a second, and its memory is not freed. */
bool stream_free(struct stream *stream);

struct stream_hello {
    unsigned char supervisor[SUPERVISOR_ID_LEN];
    bool closing;        /* the supervisor is dead; this connection only reports its attempts */
    const char *trouble; /* why the node is out of service; "": it is in service */
    struct gpu_faults devices;
    const struct agent_attempt *attempts;
    size_t attempt_count;
};

/* Connects once and passes orders on until the connection ends (INBOX_STREAM_ENDED). Only one
 * connection may be under way. Everything is copied. */
void stream_connect(struct stream *stream, const struct stream_hello *hello);

/* Ends the connection under way; INBOX_STREAM_ENDED follows. */
void stream_stop(struct stream *stream);
