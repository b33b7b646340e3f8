/* asks.h - questions to a node. An agent connects out to the server and takes no connections, so the
 * server sends the question down the agent's stream of orders and the agent posts the answer.
 *
 *   GET /tasks/7/files ─▶ parked ─ask 12─▶ agent ─POST /agent/answers?ask=12─▶ parked call goes on
 *
 * A question that is not answered within ASK_WAIT_MS, or whose node leaves, is answered with an error.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "wire/agent.h"

enum {
    ASK_WAIT_MS = 30 * 1000,
    ASKS_MAX = 1024, /* questions under way; a further one is refused */
};

struct asks;

/* The agent's answer, on the loop. The call is no longer parked; `then` answers it. `body` is what the
 * node wrote: any bytes. */
typedef void (*ask_then_fn)(struct call *call, struct str body);

struct asks *asks_new(struct api *api);
void asks_free(struct asks *asks); /* no question may be under way */

/* Sends the question to the node and parks the call. Answers the call where that is not possible. */
void asks_send(struct call *call, const char *node, struct agent_ask *ask, ask_then_fn then);

/* POST /agent/answers */
void asks_answer(struct call *call);
