/* nvml.h - reads GPUs by NVML. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/hardware.h"

/* Reads the GPUs that libnvidia-ml.so.1 reports. Leaves `ret` alone where the library is
 * missing. */
void nvml_read(struct arena *arena, struct hardware *ret);
