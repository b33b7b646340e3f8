/* provider_leave.h - a machine whose time is nearly over: its node takes no new work, then its tasks are told to stop
 * and wait again, then the machine ends.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "provider/provider.h"
#include "server/ledger.h"

/* The machine of this launch leaves soon. Harmless to repeat. */
void provider_leave(struct ledger *ledger, launch_id launch, enum provider_stay stay);
