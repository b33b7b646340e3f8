/* token.h - bearer tokens, kept as BLAKE2b hashes. A token is looked up by the hash of the text
 * that was sent, so the time of a look-up says nothing about the secret.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/json_out.h"
#include "store/store.h"

/* A session permits what the token permits from which it was made (session.h). */
enum token_scope { SCOPE_ADMIN, SCOPE_READ, SCOPE_NODE, SCOPE_JOIN, SCOPE_SESSION };
enum { TOKEN_SCOPE_COUNT = SCOPE_SESSION + 1 };

const char *token_scope_name(enum token_scope scope);
bool token_scope_parse(const char *name, enum token_scope *ret);

/* A secret is "weir_admin_", or the like for another scope, and 64 hex digits. */
enum { TOKEN_SECRET_MAX = 96, TOKENS_MAX = 200000 };

struct tokens;

struct tokens *token_set_new(void);
void token_set_free(struct tokens *tokens);

/* Adds or replaces a stored token, or removes a revoked token. */
void token_set_put(struct tokens *tokens, const struct store_token *token);

size_t token_set_count(const struct tokens *tokens);

/* The token of this secret. NULL: unknown, revoked or expired. Borrowed until the next put. */
const struct store_token *token_set_find(const struct tokens *tokens, const char *secret,
                                         int64_t now_ms);

/* The token of this public id, or NULL. */
const struct store_token *token_set_by_id(const struct tokens *tokens, const char *id);

/* The first token of this scope and name, or NULL. */
const struct store_token *token_set_named(const struct tokens *tokens, enum token_scope scope,
                                          const char *name);

/* Walks all tokens in order of creation: start with *cursor = 0; NULL at the end. */
const struct store_token *token_set_next(const struct tokens *tokens, size_t *cursor);

/* Gives `put` the revoked credential of a removed node, and the revoked join token that the node has used up: that token
 * would let the same machine join again until it expires. */
void token_set_revoke_node(const struct tokens *tokens, const char *node,
                           void (*put)(void *ctx, const struct store_token *token), void *ctx);

/* Gives `put` each token that expired before `before_ms`, revoked. */
void token_set_revoke_expired(const struct tokens *tokens, int64_t before_ms,
                              void (*put)(void *ctx, const struct store_token *token), void *ctx);

/* Makes a new random token. `ret_secret` has TOKEN_SECRET_MAX bytes. The secret is shown once and
 * stored nowhere. */
void token_make(enum token_scope scope, const char *name, int64_t now_ms, struct store_token *ret,
                char *ret_secret);

/* The hash under which a secret is known: 32 bytes. */
void token_hash(const char *secret, uint8_t *ret_hash);

/* Writes a token as the API shows it; `secret` NULL: without its secret. */
void token_json(struct json_out *j, const struct store_token *token, const char *secret);
