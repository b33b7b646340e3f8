/* supclient.h - the agent's side of the connection with the supervisor, and the start of a
 * supervisor. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "agent/frame.h"
#include "base/fail.h"

struct supclient;

/* ERR_UNREACHABLE: no supervisor answers in this directory. */
must_use enum err supclient_connect(const char *dir, struct supclient **ret, struct error *e);
void supclient_free(struct supclient *client);

/* Starts a supervisor by running this program anew (/proc/self/exe) in a session of its own, and
 * waits until the supervisor serves. The supervisor gets the directory and the settings of tasks. */
must_use enum err supclient_launch(const struct agent_options *options, struct error *e);

int supclient_fd(const struct supclient *client);

/* Queues a message; supclient_flush() sends. */
void supclient_put(struct supclient *client, const struct frame *frame);

/* Sends as much as the socket takes. False: the supervisor has ended. */
must_use bool supclient_flush(struct supclient *client);

/* Are queued bytes left that the socket did not take? */
bool supclient_pending(const struct supclient *client);

enum supclient_got { SUPCLIENT_FRAME, SUPCLIENT_NOTHING, SUPCLIENT_GONE };

/* Returns the next message without waiting. The message's texts are in the arena. */
enum supclient_got supclient_get(struct supclient *client, struct arena *arena, struct frame *ret);
