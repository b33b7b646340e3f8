/* mailbox.h - messages from one thread to another: a bounded queue and an eventfd. A sender never
 * blocks: sending to a full mailbox returns false. Messages are pointers, never NULL. The thread
 * that takes a message owns it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

#include <stdbool.h>
#include <stddef.h>

struct mailbox;

/* Room for `max` messages, at least 1. */
struct mailbox *mailbox_new(size_t max);

/* The mailbox must be empty, and no thread may use it any more. NULL is allowed. */
void mailbox_free(struct mailbox *box);

/* False: the mailbox is full or closed, and the message stays the caller's. Only
 * mailbox_send_reserved() may use the last eighth of the room. */
must_use bool mailbox_send(struct mailbox *box, void *message);
must_use bool mailbox_send_reserved(struct mailbox *box, void *message);

/* The oldest message, or NULL. */
void *mailbox_take(struct mailbox *box);

/* The oldest message; blocks until there is one. NULL: the mailbox is closed and empty. */
void *mailbox_wait(struct mailbox *box);

/* A descriptor for loop_fd_add(), readable while there are messages or the mailbox is closed. The
 * caller never reads or closes the descriptor. */
int mailbox_fd(struct mailbox *box);

/* The mailbox takes no more messages in. Messages inside can still be taken out. */
void mailbox_close(struct mailbox *box);

size_t mailbox_count(struct mailbox *box);
