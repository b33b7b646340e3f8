/* nvml.h - GPUs by NVML.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/hardware.h"

/* GPUs as libnvidia-ml.so.1 tells; leaves `ret` alone where there is no such library. */
void nvml_read(struct arena *arena, struct hardware *ret);
