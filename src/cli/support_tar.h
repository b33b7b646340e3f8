/* support_tar.h - a tar archive (ustar) of small texts, built in memory. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

enum { SUPPORT_TAR_NAME_MAX = 99 };

/* Adds a file of mode 0600. `name` has at most SUPPORT_TAR_NAME_MAX bytes and no leading slash. */
void support_tar_add(struct buf *out, const char *name, struct str text, int64_t time_ms);

/* Ends the archive. */
void support_tar_end(struct buf *out);
