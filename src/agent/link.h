/* link.h - the supervisor's connection with the agent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

must_use enum err link_listen(struct supervisor *sup, struct error *e);
void link_close(struct supervisor *sup);

/* Makes the socket anew where it is gone. */
must_use enum err link_hold(struct supervisor *sup, struct error *e);

/* Tells the agent why the node is out of service, or that it is in service. */
/* Sends a message that may be lost, where an agent is connected. */
void link_tell(struct supervisor *sup, const struct frame *frame);

void link_trouble(struct supervisor *sup);

/* Tells the agent how far the spool goes. Call after the spool was written. */
void link_grown(struct supervisor *sup);
