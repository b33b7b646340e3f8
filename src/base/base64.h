/* base64.h - RFC 4648 base64 with padding: the form of bytes in the agent protocol and in logs.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>

/* Appends the encoding of `data`: only letters, digits, '+', '/' and '='. */
void base64_add(struct buf *out, struct str data);

/* Decodes into the arena, with a NUL behind the bytes. False: `text` is not the canonical encoding
 * of any bytes. */
bool base64_decode(struct arena *arena, struct str text, struct str *ret);
