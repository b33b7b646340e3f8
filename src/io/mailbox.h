/* mailbox.h - messages from one thread to another: a bounded queue and an eventfd. Never blocks the
 * sender: a full box says so. Messages are pointers, never NULL; who takes one owns it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

#include <stdbool.h>
#include <stddef.h>

struct mailbox;

/* Room for `max` messages, at least 1. */
struct mailbox *mailbox_new(size_t max);

/* Must be empty, and no thread may use it any more. NULL is fine. */
void mailbox_free(struct mailbox *box);

/* False when it is full or closed: the message stays the caller's. Reserved messages may use the
 * last eighth too. */
must_use bool mailbox_send(struct mailbox *box, void *message);
must_use bool mailbox_send_reserved(struct mailbox *box, void *message);

/* The oldest message, or NULL. */
void *mailbox_take(struct mailbox *box);

/* The oldest message; blocks until there is one. NULL when the box is closed and empty. */
void *mailbox_wait(struct mailbox *box);

/* Readable while there are messages or the box is closed; for loop_fd_add(), never read by the
 * caller. The descriptor is the box's. */
int mailbox_fd(struct mailbox *box);

/* No more messages are taken in; those inside can still be taken out. */
void mailbox_close(struct mailbox *box);

size_t mailbox_count(struct mailbox *box);
