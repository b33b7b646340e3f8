/* sigv4.c - see sigv4.h. SPDX-License-Identifier: Apache-2.0 */
#include "io/sigv4.h"

#include "base/must.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DAY_LEN = 8, HEX_MAX = 2 * SIGV4_KEY_BYTES + 1 };
_Static_assert(SIGV4_KEY_BYTES == crypto_auth_hmacsha256_BYTES, "the size of an HMAC");

void sigv4_date(int64_t time_s, char *ret)
{
    const time_t at = (time_t)time_s;
    struct tm parts;
    must(gmtime_r(&at, &parts) != NULL);
    must(strftime(ret, SIGV4_DATE_MAX, "%Y%m%dT%H%M%SZ", &parts) == SIGV4_DATE_MAX - 1);
}

static void hmac(const void *key, size_t key_len, struct str text, uint8_t *ret)
{
    crypto_auth_hmacsha256_state state;
    must(crypto_auth_hmacsha256_init(&state, key, key_len) == 0);
    must(crypto_auth_hmacsha256_update(&state, (const uint8_t *)text.p, text.len) == 0);
    must(crypto_auth_hmacsha256_final(&state, ret) == 0);
}

static void hash_hex(struct str text, char *ret)
{
    uint8_t hash[crypto_hash_sha256_BYTES];
    must(crypto_hash_sha256(hash, (const uint8_t *)text.p, text.len) == 0);
    str_hex(ret, hash, sizeof hash);
}

void sigv4_key(const char *secret, const char *day, const char *region, const char *service,
               uint8_t *ret)
{
    struct arena arena;
    arena_init(&arena);
    char *first = arena_fmt(&arena, "AWS4%s", secret);
    hmac(first, strlen(first), str_of(day), ret);
    hmac(ret, SIGV4_KEY_BYTES, str_of(region), ret);
    hmac(ret, SIGV4_KEY_BYTES, str_of(service), ret);
    hmac(ret, SIGV4_KEY_BYTES, str_of("aws4_request"), ret);
    sodium_memzero(first, strlen(first));
    arena_done(&arena);
}

/* The names of the signed headers, with semicolons between. */
static const char *names_of(const struct sigv4_request *request, struct arena *arena)
{
    const char *names = "";
    for (uint32_t i = 0; i < request->header_count; i++) {
        must(i == 0 || strcmp(request->headers[i - 1].name, request->headers[i].name) < 0);
        names = arena_fmt(arena, "%s%s%s", names, i > 0 ? ";" : "", request->headers[i].name);
    }
    return names;
}

static const char *canonical(const struct sigv4_request *request, const char *query,
                             const char *body, struct arena *arena)
{
    const char *headers = "";
    for (uint32_t i = 0; i < request->header_count; i++) {
        headers = arena_fmt(arena, "%s%s:%s\n", headers, request->headers[i].name,
                            request->headers[i].value);
    }
    return arena_fmt(arena, "%s\n%s\n%s\n%s\n%s\n%s", request->method, request->path, query,
                     headers, names_of(request, arena), body);
}

/* For which day, region and service a signature counts. `date` as sigv4_date() writes it. */
static const char *scope_of(const struct sigv4_request *request, const char *date,
                            struct arena *arena)
{
    return arena_fmt(arena, "%.*s/%s/%s/aws4_request", DAY_LEN, date, request->region,
                     request->service);
}

/* Signs the canonical form. `ret` has HEX_MAX. */
static void sign(const struct sigv4_request *request, const struct sigv4_keys *keys,
                 const char *date, const char *text, struct arena *arena, char *ret)
{
    char day[DAY_LEN + 1];
    char hash[HEX_MAX];
    uint8_t key[SIGV4_KEY_BYTES];
    uint8_t signed_by[SIGV4_KEY_BYTES];
    memcpy(day, date, DAY_LEN);
    day[DAY_LEN] = '\0';
    hash_hex(str_of(text), hash);
    const char *to_sign = arena_fmt(arena, "AWS4-HMAC-SHA256\n%s\n%s\n%s", date,
                                    scope_of(request, date, arena), hash);
    sigv4_key(keys->secret_key, day, request->region, request->service, key);
    hmac(key, sizeof key, str_of(to_sign), signed_by);
    sodium_memzero(key, sizeof key);
    str_hex(ret, signed_by, sizeof signed_by);
}

const char *sigv4_authorization(const struct sigv4_request *request, const struct sigv4_keys *keys,
                                struct arena *arena)
{
    char date[SIGV4_DATE_MAX];
    char body[HEX_MAX];
    char signature[HEX_MAX];
    sigv4_date(request->time_s, date);
    hash_hex(request->body, body);
    sign(request, keys, date, canonical(request, request->query, body, arena), arena, signature);
    return arena_fmt(arena, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
                     keys->access_key, scope_of(request, date, arena), names_of(request, arena),
                     signature);
}

void sigv4_encode(struct buf *out, const char *text, bool keep_slashes)
{
    for (const char *p = text; *p != '\0'; p++) {
        const unsigned char c = (unsigned char)*p;
        const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                           (c >= '0' && c <= '9') || strchr("-._~", c) != NULL;
        if (plain || (keep_slashes && c == '/')) {
            buf_add_char(out, *p);
        } else {
            buf_addf(out, "%%%02X", (unsigned)c);
        }
    }
}

static const char *encoded(struct arena *arena, const char *text)
{
    struct buf out;
    buf_init(&out, 3 * strlen(text) + 1);
    sigv4_encode(&out, text, false);
    const char *ret = arena_str(arena, buf_text(&out));
    buf_done(&out);
    return ret;
}

const char *sigv4_presigned(const struct sigv4_request *request, const struct sigv4_keys *keys,
                            uint32_t expires_s, struct arena *arena)
{
    char date[SIGV4_DATE_MAX];
    char signature[HEX_MAX];
    sigv4_date(request->time_s, date);
    const char *credential =
        arena_fmt(arena, "%s/%s", keys->access_key, scope_of(request, date, arena));
    const char *session =
        keys->session_token[0] == '\0'
            ? ""
            : arena_fmt(arena, "&X-Amz-Security-Token=%s", encoded(arena, keys->session_token));
    const char *query = arena_fmt(
        arena,
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%s&X-Amz-Date=%s&X-Amz-Expires=%u%s"
        "&X-Amz-SignedHeaders=%s%s%s",
        encoded(arena, credential), date, expires_s, session,
        encoded(arena, names_of(request, arena)), request->query[0] == '\0' ? "" : "&",
        request->query);
    sign(request, keys, date, canonical(request, query, "UNSIGNED-PAYLOAD", arena), arena,
         signature);
    return arena_fmt(arena, "%s&X-Amz-Signature=%s", query, signature);
}
