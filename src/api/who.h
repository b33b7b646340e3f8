/* who.h - whose request is this? The one place that reads credentials from a request: the token of
 * the Authorization header, the account behind the server's own socket, a one-time link, or the cookie
 * of a browser session.
 *
 * W1 a request with an Authorization header is judged by that header alone; W2 a browser adds a cookie
 * by itself, so a request by cookie must come from a page of this server: the browser says so
 * (Sec-Fetch-Site, Origin), and a request that changes something has a header that no page of another
 * site can send; W3 two valid session cookies in one request prove nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/token.h"

struct api;
struct http_request;

enum who_by {
    WHO_BY_NOTHING, /* no credential, or one that is not valid */
    WHO_BY_TOKEN,
    WHO_BY_SOCKET,  /* an account of this machine, through the server's own file */
    WHO_BY_LINK,    /* a one-time link: good for signing in, and for nothing else */
    WHO_BY_SESSION, /* a browser's cookie */
};

struct who {
    enum who_by by;
    const struct store_token *token;   /* its name and scope count; NULL: WHO_BY_NOTHING */
    const struct store_token *session; /* NULL: not WHO_BY_SESSION */
};

/* Finds the holder of the request. */
struct who who_of(const struct api *api, struct http_request *request);

/* Why a request with a cookie is not taken as this server's own page's; NULL: it is. */
const char *who_cross_site(const struct who *who, const struct http_request *request);

/* Does the request come by a name of this server, and from no page of another origin? False: fills `e`. */
bool who_host_trusted(const struct api *api, const struct http_request *request, struct error *e);
