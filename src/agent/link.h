/* link.h - the supervisor's connection with the agent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

must_use enum err link_listen(struct supervisor *sup, struct error *e);
void link_close(struct supervisor *sup);

/* Say how far the spool goes; called when it was written. */
void link_grown(struct supervisor *sup);
