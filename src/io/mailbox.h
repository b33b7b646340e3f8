/* mailbox.h - messages from one thread to another: a bounded list and an eventfd. Never blocks the
 * sender: a full box says so.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

#include <stdbool.h>
#include <stddef.h>

struct mailbox;

struct mailbox *mailbox_new(size_t max); /* max messages */
void mailbox_free(struct mailbox *box);  /* must be empty */

/* False when it is full or closed: the message stays the caller's. Reserved messages may use the
 * last eighth too. */
must_use bool mailbox_send(struct mailbox *box, void *message);
must_use bool mailbox_send_reserved(struct mailbox *box, void *message);

void *mailbox_take(struct mailbox *box); /* the oldest, or NULL */
void *mailbox_wait(struct mailbox *box); /* blocks; NULL when closed and empty */
int mailbox_fd(
    const struct mailbox *box); /* readable while there are messages; for loop_fd_add() */
void mailbox_close(struct mailbox *box);
size_t mailbox_count(struct mailbox *box);
