/* node_cert.c - see node_cert.h.
 *
 * Certificate and key stand in one file, so that one rename changes both. A connection that is open
 * goes on; the next one shows the new certificate. SPDX-License-Identifier: Apache-2.0 */
#include "agent/node_cert.h"

#include "agent/dirs.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "io/http_client.h"
#include "io/x509_make.h"
#include "wire/agent.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RENEW_MS_MAX = 15000, STATUS_OK = 200 };

#define FILE_CA "ca.pem"
#define FILE_NODE "node.pem"
#define FILE_CREDENTIAL "credential"
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

/* A file as the server took it. */
struct kept_file {
    char *text; /* NULL: the server took none yet */
    struct stat
        seen; /* of the file when it was compared last: a file that nobody touched is not read again */
};

struct node_cert {
    pthread_mutex_t lock;
    struct kept_file own; /* D/node.pem */
    struct kept_file authority;
    struct kept_file credential;
    bool stuck; /* a file could not be written anew, and that was logged */
};

struct node_cert *node_cert_new(void)
{
    struct node_cert *cert = xcalloc(1, sizeof *cert);
    must(pthread_mutex_init(&cert->lock, NULL) == 0);
    return cert;
}

static void text_keep(struct kept_file *kept, const char *text)
{
    if (kept->text != NULL) {
        explicit_bzero(kept->text, strlen(kept->text));
    }
    free(kept->text);
    *kept = (struct kept_file){.text = text != NULL ? xstrdup(text) : NULL};
    for (size_t len = text != NULL ? strlen(text) : 0; len > 0 && text[len - 1] == '\n'; len--) {
        kept->text[len - 1] = '\0'; /* as dirs_read() gives it */
    }
}

void node_cert_free(struct node_cert *cert)
{
    if (cert != NULL) {
        text_keep(&cert->own, NULL);
        text_keep(&cert->authority, NULL);
        text_keep(&cert->credential, NULL);
        (void)pthread_mutex_destroy(&cert->lock);
        free(cert);
    }
}

/* The text of the file, without the last line's end; NULL: the file cannot be read. */
static char *file_text(const char *dir, const char *file, struct arena *arena)
{
    struct str text;
    return dirs_read(dir, file, arena, &text, NULL) == ERR_OK ? (char *)(uintptr_t)text.p : NULL;
}

/* Is the file the one that was compared last, untouched? Notes how the file is now. */
static bool untouched(struct kept_file *kept, const char *path)
{
    const struct stat before = kept->seen;
    if (stat(path, &kept->seen) != 0) {
        kept->seen = (struct stat){0};
        return false;
    }
    return kept->seen.st_ino == before.st_ino && kept->seen.st_dev == before.st_dev &&
           kept->seen.st_size == before.st_size && kept->seen.st_mode == before.st_mode &&
           kept->seen.st_ctim.tv_sec == before.st_ctim.tv_sec &&
           kept->seen.st_ctim.tv_nsec == before.st_ctim.tv_nsec;
}

/* Writes the file anew if the server took another text. */
static void file_hold(struct node_cert *cert, const char *dir, const char *file,
                      struct kept_file *kept)
{
    char path[AGENT_PATH_MAX];
    struct arena arena;
    struct error e;
    (void)snprintf(path, sizeof path, "%s/%s", dir, file);
    if (kept->text == NULL || untouched(kept, path)) {
        return;
    }
    arena_init(&arena);
    char *text = file_text(dir, file, &arena);
    if (text == NULL || strcmp(text, kept->text) != 0) {
        kept->seen = (struct stat){0};
        const enum err r = dirs_write(dir, file, str_of(kept->text), &e);
        if (r == ERR_OK) {
            log_warn("a file that says who the node is was gone or changed and is written anew",
                     kv_str("file", file));
        } else if (!cert->stuck) {
            log_error("a file that says who the node is cannot be written anew", kv_error(&e));
        }
        cert->stuck = r != ERR_OK;
    }
    if (text != NULL) {
        explicit_bzero(text, strlen(text));
    }
    arena_done(&arena);
}

must_use enum err node_cert_check(const struct agent_options *options, struct error *e)
{
    struct arena arena;
    struct x509_facts facts;
    struct error why;
    struct str text = {0};
    arena_init(&arena);
    enum err r = dirs_read(options->dir, FILE_NODE, &arena, &text, &why);
    r = r == ERR_OK ? x509_read(text.p, &arena, &facts, &why) : r;
    if (r == ERR_OK && strstr(text.p, "PRIVATE KEY") == NULL) {
        r = fail(&why, ERR_INVALID, "it has no key");
    }
    if (r != ERR_OK) {
        (void)fail(e, ERR_DENIED,
                   "'%.70s/" FILE_NODE "' cannot be used (%.60s): put the file back, or start the "
                   "agent with the token of `weir node rejoin`",
                   options->dir, why.text);
    }
    if (text.len > 0) {
        explicit_bzero((char *)(uintptr_t)text.p, text.len);
    }
    arena_done(&arena);
    return r == ERR_OK ? ERR_OK : ERR_DENIED;
}

void node_cert_hold(const struct agent_options *options)
{
    struct node_cert *cert = options->cert;
    if (cert != NULL) {
        must(pthread_mutex_lock(&cert->lock) == 0);
        file_hold(cert, options->dir, FILE_NODE, &cert->own);
        file_hold(cert, options->dir, FILE_CA, &cert->authority);
        file_hold(cert, options->dir, FILE_CREDENTIAL, &cert->credential);
        must(pthread_mutex_unlock(&cert->lock) == 0);
    }
}

static const char *fingerprint_find(const struct agent_options *options, struct arena *arena)
{
    const char *token = options->join_token;
    const char *fingerprint = NULL;
    struct str text;
    if (token == NULL && options->join_token_file != NULL &&
        dirs_read(NULL, options->join_token_file, arena, &text, NULL) == ERR_OK) {
        token = text.p;
    }
    if (token != NULL) {
        http_trust_split(token, arena, &token, &fingerprint);
    }
    return fingerprint;
}

void node_cert_credential_drop(const struct agent_options *options)
{
    struct node_cert *cert = options->cert;
    if (cert != NULL) {
        must(pthread_mutex_lock(&cert->lock) == 0);
        text_keep(&cert->credential, NULL);
        must(pthread_mutex_unlock(&cert->lock) == 0);
    }
}

void node_cert_taken(const struct agent_options *options, const char *credential)
{
    struct node_cert *cert = options->cert;
    struct arena arena;
    if (cert == NULL) {
        return;
    }
    arena_init(&arena);
    must(pthread_mutex_lock(&cert->lock) == 0);
    char *text = file_text(options->dir, FILE_NODE, &arena);
    text_keep(&cert->credential, credential);
    if (cert->own.text == NULL) {
        text_keep(&cert->own, text);
    }
    /* With a fingerprint, or a file that the administrator named, the client finds the authority there. */
    text_keep(&cert->authority, options->ca == NULL && fingerprint_find(options, &arena) == NULL
                                    ? file_text(options->dir, FILE_CA, &arena)
                                    : NULL);
    must(pthread_mutex_unlock(&cert->lock) == 0);
    if (text != NULL) {
        explicit_bzero(text, strlen(text));
    }
    arena_done(&arena);
}

static const char *existing(const char *dir, const char *file, struct arena *arena)
{
    const char *path = arena_fmt(arena, "%s/%s", dir, file);
    return access(path, R_OK) == 0 ? path : NULL;
}

void node_cert_trust(const struct agent_options *options, struct arena *arena,
                     struct http_trust *ret)
{
    *ret = (struct http_trust){.ca = options->ca};
    if (options->ca == NULL) {
        ret->fingerprint = fingerprint_find(options, arena);
        ret->ca = ret->fingerprint != NULL ? arena_fmt(arena, "%s/" FILE_CA, options->dir)
                                           : existing(options->dir, FILE_CA, arena);
    }
    ret->cert = existing(options->dir, FILE_NODE, arena);
    ret->key = ret->cert;
}

must_use enum err node_cert_store(const struct agent_options *options, const char *certificate,
                                  const char *key, struct error *e)
{
    struct node_cert *cert = options->cert;
    struct buf text;
    buf_init(&text, X509_PEM_MAX);
    buf_add_str(&text, certificate);
    buf_add_str(&text, key);
    if (cert != NULL) {
        must(pthread_mutex_lock(&cert->lock) == 0);
    }
    enum err r = text.full
                     ? fail(e, ERR_LIMIT, "the certificate is too large")
                     : dirs_write(options->dir, FILE_NODE, (struct str){text.data, text.len}, e);
    if (cert != NULL) {
        if (r == ERR_OK) {
            text_keep(&cert->own, buf_text(&text));
        }
        must(pthread_mutex_unlock(&cert->lock) == 0);
    }
    explicit_bzero(text.data, text.len);
    buf_done(&text);
    return r;
}

static must_use enum err certified_take(const struct agent_options *options,
                                        const struct http_reply *reply, const char *key,
                                        struct arena *arena, struct error *e)
{
    struct agent_certified certified;
    if (reply->status != STATUS_OK) {
        return fail(e, ERR_DENIED, "the server gives no certificate (%u): %.*s", reply->status,
                    (int)reply->body.len, reply->body.p);
    }
    enum err r = agent_certified_decode(reply->body, arena, &certified, e);
    return r == ERR_OK ? node_cert_store(options, certified.certificate, key, e) : r;
}

must_use enum err node_cert_renew(const struct agent_options *options, const char *url,
                                  const char *credential, struct error *e)
{
    struct arena arena;
    struct http_trust trust;
    struct x509_pair pair;
    struct buf body;
    struct http_reply reply;
    arena_init(&arena);
    enum err r = x509_make_request(&arena, &pair, e);
    if (r != ERR_OK) {
        arena_done(&arena);
        return r;
    }
    buf_init(&body, AGENT_JOIN_BYTES_MAX);
    agent_certify_encode(&(struct agent_certify){.request = pair.cert}, &body);
    struct http_client *client = http_client_new(url, credential);
    node_cert_trust(options, &arena, &trust);
    http_client_trust(client, &trust);
    struct http_call call = {.method = "POST",
                             .path = "/api/v1/agent/certificate",
                             .body = {buf_text(&body), body.len},
                             .repeatable = true,
                             .timeout_ms = RENEW_MS_MAX};
    r = http_client_call(client, &call, &arena, &reply, e);
    r = r == ERR_OK ? certified_take(options, &reply, pair.key, &arena, e) : r;
    explicit_bzero(pair.key, strlen(pair.key));
    http_client_free(client);
    buf_done(&body);
    arena_done(&arena);
    return r;
}

int64_t node_cert_due_ms(const char *dir)
{
    struct arena arena;
    struct str text = {0};
    struct x509_facts facts;
    struct timespec now;
    int64_t due_ms = -1;
    arena_init(&arena);
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    if (dirs_read(dir, FILE_NODE, &arena, &text, NULL) == ERR_OK &&
        x509_read(text.p, &arena, &facts, NULL) == ERR_OK) {
        /* Certificates begin a day before they are made. */
        const int64_t life_ms = facts.until_ms - facts.from_ms - DAY_MS;
        due_ms = facts.until_ms - life_ms / 2 - (int64_t)now.tv_sec * 1000;
        due_ms = due_ms < 0 ? 0 : due_ms;
    }
    if (text.len > 0) {
        explicit_bzero((char *)(uintptr_t)text.p, text.len);
    }
    arena_done(&arena);
    return due_ms;
}
