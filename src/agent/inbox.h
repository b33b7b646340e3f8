/* inbox.h - the messages from the agent's threads to the agent's loop.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/spool.h"
#include "base/arena.h"
#include "io/mailbox.h"
#include "wire/agent.h"

enum { INBOX_MAX = 8192 };

enum inbox_type {
    INBOX_ORDER,        /* stream: one order from the server */
    INBOX_STREAM_ENDED, /* stream: the connection has ended, or could not be made */
    INBOX_ACKED,        /* reporter: the server has every record before `at` */
    INBOX_STALE,        /* reporter: the server refuses our credential, epoch or incarnation */
    INBOX_DAMAGED,      /* reporter: a record of the spool cannot be read */
    /* Reporter: the dead supervisor is fully reported; the spool goes on with `supervisor`. */
    INBOX_CROSSED,
};

/* A message. The comment of a member names the types of messages that have the member. */
struct inbox_message {
    enum inbox_type type;
    struct arena arena; /* holds the texts of the message */
    struct agent_order order;
    const char *url; /* ORDER of type welcome: the server's address, and `credential` for it */
    const char *credential;
    struct spool_position at;
    unsigned char supervisor[SUPERVISOR_ID_LEN]; /* CROSSED: the id of the next supervisor */
    struct error error; /* STREAM_ENDED: ERR_OK when the server closed the connection in order */
    bool refused;       /* STREAM_ENDED: there is no way to join; trying again cannot help */
};

struct inbox_message *inbox_message_new(enum inbox_type type);
void inbox_message_free(struct inbox_message *message);

/* Sends the message. Waits a minute at most while the mailbox is full. */
void inbox_send(struct mailbox *inbox, struct inbox_message *message);
