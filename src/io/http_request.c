/* http_request.c - a request's memory, its parts that a handler may read, and its answer.
 *
 * Requests are recycled: a busy server makes and drops tens of thousands a second. A spare request
 * keeps its arena's block and its body's buffer unless they grew large.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_request.h"

#include "base/json_out.h"
#include "base/mem.h"
#include "io/http_internal.h"
#include "io/http_piece.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUEST_SPARES_MAX = 64,
    REQUEST_KEEP_BYTES_MAX = 64 * 1024, /* a spare frees a larger buffer */
    REFUSAL_BYTES_MAX = 4096,
};

struct http_request *http_request_new(struct http_server *server, const char *target)
{
    struct http_request *request = server->spares;
    if (request != NULL) {
        server->spares = request->next;
        server->spare_count--;
    } else {
        request = xcalloc(1, sizeof *request);
        arena_init(&request->arena);
    }
    request->server = server;
    request->target = arena_str(&request->arena, target);
    request->prev = NULL;
    request->next = server->live;
    if (server->live != NULL) {
        server->live->prev = request;
    }
    server->live = request;
    return request;
}

static void live_remove(struct http_request *request)
{
    if (request->prev != NULL) {
        request->prev->next = request->next;
    } else {
        request->server->live = request->next;
    }
    if (request->next != NULL) {
        request->next->prev = request->prev;
    }
}

static void request_free(struct http_request *request)
{
    arena_done(&request->arena);
    buf_done(&request->body);
    free(request);
}

void http_request_drop(struct http_request *request)
{
    must(request->watch == NULL);
    struct http_server *server = request->server;
    live_remove(request);
    if (request->response != NULL) {
        MHD_destroy_response(request->response);
    }
    http_piece_done(request);
    buf_done(&request->stream.out);
    if (server->spare_count == REQUEST_SPARES_MAX || server->closing) {
        request_free(request);
        return;
    }
    if (request->arena.bytes_total > REQUEST_KEEP_BYTES_MAX) {
        arena_done(&request->arena);
    } else {
        arena_clear(&request->arena);
    }
    if (request->body.room > REQUEST_KEEP_BYTES_MAX) {
        buf_done(&request->body);
    }
    buf_clear(&request->body);
    struct arena arena = request->arena;
    struct buf body = request->body;
    *request = (struct http_request){.arena = arena, .body = body, .next = server->spares};
    server->spares = request;
    server->spare_count++;
}

void http_request_spares_free(struct http_server *server)
{
    while (server->spares != NULL) {
        struct http_request *spare = server->spares;
        server->spares = spare->next;
        request_free(spare);
    }
}

const char *http_request_method(const struct http_request *request)
{
    return request->method;
}

const char *http_request_path(const struct http_request *request)
{
    return request->url.path;
}

const char *http_request_query(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->url.param_count; i++) {
        if (strcmp(request->url.params[i].name, name) == 0) {
            return request->url.params[i].value;
        }
    }
    return NULL;
}

void http_request_query_each(const struct http_request *request,
                             void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
    for (size_t i = 0; i < request->url.param_count; i++) {
        fn(ctx, request->url.params[i].name, request->url.params[i].value);
    }
}

const char *http_request_header(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *http_request_target(const struct http_request *request)
{
    return request->target;
}

struct header_walk {
    void (*fn)(void *ctx, const char *name, const char *value);
    void *ctx;
};

static enum MHD_Result header_seen(void *cls, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    const struct header_walk *walk = cls;
    (void)kind;
    walk->fn(walk->ctx, name, value != NULL ? value : "");
    return MHD_YES;
}

void http_request_header_each(const struct http_request *request,
                              void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
    struct header_walk walk = {fn, ctx};
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, header_seen, &walk);
}

struct str http_request_body(const struct http_request *request)
{
    return (struct str){buf_text(&request->body), request->body.len};
}

const char *http_request_peer(struct http_request *request)
{
    if (request->peer[0] != '\0') {
        return request->peer;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info != NULL ? info->client_addr : NULL;
    if (request->server->local) {
        (void)str_copy(request->peer, sizeof request->peer, "local");
        return request->peer;
    }
    if (address != NULL && address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        (void)inet_ntop(AF_INET, &v4->sin_addr, request->peer, sizeof request->peer);
    } else if (address != NULL && address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        (void)inet_ntop(AF_INET6, &v6->sin6_addr, request->peer, sizeof request->peer);
    }
    return request->peer;
}

bool http_request_uid(const struct http_request *request, unsigned *ret_uid)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    if (!request->server->local ||
        getsockopt(request->conn->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0) {
        return false;
    }
    *ret_uid = peer.uid;
    return true;
}

struct arena *http_request_arena(struct http_request *request)
{
    return &request->arena;
}

void http_request_set_data(struct http_request *request, void *data)
{
    request->data = data;
}

void *http_request_data(const struct http_request *request)
{
    return request->data;
}

void http_request_answer_header(struct http_request *request, const char *name, const char *value)
{
    must(strpbrk(name, "\r\n:") == NULL);
    must(strpbrk(value, "\r\n") == NULL);
    struct http_answer_field *field = arena_new(&request->arena, struct http_answer_field, 1);
    field->name = arena_str(&request->arena, name);
    field->value = arena_str(&request->arena, value);
    field->next = request->fields;
    request->fields = field;
}

void http_request_respond(struct http_request *request, unsigned status, const char *content_type,
                          struct MHD_Response *response)
{
    must(response != NULL);
    must(request->response == NULL);
    must(request->phase == HTTP_READING || request->phase == HTTP_HANDLING ||
         request->phase == HTTP_PARKED);
    if (content_type != NULL) {
        must(MHD_add_response_header(response, "Content-Type", content_type) == MHD_YES);
    }
    for (struct http_answer_field *field = request->fields; field != NULL; field = field->next) {
        must(MHD_add_response_header(response, field->name, field->value) == MHD_YES);
    }
    request->status = status;
    request->response = response;
    http_server_resume(request);
}

static void answer_bytes(struct http_request *request, unsigned status, const char *content_type,
                         char *data, size_t len, enum MHD_ResponseMemoryMode mode)
{
    http_request_respond(request, status, content_type,
                         MHD_create_response_from_buffer(len, data, mode));
    request->phase = HTTP_ANSWERED;
}

void http_request_answer(struct http_request *request, unsigned status, const char *content_type,
                         struct str body)
{
    /* The library does not write through the pointer when it is told to copy. */
    union {
        const char *read_only;
        char *any;
    } data = {.read_only = body.p};
    answer_bytes(request, status, content_type, data.any, body.len, MHD_RESPMEM_MUST_COPY);
}

void http_request_answer_take(struct http_request *request, unsigned status,
                              const char *content_type, struct buf *body)
{
    size_t len;
    char *data = buf_steal(body, &len);
    answer_bytes(request, status, content_type, data, len, MHD_RESPMEM_MUST_FREE);
}

void http_request_refuse(struct http_request *request, unsigned status, enum err code,
                         const char *message)
{
    struct buf text;
    buf_init(&text, REFUSAL_BYTES_MAX);
    struct json_out j;
    json_out_init(&j, &text);
    json_out_object(&j);
    json_out_key(&j, "error");
    json_out_object(&j);
    json_out_kv_text(&j, "code", fail_code_name(code));
    json_out_kv_text(&j, "message", message);
    json_out_kv_text(&j, "path", "");
    json_out_end(&j);
    json_out_end(&j);
    must(!text.full);
    http_request_answer(request, status, "application/json",
                        (struct str){buf_text(&text), text.len});
    buf_done(&text);
}
