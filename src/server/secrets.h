/* secrets.h - the two tokens every data directory has: admin.token for the administrator, join.token
 * for agents; files of mode 0600, known to the store by their hashes only.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/token.h"

/* Is the token in DIR/NAME known? If not (first start, or the file was removed), a new one is made:
 * written to the file and returned in *ret for the store; *ret_new says so. */
must_use enum err secrets_ensure(const char *dir, enum token_scope scope, const char *name,
                                 const struct tokens *tokens, int64_t now_ms,
                                 struct store_token *ret, bool *ret_new, struct error *e);

/* DIR/NAME with this text and mode: written beside, then renamed over. */
must_use enum err secrets_write_file(const char *dir, const char *name, const char *text,
                                     unsigned mode, struct error *e);
