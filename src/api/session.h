/* session.h - browser sessions: a cookie that stands for a token, and one-time links that sign in.
 *
 * S1 a session is stored like a token, by the hash of its secret, and goes with the token from which it
 * was made; S2 script in a page cannot read the secret (HttpOnly), and other sites cannot use it
 * (SameSite=Strict, and who.h); S3 signing in always makes a new secret, so nobody can plant one;
 * S4 a link is good once and for two minutes, is known by its hash in memory alone, and opens nothing
 * but POST /session. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/token.h"

struct api;

enum {
    SESSION_LINKS_MAX = 64,  /* a new link takes the place of the oldest one */
    SESSIONS_TOKEN_MAX = 16, /* sessions of one token; a new one ends the oldest */
    SESSIONS_MAX = 10000,    /* of all tokens */
};

#define SESSION_LIFE_MS ((int64_t)7 * 24 * 60 * 60 * 1000)
#define SESSION_LINK_LIFE_MS ((int64_t)2 * 60 * 1000)

struct session_link {
    uint8_t hash[32];
    char token[sizeof((struct store_token){0}.id)]; /* "": no link */
    int64_t expires_ms;
};

struct session_links {
    struct session_link at[SESSION_LINKS_MAX];
    size_t next; /* the place of the next link */
};

/* The token for which this link was made; NULL: no such link, or it is too old or used. */
const struct store_token *session_link_find(const struct api *api, const char *secret,
                                            int64_t now_ms);

/* With which text the names of this server's session cookies begin. */
const char *session_cookie_prefix(const struct api *api);

/* Gives `put` each session of this token, revoked. */
void session_revoke_of(const struct tokens *tokens, const char *token,
                       void (*put)(void *ctx, const struct store_token *token), void *ctx);
