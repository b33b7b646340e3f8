/* enrol.c - the server's address, and the node's credential. SPDX-License-Identifier: Apache-2.0 */
#include "agent/enrol.h"

#include "agent/dirs.h"
#include "agent/node_cert.h"
#include "base/log.h"
#include "io/http_client.h"
#include "io/x509_make.h"
#include "wire/agent.h"

#include <inttypes.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    JOIN_MS_MAX = 15000,
    STATUS_CREATED = 201,
    STATUS_UNAUTHORIZED = 401,
    STATUS_FORBIDDEN = 403,
};

#define FILE_CREDENTIAL "credential"
#define FILE_EPOCH "epoch"
#define FILE_MACHINE "machine"
#define FILE_URL "server.url"

/* Was the file written after this agent started? Then the file is newer than our command line and
 * wins. */
static bool url_is_younger(const char *dir, struct timespec started)
{
    char path[AGENT_PATH_MAX];
    struct stat info;
    (void)snprintf(path, sizeof path, "%s/" FILE_URL, dir);
    if (stat(path, &info) != 0) {
        return false;
    }
    return info.st_mtim.tv_sec > started.tv_sec ||
           (info.st_mtim.tv_sec == started.tv_sec && info.st_mtim.tv_nsec > started.tv_nsec);
}

must_use enum err enrol_url(const struct agent_options *options, struct timespec started,
                            struct arena *arena, const char **ret, struct error *e)
{
    if (options->server != NULL && !url_is_younger(options->dir, started)) {
        *ret = options->server;
        return ERR_OK;
    }
    struct str text;
    if (dirs_read(options->dir, FILE_URL, arena, &text, NULL) == ERR_OK && text.len > 0) {
        *ret = text.p;
        return ERR_OK;
    }
    if (options->server == NULL) {
        return fail(e, ERR_USAGE, "no server: give --server URL, or write '%s/" FILE_URL "'",
                    options->dir);
    }
    *ret = options->server;
    return ERR_OK;
}

static must_use enum err token_find(const struct agent_options *options, struct arena *arena,
                                    const char **ret, struct error *e)
{
    if (options->join_token != NULL) {
        *ret = options->join_token;
        return ERR_OK;
    }
    if (options->join_token_file == NULL) {
        return fail(e, ERR_DENIED,
                    "this node has no valid credential: give --join-token or "
                    "--join-token-file to let it join");
    }
    struct str text;
    enum err r = dirs_read(NULL, options->join_token_file, arena, &text, e);
    if (r == ERR_OK) {
        *ret = text.p;
    }
    return r;
}

/* The number that tells this machine's agent from any other that wants its name: 32 hex digits, made
 * at the first join and kept in D/machine. */
static must_use enum err machine_find(const char *dir, struct arena *arena, const char **ret,
                                      struct error *e)
{
    unsigned char random[AGENT_MACHINE_LEN / 2];
    struct str text;
    if (dirs_read(dir, FILE_MACHINE, arena, &text, NULL) == ERR_OK &&
        text.len == AGENT_MACHINE_LEN) {
        *ret = text.p;
        return ERR_OK;
    }
    must(getrandom(random, sizeof random, 0) == (ssize_t)sizeof random);
    char *hex = arena_alloc(arena, AGENT_MACHINE_LEN + 1);
    str_hex(hex, random, sizeof random);
    *ret = hex;
    return dirs_write(dir, FILE_MACHINE, str_of(hex), e);
}

static must_use enum err join(const struct agent_options *options, const struct node_spec *node,
                              const char *url, struct arena *arena, const char **ret,
                              struct error *e)
{
    const char *token = NULL;
    const char *machine = NULL;
    const char *fingerprint = NULL;
    struct x509_pair pair = {.cert = "", .key = ""};
    struct http_trust trust;
    const bool secure = strncmp(url, "https:", 6) == 0;
    enum err r = token_find(options, arena, &token, e);
    r = r == ERR_OK ? machine_find(options->dir, arena, &machine, e) : r;
    r = r == ERR_OK && secure ? x509_make_request(arena, &pair, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    http_trust_split(token, arena, &token, &fingerprint);
    struct buf body;
    buf_init(&body, AGENT_JOIN_BYTES_MAX);
    agent_join_encode(
        &(struct agent_join){
            .name = node->name, .pool = node->pool, .machine = machine, .request = pair.cert},
        &body);
    struct http_client *client = http_client_new(url, token);
    node_cert_trust(options, arena, &trust);
    trust.cert = NULL; /* of an earlier join */
    http_client_trust(client, &trust);
    struct http_call call = {.method = "POST",
                             .path = "/api/v1/agent/join",
                             .body = {buf_text(&body), body.len},
                             .repeatable = true,
                             .timeout_ms = JOIN_MS_MAX};
    struct http_reply reply;
    r = http_client_call(client, &call, arena, &reply, e);
    http_client_free(client);
    buf_done(&body);
    /* The server's certificate is not accepted; an admin may still mend that. */
    if (r == ERR_DENIED) {
        e->code = ERR_UNREACHABLE;
        return ERR_UNREACHABLE;
    }
    if (r != ERR_OK) {
        return r;
    }
    if (reply.status != STATUS_CREATED) {
        bool denied = reply.status == STATUS_UNAUTHORIZED || reply.status == STATUS_FORBIDDEN;
        return fail(e, denied ? ERR_DENIED : ERR_BUSY,
                    "the server refuses to let '%s' join (%u): %.*s", node->name, reply.status,
                    (int)reply.body.len, reply.body.p);
    }
    struct agent_joined joined;
    r = agent_joined_decode(reply.body, arena, &joined, e);
    if (r == ERR_OK && secure) {
        r = node_cert_store(options, joined.certificate, pair.key, e);
        explicit_bzero(pair.key, strlen(pair.key));
    }
    node_cert_credential_drop(options);
    r = r == ERR_OK ? dirs_write(options->dir, FILE_CREDENTIAL, str_of(joined.credential), e) : r;
    if (r == ERR_OK) {
        *ret = joined.credential;
    }
    return r;
}

must_use enum err enrol_credential(const struct agent_options *options,
                                   const struct node_spec *node, const char *url, const char *known,
                                   struct arena *arena, const char **ret, struct error *e)
{
    struct str text;
    struct error why;
    node_cert_hold(options);
    const bool secure = strncmp(url, "https:", 6) == 0;
    if (dirs_read(options->dir, FILE_CREDENTIAL, arena, &text, NULL) == ERR_OK && text.len > 0) {
        if (!secure || node_cert_check(options, &why) == ERR_OK) {
            *ret = text.p;
            return ERR_OK;
        }
        enum err r = join(options, node, url, arena, ret, e);
        if (r == ERR_DENIED) {
            *e = why; /* the first of the two errors */
        }
        return r;
    }
    if (known != NULL) {
        enrol_restore(options, known);
        *ret = arena_str(arena, known);
        return ERR_OK;
    }
    return join(options, node, url, arena, ret, e);
}

void enrol_restore(const struct agent_options *options, const char *credential)
{
    struct error e;
    if (dirs_write(options->dir, FILE_CREDENTIAL, str_of(credential), &e) == ERR_OK) {
        log_warn("the file of the node's credential was gone or damaged and is written anew");
    } else {
        log_error("the file of the node's credential cannot be written", kv_error(&e));
    }
}

void enrol_forget(const struct agent_options *options)
{
    char path[AGENT_PATH_MAX];
    node_cert_credential_drop(options);
    (void)snprintf(path, sizeof path, "%s/" FILE_CREDENTIAL, options->dir);
    (void)unlink(path);
}

uint64_t enrol_epoch(const char *dir)
{
    struct arena arena;
    arena_init(&arena);
    struct str text;
    uint64_t epoch = 0;
    if (dirs_read(dir, FILE_EPOCH, &arena, &text, NULL) == ERR_OK) {
        (void)str_to_u64(text, &epoch);
    }
    arena_done(&arena);
    return epoch;
}

void enrol_epoch_set(const char *dir, uint64_t epoch)
{
    char text[32];
    struct error e;
    int len = snprintf(text, sizeof text, "%" PRIu64 "\n", epoch);
    if (dirs_write(dir, FILE_EPOCH, (struct str){text, (size_t)len}, &e) != ERR_OK) {
        log_warn("cannot remember the server's epoch", kv_error(&e));
    }
}
