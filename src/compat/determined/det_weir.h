/* det_weir.h - Determined's pools as a server file of Weir.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "compat/determined/det_config.h"

/* Writes a server file (YAML) with the pools of the configuration, which has no problems. A setting that Weir does
 * not have is named in a comment at its pool. A value that only the reader can know stays empty, and the server refuses
 * the file until the value is there. */
void det_weir_write(const struct det_config *config, struct buf *out);
