/* token.h - who may call: bearer tokens, kept as BLAKE2b hashes. A token is looked up by the hash
 * of what was sent, so the time it takes says nothing about the secret.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "store/store.h"

enum token_scope { SCOPE_ADMIN, SCOPE_READ, SCOPE_NODE, SCOPE_JOIN };
enum { TOKEN_SCOPE_COUNT = SCOPE_JOIN + 1 };

const char *token_scope_name(enum token_scope scope);
bool token_scope_parse(const char *name, enum token_scope *ret);

/* "weir_admin_" and 64 hex digits. */
enum { TOKEN_SECRET_MAX = 96, TOKENS_MAX = 200000 };

struct tokens;

struct tokens *token_set_new(void);
void token_set_free(struct tokens *tokens);

/* A stored token: adds, replaces, or (revoked) removes it. */
void token_set_put(struct tokens *tokens, const struct store_token *token);

size_t token_set_count(const struct tokens *tokens);

/* The token of this secret, or NULL: unknown, revoked or expired. Borrowed until the next put. */
const struct store_token *token_set_find(const struct tokens *tokens, const char *secret,
                                         int64_t now_ms);

/* By its public id, or NULL. */
const struct store_token *token_set_by_id(const struct tokens *tokens, const char *id);

/* The first of this scope and name, or NULL. */
const struct store_token *token_set_named(const struct tokens *tokens, enum token_scope scope,
                                          const char *name);

/* All of them in order of creation: start with *cursor = 0; NULL at the end. */
const struct store_token *token_set_next(const struct tokens *tokens, size_t *cursor);

/* A new random token. `ret_secret` has TOKEN_SECRET_MAX; it is shown once and kept nowhere. */
void token_make(enum token_scope scope, const char *name, int64_t now_ms, struct store_token *ret,
                char *ret_secret);

/* The hash under which a secret is known: 32 bytes. */
void token_hash(const char *secret, uint8_t *ret_hash);
