/* attempt_bytes.h - the key of an attempt as bytes, in frames and in records.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/bytes.h"
#include "core/model/ids.h"

void attempt_bytes_put(struct buf *out, const struct attempt_key *key);
struct attempt_key attempt_bytes_get(struct bytes_reader *in);
