/* http_duplex.c - see http_duplex.h. libcurl makes the connection with TLS and all its checks and then
 * leaves it to us (CURLOPT_CONNECT_ONLY). We write the request and read the answer's head.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_duplex.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/http_trust_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    DUPLEX_HEAD_MAX = 16 * 1024,
    DUPLEX_BODY_MAX = 64 * 1024,
    DUPLEX_PIPE_BYTES = 64 * 1024,
    DUPLEX_CONNECT_MS_MAX = 10 * 1000,
};

struct http_duplex {
    CURL *easy;
    curl_socket_t fd;
    struct http_trust trust;
    struct buf in; /* bytes that came with the head of the answer */
};

static int64_t clock_ms(void)
{
    struct timespec t;
    must(clock_gettime(CLOCK_BOOTTIME, &t) == 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void http_duplex_free(struct http_duplex *duplex)
{
    if (duplex == NULL) {
        return;
    }
    curl_easy_cleanup(duplex->easy);
    http_trust_copy(&duplex->trust, &(struct http_trust){0});
    buf_done(&duplex->in);
    free(duplex);
}

static must_use enum err connect_to(struct http_duplex *duplex, const struct http_duplex_call *call,
                                    struct arena *arena, struct error *e)
{
    char text[CURL_ERROR_SIZE] = "";
    CURL *easy = duplex->easy;
    const bool local = strncmp(call->url, "unix:/", 6) == 0;
    enum err r = http_trust_ready(call->url, &duplex->trust, e);
    if (r != ERR_OK) {
        return r;
    }
    if (local) {
        (void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, call->url + 5);
    }
    (void)curl_easy_setopt(easy, CURLOPT_URL,
                           local ? "http://localhost" : arena_str(arena, call->url));
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    http_trust_set(&duplex->trust, easy);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, text);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)DUPLEX_CONNECT_MS_MAX);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    CURLcode code = curl_easy_perform(easy);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM) {
        return http_trust_failed(call->url, duplex->trust.ca, text, e);
    }
    if (code != CURLE_OK ||
        curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &duplex->fd) != CURLE_OK) {
        return fail(e, ERR_UNREACHABLE, "cannot reach %s: %s", call->url,
                    text[0] != '\0' ? text : curl_easy_strerror(code));
    }
    return ERR_OK;
}

static long socket_read(struct http_duplex *duplex, void *out, size_t max)
{
    size_t got = 0;
    CURLcode code = curl_easy_recv(duplex->easy, out, max, &got);
    return code == CURLE_AGAIN ? HTTP_DUPLEX_AGAIN : code == CURLE_OK ? (long)got : HTTP_DUPLEX_END;
}

/* Waits until the descriptor is ready. False: the time is over. */
static bool wait_for(const struct http_duplex *duplex, short events, int64_t until_ms)
{
    struct pollfd p = {.fd = duplex->fd, .events = events};
    const int64_t left_ms = until_ms - clock_ms();
    return left_ms > 0 && (poll(&p, 1, (int)left_ms) > 0 || errno == EINTR);
}

/* The host part of "http://host:port". */
static const char *host_of(const char *url, struct arena *arena)
{
    const char *host = strstr(url, "://");
    host = host == NULL ? "localhost" : host + 3;
    return arena_strn(arena, host, strcspn(host, "/"));
}

static must_use enum err ask(struct http_duplex *duplex, const struct http_duplex_call *call,
                             struct arena *arena, int64_t until_ms, struct error *e)
{
    struct buf out;
    buf_init(&out, DUPLEX_HEAD_MAX + DUPLEX_BODY_MAX);
    buf_addf(&out, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n",
             call->method, call->path, host_of(call->url, arena), call->protocol);
    if (call->token != NULL) {
        buf_addf(&out, "Authorization: Bearer %s\r\n", call->token);
    }
    buf_addf(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n", call->body.len);
    buf_add(&out, call->body.p, call->body.len);
    enum err r = out.full ? fail(e, ERR_LIMIT, "the request is too large") : ERR_OK;
    while (r == ERR_OK && out.len > 0) {
        long put = http_duplex_write(duplex, out.data, out.len);
        if (put > 0) {
            buf_drop(&out, (size_t)put);
        } else if (put == HTTP_DUPLEX_END || !wait_for(duplex, POLLOUT, until_ms)) {
            r = fail(e, ERR_UNREACHABLE, "%s does not take the request", call->url);
        }
    }
    buf_done(&out);
    return r;
}

/* The value of a header of the answer; -1: it is not there. */
static int64_t head_number(const char *head, const char *name)
{
    const size_t len = strlen(name);
    for (const char *line = head; line != NULL; line = strstr(line, "\r\n")) {
        line += line == head ? 0 : 2;
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            return strtol(line + len + 1, NULL, 10);
        }
    }
    return -1;
}

/* Reads the head, and for another status than 101 the body. */
static must_use enum err answer_read(struct http_duplex *duplex, const char *url, int64_t until_ms,
                                     struct arena *arena, struct http_reply *ret, struct error *e)
{
    size_t head = 0;
    int64_t want = 0;
    for (;;) {
        char chunk[4096];
        const char *end = duplex->in.len > 0 ? strstr(duplex->in.data, "\r\n\r\n") : NULL;
        if (end != NULL && head == 0) {
            head = (size_t)(end - duplex->in.data) + 4;
            ret->status =
                duplex->in.len > 12 ? (unsigned)strtoul(duplex->in.data + 9, NULL, 10) : 0;
            want = ret->status == 101 ? 0 : head_number(duplex->in.data, "Content-Length");
        }
        if (head > 0 && (want <= 0 || duplex->in.len >= head + (size_t)want)) {
            break;
        }
        long got = socket_read(duplex, chunk, sizeof chunk);
        if (got > 0) {
            buf_add(&duplex->in, chunk, (size_t)got);
        } else if (got == HTTP_DUPLEX_END || !wait_for(duplex, POLLIN, until_ms)) {
            return fail(e, got == HTTP_DUPLEX_END ? ERR_UNREACHABLE : ERR_TIMEOUT,
                        "%s gives no whole answer", url);
        }
        if (duplex->in.full) {
            return fail(e, ERR_LIMIT, "the answer of %s is too long", url);
        }
    }
    if (ret->status != 101) {
        ret->body.len = duplex->in.len - head;
        ret->body.p = arena_strn(arena, duplex->in.data + head, ret->body.len);
    }
    buf_drop(&duplex->in, head);
    return ERR_OK;
}

must_use enum err http_duplex_open(const struct http_duplex_call *call, struct arena *arena,
                                   struct http_duplex **ret, struct http_reply *ret_reply,
                                   struct error *e)
{
    http_trust_begin();
    struct http_duplex *duplex = xcalloc(1, sizeof *duplex);
    const int64_t until_ms = clock_ms() + call->timeout_ms;
    duplex->easy = curl_easy_init();
    must(duplex->easy != NULL);
    duplex->fd = -1;
    buf_init(&duplex->in, DUPLEX_HEAD_MAX + DUPLEX_BODY_MAX);
    if (call->trust != NULL) {
        http_trust_copy(&duplex->trust, call->trust);
    }
    *ret = NULL;
    *ret_reply = (struct http_reply){.body = {"", 0}};
    enum err r = connect_to(duplex, call, arena, e);
    r = r == ERR_OK ? ask(duplex, call, arena, until_ms, e) : r;
    r = r == ERR_OK ? answer_read(duplex, call->url, until_ms, arena, ret_reply, e) : r;
    if (r != ERR_OK || ret_reply->status != 101) {
        http_duplex_free(duplex);
        return r;
    }
    *ret = duplex;
    return ERR_OK;
}

int http_duplex_fd(const struct http_duplex *duplex)
{
    return duplex->fd;
}

long http_duplex_read(struct http_duplex *duplex, void *out, size_t max)
{
    if (duplex->in.len == 0) {
        return socket_read(duplex, out, max);
    }
    const size_t len = duplex->in.len < max ? duplex->in.len : max;
    memcpy(out, duplex->in.data, len);
    buf_drop(&duplex->in, len);
    return (long)len;
}

long http_duplex_write(struct http_duplex *duplex, const void *data, size_t len)
{
    size_t put = 0;
    CURLcode code = curl_easy_send(duplex->easy, data, len, &put);
    return code == CURLE_AGAIN || (code == CURLE_OK && put == 0) ? HTTP_DUPLEX_AGAIN
           : code == CURLE_OK                                    ? (long)put
                                                                 : HTTP_DUPLEX_END;
}

/* ---- joining with a local descriptor ---- */

struct join {
    struct http_duplex *duplex;
    int fd;
    struct buf down; /* from the duplex to fd */
    struct buf up;
    bool down_ended;
    bool up_ended;
    bool deaf;   /* fd takes no more bytes; what it has sent is still delivered */
    bool broken; /* the duplex takes no more bytes */
};

static void join_down(struct join *join)
{
    char chunk[16 * 1024];
    long got = 1;
    while (!join->broken && !join->down_ended && got > 0 && join->down.len < DUPLEX_PIPE_BYTES) {
        const size_t room = DUPLEX_PIPE_BYTES - join->down.len;
        got = http_duplex_read(join->duplex, chunk, room < sizeof chunk ? room : sizeof chunk);
        if (got > 0) {
            buf_add(&join->down, chunk, (size_t)got);
        }
        join->down_ended = got == HTTP_DUPLEX_END;
    }
    while (!join->deaf && join->down.len > 0) {
        ssize_t put = send(join->fd, join->down.data, join->down.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put <= 0) {
            join->deaf = put == 0 || (errno != EAGAIN && errno != EINTR);
            break;
        }
        buf_drop(&join->down, (size_t)put);
    }
    if (join->deaf) {
        buf_clear(&join->down);
    }
}

static void join_up(struct join *join)
{
    char chunk[16 * 1024];
    const size_t room = DUPLEX_PIPE_BYTES - join->up.len;
    if (!join->up_ended && room > 0) {
        ssize_t got =
            recv(join->fd, chunk, room < sizeof chunk ? room : sizeof chunk, MSG_DONTWAIT);
        if (got > 0) {
            buf_add(&join->up, chunk, (size_t)got);
        }
        join->up_ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    }
    while (!join->broken && join->up.len > 0) {
        long put = http_duplex_write(join->duplex, join->up.data, join->up.len);
        if (put <= 0) {
            join->broken = put == HTTP_DUPLEX_END;
            return;
        }
        buf_drop(&join->up, (size_t)put);
    }
}

/* Waits until something can move. False: asked to stop. */
static bool join_wait(const struct join *join, int stop_fd)
{
    struct pollfd p[3] = {{.fd = join->duplex->fd}, {.fd = join->fd}, {.fd = stop_fd}};
    p[0].events = (short)((join->down.len < DUPLEX_PIPE_BYTES && !join->down_ended ? POLLIN : 0) |
                          (join->up.len > 0 ? POLLOUT : 0));
    p[1].events = (short)((join->up.len < DUPLEX_PIPE_BYTES && !join->up_ended ? POLLIN : 0) |
                          (join->down.len > 0 ? POLLOUT : 0));
    p[2].events = POLLIN;
    for (size_t i = 0; i < 2; i++) { /* poll() tells of a hang-up also where nothing is asked for */
        p[i].fd = p[i].events == 0 ? -1 : p[i].fd;
    }
    (void)poll(p, 3, -1);
    return p[2].revents == 0;
}

void http_duplex_join(struct http_duplex *duplex, int fd, int stop_fd)
{
    struct join join = {.duplex = duplex, .fd = fd};
    buf_init(&join.down, DUPLEX_PIPE_BYTES);
    buf_init(&join.up, DUPLEX_PIPE_BYTES);
    for (;;) {
        join_down(&join);
        join_up(&join);
        const bool over = join.broken || (join.down_ended && join.down.len == 0) ||
                          (join.up_ended && join.up.len == 0);
        if (over || !join_wait(&join, stop_fd)) {
            break;
        }
    }
    buf_done(&join.down);
    buf_done(&join.up);
}
