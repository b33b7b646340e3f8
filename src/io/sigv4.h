/* sigv4.h - signs requests as AWS wants it (Signature Version 4). Knows no network and no clock.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIGV4_KEY_BYTES = 32 };

/* Who asks. A secret: never logged. */
struct sigv4_keys {
    const char *access_key;
    const char *secret_key;
    const char *session_token; /* "": none */
};

/* A header that is signed. The name is in lower case. */
struct sigv4_header {
    const char *name;
    const char *value;
};

struct sigv4_request {
    const char *method;
    const char *path;                   /* "/" */
    const char *query;                  /* in canonical order; "": none */
    const struct sigv4_header *headers; /* sorted by name */
    uint32_t header_count;
    struct str body;
    const char *region;
    const char *service;
    int64_t time_s; /* of the wall clock */
};

/* "20150830T123600Z", the value of x-amz-date. `ret` has SIGV4_DATE_MAX. */
enum { SIGV4_DATE_MAX = 17 };
void sigv4_date(int64_t time_s, char *ret);

/* Derives the key that signs the requests of one day (written YYYYMMDD) to one service in one region. */
void sigv4_key(const char *secret, const char *day, const char *region, const char *service,
               uint8_t *ret);

/* The value of the header Authorization, in the arena. */
const char *sigv4_authorization(const struct sigv4_request *request, const struct sigv4_keys *keys,
                                struct arena *arena);

/* The query with which anybody may make this request for so many seconds, in the arena. The body is not signed.
 * The request's own parameters must sort behind "X-Amz-SignedHeaders", as words in lower case do. */
const char *sigv4_presigned(const struct sigv4_request *request, const struct sigv4_keys *keys,
                            uint32_t expires_s, struct arena *arena);

/* Percent-encodes every byte that is none of A-Z a-z 0-9 - . _ ~, and no slash where slashes are kept. */
void sigv4_encode(struct buf *out, const char *text, bool keep_slashes);
