/* gpu_nodes.h - the device nodes that a container needs for the GPUs of its task.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"

/* Returns the paths in /dev of the GPUs that the environment `env` (made by taskenv_build()) names,
 * and of the devices that these GPUs share. The list is in the arena, ends with NULL, and is empty
 * for a task without GPUs. A path in the list need not exist on the node. */
const char *const *gpu_nodes(struct arena *arena, char *const *env);
