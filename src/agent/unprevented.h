/* unprevented.h - what this node can limit, and what tasks on it could do all the same, in words for
 * people (docs/user/separation.md). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_internal.h"

/* Fills `limits` and `unprevented` of the node that the agent says hello with. Call when account and
 * supervisor are known. */
void unprevented_tell(struct agent *agent);
