/* who.c - see who.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/who.h"

#include "api/route.h"

#include "api/api_internal.h"
#include "api/session.h"
#include "base/must.h"
#include "io/http_request.h"
#include "io/http_trust.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <strings.h>
#include <unistd.h>

enum {
    HOST_LEN_MAX = 255,
    COOKIES_MAX = 8, /* session cookies of one request that are looked at */
};

/* ---- by which name, from which page ---- */

/* The name or address of "name:port", "[v6]:port" or "name". The comparison later ignores case. */
static bool host_name(const char *header, char *out, size_t size)
{
    size_t len = strcspn(header, ":");
    if (header[0] == '[') {
        header++;
        len = strcspn(header, "]");
        if (header[len] != ']') {
            return false;
        }
    }
    if (len == 0 || len >= size) {
        return false;
    }
    memcpy(out, header, len);
    out[len] = '\0';
    return true;
}

static bool host_is_own(const struct api *api, const char *header)
{
    char name[HOST_LEN_MAX + 1];
    unsigned char address[sizeof(struct in6_addr)];
    if (!host_name(header, name, sizeof name)) {
        return false;
    }
    return strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, address) == 1 ||
           inet_pton(AF_INET6, name, address) == 1 ||
           (api->o.listen_host != NULL && strcasecmp(name, api->o.listen_host) == 0) ||
           (api->o.tls != NULL && http_tls_has_name(api->o.tls, name));
}

static bool origin_is_own(const char *origin, const char *host)
{
    const char *rest = strstr(origin, "://");
    return rest != NULL && host != NULL && strcasecmp(rest + 3, host) == 0;
}

bool who_host_trusted(const struct api *api, const struct http_request *request, struct error *e)
{
    const char *host = http_request_header(request, "Host");
    const char *origin = http_request_header(request, "Origin");
    if (host != NULL && !host_is_own(api, host)) {
        (void)fail(e, ERR_DENIED, "Host '%.100s' is not this server", host);
        return false;
    }
    if (origin != NULL && !origin_is_own(origin, host)) {
        (void)fail(e, ERR_DENIED, "Origin '%.100s' is not this server", origin);
        return false;
    }
    return true;
}

const char *who_cross_site(const struct who *who, const struct http_request *request)
{
    if (who->by != WHO_BY_SESSION) {
        return NULL;
    }
    const bool reads = strcmp(http_request_method(request), "GET") == 0;
    const char *site = http_request_header(request, "Sec-Fetch-Site");
    const char *own = http_request_header(request, "X-Weir-Request");
    /* "none": the person typed the address. */
    if (site != NULL && strcmp(site, "same-origin") != 0 && !(reads && strcmp(site, "none") == 0)) {
        return "a session is for the pages of this server; the browser says that another site asks "
               "(Sec-Fetch-Site)";
    }
    if (!reads && (own == NULL || strcmp(own, "1") != 0)) {
        return "a change by a session needs the header X-Weir-Request: 1";
    }
    if (!reads && site == NULL && http_request_header(request, "Origin") == NULL) {
        return "a change by a session needs Origin or Sec-Fetch-Site, which browsers send";
    }
    return NULL;
}

/* ---- credentials ---- */

/* Somebody on the server's own machine: root and the server's own account need no token, because both
 * can read the administrator's. */
static struct who by_socket(struct http_request *request)
{
    unsigned uid;
    if (!http_request_uid(request, &uid) || (uid != 0 && uid != geteuid())) {
        return (struct who){.by = WHO_BY_NOTHING};
    }
    struct store_token *token = arena_new(http_request_arena(request), struct store_token, 1);
    const struct passwd *account = getpwuid(uid);
    must(str_copy(token->id, sizeof token->id, "local"));
    must(str_copy(token->scope, sizeof token->scope, token_scope_name(SCOPE_ADMIN)));
    if (account == NULL || !str_copy(token->name, sizeof token->name, account->pw_name)) {
        must(str_copy(token->name, sizeof token->name, "admin"));
    }
    return (struct who){.by = WHO_BY_SOCKET, .token = token};
}

static struct who by_header(const struct api *api, struct http_request *request, const char *header)
{
    static const char prefix[] = "Bearer ";
    const struct who nobody = {.by = WHO_BY_NOTHING};
    const int64_t now_ms = api->o.host->now_ms(api->o.host->ctx);
    if (strncasecmp(header, prefix, sizeof prefix - 1) == 0) {
        header += sizeof prefix - 1;
    } else if (!route_mount_of(&api->o.mounts, http_request_path(request)).bare_token) {
        return nobody;
    }
    const char *secret;
    const char *fingerprint; /* of this server, for the client; says nothing here */
    http_trust_split(header, http_request_arena(request), &secret, &fingerprint);
    if (strlen(secret) >= TOKEN_SECRET_MAX) {
        return nobody;
    }
    const struct store_token *token = session_link_find(api, secret, now_ms);
    if (token != NULL) {
        return (struct who){.by = WHO_BY_LINK, .token = token};
    }
    token = token_set_find(api->o.tokens, secret, now_ms);
    /* A session's secret is good as a cookie alone. */
    if (token == NULL || strcmp(token->scope, token_scope_name(SCOPE_SESSION)) == 0) {
        return nobody;
    }
    return (struct who){.by = WHO_BY_TOKEN, .token = token};
}

/* The session of one cookie; NULL: none, or its token is gone. */
static const struct store_token *session_of(const struct api *api, struct http_request *request,
                                            struct str value, const struct store_token **ret_token)
{
    if (value.len == 0 || value.len >= TOKEN_SECRET_MAX) {
        return NULL;
    }
    const int64_t now_ms = api->o.host->now_ms(api->o.host->ctx);
    const char *secret = arena_strn(http_request_arena(request), value.p, value.len);
    const struct store_token *session = token_set_find(api->o.tokens, secret, now_ms);
    if (session == NULL || strcmp(session->scope, token_scope_name(SCOPE_SESSION)) != 0) {
        return NULL;
    }
    const struct store_token *token = token_set_by_id(api->o.tokens, session->node);
    if (token == NULL || (token->expires_ms != 0 && token->expires_ms <= now_ms)) {
        return NULL;
    }
    *ret_token = token;
    return session;
}

/* Cookies know no ports: other servers of this machine may have left theirs under a like name. */
static struct who by_cookie(const struct api *api, struct http_request *request, const char *header)
{
    struct who who = {.by = WHO_BY_NOTHING};
    const char *prefix = session_cookie_prefix(api);
    struct str rest = str_of(header);
    unsigned looked = 0;
    while (rest.p != NULL && looked < COOKIES_MAX) {
        struct str value = {NULL, 0};
        const struct str name = str_cut(str_trim(str_cut(rest, ';', &rest)), '=', &value);
        if (value.p == NULL || name.len < strlen(prefix) ||
            strncmp(name.p, prefix, strlen(prefix)) != 0) {
            continue;
        }
        looked++;
        const struct store_token *token;
        const struct store_token *session = session_of(api, request, value, &token);
        if (session == NULL || session == who.session) {
            continue;
        }
        if (who.session != NULL) {
            return (struct who){.by = WHO_BY_NOTHING};
        }
        who = (struct who){.by = WHO_BY_SESSION, .token = token, .session = session};
    }
    return who;
}

struct who who_of(const struct api *api, struct http_request *request)
{
    const char *header = http_request_header(request, "Authorization");
    if (header != NULL) {
        return by_header(api, request, header);
    }
    const struct who local = by_socket(request);
    const char *cookie = http_request_header(request, "Cookie");
    return local.by != WHO_BY_NOTHING || cookie == NULL ? local : by_cookie(api, request, cookie);
}
