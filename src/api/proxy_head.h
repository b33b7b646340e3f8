/* proxy_head.h - the heads that the proxy passes on: the request for the task, the answer for the
 * browser. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "io/http_request.h"

enum { PROXY_HEAD_MAX = 64 * 1024, PROXY_FIELDS_MAX = 128 };

struct proxy_field {
    const char *name;
    const char *value;
};

struct proxy_head {
    unsigned status;
    struct proxy_field fields[PROXY_FIELDS_MAX];
    size_t count;
    int64_t length; /* Content-Length; -1: until the connection closes */
    bool chunked;
};

struct proxy_way {
    const char *prefix; /* "/proxy/12" */
    bool keep;          /* the task knows its prefix: the path goes on as it is */
    bool bearer;        /* the Authorization header was Weir's */
    bool websocket;
};

/* Writes the request for the task. Weir's own credentials stay here. */
void proxy_head_write(const struct http_request *request, const struct proxy_way *way,
                      struct buf *out);

/* Reads the head of the answer. Returns its length, 0 when it is not complete, -1 when malformed. */
long proxy_head_read(struct str in, struct arena *arena, struct proxy_head *ret);

/* Gives the fields to the browser, without those of the connection; cookies only for the prefix. */
void proxy_head_give(struct http_request *request, const struct proxy_head *head,
                     const struct proxy_way *way, struct arena *arena);
