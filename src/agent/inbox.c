/* inbox.c - the messages from the agent's threads to the agent's loop.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/inbox.h"

#include "base/mem.h"

#include <unistd.h>

enum { FULL_WAIT_US = 1000, FULL_TRIES_MAX = 60000 };

struct inbox_message *inbox_message_new(enum inbox_type type)
{
    struct inbox_message *message = xcalloc(1, sizeof *message);
    message->type = type;
    arena_init(&message->arena);
    return message;
}

void inbox_message_free(struct inbox_message *message)
{
    arena_done(&message->arena);
    free(message);
}

void inbox_send(struct mailbox *inbox, struct inbox_message *message)
{
    /* Only threads that may block send here, so a full mailbox slows the server's stream down. A
     * mailbox that is full for a minute means that the loop has ended or is stuck. The server
     * repeats lost orders after the next hello. */
    for (int i = 0; i < FULL_TRIES_MAX; i++) {
        bool sent = message->type == INBOX_ORDER ? mailbox_send(inbox, message)
                                                 : mailbox_send_reserved(inbox, message);
        if (sent) {
            return;
        }
        (void)usleep(FULL_WAIT_US);
    }
    inbox_message_free(message);
}
