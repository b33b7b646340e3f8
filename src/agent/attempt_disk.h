/* attempt_disk.h - the end of an attempt that uses more disk than tasks may. Private to the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* Kills the attempt where it was seen to use more than it may. */
void attempt_disk_look(struct attempt *attempt);

/* All output is taken: adds a line to it where the attempt was killed for its disk. */
void attempt_disk_say(struct attempt *attempt);
