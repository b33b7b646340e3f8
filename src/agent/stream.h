/* stream.h - the thread that holds the connection on which orders come.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/inbox.h"
#include "agent/agent_options.h"

struct stream;

struct stream_options {
    const struct agent_options *options; /* both outlive the stream and do not change */
    const struct node_spec *node;
    struct mailbox *inbox;
};

must_use enum err stream_new(const struct stream_options *options, struct stream **ret,
                             struct error *e);

/* Ends the thread; false: it did not end within a second, and its memory is left alone. */
bool stream_free(struct stream *stream);

struct stream_hello {
    unsigned char supervisor[SUPERVISOR_ID_LEN];
    bool closing; /* it is gone; this connection only tells what it left */
    const struct agent_attempt *attempts;
    size_t attempt_count;
};

/* Connect once and pass on orders until it ends (INBOX_STREAM_ENDED). Only when none is under way.
 * Everything is copied. */
void stream_connect(struct stream *stream, const struct stream_hello *hello);

/* End the connection under way; INBOX_STREAM_ENDED follows. */
void stream_stop(struct stream *stream);
