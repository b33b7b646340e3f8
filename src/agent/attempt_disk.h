/* attempt_disk.h - ends attempts that use more disk than the node allows a task (--task-disk).
 * Private to the supervisor. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* Kills the attempt if disk_watch.h has seen the attempt use more disk than a task may. */
void attempt_disk_look(struct attempt *attempt);

/* Adds a line to the task's error output that says why the attempt was killed, if the attempt was
 * killed for its use of disk. Call when all output of the task has been taken, so that the line is
 * the last one. */
void attempt_disk_say(struct attempt *attempt);
