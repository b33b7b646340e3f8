/* inbox.h - what the agent's threads tell its loop. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/spool.h"
#include "base/arena.h"
#include "io/mailbox.h"
#include "wire/agent.h"

enum { INBOX_MAX = 8192 };

enum inbox_type {
    INBOX_ORDER,        /* stream: one order of the server */
    INBOX_STREAM_ENDED, /* stream: the connection is over, or could not be made */
    INBOX_ACKED,        /* reporter: the server has everything before `at` */
    INBOX_STALE,        /* reporter: the server no longer takes us for who we say we are */
    INBOX_CROSSED, /* reporter: a dead supervisor is told of; the spool goes on with `supervisor` */
};

struct inbox_message {
    enum inbox_type type;
    struct arena arena; /* holds the texts */
    struct agent_order order;
    const char *url; /* ORDER of type welcome: where, and with what credential */
    const char *credential;
    struct spool_position at;
    unsigned char supervisor[SUPERVISOR_ID_LEN]; /* CROSSED */
    struct error error; /* STREAM_ENDED: ERR_OK when the server ended it in order */
    bool refused;       /* STREAM_ENDED: there is no way to join; trying again cannot help */
};

struct inbox_message *inbox_message_new(enum inbox_type type);
void inbox_message_free(struct inbox_message *message);

/* Sends it, waiting while the box is full, a minute at most. */
void inbox_send(struct mailbox *inbox, struct inbox_message *message);
