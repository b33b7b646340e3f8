/* ec2_role.c - see ec2_role.h. The answers are of the machine's own link and are read strictly; no word of them is logged or shown but the
 * name of the role. SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_role.h"

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ADDRESS_MAX = 256,
    TOKEN_MAX = 256,
    ROLE_MAX = 128,
    KEY_MAX = 2048,
    ANSWER_MAX = 16 * 1024,
    CALL_MS = 5000,       /* the service is on the machine's own link */
    RENEW_S = 5 * 60,     /* before the keys expire */
    TOKEN_LIFE_S = 21600, /* the longest that the service gives */
};

static const char roles_path[] = "/latest/meta-data/iam/security-credentials/";

struct ec2_role {
    struct loop *loop;
    struct http_multi *http;
    char address[ADDRESS_MAX];
    bool asking;
    char token[TOKEN_MAX];
    char name[ROLE_MAX];
    char access[KEY_MAX];
    char secret[KEY_MAX];
    char session[KEY_MAX];
    int64_t expires_s; /* 0: there are no keys */
    struct error problem;
    bool failed; /* `problem` says why the last round brought no keys */
};

struct ec2_role *ec2_role_new(struct loop *loop, struct http_multi *http, const char *address)
{
    struct ec2_role *role = xcalloc(1, sizeof *role);
    role->loop = loop;
    role->http = http;
    (void)str_copy(role->address, sizeof role->address, address);
    size_t len = strlen(role->address);
    while (len > 0 && role->address[len - 1] == '/') {
        role->address[--len] = '\0';
    }
    return role;
}

void ec2_role_free(struct ec2_role *role)
{
    if (role != NULL) {
        sodium_memzero(role, sizeof *role);
        free(role);
    }
}

static void round_failed(struct ec2_role *role, const char *what)
{
    role->asking = false;
    role->failed = true;
    (void)fail(&role->problem, ERR_NOT_FOUND, "no credentials of a role from %s: %s", role->address,
               what);
}

/* Asks the service. Every request but the first has the token. */
static void ask(struct ec2_role *role, const char *method, const char *path, const char *header,
                void (*done)(void *ctx, const struct http_multi_reply *reply))
{
    char url[ADDRESS_MAX + sizeof roles_path + ROLE_MAX];
    (void)snprintf(url, sizeof url, "%s%s", role->address, path);
    const char *const headers[] = {header, "Expect:", NULL};
    http_multi_post(role->http, &(struct http_multi_post){.url = url,
                                                          .method = method,
                                                          .headers = headers,
                                                          .body = str_of(""),
                                                          .timeout_ms = CALL_MS,
                                                          .reply_max = ANSWER_MAX,
                                                          .done = done,
                                                          .ctx = role});
}

/* Is this an answer that helps? Else the round is over. */
static bool answer_good(struct ec2_role *role, const struct http_multi_reply *reply,
                        const char *about)
{
    char text[160];
    if (reply->failure != NULL) {
        round_failed(role, reply->failure);
        return false;
    }
    if (reply->status != 200) {
        (void)snprintf(text, sizeof text, "it answers %u when asked for %s", reply->status, about);
        round_failed(role, text);
        return false;
    }
    return true;
}

/* Copies a line of the answer that has letters of a token or a name only. */
static bool line_take(struct str body, char *ret, size_t size)
{
    struct str rest;
    const struct str line = str_trim(str_cut(body, '\n', &rest));
    for (size_t i = 0; i < line.len; i++) {
        if (line.p[i] <= ' ' || line.p[i] > '~') {
            return false;
        }
    }
    if (line.len == 0 || line.len >= size) {
        return false;
    }
    memcpy(ret, line.p, line.len);
    ret[line.len] = '\0';
    return true;
}

/* Reads "2026-11-18T22:40:00Z" as seconds since 1970. */
static bool moment_read(const char *text, int64_t *ret)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    struct tm tm = {0};
    if (strlen(text) != sizeof form - 1) {
        return false;
    }
    for (size_t i = 0; i < sizeof form - 1; i++) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == 'd' ? !digit : text[i] != form[i]) {
            return false;
        }
    }
    int parts[6] = {0};
    static const int at[6] = {0, 5, 8, 11, 14, 17};
    for (unsigned i = 0; i < 6; i++) {
        for (int k = at[i]; text[k] >= '0' && text[k] <= '9'; k++) {
            parts[i] = parts[i] * 10 + (text[k] - '0');
        }
    }
    tm.tm_year = parts[0] - 1900;
    tm.tm_mon = parts[1] - 1;
    tm.tm_mday = parts[2];
    tm.tm_hour = parts[3];
    tm.tm_min = parts[4];
    tm.tm_sec = parts[5];
    *ret = (int64_t)timegm(&tm);
    return true;
}

static bool text_take(const struct doc *doc, const char *key, char *ret, size_t size)
{
    const struct doc *value = doc_get(doc, key);
    const char *text;
    return value != NULL && doc_text(value, &text) && text[0] != '\0' &&
           strpbrk(text, "\r\n ") == NULL && str_copy(ret, size, text);
}

static void keys_got(void *ctx, const struct http_multi_reply *reply)
{
    struct ec2_role *role = ctx;
    struct arena arena;
    struct doc *doc;
    struct error e;
    char expires[32];
    if (!answer_good(role, reply, "the keys of the role")) {
        return;
    }
    arena_init(&arena);
    const bool read = doc_json_parse(&arena, reply->body, &doc, &e) == ERR_OK &&
                      doc->kind == DOC_MAP &&
                      text_take(doc, "AccessKeyId", role->access, sizeof role->access) &&
                      text_take(doc, "SecretAccessKey", role->secret, sizeof role->secret) &&
                      text_take(doc, "Token", role->session, sizeof role->session) &&
                      text_take(doc, "Expiration", expires, sizeof expires) &&
                      moment_read(expires, &role->expires_s);
    arena_done(&arena);
    if (read) {
        role->asking = false;
        role->failed = false;
    } else {
        role->expires_s = 0;
        round_failed(role, "its answer has no AccessKeyId, SecretAccessKey, Token and Expiration");
    }
}

static void header_of(const struct ec2_role *role, char *ret, size_t size)
{
    (void)snprintf(ret, size, "X-aws-ec2-metadata-token: %s", role->token);
}

static void name_got(void *ctx, const struct http_multi_reply *reply)
{
    struct ec2_role *role = ctx;
    char path[sizeof roles_path + ROLE_MAX];
    char header[TOKEN_MAX + 64];
    if (!answer_good(role, reply, "the name of the role; has the machine one?")) {
        return;
    }
    if (!line_take(reply->body, role->name, sizeof role->name) ||
        strpbrk(role->name, "/?#%") != NULL) {
        round_failed(role, "it names no role");
        return;
    }
    (void)snprintf(path, sizeof path, "%s%s", roles_path, role->name);
    header_of(role, header, sizeof header);
    ask(role, "GET", path, header, keys_got);
}

static void token_got(void *ctx, const struct http_multi_reply *reply)
{
    struct ec2_role *role = ctx;
    char header[TOKEN_MAX + 64];
    if (!answer_good(role, reply, "a token")) {
        return;
    }
    if (!line_take(reply->body, role->token, sizeof role->token)) {
        round_failed(role, "its answer is no token");
        return;
    }
    header_of(role, header, sizeof header);
    ask(role, "GET", roles_path, header, name_got);
}

static void round_begin(struct ec2_role *role)
{
    char header[80];
    (void)snprintf(header, sizeof header, "X-aws-ec2-metadata-token-ttl-seconds: %d", TOKEN_LIFE_S);
    role->asking = true;
    role->failed = false;
    ask(role, "PUT", "/latest/api/token", header, token_got);
}

enum err ec2_role_get(struct ec2_role *role, struct arena *arena, struct sigv4_keys *ret,
                      struct error *e)
{
    const int64_t now_s = (int64_t)time(NULL);
    const bool good = role->expires_s > now_s;
    if (role->failed && !good) {
        *e = role->problem;
        role->failed = false;
        return e->code;
    }
    if (!role->asking && role->expires_s - RENEW_S <= now_s) {
        round_begin(role);
    }
    if (!good) {
        return fail(e, ERR_BUSY, "the machine's metadata service is being asked");
    }
    *ret = (struct sigv4_keys){arena_str(arena, role->access), arena_str(arena, role->secret),
                               arena_str(arena, role->session)};
    return ERR_OK;
}
