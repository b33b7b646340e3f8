/* token.c - see token.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/token.h"

#include "base/json_out.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"

#include <sodium.h>

enum { TOKEN_RANDOM_BYTES = 32, TOKEN_ID_BYTES = 8, TOKEN_HASH_BYTES = 32 };

struct tokens {
    struct map *by_hash;
    struct map *by_id; /* the same tokens */
};

static const char *const scope_names[TOKEN_SCOPE_COUNT] = {[SCOPE_ADMIN] = "admin",
                                                           [SCOPE_READ] = "read",
                                                           [SCOPE_NODE] = "node",
                                                           [SCOPE_JOIN] = "join",
                                                           [SCOPE_SESSION] = "session"};

const char *token_scope_name(enum token_scope scope)
{
    return scope_names[scope];
}

bool token_scope_parse(const char *name, enum token_scope *ret)
{
    for (unsigned i = 0; i < TOKEN_SCOPE_COUNT; i++) {
        if (strcmp(name, scope_names[i]) == 0) {
            *ret = (enum token_scope)i;
            return true;
        }
    }
    return false;
}

struct tokens *token_set_new(void)
{
    struct tokens *tokens = xcalloc(1, sizeof *tokens);
    tokens->by_hash = map_new();
    tokens->by_id = map_new();
    return tokens;
}

void token_set_free(struct tokens *tokens)
{
    if (tokens == NULL) {
        return;
    }
    size_t cursor = 0;
    struct store_token *token;
    while ((token = map_next(tokens->by_hash, &cursor)) != NULL) {
        free(token);
    }
    map_free(tokens->by_hash);
    map_free(tokens->by_id);
    free(tokens);
}

void token_set_put(struct tokens *tokens, const struct store_token *token)
{
    const size_t id_len = strlen(token->id);
    if (token->revoked) {
        (void)map_remove(tokens->by_id, token->id, id_len);
        free(map_remove(tokens->by_hash, token->hash, sizeof token->hash));
        return;
    }
    struct store_token *kept = xmemdup(token, sizeof *token);
    (void)map_put(tokens->by_id, token->id, id_len, kept);
    free(map_put(tokens->by_hash, token->hash, sizeof token->hash, kept));
}

size_t token_set_count(const struct tokens *tokens)
{
    return map_count(tokens->by_hash);
}

const struct store_token *token_set_find(const struct tokens *tokens, const char *secret,
                                         int64_t now_ms)
{
    uint8_t hash[TOKEN_HASH_BYTES];
    token_hash(secret, hash);
    const struct store_token *token = map_get(tokens->by_hash, hash, sizeof hash);
    if (token == NULL || (token->expires_ms != 0 && token->expires_ms <= now_ms)) {
        return NULL;
    }
    return token;
}

const struct store_token *token_set_next(const struct tokens *tokens, size_t *cursor)
{
    return map_next(tokens->by_hash, cursor);
}

const struct store_token *token_set_by_id(const struct tokens *tokens, const char *id)
{
    return map_get(tokens->by_id, id, strlen(id));
}

const struct store_token *token_set_named(const struct tokens *tokens, enum token_scope scope,
                                          const char *name)
{
    size_t cursor = 0;
    const struct store_token *token;
    while ((token = token_set_next(tokens, &cursor)) != NULL) {
        if (strcmp(token->scope, scope_names[scope]) == 0 && strcmp(token->name, name) == 0) {
            return token;
        }
    }
    return NULL;
}

void token_hash(const char *secret, uint8_t *ret_hash)
{
    must(crypto_generichash(ret_hash, TOKEN_HASH_BYTES, (const unsigned char *)secret,
                            strlen(secret), NULL, 0) == 0);
}

static void revoked_put(const struct store_token *token,
                        void (*put)(void *ctx, const struct store_token *token), void *ctx)
{
    struct store_token gone = *token;
    gone.revoked = true;
    put(ctx, &gone);
}

void token_set_revoke_expired(const struct tokens *tokens, int64_t before_ms,
                              void (*put)(void *ctx, const struct store_token *token), void *ctx)
{
    const struct store_token *token;
    size_t cursor = 0;
    while ((token = token_set_next(tokens, &cursor)) != NULL) {
        if (token->expires_ms > 0 && token->expires_ms < before_ms) {
            revoked_put(token, put, ctx);
        }
    }
}

void token_set_revoke_node(const struct tokens *tokens, const char *node,
                           void (*put)(void *ctx, const struct store_token *token), void *ctx)
{
    const struct store_token *token;
    size_t cursor = 0;
    while ((token = token_set_next(tokens, &cursor)) != NULL) {
        const bool credential = strcmp(token->scope, token_scope_name(SCOPE_NODE)) == 0 &&
                                strcmp(token->name, node) == 0;
        if (credential || (token->uses < 0 && strcmp(token->node, node) == 0)) {
            revoked_put(token, put, ctx);
        }
    }
}

void token_make(enum token_scope scope, const char *name, int64_t now_ms, struct store_token *ret,
                char *ret_secret)
{
    unsigned char random[TOKEN_RANDOM_BYTES];
    char hex[2 * TOKEN_RANDOM_BYTES + 1];
    must(sodium_init() >= 0);
    randombytes_buf(random, sizeof random);
    must(sodium_bin2hex(hex, sizeof hex, random, sizeof random) == hex);
    int len = snprintf(ret_secret, TOKEN_SECRET_MAX, "weir_%s_%s", scope_names[scope], hex);
    must(len > 0);
    must(len < TOKEN_SECRET_MAX);
    *ret = (struct store_token){.created_ms = now_ms};
    token_hash(ret_secret, ret->hash);
    /* The id is public, so it is no part of the secret. */
    randombytes_buf(random, TOKEN_ID_BYTES);
    must(sodium_bin2hex(ret->id, sizeof ret->id, random, TOKEN_ID_BYTES) == ret->id);
    must(str_copy(ret->scope, sizeof ret->scope, scope_names[scope]));
    must(str_copy(ret->name, sizeof ret->name, name));
    sodium_memzero(random, sizeof random);
    sodium_memzero(hex, sizeof hex);
}

void token_json(struct json_out *j, const struct store_token *token, const char *secret)
{
    const bool join = strcmp(token->scope, "join") == 0;
    const bool session = strcmp(token->scope, "session") == 0;
    json_out_object(j);
    json_out_kv_text(j, "id", token->id);
    json_out_kv_text(j, "scope", token->scope);
    json_out_kv_text(j, "name", token->name);
    json_out_kv_time(j, "created_at", token->created_ms);
    json_out_kv_time(j, "expires_at", token->expires_ms);
    if (join && token->uses != 0) {
        json_out_kv_i64(j, "uses", token->uses > 0 ? token->uses : 0);
    }
    if (join && token->node[0] != '\0') {
        json_out_kv_text(j, "node", token->node);
    }
    if (session) {
        json_out_kv_text(j, "of", token->node);
    }
    if (secret != NULL) {
        json_out_kv_text(j, "token", secret);
    }
    json_out_end(j);
}
