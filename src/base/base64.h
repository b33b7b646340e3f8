/* base64.h - RFC 4648 base64 with padding: how bytes travel in the agent protocol and in logs.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>

/* Appends the coding of `data`; nothing but letters, digits, '+', '/' and '='. */
void base64_add(struct buf *out, struct str data);

/* Back to bytes, in the arena (with a NUL behind them). False when `text` is anything but the one
 * canonical coding of something. */
bool base64_decode(struct arena *arena, struct str text, struct str *ret);
