/* secrets.h - the two tokens that every data directory has: admin.token for the administrator,
 * join.token for agents. The files have mode 0600. The store has only the tokens' hashes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/token.h"

/* Is the token in DIR/NAME known? If not (first start, or the file was removed), makes a new token,
 * writes it to the file and returns it in *ret for the store. *ret_new: a token was made. */
must_use enum err secrets_ensure(const char *dir, enum token_scope scope, const char *name,
                                 const struct tokens *tokens, int64_t now_ms,
                                 struct store_token *ret, bool *ret_new, struct error *e);

/* Writes DIR/NAME with this text and mode: first beside, then renamed over the old file. */
must_use enum err secrets_write_file(const char *dir, const char *name, const char *text,
                                     unsigned mode, struct error *e);
