/* agent_use.h - what a running attempt uses, on its way from the supervisor to the reporter.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_internal.h"

/* Adds the figures of the attempt's GPUs to a USE of the supervisor, and reports them. */
void agent_use_take(struct agent *agent, const struct frame *frame);
