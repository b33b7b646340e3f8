/* gpu_nodes.h - the device nodes that a container needs for the GPUs of its task.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"

/* The paths of the GPUs that this environment (taskenv_build()) names, and of what these GPUs share; NULL at the end, in the arena.
 * None for a task without GPUs. A path need not exist. */
const char *const *gpu_nodes(struct arena *arena, char *const *env);
