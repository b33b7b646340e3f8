/* box_image.h - starts a task's program in a container.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box.h"

/* Runs the container until it has ended. Returns -1 - its exit code, or an exit code of Weir's own with the
 * reason in *e. */
int box_image_run(struct box *box, struct error *e);

/* The path of a container runtime on this machine: `wanted`, or crun, or runc. "": there is none, or this
 * process may not start containers. */
const char *box_image_runtime(const char *wanted, struct arena *arena);
