/* bucket_client.c - see bucket_client.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/bucket_client.h"

#include "agent/dirs.h"
#include "agent/node_cert.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/xml.h"
#include "io/http_client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SERVER_RETRY_MS = 5 * 60 * 1000, /* a server that restarts is back by then */
    STORE_RETRY_MS = 15 * 1000,
    CALL_TIMEOUT_MS = 120 * 1000,
    PIECE_BYTES = 8 * 1024 * 1024, /* of one GET */
    PART_BYTES = 16 * 1024 * 1024, /* of one PUT; a larger file goes in parts */
    PARTS_MAX = 9000,              /* stores allow 10,000 */
    PART_BYTES_MAX = 512 * 1024 * 1024,
    BODY_MAX = 64 * 1024,
};

struct bucket_client {
    struct box *box;
    const char *path;
    const char *query; /* names the attempt */
    struct http_client *server;
    struct http_client *store; /* NULL: no request has gone there */
};

enum err bucket_client_open(struct box *box, const struct attempt_key *key, const char *path,
                            struct bucket_client **ret, struct error *e)
{
    const struct agent_options options = {.dir = box->dir,
                                          .ca = box->site.ca[0] == '\0' ? NULL : box->site.ca};
    struct str credential;
    struct http_trust trust;
    enum err r = dirs_read(box->dir, "credential", &box->arena, &credential, e);
    if (r != ERR_OK) {
        return r;
    }
    struct bucket_client *client = xcalloc(1, sizeof *client);
    client->box = box;
    client->path = arena_str(&box->arena, path);
    client->query = arena_fmt(&box->arena, "task=%" PRIu64 "&index=%" PRIu32 "&attempt=%" PRIu32,
                              key->task.v, key->index, key->attempt);
    client->server = http_client_new(box->site.url, credential.p);
    node_cert_trust(&options, &box->arena, &trust);
    http_client_trust(client->server, &trust);
    *ret = client;
    return ERR_OK;
}

void bucket_client_close(struct bucket_client *client)
{
    if (client != NULL) {
        http_client_free(client->server);
        http_client_free(client->store);
        free(client);
    }
}

/* ---- the server ---- */

static enum err server_call(struct bucket_client *client, const char *method, const char *what,
                            struct str body, struct arena *arena, const struct doc **ret,
                            struct error *e)
{
    struct http_reply reply;
    struct doc *doc = NULL;
    const char *words = "";
    const struct http_call call = {
        .method = method,
        .path = arena_fmt(arena, "%s/node/%s?%s", client->path, what, client->query),
        .body = body,
        .repeatable = true,
        .retry_ms = SERVER_RETRY_MS};
    enum err r = http_client_call(client->server, &call, arena, &reply, e);
    r = r == ERR_OK ? doc_json_parse(arena, reply.body, &doc, e) : r;
    if (r == ERR_OK && reply.status != 200) {
        (void)doc_text(doc_get(doc, "message"), &words);
        r = fail(e, ERR_DENIED, "the server answers %u: %.200s", reply.status, words);
    }
    *ret = doc;
    return r;
}

enum err bucket_client_orders(struct bucket_client *client, struct arena *arena,
                              const struct doc **ret, struct error *e)
{
    return server_call(client, "GET", "buckets", (struct str){NULL, 0}, arena, ret, e);
}

enum err bucket_client_report(struct bucket_client *client, struct str json, struct error *e)
{
    struct arena arena;
    const struct doc *doc;
    arena_init(&arena);
    enum err r = server_call(client, "POST", "report", json, &arena, &doc, e);
    arena_done(&arena);
    return r;
}

/* A request to the store, of those that the server signs. */
struct wish {
    const char *verb; /* list, get, put, begin, part, finish, drop */
    const char *bucket;
    const char *key;    /* the prefix of a list */
    const char *upload; /* of parts; of a list: where it goes on */
    uint64_t part;
};

static enum err sign(struct bucket_client *client, const struct wish *wish, struct arena *arena,
                     const char **ret, struct error *e)
{
    struct buf out;
    struct json_out j;
    const struct doc *doc;
    buf_init(&out, BODY_MAX);
    json_out_init(&j, &out);
    json_out_put(&j, "{verb:%s,bucket:%s,key:%s,upload:%s,part:%lu}", wish->verb, wish->bucket,
                 wish->key, wish->upload == NULL ? "" : wish->upload, wish->part);
    enum err r =
        server_call(client, "POST", "sign", (struct str){buf_text(&out), out.len}, arena, &doc, e);
    buf_done(&out);
    if (r == ERR_OK && !doc_text(doc_get(doc, "url"), ret)) {
        r = fail(e, ERR_CORRUPT, "the server signed nothing");
    }
    return r;
}

/* ---- the store ---- */

/* What the store says about a refusal: its code and its message. */
static enum err store_words(const struct wish *wish, const struct http_reply *reply,
                            struct arena *arena, struct error *e)
{
    struct xml_node *xml = NULL;
    struct error ignored;
    if (xml_parse(arena, reply->body, &xml, &ignored) == ERR_OK && *xml_text(xml, "Code") != '\0') {
        return fail(e, ERR_IO, "the store answers %u %.80s for the bucket '%.80s': %.300s",
                    reply->status, xml_text(xml, "Code"), wish->bucket, xml_text(xml, "Message"));
    }
    return fail(e, ERR_IO, "the store answers %u for the bucket '%.80s': %.300s", reply->status,
                wish->bucket, reply->body.p);
}

static enum err store_call(struct bucket_client *client, const struct wish *wish,
                           const char *method, const char *range, struct str body,
                           struct arena *arena, struct http_reply *ret, struct error *e)
{
    const char *const headers[] = {"Expect:", range, NULL};
    const char *url;
    enum err r = sign(client, wish, arena, &url, e);
    const char *path = r == ERR_OK ? strstr(url, "://") : NULL;
    path = path != NULL ? strchr(path + 3, '/') : NULL;
    if (path == NULL) {
        return r != ERR_OK ? r : fail(e, ERR_CORRUPT, "the server signed no address");
    }
    if (client->store == NULL) {
        client->store = http_client_new(arena_strn(arena, url, (size_t)(path - url)), NULL);
    }
    const struct http_call call = {.method = method,
                                   .path = path,
                                   .body = body,
                                   .content_type = "application/octet-stream",
                                   .headers = headers,
                                   .repeatable = true,
                                   .timeout_ms = CALL_TIMEOUT_MS,
                                   .retry_ms = STORE_RETRY_MS};
    struct error why;
    r = http_client_call(client->store, &call, arena, ret, &why);
    if (r != ERR_OK) {
        return fail(e, r, "the store of the bucket '%.80s' cannot be reached: %.300s", wish->bucket,
                    why.text);
    }
    return ret->status >= 200 && ret->status < 300 ? ERR_OK : store_words(wish, ret, arena, e);
}

/* One page of a list. *ret_next: where the list goes on; "": nowhere. */
static enum err list_page(struct bucket_client *client, const struct wish *wish,
                          bucket_object_fn each, void *ctx, struct arena *arena,
                          const char **ret_next, struct error *e)
{
    struct http_reply reply;
    struct xml_node *xml;
    enum err r = store_call(client, wish, "GET", NULL, (struct str){NULL, 0}, arena, &reply, e);
    r = r == ERR_OK ? xml_parse(arena, reply.body, &xml, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    for (const struct xml_node *n = xml->first; n != NULL && r == ERR_OK; n = n->next) {
        uint64_t size;
        if (str_is(n->name, "Contents")) {
            r = str_to_u64(str_of(xml_text(n, "Size")), &size)
                    ? each(ctx, xml_text(n, "Key"), size, e)
                    : fail(e, ERR_CORRUPT, "the store lists an object without a size");
        }
    }
    const bool more = strcmp(xml_text(xml, "IsTruncated"), "true") == 0;
    *ret_next = more ? xml_text(xml, "NextContinuationToken") : "";
    return r;
}

enum err bucket_client_list(struct bucket_client *client, const char *bucket, const char *prefix,
                            bucket_object_fn each, void *ctx, struct error *e)
{
    struct arena pages[2]; /* a page names the place where the next one begins */
    const char *next = "";
    enum err r = ERR_OK;
    unsigned at = 0;
    arena_init(&pages[0]);
    arena_init(&pages[1]);
    do {
        const struct wish wish = {.verb = "list", .bucket = bucket, .key = prefix, .upload = next};
        arena_clear(&pages[at]);
        r = list_page(client, &wish, each, ctx, &pages[at], &next, e);
        at = 1 - at;
    } while (r == ERR_OK && *next != '\0');
    arena_done(&pages[0]);
    arena_done(&pages[1]);
    return r;
}

static enum err write_all(int fd, struct str bytes, struct error *e)
{
    for (size_t put = 0; put < bytes.len;) {
        const ssize_t n = write(fd, bytes.p + put, bytes.len - put);
        if (n <= 0) {
            return fail_errno(e, ERR_IO, errno, "cannot write a file of the bucket");
        }
        put += (size_t)n;
    }
    return ERR_OK;
}

enum err bucket_client_fetch(struct bucket_client *client, const char *bucket, const char *key,
                             uint64_t size, int fd, struct error *e)
{
    const struct wish wish = {.verb = "get", .bucket = bucket, .key = key};
    enum err r = ERR_OK;
    for (uint64_t at = 0; at < size && r == ERR_OK;) {
        struct arena arena;
        struct http_reply reply;
        const uint64_t end = size - at > PIECE_BYTES ? at + PIECE_BYTES : size;
        arena_init(&arena);
        const char *range = arena_fmt(&arena, "Range: bytes=%" PRIu64 "-%" PRIu64, at, end - 1);
        r = store_call(client, &wish, "GET", range, (struct str){NULL, 0}, &arena, &reply, e);
        if (r == ERR_OK && reply.body.len != end - at) {
            r = fail(e, ERR_IO, "'%.200s' in the bucket '%.80s' changed while it was read", key,
                     bucket);
        }
        r = r == ERR_OK ? write_all(fd, reply.body, e) : r;
        arena_done(&arena);
        at = end;
    }
    return r;
}

static enum err read_part(int fd, uint64_t at, size_t len, char *bytes, struct error *e)
{
    for (size_t got = 0; got < len;) {
        const ssize_t n = pread(fd, bytes + got, len - got, (off_t)(at + got));
        if (n < 0) {
            return fail_errno(e, ERR_IO, errno, "cannot read a result");
        }
        if (n == 0) {
            return fail(e, ERR_IO, "a result became shorter while it was sent");
        }
        got += (size_t)n;
    }
    return ERR_OK;
}

/* Sends the parts; writes the list of their tags, which ends the upload, to `list`. */
static enum err parts_send(struct bucket_client *client, const struct wish *base, uint64_t size,
                           int fd, struct buf *list, struct error *e)
{
    uint64_t part = size / PARTS_MAX + 1;
    part = part > PART_BYTES ? part : PART_BYTES;
    if (part > PART_BYTES_MAX) {
        return fail(e, ERR_LIMIT, "'%.200s' is too large for a bucket", base->key);
    }
    auto_free(freep) char *bytes = xmalloc(part);
    enum err r = ERR_OK;
    struct wish wish = *base;
    wish.verb = "part";
    buf_addf(list, "<CompleteMultipartUpload>");
    for (uint64_t at = 0; at < size && r == ERR_OK; at += part) {
        struct arena arena;
        struct http_reply reply;
        const size_t len = (size_t)(size - at > part ? part : size - at);
        arena_init(&arena);
        wish.part++;
        r = read_part(fd, at, len, bytes, e);
        r = r == ERR_OK ? store_call(client, &wish, "PUT", NULL, (struct str){bytes, len}, &arena,
                                     &reply, e)
                        : r;
        if (r == ERR_OK) {
            buf_addf(list, "<Part><PartNumber>%" PRIu64 "</PartNumber><ETag>%s</ETag></Part>",
                     wish.part, reply.etag);
        }
        arena_done(&arena);
    }
    buf_addf(list, "</CompleteMultipartUpload>");
    return r;
}

static enum err send_in_parts(struct bucket_client *client, const struct wish *base, uint64_t size,
                              int fd, struct arena *arena, struct error *e)
{
    enum { LIST_MAX = 2 * 1024 * 1024 };
    struct http_reply reply;
    struct xml_node *xml;
    struct error ignored;
    struct buf list;
    struct wish wish = *base;
    wish.verb = "begin";
    enum err r = store_call(client, &wish, "POST", NULL, (struct str){NULL, 0}, arena, &reply, e);
    r = r == ERR_OK ? xml_parse(arena, reply.body, &xml, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    wish.upload = xml_text(xml, "UploadId");
    buf_init(&list, LIST_MAX);
    r = parts_send(client, &wish, size, fd, &list, e);
    if (r == ERR_OK) {
        wish.verb = "finish";
        r = store_call(client, &wish, "POST", NULL, (struct str){buf_text(&list), list.len}, arena,
                       &reply, e);
        /* A store may find a fault after it has answered 200. */
        const bool failed = r == ERR_OK && xml_parse(arena, reply.body, &xml, &ignored) == ERR_OK &&
                            str_is(xml->name, "Error");
        r = failed ? store_words(&wish, &reply, arena, e) : r;
    }
    buf_done(&list);
    if (r != ERR_OK) {
        wish.verb = "drop";
        (void)!store_call(client, &wish, "DELETE", NULL, (struct str){NULL, 0}, arena, &reply,
                          &ignored);
    }
    return r;
}

enum err bucket_client_send(struct bucket_client *client, const char *bucket, const char *key,
                            uint64_t size, int fd, struct error *e)
{
    const struct wish wish = {.verb = "put", .bucket = bucket, .key = key};
    struct arena arena;
    struct http_reply reply;
    enum err r;
    arena_init(&arena);
    if (size > PART_BYTES) {
        r = send_in_parts(client, &wish, size, fd, &arena, e);
    } else {
        char *bytes = arena_alloc(&arena, (size_t)size + 1);
        r = read_part(fd, 0, (size_t)size, bytes, e);
        r = r == ERR_OK ? store_call(client, &wish, "PUT", NULL, (struct str){bytes, (size_t)size},
                                     &arena, &reply, e)
                        : r;
    }
    arena_done(&arena);
    return r;
}
