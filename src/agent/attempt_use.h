/* attempt_use.h - what running attempts use now: looked at by the supervisor, told to the agent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* Looks at one running attempt, unless it was looked at in the last seconds, and tells the agent. */
void attempt_use_look(struct attempt *attempt);
